"""Figures of the models: error against features, and the search on a time line."""

from typing import TYPE_CHECKING, Any

from tamis.reporting.canvas import (
    FAINT,
    INK,
    PALE,
    colour,
    label,
    legend_beside,
    marker,
    panel,
    plain_numbers,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["error_features", "stages"]

#: Families with a colour of their own; the others stand back.
_FAMILIES = 6

#: Points of a line that are marked, about.
_SPOTS = 25

#: Sizes that differ by more than this factor are drawn on a logarithmic scale.
_WIDE = 20

#: Units of time and the seconds in each, the longest first.
_UNITS = (("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


def error_features(facts: dict[str, Any]) -> "Figure | None":
    """The error of the best model of every family against the number of its features, with one standard error."""
    models = facts["models"]
    curves = [] if models is None else [curve for curve in models["curves"] if curve["points"]]
    if not curves:
        return None
    high = models["metric"]["better"] == "high"
    curves = sorted(curves, key=lambda curve: _best(curve, high))
    figure, axes = panel(4.6, 3.3)
    for curve in curves[_FAMILIES:]:
        _, sizes, means, _ = _points(curve)
        axes.plot(sizes, means, color=PALE, linewidth=0.9, zorder=1)
    for number, curve in enumerate(curves[:_FAMILIES]):
        _family(axes, curve, number)
    if len(curves) > _FAMILIES:
        axes.plot([], [], color=PALE, label=f"{len(curves) - _FAMILIES} other families")
    _mark(axes, models)
    sizes = [point["features"] for curve in curves for point in curve["points"]]
    if max(sizes) > _WIDE * max(min(sizes), 1.0):
        axes.set_xscale("log" if min(sizes) > 0 else "symlog")
    else:
        whole_numbers(axes.xaxis)
    plain_numbers(axes.xaxis)
    axes.grid(axis="y")
    axes.set_xlabel("features used")
    axes.set_ylabel(f"{label(models['metric']['title'])} (mean over folds, \N{PLUS-MINUS SIGN} 1 s.e.)")
    legend_beside(axes)
    return figure


def _best(curve: dict[str, Any], high: bool) -> float:
    means = [point["mean"] for point in curve["points"]]
    return -max(means) if high else min(means)


def _points(curve: dict[str, Any]) -> tuple[str, list[float], list[float], list[float]]:
    points = curve["points"]
    sizes, means, errors = ([point[key] or 0.0 for point in points] for key in ("features", "mean", "se"))
    return label(curve["family"], 26), sizes, means, errors


def _family(axes: "Axes", curve: dict[str, Any], number: int) -> None:
    name, sizes, means, errors = _points(curve)
    own: dict[str, Any] = {"color": colour(number), "zorder": 3 + _FAMILIES - number}
    spots: dict[str, Any] = {"marker": marker(number), "markeredgecolor": "white", "markeredgewidth": 0.5}
    axes.plot(sizes, means, label=name, markevery=-(-len(sizes) // _SPOTS), **spots, **own)
    low, high = ([m + sign * e for m, e in zip(means, errors, strict=True)] for sign in (-1, 1))
    if len(sizes) > 1:
        axes.fill_between(sizes, low, high, color=colour(number), alpha=0.13, linewidth=0, zorder=2)
    else:
        axes.errorbar(sizes, means, yerr=errors, linewidth=1.0, **own)


def _mark(axes: "Axes", models: dict[str, Any]) -> None:
    """A ring around the model that was chosen, and a square around the smallest that is not told from it."""
    marks = (
        (models.get("chosen", models["best"]), "the choice", "o", 11.0),
        (models["smallest"], "the smallest as good", "s", 8.5),
    )
    # One ring will do where both are the same.
    for number, name, shape, size in marks[: 1 if marks[0][0] == marks[1][0] else 2]:
        row = None if number is None else models["rows"][number]
        if row is not None and row["features"] is not None and row["mean"] is not None:
            ring: dict[str, Any] = {
                "markersize": size,
                "markerfacecolor": "none",
                "markeredgecolor": INK,
                "linestyle": "none",
            }
            axes.plot([row["features"]], [row["mean"]], marker=shape, zorder=20, label=name, **ring)


def stages(facts: dict[str, Any]) -> "Figure | None":
    """When each stage of the search ran, how many recipes it tried, and the best error among them."""
    known = [] if facts["story"] is None else facts["story"]["stages"]
    if not known:
        return None
    names = list(dict.fromkeys(one["stage"] for one in known))
    end = max(one["end"] for one in known)
    unit, seconds = next((unit for unit in _UNITS if end > 2 * unit[1]), _UNITS[-1])
    figure, axes = panel(4.4, 0.2 + 0.32 * len(names))
    for place, name in enumerate(names):
        own = [one for one in known if one["stage"] == name]
        spans = [(one["begin"] / seconds, (one["end"] - one["begin"]) / seconds) for one in own]
        axes.broken_barh(spans, (place - 0.3, 0.6), facecolor=colour(0), edgecolor="white", linewidth=0.6)
        axes.annotate(
            _told(own, facts),
            (max(one["end"] for one in own) / seconds, place),
            xytext=(4, 0),
            textcoords="offset points",
            annotation_clip=False,
            verticalalignment="center",
            color=FAINT,
            fontsize=7.5,
        )
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, end / seconds)
    axes.set_xlabel(f"time ({unit})")
    plain_numbers(axes.xaxis)
    return figure


def _told(own: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    # Every visit to a stage tells of all of them.
    recipes, best = own[-1]["recipes"], own[-1]["best"]
    said = f"{recipes:,} recipe" + ("s" if recipes != 1 else "")
    if best is None:
        return said
    title = facts["models"]["metric"]["title"] if facts["models"] is not None else "error"
    return f"{said}, best {label(title)} {best:.3f}"
