"""The contracts of estimators that hold other ones: their requirements are those of the estimators inside."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from tamis.base._sklearn import _check_y, _num_samples
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import check_selector, steps_of
from tamis.base.part import Part
from tamis.base.regressor import Regressor
from tamis.base.seeds import generator
from tamis.base.selector import Selector
from tamis.base.task import BOTH, HOLDS, Task, WantedTask, is_numeric, numeric_target, task_of
from tamis.base.types import Codes, FloatArray, Matrix, Target
from tamis.base.validation import bearing_rows, few_digits, row_terms, weighted_numbers

#: What an estimator for a task does, and what to take for the other one.
_DOES: dict[Task, tuple[str, str]] = {
    "classify": ("tells classes apart", "a regressor"),
    "regress": ("predicts numbers", "a classifier"),
}


def needs_classes(model: Any) -> bool:
    """Whether any step needs the classes; assumed of other libraries' selectors: scikit-learn does not tag its own."""
    return any(
        get_tags(step).target_tags.required or (hasattr(step, "get_support") and not isinstance(step, Selector))
        for step in steps_of(model)
    )


def settled_task(task: WantedTask, models: Sequence[Any], who: str) -> WantedTask:
    """The task that a parameter `task` or the estimators inside settle; "auto" where the target decides.

    A classifier, a regressor and a selector of one task settle it. An error, which `who` begins, where they disagree.
    """
    inside = [one for model in models for step in steps_of(model) for one in (step, *step.get_params().values())]
    found: set[WantedTask] = {task, *map(_own_task, inside)} - {"auto"}
    if len(found) > 1:
        raise TamisError(f"{who}: one of its estimators is for classes and another is for numbers")
    return found.pop() if found else "auto"


def _own_task(one: Any) -> WantedTask:
    if isinstance(one, Selector):
        return one._settled_task() if one._supervised() else "auto"
    return _model_task(one)


def _model_task(model: Any) -> WantedTask:
    if isinstance(model, type) or not hasattr(model, "__sklearn_tags__"):
        return "auto"
    return "classify" if is_classifier(model) else "regress" if is_regressor(model) else "auto"


def with_task(model: Any, y: Target) -> Any:
    """A model for a validated target: one that serves both gets the task."""
    if not is_numeric(y):
        return model
    model = clone(model)
    names = [name for name, value in model.get_params().items() if name.split("__")[-1] == "task" and value == "auto"]
    return model.set_params(**dict.fromkeys(names, "regress"))


def restricted(tags: Any, models: Sequence[Any]) -> Any:
    """The tags, with missing and negative values allowed as far as the first step of every model takes them."""
    inputs = [get_tags(steps_of(model)[0]).input_tags for model in models]
    tags.input_tags.allow_nan = all(one.allow_nan for one in inputs)
    tags.input_tags.positive_only = any(one.positive_only for one in inputs)
    return tags


class EstimatorList:
    """First base of an estimator whose parameter `estimators` is a list of estimators.

    ``estimators_1`` is the first of them and ``estimators_1__k`` its parameter ``k``: seeds, grids and ``set_params``
    find them there.
    """

    estimators: Sequence[Any] | None

    def _named(self) -> dict[str, Any]:
        listed = self.estimators if isinstance(self.estimators, list | tuple) else []
        return {f"estimators_{number}": one for number, one in enumerate(listed, 1) if hasattr(one, "get_params")}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also the listed estimators, by number, and their parameters."""
        found: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for name, one in self._named().items():
                found[name] = one
                found.update((f"{name}__{inner}", value) for inner, value in one.get_params(deep=True).items())
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of :meth:`get_params`."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        replaced = {name: params.pop(name) for name in self._named() if name in params}
        if replaced:
            now = enumerate(self.estimators or (), 1)
            self.estimators = [replaced.get(f"estimators_{number}", one) for number, one in now]
        super().set_params(**params)  # type: ignore[misc]
        return self


class MetaModel:
    """First base of a classifier or regressor that passes the rows on to models inside it.

    `X` stays an array, a CSR matrix or a data frame: text, missing values and sparse matrices are up to the models. A
    subclass also writes ``_models``.
    """

    #: As far as the models do; so with nominal columns.
    accepts_missing: ClassVar[bool] = True
    takes_nominal: ClassVar[bool] = True
    part: ClassVar[Part]

    @abstractmethod
    def _models(self) -> list[Any]:
        """The models inside, not fitted."""

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        who = self.part.name
        if sp.issparse(X):
            X = X.tocsr()
        elif not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)
        if _num_samples(X) < 1:
            raise TamisError(f"{who} got {_num_samples(X)} rows; at least one is needed")
        if len(getattr(X, "shape", (0, 0))) != 2:
            raise TamisError(f"{who} takes rows and columns; got {len(X.shape)} dimension(s). Reshape your data.")
        if not reset:
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        validate_data(self, X, y, reset=True, skip_check_array=True)
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in self._models())
        return restricted(tags, self._models())


class MetaClassifier(MetaModel, Classifier):
    """Base of a classifier that passes the rows on to models inside it; see :class:`MetaModel`."""


class MetaRegressor(MetaModel, Regressor):
    """Base of a regressor that passes the rows on to models inside it; see :class:`MetaModel`."""


def model_weights(weights: Sequence[float] | FloatArray | None, n_models: int, who: str) -> FloatArray:
    """The weights of models as an array: non-negative, one a model and not all zero; `who` begins the message.

    Examples
    --------
    >>> model_weights([2, 1], 2, "blend"), model_weights(None, 2, "blend")
    (array([2., 1.]), array([1., 1.]))
    """
    if weights is None:
        return np.ones(n_models)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_models,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise TamisError(
            f"{who}: weights takes a number of zero or more for each of {n_models} models, not all of them zero; "
            f"got {weights!r}"
        )
    return found


def check_classifier(model: Any, who: str) -> None:
    """Refuse what is neither a classifier nor a pipeline that ends in one; `who` begins the message.

    Examples
    --------
    >>> check_classifier("knn", "blend: model 1")
    Traceback (most recent call last):
        ...
    tamis.base.errors.TamisError: blend: model 1 must be a classifier; got 'knn'
    """
    if isinstance(model, type) or not hasattr(model, "fit") or not is_classifier(model):
        raise TamisError(f"{who} must be a classifier; got {in_words(model)}")


def check_regressor(model: Any, who: str) -> None:
    """Refuse what is neither a regressor nor a pipeline that ends in one; `who` begins the message.

    Examples
    --------
    >>> check_regressor("knn", "blend: model 1")
    Traceback (most recent call last):
        ...
    tamis.base.errors.TamisError: blend: model 1 must be a regressor; got 'knn'
    """
    if isinstance(model, type) or not hasattr(model, "fit") or not is_regressor(model):
        raise TamisError(f"{who} must be a regressor; got {in_words(model)}")


def in_words(model: Any) -> str:
    """A model on one line."""
    return " ".join(repr(model).split())


class MetaSelector:
    """Base, before ``Selector``, of a selector that has another one as its parameter `estimator`.

    A subclass also writes ``_usual``, the selector that stands in when none is given, and has the parameter `task`.
    """

    #: As far as that selector does.
    accepts_missing: ClassVar[bool] = True
    tasks: ClassVar[tuple[Task, ...]] = BOTH
    part: ClassVar[Part]
    estimator: Any
    task: WantedTask
    classes_: np.ndarray

    def _usual(self) -> Any:
        raise NotImplementedError

    def _model(self) -> Any:
        """The selector inside, not fitted."""
        if self.estimator is None:
            return self._usual()
        check_selector(self.estimator, f"{self.part.name}: estimator")
        return self.estimator

    def _told(self, y: Target) -> tuple[Any, Any]:
        """The selector inside, with the task, and the target as it takes it: labels, numbers or None."""
        return with_task(self._model(), y), y if y is None or is_numeric(y) else self.classes_[y]

    def _settled_task(self) -> WantedTask:
        return settled_task(self.task, [self._model()], self.part.name)

    def _supervised(self) -> bool:
        return needs_classes(self._model())

    def __sklearn_tags__(self) -> Any:
        return restricted(super().__sklearn_tags__(), [self._model()])  # type: ignore[misc]


class TaskByModel:
    """Base, before ``Selector``, of a selector with the parameters `estimator`, a model, and `task`.

    The task is that of the parameter or of the estimator, which must agree; where both leave it open, the target
    decides. ``_labels`` turns a validated target into what the estimator is fitted to.
    """

    tasks: ClassVar[tuple[Task, ...]] = BOTH
    part: ClassVar[Part]
    estimator: Any
    task: WantedTask
    classes_: np.ndarray

    def _given_model(self) -> Any:
        """The estimator that the user gave, or None."""
        return self.estimator

    def _settled_task(self) -> WantedTask:
        if self.tasks != BOTH:
            return self.tasks[0]
        model = self._given_model()
        own, given = _model_task(model), self.task
        if own == "auto" or given == "auto":
            return given if own == "auto" else own
        if own != given:
            raise self._mismatch(own, f"the target holds {HOLDS[given]}")
        return own

    def _target(self, y: Any) -> Any:
        task = self._task(y)  # type: ignore[attr-defined]
        if self._given_model() is not None:
            if task == "classify" and task_of(y) == "regress":
                raise self._mismatch("classify", "the target holds numbers")
            if task == "regress":
                try:
                    numeric_target(y, self.part.name)
                except ValueError as error:
                    raise self._mismatch("regress", str(error).partition("; ")[2]) from error
        return super()._target(y)  # type: ignore[misc]

    def _check_model(self, model: Any, y: Target) -> None:
        """Refuse a model that is not for the task of a validated target."""
        (check_regressor if is_numeric(y) else check_classifier)(model, f"{self.part.name}: estimator")

    def _labels(self, y: Target) -> Any:
        """The numbers, or the labels of class codes."""
        return y if is_numeric(y) else self.classes_[y]

    def _mismatch(self, own: Task, found: str) -> TamisError:
        does, other = _DOES[own]
        return TamisError(f"{self.part.name}: {in_words(self._given_model())} {does}, and {found}; take {other}")


class LibraryClassifier(Classifier):
    """Base of a classifier that another library fits.

    A subclass writes ``_make()``, which returns the estimator with the parameters of this one,
    seeded and on one thread: processes are decided outside. Rows of weight 0 are left out before it sees them. With
    ``class_weight="balanced"`` a row of class c weighs n / (k n_c) times as much, for the n_c of n rows in it, of k
    classes.

    Attributes
    ----------
    classes_ : array
    model_ : estimator
        The fitted estimator; its classes are indices in ``classes_``.
    """

    gives_probabilities = True

    @abstractmethod
    def _make(self) -> Any:
        """The estimator, not yet fitted."""

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        if sample_weight is not None:
            X, y, sample_weight, _ = bearing_rows(X, y, sample_weight, self.classes_, type(self).part.name)
        self.model_ = self._train(narrow(X), y, self._cost(y, sample_weight))

    def _train(self, X: Matrix, y: Codes, cost: FloatArray | None) -> Any:
        """The estimator, fitted to rows of these weights."""
        model = self._make()
        return model.fit(X, y) if cost is None else model.fit(X, y, sample_weight=cost)

    def _cost(self, y: Codes, weight: FloatArray | None) -> FloatArray | None:
        """The weight that each row has for the estimator; None when it is the same for all."""
        if getattr(self, "class_weight", None) is None:
            return weight
        return row_terms(y, np.ones(y.shape[0]) if weight is None else weight, class_weight="balanced", ridge=0.0)[0]

    def _decision(self, X: Any) -> FloatArray:
        return np.asarray(self.model_.predict_proba(narrow(X)), dtype=np.float64)

    def _seed(self) -> int:
        return library_seed(self.random_state)


class LibraryRegressor(Regressor):
    """Base of a regressor that another library fits.

    A subclass writes ``_make()``, as for :class:`LibraryClassifier`. Rows of weight 0 are left out. The estimator sees
    the target as numbers near 1 in size (:func:`~tamis.base.validation.few_digits`): libraries lose digits of targets
    with a large mean, and take very small ones for constant.

    Attributes
    ----------
    model_ : estimator
        The fitted estimator, which predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    """

    @abstractmethod
    def _make(self) -> Any:
        """The estimator, not yet fitted."""

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        if sample_weight is not None:
            X, y, sample_weight, _ = weighted_numbers(X, y, sample_weight, type(self).part.name)
        y, self.target_zero_, self.target_unit_ = few_digits(y, sample_weight)
        self.model_ = self._train(narrow(X), y, sample_weight)

    def _train(self, X: Matrix, y: FloatArray, weight: FloatArray | None) -> Any:
        """The estimator, fitted to rows of these weights."""
        model = self._make()
        return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)

    def _predict(self, X: Any) -> FloatArray:
        found = np.asarray(self.model_.predict(narrow(X)), dtype=np.float64)
        return self.target_zero_ + self.target_unit_ * found

    def _seed(self) -> int:
        return library_seed(self.random_state)


def library_seed(random_state: int | np.random.Generator | np.random.RandomState | None) -> int:
    """A seed in the range of scikit-learn and LightGBM."""
    return int(generator(random_state).integers(2**31))


def narrow(X: Matrix) -> Matrix:
    """The same rows; sparse ones with 32-bit indices, since compiled solvers take no others."""
    if not sp.issparse(X):
        return X
    places = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return sp.csr_matrix((X.data, *places), shape=X.shape)
