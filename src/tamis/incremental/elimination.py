"""Backward elimination in rounds: weigh the remaining columns, drop the lightest, weigh again."""

from collections.abc import Callable
from numbers import Integral
from typing import NamedTuple

import numpy as np

from tamis.base.cut import Cut, rank
from tamis.base.types import FloatArray


class Weighed(NamedTuple):
    """Columns from the heaviest to the lightest, with their weights."""

    columns: np.ndarray
    weights: FloatArray


class Round(NamedTuple):
    """The number of columns weighed, and those dropped after it."""

    size: int
    gone: Weighed


class Path(NamedTuple):
    """Rounds of an elimination; of a round that reaches a wanted size, all columns."""

    rounds: list[Round]
    whole: dict[int, Weighed]

    def down_to(self, size: int) -> tuple[list[Round], Weighed]:
        """The rounds to `size` columns, and all columns best first: those of the last round, then the last to leave."""
        last = max(0, sum(one.size > size for one in self.rounds) - 1)
        parts = [self.whole[last], *(one.gone for one in reversed(self.rounds[:last]))]
        columns, weights = (np.concatenate(one) for one in zip(*parts, strict=True))
        return self.rounds[: last + 1], Weighed(columns, weights)


def eliminate(weigh: Callable[[np.ndarray], FloatArray], n_columns: int, step: float, sizes: set[int]) -> Path:
    """Drop columns round by round, down to the smallest of the wanted `sizes`.

    `weigh` returns the weights, zero or more, of columns given in ascending order. `step` is the number of columns to
    drop in a round, or a share of those that remain, rounded down but at least one. The sizes of the rounds depend on
    `step` and `n_columns` alone: one path serves every size. Of columns whose weights differ by rounding alone, the
    later are dropped first.

    Examples
    --------
    >>> path = eliminate(lambda columns: columns % 4 + 1.0, 6, 2, {1, 5})
    >>> [one.size for one in path.rounds], path.down_to(5)[1].columns, path.down_to(1)[1].columns
    ([6, 4, 2], array([3, 2, 1, 5, 0, 4]), array([3, 2, 1, 5, 0, 4]))
    """
    path = Path([], {})
    columns = np.arange(n_columns)
    while True:
        size = columns.shape[0]
        drop = int(step) if isinstance(step, Integral) else max(1, int(step * size))
        left = max(1, size - drop)
        weights = weigh(columns)
        order = rank((weights / (weights.max() or 1.0)).astype(np.float32).astype(np.float64))
        if any(left <= one <= size for one in sizes):
            path.whole[len(path.rounds)] = Weighed(columns[order], weights[order])
        gone = order[left:]
        path.rounds.append(Round(size, Weighed(columns[gone], weights[gone])))
        if left <= min(sizes):
            return path
        columns = np.sort(columns[order[:left]])


def size_to_keep(k: int | None, fraction: float | None, n_features: int) -> int:
    """The number of columns an elimination selects: `k`, or a share of all, rounded up; by default a half.

    Examples
    --------
    >>> size_to_keep(3, None, 10), size_to_keep(None, 0.25, 10), size_to_keep(None, None, 10)
    (3, 3, 5)
    """
    cut = Cut(k, 0.5 if k is None and fraction is None else fraction)
    return int(cut.apply(np.zeros(n_features), np.arange(n_features)).sum())
