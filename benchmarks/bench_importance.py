"""Importance of columns to a fitted classifier, beside scikit-learn's permutation_importance with as many repeats.

Both ask the classifier about each row with as many other values of each column: the same number of changed rows.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.timing import compare
from tamis.base.seeds import generator
from tamis.select import Importance
from tamis.select.importance.changed_predictions import Predict, mean_changes

VALUES = 10


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, :10].sum(axis=1) + 2 * rng.normal(size=n_rows) > 0).astype(int)


def _ours(fitted: Any, X: Any) -> np.ndarray:
    drawn = np.sort(generator(0).permutation(X.shape[0])[:VALUES])
    return mean_changes(Predict(fitted, "probability"), X, X[drawn], np.arange(X.shape[1]))


def _theirs(fitted: Any, X: Any, y: np.ndarray) -> np.ndarray:
    found = permutation_importance(fitted, X, y, scoring="neg_log_loss", n_repeats=VALUES, random_state=0)
    return np.asarray(found.importances_mean)


def _compare(what: str, model: Any, X: Any, y: np.ndarray, dense: np.ndarray | None = None) -> None:
    """`dense` are the same rows for scikit-learn, which takes no sparse ones here."""
    fitted = clone(model).fit(X, y)
    rows = X if dense is None else dense
    theirs = fitted if dense is None else clone(model).fit(rows, y)
    name = f"permutation_importance({VALUES})"
    compare(f"importance of columns, {what}", partial(_ours, fitted, X), name, partial(_theirs, theirs, rows, y))
    ten = [set(np.argsort(-found)[:10]) for found in (_ours(fitted, X), _theirs(theirs, rows, y))]
    print(f"{'':<52} of the ten best {len(ten[0] & ten[1])} are the same", flush=True)


def main() -> None:
    X, y = _problem(500, 100)
    _compare("logistic, dense 500 x 100", LogisticRegression(), X, y)
    _compare("network, dense 500 x 100", MLPClassifier((10,), random_state=0), X, y)
    _compare("20 trees, dense 500 x 100", ExtraTreesClassifier(20, random_state=0), X, y)
    codes = np.rint(X).clip(-1, 1)
    _compare("logistic, three values, 500 x 100", LogisticRegression(), codes, y)
    few = np.where(np.abs(X) > 2, X, 0.0)
    _compare("logistic, CSR 500 x 100", LogisticRegression(), sp.csr_array(few), y, few)
    model = Importance(LogisticRegression(), 10, values=VALUES, random_state=0)
    once = Importance(LogisticRegression(), 10, values=VALUES, eliminate=False, random_state=0)
    compare("one ranking, dense 500 x 100", partial(once.fit, X, y), "elimination to 10", partial(model.fit, X, y))
