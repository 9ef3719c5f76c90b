"""Figures of the rows: the data in two dimensions, and the predictions beside the truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Axis, Bars, Figure, Heat, Panel, Series
from tamis.reporting.metric_text import hover_format, metric_text
from tamis.reporting.row_points import row_points
from tamis.reporting.task_words import words_of

#: Most classes of a confusion matrix with counts in its cells; the inches of such a cell, and of others.
_COUNTED, _CELL, _SMALL = 20, 0.36, 0.2

#: Most rows that are drawn large.
_LARGE = 500


def projection(facts: dict[str, Any]) -> Figure | None:
    """The rows along the first two principal components of the selected features, by class or by the target."""
    known = (facts["rows"] or {}).get("projection")
    if not known or not known["x"]:
        return None
    size = 8.0 if len(known["x"]) <= _LARGE else 6.0
    hover, detail = "%{customdata}<br><b>{name}</b>", [escaped(one, 60) for one in known["row"]]
    marks = row_points(facts["rows"], known, known["x"], known["y"], hover=hover, detail=detail, size=size)
    first, second = (
        Axis(f"{name} component ({100 * (share or 0.0):.3g} % of the variance)")
        for name, share in zip(("first", "second"), known["explained"], strict=True)
    )
    which = "selected features" if facts["answer"] else "features, or of the best of many"
    part = f"{known['shown']:,} of {known['of']:,} rows, {words_of(facts).sampled}"
    return Figure(
        "projection",
        "The rows in two dimensions",
        f"The first two principal components of the {which}; hover for the row.",
        (4.2, 3.4),
        [Panel(first, second, marks)],
        note=part if known["shown"] < known["of"] else "",
    )


def confusion(facts: dict[str, Any]) -> Figure | None:
    """The rows of each class by prediction: shares as shades, counts as numbers."""
    counts = (facts["rows"] or {}).get("confusion")
    if counts is None:
        return None
    n, names = len(counts), facts["rows"]["classes"]
    shares = [[count / max(1, sum(own)) for count in own] for own in counts]
    text = [[f"{count:,}" for count in own] for own in counts] if n <= _COUNTED else ()
    side = max(2.2, n * (_CELL if n <= _COUNTED else _SMALL))
    prediction, truth = (Axis(title, names=names, grid=False) for title in ("prediction", "truth"))
    return Figure(
        "confusion",
        "Confusions",
        "The rows of each true class by the prediction.",
        (side, side),
        [Panel(prediction, truth, [Heat(shares, "share of the class", text)], square=True)],
    )


def _shares(name: str, title: str, caption: str, x: str, y: str, marks: Sequence[Series]) -> Figure | None:
    """A figure of shares with the diagonal: chance, or a calibrated probability."""
    diagonal = Series([0.0, 1.0], [0.0, 1.0], line=True, dotted=True, colour="muted")
    across, up = (Axis(title, "share", limits=(-0.02, 1.02)) for title in (x, y))
    panel = Panel(across, up, [diagonal, *marks], square=True)
    return Figure(name, title, caption, (3.2, 3.2), [panel]) if marks else None


def _by_class(facts: dict[str, Any], panel: str) -> list[tuple[int, str, dict[str, Any]]]:
    """The number and the name of each class with a curve, and the curve."""
    rows = facts["rows"] or {}
    curves = (rows.get(panel) or {"curves": ()})["curves"]
    return [(rows["classes"].index(curve["class"]), curve["class"], curve) for curve in curves]


def roc(facts: dict[str, Any]) -> Figure | None:
    """True against false positives for every threshold; of more than two classes, each against the rest."""
    marks = []
    for number, name, curve in _by_class(facts, "roc"):
        # The area first: a name written from right to left would turn what comes after it.
        label = name if curve["auc"] is None else f"AUC {curve['auc']:.3f} {name}"
        hover = f"<b>{escaped(name)}</b><br>true positives %{{y:.0%}}, false positives %{{x:.0%}}"
        marks.append(Series(curve["fpr"], curve["tpr"], line=True, colour=number, label=label, hover=hover))
    caption = "True positive rate against false positive rate of each class; the dotted line is chance."
    return _shares("roc", "ROC", caption, "false positive rate", "true positive rate", marks)


def precision_recall(facts: dict[str, Any]) -> Figure | None:
    """Precision against recall for every threshold; of more than two classes, each against the rest."""
    marks = []
    for number, name, curve in _by_class(facts, "precision_recall"):
        label = f"AP {curve['area']:.3f} {name}"
        hover = f"<b>{escaped(name)}</b><br>precision %{{y:.0%}}, recall %{{x:.0%}}"
        look: dict[str, Any] = {"colour": number, "line": True}
        marks.append(Series(curve["recall"], curve["precision"], label=label, hover=hover, **look))
        guess = f"guessing {escaped(name)}: %{{y:.0%}}"
        marks.append(Series([0.0, 1.0], [curve["share"]] * 2, dotted=True, hover=guess, **look))
    if not marks:
        return None
    across, up = (Axis(title, "share", limits=(-0.02, 1.02)) for title in ("recall", "precision"))
    return Figure(
        "precision_recall",
        "Precision and recall",
        "Precision against recall of each class; the dotted line is guessing, which is the share of the class. AP is "
        "the average precision.",
        (3.2, 3.2),
        [Panel(across, up, marks, square=True)],
    )


def calibration(facts: dict[str, Any]) -> Figure | None:
    """How often a class occurs where the model gives it some probability, in bins of the same number of rows."""
    marks = []
    for number, name, curve in _by_class(facts, "calibration"):
        hover = f"<b>{escaped(name)}</b><br>predicted %{{x:.0%}}, observed %{{y:.0%}} of %{{customdata:,}} rows"
        look: dict[str, Any] = {"colour": number, "label": name, "hover": hover, "detail": curve["count"]}
        marks.append(Series(curve["predicted"], curve["observed"], line=True, points=True, **look))
    caption = "Ten bins of equal size; on the dotted line probabilities are calibrated."
    predicted, observed = "predicted probability (mean of the bin)", "observed share of the class"
    return _shares("calibration", "Calibration", caption, predicted, observed, marks)


def threshold(facts: dict[str, Any]) -> Figure | None:
    """The balanced error against the share of rows that are predicted to be positive."""
    known = (facts["rows"] or {}).get("threshold")
    if known is None:
        return None
    hover = "BER %{y:.3f} with %{x:.0%} predicted"
    marks = [Series(known["share"], known["ber"], line=True, hover=hover)]
    used, best = ("used", "as the model decides", 5, "circle"), ("best", "best, known afterwards", 2, "diamond-open")
    for key, words, number, shape in (used, best):
        at = known[key]
        if at is not None and at["ber"] is not None:
            look: dict[str, Any] = {
                "shape": shape,
                "size": 11.0,
                "colour": number,
                "label": f"{words}: {at['ber']:.3f}",
            }
            marks.append(Series([at["share"]], [at["ber"]], points=True, hover=f"{words}<br>{hover}", **look))
    share = Axis(f"rows predicted to be {facts['rows']['classes'][1]}", "share", limits=(-0.02, 1.02))
    return Figure(
        "threshold",
        "BER against the threshold",
        "The BER for every share of rows that could be predicted positive: at the threshold in use, and at the best "
        "one known afterwards.",
        (4.4, 3.2),
        [Panel(share, Axis("BER (balanced error rate)", limits=(0.0, None)), marks)],
    )


def permutation(facts: dict[str, Any]) -> Figure | None:
    """The error with the true target beside the errors with permuted ones."""
    known = (facts["honesty"] or {}).get("permutation")
    if known is None or known["value"] is None:
        return None
    null = [value for value in known["null"] if value is not None]
    metric = {"name": "", "title": "error"} if facts["answer"] is None else facts["answer"]["metric"]
    title, words = metric["title"], words_of(facts)
    value, p = known["value"], known["p"]
    reached_text = metric_text(metric["name"], value)
    low, high = min([value, *null]), max([value, *null])
    room = 0.06 * (high - low or 1.0)
    counts, edges = np.histogram(null, bins=max(5, min(30, len(null) // 6)))
    middles, width = ((edges[1:] + edges[:-1]) / 2).tolist(), float(edges[1] - edges[0])
    hover = f"%{{x:{hover_format(metric['name'])}}}: %{{y:,}}"
    bars = Bars(middles, counts.tolist(), width=width, colour="faint", hover=hover)
    label = f"{words.true}: {title} {reached_text}, p = {p:.2g}"
    reached = Series([value, value], [0, int(max(1, counts.max()))], line=True, colour=5, label=label, hover=label)
    errors = Axis(f"{title} with permuted {words.noun}", limits=(low - room, high + room))
    return Figure(
        "permutation",
        "Permutation test",
        f"The {title} of the same model after {words.permuted} {len(null):,} times, and the {reached_text} "
        f"reached with {words.restored}: p = {p:.3g}.",
        (4.4, 2.6),
        [Panel(errors, Axis(f"permutations (of {len(null):,})", "count"), [bars, reached])],
    )
