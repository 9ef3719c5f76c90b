"""Figures of the features: how often selected, which are redundant, what selectors agree on, and their values."""

from itertools import pairwise
from typing import Any

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Axis, Bars, Box, Colour, Figure, Heat, Panel, Series

#: Most features with a bar, most combinations of selectors, and combinations for which there is always room.
_BARS, _SETS, _COLUMNS = 30, 20, 8
#: Most classes with clearly visible areas below their lines.
_FEW = 3
#: Inches of the bars of combinations, and of a line of dots below them.
_HIGH, _DOTS = 1.7, 0.22
#: Inches of the steps of a distribution, and of a box above them.
_STEPS, _BOX = 2.0, 0.18


def chosen(facts: dict[str, Any]) -> Figure | None:
    """The features by how often the folds use them, or by score where there were no folds."""
    if facts["features"] is None:
        return None
    table = facts["features"]["table"]
    key = "chosen" if any(value is not None for value in table["chosen"]) else "score"
    known = [i for i, value in enumerate(table[key]) if value or (value is not None and key == "score")]
    order = sorted(known, key=lambda i: (-table[key][i], table["rank"][i]))[:_BARS]
    if not order:
        return None
    kind = ["not used" if not table["used"][i] else _used(table["role"] and table["role"][i]) for i in order]
    shades: dict[str, Colour] = {_used(None): 0, _used("probe"): 5, "not used": "faint" if any(table["used"]) else 0}
    marks = []
    for label, colour in shades.items():
        own = [place for place, one in enumerate(kind) if one == label]
        if own:
            named: dict[str, Any] = {"colour": colour, "label": label if any(table["used"]) else None}
            marks.append(Bars(own, [table[key][order[place]] for place in own], across=True, **named))
    score = Axis(f"score ({facts['features']['score_name']})")
    share = Axis("folds that use the feature", "share", limits=(0.0, 1.0))
    return Figure(
        "features",
        "Features by how often they are selected" if key == "chosen" else "Features by score",
        "The first features, and whether the model uses them.",
        (4.0, 0.2 + 0.17 * len(order)),
        [Panel(share if key == "chosen" else score, Axis(names=[table["name"][i] for i in order], grid=False), marks)],
    )


def _used(role: str | None) -> str:
    return "probe, used by the model" if role == "probe" else "used by the model"


def distributions(facts: dict[str, Any]) -> list[Figure]:
    """The distribution of each feature by class: steps for a numeric one, bars for a nominal one."""
    if facts["features"] is None:
        return []
    classes = [] if facts["rows"] is None else facts["rows"]["classes"]
    return [_distribution(one, classes) for one in facts["features"]["distributions"] or () if "classes" in one]


def _distribution(one: dict[str, Any], classes: list[str]) -> Figure:
    edges, levels, n = one["edges"], one["levels"] or (), len(one["classes"])
    marks: list[Series | Bars] = []
    for place, own in enumerate(one["classes"]):
        label, counts = own["class"], own["counts"]
        shares = [round(count / max(1, sum(counts)), 4) for count in counts]
        # A class has the same colour in all figures.
        look = {"colour": classes.index(label) if label in classes else place, "label": label}
        if edges is None:
            at = [level + (place - (n - 1) / 2) * 0.75 / n for level in range(len(shares))]
            detail = [f"{escaped(level)}<br>{count:,} rows" for level, count in zip(levels, counts, strict=True)]
            hover = f"<b>{escaped(label)}</b><br>%{{customdata}}"
            marks.append(Bars(at, shares, width=0.75 / n, hover=hover, detail=detail, **look))
        else:
            hover = f"<b>{escaped(label)}</b><br>from %{{x:.4g}}<br>%{{customdata:,}} rows"
            # The last step needs an end.
            steps: dict[str, Any] = {"detail": [*counts, counts[-1]], "steps": True}
            steps["fill"] = 0.18 if n <= _FEW else 0.06
            marks.append(Series(edges, [*shares, shares[-1]], line=True, hover=hover, **steps, **look))
    rows = sum(sum(own["counts"]) for own in one["classes"])
    boxes = _boxes(one, [mark.colour for mark in marks])
    high = _STEPS + _BOX * len(boxes)
    ends = [end for box in boxes for end in (box.values[0], box.values[-1])]
    limits = (min([edges[0], *ends]), max([edges[-1], *ends])) if boxes else (None, None)
    share = Axis(kind="share", limits=(0.0, None))
    panels = [Panel(Axis(names=levels, limits=limits), share, marks, _STEPS / high if boxes else 1.0)]
    if boxes:
        places = Axis(visible=False, limits=(n - 0.5, -0.5))
        panels.insert(0, Panel(Axis(limits=limits, visible=False), places, boxes, 1 - _STEPS / high))
    above = "; above, the quartiles of each" if boxes else ""
    return Figure(
        "distribution",
        one["name"],
        f"Share of each class, {one['kind']}{above}; {rows:,} values, {one['missing']:,} missing.",
        (3.2, high),
        panels,
    )


def _boxes(one: dict[str, Any], colours: list[Colour]) -> list[Box]:
    """A box for each class with values; reports of older versions have none."""
    known = one.get("boxes") or ()
    return [Box(place, five, colour=colours[place]) for place, five in enumerate(known) if five is not None]


def redundancy(facts: dict[str, Any]) -> Figure | None:
    """The absolute correlations of the top features, with frames around clusters."""
    known = (facts["features"] or {}).get("redundancy")
    if known is None or not known["order"]:
        return None
    order = known["order"]
    values = [[known["correlation"][i][j] or 0.0 for j in order] for i in order]
    clusters = [known["cluster"][i] for i in order]
    ends = [i for i in range(len(order) + 1) if i in (0, len(order)) or clusters[i] != clusters[i - 1]]
    frames = [(begin, end) for begin, end in pairwise(ends) if end - begin > 1]
    heat = Heat(values, "absolute correlation", frames=frames, hover="%{x}<br>%{y}<br>|r| = %{z:.2f}")
    names = Axis(names=[known["names"][i] for i in order], grid=False)
    side = 0.135 * max(len(order), 18)
    return Figure(
        "redundancy",
        "Similar features",
        f"Absolute correlation of the first {len(order)} features, similar ones side by side; frames are clusters.",
        (side, side),
        [Panel(names, names, [heat], square=True)],
    )


def selectors(facts: dict[str, Any]) -> Figure | None:
    """What selectors agree on, as an UpSet plot: the features that each combination of selectors selected.

    References
    ----------
    Lex et al., "UpSet: Visualization of Intersecting Sets", IEEE TVCG 20 (2014).
    """
    known = (facts["features"] or {}).get("selectors")
    if known is None or not known["sets"]:
        return None
    sets, names = known["sets"][:_SETS], known["names"]
    sizes = [one["size"] for one in sets]
    who = [" and ".join(escaped(names[i], 30) for i in one["members"]) for one in sets]
    text = [f"{size:,}" for size in sizes]
    bars = Bars(range(len(sets)), sizes, text=text, hover="%{customdata}<br>%{y:,} features", detail=who)
    empty = [(i, j) for i in range(len(sets)) for j in range(len(names))]
    full = [(i, j) for i, one in enumerate(sets) for j in [*one["members"], None]]
    round_: dict[str, Any] = {"points": True, "shape": "circle", "size": 11.0}
    dots = [
        Series([i for i, _ in empty], [j for _, j in empty], colour="faint", **round_),
        Series([i for i, _ in full], [j for _, j in full], line=True, colour="ink", **round_),
    ]
    across = Axis(limits=(-0.6, max(len(sets), _COLUMNS) - 0.4), visible=False)
    rows = Axis(names=[f"{name} ({size:,})" for name, size in zip(names, known["sizes"], strict=True)], grid=False)
    high = _HIGH + _DOTS * len(names)
    return Figure(
        "selectors",
        "Where selections agree",
        "Each column is a group of selectors, marked by the dots below it; its bar counts the features that these "
        "selected and no other did. Beside each name: how many it selected in all.",
        (0.23 * max(len(sets), _COLUMNS), high),
        [
            Panel(across, Axis("features of these alone", "count"), [bars], _HIGH / high),
            Panel(across, rows, dots, 1 - _HIGH / high),
        ],
    )
