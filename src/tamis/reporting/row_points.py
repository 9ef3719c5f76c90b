"""Rows as points of a figure, coloured by what is to be predicted."""

from typing import Any

from tamis.reporting.display_names import escaped
from tamis.reporting.figure_description import Mark, Series, Values


def row_points(
    rows: dict[str, Any],
    known: dict[str, Any],
    x: Values,
    y: Values,
    *,
    hover: str,
    detail: Values,
    size: float,
    named: bool = True,
) -> list[Mark]:
    """A series of points for each class, or one that is coloured by the numbers of the target.

    Parameters
    ----------
    rows : dict
        The entry "rows" of the facts.
    known : dict
        What is known of the rows that are drawn: the "class" of each, or the "value" of its target.
    x, y, detail : sequences with a value a row
    hover : str
        The text of a point, in which "{name}" is the class or the number.
    size : float
    named : bool, default=True
        Whether there is a legend or a scale.
    """
    if "value" in known:
        text = hover.replace("{name}", f"{escaped(rows['target'])} %{{marker.color:,.4~r}}")
        scale = {"values": known["value"], "ends": tuple(rows["ends"]), "scale": rows["target"] if named else ""}
        return [Series(x, y, points=True, shape="circle", size=size, hover=text, detail=detail, **scale)]
    marks: list[Mark] = []
    for number, name in enumerate(rows["classes"]):
        own = [i for i, code in enumerate(known["class"]) if code == number]
        across, up, about = ([values[i] for i in own] for values in (x, y, detail))
        text = hover.replace("{name}", escaped(name))
        label = name if named else None
        marks.append(Series(across, up, points=True, size=size, colour=number, label=label, hover=text, detail=about))
    return marks
