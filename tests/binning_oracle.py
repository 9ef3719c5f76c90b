"""Optimal bins by brute force: every way to cut a short column, and the error it leaves."""

from itertools import combinations, pairwise

import numpy as np


def mean_error(x, y):
    """Squared error about the mean."""
    return float(((y - y.mean(axis=0)) ** 2).sum())


def line_error(x, y):
    """Squared error about the regression line; about the mean where x has a single value."""
    design = np.column_stack((np.ones(x.size), x))
    found = np.linalg.lstsq(design, y, rcond=None)[0] if np.unique(x).size > 1 else np.array([y.mean(), 0.0])
    return float(((y - design @ found) ** 2).sum())


def partitions(x, min_rows, max_bins):
    """Every way to cut between distinct values: tuples of the rows of each bin."""
    values = np.unique(x)
    for size in range(values.size):
        for below in combinations(range(1, values.size), size):
            ends = [0, *below, values.size]
            bins = [np.flatnonzero((x >= values[a]) & (x <= values[b - 1])) for a, b in pairwise(ends)]
            few = max_bins is None or len(bins) <= max_bins
            if len(bins) == 1 or (few and min(map(len, bins)) >= min_rows):
                yield bins


def cost_of(cuts, x, error, gain):
    """Error of the rows of each bin, and the cost of all bins."""
    place = np.searchsorted(cuts, x, side="right")
    assert np.unique(place).size == cuts.size + 1, "every bin holds a row"
    return sum(error(np.flatnonzero(place == b)) + gain for b in range(cuts.size + 1))
