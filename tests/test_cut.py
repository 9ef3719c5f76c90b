"""Cuts and rankings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import false_discovery_control

from tamis.base.cut import Cut, NothingPasses, benjamini_hochberg, rank
from tamis.base.errors import TamisError

VALUES = np.array([0.2, 0.9, 0.0, 0.9, 0.5])


def keep(**cut):
    return np.flatnonzero(Cut(**cut).apply(VALUES, rank(VALUES), pvalues=cut.pop("p", None))).tolist()


def test_ties_stay_in_column_order():
    assert rank(VALUES).tolist() == [1, 3, 4, 0, 2]
    assert rank(np.zeros(4)).tolist() == [0, 1, 2, 3]
    assert rank(np.array([np.nan, 2.0, np.nan, 3.0])).tolist() == [3, 1, 0, 2]
    assert rank(np.zeros(0)).tolist() == []
    assert rank(np.array([1.0, np.inf, np.inf])).tolist() == [1, 2, 0]


def test_each_rule():
    assert keep(k=1) == [1]
    assert keep(k=3) == [1, 3, 4]
    assert keep(k=99) == [0, 1, 2, 3, 4]
    assert keep(fraction=0.4) == [1, 3]
    assert keep(fraction=0.41) == [1, 3, 4]
    assert keep(threshold=0.5) == [1, 3]
    assert keep() == [0, 1, 3, 4]


@given(hnp.arrays(float, st.integers(1, 30), elements=st.floats(0, 1)), st.floats(0.01, 0.99))
def test_benjamini_hochberg_equals_scipy(pvalues, rate):
    adjusted = false_discovery_control(pvalues, method="bh")
    clear = np.abs(adjusted - rate) > 1e-12
    np.testing.assert_array_equal(benjamini_hochberg(pvalues, rate)[clear], (adjusted <= rate)[clear])


@given(hnp.arrays(float, st.integers(1, 30), elements=st.sampled_from([0.0, 0.5, 1.0, np.inf])), st.integers(1, 40))
def test_top_k_keeps_k_and_none_better_is_left_out(values, k):
    kept = Cut(k=k).apply(values, rank(values))
    assert kept.sum() == min(k, len(values))
    if not kept.all():
        assert values[kept].min() >= values[~kept].max()


def test_when_nothing_passes_the_best_is_kept_and_said():
    with pytest.warns(NothingPasses, match="0 of 5 features meet the cut; the best 1 selected"):
        kept = Cut(threshold=7.0).apply(VALUES, rank(VALUES))
    assert np.flatnonzero(kept).tolist() == [1]
    assert not Cut(threshold=7.0, at_least=0).apply(VALUES, rank(VALUES)).any()


def test_wrong_cuts_are_refused():
    with pytest.raises(TamisError, match="got k and fdr"):
        Cut(k=3, fdr=0.1)
    with pytest.raises(TamisError, match="fdr needs a score with p-values"):
        Cut(fdr=0.1).apply(VALUES, rank(VALUES))


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, np.inf, -np.inf, np.nan]) | st.floats(-1, 1), max_size=40))
def test_the_order_is_that_of_a_stable_sort(values) -> None:
    given_values = np.array(values, dtype=float)
    np.testing.assert_array_equal(rank(given_values), np.argsort(-given_values, kind="stable"))
