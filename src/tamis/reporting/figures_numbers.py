"""Figures of a target of numbers: its values, predictions and residuals, and its mean along the features."""

from itertools import pairwise
from typing import Any

from tamis.reporting.display_names import escaped, shown
from tamis.reporting.figure_description import Axis, Bars, Figure, Mark, Panel, Series

#: Most predictions that are drawn large.
_LARGE = 500

#: Features with their effects in one figure, figures side by side, letters of a name and of a level in a small panel.
_FEATURES, _BESIDE, _LETTERS, _SHORT = 6, 3, 26, 10

#: Inches of the means along a feature, and of its distribution below.
_MEANS, _COUNTS = 1.9, 0.8

#: Format of a number in a hover text.
_NUMBER = ",.4~r"


def target(facts: dict[str, Any]) -> Figure | None:
    """How the numbers of the target are distributed."""
    known = (facts.get("data") or {}).get("values")
    if not known:
        return None
    edges, counts = known["edges"], known["counts"]
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    ends = [f"{low:,.4g} to {high:,.4g}" for low, high in pairwise(edges)]
    hover, width = "%{customdata}<br>%{y:,} rows", edges[1] - edges[0]
    bars = Bars(middles, counts, width=width, hover=hover, detail=ends)
    return Figure(
        "target",
        "Rows by the target",
        "How many rows have about this number.",
        (4.4, 2.0),
        [Panel(Axis(shown(known["name"], _LETTERS)), Axis("rows", "count"), [bars])],
    )


def predicted(facts: dict[str, Any]) -> Figure | None:
    """The predictions against the truth, with the diagonal on which they are equal."""
    known = (facts["rows"] or {}).get("predicted")
    if not known:
        return None
    name, every = facts["rows"]["target"], [*known["truth"], *known["prediction"]]
    low, high = min(every), max(every)
    room = 0.03 * (high - low or 1.0)
    limits = (low - room, high + room)
    diagonal = Series(list(limits), list(limits), line=True, dotted=True, colour="ink")
    hover = f"row %{{customdata}}<br>true %{{x:{_NUMBER}}}, predicted %{{y:{_NUMBER}}}"
    points = _points(known, known["truth"], known["prediction"], hover)
    across, up = (Axis(f"{what} {shown(name, _LETTERS)}", limits=limits) for what in ("true", "predicted"))
    return Figure(
        "predicted",
        "Predicted against true",
        "A point is a row, predicted by a model that had not seen it. On the dotted line predictions are exact.",
        (3.4, 3.4),
        [Panel(across, up, [points, diagonal], square=True)],
        note=_part(known),
    )


def residuals(facts: dict[str, Any]) -> Figure | None:
    """The residuals against the predictions, with their mean in groups."""
    known = (facts["rows"] or {}).get("predicted")
    if not known:
        return None
    rest = [true - found for true, found in zip(known["truth"], known["prediction"], strict=True)]
    bias, ends = known["bias"], [min(known["prediction"]), max(known["prediction"])]
    hover = f"row %{{customdata}}<br>predicted %{{x:{_NUMBER}}}, residual %{{y:{_NUMBER}}}"
    mean = f"mean residual %{{y:{_NUMBER}}} around %{{x:{_NUMBER}}}"
    marks = [
        _points(known, known["prediction"], rest, hover),
        Series(ends, [0.0, 0.0], line=True, dotted=True, colour="ink"),
        Series(
            bias["prediction"],
            bias["residual"],
            line=True,
            points=True,
            shape="circle",
            size=6.0,
            colour=5,
            reach=bias["se"],
            label="mean of ten groups",
            hover=mean,
        ),
    ]
    across = Axis(f"predicted {shown(facts['rows']['target'], _LETTERS)}")
    return Figure(
        "residuals",
        "Residuals",
        "True less predicted against the prediction. The line is the mean of ten groups of the same size with one "
        "standard error: away from zero the model predicts too low (above) or too high (below).",
        (3.4, 3.4),
        [Panel(across, Axis("true less predicted"), marks)],
        note=_part(known),
    )


def _points(known: dict[str, Any], x: list[float], y: list[float], hover: str) -> Series:
    size = 7.0 if known["shown"] <= _LARGE else 4.5
    return Series(x, y, points=True, size=size, colour=0, hover=hover, detail=known["row"])


def _part(known: dict[str, Any]) -> str:
    return f"{known['shown']:,} of {known['of']:,} predictions" if known["shown"] < known["of"] else ""


def effects(facts: dict[str, Any]) -> Figure | None:
    """The mean of the target along each of the first features."""
    known = [one for one in _along(facts) if len(one["means"]["at"]) > 1][:_FEATURES]
    if not known:
        return None
    columns = min(_BESIDE, len(known))
    reached = [end for one in known for mean, se in _estimates(one) for end in (mean - se, mean + se)]
    room = 0.05 * (max(reached) - min(reached) or 1.0)
    # One scale shows which features tell more.
    limits = (min(reached) - room, max(reached) + room)
    panels = []
    for place, one in enumerate(known):
        up = f"mean of {shown(facts['rows']['target'], _LETTERS)}" if place % columns == 0 else ""
        across = Axis(shown(one["name"], _LETTERS), names=[shown(level, _SHORT) for level in _levels(one)])
        panels.append(Panel(across, Axis(up, limits=limits), _means(one)))
    return Figure(
        "effects",
        "The target along the first features",
        "The mean of the target in groups of rows by the value of a feature, with one standard error, on all rows.",
        (2.3 * columns, 2.1 * -(-len(known) // columns)),
        panels,
        columns=columns,
    )


def along_features(facts: dict[str, Any]) -> list[Figure]:
    """For each feature the mean of the target along it, and its distribution below."""
    return [_along_one(one, facts["rows"]["target"]) for one in _along(facts)]


def _along(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """What is known of the target along the features; nothing where there are classes."""
    known = (facts["features"] or {}).get("distributions") or ()
    return [one for one in known if "means" in one]


def _along_one(one: dict[str, Any], name: str) -> Figure:
    levels, edges, counts = _levels(one), one["edges"], one["counts"]
    limits: tuple[float | None, float | None] = (None, None)
    if edges is None:
        detail = [escaped(level) for level in levels]
        hover = "%{customdata}<br>%{y:,} rows"
        rows: Mark = Bars(list(range(len(counts))), counts, width=0.75, colour="faint", hover=hover, detail=detail)
    else:
        ends = [edges[0], edges[-1], *(one["box"] or ()), *one["means"]["at"]]
        limits = (min(ends), max(ends))
        # The last step needs an end.
        steps: dict[str, Any] = {"steps": True, "fill": 0.25, "colour": "muted", "detail": [*counts, counts[-1]]}
        hover = "from %{x:.4g}<br>%{customdata:,} rows"
        rows = Series(edges, [*counts, counts[-1]], line=True, hover=hover, **steps)
    whole = _MEANS + _COUNTS
    above, across = (Axis(names=levels, limits=limits, visible=visible) for visible in (False, True))
    return Figure(
        "distribution",
        one["name"],
        f"Mean of {name} with one standard error, and rows below, {one['kind']}; {sum(counts):,} values, "
        f"{one['missing']:,} missing.",
        (3.2, whole),
        [
            Panel(above, Axis(f"mean of {shown(name, _LETTERS)}"), _means(one), _MEANS / whole),
            Panel(across, Axis("rows", "count", limits=(0.0, None)), [rows], _COUNTS / whole),
        ],
    )


def _levels(one: dict[str, Any]) -> list[str]:
    return one["levels"] or []


def _estimates(one: dict[str, Any]) -> list[tuple[float, float]]:
    """The means with their standard errors; a single row has none."""
    return [(mean, se or 0.0) for mean, se in zip(one["means"]["mean"], one["means"]["se"], strict=True)]


def _means(one: dict[str, Any]) -> list[Mark]:
    """The means as a line with a band, or as single points with bars where the feature is nominal."""
    known, se = one["means"], [error for _, error in _estimates(one)]
    value = f"%{{y:{_NUMBER}}} \N{PLUS-MINUS SIGN} %{{customdata[0]}}, %{{customdata[1]:,}} rows"
    detail = [[f"{error:.3g}", n] for error, n in zip(se, known["count"], strict=True)]
    if one["levels"] is None:
        hover = f"around %{{x:{_NUMBER}}}: {value}"
        look: dict[str, Any] = {"points": True, "shape": "circle", "size": 6.0, "colour": 0}
        return [Series(known["at"], known["mean"], line=True, reach=se, hover=hover, detail=detail, **look)]
    return [
        Series(
            [at],
            [mean],
            points=True,
            shape="circle",
            colour=0,
            reach=[error],
            hover=f"{escaped(one['levels'][round(at)])}: {value}",
            detail=[about],
        )
        for at, mean, error, about in zip(known["at"], known["mean"], se, detail, strict=True)
    ]
