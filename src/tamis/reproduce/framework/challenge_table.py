"""The result tables of entries of the NIPS 2003 challenge: what is printed of an entry and of the winner, and ours.

A Score is that of a tournament among all entries, on test rows. Their answers are not public, so that no Score is ours.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tamis.reporting.figure_description import Axis, Figure
from tamis.reproduce.framework.figures import bars
from tamis.reproduce.framework.study import Table


class Entry(NamedTuple):
    """A line of a printed table: Score, BER, AUC, and the shares of features and of probes, in percent."""

    score: float | None
    ber: float | None
    auc: float | None
    features: float | None
    probes: float | None


class Own(NamedTuple):
    """The same of ours as shares; the standard error belongs to the BER."""

    ber: float
    se: float
    auc: float
    features: float
    probes: float | None = None


#: The data sets in the order of the tables, under the names that they have here.
SETS = ("arcene", "dexter", "dorothea", "gisette_surrogate", "madelon")

#: The name of the line of means.
OVERALL = "OVERALL"

#: The winner of each stage overall, and the best entry on each data set, which need not be the winner's.
WINNER_1 = {
    OVERALL: Entry(88.00, 6.84, 97.22, 80.3, 47.8),
    "arcene": Entry(98.18, 13.30, 93.48, 100.0, 30.0),
    "dexter": Entry(96.36, 3.90, 99.01, 1.5, 12.9),
    "dorothea": Entry(98.18, 8.54, 95.92, 100.0, 50.0),
    "gisette_surrogate": Entry(98.18, 1.37, 98.63, 18.3, 0.0),
    "madelon": Entry(100.00, 7.17, 96.95, 1.6, 0.0),
}
WINNER_8 = {
    OVERALL: Entry(71.43, 6.48, 97.20, 80.3, 47.8),
    "arcene": Entry(94.29, 11.86, 95.47, 10.7, 1.0),
    "dexter": Entry(100.00, 3.30, 96.70, 18.6, 42.1),
    "dorothea": Entry(97.14, 8.61, 95.92, 100.0, 50.0),
    "gisette_surrogate": Entry(97.14, 1.35, 98.71, 18.3, 0.0),
    "madelon": Entry(94.29, 7.11, 96.95, 1.6, 0.0),
}

#: The best entries of 8 December as the slides of Sýkora (2010) print them: method, group, the study here that runs a
#: model of its kind, and the overall line.
RESULTS = (
    ("BayesNN-DFT", "Neal/Zhang", "bayesnn", Entry(71.43, 6.48, 97.20, 80.3, 47.77)),
    ("BayesNN-large", "Neal", "bayesnn", Entry(66.29, 7.27, 96.98, 60.3, 28.51)),
    ("BayesNN-small", "Neal", "bayesnn", Entry(61.14, 7.13, 97.08, 4.74, 2.91)),
    ("final_2-3", "Chen", None, Entry(49.14, 7.91, 91.45, 24.91, 9.91)),
    ("BayesNN-large", "Neal", "bayesnn", Entry(49.14, 7.83, 96.78, 60.3, 28.51)),
    ("final2-2", "Chen", None, Entry(40.0, 8.80, 89.84, 24.62, 6.68)),
    ("Ghostminer1", "Ghostminer", "ghostminer", Entry(37.14, 7.89, 92.11, 80.6, 36.05)),
    ("RF+RLSC", "Torkkola/Tuv", "importance", Entry(35.43, 8.04, 91.96, 22.38, 17.52)),
    ("Ghostminer2", "Ghostminer", "ghostminer", Entry(35.43, 7.86, 92.14, 80.6, 36.05)),
    ("RF+RLSC", "Torkkola/Tuv", "importance", Entry(34.29, 8.23, 91.77, 22.38, 17.52)),
    ("FS+SVM", "Lal", "fs-svm", Entry(31.43, 8.99, 91.01, 20.91, 17.28)),
    ("Ghostminer3", "Ghostminer", "ghostminer", Entry(26.29, 8.24, 91.76, 80.6, 36.05)),
    ("CBAMethod3E", "CBA group", None, Entry(21.14, 8.14, 96.62, 12.78, 0.06)),
    ("CBAMethod3E", "CBA group", None, Entry(21.14, 8.14, 96.62, 12.78, 0.06)),
    ("Nameless", "Navot/Bachr.", None, Entry(12.0, 7.78, 96.43, 32.28, 16.22)),
)

#: What a table says below itself.
READING = (
    "Score, BER, AUC, features and probes are printed figures on the test rows; 'here' on rows with known labels.",
    "The AUC of an entry without confidences is 100 - BER; ours is that of the confidences.",
    "The winner's OVERALL is that of the best entry overall; on a data set it is the best entry there.",
    "A Score is 100 x (wins - losses) / (entries - 1) among all entries on test rows: no Score here can be ours.",
)

_MEANS = ("ber", "auc", "features")
_COLUMNS = ("Score", "BER", "BER here", "AUC", "AUC here", "features", "here", "probes", "here")
_WINNER = tuple(f"winner's {name}" for name in ("Score", "BER", "AUC", "features", "probes"))


def own_of(found: Mapping[str, Any]) -> Own:
    """Return the figures of a row of a table of models (:mod:`tamis.reproduce.framework.table`)."""
    ber, auc = found["metrics"]["ber"], found["metrics"]["auc"]
    share = 1.0 if found["kept"] is None else float(np.mean(found["kept"])) / found["n_features"]
    return Own(ber["mean"], ber["se"], auc["mean"], share, found["probe_share"])


def entry_table(
    title: str, printed: Mapping[str, Entry], winner: Mapping[str, Entry], own: Mapping[str, Own]
) -> list[Table]:
    """Return the table of an entry with the lines of the sets that were run; nothing without one.

    The line of means is ours where all five sets were run.
    """
    if not own:
        return []
    found: dict[str, Own] = {name: own[name] for name in SETS if name in own}
    if len(found) == len(SETS):
        ber, auc, features = (float(np.mean([getattr(one, key) for one in own.values()])) for key in _MEANS)
        found = {OVERALL: Own(ber, float("nan"), auc, features), **found}
    nothing = Entry(None, None, None, None, None)
    lines: list[list[str | None]] = []
    for name in (OVERALL, *SETS):
        if name != OVERALL and name not in found:
            continue
        beside, best, here = printed.get(name, nothing), winner.get(name, nothing), found.get(name)
        lines.append([name, *_line(beside, here), *(_cell(value) for value in best)])
    return [Table(title, ("", *_COLUMNS, *_WINNER), lines)]


def results_table() -> Table:
    """Return the printed table of the best entries, with the studies that run models of their kind."""
    columns = ("method", "group", "study", "Score", "BER", "AUC", "features", "probes")
    lines = [[method, group, study, *map(_cell, entry)] for method, group, study, entry in RESULTS]
    return Table("The best entries of 8 December, printed", columns, lines, words=3)


def ber_figure(name: str, title: str, caption: str, groups: Mapping[str, Mapping[str, float | None]]) -> list[Figure]:
    """Describe bars of the BER of several entries by data set, in percent; nothing where none of ours is there.

    Ours have a bar for the mean where all five sets were run.
    """
    if not any("printed" not in label and any(values.values()) for label, values in groups.items()):
        return []
    groups = {label: _with_mean(values) if "printed" not in label else values for label, values in groups.items()}
    places = [one for one in (OVERALL, *SETS) if any(values.get(one) is not None for values in groups.values())]
    drawn = {label: [values.get(place) for place in places] for label, values in groups.items()}
    axis = Axis("BER, %", limits=(0.0, None))
    return [bars(name, title, caption, places, axis, drawn)]


def _with_mean(values: Mapping[str, float | None]) -> Mapping[str, float | None]:
    known = [value for name in SETS if (value := values.get(name)) is not None]
    return {OVERALL: float(np.mean(known)), **values} if len(known) == len(SETS) else values


def _line(printed: Entry, here: Own | None) -> list[str | None]:
    ours: list[Any] = [None] * 4
    if here is not None:
        error = "" if np.isnan(here.se) else f" ({100 * here.se:.2f})"
        shares = (None if share is None else f"{100 * share:.2f}" for share in (here.auc, here.features, here.probes))
        ours = [f"{100 * here.ber:.2f}{error}", *shares]
    beside = [_cell(value) for value in printed]
    pairs = zip(beside[1:], ours, strict=True)
    return [beside[0], *(cell for pair in pairs for cell in pair)]


def _cell(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"
