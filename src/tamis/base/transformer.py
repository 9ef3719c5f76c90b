"""The contracts of a transform, of numbers alone or of a mixed table: write `_learn` and `_apply`, inherit the rest."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base.errors import DataError
from tamis.base.mixed_columns import MixedTable, assembled, columns_of, only_numbers
from tamis.base.part import Part
from tamis.base.task import TakesTarget
from tamis.base.types import Mask
from tamis.base.validation import forget


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


class SupervisedTransformer(TakesTarget, Transformer):
    """Base of the transforms of numeric columns that learn from the target.

    As :class:`~tamis.base.transformer.Transformer`, except that ``_learn(X, y)`` gets class codes 0, 1, ..., or float64
    where the transform serves numeric targets (:attr:`tasks`) and has one; None when the parameters ask for a method
    that does without (it then overrides ``_supervised``).

    Attributes
    ----------
    classes_ : array
        The class labels, when the target holds classes.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows `X` and their target `y`."""
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
        return X, self._target(y)

    @abstractmethod
    def _learn(self, X: Any, y: Any = None) -> None:
        """Learn, on validated input."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised()
        return tags


class MixedTransformer(Transformer):
    """Base of the transforms that take nominal columns; ``_learn`` and ``_apply`` get a :class:`MixedTable`.

    In a polars data frame the nominal columns are those of dtype String, Categorical or Enum, in a pandas one
    those of its string and category dtypes. A column of Python objects (in a pandas data frame, or in an array of
    dtype object) is nominal when it holds any text, even text of digits. Booleans are the numbers 0 and 1; dates and
    other types are refused.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns are text.
    """

    accepts_missing = True
    #: Whether nominal columns are accepted.
    takes_nominal: ClassVar[bool] = True
    nominal_: Mask

    def _checked(self, X: Any, *, reset: bool) -> MixedTable:
        if all_numbers(self, X, reset=reset):
            numbers = super()._checked(X, reset=reset)
            found = MixedTable(np.zeros(numbers.shape[1], dtype=bool), numbers, [], X)
        else:
            found = take_apart(self, X, reset=reset)
        if reset:
            self.nominal_ = found.nominal
        return found


def all_numbers(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Whether scikit-learn can validate the rows: they hold numbers alone, now and in `fit` (where `reset` is True)."""
    nominal = not reset and bool(estimator.nominal_.any())
    if not sp.issparse(X):
        return not nominal and only_numbers(X)
    if nominal:
        raise DataError(f"{estimator.part.name}: a sparse matrix cannot hold the nominal columns of fit")
    return True


def take_apart(estimator: Any, X: Any, *, reset: bool) -> MixedTable:
    """Split a data frame or an array of objects for an estimator with the mask ``nominal_``.

    In `fit` (`reset`) the number and the names of the columns are stored, later they are compared, as in
    scikit-learn, and so are the types of the columns.
    """
    who = estimator.part.name
    columns = columns_of(X, who)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return assembled(X, columns, who, nominal=None if reset else estimator.nominal_)
