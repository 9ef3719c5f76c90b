"""scikit-learn's nearest neighbours, one column more or less."""

from numbers import Integral
from typing import Any

import scipy.sparse as sp

from tamis.base.types import Codes, Matrix
from tamis.incremental.evaluator import Judge
from tamis.incremental.nearest import NearestJudge, too_large


def knn_judge(model: Any, X: Matrix, y: Codes, Z: Matrix) -> Judge | None:
    """What ``KNeighborsClassifier`` says, by the squared differences in single columns; None for what is not covered.

    Covered are equal weights and Euclidean distance, with any algorithm. In which order scikit-learn finds rows at the
    same distance cannot be known from outside, so that it is asked itself wherever that decides.

    Parameters
    ----------
    model : KNeighborsClassifier
    X, y, Z : training rows, their class codes and test rows
        As for :class:`~tamis.incremental.fallback.DoubtingJudge`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = np.array([[0.0, 5.0], [1.0, 7.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> judge = knn_judge(KNeighborsClassifier(1), X, y, np.array([[0.5, 6.4], [4.0, 4.9]]))
    >>> judge.add(np.array([0]), np.array([1]))
    array([[0, 1]])
    """
    euclidean = model.metric == "euclidean" or (model.metric == "minkowski" and model.p == 2)
    tree = model.algorithm in ("kd_tree", "ball_tree")
    k = model.n_neighbors
    if model.weights != "uniform" or not euclidean or model.metric_params or not isinstance(k, Integral):
        return None
    if not 1 <= int(k) <= X.shape[0] or (tree and sp.issparse(X)) or too_large(X, Z):
        return None
    return NearestJudge(model, X, y, Z, int(k), first=False, products=not tree)
