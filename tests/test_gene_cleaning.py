"""Cleaning of genes: the four filters and the normalisation, on examples worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis.base.errors import TamisError
from tamis.genes.filters import clean
from tamis.genes.normalization import normalized

NAN = np.nan
OFF = {"min_present": 0.0, "min_sd": 0.0, "min_observations": 0, "min_value": 0.0, "min_range": 0.0}
SAMPLES = np.array(["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("row", "option", "limit", "passes"),
    [
        # 9 of 10 known values are 90 percent exactly; 8 are not.
        ([1.0] * 9 + [NAN], "min_present", 90, True),
        ([1.0] * 8 + [NAN] * 2, "min_present", 90, False),
        # 2, 4, 6: mean 4, squares 4 + 0 + 4, over n - 1 = 2: a deviation of exactly 2.
        ([2.0, 4.0, 6.0], "min_sd", 2.0, True),
        ([2.0, 4.0, 5.9], "min_sd", 2.0, False),
        ([2.0, NAN, 6.0, 4.0], "min_sd", 2.0, True),
        ([2.0, NAN], "min_sd", 0.5, False),
        # Greater than, not equal; the sign does not count.
        ([3.0, -3.0, 2.0], "min_observations", 2, True),
        ([3.0, 2.0, -2.0], "min_observations", 2, False),
        ([3.0, NAN, NAN], "min_observations", 2, False),
        ([5.0, 3.0], "min_range", 2.0, True),
        ([5.0, 3.1], "min_range", 2.0, False),
        ([-1.0, 1.0, NAN], "min_range", 2.0, True),
        ([NAN, NAN], "min_range", 0.1, False),
    ],
)
def test_each_filter_by_hand(row, option, limit, passes):
    options = {**OFF, option: limit} | ({"min_value": 2.0} if option == "min_observations" else {})
    found = clean(np.array([row]), **options)
    assert found.mask.tolist() == [passes]
    assert sum(one.removed for one in found.filters) == (not passes)


def test_a_gene_counts_for_the_first_filter_that_it_fails():
    X = np.array([[NAN, 1.0, 1.0], [1.0, 1.0, 1.0], [9.0, 1.0, 5.0], [9.0, 5.0, 3.0]])
    found = clean(X)
    assert [one.removed for one in found.filters] == [1, 1, 1, 0]
    assert found.mask.tolist() == [False, False, False, True]
    assert [one.name for one in found.filters] == [
        "known values >= 90 %",
        "standard deviation >= 2",
        "absolute value > 2 at least 3 times",
        "maximum - minimum >= 2",
    ]


def test_the_range_filter_removes_what_the_deviation_lets_pass():
    X = np.array([[10.0, 11.5]])
    assert [one.removed for one in clean(X, min_sd=1.0).filters] == [0, 0, 0, 1]


@given(
    hnp.arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 6)), elements=st.integers(-9, 9).map(float)),
    st.integers(0, 2**32),
)
@settings(max_examples=50, deadline=None)
def test_filters_do_not_depend_on_the_order(X, seed):
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.1, NAN, X)
    mask = clean(X).mask
    np.testing.assert_array_equal(clean(X[::-1]).mask, mask[::-1])
    np.testing.assert_array_equal(clean(X[:, ::-1]).mask, mask)
    np.testing.assert_array_equal(clean(-X).mask, mask)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_present": 101.0}, "min_present must be a finite number of 0 or more and below 100; got 101.0"),
        ({"min_sd": NAN}, "min_sd must be a finite number"),
        ({"min_observations": 4}, "min_observations must be at most the 3 columns; got 4"),
        ({"min_observations": 1.5}, "min_observations must be a whole number"),
        ({"min_range": -1.0}, "min_range must be a finite number of 0 or more; got -1.0"),
    ],
)
def test_bad_parameters_of_filters(options, message):
    with pytest.raises(TamisError, match=message):
        clean(np.ones((2, 3)), **options)


def test_normalisation_by_hand():
    # Totals 4 and 12, their mean 8: the first sample is doubled, the second times two thirds.
    found = normalized(np.array([[1.0, 3.0], [3.0, 9.0]]), SAMPLES[:2])
    np.testing.assert_allclose(found, [[2.0, 2.0], [6.0, 6.0]])


@given(
    hnp.arrays(float, (5, 4), elements=st.floats(1, 1e4)),
    hnp.arrays(float, (4,), elements=st.floats(0.1, 10)),
)
@settings(max_examples=50, deadline=None)
def test_the_brightness_of_a_sample_goes_away(X, brightness):
    found, dimmed = normalized(X, SAMPLES), normalized(X * brightness, SAMPLES)
    np.testing.assert_allclose(found.sum(axis=0), X.sum() / 4)
    np.testing.assert_allclose(dimmed / dimmed.sum(), found / found.sum(), rtol=1e-9)


def test_a_missing_value_does_not_change_the_scale_of_its_sample():
    X = np.array([[100.0, NAN], [10.0, 10.0], [5.0, 5.0]])
    np.testing.assert_array_equal(normalized(X, SAMPLES[:2]), X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[NAN, 1.0], [1.0, NAN], [NAN, 2.0]], "no gene has a value in every sample, .* sample 'a' lacks most"),
        ([[1.0, -3.0], [1.0, 1.0]], "sample 'b': its intensities sum to -2"),
        ([[0.0, 1.0]], "sample 'a': its intensities sum to 0"),
    ],
)
def test_samples_without_a_scale(X, message):
    with pytest.raises(TamisError, match=message):
        normalized(np.array(X), SAMPLES[:2])
