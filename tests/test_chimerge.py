"""ChiMerge against merging by hand, pair by pair, and on planted bins."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

import tamis
from tamis.base.errors import TamisError
from tamis.discretize import Discretize
from tamis.discretize.chimerge import chimerge_cuts
from tamis.kernels.chimerge import merge_alike

NAN = float("nan")


def statistic(a, b):
    """Kerber's statistic, term by term."""
    found = 0.0
    for mine in (a, b):
        for c in range(a.size):
            expected = mine.sum() * (a[c] + b[c]) / (a.sum() + b.sum())
            found += (mine[c] - expected) ** 2 / max(expected, 0.5)
    return np.floor(found * 1e9 + 0.5) / 1e9


def naive_cuts(x, y, weight, k, alpha, min_bins=1, max_bins=None):
    """All pairs are looked at before each merge."""
    values = np.unique(x)
    counts = [np.bincount(y[x == v], weights=weight[x == v], minlength=k) for v in values]
    lows, highs = list(values), list(values)
    limit = chi2.ppf(1 - alpha, k - 1)
    while len(counts) > max(min_bins, 1):
        pairs = [statistic(a, b) for a, b in pairwise(counts)]
        i = int(np.argmin(pairs))
        if pairs[i] > limit and (max_bins is None or len(counts) <= max_bins):
            break
        counts[i] = counts[i] + counts.pop(i + 1)
        highs[i] = highs.pop(i + 1)
        lows.pop(i + 1)
    return [(a + b) / 2 for a, b in zip(highs, lows[1:], strict=False)]


@st.composite
def problems(draw):
    n, k = draw(st.integers(3, 60)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(-draw(st.integers(1, 15)), 12, (n, 2)).astype(float)
    X[rng.random((n, 2)) < 0.1] = NAN
    y = rng.integers(0, k, n)
    y[:2] = 0, k - 1
    return X, y, k, rng.integers(0, 3, n).astype(float)


stops = st.sampled_from([{}, {"max_bins": 3}, {"min_bins": 4}, {"min_bins": 5, "max_bins": 5}, {"min_bins": 2}])


@given(problems(), st.sampled_from([1.0, 0.3, 0.05, 0.0]), stops)
@settings(max_examples=40)
def test_cuts_are_those_of_merging_pair_by_pair(problem, alpha, stop):
    X, y, k, weight = problem
    weight[:2] = 1.0
    found = [chimerge_cuts(layout, y, weight, alpha=alpha, **stop) for layout in (X, sp.csr_array(X), sp.csc_matrix(X))]
    for j, cuts in enumerate(found[0].apart()):
        known = ~np.isnan(X[:, j]) & (weight > 0)
        expected = naive_cuts(X[known, j], y[known], weight[known], k, alpha, **stop)
        assert cuts.tolist() == expected
        levels = np.unique(X[known, j]).size
        assert cuts.size + 1 >= min(stop.get("min_bins", 1), levels) or levels == 0
        assert cuts.size + 1 <= stop.get("max_bins", 99)
    for other in found[1:]:
        np.testing.assert_array_equal(other.values, found[0].values)
    repeated = chimerge_cuts(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)), alpha=alpha, **stop
    )
    np.testing.assert_array_equal(repeated.values, found[0].values)


def test_the_statistic_is_that_of_contingency_tables_where_expectations_are_large():
    a, b = np.array([30.0, 12.0, 9.0]), np.array([22.0, 25.0, 4.0])
    expected = chi2_contingency(np.array([a, b]), correction=False)
    assert statistic(a, b) == pytest.approx(expected.statistic)
    # So the two values are merged just below its p-value, and not above.
    x = np.repeat([1.0, 2.0], [51, 51])[:, None]
    y = np.repeat([0, 1, 2, 0, 1, 2], np.concatenate((a, b)).astype(int))
    assert chimerge_cuts(x, y, alpha=expected.pvalue * 0.999).values.size == 0
    assert chimerge_cuts(x, y, alpha=expected.pvalue * 1.001).values.tolist() == [1.5]


def test_planted_bins_are_found():
    rng = np.random.default_rng(0)
    x = rng.random((4000, 1))
    share = np.select([x[:, 0] < 0.25, x[:, 0] < 0.6], [0.1, 0.8], 0.3)
    y = (rng.random(4000) < share).astype(int)
    cuts = chimerge_cuts(x, y, alpha=1e-4, max_bins=3).values
    np.testing.assert_allclose(cuts, [0.25, 0.6], atol=0.02)


def test_compiled_and_plain_kernels_agree():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 4, (60, 3)).astype(float) + np.array([1, 0, 0])
    first = np.array([0, 25, 25, 60])
    made = []
    for merge in (merge_alike, merge_alike.python):
        made.append(np.zeros(60, dtype=bool))
        merge(first, table, 3.0, 2, 8, made[-1])
    assert made[0].tolist() == made[1].tolist()
    assert not made[0][[0, 25]].any()


def test_discretize_takes_it_and_the_search_does_not():
    x = np.arange(60.0)[:, None]
    y = np.repeat(["a", "b", "a"], 20)
    model = Discretize("chimerge").fit(x, y)
    assert model.cuts_[0].tolist() == [19.5, 39.5]
    assert Discretize("chimerge", max_bins=2).fit(x, y).cuts_[0].size == 1
    assert "chimerge" not in Discretize.part.search["by"].values()
    assert "modl" in Discretize.part.search["by"].values()
    X = np.column_stack((x[:, 0], np.ones(60), np.full(60, NAN)))
    assert [c.size for c in Discretize("chimerge").fit(X, y).cuts_] == [2, 0, 0]
    assert tamis.recipe("discretize(chimerge, alpha=0.01) | knn(3)").fit(x, y).score(x, y) == 1.0


def test_what_it_cannot_do_is_an_error():
    x = np.arange(20.0)[:, None]
    with pytest.raises(TamisError, match="min_bins=4 and max_bins=3 contradict"):
        Discretize("chimerge", min_bins=4, max_bins=3).fit(x, np.arange(20) % 2)
    with pytest.raises(TamisError, match="for classes"):
        Discretize("chimerge").fit(x, x[:, 0] + 0.5)
    with pytest.raises(ValueError, match="alpha"):
        Discretize("chimerge", alpha=2.0).fit(x, np.arange(20) % 2)
    x[3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        chimerge_cuts(x, np.arange(20) % 2)
