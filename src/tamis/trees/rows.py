"""The rows of positive weight."""

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix


def counted(X: Matrix, codes: Codes, weight: FloatArray | None) -> tuple[Matrix, Codes, FloatArray]:
    """Rows, classes and weights without the rows of weight zero; without weights every row has weight one.

    Examples
    --------
    >>> X, codes, weight = counted(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1]), np.array([1.0, 0.0, 2.0]))
    >>> X.ravel(), codes, weight
    (array([1., 3.]), array([0, 1]), array([1., 2.]))
    """
    if weight is None:
        return X, codes, np.ones(X.shape[0])
    rows = np.flatnonzero(weight)
    return (X, codes, weight) if rows.size == X.shape[0] else (X[rows], codes[rows], weight[rows])
