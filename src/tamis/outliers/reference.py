"""The rows that others are compared with, and what each column adds to the distances from a row."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.kernels.outlying_degree import outlying_degrees
from tamis.neighbours.ranged_rows import column_ranges

#: Values that one call of the kernel reads at most, so that an interrupt and the progress wait for less than a second.
_VALUES = 2**28

#: Rows that are added up together, so that their sums stay in the processor's caches.
_BLOCK = 1024

#: The nearest rows in all columns, which are compared first.
_FIRST = 1000


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows divided by the ranges of their columns.

    `columns` holds a column a row of the array, NaN where missing. `nominal` marks codes, which differ by 0 or 1, and
    the columns with one value, from which any other value differs by 1. `missing` is what a column adds to the distance
    to a row without a value in it: the mean over all pairs of known rows.
    """

    columns: FloatArray
    nominal: Mask
    missing: FloatArray
    shift: FloatArray
    size: FloatArray
    squared: bool

    @classmethod
    def of(cls, X: FloatArray, nominal: Mask, *, metric: str) -> Self:
        """Learn the ranges of validated rows."""
        shift, size = column_ranges(np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0))
        constant = np.fmin.reduce(X, axis=0) == np.fmax.reduce(X, axis=0)
        nominal = nominal | constant
        shift, size = np.where(nominal, 0.0, shift), np.where(nominal, 1.0, size)
        columns = np.ascontiguousarray(((X - shift) / size).T)
        squared = metric == "euclidean"
        pairs = zip(columns, nominal.tolist(), strict=True)
        missing = np.array([_mean_gap(column[~np.isnan(column)], code, squared) for column, code in pairs])
        return cls(columns, nominal, missing, shift, size, squared)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a value is missing in any row."""
        return bool(np.isnan(self.columns).any())

    @property
    def n_rows(self) -> int:
        return int(self.columns.shape[1])

    def scaled(self, rows: FloatArray) -> FloatArray:
        """Other rows divided by the same ranges."""
        with np.errstate(over="ignore"):
            found: FloatArray = (rows - self.shift) / self.size
        return found

    def gaps(self, x: FloatArray, row: int | None = None) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """What each column known in a scaled row adds to its distances, the columns, and the rows, the nearest
        in all columns first.

        `row` is the place of the row itself among the reference, which is not its own neighbour.
        """
        known = np.flatnonzero(~np.isnan(x))
        with np.errstate(over="ignore"):
            gaps = self.columns[known]
            gaps -= x[known, None]
            np.abs(gaps, out=gaps)
            for j in np.flatnonzero(self.nominal[known]).tolist():
                np.sign(gaps[j], out=gaps[j])
            if self.squared:
                np.square(gaps, out=gaps)
        if self.has_missing:
            gaps = np.where(np.isnan(gaps), self.missing[known, None], gaps)
        distances = gaps.sum(axis=0)
        if row is not None:
            distances[row] = np.inf
        # Where the nearest rows come first, a subspace in which they are near is decided after a few rows.
        n_first = min(_FIRST, self.n_rows)
        first = np.sort(np.argpartition(distances, n_first - 1)[:n_first])
        first = first[np.argsort(distances[first], kind="stable")]
        rest = np.ones(self.n_rows, dtype=bool)
        rest[first] = False
        order = np.concatenate([first, np.flatnonzero(rest)])
        if row is not None:
            order = order[order != row]
        return np.ascontiguousarray(gaps[:, order]), known, order


def degrees(
    gaps: FloatArray, subspaces: np.ndarray, k: int, *, squared: bool, threshold: float = -np.inf
) -> FloatArray:
    """Outlying degrees of a row in subspaces of one size; one below `threshold` may be any number below it.

    Examples
    --------
    >>> gaps = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 0.0]])
    >>> degrees(gaps, np.array([[1, 0]], dtype=np.int32), 2, squared=True)
    array([3.])
    """
    out = np.full(len(subspaces), np.inf)
    count, near = np.zeros(len(subspaces), dtype=np.intp), np.empty((len(subspaces), k))
    sums = np.empty((max(subspaces.shape[1] - 1, 1), min(_BLOCK, gaps.shape[1])))
    step = max(1, _VALUES // (gaps.shape[1] * subspaces.shape[1]))
    for first in range(0, len(subspaces), step):
        part = slice(first, first + step)
        outlying_degrees(gaps, subspaces[part], k, squared, threshold, sums, count[part], near[part], out[part])
    return out


def _mean_gap(values: FloatArray, nominal: bool, squared: bool) -> float:
    """Mean difference, or its square, of two values of a column; 0 where none is known.

    >>> _mean_gap(np.array([0.0, 1.0, 1.0]), True, True).__round__(3)
    0.667
    >>> _mean_gap(np.array([0.0, 0.5, 1.0]), False, False).__round__(3)
    0.667
    """
    n = values.size
    if n < 2:
        return 0.0
    if nominal:
        counts = np.unique(values, return_counts=True)[1]
        return float(1.0 - (counts * (counts - 1.0)).sum() / (n * (n - 1.0)))
    if squared:
        return float(2.0 * values.var(ddof=1))
    # Each value is the larger of as many pairs as there are values below it.
    return float(2.0 * ((2.0 * np.arange(n) - n + 1.0) * np.sort(values)).sum() / (n * (n - 1.0)))
