"""scikit-learn's nearest neighbours, one column more or less."""

from numbers import Integral
from typing import Any

import scipy.sparse as sp

from tamis.base.types import Matrix, Target
from tamis.incremental.evaluator import IncrementalEvaluator
from tamis.incremental.nearest import NearestEvaluator, too_large


def knn_evaluator(model: Any, X: Matrix, y: Target, Z: Matrix) -> IncrementalEvaluator | None:
    """``KNeighborsClassifier`` or ``KNeighborsRegressor`` by the squared differences in single columns, or None.

    Covers equal weights and Euclidean distance, with any algorithm. The order in which scikit-learn finds rows at the
    same distance cannot be known from outside: where it decides, the model is refitted.
    """
    euclidean = model.metric == "euclidean" or (model.metric == "minkowski" and model.p == 2)
    tree = model.algorithm in ("kd_tree", "ball_tree")
    k = model.n_neighbors
    if model.weights != "uniform" or not euclidean or model.metric_params or not isinstance(k, Integral):
        return None
    if not 1 <= int(k) <= X.shape[0] or (tree and sp.issparse(X)) or too_large(X, Z):
        return None
    return NearestEvaluator(model, X, y, Z, int(k), first=False, products=not tree)
