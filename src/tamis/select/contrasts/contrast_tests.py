"""The contrast test: which columns rank above permuted copies of all columns, repeat after repeat."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.select.contrasts.columns import Columns
from tamis.select.contrasts.rankers import Engine

#: One in this many contrasts of a batch competes with the columns that pass in any batch.
_ONE_IN = 50

#: No columns.
_NONE = np.empty(0, dtype=np.intp)


class ColumnResults(NamedTuple):
    """Results of the columns tested, in their order; means are over the repeats in which a column took part."""

    passed: Mask
    pvalues: FloatArray
    #: Mean importance in the ensembles, and mean quantile of the contrasts' importances.
    importances: FloatArray
    thresholds: FloatArray

    def put(self, places: np.ndarray, others: "ColumnResults") -> None:
        """Replace the results of some columns."""
        for whole, part in zip(self, others, strict=True):
            whole[places] = part


@dataclass(frozen=True)
class ContrastTest:
    """The settings of a contrast test; the parameters are those of :class:`~tamis.select.Contrasts`."""

    engine: Engine
    n_repeats: int
    quantile: float
    alpha: float
    own: bool
    batch: int
    fixed: bool = False

    def __post_init__(self) -> None:
        if rank_sum_limit(self.n_repeats, self.alpha) < 0:
            raise TamisError(
                f"contrasts: n_repeats={self.n_repeats} cannot reach alpha={self.alpha:g}, for the least p-value is "
                f"2 ** -n_repeats; take n_repeats={int(np.ceil(-np.log2(self.alpha)))} or more"
            )

    def run(
        self, columns: Columns, which: np.ndarray, target: np.ndarray, seed: int, passed: np.ndarray = _NONE
    ) -> ColumnResults:
        """Test some columns, in batches if they are many; with `fixed`, against contrasts of those that `passed` too.

        The columns that pass in their batches are tested again together. With ``quantile=1`` they must then also beat
        the best contrasts of all batches, that is, contrasts of all columns.
        """
        if which.size <= self.batch:
            return self._together(columns, which, target, seed, passed)
        n_batches = -(-which.size // self.batch)
        order = generator(spawn(seed, 0)).permutation(which.size)
        found = ColumnResults(np.empty(which.size, dtype=bool), *np.empty((3, which.size)))
        strongest = []
        for i in range(n_batches):
            places = np.sort(order[i::n_batches])
            best = _BestContrasts(columns, -(-places.size // _ONE_IN))
            found.put(places, self._together(columns, which[places], target, spawn(seed, 1, i), passed, best=best))
            strongest.append(best.block)
        again = np.flatnonzero(found.passed)
        if again.size:
            extra = columns.joined(strongest) if self.quantile == 1 else None
            found.put(again, self._together(columns, which[again], target, spawn(seed, 2), passed, extra))
        return found

    def _together(
        self,
        columns: Columns,
        which: np.ndarray,
        target: np.ndarray,
        seed: int,
        passed: np.ndarray,
        extra: Matrix | None = None,
        best: "_BestContrasts | None" = None,
    ) -> ColumnResults:
        """Test columns in the same ensembles; `extra` contrasts take part in every repeat, `best` collects them.

        With `fixed` new contrasts of the columns that `passed` take part in each repeat, and no column leaves.
        """
        shape = (self.n_repeats, which.size)
        importances, contrast, ahead, threshold = (np.full(shape, np.nan) for _ in range(4))
        others = []
        active = np.ones(which.size, dtype=bool)
        for t in range(self.n_repeats):
            shuffled = columns.contrasts(which, generator(spawn(seed, t)))
            blocks = [columns.take(which[active]), shuffled, *([] if extra is None else [extra])]
            if self.fixed and passed.size:
                blocks.append(columns.contrasts(passed, generator(spawn(seed, t, 2))))
            given = self.engine.importances(columns.joined(blocks), target, spawn(seed, t, 1))
            here = int(active.sum())
            importances[t, active], contrast[t], other = np.split(given, [here, here + which.size])
            others.append(other)
            if best is not None:
                best.update(shuffled, contrast[t])
            if not self.own:
                known = np.concatenate([contrast[t], other])
                ahead[t, active], threshold[t, active] = lead(importances[t, active], known, self.quantile)
                if not self.fixed:
                    active = self._can_pass(ahead, active, known.size)
                if not active.any():
                    break
        if self.own:
            ahead, threshold = _own_lead(importances, contrast, np.array(others), self.quantile)
        pvalues = self._pvalues(ahead, active)
        means = np.nanmean(importances, axis=0), np.nanmean(threshold, axis=0)
        return ColumnResults(pvalues <= self.alpha, pvalues, *means)

    def _can_pass(self, ahead: FloatArray, active: Mask, n_contrasts: int) -> Mask:
        """The active columns that would pass if they ranked first in all remaining repeats.

        A lead is at most the number of active columns plus the contrasts above the quantile; a column that was once
        further behind keeps a negative rank above all these. With fewer active columns the largest lead shrinks.
        """
        limit = rank_sum_limit(self.n_repeats, self.alpha)
        while True:
            most = active.sum() + (1 - self.quantile) * (n_contrasts - 1)
            # Half a rank more avoids ties.
            stay = active & (negative_ranks(np.where(np.isnan(ahead), most + 0.5, ahead)) <= limit)
            if stay.sum() == active.sum():
                return stay
            active = stay

    def _pvalues(self, ahead: FloatArray, active: Mask) -> FloatArray:
        """P-values of the repeats made; for a column that left, at least the smallest p-value that cannot pass."""
        pvalues = rank_test(ahead)
        least = rank_sum_pvalues(self.n_repeats)[rank_sum_limit(self.n_repeats, self.alpha) + 1]
        pvalues[~active] = np.maximum(pvalues[~active], least)
        return pvalues


class _BestContrasts:
    """The `size` contrasts with the largest importances so far."""

    def __init__(self, columns: Columns, size: int) -> None:
        self._columns, self._size = columns, size
        self._importances = np.empty(0)
        self.block = columns.take(np.empty(0, dtype=np.intp))

    def update(self, block: Matrix, importances: FloatArray) -> None:
        new = rank(importances)[: self._size]
        both = np.concatenate([self._importances, importances[new]])
        stay = rank(both)[: self._size]
        self.block = self._columns.joined([self.block, block[:, new]])[:, stay]
        self._importances = both[stay]


def lead(importances: FloatArray, contrasts: FloatArray, quantile: float) -> tuple[FloatArray, float]:
    """How many ranks each column is ahead of the quantile of the contrasts, and the importance at the quantile.

    Equal importances share the best of their ranks: columns and contrasts that are never used are no distance apart,
    and a lead is at most the number of columns above the quantile.

    Examples
    --------
    >>> ahead, threshold = lead(np.array([0.5, 0.1]), np.array([0.3, 0.05, 0.05]), 1.0)
    >>> ahead.tolist(), float(threshold)
    ([1.0, -1.0], 0.3)
    """
    ranks = rankdata(-np.concatenate([importances, contrasts]), method="min")
    bar = np.quantile(ranks[importances.size :], 1 - quantile)
    return bar - ranks[: importances.size], np.quantile(contrasts, quantile)


def _own_lead(
    importances: FloatArray, contrasts: FloatArray, extra: FloatArray, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """:func:`lead` for all repeats, in multiples of the mean importance of the column's contrasts in other repeats.

    The mean over all columns counts as one more repeat, since the contrasts of a rarely split column may get nothing.
    """
    repeats = importances.shape[0]
    unit = (contrasts.sum(axis=0) - contrasts + contrasts.mean()) / repeats
    unit[unit == 0] = 1.0
    extra = extra / (contrasts.mean() or 1.0)
    ahead, threshold = np.empty_like(importances), np.empty_like(importances)
    for t in range(repeats):
        ahead[t], bar = lead(importances[t] / unit[t], np.concatenate([contrasts[t] / unit[t], extra[t]]), quantile)
        threshold[t] = bar * unit[t]
    return ahead, threshold


def rank_test(differences: FloatArray) -> FloatArray:
    """One-sided p-values of Wilcoxon's signed-rank test: is the median of each column above zero?

    With W the sum of the ranks of the negative differences, the p-value is the share of all patterns of signs that give
    W or less. Zero counts as negative; tied ranks are averaged and W is rounded up, which keeps the level. NaN marks
    repeats that were not made, at the end of a column.

    Examples
    --------
    >>> rank_test(np.array([[3.0, -3.0], [1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])).tolist()
    [0.0625, 0.3125]
    """
    made = (~np.isnan(differences)).sum(axis=0)
    sums = np.ceil(negative_ranks(differences)).astype(int)
    return np.array([rank_sum_pvalues(int(n))[w] for n, w in zip(made, sums, strict=True)])


def negative_ranks(differences: FloatArray) -> FloatArray:
    """Sum of the ranks of negative differences in each column; NaN takes no rank."""
    ranks = rankdata(np.abs(differences), axis=0, nan_policy="omit")
    return np.asarray(np.where(differences <= 0, ranks, 0.0).sum(axis=0))


def rank_sum_limit(repeats: int, alpha: float) -> int:
    """The largest sum of negative ranks that passes at level `alpha`; -1 when none does."""
    return int(np.searchsorted(rank_sum_pvalues(repeats), alpha, side="right")) - 1


@cache
def rank_sum_pvalues(repeats: int) -> FloatArray:
    """Probability that the negative ranks sum to at most 0, 1, ... when all patterns of signs are equally likely."""
    patterns = np.ones(1)
    for place in range(1, repeats + 1):
        patterns = np.concatenate([patterns, np.zeros(place)]) + np.concatenate([np.zeros(place), patterns])
        patterns /= 2.0
    return np.cumsum(patterns)
