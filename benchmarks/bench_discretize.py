"""Discretisation beside a decision tree for every column, the supervised way that scikit-learn offers."""

import numpy as np
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import compare
from tamis.discretize import Discretize


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, : n_columns // 4].sum(axis=1) + np.sqrt(n_columns) * rng.normal(size=n_rows) > 0).astype(int)


def main() -> None:
    for n_rows, n_columns in ((2_600, 500), (200, 10_000), (100_000, 20)):
        X, y = _problem(n_rows, n_columns)

        def trees(X: np.ndarray = X, y: np.ndarray = y) -> None:
            for j in range(X.shape[1]):
                DecisionTreeClassifier().fit(X[:, [j]], y)

        def discretize(gain: int | str, X: np.ndarray = X, y: np.ndarray = y) -> Discretize:
            return Discretize("ssv", min_gain=gain, random_state=0).fit(X, y)

        def bins(X: np.ndarray = X) -> KBinsDiscretizer:
            return KBinsDiscretizer(10, encode="ordinal", quantile_method="averaged_inverted_cdf").fit(X)

        size = f"{n_rows} x {n_columns}"
        compare(f"discretize(ssv, min_gain=3), {size}", lambda: discretize(3), "a decision tree a column", trees)
        compare(f"discretize(ssv), {size}", lambda: discretize("auto"), "a decision tree a column", trees)
        compare(f"discretize(ssv, min_gain=3), {size}", lambda: discretize(3), "KBinsDiscretizer", bins)
