"""Optimal bins of one column for a numeric target: a mean, or a straight line, in each bin."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.bins.value_tables import cuts_below
from tamis.discretize.optimal.optimal import MIN_ROWS
from tamis.kernels.optimal_binning import best_bins

#: Squares of larger numbers, added up over many rows, could be too large to be held.
_LARGEST = 1e140


@dataclass(frozen=True)
class MeanBins:
    """Bins and the mean of the target in each.

    Attributes
    ----------
    cuts : float array
        Ascending; a value lies in the bin that follows the last cut which is not above it.
    means : float array of shape (n_bins,) or (n_bins, n_targets)
    cost : float
        Squared error plus the cost of all bins: what was made least.
    """

    cuts: FloatArray
    means: FloatArray
    cost: float

    def values(self, x: Any) -> FloatArray:
        """The mean of the bin of each value; NaN for a missing one."""
        means = np.concatenate((self.means, np.full_like(self.means[:1], np.nan)))
        return means[np.where(np.isnan(x), -1, np.searchsorted(self.cuts, x, side="right"))]


@dataclass(frozen=True)
class LineBins:
    """Bins and the regression line of the target in each: ``intercepts + slopes * x``.

    Attributes
    ----------
    cuts, slopes, intercepts : float arrays
    cost : float
    """

    cuts: FloatArray
    slopes: FloatArray
    intercepts: FloatArray
    cost: float

    def values(self, x: Any) -> FloatArray:
        """The height of its bin's line at each value: the continuous transform of the paper."""
        place = np.searchsorted(self.cuts, x, side="right")
        return self.intercepts[place] + self.slopes[place] * np.asarray(x)

    def slopes_at(self, x: Any) -> FloatArray:
        """The slope of the bin of each value, NaN for a missing one: the discrete transform of the paper."""
        return np.where(np.isnan(x), np.nan, self.slopes[np.searchsorted(self.cuts, x, side="right")])


def mean_bins(
    x: Any,
    target: Any,
    *,
    min_gain: float | None = None,
    max_bins: int | None = None,
    min_rows: float = MIN_ROWS,
    sample_weight: Any = None,
) -> MeanBins:
    """Cut one column so that the squared error about the mean of each bin, plus a cost for each bin, is least.

    Exact, as :func:`tamis.discretize.optimal.optimal` is for classes, to a share of 1e-12 of the sum of squares: beside
    a target that is a million times as large as the others, small gains of these are lost.

    Parameters
    ----------
    x : array of shape (n_rows,)
        Equal values are not parted; rows with a missing value are left out.
    target : array of shape (n_rows,) or (n_rows, n_targets)
        Numbers; of several, the squared errors add up.
    min_gain : float, optional
        Cost of a bin. By default the error of a single bin divided by n - 1.
    max_bins : int, optional
    min_rows : float, default=10
        Rows, or their weight, that each bin holds at least.
    sample_weight : array of shape (n_rows,), optional
        Weights count as repeated rows.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> found = mean_bins([1, 2, 3, 4, 5, 6], [0.1, 0.0, 0.1, 2.0, 2.1, 2.0], min_rows=2)
    >>> found.cuts, found.means.round(2)
    (array([3.5]), array([0.07, 2.03]))
    """
    rows = _Rows.read(x, target, sample_weight)
    centre = np.average(rows.target, axis=0, weights=rows.weight)
    moved = rows.target - centre
    sums = rows.summed(np.column_stack((np.ones(moved.shape[0]), (moved**2).sum(axis=1), moved)))
    begins, cost = _solved(sums, min_gain, max_bins, min_rows, lines=False)
    inside = np.add.reduceat(sums, np.flatnonzero(begins | (np.arange(begins.size) == 0)), axis=0)
    means = inside[:, 2:] / inside[:, :1] + centre
    return MeanBins(rows.cuts(begins), means[:, 0] if np.ndim(target) == 1 else means, cost)


def line_bins(
    x: Any,
    target: Any,
    *,
    min_gain: float | None = None,
    max_bins: int | None = None,
    min_rows: float = MIN_ROWS,
    sample_weight: Any = None,
) -> LineBins:
    """Cut one column so that the squared error about the regression line of each bin, plus a cost each, is least.

    Exact while no value of x is more than about 1e8 times as far out as the others lie apart: beyond, the digits of
    their slopes are lost. The parameters are those of :func:`mean_bins`, for one target. Long bins prune less here than
    for means: the time grows with the square of the number of values in the worst case.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> x = np.arange(40.0)
    >>> found = line_bins(x, np.where(x < 20, x, 60 - 2 * x))
    >>> found.cuts, found.slopes.round(6)
    (array([19.5]), array([ 1., -2.]))
    """
    rows = _Rows.read(x, target, sample_weight)
    if rows.target.shape[1] != 1:
        raise TamisError(f"line_bins takes one target; got {rows.target.shape[1]}")
    shift, scale = float(np.average(rows.values)), float(np.ptp(rows.values)) or 1.0
    centre = float(np.average(rows.target[:, 0], weights=rows.weight))
    z, moved = (rows.x - shift) / scale, rows.target[:, 0] - centre
    sums = rows.summed(np.column_stack((np.ones(z.size), moved**2, moved, z, z * z, z * moved)))
    begins, cost = _solved(sums, min_gain, max_bins, min_rows, lines=True)
    inside = np.add.reduceat(sums, np.flatnonzero(begins | (np.arange(begins.size) == 0)), axis=0)
    weight, _, y, x1, x2, xy = inside.T
    spread = x2 - x1 * x1 / weight
    # One value of x alone has no slope.
    several = np.diff(np.concatenate(([0], np.flatnonzero(begins), [begins.size]))) > 1
    slopes = np.divide(xy - x1 * y / weight, spread, out=np.zeros_like(spread), where=several & (spread > 0))
    intercepts = (y - slopes * x1) / weight + centre - slopes / scale * shift
    return LineBins(rows.cuts(begins), slopes / scale, intercepts, cost)


@dataclass(frozen=True)
class _Rows:
    """Known rows of one column: value, target, weight, distinct values and the place of each row among them."""

    x: FloatArray
    target: FloatArray
    weight: FloatArray
    values: FloatArray
    place: np.ndarray

    @classmethod
    def read(cls, x: Any, target: Any, sample_weight: Any) -> "_Rows":
        x, target = np.asarray(x, dtype=np.float64), np.asarray(target, dtype=np.float64)
        weight = np.ones(x.shape) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if x.ndim != 1 or target.shape[:1] != x.shape or weight.shape != x.shape or target.ndim > 2:
            raise TamisError(
                "x, target and sample_weight must have one entry (target: one row) for each row; "
                f"got shapes {x.shape}, {target.shape} and {weight.shape}"
            )
        kept = ~np.isnan(x) & (weight > 0)
        if not kept.any():
            raise TamisError("x has no known value of any weight")
        target = target.reshape(x.size, -1)
        if np.isinf(x).any() or not np.isfinite(target[kept]).all() or not (np.isfinite(weight) & (weight >= 0)).all():
            raise TamisError("x must not hold infinity, target must be finite, and sample_weight zero or above")
        if max(np.abs(x[kept]).max(), np.abs(target[kept]).max()) > _LARGEST:
            raise TamisError(f"x and target must not be larger than {_LARGEST:g}: their squares could not be held")
        values, place = np.unique(x[kept], return_inverse=True)
        return cls(x[kept], target[kept], weight[kept], values, place)

    def summed(self, numbers: FloatArray) -> FloatArray:
        """Weighted sums of the numbers of the rows at each distinct value."""
        columns = [np.bincount(self.place, weights=self.weight * one) for one in numbers.T]
        return np.column_stack(columns)

    def cuts(self, begins: np.ndarray) -> FloatArray:
        return cuts_below(self.values, np.flatnonzero(begins))


def _solved(
    sums: FloatArray, min_gain: float | None, max_bins: int | None, min_rows: float, *, lines: bool
) -> tuple[np.ndarray, float]:
    for name, value, least in (("min_gain", min_gain, 0), ("max_bins", max_bins, 1), ("min_rows", min_rows, 0)):
        if value is not None and not value >= least:
            raise TamisError(f"{name} takes a number of at least {least}; got {value!r}")
    if max_bins is not None and not isinstance(max_bins, Integral):
        raise TamisError(f"max_bins takes a whole number; got {max_bins!r}")
    begins, cost = np.empty(sums.shape[0], dtype=bool), np.empty(1)
    penalty = np.array([-1.0 if min_gain is None else float(min_gain)])
    best_bins(np.array([0, sums.shape[0]]), sums, penalty, max_bins or 0, float(min_rows), lines, begins, cost)
    return begins, float(cost[0])
