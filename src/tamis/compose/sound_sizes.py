"""Whether the arrays of a loaded estimator fit together where compiled code takes their lengths for granted.

What plain NumPy computes needs no check here: it refuses shapes that do not fit, and
:mod:`tamis.compose.trial_prediction` lets it do so when the model is loaded.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_classifier
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from tamis.classify.mdl_histogram.mdl_histogram import MDLHistogram
from tamis.neighbours.nearest_rows import NearestRows


def contradiction(model: BaseEstimator) -> str | None:
    """What in the state of a fitted estimator contradicts itself; None for a sound one, or one without a fit.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> model = SVC().fit(X, [0, 0, 0, 1, 1, 1])
    >>> contradiction(model)
    >>> model._n_support[0] += 1
    >>> contradiction(model)
    'its numbers of support vectors differ'
    """
    for types, check in _CHECKS.items():
        if isinstance(model, types) and hasattr(model, "n_features_in_"):
            try:
                return check(model)
            except (AttributeError, IndexError, TypeError, ValueError):
                return "parts of its state are missing, or of another kind"
    return None


def _of_libsvm(model: Any) -> str | None:
    classes = len(model.classes_) if isinstance(model, SVC | NuSVC) else 0
    pairs, machines = (classes * (classes - 1) // 2, classes - 1) if classes else (1, 1)
    vectors, weights, counts = model.support_vectors_, model._dual_coef_, model._n_support
    if type(model._sparse) is not bool or len({model._sparse, sp.issparse(vectors), sp.issparse(weights)}) > 1:
        return "its support vectors are of another kind than its weights"
    computed = model.kernel == "precomputed"
    n_vectors = model.support_.size if computed else vectors.shape[0]
    if model.support_.shape != (n_vectors,) or (not computed and vectors.shape[1] != model.n_features_in_):
        return "its support vectors are of another width than its input"
    if computed and ((model.support_ < 0) | (model.support_ >= model.n_features_in_)).any():
        return "its support vectors are not among its input"
    if counts.shape != (classes or 2,) or (classes and ((counts < 0).any() or counts.sum() != n_vectors)):
        return "its numbers of support vectors differ"
    stored = weights.data.size if model._sparse else weights.size
    if weights.shape != (machines, n_vectors) or stored != machines * n_vectors:
        return "its weights are not those of its support vectors"
    if model._intercept_.shape != (pairs,) or model.intercept_.shape != (pairs,):
        return "its intercepts are not those of its classes"
    if (
        any(one.size not in (0, pairs) for one in (model._probA, model._probB))
        or model._probA.size != model._probB.size
    ):
        return "its probabilities are not those of its classes"
    return None


def _of_means(model: Any) -> str | None:
    good = model.cluster_centers_.shape == (model.n_clusters, model.n_features_in_)
    return None if good else "its centres are of another width than its input"


def _of_topics(model: Any) -> str | None:
    shapes = {model.components_.shape, model.exp_dirichlet_component_.shape}
    return None if shapes == {(model.n_components, model.n_features_in_)} else "its topics are not those of its input"


def _of_boosting(model: Any) -> str | None:
    classes = len(model.classes_) if is_classifier(model) else 1
    wanted = 1 if classes <= 2 else classes
    good = model.estimators_.ndim == 2 and model.estimators_.shape[1] == wanted == model.n_trees_per_iteration_
    return None if good else "its trees are not those of its classes"


def _of_histograms(model: Any) -> str | None:
    classes = len(model.classes_) if is_classifier(model) else 1
    wanted = 1 if classes <= 2 else classes
    if model.n_trees_per_iteration_ != wanted or any(len(trees) != wanted for trees in model._predictors):
        return "its trees are not those of its classes"
    mapper = model._bin_mapper
    width = len(mapper.bin_thresholds_)
    nominal = np.asarray(mapper.is_categorical_)
    if nominal.shape != (width,) or nominal.dtype != np.uint8:
        return "its bins are not those of its columns"
    for trees in model._predictors:
        for tree in trees:
            nodes = tree.nodes
            inner = ~nodes["is_leaf"].astype(bool)
            columns, sets = nodes["feature_idx"][inner], nodes["is_categorical"][inner].astype(bool)
            if (columns < 0).any() or (columns >= width).any() or (sets & (nominal[columns] == 0)).any():
                return "its trees are not those of its columns"
            if any(
                bits.ndim != 2 or bits.shape[1] != 8
                for bits in (tree.raw_left_cat_bitsets, tree.binned_left_cat_bitsets)
            ):
                return "a tree has subsets of another size than its levels"
    return None


def _of_isolation(model: Any) -> str | None:
    for tree, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        if tree.n_features_in_ != len(columns) or len(columns) > model.n_features_in_:
            return "its trees are not those of its columns"
    return None


def _of_neighbours(model: Any) -> str | None:
    codes, rows = np.asarray(model._y), model._fit_X.shape[0]
    if codes.ndim != 1 or isinstance(model.classes_, list):
        # Several labels a row are looked up by NumPy.
        return None if codes.shape[0] == rows else "its classes are not those of its training rows"
    good = codes.shape == (rows,) and codes.dtype.kind in "iu" and ((codes >= 0) & (codes < len(model.classes_))).all()
    return None if good else "its classes are not those of its training rows"


def _of_nearest_rows(model: Any) -> str | None:
    rows, targets = model._rows.shape[0], model._targets
    if targets.shape[:1] != (rows,):
        return "its targets are not those of its training rows"
    if not isinstance(model.n_neighbors_, int | np.integer) or not 1 <= model.n_neighbors_ <= rows:
        return "it asks for more neighbours than it has training rows"
    if is_classifier(model) and ((targets < 0) | (targets >= len(model.classes_))).any():
        return "its targets are not among its classes"
    return None


def _of_cells(model: Any) -> str | None:
    # A place of a row is looked up among the keys of a level, and taken from the weights.
    depths = len(model.halved_), len(model.keys_), len(model.weight_) - 1
    sizes = [(1,), *(keys.shape for keys in model.keys_)], [weight.shape[:1] for weight in model.weight_]
    widths = {weight.shape[1:] for weight in model.weight_}
    if len(set(depths)) > 1 or sizes[0] != sizes[1] or widths != {(len(model.classes_),)}:
        return "its cells are not those of its weights"
    return None


_CHECKS: dict[tuple[type, ...], Callable[[Any], str | None]] = {
    (SVC, NuSVC, SVR, NuSVR, OneClassSVM): _of_libsvm,
    (KMeans, MiniBatchKMeans, BisectingKMeans): _of_means,
    (LatentDirichletAllocation,): _of_topics,
    (GradientBoostingClassifier, GradientBoostingRegressor): _of_boosting,
    (HistGradientBoostingClassifier, HistGradientBoostingRegressor): _of_histograms,
    (IsolationForest,): _of_isolation,
    (KNeighborsClassifier, RadiusNeighborsClassifier): _of_neighbours,
    (NearestRows,): _of_nearest_rows,
    (MDLHistogram,): _of_cells,
}
