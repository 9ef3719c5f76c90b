"""Two entries of the NIPS 2003 challenge: importance by a multilayer perceptron, and least squares behind a forest.

Of both only the overall lines are printed. The first eliminated columns by their importance to a multilayer perceptron
(Lemaire and Clerot), the second ranked them by a random forest and averaged regularized least-squares classifiers with
Gaussian kernels on random rows (Torkkola and Tuv).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tamis.reproduce.framework.study import Findings, Piece, Study, Table, Task
from tamis.validation.whole import validate


class _Model(NamedTuple):
    """A kind of model and its recipe on one data set; `seconds` is about what it takes."""

    kind: str
    data: str
    recipe: str
    seconds: int


#: The share of the columns that the entry by importance used, overall; here each set gets it.
_SHARE = 0.0112

_KINDS = {
    "importance": "backward elimination by importance to a multilayer perceptron, behind a filter",
    "ensemble": "RF+RLSC: a forest's ranking, and the mean of least-squares machines on some of the rows",
    "single": "a forest's ranking, and one least-squares machine on all rows",
}


def _eliminated(filtered: str, columns: int, hidden: int = 5) -> str:
    network = f"mlp({hidden}, class_weight=balanced)"
    steps = f"importance({network}, k={round(_SHARE * columns)}, values=10, rows=100, step=0.3)"
    return f"standardize | {filtered} | {steps} | {network}"


def _ranked(k: int, machines: str = "") -> str:
    more = f", {machines}" if machines else ""
    return f"standardize | from_model(forest(500), k={k}) | rlsc(sigma=auto, class_weight=balanced{more})"


_HALVES = "n_estimators=30, max_samples=0.5"

#: Sizes and shares were set before any of these was run.
_MODELS = (
    _Model("importance", "arcene", _eliminated("f(1000)", 10_000), 20),
    _Model("ensemble", "arcene", _ranked(3000, _HALVES), 10),
    _Model("single", "arcene", _ranked(3000), 10),
    _Model("importance", "dexter", _eliminated("f(2000)", 20_000), 40),
    _Model("ensemble", "dexter", _ranked(1000, _HALVES), 10),
    _Model("single", "dexter", _ranked(1000), 10),
    _Model("importance", "dorothea", _eliminated("f(3000)", 100_000), 120),
    _Model("ensemble", "dorothea", _ranked(2000, _HALVES), 60),
    _Model("single", "dorothea", _ranked(2000), 30),
    _Model("importance", "gisette_surrogate", _eliminated("f(500)", 5_000), 200),
    _Model("ensemble", "gisette_surrogate", _ranked(2000, "n_estimators=30, max_samples=0.1"), 300),
    _Model("importance", "madelon", _eliminated("relieff(50)", 500, hidden=10), 60),
    _Model("ensemble", "madelon", _ranked(20, "n_estimators=30, max_samples=0.3"), 60),
    _Model("single", "madelon", _ranked(20), 60),
)

_KEYS = ("ber", "auc")
_COLUMNS = ("", "BER valid", "AUC valid", "% used", "% probes", "features", "s")

#: Overall lines, of entries trained on the train rows and evaluated on the test rows.
_PRINTED: dict[str, list[list[str | None]]] = {
    "importance": [["1 December, overall, printed", "16.37", "83.63", "1.12", "21.47", None, None]],
    "ensemble": [
        ["RF+RLSC, overall, printed", "8.04", "91.96", "22.38", "17.52", None, None],
        ["RF+RLSC, overall, printed", "8.23", "91.77", "22.38", "17.52", None, None],
    ],
    "single": [],
}


def _measure(recipe: str, task: Task) -> dict[str, Any]:
    """The errors on the valid rows of a fit on the train rows, and its features."""
    work: dict[str, Any] = {"metrics": _KEYS, "seed": task.seed, "n_jobs": task.n_jobs, "progress": task.progress}
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
    }


def _tables(findings: Findings) -> list[Table]:
    tables = []
    for kind, title in _KINDS.items():
        models = [one for one in _MODELS if one.kind == kind and (one.data, kind) in findings]
        if not models:
            continue
        own = [findings[one.data, kind] for one in models]
        lines = [_line(one.data, found) for one, found in zip(models, own, strict=True)]
        if len(own) == sum(one.kind == kind for one in _MODELS):
            lines.append(_mean(own))
        tables.append(Table(f"{kind}: {title}", _COLUMNS, [*lines, *_PRINTED[kind]]))
    known = [one for one in _MODELS if (one.data, one.kind) in findings]
    names = [[str(number), one.data, one.kind] for number, one in enumerate(known, 1)]
    listed = Table("The models", ("", "data", "kind"), names, words=3, recipes=[one.recipe for one in known])
    return [*tables, listed] if tables else []


def _line(data: str, found: Mapping[str, Any]) -> list[str | None]:
    probes = None if found["probes"] is None else f"{100 * found['probes']:.2f}"
    errors = f"{100 * found['ber']:.2f} ({100 * found['se']:.2f})", f"{100 * found['auc']:.2f}"
    return [
        *(data, *errors, f"{100 * found['share']:.2f}", probes),
        *(str(found["features"]), f"{found['fit_seconds']:.0f}"),
    ]


def _mean(found: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The mean over the data sets, as the challenge's overall lines are."""
    ber, auc, share = (f"{100 * float(np.mean([one[key] for one in found])):.2f}" for key in ("ber", "auc", "share"))
    return ["mean", ber, auc, share, None, None, None]


STUDY = Study(
    "Importance and RF+RLSC",
    "Lemaire and Clerot 2006; Torkkola and Tuv 2006",
    "elimination by importance to a perceptron, and least squares behind a forest, on the five challenge sets",
    tuple(Piece(one.data, one.kind, partial(_measure, one.recipe), one.seconds) for one in _MODELS),
    _tables,
    remarks=(
        "BER and AUC in percent, the standard error of the BER in brackets; fitted on the train rows.",
        "Only overall lines are printed, on test rows whose labels are not public; their AUC is 100 - BER.",
        "Features and shares of rows are not printed for a data set: those here were set beforehand.",
        "One machine on the 6000 rows of gisette_surrogate, whose decomposition takes minutes a width, is left out.",
        "gisette_surrogate is made after the description of GISETTE; its figures are not GISETTE's.",
    ),
    brief=lambda found: f"BER {100 * found['ber']:.2f}, {found['features']} features",
)
