"""The contracts of estimators that hold other ones: their requirements are those of the estimators inside."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from tamis.base._sklearn import _check_y, _num_samples
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import check_selector, steps_of
from tamis.base.part import Part
from tamis.base.seeds import generator
from tamis.base.selector import Selector
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import bearing_rows, row_terms


def needs_classes(model: Any) -> bool:
    """Whether any step needs the classes; assumed of other libraries' selectors: scikit-learn does not tag its own."""
    return any(
        get_tags(step).target_tags.required or (hasattr(step, "get_support") and not isinstance(step, Selector))
        for step in steps_of(model)
    )


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


class MetaClassifier(Classifier):
    """Base of a classifier that passes the rows on to models inside it.

    As :class:`~tamis.base.classifier.Classifier`, except that `X` stays an array, a CSR matrix or a data frame: text,
    missing values and sparse matrices are up to the models. A subclass also writes ``_models``.
    """

    #: As far as the models do; so with nominal columns.
    accepts_missing = True
    takes_nominal: ClassVar[bool] = True

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
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in self._models())
        return restricted(tags, self._models())


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


def in_words(model: Any) -> str:
    """A model on one line."""
    return " ".join(repr(model).split())


class MetaSelector:
    """Base, before ``Selector``, of a selector that has another one as its parameter `estimator`.

    A subclass also writes ``_usual``, the selector that stands in when none is given.
    """

    #: As far as that selector does.
    accepts_missing: ClassVar[bool] = True
    part: ClassVar[Part]
    estimator: Any

    def _usual(self) -> Any:
        raise NotImplementedError

    def _model(self) -> Any:
        """The selector inside, not fitted."""
        if self.estimator is None:
            return self._usual()
        check_selector(self.estimator, f"{self.part.name}: estimator")
        return self.estimator

    def _supervised(self) -> bool:
        return needs_classes(self._model())

    def __sklearn_tags__(self) -> Any:
        return restricted(super().__sklearn_tags__(), [self._model()])  # type: ignore[misc]


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
        """A seed in the range of scikit-learn and LightGBM."""
        return int(generator(self.random_state).integers(2**31))


def narrow(X: Matrix) -> Matrix:
    """The same rows; sparse ones with 32-bit indices, since compiled solvers take no others."""
    if not sp.issparse(X):
        return X
    places = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return sp.csr_matrix((X.data, *places), shape=X.shape)
