"""Class shares in place of values: what is learnt of all columns, and how it is chosen among samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.value_tables import ValueTables, added, value_tables
from tamis.discretize.optimal.optimal import best_begins
from tamis.kernels.states import segment_states
from tamis.kernels.windows import lowest_windows


@dataclass(frozen=True)
class Way:
    """How bins are found; the parameters are those of :class:`tamis.discretize.BinMeans`."""

    min_rows: int
    min_gain: float | Literal["auto"]
    max_bins: int | None
    smooth: bool
    n_classes: int


@dataclass(frozen=True)
class BinShares:
    """The bins of some columns, and the shares of the classes in them.

    Attributes
    ----------
    cuts : Cuts
    shares : float array of shape (n_bins, n_classes)
        The bins of one column after those of the other.
    """

    cuts: Cuts
    shares: FloatArray

    @property
    def first(self) -> np.ndarray:
        """The bins of column j are ``first[j]`` up to ``first[j + 1]``."""
        return self.cuts.first + np.arange(self.cuts.first.size)


def bin_shares(X: Matrix, y: Codes, way: Way, parts: Sequence[np.ndarray] = ()) -> BinShares:
    """Find the bins of all columns, and the shares in them.

    Parameters
    ----------
    X : float array or sparse matrix of shape (n_rows, n_features)
    y : int array of shape (n_rows,)
        Class codes.
    way : Way
    parts : sequence of int arrays
        The rows of samples. With two or more, the bins are found in each of them, and those are taken for each column
        that cost least when all samples are counted together: squared error about the shares of the sample that made
        the bins, and the cost of the bins in the sample where they are tried. The shares are then those of all rows
        (of the sample, when smooth).
    """
    tables, prior = _tables(X, y, way), np.bincount(y, minlength=way.n_classes) / y.size
    if len(parts) < 2:
        return _joined([_found(table, way, prior) for table in tables])
    samples = [_tables(X[rows], y[rows], way) for rows in parts]
    tried = [_joined([_found(table, way, prior) for table in sample]) for sample in samples]
    cost = np.array([[_cost(sample, one, way) for sample in samples] for one in tried]).sum(axis=1)
    # What differs by rounding alone is equal: the first.
    chosen = np.argmax(cost <= cost.min(axis=0) * (1 + 1e-12), axis=0)
    cuts, shares = tried[0].cuts, tried[0].shares
    for number, one in enumerate(tried[1:], 1):
        mine = chosen == number
        before = BinShares(cuts, shares)
        cuts = one.cuts.where(mine, before.cuts)
        shares = _where(mine, one, before)
    if way.smooth:
        return BinShares(cuts, shares)
    return _joined([_of_cuts(table, _part(cuts, table.features), prior) for table in tables])


def _tables(X: Matrix, y: Codes, way: Way) -> list[ValueTables]:
    return list(value_tables(X, y, np.ones(y.size), way.n_classes))


def _found(table: ValueTables, way: Way, prior: FloatArray) -> BinShares:
    """Bins of one sample."""
    if not way.smooth:
        begins = best_begins(table, way.min_gain, way.max_bins, way.min_rows)
        return BinShares(table.cuts(begins), _divided(table.of_bins(begins), prior))
    low, high = np.empty(table.values.size, dtype=np.int64), np.empty(table.values.size, dtype=np.int64)
    lowest_windows(table.first, table.sums(), float(way.min_rows), low, high)
    below = np.concatenate((np.zeros((1, way.n_classes)), np.cumsum(table.weights, axis=0)))
    shares = _divided(below[high] - below[low], prior)
    begins = np.zeros(table.values.size, dtype=bool)
    begins[1:] = (np.abs(np.diff(shares, axis=0)) > 1e-9).any(axis=1)
    starts = table.first[:-1][np.diff(table.first) > 0]
    begins[starts] = False
    # Columns without values have a bin too.
    of_bins = np.tile(prior, (table.features.size + int(begins.sum()), 1))
    column = np.repeat(np.arange(table.features.size), np.diff(table.first))
    of_bins[np.cumsum(begins) + column] = shares
    return BinShares(table.cuts(begins), of_bins)


def _of_cuts(table: ValueTables, cuts: Cuts, prior: FloatArray) -> BinShares:
    """Shares of all rows in given bins."""
    codes = _codes(table, cuts)
    place = codes + np.repeat(cuts.first[:-1] + np.arange(table.features.size), np.diff(table.first))
    size = cuts.values.size + table.features.size
    return BinShares(cuts, _divided(added(table.weights, place, size), prior))


def _cost(sample: list[ValueTables], tried: BinShares, way: Way) -> FloatArray:
    """What the bins of each column cost in a sample."""
    costs = []
    for table in sample:
        cuts = _part(tried.cuts, table.features)
        size = np.diff(table.first)
        column = np.repeat(np.arange(table.features.size), size)
        place = tried.first[table.features][column] + _codes(table, cuts)
        shares, weight = tried.shares[place], table.weights.sum(axis=1)
        error = 0.5 * weight * (1 + (shares**2).sum(axis=1)) - (table.weights * shares).sum(axis=1)
        cost = np.bincount(column, weights=error, minlength=size.size)
        if not way.smooth:
            cost += _penalty(table, column, way) * (cuts.count + 1)
        costs.append(cost)
    return np.concatenate(costs)


def _penalty(table: ValueTables, column: np.ndarray, way: Way) -> FloatArray:
    if way.min_gain != "auto":
        return np.full(table.features.size, float(way.min_gain))
    sums = added(table.weights, column, table.features.size)
    total = sums.sum(axis=1)
    error = 0.5 * (total - (sums**2).sum(axis=1) / np.maximum(total, 1.0))
    return error / np.maximum(total - 1, 1.0)


def _codes(table: ValueTables, cuts: Cuts) -> np.ndarray:
    """The bin of each value."""
    codes = np.empty(table.values.size, dtype=np.int32)
    segment_states(table.values, table.first[:-1], table.first[1:], cuts.first, cuts.values, codes)
    return codes


def _part(cuts: Cuts, features: np.ndarray) -> Cuts:
    """The cuts of neighbouring columns."""
    return cuts.between(int(features[0]), int(features[-1]) + 1)


def _divided(weights: FloatArray, prior: FloatArray) -> FloatArray:
    """Weights of the classes as shares; those of all rows where there are none."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), prior)


def _joined(parts: Sequence[BinShares]) -> BinShares:
    return BinShares(Cuts.joined([p.cuts for p in parts]), np.concatenate([p.shares for p in parts]))


def _where(mask: Mask, one: BinShares, other: BinShares) -> FloatArray:
    """The shares of `one` for the columns of the mask, those of `other` for the rest."""
    count = np.where(mask, one.cuts.count, other.cuts.count) + 1
    ours = np.repeat(mask, count)
    shares = np.empty((ours.size, one.shares.shape[1]))
    shares[ours] = one.shares[np.repeat(mask, one.cuts.count + 1)]
    shares[~ours] = other.shares[np.repeat(~mask, other.cuts.count + 1)]
    return shares
