"""Importance: how far the answers of any classifier move when a column takes the values that it has elsewhere."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from tamis.base._sklearn import HasMethods, Interval, StrOptions
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of
from tamis.base.meta_estimators import check_classifier, in_words, takes_missing, takes_no_negative
from tamis.base.parallel import run_all
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.incremental.elimination import Path, eliminate, size_to_keep
from tamis.select.importance.changed_predictions import METHODS, Answers, mean_changes

#: Blocks of columns that are shared out among workers; the same for any number of them, so that results are too.
_BLOCKS = 16


class Importance(SharedFit, Selector):
    """Keep the columns whose values the answers of a classifier hang on most; the others leave, with a refit each time.

    Lemaire and Clerot's importance of a variable. A classifier f is fitted and then taken as it is. The importance of
    column j is how far its answer moves when the column alone takes the values V_kj that it has in the training rows:

        S(j) = mean over rows i and values k of |f(x_i) - f(x_i with column j := V_kj)|

    A round fits the classifier on the columns that remain and drops those of the smallest S(j); of equals the later
    go first. A linear f has S(j) = |w_j| times the mean difference of two values of the column.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier, or a pipeline that ends in one. By default logistic regression on standardised columns, which
        is quick but sees no interactions.
    k : int, optional
        Keep `k` columns; all of them when there are fewer.
    fraction : float, optional
        Keep this share of the columns, rounded up. With neither given, half of them.
    values : int or None, default=30
        How many training rows the values V_kj are taken from, drawn once for all columns; None takes all, which is
        exact and costs the square of the number of rows.
    rows : int, optional
        How many training rows x_i are asked about, drawn likewise; None asks about all.
    step : int or float, default=0.2
        How many columns a round drops: a whole number, or a share of those that remain, rounded down but at least
        one. The paper drops one at a time, ``step=1``.
    eliminate : bool, default=True
        False ranks the columns by a single fit on all of them.
    of : {"auto", "probability", "decision", "class"}, default="auto"
        What f is: probabilities of the classes, the decision function, or 1 for the class that is predicted and 0 for
        the others. For several classes the mean over them counts. "auto" takes the first of the three that the
        classifier gives.
    n_jobs : int, optional
        Processes among which the columns are shared out; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Draws rows and values, and seeds a model that has no seed of its own, another seed for each round.

    Attributes
    ----------
    importances_ : float array of shape (n_features,)
        S(j) of each column in the last model of which it was a part.
    order_ : int array of shape (n_features,)
        Column numbers from best to worst: first those of the last model by their importance there, then those
        that left, the last to leave first.
    scores_ : float array of shape (n_features,)
        How many columns are ranked below; with ``eliminate=False`` the importances.
    sizes_ : int array of shape (n_rounds,)
        On how many columns models were fitted.

    Notes
    -----
    A round asks for up to rows x values x columns answers, in batches of several thousand changed rows. Only what
    changes is asked: a value that many rows share is asked once with its count, and not of rows that have it, so that
    columns of few values and sparse columns cost little, and a constant column, of importance 0, nothing.

    Where rounds end depends on `step` and the number of columns alone, not on `k`: one elimination serves every `k`.

    S(j) needs no classes and rewards no right answers: it says what the classifier uses, not what it does well with.
    Probabilities near 0 and 1, as of a classifier that is sure of every row, hardly move; ``of="decision"``
    then tells more. A column that copies another shares its importance with it. Missing values and sparse rows
    are taken as far as `estimator` takes them; a missing value is a value like any other to put in. Text
    columns need ``encode`` in front.

    References
    ----------
    Lemaire and Clerot (2006), "An input variable importance definition based on empirical data probability
    distribution", in Guyon et al., "Feature Extraction".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import SVM
    >>> from tamis.select import Importance
    >>> X = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [0.0, 4.0, 3.0], [1.0, 5.0, 3.0]])
    >>> found = Importance(SVM(), 1, values=None, eliminate=False).fit(X, [0, 0, 1, 1])
    >>> found.get_support(indices=True), found.order_
    (array([1]), array([1, 0, 2]))
    """

    part: ClassVar[Part] = Part(
        "importance",
        positional=("estimator", "k"),
        search={"k": geom(1, 10_000)},
        paper="Lemaire and Clerot 2006",
        templates=("importance(extra_trees(50), k={k}, values=10, rows=100, step=0.5)",),
        limits=Limits(columns=200, values=3_000_000),
        slow=True,
    )
    #: One elimination down to the smallest size serves all.
    shared_parameters = ("k", "fraction")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "fraction": [Interval(Real, 0, 1, closed="right"), None],
        "values": [Interval(Integral, 1, None, closed="left"), None],
        "rows": [Interval(Integral, 1, None, closed="left"), None],
        "step": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "eliminate": ["boolean"],
        "of": [StrOptions({"auto", *METHODS})],
        "n_jobs": [Interval(Integral, None, None, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        k: int | None = None,
        *,
        fraction: float | None = None,
        values: int | None = 30,
        rows: int | None = None,
        step: float = 0.2,
        eliminate: bool = True,
        of: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.fraction = fraction
        self.values = values
        self.rows = rows
        self.step = step
        self.eliminate = eliminate
        self.of = of
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _prepare(self, asked: Sequence[Self], X: Any, y: Any) -> Path:
        model = self._model()
        check_classifier(model, "importance: estimator")
        sizes = {one._size(X.shape[1]) for one in asked}
        X = canonical(X.tocsr()) if sp.issparse(X) else X
        labels = self.classes_[y]
        rng = generator(self.random_state)
        seed = int(rng.integers(2**31))
        here, there = (_drawn(size, X.shape[0], rng) for size in (self.rows, self.values))

        def weigh(columns: np.ndarray) -> FloatArray:
            some = X if columns.shape[0] == X.shape[1] else X[:, columns]
            fitted = seeded(clone(model), spawn(seed, columns.shape[0])).fit(some, labels)
            blocks = np.array_split(np.arange(columns.shape[0]), min(_BLOCKS, columns.shape[0]))
            answers = Answers(fitted, self._asked_of(fitted))
            asking, giving = _rows(some, here), _rows(some, there)
            tasks = [(answers, asking, giving, block) for block in blocks]
            return np.concatenate(run_all(mean_changes, tasks, self.n_jobs))

        return eliminate(weigh, X.shape[1], self.step if self.eliminate else X.shape[1], sizes)

    def _finish(self, prepared: Path) -> Selection:
        n_features = self.n_features_in_
        rounds, (order, weights) = prepared.down_to(self._size(n_features))
        self.sizes_ = np.array([one.size for one in rounds])
        self.importances_ = np.empty(n_features)
        self.importances_[order] = weights
        found = Selection.first(order, self._size(n_features))
        return found if self.eliminate else replace(found, scores=self.importances_.copy())

    def _size(self, n_features: int) -> int:
        return size_to_keep(self.k, self.fraction, n_features)

    def _asked_of(self, fitted: Any) -> str:
        """What the classifier is asked for."""
        if self.of == "auto":
            return next(of for of, method in METHODS.items() if hasattr(fitted, method))
        if not hasattr(fitted, METHODS[self.of]):
            who = in_words(steps_of(self._model())[-1])
            raise TamisError(f"importance: {who} has no {METHODS[self.of]}, which of={self.of!r} needs")
        return self.of

    def _model(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1_000))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        model = self._model()
        tags.input_tags.sparse = get_tags(model).input_tags.sparse
        # The first step of the default passes them on to a classifier that refuses them.
        tags.input_tags.allow_nan = self.estimator is not None and takes_missing(model)
        tags.input_tags.positive_only = takes_no_negative(model)
        return tags


def _drawn(size: int | None, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of so many rows, drawn without repeats, in ascending order; of all without a size."""
    return np.sort(rng.permutation(n_rows)[:size])


def _rows(X: Matrix, rows: np.ndarray) -> Matrix:
    """These rows; of all the matrix itself."""
    return X if rows.shape[0] == X.shape[0] else X[rows]
