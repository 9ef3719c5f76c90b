"""From model: fit a classifier that weighs the columns, and keep those that weigh most."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from tamis.base._sklearn import HasMethods, Interval
from tamis.base.cut import Cut, cut_phrase, rank
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of, trace_columns
from tamis.base.meta_estimators import check_classifier, in_words, takes_missing, takes_no_negative
from tamis.base.part import Arguments, Part
from tamis.base.search_range import geom
from tamis.base.seeds import generator, seeded
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.scores.variance import variance

#: A weight that falls short of the mean by no more than this share of it is rounding away from it.
_ROUNDING = 1e-9


class _Weighed(NamedTuple):
    """Weights of the columns, and their numbers from the heaviest to the lightest."""

    weights: FloatArray
    order: np.ndarray


def _phrase(a: Arguments) -> str:
    model = a.pop("estimator") or "extremely randomized trees"
    kept = cut_phrase(a, "those of the mean weight or more")
    return f"ranks the features by the weights that they have in {model} and keeps {kept}"


class FromModel(SharedFit, Selector):
    """Keep the columns to which a fitted classifier gives the largest weights.

    The weight of a column is what the classifier says in ``feature_importances_``; failing that, the Euclidean norm of
    its column of ``coef_``, over the rows that stand for classes or pairs of classes. A column of weight 0 is not used
    by the classifier, and is not kept whatever the cut. With no cut given the columns are kept that weigh at least
    as much as the mean of all; ``threshold=0`` keeps every one that is used, which suits a model with an L1 penalty.

    The weights of a linear model depend on the scale of the columns: unless they are measured alike, standardise
    first, ``from_model(standardize | svm(linear), 50)``.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier with such weights once it is fitted, or a pipeline that ends in one and does not mix columns. By
        default 200 extremely randomised trees, scikit-learn's ``ExtraTreesClassifier(200)``.
    k : int, optional
        Keep the `k` columns of the largest weights.
    fraction : float, optional
        Keep this share of the columns, rounded up.
    threshold : float, optional
        Keep the columns that weigh more than this.
    random_state : int, Generator, RandomState or None, default=None
        Seeds a model that has no seed of its own.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        The weights; one below 0 counts as 0. A column that does not reach the classifier has none, and of one that
        reaches it in several copies the largest counts.

    Notes
    -----
    One fit serves every `k`, `fraction` and `threshold`; the fitted model is not kept. When no column has a weight, or
    none is above `threshold`, the best is kept all the same, with the warning
    :class:`~tamis.base.cut.NothingPasses`. In a linear model a constant column can take over a part of the intercept;
    its weight counts as 0.

    The importance of a column to trees is shared among columns that say the same. Missing values and sparse rows are
    taken as far as `estimator` takes them; the default takes no missing values.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "fraction": [Interval(Real, 0, 1, closed="right"), None],
        "threshold": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        k: int | None = None,
        *,
        fraction: float | None = None,
        threshold: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.random_state = random_state

    def _prepare(self, asked: Sequence[Self], X: Any, y: Any) -> _Weighed:
        for one in asked:
            one._cut()
        model = self._model()
        check_classifier(model, "from_model: estimator")
        seed = int(generator(self.random_state).integers(2**31))
        fitted = seeded(clone(model), seed).fit(X, self.classes_[y])
        weights = _weights(fitted, X, in_words(steps_of(model)[-1]))
        return _Weighed(weights, rank(weights))

    def _reusable(self) -> bool:
        return True

    def _finish(self, prepared: _Weighed) -> Selection:
        weights, order = prepared
        used = weights > 0
        if used.any():
            support = self._cut(weights).apply(weights, order) & used
        else:
            # What no column meets: it warns and keeps the first.
            support = Cut(threshold=0.0).apply(weights, order)
        return Selection(support, weights, order)

    def _cut(self, weights: FloatArray | None = None) -> Cut:
        """The cut that was asked for; without one that at the mean of the weights."""
        asked = Cut(self.k, self.fraction, self.threshold)
        if asked != Cut() or weights is None:
            return asked
        return Cut(threshold=float(weights.mean()) * (1 - _ROUNDING))

    def _model(self) -> Any:
        return ExtraTreesClassifier(200, n_jobs=1) if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        model = self._model()
        tags.input_tags.sparse = get_tags(model).input_tags.sparse
        # scikit-learn's trees say that they do, and then refuse sparse rows that have any.
        tags.input_tags.allow_nan = self.estimator is not None and takes_missing(model)
        tags.input_tags.positive_only = takes_no_negative(model)
        return tags


def _weights(model: Any, X: Matrix, who: str) -> FloatArray:
    """Weights that a fitted classifier, or a pipeline that ends in one, gives the columns of its training rows.

    `who` names the classifier in the messages, as it was given.
    """
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
    """Length of each column of a dense or sparse matrix of coefficients; one of two classes may be a vector."""
    if sp.issparse(coef):
        # The norm sorts in place, and what a model shows may be read-only.
        return np.asarray(sp.linalg.norm(canonical(coef.tocsr()), axis=0), dtype=np.float64)
    return np.asarray(np.linalg.norm(np.atleast_2d(coef), axis=0), dtype=np.float64)
