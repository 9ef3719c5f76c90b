"""Nearest neighbours: the mean target of the k nearest training rows."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base.part import Arguments, Part
from tamis.base.regressor import Regressor
from tamis.base.search_range import choice, geom
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import centre_and_scale
from tamis.incremental.nearest import NearestEvaluator, too_large
from tamis.neighbours.nearest import METRICS
from tamis.neighbours.nearest_rows import NearestRows


def _phrase(a: Arguments) -> str:
    k = a.pop("n_neighbors")
    if k == "auto":
        return "the mean of the nearest neighbours, as many as cross-validation finds best"
    return "the value of the nearest neighbour" if k == 1 else f"the mean of the {k} nearest neighbours"


class KNNRegressor(NearestRows, Regressor):
    """Mean target of the k nearest training rows.

    The distances are those of :class:`~tamis.classify.knn.KNN`. With "vdm" the difference of two symbols v and v' of a
    nominal column is |m(v) - m(v')|, where m(v) is the mean target of the training rows that have v, in units of the
    range of these means.

    Parameters
    ----------
    n_neighbors : int or "auto", default=5
        Number of neighbours; at most all rows. "auto" takes the k with the smallest mean squared error, plus `caution`
        deviations, over the folds of an internal cross-validation; of equals the smallest.
    metric : {"minkowski", "canberra", "chebyshev"}, default="minkowski"
        Canberra's distance does not take nominal columns.
    symbols : {"vdm", "overlap"}, default="vdm"
        Distance between the symbols of a nominal column.
    alpha : float, default=2.0
        Minkowski's exponent, 1 or more.
    max_neighbors : int, default=50
        The largest k that "auto" tries; at most the rows of the smallest training part of the folds.
    cv : int, default=10
        Folds of the internal cross-validation, stratified by the size of the target.
    caution : float, default=0.0
        How many standard deviations over the folds count against a k (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns are nominal.
    levels_ : dict of int to array of str
        The symbols of each nominal column, by its number, in sorted order.
    n_neighbors_ : int
        The number of neighbours whose mean is taken.
    cv_r2_ : array
        With ``n_neighbors="auto"``: 1 less the squared error of k = 1, 2, ... in units of the target's variance,
        averaged over the internal folds.

    Notes
    -----
    Of training rows at the same distance the earlier ones are nearer. Sparse rows stay sparse with every metric.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import KNNRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> KNNRegressor(2).fit(X, [1.0, 2.0, 3.0, 10.0, 20.0]).predict([[0.4], [9.0]])
    array([ 1.5, 15. ])
    """

    part: ClassVar[Part] = Part(
        "knn",
        positional=("n_neighbors",),
        search={"n_neighbors": geom(1, 50), "metric": choice(*METRICS)},
        paper="Cover 1968; Grabczewski and Jankowski 2006, section 2.1",
        phrase=_phrase,
        boundary="local",
    )

    def _predict(self, X: Any) -> FloatArray:
        return next(self._predict_all([self], X))

    @classmethod
    def _predict_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        nearby = cls._targets_nearby(models, X)
        return (nearby[:, : model.n_neighbors_].mean(axis=1) for model in models)

    def _evaluator(self, X: Matrix, y: FloatArray, Z: Matrix) -> NearestEvaluator | None:
        """Evaluates sets of numeric columns without a fit for each, where distances add up over columns."""
        if self.metric != "minkowski" or self.alpha != 2 or self.n_neighbors == "auto" or too_large(X, Z):
            return None
        return NearestEvaluator(self, X, y, Z, min(int(self.n_neighbors), X.shape[0]), first=True, products=False)

    def _keep_scores(self, mean: FloatArray) -> None:
        self.cv_r2_ = mean

    def _scores(self, neighbours: FloatArray, truth: FloatArray) -> FloatArray:
        means = np.cumsum(neighbours, axis=1) / np.arange(1, neighbours.shape[1] + 1)
        return 1.0 - ((means - truth[:, None]) ** 2).mean(axis=0)

    def _try_all(self, X: Matrix, y: FloatArray) -> FloatArray:
        mean, deviation = centre_and_scale(y)
        return super()._try_all(X, (y - mean) / deviation)
