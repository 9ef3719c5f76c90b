"""Models of the challenge's entries: their errors on the valid rows, as tables with the printed overall lines below."""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamis.reporting.figure_description import Figure
from tamis.reproduce.framework.challenge_table import OVERALL, ber_figure
from tamis.reproduce.framework.study import Findings, Piece, Table, Task
from tamis.validation.whole import validate


class ChallengeModel(NamedTuple):
    """A kind of model and its recipe on one data set; `seconds` is about what it takes."""

    kind: str
    data: str
    recipe: str
    seconds: int


#: A line of a table: name, Score, BER, AUC, shares of columns and of probes, features, seconds.
Line = list[str | None]

_KEYS = ("ber", "auc")
_COLUMNS = ("", "Score", "BER valid", "AUC valid", "% used", "% probes", "features", "s")


def pieces_of(models: Sequence[ChallengeModel]) -> tuple[Piece, ...]:
    """The pieces of a study of some models."""
    return tuple(Piece(one.data, one.kind, partial(measure, one.recipe), one.seconds) for one in models)


def measure(recipe: str, task: Task) -> dict[str, Any]:
    """The errors on the valid rows of a fit on the train rows, its features, and whether its iterations ended well."""
    work: dict[str, Any] = {"metrics": _KEYS, "seed": task.seed, "n_jobs": task.n_jobs, "progress": task.progress}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = validate(recipe, task.data, split="official", **work)
    selected = np.arange(found.n_features) if found.selected is None else found.selected[0]
    return {
        "ber": float(found.estimates["ber"].mean),
        "se": float(found.estimates["ber"].se),
        "auc": float(found.estimates["auc"].mean),
        "features": int(selected.size),
        "share": selected.size / found.n_features,
        "probes": found.probe_share,
        "fit_seconds": round(float(found.fit_seconds.sum() + found.predict_seconds.sum()), 2),
        "warned": sorted({str(one.message) for one in warned if issubclass(one.category, ConvergenceWarning)}),
    }


def tables_of(
    models: Sequence[ChallengeModel], kinds: Mapping[str, str], printed: Mapping[str, list[Line]], findings: Findings
) -> list[Table]:
    """A table for each kind, with the mean where all its data sets are there, and a list of the models."""
    tables = []
    for kind, title in kinds.items():
        known = [one for one in models if one.kind == kind and (one.data, kind) in findings]
        if not known:
            continue
        own = [findings[one.data, kind] for one in known]
        lines = [_line(one.data, found) for one, found in zip(known, own, strict=True)]
        notes = {place: " ".join(found["warned"]) for place, found in enumerate(own) if found.get("warned")}
        if len(own) == sum(one.kind == kind for one in models):
            lines.append(_mean(own))
        tables.append(Table(f"{kind}: {title}", _COLUMNS, [*lines, *printed[kind]], notes=notes))
    known = [one for one in models if (one.data, one.kind) in findings]
    names = [[str(number), one.data, one.kind] for number, one in enumerate(known, 1)]
    listed = Table("The models", ("", "data", "kind"), names, words=3, recipes=[one.recipe for one in known])
    return [*tables, listed] if tables else []


def figures_of(
    models: Sequence[ChallengeModel], kinds: Mapping[str, str], printed: Mapping[str, list[Line]], findings: Findings
) -> list[Figure]:
    """Bars of the BER of every kind by data set, beside the printed overall lines."""
    groups: dict[str, dict[str, float | None]] = {}
    for kind in kinds:
        sets = [one.data for one in models if one.kind == kind]
        own = {data: 100 * float(findings[data, kind]["ber"]) for data in sets if (data, kind) in findings}
        for line in printed[kind]:
            # Of several lines with one name the first is the better.
            label = str(line[0]).replace(", overall, printed", ", printed")
            groups.setdefault(label, {OVERALL: float(line[2] or 0.0)})
        groups[kind] = dict(own)
    caption = "Ours on the valid rows; of the entries only overall lines are printed, on the test rows."
    return ber_figure("ber", "BER by data set", caption, groups)


def brief(found: Mapping[str, Any]) -> str:
    """The findings of a model in a few words."""
    return f"BER {100 * found['ber']:.2f}, {found['features']} features"


def _line(data: str, found: Mapping[str, Any]) -> Line:
    probes = None if found["probes"] is None else f"{100 * found['probes']:.2f}"
    errors = f"{100 * found['ber']:.2f} ({100 * found['se']:.2f})", f"{100 * found['auc']:.2f}"
    return [
        *(data, None, *errors, f"{100 * found['share']:.2f}", probes),
        *(str(found["features"]), f"{found['fit_seconds']:.0f}"),
    ]


def _mean(found: Sequence[Mapping[str, Any]]) -> Line:
    """The mean over the data sets, as the challenge's overall lines are."""
    ber, auc, share = (f"{100 * float(np.mean([one[key] for one in found])):.2f}" for key in ("ber", "auc", "share"))
    return ["mean", None, ber, auc, share, None, None, None]
