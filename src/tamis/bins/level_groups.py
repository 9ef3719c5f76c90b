"""The most probable groups of the levels of a nominal column (MODL)."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from tamis.base.types import Codes, FloatArray

#: Most mixed levels that are merged one by one.
_START = 256
#: Costs that differ by at most this share of the largest term are equal.
_CLOSE = 1e-12


class Groups(NamedTuple):
    """The group 0, 1, ... of each level (-1 for one without rows), and the nats gained over a single group."""

    group: np.ndarray
    gain: float


def level_groups(
    levels: np.ndarray, y: Codes, n_classes: int | None = None, sample_weight: FloatArray | None = None
) -> Groups:
    """The groups of the levels of a nominal column that are most probable given the classes.

    With V levels in I groups they minimise

        ln V + ln B(V, I) + sum_i ln C(m_i + J - 1, J - 1) + sum_i ln(m_i! / prod_j m_ij!),

    where B(V, I) is the number of partitions of V levels into at most I groups, and the rest as for intervals
    (:func:`tamis.discretize.modl.modl`). Levels of a single class are joined, which is exact; groups are merged
    greedily; then levels move, or groups merge, while that lowers the cost. Of more than 256 mixed levels the rarer
    ones are first joined with those that have the same most frequent class to nearly the same share. In `levels`, NaN
    or a number below zero is missing.

    See Also
    --------
    tamis.discretize.modl.modl_intervals : The same for numeric columns.

    References
    ----------
    Boulle (2005), "A Bayes optimal approach for partitioning the values of categorical attributes".

    Examples
    --------
    >>> import numpy as np
    >>> level_groups(np.repeat([0, 1, 2, 3], 10), np.repeat([0, 1, 0, 1], 10)).group
    array([0, 1, 0, 1])
    """
    weight = np.ones(y.size) if sample_weight is None else sample_weight
    known = (weight > 0) & (np.nan_to_num(levels, nan=-1.0) >= 0)
    n_levels = int(np.nanmax(levels, initial=-1)) + 1
    place = levels[known].astype(np.int64)
    n_classes = n_classes or max(1, np.unique(y[weight > 0]).size)
    width = int(y.max(initial=0)) + 1
    counts = np.zeros((n_levels, width))
    np.add.at(counts, (place, y[known]), weight[known])
    used = np.flatnonzero(counts.sum(axis=1))
    group = np.full(n_levels, -1, dtype=np.int64)
    if used.size < 2:
        group[used] = 0
        return Groups(group, 0.0)
    found, gain = _Search(counts[used], n_classes).best()
    _, first, name = np.unique(found, return_index=True, return_inverse=True)
    group[used] = np.argsort(np.argsort(first))[name]
    return Groups(group, gain)


@lru_cache(maxsize=64)
def log_partitions(n: int, most: int) -> FloatArray:
    """Logarithm of the number of partitions of `n` things into at most 0, 1, ..., `most` groups.

    These are sums of Stirling numbers of the second kind, S(n, i) = i S(n - 1, i) + S(n - 1, i - 1).

    Examples
    --------
    >>> np.exp(log_partitions(4, 4)).round()
    array([ 0.,  1.,  8., 14., 15.])
    """
    i = np.arange(most + 1)
    with np.errstate(divide="ignore"):
        log_i = np.log(i)
    if n > 50 * most:
        # The other terms of the closed form are negligible.
        ways = n * log_i - gammaln(i + 1.0)
    else:
        ways = np.where(i == 0, 0.0, -np.inf)
        for _ in range(n):
            ways = np.logaddexp(ways + log_i, np.concatenate(([-np.inf], ways[:-1])))
    found: FloatArray = np.logaddexp.accumulate(ways)
    found.flags.writeable = False
    return found


class _Search:
    """The search for groups of units, which are levels or joined levels."""

    def __init__(self, counts: FloatArray, n_classes: int) -> None:
        self.n_classes = n_classes
        self.unit = _joined(counts)
        self.counts = np.zeros((int(self.unit.max()) + 1, counts.shape[1]))
        np.add.at(self.counts, self.unit, counts)
        self.prior = log_partitions(counts.shape[0], self.counts.shape[0])
        self.close = _CLOSE * (1.0 + float(gammaln(counts.sum() + 1.0)))

    def group_cost(self, counts: FloatArray) -> FloatArray:
        """Cost of groups with these rows of each class (last axis); 0 if empty."""
        size = counts.sum(axis=-1) + self.n_classes
        found: FloatArray = gammaln(size) - gammaln(self.n_classes) - gammaln(counts + 1.0).sum(axis=-1)
        return found

    def best(self) -> tuple[np.ndarray, float]:
        """The group of each level, and the gain over a single group."""
        group = self._merged(np.arange(self.counts.shape[0]))
        while True:
            moved = self._moved(group)
            merged = self._merged(moved)
            if self.cost(merged) >= self.cost(group) - self.close:
                break
            group = merged
        gain = self.cost(np.zeros_like(group)) - self.cost(group)
        return group[self.unit], max(gain, 0.0) if group.max() > 0 else 0.0

    def cost(self, group: np.ndarray) -> float:
        """Cost of groups 0, 1, ... of the units, up to a constant."""
        sums = self._sums(group)
        return float(self.prior[sums.shape[0]] + self.group_cost(sums).sum())

    def _sums(self, group: np.ndarray) -> FloatArray:
        sums = np.zeros((int(group.max()) + 1, self.counts.shape[1]))
        np.add.at(sums, group, self.counts)
        return sums

    def _merged(self, group: np.ndarray) -> np.ndarray:
        """The best groups met while the cheapest pair of groups is merged, down to a single group."""
        sums, group = self._sums(group), group.copy()
        alone = self.group_cost(sums)
        change = np.full((alone.size, alone.size), np.inf)
        for a in range(alone.size - 1):
            change[a, a + 1 :] = self.group_cost(sums[a] + sums[a + 1 :]) - alone[a] - alone[a + 1 :]
        cost, best, found = float(alone.sum()), np.inf, group
        for n in range(alone.size, 0, -1):
            if cost + self.prior[n] <= best + self.close:
                best, found = cost + self.prior[n], group.copy()
            if n == 1:
                break
            a, b = (int(place) for place in np.unravel_index(np.argmin(change), change.shape))
            cost += change[a, b]
            group[group == b] = a
            sums[a] += sums[b]
            alone[a] = self.group_cost(sums[a])
            change[b, :] = change[:, b] = np.inf
            others = self.group_cost(sums[a] + sums) - alone[a] - alone
            change[a] = np.where(np.isinf(change[a]), np.inf, others)
            change[:, a] = np.where(np.isinf(change[:, a]), np.inf, others)
        return _renumbered(found)

    def _moved(self, group: np.ndarray) -> np.ndarray:
        """Move each unit to its cheapest group, or to a new one, until none moves."""
        group, sums = group.copy(), self._sums(group)
        sums = np.vstack([sums, np.zeros((1, sums.shape[1]))])
        changed = True
        while changed:
            changed = False
            for unit, own in enumerate(self.counts):
                here, alone, n = group[unit], self.group_cost(sums), sums.shape[0] - 1
                left = np.count_nonzero(group == here) > 1
                rest = float(self.group_cost(sums[here] - own)) if left else 0.0
                change = self.group_cost(sums + own) - alone + rest - alone[here]
                change[:-1] += self.prior[n - 1 + left] - self.prior[n]
                change[-1] += self.prior[n + left] - self.prior[n]
                change[here] = 0.0
                to = int(np.argmin(change))
                if change[to] < -self.close:
                    group[unit], changed = to, True
                    group = _renumbered(group)
                    sums = np.vstack([self._sums(group), np.zeros((1, sums.shape[1]))])
        return group


def _joined(counts: FloatArray) -> np.ndarray:
    """The unit of each level: one for all levels of a single class, else its own or one shared with similar levels."""
    size, main = counts.sum(axis=1), counts.argmax(axis=1)
    unit = np.arange(size.size) + counts.shape[1]
    pure = np.count_nonzero(counts, axis=1) == 1
    mixed = np.flatnonzero(~pure)
    if mixed.size > _START:
        rare = mixed[np.argsort(-size[mixed], kind="stable")[_START // 2 :]]
        rare = rare[np.lexsort((counts[rare, main[rare]] / size[rare], main[rare]))]
        above = np.cumsum(size[rare])
        # Units are neighbours in this order with equal shares of the weight, named after their first level.
        share = np.minimum(above / above[-1] * (_START // 2), _START // 2 - 1).astype(np.int64)
        _, first, place = np.unique((share, main[rare]), axis=1, return_index=True, return_inverse=True)
        unit[rare] = unit[rare[first[place]]]
    unit[pure] = main[pure]
    return _renumbered(unit)


def _renumbered(groups: np.ndarray) -> np.ndarray:
    """Groups as 0, 1, ..."""
    found: np.ndarray = np.unique(groups, return_inverse=True)[1]
    return found
