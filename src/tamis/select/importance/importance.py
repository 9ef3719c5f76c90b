"""Importance: how much the predictions of a model change when one column takes the values it has in other rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from tamis.base._sklearn import HasMethods, StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of
from tamis.base.meta_estimators import TaskByModel, in_words, restricted
from tamis.base.parallel import run_all
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask, is_numeric
from tamis.base.types import FloatArray, Target
from tamis.base.validation import canonical
from tamis.incremental.elimination import Path, eliminate, size_to_keep
from tamis.select.importance.changed_predictions import METHODS, Predict, mean_changes

#: Blocks of columns divided among workers; the same for any number of workers, and so are the results.
_BLOCKS = 16

#: Tolerance of the solver of ridge regression.
_TOL = 1e-10


class Importance(TaskByModel, SharedFit, Selector):
    """Select the columns whose values change the predictions of a model most, removing the others step by step.

    Lemaire and Clerot's importance of a variable. The importance of column j to a fitted classifier or regressor f is
    the mean change of its prediction when the column alone takes the values V_kj that it has in the training rows::

        S(j) = mean over rows i and values k of |f(x_i) - f(x_i with column j := V_kj)|

    A round fits the model on the remaining columns and drops those of the smallest S(j); of equals the later ones.
    A linear f has ``S(j) = |w_j|`` times the mean difference of two values of the column.

    Parameters
    ----------
    estimator : estimator, optional
        Any classifier or regressor, or a pipeline that ends in one. By default logistic or ridge regression on
        standardised columns, which is fast but finds no interactions.
    k : int, optional
        Select `k` columns; all of them when there are fewer.
    fraction : float, optional
        Select this share of the columns, rounded up. With neither given, half of them.
    values : int or None, default=30
        Number of training rows that give the values V_kj, drawn once for all columns; None takes all, which is exact
        and costs the square of the number of rows.
    rows : int, optional
        Number of training rows x_i, drawn likewise; None takes all.
    step : int or float, default=0.2
        Columns dropped in a round: a number, or a share of the remaining ones, rounded down but at least one. The paper
        drops one at a time, ``step=1``.
    eliminate : bool, default=True
        False ranks the columns by a single fit on all of them.
    of : {"auto", "probability", "decision", "class"}, default="auto"
        What f is for a classifier: class probabilities, the decision function, or 1 for the predicted class and 0 for
        the others. With several classes their mean is taken. "auto" takes the first of the three that the classifier
        has. For a regressor f is its prediction.
    n_jobs : int, optional
        Processes among which the columns are divided; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Draws rows and values, and seeds a model without a seed of its own, differently in each round.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default what `estimator` is for, and without one numbers with
        fractions are numbers.

    Attributes
    ----------
    importances_ : float array of shape (n_features,)
        S(j) of each column in the last model that includes it.
    order_ : int array of shape (n_features,)
        Column numbers from best to worst: first those of the last model by importance, then the dropped ones, the last
        dropped first.
    scores_ : float array of shape (n_features,)
        Number of columns ranked below; with ``eliminate=False`` the importances.
    sizes_ : int array of shape (n_rounds,)
        Number of columns of each model.

    See Also
    --------
    RFE : Elimination by the weights of a linear SVM.
    FromModel : Weights of a single fit.

    Notes
    -----
    A round needs up to rows x values x columns predictions, in batches of several thousand changed rows. A value that
    many rows share is predicted once with its count, and not for rows that have it: columns of few values and sparse
    columns cost little, and a constant column, of importance 0, nothing.

    The sizes of the rounds depend on `step` and the number of columns only: one elimination serves every `k`.

    S(j) does not depend on the true target: it measures what the model uses, not whether that helps.
    Probabilities near 0 and 1 hardly change; ``of="decision"`` is then more informative. A copy of a column shares its
    importance. Missing values and sparse rows are accepted as far as `estimator` accepts them; a missing value is a
    value like any other. Text columns need ``encode`` in front.

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
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "values": [integer(1), None],
        "rows": [integer(1), None],
        "step": [integer(1), real(0, 1)],
        "eliminate": ["boolean"],
        "of": [StrOptions({"auto", *METHODS})],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
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
        task: WantedTask = "auto",
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
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> Path:
        model = self._model(y)
        self._check_model(model, y)
        if is_numeric(y) and self.of != "auto":
            raise TamisError(f"importance: of={self.of!r} is for classes, and the target holds numbers")
        sizes = {one._size(X.shape[1]) for one in estimators}
        X = canonical(X.tocsr()) if sp.issparse(X) else X
        labels = self._labels(y)
        rng = generator(self.random_state)
        seed = int(rng.integers(2**31))
        here, there = (np.sort(rng.permutation(X.shape[0])[:size]) for size in (self.rows, self.values))

        def importances(columns: np.ndarray) -> FloatArray:
            some = X if columns.shape[0] == X.shape[1] else X[:, columns]
            fitted = seeded(clone(model), spawn(seed, columns.shape[0])).fit(some, labels)
            blocks = np.array_split(np.arange(columns.shape[0]), min(_BLOCKS, columns.shape[0]))
            predict = Predict(fitted, "number" if is_numeric(y) else self._prediction_of(fitted))
            x, values = (some if rows.size == X.shape[0] else some[rows] for rows in (here, there))
            tasks = [(predict, x, values, block) for block in blocks]
            return np.concatenate(run_all(mean_changes, tasks, self.n_jobs))

        return eliminate(importances, X.shape[1], self.step if self.eliminate else X.shape[1], sizes)

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

    def _prediction_of(self, fitted: Any) -> str:
        """The kind of prediction."""
        if self.of == "auto":
            return next(of for of, method in METHODS.items() if hasattr(fitted, method))
        if not hasattr(fitted, METHODS[self.of]):
            who = in_words(steps_of(self._model())[-1])
            raise TamisError(f"importance: {who} has no {METHODS[self.of]}, which of={self.of!r} needs")
        return self.of

    def _model(self, y: Target = None) -> Any:
        if self.estimator is not None:
            return self.estimator
        # Of sparse rows the solver of ridge regression stops at a tolerance.
        last = Ridge(tol=_TOL) if is_numeric(y) else LogisticRegression(max_iter=1_000)
        return make_pipeline(StandardScaler(with_mean=False), last)

    def __sklearn_tags__(self) -> Any:
        tags = restricted(super().__sklearn_tags__(), [self._model()])
        tags.input_tags.sparse = get_tags(self._model()).input_tags.sparse
        # The first step of the default takes missing values, its model does not.
        tags.input_tags.allow_nan &= self.estimator is not None
        return tags
