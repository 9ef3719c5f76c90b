"""The contract of a regressor: write `_fit` and `_predict`, inherit everything public."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base.part import Part
from tamis.base.task import numeric_target
from tamis.base.types import FloatArray
from tamis.base.validation import check_weights, forget


class Regressor(RegressorMixin, BaseEstimator):
    """Base of every regressor.

    A subclass writes ``__init__``, ``_parameter_constraints``, its `part` card, ``_fit(X, y)`` and ``_predict(X)``.
    `X` arrives as float64 or float32, dense or CSR; `y` as float64. ``_predict`` returns an array of shape (n_rows,).
    ``predict``, ``score`` and all checks are inherited. A method that takes sample weights derives from
    :class:`WeightedRegressor` instead.
    """

    part: ClassVar[Part]
    #: Whether missing values (NaN) may reach `_fit` and `_predict`.
    accepts_missing: ClassVar[bool] = False

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows `X` and their numbers `y`."""
        self._validate_params()
        forget(self)
        self._fit(*self._begin(X, y))
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any) -> None:
        """Learn, on validated input."""

    @abstractmethod
    def _predict(self, X: Any) -> FloatArray:
        """The number of each row, on validated input."""

    def predict(self, X: Any) -> FloatArray:
        """The predicted number of each row."""
        check_is_fitted(self)
        return self._predict(self._read(X, reset=False))

    @classmethod
    def _predict_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        """Predictions of models that were fitted together, on validated rows; one that can shares work between them."""
        return (model._predict(X) for model in models)

    def _begin(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        """Validated rows and numbers; the columns are kept."""
        X, y = self._read(X, y, reset=True)
        return X, numeric_target(y, type(self).part.name)

    def _take(self, found: None) -> None:
        """A regressor keeps what it learns while it learns."""

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        """Validated rows, with the numbers in `fit` (`reset`); one that takes more than numbers reads its own way."""
        return validate_data(
            self,
            X,
            y if reset else "no_validation",
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.accepts_missing else True,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.accepts_missing
        return tags


class WeightedRegressor(Regressor):
    """Base of a regressor that takes sample weights: ``_fit`` gets them, or None, as a third argument."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and their numbers `y`, each row counting as much as its weight.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Numbers.
        sample_weight : array of shape (n_rows,), optional
            Weights of zero and above; None counts every row once.
        """
        self._validate_params()
        forget(self)
        X, y = self._begin(X, y)
        self._fit(X, y, check_weights(sample_weight, X))
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        """Learn, on validated input."""
