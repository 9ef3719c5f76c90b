"""Nearest neighbours: the class most common among the k nearest training rows."""

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base.choice import CAUTION, inner_folds, most_confident
from tamis.base.classifier import Classifier
from tamis.base.part import Part
from tamis.base.space import choice, geom
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.neighbours import METRICS, nearest


class KNN(Classifier):
    """Vote of the k nearest training rows; a class's probability is its share of the votes.

    The distances, of rows x and x':

    ========= =================================================================
    minkowski (sum_i |x_i - x'_i|^alpha)^(1/alpha); Euclidean for alpha = 2
    canberra  sum_i |x_i - x'_i| / (|x_i| + |x'_i|), with 0/0 = 0
    chebychev max_i |x_i - x'_i|
    ========= =================================================================

    Parameters
    ----------
    k : int or "auto", default=5
        Number of neighbours; all rows when there are fewer. "auto" takes the k with the highest mean
        accuracy, less `caution` deviations, over the folds of an internal stratified cross-validation on the
        training rows; of equals the smallest.
    metric : {"minkowski", "canberra", "chebychev"}, default="minkowski"
    alpha : float, default=2.0
        Minkowski's exponent, 1 or more.
    k_max : int, default=50
        The largest k that "auto" tries; it also stays within the smallest training part of the folds.
    folds : int, default=10
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    caution : float, default=0.0
        How many deviations over the folds count against a k (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Deals the rows into the internal folds.

    Attributes
    ----------
    classes_ : array
    k_ : int
        The number of neighbours that vote.
    cv_accuracy_ : array
        With ``k="auto"``: accuracy of k = 1, 2, ..., averaged over the internal folds.

    Notes
    -----
    Of training rows at the same distance the earlier ones are the nearer neighbours; among classes with the same
    number of votes the first in ``classes_`` wins. Grabczewski and Jankowski print |x_i + x'_i| below the fraction of
    Canberra's distance (eq. 20): the same for data of zero and above, and undefined for x_i = -x'_i otherwise.
    Sparse rows stay sparse with every metric.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import KNN
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> model = KNN(3).fit(X, ["low", "low", "low", "high", "high"])
    >>> model.predict([[1.5], [7.5]])
    array(['low', 'high'], dtype='<U4')
    >>> model.predict_proba([[7.5]]).round(2)
    array([[0.67, 0.33]])
    """

    part: ClassVar[Part] = Part(
        "knn",
        positional=("k",),
        search={"k": geom(1, 50), "metric": choice(*METRICS)},
        paper="Cover and Hart 1967; Grabczewski and Jankowski 2006, section 2.1",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "metric": [StrOptions(set(METRICS))],
        "alpha": [Interval(Real, 1, None, closed="left")],
        "k_max": [Interval(Integral, 1, None, closed="left")],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        k: int | Literal["auto"] = 5,
        *,
        metric: str = "minkowski",
        alpha: float = 2.0,
        k_max: int = 50,
        folds: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.metric = metric
        self.alpha = alpha
        self.k_max = k_max
        self.folds = folds
        self.caution = caution
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, *weight: Any) -> None:
        if self.k == "auto":
            accuracy = self._try_all(X, y)
            self.cv_accuracy_ = accuracy.mean(axis=0)
            self.k_ = most_confident(accuracy, self.caution) + 1
        else:
            self.k_ = min(int(self.k), X.shape[0])
        self._rows = X
        self._codes = y

    def _decision(self, X: Any) -> FloatArray:
        votes = np.zeros((X.shape[0], self.classes_.shape[0]))
        for neighbours in self._codes[self._nearest(X, self._rows, self.k_)].T:
            votes[np.arange(X.shape[0]), neighbours] += 1
        return votes / self.k_

    def _nearest(self, X: Matrix, Z: Matrix, k: int) -> np.ndarray:
        return nearest(X, Z, k, metric=self.metric, alpha=float(self.alpha))

    def _try_all(self, X: Matrix, y: Codes) -> FloatArray:
        """Accuracy of every k from 1 on in each fold; one search for neighbours serves all of them."""
        parts = inner_folds(y, self.folds, self.random_state, 'KNN: k="auto"')
        k_max = min(self.k_max, min(train.size for train, _ in parts))
        accuracy = np.zeros((len(parts), k_max))
        for fold, (train, test) in enumerate(parts):
            votes = np.zeros((test.size, self.classes_.shape[0]))
            neighbours = y[train][self._nearest(X[test], X[train], k_max)]
            for k in range(k_max):
                votes[np.arange(test.size), neighbours[:, k]] += 1
                accuracy[fold, k] = np.mean(votes.argmax(axis=1) == y[test])
        return accuracy
