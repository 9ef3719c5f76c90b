"""The selective naive Bayes rows of the NIPS 2003 challenge: Boulle's ESNB, beside the models that it enhances.

Of the entry "ESNB+NN" of 8 December 2003 only the overall line is printed: Score -28, BER 12.42, AUC 93.12, 1.04 % of
the features and 1.43 % probes among them. Its name says that a neural network was a part of it; here it is naive Bayes
on every data set.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.reporting.figure_description import Figure
from tamis.reproduce.framework.challenge_table import (
    OVERALL,
    READING,
    WINNER_8,
    Entry,
    Own,
    ber_figure,
    entry_table,
    results_table,
)
from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.validation.result import Validation
from tamis.validation.whole import validate

_DATA = ("arcene", "dexter", "dorothea", "gisette_surrogate", "madelon")

#: From all columns to the paper's own.
_MODELS = {"nb": "nb(states, bins=modl)", "snb": "snb", "esnb": "esnb", "esnb, averaged": "esnb(average=true)"}

_FOLDS = 10
_KEYS = ("ber", "auc")
_COLUMNS = ("", "BER valid", "AUC valid", "BER folds", "AUC folds", "% used", "% probes", "features", "threshold")

#: The overall line of the entry, which was trained on the train and the valid rows and evaluated on the test rows.
_PRINTED = {OVERALL: Entry(-28.0, 12.42, 93.12, 1.04, 1.43)}


def _measure(recipe: str, task: Task) -> dict[str, Any]:
    """Errors on the valid rows and over folds of train and valid rows, and the features of a fit on both."""
    data: Dataset = task.data
    work: dict[str, Any] = {"metrics": _KEYS, "seed": task.seed, "n_jobs": task.n_jobs}
    official = validate(recipe, data, split="official", **work)
    task.progress(1, _FOLDS + 2)
    pooled = validate(recipe, data, split="pooled", folds=_FOLDS, **work)
    task.progress(_FOLDS + 1, _FOLDS + 2)
    both = data.rows(np.isin(np.asarray(data.split), ("train", "valid")))
    model = parse(recipe).build().fit(both.X, both.y)
    used = np.flatnonzero(getattr(model, "used_", np.ones(data.n_features, dtype=bool)))
    return {
        "official": _figures(official),
        "pooled": _figures(pooled),
        "features": int(used.size),
        "share": used.size / data.n_features,
        "probes": None if data.probes is None or not used.size else float(data.probes[used].mean()),
        "threshold": getattr(model, "threshold_", None),
    }


def _figures(found: Validation) -> dict[str, float]:
    ber, auc = found.estimates["ber"], found.estimates["auc"]
    return {"ber": float(ber.mean), "se": float(ber.se), "auc": float(auc.mean)}


def _tables(findings: Findings) -> list[Table]:
    tables = []
    for name, recipe in _MODELS.items():
        own = {data: findings[data, name] for data in _DATA if (data, name) in findings}
        if not own:
            continue
        lines = [_line(data, found) for data, found in own.items()]
        if len(own) == len(_DATA):
            lines.append(_mean(list(own.values())))
        tables.append(Table(f"{name}: {recipe}", _COLUMNS, lines))
    if not tables:
        return []
    title = "The entry ESNB+NN of 8 December, beside esnb fitted on the train rows and evaluated on the valid rows"
    return [*tables, *entry_table(title, _PRINTED, WINNER_8, _own(findings, "esnb")), results_table()]


def _own(findings: Findings, name: str) -> dict[str, Own]:
    """What a model reaches on the valid rows; its features are those of a fit on both parts."""
    known = {data: findings[data, name] for data in _DATA if (data, name) in findings}
    own = {}
    for data, one in known.items():
        official = one["official"]
        own[data] = Own(official["ber"], official["se"], official["auc"], one["share"], one["probes"])
    return own


def _drawn(findings: Findings) -> list[Figure]:
    """The BER on the valid rows of every model, beside the overall lines."""
    own: dict[str, dict[str, float | None]] = {
        name: {data: 100 * one.ber for data, one in _own(findings, name).items()} for name in _MODELS
    }
    printed: dict[str, dict[str, float | None]] = {
        "ESNB+NN, printed": {OVERALL: _PRINTED[OVERALL].ber},
        "the winner, printed": {OVERALL: WINNER_8[OVERALL].ber},
    }
    caption = "Ours on the valid rows; the entries, of which only the overall line is printed, on the test rows."
    return ber_figure("ber", "BER by data set", caption, {**printed, **own})


def _line(data: str, found: Mapping[str, Any]) -> list[str | None]:
    cells = []
    for own in (found["official"], found["pooled"]):
        cells += [f"{100 * own['ber']:.2f} ({100 * own['se']:.2f})", f"{100 * own['auc']:.2f}"]
    probes, threshold = found["probes"], found["threshold"]
    return [
        *(data, *cells, f"{100 * found['share']:.2f}", None if probes is None else f"{100 * probes:.2f}"),
        *(str(found["features"]), None if threshold is None else f"{threshold:.3g}"),
    ]


def _mean(found: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The mean over the data sets, as the challenge's overall lines are."""
    both = (100 * float(np.mean([one[way][key] for one in found])) for way in ("official", "pooled") for key in _KEYS)
    share = 100 * float(np.mean([one["share"] for one in found]))
    return ["mean", *(f"{value:.2f}" for value in both), f"{share:.2f}", None, None, None]


STUDY = Study(
    "ESNB",
    "Boulle 2006",
    "selective naive Bayes and its enhancement on the five challenge sets",
    tuple(
        Piece(data, name, partial(_measure, recipe), _FOLDS + 2) for data in _DATA for name, recipe in _MODELS.items()
    ),
    _tables,
    figures=_drawn,
    remarks=(
        "BER and AUC in percent, the standard error of the BER in brackets.",
        "'valid': fitted on the train rows, evaluated on the valid rows; 'folds': ten folds over both.",
        "Features, probes and threshold are those of a fit on both; % probes where it is known which columns are.",
        "Of ESNB+NN only the overall line is printed, on test rows whose labels are not public.",
        "A neural network had a part in that entry, so that naive Bayes by itself need not reach it.",
        "gisette_surrogate is made after the description of GISETTE; its figures are not GISETTE's.",
        *READING,
    ),
)
