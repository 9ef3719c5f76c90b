"""What classifiers and regressors share: how they read rows, and ``fit`` with and without sample weights."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tamis.base.part import Part
from tamis.base.types import FloatArray
from tamis.base.validation import check_weights, forget


class Predictor(BaseEstimator):
    """Base of the contracts of classifiers and regressors, which write ``_begin``."""

    part: ClassVar[Part]
    #: Whether missing values (NaN) may reach `_fit` and predictions.
    accepts_missing: ClassVar[bool] = False

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from rows `X` and their targets `y`."""
        self._validate_params()
        forget(self)
        self._fit(*self._begin(X, y))
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any) -> None:
        """Learn, on validated input."""

    @abstractmethod
    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validated rows and targets; the columns are kept."""

    def _take(self, found: None) -> None:
        """A predictor keeps what it learns while it learns."""

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        """Validated rows, with the targets in `fit` (`reset`); one that takes more than numbers reads its own way."""
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


class WeightedPredictor(Predictor):
    """Base of those that take sample weights: ``_fit`` gets them, or None, as a third argument."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` and their targets `y`, each row counting as much as its weight.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Class labels, or numbers for a regressor.
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
