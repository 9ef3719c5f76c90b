"""Relief's weights: how much farther in a column the nearest neighbours of other classes are than those of the own.

The scores ``relief`` and ``relieff`` share :func:`neighbour_weights`; ``rrelieff`` uses :func:`regression_weights`, for
numeric targets. Their documentation has the formulas.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.moments import divide
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Mask, Matrix, Target
from tamis.base.validation import canonical
from tamis.kernels.relief import offer
from tamis.neighbours.ranged_rows import RangedRows, ranged_rows, some_known

#: Neighbours stored at a time: query rows, times groups, times neighbours.
_KEPT = 8_000_000

#: Bits of a rounded distance: distances are equal when they agree to twelve digits of the largest possible one.
_BITS = 40

#: The key of no row.
_NOBODY = np.iinfo(np.int64).max


class _Known(NamedTuple):
    """The rows with a weight and a known value: all of them, their targets and weights, and the query rows."""

    rows: RangedRows
    n_columns: int
    y: Target
    weight: FloatArray
    queries: np.ndarray


def neighbour_weights(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None,
    nominal: Mask | None,
    *,
    who: str,
    neighbours: int,
    two_groups: bool,
    metric: str,
    sample: int | None,
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> FloatArray:
    """Weight of every column, from the `neighbours` nearest rows of each group.

    With `two_groups` all other classes form one group; else each is a group, weighted by its share. `sample` query rows
    are drawn with `random_state`; None takes all. `who` is the name in error messages.
    """
    known = _known(X, y, sample_weight, nominal, metric, sample, random_state)
    total, total_weight = np.zeros(X.shape[1]), 0.0
    if known is None:
        return total
    y, weight = known.y, known.weight
    if np.bincount(y).max() == 1 and weight.max() <= 1:
        raise TamisError(f"{who} needs a class with two rows or more; every class of y has one row")
    for some, keys in _nearest(known, y, neighbours, two_groups):
        near, share = _shares(some, keys, weight, _counted_ranks(neighbours))
        factor = _factors(some, share.sum(axis=2), y, weight, two_groups)
        total += known.rows.changes(some, near, share, factor)
        total_weight += weight[some[factor.any(axis=1)]].sum()
    return total / total_weight if total_weight else total


def regression_weights(
    X: Matrix,
    y: FloatArray,
    sample_weight: FloatArray | None,
    nominal: Mask | None,
    *,
    who: str,
    neighbours: int,
    sigma: float | None,
    metric: str,
    sample: int | None,
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> FloatArray:
    """Weight of every column for a numeric target, from the `neighbours` nearest rows.

    The influence of neighbours falls with their place by `sigma`; None gives all the same. The rest is as for
    :func:`neighbour_weights`.
    """
    known = _known(X, y, sample_weight, nominal, metric, sample, random_state)
    nothing = np.zeros(X.shape[1])
    if known is None:
        return nothing
    y, weight = known.y, known.weight
    if y.size == 1 and weight[0] <= 1:
        raise TamisError(f"{who} needs two rows at least; got n_samples = 1")
    size = np.ptp(y)
    if not size:
        return nothing
    ranks = _counted_ranks(neighbours, sigma)
    # Sums over rows: the difference in the column, its product with that of the target, and the latter; N_f, N_yf, N_y.
    apart, both, target_apart, total_weight = nothing.copy(), nothing.copy(), 0.0, 0.0
    for some, keys in _nearest(known, np.zeros(y.size, dtype=np.intp), neighbours, False):
        near, share = _shares(some, keys, weight, ranks)
        total = share.sum(axis=2)
        own = np.where(total > 0, weight[some][:, None], 0.0)
        apart += known.rows.changes(some, near, share, own)
        product = share * np.abs(y[near] - y[some][:, None, None]) / size
        # The shares of a row end at the first zero.
        order = np.argsort(product == 0, axis=2, kind="stable")
        near, product = (np.take_along_axis(one, order, axis=2) for one in (near, product))
        mean = own * divide(product.sum(axis=2), total)
        both += known.rows.changes(some, near, product, mean)
        target_apart += float(mean.sum())
        total_weight += float(own.sum())
    alike = np.full(X.shape[1], total_weight - target_apart)
    return divide(both, np.full(X.shape[1], target_apart)) - divide(apart - both, alike)


def _known(
    X: Matrix,
    y: Target,
    sample_weight: FloatArray | None,
    nominal: Mask | None,
    metric: str,
    sample: int | None,
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> _Known | None:
    """The rows that count; None without any."""
    if sp.issparse(X):
        X = canonical(X.tocsr())
    keep = some_known(X) if sample_weight is None else some_known(X) & (sample_weight > 0)
    if not keep.all():
        X, y = X[np.flatnonzero(keep)], y[keep]
    if not y.size:
        return None
    weight = np.ones(y.size) if sample_weight is None else np.ascontiguousarray(sample_weight[keep])
    queries = np.arange(y.size)
    if sample is not None and sample < y.size:
        queries = np.sort(generator(random_state).choice(y.size, sample, replace=False))
    return _Known(ranged_rows(X, nominal, metric), X.shape[1], y, weight, queries)


def _nearest(known: _Known, y: Codes, neighbours: int, two_groups: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of query rows, each with the keys of the rows of each group that may be neighbours, nearest first."""
    rows, n_columns, _, weight, queries = known
    size = _enough(weight, neighbours)
    n_groups = 2 if two_groups else int(y.max()) + 1
    shift = y.size.bit_length()
    scale = 2.0 ** min(_BITS, 62 - shift) / n_columns
    at_a_time = max(rows.width, _KEPT // (n_groups * size))
    # A distance serves both rows when all rows are queries of one block.
    both_ways = queries.size == y.size <= at_a_time
    for begin in range(0, queries.size, at_a_time):
        some = queries[begin : begin + at_a_time]
        keys = np.full((some.size, n_groups, size), _NOBODY)
        for left in range(0, y.size, rows.width):
            right = min(left + rows.width, y.size)
            distances = rows.slab(left, right)
            for top in range(0, right if both_ways else some.size, rows.width):
                block = slice(top, top + rows.width)
                found = distances(some[block])
                offer(found, some[block], left, y, two_groups, weight, scale, shift, keys[block])
                if both_ways and top < left:
                    transposed = np.ascontiguousarray(found.T)
                    offer(transposed, some[left:right], top, y, two_groups, weight, scale, shift, keys[left:right])
        for top in range(0, some.size, rows.width):
            yield some[top : top + rows.width], np.sort(keys[top : top + rows.width], axis=2)


def _enough(weight: FloatArray, neighbours: int) -> int:
    """Number of rows that weigh `neighbours` or more, even the lightest, and even if one is the row itself."""
    lightest = np.cumsum(np.sort(weight))
    return min(int(np.searchsorted(lightest, neighbours * (1 - 1e-12))) + 1 + bool(weight.max() > 1), weight.size)


def _counted_ranks(neighbours: int, sigma: float | None = None) -> FloatArray:
    """Influence of the first 0, 1, ... neighbours together: their number, or with `sigma` the sum of a bell curve."""
    places = np.arange(1.0, neighbours + 1.0)
    influence = np.ones(neighbours) if sigma is None else np.exp(-((places / sigma) ** 2))
    return np.concatenate(([0.0], np.cumsum(influence)))


def _shares(some: np.ndarray, keys: np.ndarray, weight: FloatArray, ranks: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The nearest rows and their shares of the influence `ranks`: a row of weight 2 has two places."""
    nobody = keys == _NOBODY
    near = np.where(nobody, 0, keys & ((1 << weight.size.bit_length()) - 1))
    # A row of weight w has w - 1 copies of itself as neighbours.
    heavy = np.where(nobody, 0.0, weight[near] - (near == some[:, None, None]))
    after = np.cumsum(heavy, axis=2)
    reached = np.interp(after, np.arange(ranks.size), ranks)
    return near, np.diff(reached, axis=2, prepend=0.0)


def _factors(some: np.ndarray, counted: FloatArray, y: Codes, weight: FloatArray, two_groups: bool) -> FloatArray:
    """Factor of each group's mean difference in each row; 0 in a row without a hit or a miss."""
    each = np.arange(some.size)
    own, factor = np.zeros(some.size, dtype=np.intp), (counted > 0).astype(np.float64)
    if not two_groups:
        prior = np.bincount(y, weights=weight) / weight.sum()
        own = y[some]
        factor *= divide(prior, 1.0 - prior[own][:, None])
    factor[each, own] = 0.0
    comparable = (counted[each, own] > 0) & factor.any(axis=1)
    factor[each, own] = -1.0
    factor[~comparable] = 0.0
    return factor * weight[some][:, None]
