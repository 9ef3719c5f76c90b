"""Bins of all columns and the mean target in them, found on all rows or chosen among samples."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.bins.cuts import Cuts
from tamis.bins.number_tables import ScaledTarget
from tamis.bins.value_tables import ValueTables, added
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.optimal import best_begins, target_tables
from tamis.kernels.states import segment_states
from tamis.kernels.windows import lowest_windows


@dataclass(frozen=True)
class Method:
    """How bins are found; the parameters are those of :class:`tamis.discretize.BinMeans`.

    `n_classes` is 0 where the target holds numbers.
    """

    min_gain: float | Literal["auto"]
    limits: BinLimits
    smooth: bool
    n_classes: int


@dataclass(frozen=True)
class FoundBins:
    """The bins of some columns, and the mean target in them, column after column.

    `means` has shape (n_bins, n_classes), the class shares, or (n_bins, 1) where the target holds numbers.
    """

    cuts: Cuts
    means: FloatArray

    @property
    def first(self) -> np.ndarray:
        """The bins of column j are ``first[j]`` up to ``first[j + 1]``."""
        return self.cuts.first + np.arange(self.cuts.first.size)


def found_bins(X: Matrix, y: Target, method: Method, parts: Sequence[np.ndarray] = ()) -> FoundBins:
    """Find the bins of all columns, and the class shares or the mean of the numbers in them.

    `parts` are the rows of samples. With two or more, bins are found in each sample, and each column gets those that
    cost least over all samples: squared error about the means of the sample that made the bins, plus the cost of the
    bins in the sample where they are tried. The means are then those of all rows (of the sample, when smooth).
    """
    if not is_numeric(y):
        return _searched(X, y, method, parts, np.bincount(y, minlength=method.n_classes) / y.size)
    target = ScaledTarget.of(y)
    method = replace(method, min_gain=target.cost(method.min_gain))
    found = _searched(X, target.values, method, parts, np.zeros(1))
    return FoundBins(found.cuts, target.restored(found.means))


def _searched(X: Matrix, y: Target, method: Method, parts: Sequence[np.ndarray], prior: FloatArray) -> FoundBins:
    """The bins; `prior` is the mean of all rows."""
    tables = _tables(X, y, method)
    if len(parts) < 2:
        return _joined([_found(table, method, prior) for table in tables])
    samples = [_tables(X[rows], y[rows], method) for rows in parts]
    tried = [_joined([_found(table, method, prior) for table in sample]) for sample in samples]
    cost = np.array([[_cost(sample, one, method) for sample in samples] for one in tried]).sum(axis=1)
    # Of costs that differ only by rounding the first is taken.
    chosen = np.argmax(cost <= cost.min(axis=0) * (1 + 1e-12), axis=0)
    cuts, means = tried[0].cuts, tried[0].means
    for number, one in enumerate(tried[1:], 1):
        mine, before = chosen == number, FoundBins(cuts, means)
        cuts, means = one.cuts.where(mine, cuts), _where(mine, one, before)
    if method.smooth:
        return FoundBins(cuts, means)
    return _joined([_of_cuts(table, _part(cuts, table.features), prior) for table in tables])


def _tables(X: Matrix, y: Target, method: Method) -> list[ValueTables]:
    return list(target_tables(X, y, np.ones(y.size), method.n_classes))


def _found(table: ValueTables, method: Method, prior: FloatArray) -> FoundBins:
    """Bins of one sample."""
    if not method.smooth:
        begins = best_begins(table, table.sums(), method.min_gain, method.limits)
        return FoundBins(table.cuts(begins), table.means(added(table.totals, *table.bins(begins)), prior))
    low, high = np.empty(table.values.size, dtype=np.int64), np.empty(table.values.size, dtype=np.int64)
    lowest_windows(table.first, table.sums(), float(method.limits.min_rows), low, high)
    below = np.concatenate((np.zeros((1, table.totals.shape[1])), np.cumsum(table.totals, axis=0)))
    means = table.means(below[high] - below[low], prior)
    begins = np.zeros(table.values.size, dtype=bool)
    begins[1:] = (np.abs(np.diff(means, axis=0)) > 1e-9).any(axis=1)
    starts = table.first[:-1][np.diff(table.first) > 0]
    begins[starts] = False
    place, size = table.bins(begins)
    # A column without values has one bin.
    of_bins = np.tile(prior, (size, 1))
    of_bins[place] = means
    return FoundBins(table.cuts(begins), of_bins)


def _of_cuts(table: ValueTables, cuts: Cuts, prior: FloatArray) -> FoundBins:
    """Means of all rows in given bins."""
    place = _codes(table, cuts) + (cuts.first[:-1] + np.arange(table.features.size))[table.column]
    size = cuts.values.size + table.features.size
    return FoundBins(cuts, table.means(added(table.totals, place, size), prior))


def _cost(sample: list[ValueTables], tried: FoundBins, method: Method) -> FloatArray:
    """Cost of the bins of each column in a sample."""
    costs = []
    for table in sample:
        cuts, column = _part(tried.cuts, table.features), table.column
        place = tried.first[table.features][column] + _codes(table, cuts)
        cost = np.bincount(column, weights=table.errors(tried.means[place]), minlength=table.features.size)
        if not method.smooth:
            cost += _penalty(table, method) * (cuts.count + 1)
        costs.append(cost)
    return np.concatenate(costs)


def _penalty(table: ValueTables, method: Method) -> FloatArray:
    if method.min_gain != "auto":
        return np.full(table.features.size, float(method.min_gain))
    sums = added(table.sums(), table.column, table.features.size)
    weight = sums[:, 0]
    error = sums[:, 1] - (sums[:, 2:] ** 2).sum(axis=1) / np.maximum(weight, 1.0)
    return np.maximum(error, 0.0) / np.maximum(weight - 1, 1.0)


def _codes(table: ValueTables, cuts: Cuts) -> np.ndarray:
    """The bin of each value."""
    codes = np.empty(table.values.size, dtype=np.int32)
    segment_states(table.values, table.first[:-1], table.first[1:], cuts.first, cuts.values, codes)
    return codes


def _part(cuts: Cuts, features: np.ndarray) -> Cuts:
    """The cuts of neighbouring columns."""
    return cuts.between(int(features[0]), int(features[-1]) + 1)


def _joined(parts: Sequence[FoundBins]) -> FoundBins:
    return FoundBins(Cuts.joined([p.cuts for p in parts]), np.concatenate([p.means for p in parts]))


def _where(mask: Mask, one: FoundBins, other: FoundBins) -> FloatArray:
    """The means of `one` for the columns of the mask, those of `other` for the rest."""
    count = np.where(mask, one.cuts.count, other.cuts.count) + 1
    ours = np.repeat(mask, count)
    means = np.empty((ours.size, one.means.shape[1]))
    means[ours] = one.means[np.repeat(mask, one.cuts.count + 1)]
    means[~ours] = other.means[np.repeat(~mask, other.cuts.count + 1)]
    return means
