"""One search by contrasts: which columns rank above permuted copies of all columns, repeat after repeat."""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray, Mask
from tamis.select.contrasts.columns import Columns
from tamis.select.contrasts.rankers import Engine

#: Of the contrasts of a batch, one in this many meets the survivors of all batches.
_CHAMPIONS = 50


class Verdicts(NamedTuple):
    """What a search says of its columns, in their order.

    Attributes
    ----------
    passed : bool array
    pvalues : float array
        Of the repeats in which the column took part.
    importances, thresholds : float arrays
        What the column was worth to the ensembles, and what it was held against: means over those repeats.
    """

    passed: Mask
    pvalues: FloatArray
    importances: FloatArray
    thresholds: FloatArray

    def put(self, places: np.ndarray, others: "Verdicts") -> None:
        """What others say takes the place of what is said of these columns."""
        for whole, part in zip(self, others, strict=True):
            whole[places] = part


@dataclass(frozen=True)
class Trial:
    """The settings of a search.

    Parameters
    ----------
    engine : Engine
    n_repeats : int
    quantile : float
        Which of the contrasts a column must beat; 1 is the best.
    alpha : float
        Level of the rank test.
    own : bool
        Whether importances are counted in multiples of what the column's own contrasts get.
    batch : int
        Columns that are tested together at most.
    """

    engine: Engine
    n_repeats: int
    quantile: float
    alpha: float
    own: bool
    batch: int

    def __post_init__(self) -> None:
        if rank_sum_limit(self.n_repeats, self.alpha) < 0:
            raise TamisError(
                f"contrasts: n_repeats={self.n_repeats} cannot reach alpha={self.alpha:g}, for the least p-value is "
                f"2 ** -n_repeats; take n_repeats={int(np.ceil(-np.log2(self.alpha)))} or more"
            )

    def run(self, columns: Columns, which: np.ndarray, target: np.ndarray, seed: int) -> Verdicts:
        """Test some columns, in batches if they are many.

        What passes in its batch meets what passes in the others, beside contrasts of its own; where the best contrast
        is the one to beat, the best contrasts of all batches too: it has then to beat contrasts of all columns.
        """
        if which.size <= self.batch:
            return self._together(columns, which, target, seed)
        n_batches = -(-which.size // self.batch)
        dealt = generator(spawn(seed, 0)).permutation(which.size)
        found = Verdicts(np.empty(which.size, dtype=bool), *np.empty((3, which.size)))
        champions = []
        for i in range(n_batches):
            places = np.sort(dealt[i::n_batches])
            seen = _Champions(columns, -(-places.size // _CHAMPIONS))
            found.put(places, self._together(columns, which[places], target, spawn(seed, 1, i), seen=seen))
            champions.append(seen.best)
        best = np.flatnonzero(found.passed)
        if best.size:
            rivals = columns.joined(champions) if self.quantile == 1 else None
            found.put(best, self._together(columns, which[best], target, spawn(seed, 2), rivals))
        return found

    def _together(
        self,
        columns: Columns,
        which: np.ndarray,
        target: np.ndarray,
        seed: int,
        rivals: Any = None,
        seen: "_Champions | None" = None,
    ) -> Verdicts:
        """Test columns in the same ensembles.

        `rivals` are contrasts that take part in every repeat; `seen` is shown the contrasts of each.
        """
        shape = (self.n_repeats, which.size)
        worth, contrast, ahead, held = (np.full(shape, np.nan) for _ in range(4))
        others = []
        open_ = np.ones(which.size, dtype=bool)
        for t in range(self.n_repeats):
            shuffled = columns.contrasts(which, generator(spawn(seed, t)))
            blocks = [columns.take(which[open_]), shuffled, *([] if rivals is None else [rivals])]
            given = self.engine.importances(columns.rows(columns.joined(blocks)), target, spawn(seed, t, 1))
            here = int(open_.sum())
            worth[t, open_], contrast[t], other = np.split(given, [here, here + which.size])
            others.append(other)
            if seen is not None:
                seen.see(shuffled, contrast[t])
            if not self.own:
                known = np.concatenate([contrast[t], other])
                ahead[t, open_], held[t, open_] = lead(worth[t, open_], known, self.quantile)
                open_ = self._can_pass(ahead, open_, known.size)
                if not open_.any():
                    break
        if self.own:
            ahead, held = _own_lead(worth, contrast, np.array(others), self.quantile)
        pvalues = self._pvalues(ahead, open_)
        return Verdicts(pvalues <= self.alpha, pvalues, np.nanmean(worth, axis=0), np.nanmean(held, axis=0))

    def _can_pass(self, ahead: FloatArray, open_: Mask, n_contrasts: int) -> Mask:
        """Of the columns that are open, those that would pass if they came first in all repeats to come.

        None can then be further ahead than there are open columns, and contrasts that it need not beat: a column that
        was once further behind has a negative rank above all these. The fewer stay, the less far ahead they can be.
        """
        limit = rank_sum_limit(self.n_repeats, self.alpha)
        while True:
            most = open_.sum() + (1 - self.quantile) * (n_contrasts - 1)
            # What is half a rank more is no tie.
            stay = open_ & (negative_ranks(np.where(np.isnan(ahead), most + 0.5, ahead)) <= limit)
            if stay.sum() == open_.sum():
                return stay
            open_ = stay

    def _pvalues(self, ahead: FloatArray, open_: Mask) -> FloatArray:
        """P-values of the repeats made; where a column has left and they do not tell, the least that cannot pass."""
        pvalues = rank_test(ahead)
        least = rank_sum_pvalues(self.n_repeats)[rank_sum_limit(self.n_repeats, self.alpha) + 1]
        pvalues[~open_] = np.maximum(pvalues[~open_], least)
        return pvalues


class _Champions:
    """The contrasts that got the largest importances, `size` of them."""

    def __init__(self, columns: Columns, size: int) -> None:
        self._columns, self._size = columns, size
        self._worth = np.empty(0)
        self.best = columns.take(np.empty(0, dtype=np.intp))

    def see(self, block: Any, worth: FloatArray) -> None:
        """Take the best of a block into account."""
        new = rank(worth)[: self._size]
        both = np.concatenate([self._worth, worth[new]])
        stay = rank(both)[: self._size]
        joined = self._columns.joined([self.best, self._columns.picked(block, new)])
        self.best, self._worth = self._columns.picked(joined, stay), both[stay]


def lead(worth: FloatArray, contrasts: FloatArray, quantile: float) -> tuple[FloatArray, float]:
    """How many ranks each column is ahead of the quantile of the contrasts, and the importance at the quantile.

    Equal importances have the best of their ranks: columns and contrasts that are not used at all are no distance
    apart, and no column is further ahead than there are columns above the quantile.

    Examples
    --------
    >>> ahead, held = lead(np.array([0.5, 0.1]), np.array([0.3, 0.05, 0.05]), 1.0)
    >>> ahead.tolist(), float(held)
    ([1.0, -1.0], 0.3)
    """
    ranks = rankdata(-np.concatenate([worth, contrasts]), method="min")
    bar = np.quantile(ranks[worth.size :], 1 - quantile)
    return bar - ranks[: worth.size], np.quantile(contrasts, quantile)


def _own_lead(
    worth: FloatArray, contrasts: FloatArray, rivals: FloatArray, quantile: float
) -> tuple[FloatArray, FloatArray]:
    """The same for all repeats, importances being multiples of what the column's contrasts got in other repeats.

    The mean over all columns counts as one repeat more: a column that is hardly ever split may get nothing in all.
    """
    repeats = worth.shape[0]
    unit = (contrasts.sum(axis=0) - contrasts + contrasts.mean()) / repeats
    unit[unit == 0] = 1.0
    rivals = rivals / (contrasts.mean() or 1.0)
    ahead, held = np.empty_like(worth), np.empty_like(worth)
    for t in range(repeats):
        ahead[t], bar = lead(worth[t] / unit[t], np.concatenate([contrasts[t] / unit[t], rivals[t]]), quantile)
        held[t] = bar * unit[t]
    return ahead, held


def rank_test(differences: FloatArray) -> FloatArray:
    """One-sided p-values of Wilcoxon's signed-rank test: is the median of each column above zero?

    Absolute differences are ranked; with W the sum of the ranks of negative ones, the p-value is the share of all
    patterns of signs that give W or less. A difference of zero counts as negative; tied ranks are averaged and a
    fraction in W is rounded up, which keeps the level. NaN marks repeats that were not made, at the end of a column.

    Parameters
    ----------
    differences : array of shape (repeats, n_columns)

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
    """Probability, all patterns of signs being alike, that the negative ranks sum to 0, 1, ... or less."""
    patterns = np.ones(1)
    for place in range(1, repeats + 1):
        patterns = np.concatenate([patterns, np.zeros(place)]) + np.concatenate([np.zeros(place), patterns])
        patterns /= 2.0
    return np.cumsum(patterns)
