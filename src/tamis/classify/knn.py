"""Nearest neighbours: the class most common among the k nearest training rows."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base.classifier import Classifier
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.incremental.nearest import NearestEvaluator, too_large
from tamis.neighbours.nearest import METRICS
from tamis.neighbours.nearest_rows import NearestRows


def _phrase(a: Arguments) -> str:
    k = a.pop("n_neighbors")
    if k == "auto":
        return "the vote of the nearest neighbours, as many as cross-validation finds best"
    return "the nearest neighbour" if k == 1 else f"the vote of the {k} nearest neighbours"


class KNN(NearestRows, Classifier):
    """Vote of the k nearest training rows; a class's probability is its share of the votes.

    The distances, of rows x and x':

    ========= =====================================================================
    minkowski ``(sum_i |x_i - x'_i|^alpha)^(1/alpha)``; Euclidean for alpha = 2
    canberra  ``sum_i |x_i - x'_i| / (|x_i| + |x'_i|)``, with 0/0 = 0
    chebyshev ``max_i |x_i - x'_i|``
    ========= =====================================================================

    Nominal columns may come as they are, in data frames and arrays of objects. With `alpha` of the metric (infinite
    for Chebyshev's), the difference of two symbols v and v' in such a column is

    ======= =========================================================================
    vdm     ``(1/2 sum_c |P(c | v) - P(c | v')|^alpha)^(1/alpha)``, with P(c | v) the share of class c
            among the training rows that have v; a symbol they do not have counts with the overall shares
    overlap 1 for different symbols and 0 for equal ones
    ======= =========================================================================

    which lies between 0 and 1; for Chebyshev's metric vdm is ``max_c |P(c | v) - P(c | v')|``. Beside nominal
    columns the numeric ones are divided by their range in the training rows, so that they count as much. Data without
    nominal columns is not scaled.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        Number of neighbours; at most all rows. "auto" takes the k with the highest mean accuracy, less `caution`
        deviations, over the folds of an internal stratified cross-validation; of equals the smallest.
    metric : {"minkowski", "canberra", "chebyshev"}, default="minkowski"
        Canberra's distance does not take nominal columns.
    symbols : {"vdm", "overlap"}, default="vdm"
        Distance between the symbols of a nominal column.
    alpha : float, default=2.0
        Minkowski's exponent, 1 or more.
    max_neighbors : int, default=50
        The largest k that "auto" tries; at most the rows of the smallest training part of the folds.
    cv : int, default=10
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    caution : float, default=0.0
        How many standard deviations over the folds count against a k (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.

    Attributes
    ----------
    classes_ : array
    nominal_ : bool array of shape (n_features,)
        Which columns are nominal.
    levels_ : dict of int to array of str
        The symbols of each nominal column, by its number, in sorted order.
    n_neighbors_ : int
        The number of neighbours that vote.
    cv_accuracy_ : array
        With ``n_neighbors="auto"``: accuracy of k = 1, 2, ..., averaged over the internal folds.

    Notes
    -----
    Of training rows at the same distance the earlier ones are nearer; of classes with equal votes the first in
    ``classes_`` wins. Grabczewski and Jankowski print ``|x_i + x'_i|`` in the denominator of Canberra's distance (eq.
    20): the same for non-negative data, and undefined for x_i = -x'_i otherwise. Sparse rows stay sparse with every
    metric.

    Symbols are replaced by vectors whose Minkowski distance is the one above
    (:class:`~tamis.neighbours.mixed_space.MixedSpace`), in the internal folds from their training parts alone.

    References
    ----------
    Stanfill and Waltz (1986), "Toward memory-based reasoning"; Wilson and Martinez (1997), "Improved heterogeneous
    distance functions"; Grabczewski and Jankowski (2003), "Transformations of symbolic data for continuous data
    oriented models".

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
    >>> X = np.array([["red", 1.0], ["red", 3.0], ["blue", 2.0], ["blue", 3.0]], dtype=object)
    >>> KNN(1).fit(X, [0, 0, 1, 1]).predict(np.array([["blue", 1.0]], dtype=object))
    array([1])
    """

    part: ClassVar[Part] = Part(
        "knn",
        positional=("n_neighbors",),
        search={"n_neighbors": geom(1, 50), "metric": choice(*METRICS)},
        paper="Cover and Hart 1967; Grabczewski and Jankowski 2006, section 2.1",
        phrase=_phrase,
        boundary="local",
    )
    gives_probabilities = True

    def _decision(self, X: Any) -> FloatArray:
        return next(self._decide_all([self], X))

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        named = cls._targets_nearby(models, X)
        for model in models:
            votes = np.zeros((X.shape[0], model.classes_.shape[0]))
            for neighbours in named[:, : model.n_neighbors_].T:
                votes[np.arange(X.shape[0]), neighbours] += 1
            yield votes / model.n_neighbors_

    def _evaluator(self, X: Matrix, y: Codes, Z: Matrix) -> NearestEvaluator | None:
        """Evaluates sets of numeric columns without a fit for each, where distances add up over columns."""
        if self.metric != "minkowski" or self.alpha != 2 or self.n_neighbors == "auto" or too_large(X, Z):
            return None
        return NearestEvaluator(self, X, y, Z, min(int(self.n_neighbors), X.shape[0]), first=True, products=False)

    def _keep_scores(self, mean: FloatArray) -> None:
        self.cv_accuracy_ = mean

    def _scores(self, neighbours: Codes, truth: Codes) -> FloatArray:
        """Accuracy of every k."""
        rows, votes = np.arange(truth.size), np.zeros((truth.size, self.classes_.shape[0]))
        accuracy = np.zeros(neighbours.shape[1])
        for place, named in enumerate(neighbours.T):
            votes[rows, named] += 1
            accuracy[place] = np.mean(votes.argmax(axis=1) == truth)
        return accuracy
