"""Which classifiers have a judge: a search over sets of columns need not fit these again for every set."""

from collections.abc import Callable
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from tamis.base.types import Codes, Matrix
from tamis.incremental.centroid import centroid_judge
from tamis.incremental.evaluator import Judge
from tamis.incremental.gaussian_nb import naive_bayes_judge
from tamis.incremental.knn import knn_judge
from tamis.incremental.linear import lda_judge, ridge_judge

#: Makes a judge for a classifier, training rows, their class codes and test rows; None for parameters not covered.
Factory = Callable[[Any, Matrix, Codes, Matrix], Judge | None]

#: scikit-learn's own. A subclass may do anything, so that only the very class counts.
_FACTORIES: dict[type, Factory] = {
    GaussianNB: naive_bayes_judge,
    KNeighborsClassifier: knn_judge,
    LinearDiscriminantAnalysis: lda_judge,
    NearestCentroid: centroid_judge,
    RidgeClassifier: ridge_judge,
}


def judge_for(model: Any) -> Factory | None:
    """What makes judges for a classifier, or None for one that has to be fitted for every set of columns.

    A classifier of one's own joins by a method ``_judge(X, y, Z)``, which returns a
    :class:`~tamis.incremental.evaluator.Judge` or None; its subclasses must have their own.

    Examples
    --------
    >>> judge_for(GaussianNB()) is naive_bayes_judge
    True
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> judge_for(DecisionTreeClassifier()) is None
    True
    """
    own: Factory | None = vars(type(model)).get("_judge")
    return _FACTORIES.get(type(model)) if own is None else own
