"""Optimal bins of one column for other losses than squares about the mean: absolute values, and medians."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.bins.value_tables import added, cuts_below
from tamis.discretize.optimal.limits import BinLimits
from tamis.kernels.deviations import run_deviations

Loss = Literal["squared", "absolute"]
Centre = Literal["mean", "median"]

#: Places at most where bins of other losses may begin.
MOST = 1000
#: Costs that differ by less than this share of the loss of a single bin are equal.
_CLOSE = 1e-12


class Strips(NamedTuple):
    """A column as strips of neighbouring values, of which bins are made.

    Attributes
    ----------
    strip : int array of shape (n_rows,)
        The strip of each row.
    low, high : float arrays of shape (n_strips,)
        The lowest and the highest value of each.
    exact : bool
        Whether each strip has a single value.
    """

    strip: np.ndarray
    low: FloatArray
    high: FloatArray
    exact: bool

    @classmethod
    def of(cls, x: FloatArray, weight: FloatArray, most: int = MOST) -> "Strips":
        """One strip for each distinct value, or at most `most` that share the rows out evenly.

        Examples
        --------
        >>> Strips.of(np.array([4.0, 1.0, 1.0, 3.0, 2.0]), np.ones(5), 2)
        Strips(strip=array([1, 0, 0, 1, 1]), low=array([1., 2.]), high=array([1., 4.]), exact=False)
        """
        values, place = np.unique(x, return_inverse=True)
        begins = even_begins(added(weight[:, None], place, values.size)[:, 0], most)
        strip = np.searchsorted(begins, place, side="right") - 1
        ends = np.append(begins[1:], values.size) - 1
        return cls(strip, values[begins], values[ends], begins.size == values.size)

    def cuts(self, starts: np.ndarray) -> FloatArray:
        """The cuts halfway below some strips, which are not the first."""
        return cuts_below(np.column_stack((self.low, self.high)).ravel(), 2 * starts)


def even_begins(weight: FloatArray, most: int) -> np.ndarray:
    """Where strips of neighbouring values begin: all values, or at most `most` that share their weight out evenly."""
    if weight.size <= most:
        return np.arange(weight.size)
    below = np.cumsum(weight)
    return np.unique(np.searchsorted(below, below[-1] * np.arange(most) / most, side="right"))


def class_losses(table: FloatArray, loss: Loss, centre: Centre) -> FloatArray:
    """``found[s, t]``: half the loss of the class indicators of the strips s up to and with t.

    `table` has the weight of each class in each strip. Each indicator has a mean or median of its own; the median is
    0.5 where half the rows are of a class.

    Examples
    --------
    >>> table = np.array([[3.0, 1.0], [0.0, 2.0]])
    >>> class_losses(table, "absolute", "mean")
    array([[1.5, 3. ],
           [0. , 0. ]])
    >>> class_losses(table, "absolute", "median")
    array([[1., 3.],
           [0., 0.]])
    """
    found = np.zeros((table.shape[0], table.shape[0]))
    below = np.concatenate((np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)))
    for s in range(table.shape[0]):
        inside = below[s + 1 :] - below[s]
        weight = inside.sum(axis=1, keepdims=True)
        share = inside / weight
        if centre == "median":
            share = np.where(np.abs(share - 0.5) < 1e-12, 0.5, share > 0.5)
        power = 2 if loss == "squared" else 1
        deviations = inside * (1 - share) ** power + (weight - inside) * share**power
        found[s, s:] = 0.5 * deviations.sum(axis=1)
    return found


def number_losses(strips: Strips, y: FloatArray, weight: FloatArray, loss: Loss, centre: Centre) -> FloatArray:
    """``found[s, t]``: the loss of a target of numbers on the rows of the strips s up to and with t.

    Examples
    --------
    >>> strips = Strips.of(np.array([1.0, 1.0, 1.0, 2.0]), np.ones(4))
    >>> number_losses(strips, np.array([0.0, 0.0, 3.0, 5.0]), np.ones(4), "absolute", "median")
    array([[3., 8.],
           [0., 0.]])
    """
    order = np.argsort(strips.strip, kind="stable")
    distinct, ranks = np.unique(y, return_inverse=True)
    ends = np.searchsorted(strips.strip[order], np.arange(strips.low.size + 1))
    found = np.zeros((strips.low.size, strips.low.size))
    run_deviations(
        ends, ranks[order].astype(np.int64), distinct, weight[order], centre == "median", loss == "squared", found
    )
    return found


def medians(y: FloatArray, weight: FloatArray, place: np.ndarray, size: int) -> FloatArray:
    """The median of numbers at each of `size` places, halfway between the two middle ones of an even number.

    Examples
    --------
    >>> medians(np.array([1.0, 5.0, 3.0, 9.0]), np.ones(4), np.array([0, 0, 0, 1]), 2)
    array([3., 9.])
    """
    order = np.lexsort((y, place))
    ends = np.searchsorted(place[order], np.arange(size + 1))
    found = np.empty(size)
    for b, (start, stop) in enumerate(pairwise(ends)):
        below = np.cumsum(weight[order[start:stop]])
        middle = np.searchsorted(below, 0.5 * below[-1] * np.array([1 - 1e-12, 1 + 1e-12]))
        found[b] = y[order[start + middle]].mean()
    return found


def cheapest_bins(
    losses: FloatArray,
    strips: Strips,
    weight: FloatArray,
    limits: BinLimits,
    min_gain: float | None,
    column: int | None = None,
) -> tuple[np.ndarray, float]:
    """The strips at which the best bins begin, except the first, and what they cost.

    `losses` may be changed; `weight` is that of the strips, `column` the number in errors of a column that has one.
    """
    m, whole = weight.size, float(losses[0, -1])
    total = float(weight.sum())
    each = min_gain if min_gain is not None else whole / (total - 1 if total >= 2 else total)
    single = _single(strips, total, limits)
    none = np.empty(0, dtype=np.int64)
    if m == 1 or (single and (limits.max_bins == 1 or whole <= 0.0)):
        return none, whole + each
    losses[_outside(strips, weight, limits)] = np.inf
    losses[np.tri(m, k=-1, dtype=bool)] = np.inf
    starts, cost = _paths(np.asfortranarray(losses) + each, limits, _CLOSE * whole)
    if np.isfinite(cost):
        return starts, cost
    if single:
        return none, whole + each
    raise limits.conflict(column, strips.low, weight, coarse=not strips.exact)


def _single(strips: Strips, total: float, limits: BinLimits) -> bool:
    """Whether one bin for all rows is allowed."""
    wide = limits.max_width is not None and strips.high[-1] - strips.low[0] > limits.max_width
    return limits.min_bins == 1 and not wide and (limits.max_rows is None or total <= limits.max_rows)


def _outside(strips: Strips, weight: FloatArray, limits: BinLimits) -> np.ndarray:
    """Which runs of strips are no bins that keep to the limits of their size."""
    below = np.concatenate(([0.0], np.cumsum(weight)))
    rows, width = below[None, 1:] - below[:-1, None], strips.high[None, :] - strips.low[:, None]
    slack = 1e-12 * (np.abs(strips.high)[None, :] + np.abs(strips.low)[:, None])
    least_rows, most_rows, least_width, most_width = limits.size
    outside: np.ndarray = (rows < least_rows - 1e-9) | (rows > most_rows + 1e-9)
    return outside | (width < least_width - slack) | (width > most_width + slack)


def _paths(costs: FloatArray, limits: BinLimits, close: float) -> tuple[np.ndarray, float]:
    """The strips at which the bins of a cheapest path begin, except the first, and its cost; infinite where none is.

    Of paths of equal cost it is one of the fewest bins.
    """
    m = costs.shape[0]
    now = np.full(m + 1, np.inf)
    now[0] = 0.0
    path, *free = _any_number(costs, now, close)
    starts = _trace([free], m)
    if np.isinf(path[m]) or limits.min_bins <= starts.size + 1 <= (limits.max_bins or m):
        return starts, float(path[m])
    layers, best, chosen = [], np.inf, 0
    for bins in range(1, min(limits.max_bins or limits.min_bins, m) + 1):
        last = limits.max_bins is None and bins == limits.min_bins
        now, *links = (_any_number if last else _one_more)(costs, now, close)
        layers.append(links)
        if bins >= limits.min_bins and now[m] < best - close:
            best, chosen = float(now[m]), bins
    return _trace(layers[:chosen], m), best


def _one_more(costs: FloatArray, before: FloatArray, close: float) -> tuple[FloatArray, np.ndarray, Mask]:
    """The cheapest ways to put one bin behind given paths: cost, last start, and whether a path went on to there."""
    here = before[:-1, None] + costs
    best = here.min(axis=0)
    return np.append(np.inf, best), np.append(0, np.argmax(here <= best + close, axis=0)), np.zeros(before.size, bool)


def _any_number(costs: FloatArray, before: FloatArray, close: float) -> tuple[FloatArray, np.ndarray, Mask]:
    """As :func:`_one_more`, with one bin or more."""
    path, back, joint = np.full(before.size, np.inf), np.zeros(before.size, dtype=np.int64), before.copy()
    for t in range(1, before.size):
        here = joint[:t] + costs[:t, t - 1]
        path[t] = here.min()
        back[t] = np.argmax(here <= path[t] + close)
        joint[t] = min(joint[t], path[t])
    return path, back, path < before


def _trace(layers: Sequence[Sequence[np.ndarray]], m: int) -> np.ndarray:
    """The starts of the bins of the last layer's path to the end, except the first."""
    starts, layer, t = [], len(layers) - 1, m
    while t > 0 and layer >= 0:
        back, stays = layers[layer]
        t = int(back[t])
        starts.append(t)
        layer -= not stays[t]
    return np.array(starts[-2::-1], dtype=np.int64)
