"""Optimal bins of two columns: rectangles of their plane."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.bins.value_tables import added, cuts_below
from tamis.discretize.optimal.limits import MIN_ROWS
from tamis.discretize.optimal.losses import even_begins
from tamis.discretize.optimal.numeric_target import read_rows
from tamis.kernels.rectangles import best_rectangles


@dataclass(frozen=True)
class Rectangles:
    """Rectangles that divide the plane, and the mean of the target in each.

    Attributes
    ----------
    bounds : float array of shape (n_rectangles, 4)
        Rectangle r holds the points with ``bounds[r, 0] <= p < bounds[r, 1]`` and ``bounds[r, 2] <= q < bounds[r, 3]``;
        the outer ones reach to infinity.
    means : float array of shape (n_rectangles,) or (n_rectangles, n_targets)
    cost : float
        Squared error plus the cost of all rectangles: the least of all divisions by the lines that were tried, each
        from side to side.
    all_lines : bool
        Whether these were all lines between neighbouring values. Even then a division that turns around a middle
        rectangle, which no line cuts in two, may cost less.
    """

    bounds: FloatArray
    means: FloatArray
    cost: float
    all_lines: bool

    def places(self, p: Any, q: Any) -> np.ndarray:
        """The number of the rectangle of each point; -1 where a value is missing."""
        p, q = (np.asarray(one, dtype=np.float64)[..., None] for one in (p, q))
        low_p, high_p, low_q, high_q = self.bounds.T
        inside = (low_p <= p) & (p < high_p) & (low_q <= q) & (q < high_q)
        return np.asarray(np.where(inside.any(axis=-1), np.argmax(inside, axis=-1), -1))

    def values(self, p: Any, q: Any) -> FloatArray:
        """The mean of the rectangle of each point; NaN where a value is missing."""
        return np.concatenate((self.means, np.full_like(self.means[:1], np.nan)))[self.places(p, q)]


def rectangles(
    p: Any,
    q: Any,
    target: Any,
    *,
    min_gain: float | None = None,
    min_rows: float = MIN_ROWS,
    most: int = 40,
    sample_weight: Any = None,
) -> Rectangles:
    """Divide the plane of two columns so that the squared error in the rectangles, plus a cost for each, is least.

    The plane is cut in two from side to side, the parts again, and so on; dynamic programming over all rectangles of
    the grid of values finds the best of all such divisions. (They include all divisions into up to four rectangles, but
    not those into five or more that turn around a middle one, which may cost less.) All lines are tried when neither
    column has more than `most` distinct values. Beyond that, at most `most` - 1 lines are tried in a column, those that
    divide its rows most evenly. A value that many rows share takes the place of several lines.

    Parameters
    ----------
    p, q : arrays of shape (n_rows,)
        Rows in which one is missing are left out.
    target : array of shape (n_rows,) or (n_rows, n_targets)
        Numbers; for classes their indicators. The squared errors of several targets add up.
    min_gain : float, optional
        Cost of a rectangle. By default the error of a single one divided by n - 1.
    min_rows : float, default=10
        Least number of rows, or their weight, in each rectangle.
    most : int, default=40
        Time grows with its fifth power and memory with its fourth: a fraction of a second and 28 MB at 40.
    sample_weight : array of shape (n_rows,), optional
        Weights count as repeated rows.

    Returns
    -------
    Rectangles

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> p, q = (np.ravel(one) for one in np.meshgrid(np.arange(8), np.arange(8)))
    >>> found = rectangles(p, q, (p > 3) ^ (q > 3))
    >>> found.values([1, 1, 6, 6], [1, 6, 1, 6]), found.all_lines
    (array([0., 1., 1., 0.]), True)
    """
    (p, q), numbers, weight = read_rows(target, sample_weight, p=p, q=q)
    if not (isinstance(most, Integral) and most >= 2 and min_rows >= 0 and (min_gain is None or min_gain >= 0)):
        raise TamisError(
            "most takes a whole number of at least 2, min_rows and min_gain numbers of at least 0; "
            f"got most={most!r}, min_rows={min_rows!r}, min_gain={min_gain!r}"
        )
    (row, lines_p, all_p), (column, lines_q, all_q) = (_lines(one, weight, most) for one in (p, q))
    shape = lines_p.size - 1, lines_q.size - 1
    centre = np.average(numbers, axis=0, weights=weight)
    moved = numbers - centre
    of_rows = np.column_stack((np.ones(p.size), (moved**2).sum(axis=1), moved)) * weight[:, None]
    cell = row * shape[1] + column
    flat = np.column_stack([np.bincount(cell, weights=one, minlength=shape[0] * shape[1]) for one in of_rows.T])
    if min_gain is None:
        total = float(weight.sum())
        min_gain = float(flat[:, 1].sum()) / (total - 1 if total >= 2 else total)
    found = np.empty((shape[0] * shape[1] + 1, 4), dtype=np.int64)
    cost = best_rectangles(flat.reshape(*shape, -1), float(min_gain), float(min_rows), found)
    found = found[: int(np.argmax(found[:, 0] < 0))]
    bounds = np.column_stack((lines_p[found[:, :2]], lines_q[found[:, 2:]]))
    cells = flat.reshape(*shape, -1)
    sums = np.array([cells[a:b, c:d].sum(axis=(0, 1)) for a, b, c, d in found])
    means = sums[:, 2:] / sums[:, :1] + centre
    return Rectangles(bounds, means[:, 0] if np.ndim(target) == 1 else means, float(cost), all_p and all_q)


def _lines(x: FloatArray, weight: FloatArray, most: int) -> tuple[np.ndarray, FloatArray, bool]:
    """The strip of each row, the ends of the strips, and whether each distinct value has one."""
    values, place = np.unique(x, return_inverse=True)
    begins = even_begins(added(weight[:, None], place, values.size)[:, 0], most)
    strip = np.searchsorted(begins, place, side="right") - 1
    return strip, np.concatenate(([-np.inf], cuts_below(values, begins[1:]), [np.inf])), values.size <= most
