"""A curve drawn with characters: error against number of features."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

#: Marks of the curves, in order.
MARKS = "●○▲△■□◆◇"

_BAR = "│"


class Point(NamedTuple):
    """A point of a curve, with the length of its error bar to either side."""

    x: float
    y: float
    reach: float = 0.0


def draw(
    curves: Mapping[str, Sequence[Point]], *, x_title: str, y_title: str, width: int = 64, height: int = 14
) -> list[str]:
    """Lines of text that show curves of points with positive x over a logarithmic axis.

    If there is one curve, it has error bars. Curves beyond the number of :data:`MARKS` are left out. Points in the same
    place show the mark of the first curve. The width and the height of the plot are in characters.

    Examples
    --------
    >>> points = [Point(1, 0.4), Point(10, 0.1)]
    >>> for line in draw({"cc(*)": points}, x_title="features", y_title="BER", width=9, height=3):
    ...     print(line.rstrip())
    BER
    0.40 ┤●
    0.25 ┤
    0.10 ┤        ●
         └─────────
          1      10
         features
      ● cc(*)
    """
    shown = {name: [p for p in points if p.x > 0 and math.isfinite(p.y)] for name, points in curves.items()}
    shown = dict(list({name: points for name, points in shown.items() if points}.items())[: len(MARKS)])
    if not shown:
        return []
    every = [p for points in shown.values() for p in points]
    bars = len(shown) == 1
    low, high = _span([p.y - (p.reach if bars else 0) for p in every], [p.y + (p.reach if bars else 0) for p in every])
    left, right = _span([math.log(p.x) for p in every], [math.log(p.x) for p in every])
    field = [[" "] * width for _ in range(height)]

    def row(y: float) -> int:
        return round((high - y) / (high - low) * (height - 1))

    def column(x: float) -> int:
        return round((math.log(x) - left) / (right - left) * (width - 1))

    for mark, points in reversed(list(zip(MARKS, shown.values(), strict=False))):
        for p in points:
            for line in range(row(p.y + p.reach), row(p.y - p.reach) + 1) if bars and math.isfinite(p.reach) else ():
                field[line][column(p.x)] = _BAR
        for p in points:
            field[row(p.y)][column(p.x)] = mark
    return _framed(field, low, high, left, right, x_title, y_title) + [
        f"  {mark} {name}" for mark, name in zip(MARKS, shown, strict=False)
    ]


def _framed(
    field: list[list[str]], low: float, high: float, left: float, right: float, x_title: str, y_title: str
) -> list[str]:
    height, width = len(field), len(field[0])
    labels = [f"{high - (high - low) * i / (height - 1):.2f}" for i in range(height)]
    margin = max(map(len, labels))
    lines = [y_title]
    for i, cells in enumerate(field):
        label = labels[i] if i in (0, height // 2, height - 1) else ""
        lines.append(f"{label:>{margin}} ┤{''.join(cells)}")
    pad = " " * margin
    first, last = f"{math.exp(left):.4g}", f"{math.exp(right):.4g}"
    lines.append(f"{pad} └{'─' * width}")
    lines.append(f"{pad}  {first}{last:>{width - len(first)}}")
    lines.append(f"{pad} {x_title}")
    return lines


def _span(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    low, high = min(filter(math.isfinite, lows)), max(filter(math.isfinite, highs))
    return (low, high) if high > low else (low - 0.5, high + 0.5)
