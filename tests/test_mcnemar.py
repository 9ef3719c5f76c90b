"""McNemar's test against scipy's distributions and values worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tamis.base.errors import TamisError
from tamis.validation.comparison.mcnemar import McNemar, mcnemar


def errors(only_first: int, only_second: int, both: int = 2, neither: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Masks of wrong rows with these numbers of rows of each kind."""
    kinds = [(True, False)] * only_first + [(False, True)] * only_second + [(True, True)] * both
    first, second = np.array(kinds + [(False, False)] * neither, dtype=bool).reshape(-1, 2).T
    return first, second


counts = st.integers(0, 300)


@given(counts, counts)
def test_exact_is_the_binomial_test(b: int, c: int) -> None:
    wanted = stats.binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar(*errors(b, c)).pvalue == pytest.approx(wanted, rel=1e-9)


@given(counts, counts)
def test_chi2_is_the_corrected_statistic(b: int, c: int) -> None:
    statistic = max(abs(b - c) - 1, 0) ** 2 / (b + c) if b + c else 0.0
    assert mcnemar(*errors(b, c), test="chi2").pvalue == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-9)


@given(counts, counts, st.integers(0, 9), st.integers(0, 9), st.sampled_from(["exact", "chi2"]))
def test_it_is_symmetric_and_blind_to_rows_that_agree(b: int, c: int, both: int, neither: int, test: str) -> None:
    found = mcnemar(*errors(b, c, both, neither), test=test)
    turned = mcnemar(*errors(c, b, 0, 0), test=test)
    assert (found.only_first, found.only_second) == (b, c) == (turned.only_second, turned.only_first)
    assert found.pvalue == turned.pvalue
    assert 0.0 <= found.pvalue <= 1.0


@pytest.mark.parametrize(
    ("b", "c", "test", "pvalue"),
    [
        (0, 0, "exact", 1.0),
        (0, 0, "chi2", 1.0),
        (0, 5, "exact", 2 / 2**5),
        (6, 0, "exact", 2 / 2**6),
        # Both tails from 1 down: 2 (1 + 8) / 2^8.
        (1, 7, "exact", 18 / 256),
        # An even division is as likely as can be: twice its tail is above 1.
        (4, 4, "exact", 1.0),
        # (|10 - 2| - 1)^2 / 12 = 49 / 12 = 4.0833, of which 3.84 is the 5 % point.
        (10, 2, "chi2", 0.0433),
        # One apart: the correction takes it all.
        (3, 4, "chi2", 1.0),
    ],
)
def test_values_by_hand(b: int, c: int, test: str, pvalue: float) -> None:
    assert mcnemar(*errors(b, c), test=test).pvalue == pytest.approx(pvalue, rel=1e-3)


def test_the_two_forms_agree_for_many_rows() -> None:
    for b, c in ((400, 460), (400, 455), (1000, 1080)):
        exact, chi2 = (mcnemar(*errors(b, c), test=test).pvalue for test in ("exact", "chi2"))
        assert exact == pytest.approx(chi2, abs=1e-3)


def test_the_level_itself_is_not_significant() -> None:
    assert not McNemar(0, 0, "exact", 0.05).significant()
    assert McNemar(0, 0, "exact", 0.0499).significant()
    assert not McNemar(0, 0, "exact", 0.0499).significant(0.01)


def test_equal_classifiers_are_found_apart_as_often_as_the_level_allows() -> None:
    """Under the null hypothesis the exact test errs in 5 % of the cases at most."""
    rng = np.random.default_rng(0)
    draws = [mcnemar(*errors(b, 40 - b)).significant() for b in rng.binomial(40, 0.5, size=2000)]
    assert 0.01 < np.mean(draws) < 0.05


@pytest.mark.parametrize(
    ("first", "second", "test", "message"),
    [
        ([True], [True, False], "exact", "same rows; got 1 and 2"),
        ([1, -1], [True, False], "exact", "first_wrong must be a mask"),
        ([True], [[True]], "exact", "second_wrong must be a mask"),
        ([True], [True], "bayes", "test must be one of exact, chi2; got 'bayes'"),
    ],
)
def test_refusals(first: object, second: object, test: str, message: str) -> None:
    with pytest.raises(TamisError, match=message):
        mcnemar(first, second, test=test)
