"""Figures of the features: how often they are chosen, which say the same, and what selectors agree on."""

from typing import TYPE_CHECKING, Any

from tamis.reporting.canvas import (
    FAINT,
    GREY,
    INK,
    PALE,
    colour,
    label,
    panel,
    percent,
    plain_numbers,
    shade_bar,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["chosen", "redundancy", "selectors"]

#: Features with a bar, and combinations of selectors with one.
_BARS, _SETS = 30, 20
#: Combinations for which there is room at the least.
_COLUMNS = 8


def chosen(facts: dict[str, Any]) -> "Figure | None":
    """The features by how often the folds use them; by their score where there were no folds."""
    if facts["features"] is None:
        return None
    table = facts["features"]["table"]
    key = "chosen" if any(value is not None for value in table["chosen"]) else "score"
    known = [i for i, value in enumerate(table[key]) if value or (value is not None and key == "score")]
    order = sorted(known, key=lambda i: (-table[key][i], table["rank"][i]))[:_BARS]
    if not order:
        return None
    figure, axes = panel(4.0, 0.2 + 0.17 * len(order))
    for name, own, shade in _kinds(table, order):
        places = [order.index(i) for i in own]
        axes.barh(places, [table[key][i] for i in own], height=0.72, color=shade, label=name)
    axes.set_yticks(range(len(order)), [label(table["name"][i], 28) for i in order], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.grid(axis="x")
    if key == "chosen":
        axes.set_xlim(0, 1)
        percent(axes.xaxis)
        axes.set_xlabel("folds that use the feature")
        if any(table["used"]):
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.0, ncols=3, columnspacing=1.2)
    else:
        plain_numbers(axes.xaxis)
        axes.set_xlabel(f"score ({label(facts['features']['score_name'])})")
    return figure


def _kinds(table: dict[str, Any], order: list[int]) -> list[tuple[str, list[int], str]]:
    """Features in use, probes in use, and the others, those kinds that there are, each with its shade."""
    probe = [table["role"] is not None and table["role"][i] == "probe" for i in range(len(table["name"]))]
    kinds = (
        ("used by the model", [i for i in order if table["used"][i] and not probe[i]], colour(0)),
        ("probe, used by the model", [i for i in order if table["used"][i] and probe[i]], colour(5)),
        ("not used", [i for i in order if not table["used"][i]], GREY if any(table["used"]) else colour(0)),
    )
    return [kind for kind in kinds if kind[1]]


def redundancy(facts: dict[str, Any]) -> "Figure | None":
    """How much the top features say the same: their correlations, and clusters framed."""
    known = None if facts["features"] is None else facts["features"]["redundancy"]
    if known is None or not known["order"]:
        return None
    order = known["order"]
    n = len(order)
    values = [[known["correlation"][i][j] or 0.0 for j in order] for i in order]
    side = 0.115 * max(n, 18)
    figure, axes = panel(side, side)
    mesh = axes.pcolormesh(values, vmin=0, vmax=1, cmap="Blues", edgecolors="white", linewidth=0.3)
    _frames(axes, [known["cluster"][i] for i in order])
    names = [label(known["names"][i], 20) for i in order]
    small = 8 if n <= 15 else 6
    axes.set_xticks([i + 0.5 for i in range(n)], names, rotation=90, fontsize=small)
    axes.set_yticks([i + 0.5 for i in range(n)], names, fontsize=small)
    axes.tick_params(length=0)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    shade_bar(axes, mesh, "absolute correlation")
    return figure


def _frames(axes: "Axes", clusters: list[int]) -> None:
    """A frame around every cluster of two features or more."""
    begin = 0
    for i in range(1, len(clusters) + 1):
        if i == len(clusters) or clusters[i] != clusters[begin]:
            if i - begin > 1:
                x = [begin, i, i, begin, begin]
                y = [begin, begin, i, i, begin]
                axes.plot(x, y, color=colour(5), linewidth=1.1, clip_on=False)
            begin = i


def selectors(facts: dict[str, Any]) -> "Figure | None":
    """What selectors agree on, as an UpSet plot: for every combination the features that just these selectors chose.

    References
    ----------
    Lex et al., "UpSet: Visualization of Intersecting Sets", IEEE TVCG 20 (2014).
    """
    from matplotlib.figure import Figure

    known = None if facts["features"] is None else facts["features"]["selectors"]
    if known is None or not known["sets"]:
        return None
    sets, names = known["sets"][:_SETS], known["names"]
    width, height = 0.23 * max(len(sets), _COLUMNS), 0.22 * len(names)
    figure = Figure(figsize=(2.6 + width, 2.0 + height), layout="constrained")
    ratios = {"width_ratios": [1.1, width], "height_ratios": [1.7, height]}
    (empty, above), (left, matrix) = figure.subplots(2, 2, gridspec_kw=ratios)
    empty.set_axis_off()
    _above(above, [one["size"] for one in sets])
    _matrix(matrix, sets, len(names))
    left.barh(range(len(names)), known["sizes"], height=0.6, color=FAINT)
    left.invert_xaxis()
    whole_numbers(left.xaxis)
    left.set_xlabel("features chosen")
    left.yaxis.tick_right()
    left.set_yticks(range(len(names)), [label(name, 22) for name in names])
    left.tick_params(axis="y", length=0)
    left.spines[["left"]].set_visible(False)
    for axes in (left, matrix):
        axes.set_ylim(len(names) - 0.5, -0.5)
    return figure


def _above(axes: "Axes", sizes: list[int]) -> None:
    bars = axes.bar(range(len(sizes)), sizes, width=0.62, color=colour(0))
    axes.bar_label(bars, fontsize=7, padding=1.5)
    axes.set_xlim(-0.6, max(len(sizes), _COLUMNS) - 0.4)
    axes.set_xticks([])
    whole_numbers(axes.yaxis)
    axes.spines[["bottom"]].set_visible(False)
    axes.set_ylabel("features chosen by\njust these")


def _matrix(axes: "Axes", sets: list[dict[str, Any]], n: int) -> None:
    """A column of dots for each combination, those of its members dark and joined."""
    for place in range(0, n, 2):
        axes.axhspan(place - 0.5, place + 0.5, color="#F4F4F4", zorder=0)
    for x, one in enumerate(sets):
        members = one["members"]
        axes.plot([x] * n, range(n), "o", color=PALE, markersize=5, zorder=1)
        axes.plot([x] * len(members), members, "o-", color=INK, markersize=5, linewidth=1.3, zorder=2)
    axes.set_xlim(-0.6, max(len(sets), _COLUMNS) - 0.4)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
