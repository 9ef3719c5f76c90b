"""Nearest neighbours: the class most common among the k nearest training rows."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION, inner_folds, most_confident
from tamis.base.nominal import TakesNominal
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.knn.neighbours import METRICS, nearest
from tamis.classify.knn.symbols import SYMBOLS, MixedSpace
from tamis.incremental.nearest import NearestEvaluator, too_large

#: The space of the distances, the training rows in it, their classes, and for "auto" the accuracy of every k.
_Prepared = tuple[MixedSpace, Matrix, Codes, Any]


def _phrase(a: Arguments) -> str:
    k = a.pop("n_neighbors")
    if k == "auto":
        return "the vote of the nearest neighbours, as many as cross-validation finds best"
    return "the nearest neighbour" if k == 1 else f"the vote of the {k} nearest neighbours"


class KNN(SharedFit, TakesNominal, Classifier):
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
    (:class:`~tamis.classify.knn.symbols.MixedSpace`), in the internal folds from their training parts alone.

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
    #: One search for neighbours serves every k.
    shared_parameters = ("n_neighbors",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [integer(1), StrOptions({"auto"})],
        "metric": [StrOptions(set(METRICS))],
        "symbols": [StrOptions(set(SYMBOLS))],
        "alpha": [real(1, None, "left")],
        "max_neighbors": [integer(1)],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_neighbors: int | Literal["auto"] = 5,
        *,
        metric: str = "minkowski",
        symbols: str = "vdm",
        alpha: float = 2.0,
        max_neighbors: int = 50,
        cv: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.symbols = symbols
        self.alpha = alpha
        self.max_neighbors = max_neighbors
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Prepared:
        if self.metric == "canberra" and self.levels_:
            other = 'put encode in front, or take metric="minkowski" or "chebyshev"'
            raise TamisError(f'knn: metric="canberra" does not take nominal columns; {other}')
        space = self._space_of(X, y)
        accuracy = self._try_all(X, y) if any(one.n_neighbors == "auto" for one in estimators) else None
        return space, space.points(X), y, accuracy

    def _finish(self, prepared: _Prepared) -> None:
        self._space, self._rows, self._codes, accuracy = prepared
        if self.n_neighbors == "auto":
            self.cv_accuracy_ = accuracy.mean(axis=0)
            self.n_neighbors_ = most_confident(accuracy, self.caution) + 1
        else:
            self.n_neighbors_ = min(int(self.n_neighbors), self._rows.shape[0])

    def _decision(self, X: Any) -> FloatArray:
        return next(self._decide_all([self], X))

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        first = models[0]
        many = max(model.n_neighbors_ for model in models)
        named = first._codes[first._nearest(first._space.points(X), first._rows, many)]
        for model in models:
            votes = np.zeros((X.shape[0], model.classes_.shape[0]))
            for neighbours in named[:, : model.n_neighbors_].T:
                votes[np.arange(X.shape[0]), neighbours] += 1
            yield votes / model.n_neighbors_

    def _space_of(self, X: Matrix, y: Codes) -> MixedSpace:
        """The space of the distances, from training rows."""
        n_levels = {j: levels.size for j, levels in self.levels_.items()}
        alpha = np.inf if self.metric == "chebyshev" else float(self.alpha)
        return MixedSpace.of(X, y, n_levels, self.classes_.shape[0], symbols=self.symbols, alpha=alpha)

    def _nearest(self, X: Matrix, Z: Matrix, k: int) -> np.ndarray:
        return nearest(X, Z, k, metric=self.metric, alpha=float(self.alpha))

    def _evaluator(self, X: Matrix, y: Codes, Z: Matrix) -> NearestEvaluator | None:
        """Evaluates sets of numeric columns without a fit for each, where distances add up over columns."""
        if self.metric != "minkowski" or self.alpha != 2 or self.n_neighbors == "auto" or too_large(X, Z):
            return None
        return NearestEvaluator(self, X, y, Z, min(int(self.n_neighbors), X.shape[0]), first=True, products=False)

    def _try_all(self, X: Matrix, y: Codes) -> FloatArray:
        """Accuracy of every k from 1 on in each fold; one search for neighbours serves all of them."""
        parts = inner_folds(y, self.cv, self.random_state, 'KNN: n_neighbors="auto"')
        most = min(self.max_neighbors, min(train.size for train, _ in parts))
        accuracy = np.zeros((len(parts), most))
        for fold, (train, test) in enumerate(parts):
            votes = np.zeros((test.size, self.classes_.shape[0]))
            space = self._space_of(X[train], y[train])
            neighbours = y[train][self._nearest(space.points(X[test]), space.points(X[train]), most)]
            for k in range(most):
                votes[np.arange(test.size), neighbours[:, k]] += 1
                accuracy[fold, k] = np.mean(votes.argmax(axis=1) == y[test])
        return accuracy
