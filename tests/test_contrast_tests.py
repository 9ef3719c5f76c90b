"""The contrast test: the rank test against scipy, columns that leave early, contrasts of dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wilcoxon

from tamis.base.seeds import generator
from tamis.select.contrasts.columns import Columns
from tamis.select.contrasts.contrast_tests import ContrastTest, _BestContrasts, lead, negative_ranks, rank_test
from tamis.select.contrasts.rankers import Engine


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(-1, 1))
def test_p_values_are_those_of_scipy(repeats, seed, shift) -> None:
    differences = np.random.default_rng(seed).normal(shift, size=(repeats, 7))
    expected = wilcoxon(differences, alternative="greater", axis=0, method="exact").pvalue
    np.testing.assert_allclose(rank_test(differences), expected, rtol=1e-12)


def test_ties_share_their_ranks_and_zeros_count_as_negative() -> None:
    differences = np.array([[2.0, 0.0, -1.0, 0.0], [-2.0, 3.0, -1.0, 0.0], [5.0, 4.0, 1.0, 0.0]])
    assert negative_ranks(differences).tolist() == [1.5, 1.0, 4.0, 6.0]
    # Of the eight patterns of signs 3, 2, 7 and 8 give as little, a fraction being rounded up.
    assert rank_test(differences).tolist() == [3 / 8, 2 / 8, 6 / 8, 1.0]


def test_repeats_that_were_not_made_do_not_count() -> None:
    differences = np.random.default_rng(0).normal(0.3, size=(8, 5))
    differences[5:, 2] = np.nan
    expected = wilcoxon(differences[:5, 2], alternative="greater", method="exact").pvalue
    assert rank_test(differences)[2] == pytest.approx(expected)


@given(st.integers(5, 9), st.integers(1, 9), st.floats(0.5, 1.0), st.integers(0, 2**32 - 1))
def test_columns_that_leave_could_not_have_passed_whatever_comes(repeats, made, quantile, seed) -> None:
    rng = np.random.default_rng(seed)
    setting = ContrastTest(Engine(), repeats, quantile, alpha=0.05, own=False, batch=100)
    importances, contrasts = rng.random((repeats, 12)) ** 0.3, rng.random((repeats, 12))
    made = min(made, repeats)
    ahead = np.array([lead(*pair, quantile)[0] for pair in zip(importances, contrasts, strict=True)])
    known = ahead.copy()
    known[made:] = np.nan
    stay = setting._can_pass(known, np.ones(12, dtype=bool), 12)
    # Beside those that stay, whatever repeats come.
    for j in np.flatnonzero(~stay):
        beside = np.append(np.flatnonzero(stay), j)
        to_come = [
            lead(one[beside], others, quantile)[0][-1] for one, others in zip(importances, contrasts, strict=True)
        ]
        assert rank_test(np.append(ahead[:made, j], to_come[made:])[:, None]) > 0.05
    if made == repeats:
        np.testing.assert_array_equal(stay, rank_test(ahead) <= 0.05)
    # Of those that stay each would pass that came first in all repeats to come.
    most = stay.sum() + (1 - quantile) * 11
    best = np.where(np.isnan(known), most + 0.5, known)
    assert (rank_test(best)[stay] <= 0.05).all()
    assert (setting._pvalues(known, stay)[~stay] > 0.05).all()


@given(
    arrays(np.float64, 5, elements=st.floats(0, 1)),
    arrays(np.float64, 9, elements=st.floats(0, 1)),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_lead_is_positive_above_the_quantile_of_the_contrasts(importances, contrasts, quantile) -> None:
    ahead, threshold = lead(importances, contrasts, quantile)
    bar = np.sort(contrasts)[round(8 * quantile)]
    assert threshold == bar
    np.testing.assert_array_equal(ahead > 0, importances > bar)
    np.testing.assert_array_equal(ahead < 0, importances < bar)


@given(st.integers(1, 30), st.integers(1, 9), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_contrasts_hold_the_values_of_their_columns_alike_for_dense_and_sparse(n_rows, n_columns, seed) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n_rows, n_columns)).astype(float)
    which = rng.permutation(n_columns)[: max(1, n_columns - 2)]
    dense, sparse = Columns(X), Columns(sp.csr_array(X))
    shuffled = dense.contrasts(which, generator(seed))
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), np.sort(X[:, which], axis=0))
    np.testing.assert_array_equal(sparse.contrasts(which, generator(seed)).toarray(), shuffled)


def test_contrasts_are_drawn_evenly_and_one_by_one(monkeypatch) -> None:
    monkeypatch.setattr("tamis.select.contrasts.columns._AT_ONCE", 7)
    columns = Columns(np.tile(np.arange(3.0)[:, None], (1, 6000)))
    shuffled = columns.contrasts(np.arange(6000), generator(0))
    _, counts = np.unique(shuffled, axis=1, return_counts=True)
    assert counts.size == 6
    assert (np.abs(counts - 1000) < 150).all()


def test_best_contrasts_are_the_contrasts_of_the_largest_importances() -> None:
    columns = Columns(np.arange(12.0).reshape(2, 6))
    best = _BestContrasts(columns, 3)
    best.update(columns.take(np.arange(3)), np.array([0.1, 0.9, 0.3]))
    best.update(columns.take(np.arange(3, 6)), np.array([0.5, 0.0, 0.2]))
    assert best.block[0].tolist() == [1.0, 3.0, 2.0]
