"""The prototypes with which a training begins: centres or rows of each class."""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from tamis.base.meta_estimators import narrow
from tamis.base.types import Codes, FloatArray, Matrix


class Prototypes(NamedTuple):
    """Points and the class code of each, class by class."""

    points: FloatArray
    classes: Codes


def first_prototypes(X: Matrix, y: Codes, n_prototypes: int, how: str, rng: np.random.Generator) -> Prototypes:
    """For each class the centres of its rows by k-means, or rows drawn at random; at most as many as it has rows."""
    points, classes = [], []
    for c in range(int(y.max()) + 1):
        rows = X[np.flatnonzero(y == c)]
        count = min(n_prototypes, rows.shape[0])
        points.append((_centres if how == "kmeans" else _drawn)(rows, count, rng))
        classes += [c] * count
    return Prototypes(np.ascontiguousarray(np.concatenate(points)), np.array(classes, dtype=np.intp))


def _centres(rows: Matrix, count: int, rng: np.random.Generator) -> FloatArray:
    if count == 1:
        return np.asarray(rows.mean(axis=0)).reshape(1, -1)
    if count == rows.shape[0]:
        return _dense(rows)
    found = KMeans(count, n_init=1, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():
        # Of fewer different rows some centres are the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(found.fit(narrow(rows)).cluster_centers_)


def _drawn(rows: Matrix, count: int, rng: np.random.Generator) -> FloatArray:
    return _dense(rows[np.sort(rng.choice(rows.shape[0], count, replace=False))])


def _dense(rows: Matrix) -> FloatArray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
