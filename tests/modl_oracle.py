"""The MODL cost as it is written, the least of it over all intervals, and a search that tries everything."""

from itertools import pairwise
from math import comb, factorial, log

import numpy as np
from scipy.special import gammaln


def planted(seed, most=60, least=2):
    """Values, some of them equal, and classes that change at a few places, some of them wrong."""
    rng = np.random.default_rng(seed)
    m, n_classes, k = rng.integers(least, most + 1), rng.integers(2, 5), rng.integers(1, 6)
    x = rng.random(m)
    y = rng.integers(0, n_classes, k + 1)[np.searchsorted(np.sort(rng.random(k)), x)]
    y = np.where(rng.random(m) < rng.choice([0.0, 0.05, 0.15, 0.3, 0.6, 1.0]), rng.integers(0, n_classes, m), y)
    x = (x * rng.integers(3, 40)).round() if seed % 3 == 0 else x
    return x, np.unique(y, return_inverse=True)[1]


def parts_cost(counts, n_classes):
    """The terms of a group of rows, by whole numbers: nothing is shared with the code but the formula."""
    m = sum(counts)
    ways = factorial(m)
    for count in counts:
        ways //= factorial(count)
    return log(comb(m + n_classes - 1, n_classes - 1)) + log(ways)


def cost_of(x, y, cuts, n_classes):
    """The cost of the intervals of a column, as it is written in the paper."""
    x, y = x[~np.isnan(x)], y[~np.isnan(x)]
    bins, n = np.searchsorted(cuts, x, side="right"), len(cuts) + 1
    parts = [np.bincount(y[bins == i], minlength=n_classes).tolist() for i in range(n)]
    return log(x.size) + log(comb(x.size + n - 1, n - 1)) + sum(parts_cost(part, n_classes) for part in parts)


def least_cost(x, y, n_classes, most=None):
    """The least cost over all intervals that do not part equal values, by dynamic programming."""
    x, y = x[~np.isnan(x)], y[~np.isnan(x)]
    values, place = np.unique(x, return_inverse=True)
    below = np.zeros((values.size + 1, n_classes))
    np.add.at(below, (place + 1, y), 1)
    inside = np.cumsum(below, axis=0)
    inside = np.maximum(inside[None] - inside[:, None], 0)
    each = gammaln(inside.sum(axis=2) + n_classes) - gammaln(n_classes) - gammaln(inside + 1).sum(axis=2)
    each[np.tril_indices(values.size + 1)] = np.inf
    cost, found = np.where(np.arange(values.size + 1) == 0, 0.0, np.inf), np.inf
    for n in range(1, min(values.size, most or values.size) + 1):
        cost = (cost[:, None] + each).min(axis=0)
        found = min(found, cost[-1] + log(comb(x.size + n - 1, n - 1)))
    return found + log(x.size)


def plain_search(y, n_classes):
    """The search over the intervals of rows whose values all differ, each step by trying everything."""
    n = y.size
    logs = gammaln(np.arange(2 * n + n_classes + 2) + 1.0).tolist()
    starts = [0, *(np.flatnonzero(np.diff(y)) + 1).tolist(), n]
    below = np.vstack([np.zeros((1, n_classes)), np.cumsum(np.eye(n_classes)[y], axis=0)]).astype(int).tolist()

    def part(a, b):
        inside = sum(logs[j - i] for i, j in zip(below[a], below[b], strict=True))
        return logs[b - a + n_classes - 1] - logs[n_classes - 1] - inside

    def cost(ends):
        k = len(ends) - 1
        return logs[n + k - 1] - logs[k - 1] - logs[n] + sum(part(a, b) for a, b in pairwise(ends))

    ends = best = starts
    while len(ends) > 2:
        joins = [part(a, c) - part(a, b) - part(b, c) for a, b, c in zip(ends, ends[1:], ends[2:], strict=False)]
        ends = [end for i, end in enumerate(ends, -1) if i != int(np.argmin(joins))]
        best = ends if cost(ends) <= cost(best) + 1e-9 else best
    changed = True
    while changed:
        changed, place = False, 0
        while place < len(best) - 1:
            tried = [best]
            for joined in range(1, min(4, len(best) - place)):
                before, after = best[: place + 1], best[place + joined :]
                tried += [before + after, *([*before, end, *after] for end in starts if before[-1] < end < after[0])]
            costs = [cost(ends) for ends in tried]
            if min(costs) < costs[0] - 1e-9:
                best, changed = tried[int(np.argmin(costs))], True
            else:
                place += 1
    return best[1:-1]
