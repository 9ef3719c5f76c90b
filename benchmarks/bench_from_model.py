"""Columns by the weights of a model, for many numbers of them at once, beside scikit-learn's SelectFromModel."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.svm import SVC

from benchmarks.timing import compare
from tamis.base.seeds import generator
from tamis.base.shared_fit import Together
from tamis.classify import SVM
from tamis.select import FromModel

SIZES = [int(size) for size in np.rint(np.geomspace(2, 200, 10))]


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, :10].sum(axis=1) + 2 * rng.normal(size=n_rows) > 0).astype(int)


def _ours(model: Any, sizes: list[int], X: Any, y: np.ndarray) -> list[np.ndarray]:
    return [one.get_support() for one in Together([FromModel(model, k) for k in sizes], X, y)]


def _theirs(model: Any, sizes: list[int], X: Any, y: np.ndarray) -> list[np.ndarray]:
    peers = (SelectFromModel(model, max_features=k, threshold=-np.inf) for k in sizes)
    return [peer.fit(X, y).get_support() for peer in peers]


def _compare(what: str, ours: Any, theirs: Any, X: Any, y: np.ndarray, sizes: list[int]) -> None:
    peer = f"SelectFromModel({type(theirs).__name__})"
    compare(what, partial(_ours, ours, sizes, X, y), peer, partial(_theirs, theirs, sizes, X, y))
    pairs = zip(_ours(ours, sizes, X, y), _theirs(theirs, sizes, X, y), strict=True)
    same = sum(np.array_equal(one, other) for one, other in pairs)
    print(f"{'':<52} same columns at {same} of {len(sizes)} sizes", flush=True)


def main() -> None:
    X, y = _problem(300, 2_000)
    trees = ExtraTreesClassifier(200, random_state=0)
    _compare("from_model(trees), 10 sizes, dense 300 x 2000", trees, trees, X, y, SIZES)
    _compare("from_model(trees), one size, dense 300 x 2000", trees, trees, X, y, SIZES[-1:])
    machines = SVM(), SVC(kernel="linear", tol=1e-6)
    _compare("from_model(svm), 10 sizes, dense 300 x 2000", *machines, X, y, SIZES)
    _compare("from_model(svm), one size, dense 300 x 2000", *machines, X, y, SIZES[-1:])
    S = sp.csr_array(np.where(np.abs(X) > 2, X, 0.0))
    _compare("from_model(trees), 10 sizes, CSR 300 x 2000", trees, trees, S, y, SIZES)
