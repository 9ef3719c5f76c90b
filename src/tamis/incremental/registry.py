"""Which models have an incremental evaluator, so that a search need not refit them for every set of columns."""

from collections.abc import Callable
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid

from tamis.base.types import Matrix, Target
from tamis.incremental.centroid import centroid_evaluator
from tamis.incremental.evaluator import IncrementalEvaluator
from tamis.incremental.gaussian_nb import naive_bayes_evaluator
from tamis.incremental.knn import knn_evaluator
from tamis.incremental.linear import lda_evaluator, ridge_evaluator
from tamis.incremental.ridge import ridge_regression_evaluator

#: From a model, training rows, their target and test rows to an evaluator; None for parameters not covered.
Factory = Callable[[Any, Matrix, Target, Matrix], IncrementalEvaluator | None]

#: scikit-learn's own. A subclass may compute anything, so only the exact class counts.
_FACTORIES: dict[type, Factory] = {
    GaussianNB: naive_bayes_evaluator,
    KNeighborsClassifier: knn_evaluator,
    KNeighborsRegressor: knn_evaluator,
    LinearDiscriminantAnalysis: lda_evaluator,
    NearestCentroid: centroid_evaluator,
    Ridge: ridge_regression_evaluator,
    RidgeClassifier: ridge_evaluator,
}


def evaluator_for(model: Any) -> Factory | None:
    """The function that makes evaluators of a classifier or regressor, or None for one that is refitted for every set.

    A class of your own joins by a method ``_evaluator(X, y, Z)``, which returns an
    :class:`~tamis.incremental.evaluator.IncrementalEvaluator` or None; subclasses do not inherit it.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[0.0, 5.0], [1.0, 7.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> model = GaussianNB()
    >>> evaluator = evaluator_for(model)(model, X, y, np.array([[0.5, 6.4], [4.0, 4.9]]))
    >>> evaluator.add(np.array([], dtype=int), np.array([0, 1]))
    array([[0, 1],
           [1, 0]])
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> evaluator_for(DecisionTreeClassifier()) is None
    True
    """
    own: Factory | None = vars(type(model)).get("_evaluator")
    return _FACTORIES.get(type(model)) if own is None else own


def nominal_too(model: Any) -> bool:
    """Whether the evaluators of a model take nominal columns, as :class:`~tamis.base.nominal.CodedRows`."""
    return bool(vars(type(model)).get("_evaluates_nominal", False))
