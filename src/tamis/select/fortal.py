"""FortalFS: random sets of columns, guided by how often another selector chose each column."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import HasMethods, _safe_indexing, integer
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import check_selector, selected_columns
from tamis.base.meta_estimators import with_task
from tamis.base.nominal import as_table
from tamis.base.part import Arguments, Limits, Part
from tamis.base.seeds import generator, open_states, seeded, spawn
from tamis.base.selector import Selection
from tamis.base.task import WantedTask, is_numeric
from tamis.base.types import FloatArray
from tamis.select.lvf import LVF
from tamis.select.random_wrapper import best_of_draws
from tamis.select.ranking import Ranking
from tamis.subsets.evaluations import Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch

#: Sets that are drawn for each column by default.
_DRAWS = 10

#: Share of the columns in a set of the guide of numbers.
_HALF = 0.5


def _phrase(a: Arguments) -> str:
    estimator, selector = a.pop("estimator"), a.pop("selector")
    guide = "the Las Vegas filter" if selector is None else f"[{selector}]"
    return f"selects the best of many sets of features for {estimator}, drawn by how often {guide} selects each feature"


class Fortal(SubsetSearch):
    """FortalFS: draw sets of columns by how often another selector chose each, and select the best for a model.

    The `k` best sets of a selector are counted into the vector a (called Adam), with a_i the number of sets that have
    column i. A set to evaluate has column i if a_i > u, with u uniform on [0, k): columns that the selector likes are
    drawn often, and a column in all its sets always. The set with the highest score is selected, of equal ones the one
    with the fewest columns.

    Parameters
    ----------
    estimator : classifier or regressor, optional
        What the sets are evaluated with, by cross-validation. By default Gaussian naive Bayes, of numbers ridge
        regression.
    selector : selector, optional
        By default ``LVF(k)``, of numbers the better half of the columns by ``cc``. A selector that remembers several
        sets (``subsets_``) is fitted once; any other `k` times, with different seeds, or on bootstrap samples of the
        rows if it has no seed to set.
    k : int, default=10
        Sets of the selector that are counted.
    n_iter : int, optional
        Sets to draw; by default ten times as many as there are columns.
    weights : bool, default=False
        Use the scores of the selector, from 0 for the lowest to k for the highest, in place of counts: for rankings
        such as ``relief``.
    measure, bins, scoring, caution, cv, max_evaluations, n_jobs, task
        As for :class:`BestFirst`; the measure is "classifier" by default.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the selector, the sets, and the folds of the measure "classifier".

    Attributes
    ----------
    adam_ : float array of shape (n_features,)
        How many of the `k` sets have each column.
    chosen_, score_, n_evaluations_, trace_, complete_
        As for :class:`BestFirst`. `scores_` is `adam_`.

    See Also
    --------
    RandomWrapper : Draws sets without a guide.

    References
    ----------
    Souza, Japkowicz and Matwin (2005), "Feature selection with a general hybrid algorithm".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import KNN
    >>> from tamis.select import Fortal
    >>> X = np.random.default_rng(0).integers(0, 2, size=(100, 8))
    >>> found = Fortal(KNN(1), random_state=0).fit(X, X[:, 2] ^ X[:, 5])
    >>> found.chosen_, found.adam_
    (array([2, 5]), array([ 1.,  1., 10.,  3.,  2., 10.,  3.,  4.]))
    """

    part: ClassVar[Part] = Part(
        "fortal",
        positional=("estimator",),
        paper="Souza, Japkowicz and Matwin 2005",
        phrase=_phrase,
        numbers_only=SubsetSearch.numbers_only,
        only=SubsetSearch.only,
        limits=Limits(columns=200),
        slow=True,
    )
    draws_columns = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubsetSearch._parameter_constraints,
        "selector": [HasMethods(["fit", "get_support"]), HasMethods(["fit", "transform"]), None],
        "k": [integer(1)],
        "n_iter": [integer(1), None],
        "weights": ["boolean"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        selector: Any = None,
        k: int = 10,
        n_iter: int | None = None,
        weights: bool = False,
        measure: str = "classifier",
        bins: str | None = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        super().__init__(
            measure,
            estimator=estimator,
            bins=bins,
            scoring=scoring,
            caution=caution,
            cv=cv,
            max_evaluations=max_evaluations,
            n_jobs=n_jobs,
            random_state=random_state,
            task=task,
        )
        self.selector = selector
        self.k = k
        self.n_iter = n_iter
        self.weights = weights

    def _select(self, X: Any, y: Any) -> Selection:
        rng = generator(self.random_state)
        self.adam_ = self._adam(X, y, int(rng.integers(2**31)))
        with Evaluations(self._measured(X, y, int(rng.integers(2**31))), self.max_evaluations) as scores:
            return Selection(self._searched(scores, rng).support, self.adam_)

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        draws = _DRAWS * scores.n_features if self.n_iter is None else self.n_iter
        yield from best_of_draws(scores, self.adam_ / self.k, draws, rng)

    def _adam(self, X: Any, y: Any, seed: int) -> FloatArray:
        """How many of the best sets of the selector have each column."""
        selector = self.selector
        if selector is None:
            selector = Ranking("cc", fraction=_HALF) if is_numeric(y) else LVF(self.k)
        check_selector(selector, "fortal: selector")
        selector = with_task(selector, y)
        rows, labels = as_table(X, self.nominal_, self.levels_), self._labels(y)
        first = seeded(clone(selector), spawn(seed, 0)).fit(rows, labels)
        width = X.shape[1]
        if self.weights:
            return self._weighed(first, width)
        if hasattr(first, "subsets_"):
            sets = [np.asarray(columns) for columns in first.subsets_[: self.k]]
            return self.k / len(sets) * np.bincount(np.concatenate(sets), minlength=width).astype(np.float64)
        counts = np.zeros(width)
        counts += selected_columns(first, width, "fortal: selector").support
        seedless = not any(open_states(step) for step in getattr(selector, "steps", [("", selector)]))
        for number in range(1, self.k):
            one = seeded(clone(selector), spawn(seed, number))
            some = generator(seed, number).integers(y.size, size=y.size) if seedless else np.arange(y.size)
            one.fit(_safe_indexing(rows, some), labels[some])
            counts += selected_columns(one, width, "fortal: selector").support
        return counts

    def _weighed(self, selector: Any, width: int) -> FloatArray:
        """The scores of a selector between 0 and k."""
        scores = np.asarray(getattr(selector, "scores_", []), dtype=np.float64)
        if scores.shape != (width,):
            raise TamisError("fortal: weights=true takes a selector that scores every column, such as relief")
        low, high = scores.min(), scores[np.isfinite(scores)].max(initial=-np.inf)
        scale = high - low
        return self.k * np.clip((scores - low) / scale, 0.0, 1.0) if scale > 0 else np.full(width, self.k / 2)
