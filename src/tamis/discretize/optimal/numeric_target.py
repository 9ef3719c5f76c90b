"""Optimal bins of one column for a numeric target: a mean or a regression line in each bin."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.bins.value_tables import added, cuts_below
from tamis.discretize.optimal.limits import MIN_ROWS, BinLimits
from tamis.discretize.optimal.losses import Centre, Loss, Strips, cheapest_bins, medians, number_losses

#: Sums of squares of larger numbers could overflow.
_LARGEST = 1e140


@dataclass(frozen=True)
class FittedMeans:
    """Bins and the mean of the target in each.

    Attributes
    ----------
    cuts : float array
        Ascending; bins are closed on the left.
    means : float array of shape (n_bins,) or (n_bins, n_targets)
        Or its median.
    cost : float
        Squared error, or the loss asked for, plus the cost of all bins, which is least.
    exact : bool
        Whether bins could begin at each distinct value.
    """

    cuts: FloatArray
    means: FloatArray
    cost: float
    exact: bool = True

    def values(self, x: Any) -> FloatArray:
        """The mean of the bin of each value; NaN for a missing one."""
        means = np.concatenate((self.means, np.full_like(self.means[:1], np.nan)))
        return means[np.where(np.isnan(x), -1, np.searchsorted(self.cuts, x, side="right"))]


@dataclass(frozen=True)
class FittedLines:
    """Bins as in :class:`FittedMeans`, and the regression line of the target in each: ``intercepts + slopes * x``."""

    cuts: FloatArray
    slopes: FloatArray
    intercepts: FloatArray
    cost: float

    def values(self, x: Any) -> FloatArray:
        """The line of its bin at each value: the continuous transform of the paper."""
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
    loss: Loss = "squared",
    centre: Centre = "mean",
    min_bins: int = 1,
    max_bins: int | None = None,
    min_rows: float = MIN_ROWS,
    max_rows: float | None = None,
    min_width: float = 0.0,
    max_width: float | None = None,
    sample_weight: Any = None,
) -> FittedMeans:
    """Cut one column so that the squared error about the mean of each bin, plus a cost for each bin, is least.

    Exact, like :func:`tamis.discretize.optimal.optimal` for classes, to a share of 1e-12 of the sum of squares: beside
    a target a million times as large as the others, their small gains are lost. Other losses than squares about the
    mean are exact for up to 1000 distinct values; bins of more begin at 1000 places that share the rows out evenly.

    Parameters
    ----------
    x : array of shape (n_rows,)
        Equal values stay together; rows with a missing value are left out.
    target : array of shape (n_rows,) or (n_rows, n_targets)
        Numbers; the squared errors of several targets add up.
    min_gain : float, optional
        Cost of a bin. By default the loss of a single bin divided by n - 1.
    loss : {"squared", "absolute"}, default="squared"
        Squares or absolute values of the distances from the mean, or the median, of the bin.
    centre : {"mean", "median"}, default="mean"
        What the distances are measured from, and what `means` then hold.
    min_bins, max_bins : int, optional
        The fewest and the most bins.
    min_rows, max_rows : float, default=10 and none
        Least and largest number of rows, or their weight, in each bin.
    min_width, max_width : float, optional
        Least and largest difference of the highest and the lowest value of each bin.
    sample_weight : array of shape (n_rows,), optional
        Weights count as repeated rows.

    Returns
    -------
    FittedMeans

    See Also
    --------
    line_bins : A regression line in each bin.
    rectangles : Bins of two columns.
    tamis.discretize.BinMeans : The transform of all columns of a table.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> found = mean_bins([1, 2, 3, 4, 5, 6], [0.1, 0.0, 0.1, 2.0, 2.1, 2.0], min_rows=2)
    >>> found.cuts, found.means.round(2)
    (array([3.5]), array([0.07, 2.03]))
    """
    limits = BinLimits(min_bins, max_bins, min_rows, max_rows, min_width, max_width)
    _check(min_gain)
    for name, value, known in (("loss", loss, ("squared", "absolute")), ("centre", centre, ("mean", "median"))):
        if value not in known:
            raise TamisError(f"{name} takes {known[0]!r} or {known[1]!r}; got {value!r}")
    rows = _Rows.read(x, target, sample_weight)
    middle = np.average(rows.target, axis=0, weights=rows.weight)
    moved = rows.target - middle
    if loss == "squared" and centre == "mean":
        sums = rows.summed(np.column_stack((np.ones(moved.shape[0]), (moved**2).sum(axis=1), moved)))
        begins, cost = _solved(rows, sums, min_gain, limits, lines=False)
        inside = np.add.reduceat(sums, np.flatnonzero(begins | (np.arange(begins.size) == 0)), axis=0)
        cuts, exact, means = rows.cuts(begins), True, inside[:, 2:] / inside[:, :1]
    else:
        strips = Strips.of(rows.x, rows.weight)
        each = [number_losses(strips, one, rows.weight, loss, centre) for one in moved.T]
        weight = added(rows.weight[:, None], strips.strip, strips.low.size)[:, 0]
        starts, cost = cheapest_bins(np.sum(each, axis=0), strips, weight, limits, min_gain)
        cuts, exact = strips.cuts(starts), strips.exact
        means = _centres(moved, rows.weight, np.searchsorted(cuts, rows.x, side="right"), centre)
    means = means + middle
    return FittedMeans(cuts, means[:, 0] if np.ndim(target) == 1 else means, cost, exact)


def line_bins(
    x: Any,
    target: Any,
    *,
    min_gain: float | None = None,
    min_bins: int = 1,
    max_bins: int | None = None,
    min_rows: float = MIN_ROWS,
    max_rows: float | None = None,
    min_width: float = 0.0,
    max_width: float | None = None,
    sample_weight: Any = None,
) -> FittedLines:
    """Cut one column so that the squared error about the regression line of each bin, plus a cost each, is least.

    Exact while no value of x is further out than about 1e8 times the distances of the others; beyond, the digits of
    their slopes are lost. The time grows with the square of the number of values in the worst case.

    Parameters
    ----------
    x, target, min_gain, sample_weight, and the limits of the bins
        As for :func:`mean_bins`, with one target.

    Returns
    -------
    FittedLines

    See Also
    --------
    tamis.discretize.LineBins : The transform of all columns of a table.

    Examples
    --------
    >>> x = np.arange(40.0)
    >>> found = line_bins(x, np.where(x < 20, x, 60 - 2 * x))
    >>> found.cuts, found.slopes.round(6)
    (array([19.5]), array([ 1., -2.]))
    """
    limits = BinLimits(min_bins, max_bins, min_rows, max_rows, min_width, max_width)
    _check(min_gain)
    rows = _Rows.read(x, target, sample_weight)
    if rows.target.shape[1] != 1:
        raise TamisError(f"line_bins takes one target; got {rows.target.shape[1]}")
    shift, scale = float(np.average(rows.values)), float(np.ptp(rows.values)) or 1.0
    centre = float(np.average(rows.target[:, 0], weights=rows.weight))
    z, moved = (rows.x - shift) / scale, rows.target[:, 0] - centre
    sums = rows.summed(np.column_stack((np.ones(z.size), moved**2, moved, z, z * z, z * moved)))
    begins, cost = _solved(rows, sums, min_gain, limits, lines=True)
    inside = np.add.reduceat(sums, np.flatnonzero(begins | (np.arange(begins.size) == 0)), axis=0)
    weight, _, y, x1, x2, xy = inside.T
    spread = x2 - x1 * x1 / weight
    # A single value of x has no slope.
    several = np.diff(np.concatenate(([0], np.flatnonzero(begins), [begins.size]))) > 1
    slopes = np.divide(xy - x1 * y / weight, spread, out=np.zeros_like(spread), where=several & (spread > 0))
    intercepts = (y - slopes * x1) / weight + centre - slopes / scale * shift
    return FittedLines(rows.cuts(begins), slopes / scale, intercepts, cost)


def read_rows(target: Any, sample_weight: Any, **columns: Any) -> tuple[list[FloatArray], FloatArray, FloatArray]:
    """The columns, the targets in columns, and the weights, of the rows of positive weight without missing values."""
    names = " and ".join(columns)
    *found, target = (np.asarray(values, dtype=np.float64) for values in (*columns.values(), target))
    weight = np.ones(found[0].shape) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    shapes = [one.shape for one in (*found, target, weight)]
    if found[0].ndim != 1 or target.ndim > 2 or {*shapes[:-2], shapes[-2][:1], shapes[-1]} != {found[0].shape}:
        raise TamisError(
            f"{names}, target and sample_weight must have one entry (target: one row) for each row; got shapes "
            + ", ".join(map(str, shapes))
        )
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise TamisError("sample_weight must be finite, and zero or above")
    known = ~np.isnan(found).any(axis=0) & (weight > 0)
    if not known.any():
        raise TamisError(f"no row of positive weight has a known value of {names}")
    found, target = [one[known] for one in found], target.reshape(known.size, -1)[known]
    if not all(np.isfinite(one).all() for one in (*found, target)):
        raise TamisError(f"{names} must not hold infinity, and target must be finite")
    return found, target, weight[known]


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
        (x,), target, weight = read_rows(target, sample_weight, x=x)
        if max(np.abs(x).max(), np.abs(target).max()) > _LARGEST:
            raise TamisError(f"x and target must not be larger than {_LARGEST:g}: their squares could overflow")
        return cls(x, target, weight, *np.unique(x, return_inverse=True))

    def summed(self, numbers: FloatArray) -> FloatArray:
        """Weighted sums of the numbers of the rows at each distinct value."""
        columns = [np.bincount(self.place, weights=self.weight * one) for one in numbers.T]
        return np.column_stack(columns)

    def cuts(self, begins: np.ndarray) -> FloatArray:
        return cuts_below(self.values, np.flatnonzero(begins))


def _check(min_gain: float | None) -> None:
    if min_gain is not None and not min_gain >= 0:
        raise TamisError(f"min_gain takes a number of at least 0; got {min_gain!r}")


def _solved(
    rows: _Rows, sums: FloatArray, min_gain: float | None, limits: BinLimits, *, lines: bool
) -> tuple[np.ndarray, float]:
    ends = np.array([0, rows.values.size])
    begins, cost = limits.solve(np.zeros(1, dtype=int), ends, rows.values, sums, min_gain, lines=lines, named=False)
    return begins, float(cost[0])


def _centres(target: FloatArray, weight: FloatArray, place: np.ndarray, centre: Centre) -> FloatArray:
    """The mean or the median of each target at each place."""
    size = int(place.max()) + 1
    if centre == "median":
        return np.column_stack([medians(one, weight, place, size) for one in target.T])
    total = np.bincount(place, weights=weight)
    return np.column_stack([np.bincount(place, weights=weight * one) / total for one in target.T])
