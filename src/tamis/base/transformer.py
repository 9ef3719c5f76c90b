"""The contracts of a transform of numeric columns: write `_learn` and `_apply`, inherit everything public."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base.part import Part
from tamis.base.validation import encode_labels, forget


class Transformer(TransformerMixin, BaseEstimator):
    """Base of the transforms.

    A subclass writes ``__init__``, ``_parameter_constraints``, its `part` card, ``_learn(X)`` and ``_apply(X)``,
    and adds scikit-learn's ``OneToOneFeatureMixin`` or ``ClassNamePrefixFeaturesOutMixin`` for the names of its
    output. `X` arrives as float64 or float32, dense or CSR; it belongs to the caller and is not to be changed.
    """

    part: ClassVar[Part]
    #: Whether missing values (NaN) are passed on.
    accepts_missing: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows `X`; classes are not looked at."""
        self._validate_params()
        self._learn(self._checked(X, reset=True))
        return self

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validated rows and, where it looks at them, class codes; the columns are kept."""
        return self._checked(X, reset=True), None

    def _take(self, found: None) -> None:
        """A transform keeps what it learns while it learns."""

    def transform(self, X: Any) -> Any:
        """Transform rows `X`."""
        check_is_fitted(self)
        return self._apply(self._checked(X, reset=False))

    @abstractmethod
    def _learn(self, X: Any) -> None:
        """Learn, on validated input."""

    @abstractmethod
    def _apply(self, X: Any) -> Any:
        """Transform, on validated input; returns a new matrix."""

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.accepts_missing else True,
            reset=reset,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.accepts_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SupervisedTransformer(Transformer):
    """Base of the transforms of numeric columns that learn from the classes.

    As :class:`~tamis.base.transformer.Transformer`, except that ``_learn(X, y)`` gets class codes 0, 1, ... (None when
    the parameters ask for a method that does without; it then overrides ``_supervised``).

    Attributes
    ----------
    classes_ : array
        The class labels, when supervised.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows `X` and their class labels `y`."""
        self._validate_params()
        forget(self)
        self._learn(*self._begin(X, y))
        return self

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        if not self._supervised():
            return super()._begin(X, y)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.accepts_missing else True,
        )
        self.classes_, codes = encode_labels(y, type(self).__name__)
        return X, codes

    @abstractmethod
    def _learn(self, X: Any, y: Any = None) -> None:
        """Learn, on validated input."""

    def _supervised(self) -> bool:
        """Whether the classes are needed."""
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised()
        return tags
