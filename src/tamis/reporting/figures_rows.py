"""Figures of the rows: the data in two dimensions, and the answers beside the truth."""

from typing import TYPE_CHECKING, Any

from tamis.reporting.canvas import (
    FAINT,
    GREY,
    INK,
    colour,
    edge,
    label,
    legend_beside,
    line,
    marker,
    panel,
    percent,
    shade_bar,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["calibration", "confusion", "permutation", "projection", "roc", "threshold"]

#: Classes named beside the rows, and classes with a curve; of more, those that come first.
_CLASSES, _CURVES = 24, 12
#: Classes up to which the cells of a confusion matrix hold their counts; the inches of such a cell, and of others.
_COUNTED, _CELL, _SMALL = 20, 0.36, 0.2
#: Above this share a cell is so dark that its letters are white.
_DARK = 0.55


def projection(facts: dict[str, Any]) -> "Figure | None":
    """The rows along the first two principal components of the used features, by class."""
    rows = facts["rows"]
    known = None if rows is None else rows["projection"]
    if known is None or not known["x"]:
        return None
    figure, axes = panel(4.2, 3.4)
    names = rows["classes"]
    for number, name in enumerate(names):
        own = [i for i, code in enumerate(known["class"]) if code == number]
        told: dict[str, Any] = {"label": label(name, 26)} if number < _CLASSES else {}
        look: dict[str, Any] = {
            "marker": marker(number),
            "color": colour(number),
            "s": 16 if len(known["x"]) <= 500 else 9,
        }
        x, y = ([known[key][i] for i in own] for key in ("x", "y"))
        axes.scatter(x, y, alpha=0.75, linewidths=0.25, edgecolors=INK, **told, **look)
    for axis, number, name in ((axes.xaxis, 0, "first"), (axes.yaxis, 1, "second")):
        axis.set_label_text(f"{name} component ({100 * (known['explained'][number] or 0.0):.3g} % of the variance)")
    _legend(axes, len(names), _CLASSES)
    if known["shown"] < known["of"]:
        axes.set_title(f"{known['shown']:,} of {known['of']:,} rows", loc="right", fontsize=7.5, color=FAINT)
    return figure


def _legend(axes: "Axes", n: int, told: int) -> None:
    legend_beside(axes, title=f"{told} of {n} classes" if n > told else None, markerscale=1.3)


def confusion(facts: dict[str, Any]) -> "Figure | None":
    """The rows of each class by what they were taken for: shares as shades, counts as numbers."""
    counts = None if facts["rows"] is None else facts["rows"]["confusion"]
    if counts is None:
        return None
    n = len(counts)
    shares = [[count / max(1, sum(own)) for count in own] for own in counts]
    side = max(2.2, n * (_CELL if n <= _COUNTED else _SMALL))
    figure, axes = panel(side, side)
    mesh = axes.pcolormesh(shares, vmin=0, vmax=1, cmap="Blues", edgecolors="white", linewidth=1.0 if n <= 12 else 0.4)
    small = 8.5 if n <= 8 else 7.5 if n <= 15 else 6
    if n <= _COUNTED:
        for i, own in enumerate(counts):
            for j, count in enumerate(own):
                ink = "white" if shares[i][j] > _DARK else INK if count else "#A0A0A0"
                where: dict[str, Any] = {"horizontalalignment": "center", "verticalalignment": "center"}
                axes.text(j + 0.5, i + 0.5, f"{count:,}", color=ink, fontsize=small, **where)
    names = [label(name, 20) for name in facts["rows"]["classes"]]
    turn: dict[str, Any] = {"rotation": 90} if n > 4 or max(map(len, names)) > 9 else {}
    axes.set_xticks([i + 0.5 for i in range(n)], names, fontsize=small, **turn)
    axes.set_yticks([i + 0.5 for i in range(n)], names, fontsize=small)
    axes.tick_params(length=0)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.spines[:].set_visible(False)
    axes.set_xlabel("answer")
    axes.set_ylabel("truth")
    percent(shade_bar(axes, mesh, "share of the class").yaxis)
    return figure


def roc(facts: dict[str, Any]) -> "Figure | None":
    """True against false positives for every threshold; of more than two classes, each against the rest."""
    known = None if facts["rows"] is None else facts["rows"]["roc"]
    curves = [] if known is None else known["curves"]
    if not curves:
        return None
    figure, axes = _square()
    for number, curve in enumerate(curves[:_CURVES]):
        # The area first: a name that is written from right to left would turn what comes after it.
        area = "" if curve["auc"] is None else f"AUC {curve['auc']:.3f}  "
        axes.plot(
            curve["fpr"], curve["tpr"], label=f"{area}{label(curve['class'], 26)}", **line(number), **edge(number)
        )
    axes.set_xlabel("rows of other classes taken for the class")
    axes.set_ylabel("rows of the class found")
    _legend(axes, len(curves), _CURVES)
    return figure


def _square() -> "tuple[Figure, Axes]":
    """Axes of shares with the diagonal."""
    figure, axes = panel(3.2, 3.2)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_aspect("equal")
    for axis, limits in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        limits(-0.01, 1.01)
        percent(axis)
    return figure, axes


def threshold(facts: dict[str, Any]) -> "Figure | None":
    """The balanced error against the share of rows that are called positive."""
    known = None if facts["rows"] is None else facts["rows"]["threshold"]
    if known is None:
        return None
    figure, axes = panel(4.4, 3.0)
    axes.plot(known["share"], known["ber"], color=colour(0))
    filled: dict[str, Any] = {"markersize": 6}
    open_: dict[str, Any] = {"markersize": 9.5, "markerfacecolor": "none", "markeredgewidth": 1.4}
    used, best = ("used", "as the model decides", "o", colour(5)), ("best", "best, known afterwards", "D", colour(2))
    for (key, name, shape, shade), look in ((used, filled), (best, open_)):
        at = known[key]
        if at is not None and at["ber"] is not None:
            told = f"{name}: BER {at['ber']:.3f}"
            axes.plot([at["share"]], [at["ber"]], shape, color=shade, label=told, zorder=5, **look)
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    percent(axes.xaxis)
    axes.grid(axis="y")
    axes.set_xlabel(f"rows called {label(facts['rows']['classes'][1], 40)}")
    axes.set_ylabel("BER (balanced error rate)")
    axes.legend(loc="upper center")
    return figure


def calibration(facts: dict[str, Any]) -> "Figure | None":
    """How often a class occurs where the model gives it some probability, in bins of the same number of rows."""
    known = None if facts["rows"] is None else facts["rows"]["calibration"]
    curves = [] if known is None else known["curves"]
    if not curves:
        return None
    figure, axes = _square()
    for number, curve in enumerate(curves[:_CURVES]):
        look: dict[str, Any] = {
            "marker": marker(number),
            "markeredgecolor": INK,
            "markeredgewidth": 0.25,
            "linewidth": 1.0,
        }
        axes.plot(curve["predicted"], curve["observed"], label=label(curve["class"], 26), **look, **line(number))
    axes.set_xlabel("probability given to the class (mean of the bin)")
    axes.set_ylabel("rows of the class in the bin")
    _legend(axes, len(curves), _CURVES)
    return figure


def permutation(facts: dict[str, Any]) -> "Figure | None":
    """The error with the true classes beside the errors with classes dealt out at random."""
    known = None if facts["honesty"] is None else facts["honesty"]["permutation"]
    if known is None or known["value"] is None:
        return None
    null = [value for value in known["null"] if value is not None]
    title = "estimate" if facts["answer"] is None else label(facts["answer"]["metric"]["title"])
    figure, axes = panel(4.4, 2.6)
    if null:
        axes.hist(null, bins=max(5, min(30, len(null) // 6)), color=GREY, edgecolor="white", linewidth=0.5)
    axes.axvline(known["value"], color=colour(5), linewidth=1.8)
    left = known["value"] < (sum(null) / len(null) if null else 0.5)
    axes.annotate(
        f"true classes\n{title} {known['value']:.3f}\np = {known['p']:.2g}",
        (known["value"], 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(6 if left else -6, 0),
        textcoords="offset points",
        horizontalalignment="left" if left else "right",
        verticalalignment="top",
    )
    axes.set_xlabel(f"{title} with classes dealt out at random")
    whole_numbers(axes.yaxis)
    axes.set_ylabel(f"relabelings (of {len(null)})")
    return figure
