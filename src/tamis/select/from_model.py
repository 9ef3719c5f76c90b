"""From model: fit a classifier or regressor that weights the columns, and select those of the largest weights."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from tamis.base._sklearn import HasMethods, StrOptions, integer, real
from tamis.base.cut import Cut, cut_phrase, rank
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of, trace_columns
from tamis.base.meta_estimators import TaskByModel, in_words, restricted
from tamis.base.part import Arguments, Part
from tamis.base.search_range import geom
from tamis.base.seeds import generator, seeded
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask, is_numeric
from tamis.base.types import FloatArray, Matrix, Target
from tamis.base.validation import canonical
from tamis.scores.variance import variance

#: A weight below the mean by no more than this share of it equals it but for rounding.
_ROUNDING = 1e-9


def _phrase(a: Arguments) -> str:
    model = a.pop("estimator") or "extremely randomized trees"
    cut = cut_phrase(a, "those of the mean weight or more")
    return f"ranks the features by the weights that they have in {model} and keeps {cut}"


class FromModel(TaskByModel, SharedFit, Selector):
    """Select the columns to which a fitted model gives the largest weights.

    The weight of a column is its ``feature_importances_`` in the model, or else the Euclidean norm of its column
    of ``coef_``, whose rows stand for classes or pairs of classes. A column of weight 0 is never selected. Without a
    cut the columns of at least the mean weight are selected; ``threshold=0`` selects every column used, which suits a
    model with an L1 penalty.

    The weights of a linear model depend on the scale of the columns: standardise columns of different units first,
    ``from_model(standardize | svm(linear), 50)``.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier or regressor with such weights, or a pipeline that ends in one and does not mix columns. By default
        200 extremely randomised trees, scikit-learn's ``ExtraTreesClassifier(200)`` or ``ExtraTreesRegressor(200)``.
    k : int, optional
        Select the `k` columns of the largest weights.
    fraction : float, optional
        Select this share of the columns, rounded up.
    threshold : float, optional
        Select the columns with a weight above this.
    random_state : int, Generator, RandomState or None, default=None
        Seeds a model without a seed of its own.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default what `estimator` is for, and without one numbers with
        fractions are numbers.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        The weights; negative ones count as 0. A column that does not reach the model has weight 0; of several
        copies the largest weight counts.

    See Also
    --------
    Importance, RFE : Refit after dropping columns.

    Notes
    -----
    One fit serves every `k`, `fraction` and `threshold`; the fitted model is discarded. When no weight is above 0, or
    above `threshold`, the best column is selected with the warning :class:`~tamis.base.cut.NothingPasses`. In a linear
    model a constant column can take over a part of the intercept; its weight counts as 0.

    Columns with the same information share their importance to trees. Missing values and sparse rows are accepted as
    far as `estimator` accepts them; the default accepts no missing values.

    References
    ----------
    Breiman (2001), "Random forests"; Geurts, Ernst and Wehenkel (2006), "Extremely randomized trees".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import SVM
    >>> from tamis.select import FromModel
    >>> X = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [0.0, 4.0, 3.0], [1.0, 5.0, 3.0]])
    >>> found = FromModel(SVM(), 1).fit(X, [0, 0, 1, 1])
    >>> found.get_support(indices=True), found.order_
    (array([1]), array([1, 0, 2]))
    """

    part: ClassVar[Part] = Part(
        "from_model",
        positional=("estimator", "k"),
        search={"k": geom(1, 10_000)},
        paper="Breiman 2001; Geurts, Ernst and Wehenkel 2006",
        phrase=_phrase,
        templates=("from_model(extra_trees, k={k})", "from_model(forest(class_weight=balanced), k={k})"),
    )
    #: One set of weights serves every cut.
    shared_parameters = ("k", "fraction", "threshold")
    _reusable = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "threshold": [real(0, None, "left"), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        k: int | None = None,
        *,
        fraction: float | None = None,
        threshold: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.random_state = random_state
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> tuple[FloatArray, np.ndarray]:
        for one in estimators:
            one._cut()
        model = self._model(y)
        self._check_model(model, y)
        seed = int(generator(self.random_state).integers(2**31))
        fitted = seeded(clone(model), seed).fit(X, self._labels(y))
        weights = _weights(fitted, X, in_words(steps_of(model)[-1]))
        return weights, rank(weights)

    def _finish(self, prepared: tuple[FloatArray, np.ndarray]) -> Selection:
        weights, order = prepared
        used = weights > 0
        # A cut at 0 that no column meets warns and selects the first.
        cut = self._cut(weights) if used.any() else Cut(threshold=0.0)
        support = cut.apply(weights, order) & (used | ~used.any())
        return Selection(support, weights, order)

    def _cut(self, weights: FloatArray | None = None) -> Cut:
        """The cut of the parameters; without one that at the mean of the weights."""
        given = Cut(self.k, self.fraction, self.threshold)
        if given != Cut() or weights is None:
            return given
        return Cut(threshold=float(weights.mean()) * (1 - _ROUNDING))

    def _model(self, y: Target = None) -> Any:
        if self.estimator is not None:
            return self.estimator
        return (ExtraTreesRegressor if is_numeric(y) else ExtraTreesClassifier)(200, n_jobs=1)

    def __sklearn_tags__(self) -> Any:
        tags = restricted(super().__sklearn_tags__(), [self._model()])
        tags.input_tags.sparse = get_tags(self._model()).input_tags.sparse
        # scikit-learn's trees are tagged so, but refuse sparse rows with missing values.
        tags.input_tags.allow_nan &= self.estimator is not None
        return tags


def _weights(model: Any, X: Matrix, who: str) -> FloatArray:
    """Weights that a fitted model, named `who` in errors, or a pipeline that ends in one, gives the columns."""
    *front, last = steps_of(model)
    linear = not hasattr(last, "feature_importances_")
    if linear and not hasattr(last, "coef_"):
        raise TamisError(
            f"from_model: {who} gives the columns no weights; "
            "take a model that has feature_importances_ or coef_ once it is fitted"
        )
    given = _lengths(last.coef_) if linear else np.asarray(last.feature_importances_, dtype=np.float64)
    reaching = trace_columns(Pipeline([(f"step {i}", step) for i, step in enumerate(front)]), X.shape[1])
    if reaching is None or given.shape != reaching.shape:
        raise TamisError(
            f"from_model: the weights of {who} cannot be traced back to the input; a step before it mixes columns"
        )
    if not np.isfinite(given).all():
        raise TamisError(f"from_model: {who} gives some columns weights that are not finite")
    weights = np.zeros(X.shape[1])
    np.maximum.at(weights, reaching, given)
    if linear:
        weights[variance.evaluate(X, None).values == 0] = 0.0
    return weights


def _lengths(coef: Any) -> FloatArray:
    """Norm of each column of a dense or sparse matrix of coefficients, or of a vector of them."""
    if sp.issparse(coef):
        # The norm sorts in place, and coef_ may be read-only.
        return np.asarray(sp.linalg.norm(canonical(coef.tocsr()), axis=0), dtype=np.float64)
    return np.asarray(np.linalg.norm(np.atleast_2d(coef), axis=0), dtype=np.float64)
