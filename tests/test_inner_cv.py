"""The choice of a best candidate by cross-validation inside a fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds, most_confident


@given(arrays(float, (4, 5), elements=st.integers(0, 20).map(lambda n: n / 20)), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_choice_is_equation_25(accuracy, caution):
    worth = [np.mean(column) - caution * np.std(column, ddof=1) for column in accuracy.T]
    chosen = most_confident(accuracy, caution)
    assert worth[chosen] == pytest.approx(max(worth), abs=1e-11)
    assert all(w < worth[chosen] - 1e-13 or i > chosen for i, w in enumerate(worth) if i != chosen)


def test_a_single_fold_has_no_deviation():
    assert most_confident(np.array([[0.2, 0.8, 0.8]]), caution=1.0) == 1


def test_inner_folds_deal_every_row_once_and_classes_evenly():
    y = np.repeat([0, 1, 2], [20, 10, 5])
    parts = inner_folds(y, 5, 0, "k")
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(35))
    assert all(np.bincount(y[test]).tolist() == [4, 2, 1] for _, test in parts)
    assert all(np.array_equal(np.union1d(train, test), np.arange(35)) for train, test in parts)


def test_there_are_no_more_folds_than_rows_of_the_largest_class():
    assert len(inner_folds(np.array([0, 0, 0, 1]), 10, 0, "k")) == 3
    with pytest.raises(TamisError, match='k="auto" needs a class with at least two rows'):
        inner_folds(np.array([0, 1]), 10, 0, 'k="auto"')
