"""Bins of all columns and the class shares in them, found on all rows or chosen among samples."""

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
class Method:
    """How bins are found; the parameters are those of :class:`tamis.discretize.BinMeans`."""

    min_rows: int
    min_gain: float | Literal["auto"]
    max_bins: int | None
    smooth: bool
    n_classes: int


@dataclass(frozen=True)
class BinShares:
    """The bins of some columns, and the class shares of shape (n_bins, n_classes) in them, column after column."""

    cuts: Cuts
    shares: FloatArray

    @property
    def first(self) -> np.ndarray:
        """The bins of column j are ``first[j]`` up to ``first[j + 1]``."""
        return self.cuts.first + np.arange(self.cuts.first.size)


def bin_shares(X: Matrix, y: Codes, method: Method, parts: Sequence[np.ndarray] = ()) -> BinShares:
    """Find the bins of all columns, and the class shares in them.

    `parts` are the rows of samples. With two or more, bins are found in each sample, and each column gets those that
    cost least over all samples: squared error about the shares of the sample that made the bins, plus the cost of the
    bins in the sample where they are tried. The shares are then those of all rows (of the sample, when smooth).
    """
    tables, prior = _tables(X, y, method), np.bincount(y, minlength=method.n_classes) / y.size
    if len(parts) < 2:
        return _joined([_found(table, method, prior) for table in tables])
    samples = [_tables(X[rows], y[rows], method) for rows in parts]
    tried = [_joined([_found(table, method, prior) for table in sample]) for sample in samples]
    cost = np.array([[_cost(sample, one, method) for sample in samples] for one in tried]).sum(axis=1)
    # Of costs that differ only by rounding the first is taken.
    chosen = np.argmax(cost <= cost.min(axis=0) * (1 + 1e-12), axis=0)
    cuts, shares = tried[0].cuts, tried[0].shares
    for number, one in enumerate(tried[1:], 1):
        mine, before = chosen == number, BinShares(cuts, shares)
        cuts, shares = one.cuts.where(mine, cuts), _where(mine, one, before)
    if method.smooth:
        return BinShares(cuts, shares)
    return _joined([_of_cuts(table, _part(cuts, table.features), prior) for table in tables])


def _tables(X: Matrix, y: Codes, method: Method) -> list[ValueTables]:
    return list(value_tables(X, y, np.ones(y.size), method.n_classes))


def _found(table: ValueTables, method: Method, prior: FloatArray) -> BinShares:
    """Bins of one sample."""
    if not method.smooth:
        begins = best_begins(table, method.min_gain, method.max_bins, method.min_rows)
        return BinShares(table.cuts(begins), _divided(table.of_bins(begins), prior))
    low, high = np.empty(table.values.size, dtype=np.int64), np.empty(table.values.size, dtype=np.int64)
    lowest_windows(table.first, table.sums(), float(method.min_rows), low, high)
    below = np.concatenate((np.zeros((1, method.n_classes)), np.cumsum(table.weights, axis=0)))
    shares = _divided(below[high] - below[low], prior)
    begins = np.zeros(table.values.size, dtype=bool)
    begins[1:] = (np.abs(np.diff(shares, axis=0)) > 1e-9).any(axis=1)
    starts = table.first[:-1][np.diff(table.first) > 0]
    begins[starts] = False
    # A column without values has one bin.
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


def _cost(sample: list[ValueTables], tried: BinShares, method: Method) -> FloatArray:
    """Cost of the bins of each column in a sample."""
    costs = []
    for table in sample:
        cuts = _part(tried.cuts, table.features)
        size = np.diff(table.first)
        column = np.repeat(np.arange(table.features.size), size)
        place = tried.first[table.features][column] + _codes(table, cuts)
        shares, weight = tried.shares[place], table.weights.sum(axis=1)
        error = 0.5 * weight * (1 + (shares**2).sum(axis=1)) - (table.weights * shares).sum(axis=1)
        cost = np.bincount(column, weights=error, minlength=size.size)
        if not method.smooth:
            cost += _penalty(table, column, method) * (cuts.count + 1)
        costs.append(cost)
    return np.concatenate(costs)


def _penalty(table: ValueTables, column: np.ndarray, method: Method) -> FloatArray:
    if method.min_gain != "auto":
        return np.full(table.features.size, float(method.min_gain))
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
    """Class weights as shares; those of all rows where there are none."""
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
