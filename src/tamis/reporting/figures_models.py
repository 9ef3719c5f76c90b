"""Figures of the models: error against number of features or of rows, stability, and the stages of the search."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any, TypeAlias

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Axis, Bars, Figure, Panel, Series
from tamis.reporting.metric_text import axis_title, hover_format, metric_text

#: Families that are shown at first; the others are hidden.
_FAMILIES = 6

#: Factor from which sizes are on a logarithmic axis, and from which it has ticks at powers of ten alone.
_WIDE, _STEPS = 20, 3000

#: Points of the curve between a number of features and ten times that.
_PER_DECADE = 6

#: Units of time and the seconds in each, the longest first.
_UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))

#: What the axis of an error says of it.
_OVER_FOLDS = " (mean over folds, \N{PLUS-MINUS SIGN} 1 s.e.)"

#: A family and its points.
Curve: TypeAlias = tuple[str, list[dict[str, Any]]]


def error_features(facts: dict[str, Any]) -> Figure | None:
    """The error of the best model of every family against the number of its features, with one standard error."""
    models, curves = facts["models"], _curves(facts)
    if not curves:
        return None
    metric = models["metric"]
    marks = []
    for number, curve in enumerate(curves):
        look: dict[str, Any] = {"colour": number, "label": curve[0], "size": 7.0, "hidden": number >= _FAMILIES}
        reach = [point["se"] or 0.0 for point in curve[1]]
        marks.append(Series(**_points([curve], metric), line=True, points=True, reach=reach, **look))
    error = Axis(axis_title(metric, _OVER_FOLDS))
    return Figure(
        "error_features",
        f"{metric['title']} against the number of features",
        "The best model of each family for each number of features; the band is one standard error to either side. "
        "Choose families above the figure.",
        (4.6, 3.3),
        [Panel(_sizes(curves), error, [*marks, *_rings(models)])],
    )


def error_size(facts: dict[str, Any]) -> Figure | None:
    """The error of the best model for about every number of features, with one standard error: one curve."""
    models = facts["models"]
    best: dict[int, dict[str, Any]] = {}
    # The rows are in order: those with the most folds first, among them the best.
    for row in () if models is None else models["rows"]:
        if row["features"] and row["mean"] is not None:
            best.setdefault(round(_PER_DECADE * log10(max(row["features"], 1.0))), row)
    rows = sorted(best.values(), key=lambda row: row["features"])
    if len(rows) < 2:
        return None
    metric = models["metric"]
    hover = f"%{{customdata}}<br>{metric['title']} %{{y:{hover_format(metric['name'])}}}, %{{x:,}} features"
    line = Series(
        [row["features"] for row in rows],
        [row["mean"] for row in rows],
        line=True,
        points=True,
        size=7.0,
        reach=[row["se"] or 0.0 for row in rows],
        hover=hover,
        detail=[escaped(row["recipe"], 70) for row in rows],
    )
    sizes = _sizes([("", rows)])
    return Figure(
        "error_size",
        f"How many features it takes: the best {metric['title']} for each number",
        "The best model with about this many features, and one standard error to either side. The errors are those of "
        "the folds by which the search chose, so they are a little too good.",
        (4.6, 2.8),
        [Panel(sizes, Axis(axis_title(metric, _OVER_FOLDS)), [line, *_rings(models)])],
    )


def stability(facts: dict[str, Any]) -> Figure | None:
    """The same models, coloured by the stability of their features."""
    known = [(name, [p for p in points if p["stability"] is not None]) for name, points in _curves(facts)]
    values = [point["stability"] for _, points in known for point in points]
    if not values:
        return None
    metric = facts["models"]["metric"]
    dots = Series(**_points(known, metric), points=True, size=10.0, values=values, scale="stability")
    return Figure(
        "stability",
        f"{metric['title']}, size and stability",
        "Each point is a model of the figure above; the colour is the stability of its features over the folds (1: "
        "always the same). Low, left and light is best.",
        (4.6, 3.0),
        [Panel(_sizes(known), Axis(axis_title(metric)), [dots])],
    )


def _curves(facts: dict[str, Any]) -> list[Curve]:
    """The families, the best first, without models of no features, which a logarithmic axis cannot show."""
    models = facts["models"]
    found = [] if models is None else [(curve["family"], curve["points"]) for curve in models["curves"]]
    known = [(name, [p for p in points if p["features"] > 0 and p["mean"] is not None]) for name, points in found]
    way = -1 if models is not None and models["metric"]["better"] == "high" else 1
    return sorted((one for one in known if one[1]), key=lambda curve: min(way * point["mean"] for point in curve[1]))


def _points(curves: Sequence[Curve], metric: Mapping[str, Any]) -> dict[str, Any]:
    """Coordinates and hover texts of the points of some families."""
    points = [(name, point) for name, own in curves for point in own]
    x, y = ([point[key] for _, point in points] for key in ("features", "mean"))
    detail = []
    for name, point in points:
        error = metric_text(metric["name"], point["se"], unknown="\N{EN DASH}")
        agreement = "\N{EN DASH}" if point["stability"] is None else f"{point['stability']:.3f}"
        detail.append([f"<b>{escaped(name)}</b><br>{escaped(point['recipe'], 70)}", error, agreement])
    value = f"{metric['title']} %{{y:{hover_format(metric['name'])}}}"
    words = f"{value} ± %{{customdata[1]}}, %{{x:,}} features<br>stability %{{customdata[2]}}"
    return {"x": x, "y": y, "hover": f"%{{customdata[0]}}<br>{words}", "detail": detail}


def _sizes(curves: Sequence[Curve]) -> Axis:
    sizes = [point["features"] for _, points in curves for point in points]
    low, high = min(sizes), max(sizes)
    if high <= _WIDE * low:
        return Axis("features used", "count")
    ticks = [step * 10**power for power in range(12) for step in ((1, 2, 5) if high < _STEPS * low else (1,))]
    return Axis("features used", "log", ticks=[tick for tick in ticks if low <= tick <= high])


def _rings(models: dict[str, Any]) -> list[Series]:
    """A ring around the chosen model, and a square around the smallest that is as good as the best."""
    chosen, smallest = models.get("chosen", models["best"]), models["smallest"]
    found: list[Series] = []
    marked = (chosen, "chosen", "circle-open", 16.0), (smallest, "smallest as good", "square-open", 12.0)
    for number, label, shape, size in marked:
        row = None if number is None or (found and number == chosen) else models["rows"][number]
        if row is not None and row["features"] and row["mean"] is not None:
            look: dict[str, Any] = {"shape": shape, "size": size, "colour": "ink", "label": label}
            hover = f"<b>{label}</b><br>{escaped(row['recipe'], 70)}"
            found.append(Series([row["features"]], [row["mean"]], points=True, hover=hover, **look))
    return found


def learning(facts: dict[str, Any]) -> Figure | None:
    """The error of a model against the number of its training rows, with one standard error."""
    known = facts.get("learning")
    if known is None:
        return None
    metric, points = known["metric"], [one for one in known["points"] if one["mean"] is not None]
    x, y, reach = [one["rows"] for one in points], [one["mean"] for one in points], [one["se"] or 0.0 for one in points]
    hover = f"{metric['title']} %{{y:{hover_format(metric['name'])}}}, %{{x:,}} training rows"
    return Figure(
        "learning",
        f"{metric['title']} against the number of training rows",
        "The same test rows for every size; the band is one standard error to either side.",
        (4.6, 3.0),
        [
            Panel(
                Axis("training rows", "count"),
                Axis(axis_title(metric, _OVER_FOLDS)),
                [Series(x, y, line=True, points=True, reach=reach, colour=0, hover=hover)],
            )
        ],
    )


def stages(facts: dict[str, Any]) -> Figure | None:
    """When each stage of the search ran, how many recipes it tried, and the best error among them."""
    known = (facts["story"] or {}).get("stages")
    if not known:
        return None
    metric = {"name": "", "title": "error"} if facts["models"] is None else facts["models"]["metric"]
    names = list(dict.fromkeys(one["stage"] for one in known))
    end = max(one["end"] for one in known)
    unit, seconds = next((unit for unit in _UNITS if end > 2 * unit[1]), _UNITS[-1])
    # The numbers of a stage are those of all visits to it, so they are written behind the last visit.
    last = {one["stage"]: i for i, one in enumerate(known)}
    texts = [_tried(one, metric) for one in known]
    bars = Bars(
        at=[names.index(one["stage"]) for one in known],
        length=[(one["end"] - one["begin"]) / seconds for one in known],
        base=[one["begin"] / seconds for one in known],
        width=0.6,
        across=True,
        text=[text if last[one["stage"]] == i else "" for i, (one, text) in enumerate(zip(known, texts, strict=True))],
        hover=f"%{{customdata}}<br>%{{base:.3g}} to %{{x:.3g}} {unit}",
        detail=[f"<b>{escaped(one['stage'])}</b><br>{text}" for one, text in zip(known, texts, strict=True)],
    )
    return Figure(
        "stages",
        "The stages of the search",
        f"When each stage ran; beside it the recipes that it tried and their best {metric['title']}.",
        (4.4, 0.2 + 0.32 * len(names)),
        [Panel(Axis(f"time ({unit})", limits=(0.0, 1.25 * end / seconds)), Axis(names=names, grid=False), [bars])],
    )


def _tried(one: dict[str, Any], metric: Mapping[str, Any]) -> str:
    tried = f"{one['recipes']:,} recipe" + ("s" if one["recipes"] != 1 else "")
    best = metric_text(metric["name"], one["best"])
    return tried if one["best"] is None else f"{tried}, best {metric['title']} {best}"
