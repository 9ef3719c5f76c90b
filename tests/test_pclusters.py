"""Maximal pClusters against brute force over all sets of genes and time points."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.base.errors import TamisError
from tamis.genes import PCluster, pclusters
from tamis.genes.pattern_clusters import p_score


def brute(values, delta, min_genes=2, min_times=2):
    """All (genes, times) whose every pair of genes and times scores at most delta and that no other such contains."""
    n, times = values.shape
    fits = {}
    for size in range(2, times + 1):
        for chosen in combinations(range(times), size):
            fine = np.zeros((n, n), dtype=bool)
            for x, y in combinations(range(n), 2):
                fine[x, y] = all(p_score(values, x, y, u, v) <= delta for u, v in combinations(chosen, 2))
            for mask in range(1, 2**n):
                genes = [g for g in range(n) if mask >> g & 1]
                if len(genes) >= 2 and all(fine[x, y] for x, y in combinations(genes, 2)):
                    fits.setdefault(chosen, set()).add(mask)
    found = []
    for chosen, masks in fits.items():
        for mask in masks:
            more_genes = any(mask | 1 << g in masks for g in range(n) if not mask >> g & 1)
            more_times = any(
                mask in fits.get(tuple(sorted((*chosen, t))), set()) for t in range(times) if t not in chosen
            )
            if not more_genes and not more_times:
                found.append(PCluster(tuple(g for g in range(n) if mask >> g & 1), chosen))
    return sorted(one for one in found if len(one.genes) >= min_genes and len(one.times) >= min_times)


@pytest.mark.parametrize("seed", range(2))
def test_twelve_genes_at_six_times_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    # Whole numbers, so that scores equal delta exactly, and a planted cluster of 5 genes at 4 times.
    values = rng.integers(0, 12, (12, 6)).astype(float)
    values[:5, :4] = rng.integers(0, 12, 4) + rng.integers(0, 9, (5, 1)) + rng.integers(0, 2, (5, 4))
    found = pclusters(values, 2.0)
    assert found == brute(values, 2.0)
    assert any(set(range(5)) <= set(one.genes) and set(range(4)) <= set(one.times) for one in found)


@given(st.integers(0, 2**32), st.integers(2, 7), st.integers(2, 4), st.sampled_from([0.0, 1.0, 3.0]))
@settings(max_examples=60, deadline=None)
def test_small_ones_equal_brute_force(seed, n, times, delta):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (n, times)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    assert pclusters(values, delta) == brute(values, delta)
    assert pclusters(values, delta, min_genes=3, min_times=3) == brute(values, delta, 3, 3)


def test_shifts_of_a_gene_change_nothing():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 8, (15, 5)).astype(float)
    assert pclusters(values + rng.integers(-50, 50, (15, 1)), 1.0) == pclusters(values, 1.0)


def test_edges():
    equal = np.ones((4, 3))
    assert pclusters(equal, 0.0) == [PCluster((0, 1, 2, 3), (0, 1, 2))]
    assert pclusters(np.ones((4, 1)), 1.0) == []
    assert pclusters(np.ones((1, 4)), 1.0) == []
    assert pclusters(np.full((3, 3), np.nan), 1.0) == []
    assert pclusters(np.array([[0.0, 0.0], [0.0, 5.0]]), 1.0) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": -1.0}, "delta must be a finite number of 0 or more; got -1.0"),
        ({"delta": np.nan}, "delta must be a finite number"),
        ({"delta": 1.0, "min_genes": 1}, "min_genes must be a whole number of 2 or more; got 1"),
        ({"delta": 1.0, "min_times": 1}, "min_times must be a whole number of 2 or more; got 1"),
        ({"delta": 1.0, "max_clusters": 3}, "more than max_clusters=3 clusters at delta=1: lower delta"),
    ],
)
def test_bad_parameters(options, message):
    values = np.random.default_rng(0).integers(0, 9, (12, 5)).astype(float)
    with pytest.raises(TamisError, match=message):
        pclusters(values, **options)
