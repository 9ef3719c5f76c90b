"""Similarity of columns, held against NumPy's correlation and scikit-learn's normalised mutual information."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from tamis.contingency.similarity import correlation, similarity, symmetrical_uncertainty
from tamis.data.dataset import Dataset


def numeric(seed: int, rows: int = 40, columns: int = 6, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) @ rng.normal(size=(columns, columns))
    X[rng.random(X.shape) < missing] = np.nan
    return X


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.sampled_from([1.0, 1e150, 1e-150]))
def test_correlation_is_that_of_the_rows_known_in_both(seed: int, missing: float, scale: float) -> None:
    X, Z = numeric(seed, missing=missing), numeric(seed + 1, columns=3, missing=missing)
    found = correlation(scale * X, Z)
    for i in range(6):
        for j in range(3):
            known = np.isfinite(X[:, i]) & np.isfinite(Z[:, j])
            expected = abs(np.corrcoef(X[known, i], Z[known, j])[0, 1])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_constants_and_columns_never_known_together_have_no_similarity() -> None:
    X = np.array([[1.0, 0.1, np.nan], [2.0, 0.1, np.nan], [np.nan, 0.1, 1.0], [np.nan, 0.1, 2.0]])
    assert correlation(X, X)[0, 1:].tolist() == [0.0, 0.0]


@given(st.integers(0, 10_000), st.integers(1, 5), st.booleans())
def test_symmetrical_uncertainty_is_the_normalised_information(seed: int, levels: int, missing: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [levels, 4, 9], size=(60, 3)).astype(np.float64)
    codes = np.where(rng.random(60) < 0.7, X[:, 1], rng.integers(0, 4, 60)).astype(np.intp)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        codes[rng.random(60) < 0.2] = -1
    found = symmetrical_uncertainty(codes, X, np.ones(3, dtype=bool))
    for j in range(3):
        known = (codes >= 0) & np.isfinite(X[:, j])
        expected = normalized_mutual_info_score(codes[known], X[known, j], average_method="arithmetic")
        # Two constants are alike to scikit-learn; here a constant tells nothing.
        constant = np.unique(codes[known]).size == 1 or np.unique(X[known, j]).size == 1
        assert found[j] == pytest.approx(0.0 if constant else expected, abs=1e-9)


def test_sparse_is_dense() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 700)) * (rng.random((50, 700)) < 0.3)
    y = np.arange(50) % 2
    first, rest = np.arange(5), np.arange(5, 700)
    dense = similarity(Dataset.of(X, y), first, rest)
    assert np.allclose(similarity(Dataset.of(sp.csr_matrix(X), y), first, rest), dense)
    assert np.allclose(dense, np.abs(np.corrcoef(X.T))[:5, 5:])


def test_a_pair_with_a_nominal_column_has_the_uncertainty() -> None:
    words = np.array(["a", "b", "c"])[np.arange(60) % 3]
    frame = pl.DataFrame({"word": words, "code": np.arange(60) % 3 + 0.0, "other": np.arange(60) // 30 + 0.0})
    frame = frame.with_columns(copy=pl.col("word").str.to_uppercase(), double=2 * pl.col("code"))
    data = Dataset(frame, np.arange(60) % 2, np.array(frame.columns))
    found = similarity(data, np.arange(5), np.arange(5))
    assert np.allclose(found, found.T)
    # The states of a column of few whole numbers are its values, so that they tell the word.
    assert np.allclose(found[0], [1, 1, 0, 1, 1])
    assert np.allclose(found[1], [1, 1, 0, 1, 1])
