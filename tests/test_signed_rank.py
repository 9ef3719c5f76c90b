"""Wilcoxon's test of two models' errors."""

import numpy as np
import pytest
from scipy.stats import wilcoxon

from tamis.base.errors import TamisError
from tamis.validation.comparison.signed_rank import SignedRank, signed_rank


def test_it_is_scipys_and_counts_the_rows() -> None:
    rng = np.random.default_rng(0)
    first, second = np.abs(rng.normal(size=(2, 50)))
    found = signed_rank(first, second)
    assert found.pvalue == pytest.approx(wilcoxon(first, second).pvalue)
    assert (found.only_first, found.only_second) == ((first > second).sum(), (first < second).sum())


def test_equal_errors_are_no_evidence() -> None:
    errors = np.array([0.1, 0.2, 0.3])
    assert signed_rank(errors, errors * (1 + 1e-15)) == SignedRank(0, 0, 1.0)


def test_other_rows_are_refused() -> None:
    with pytest.raises(TamisError, match="of the same rows"):
        signed_rank(np.ones(3), np.ones(4))
