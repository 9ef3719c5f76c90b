"""The contract of a regressor: write `_fit` and `_predict`, inherit everything public."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tamis.base.predictor import Predictor, WeightedPredictor
from tamis.base.task import numeric_target
from tamis.base.types import FloatArray


class Regressor(RegressorMixin, Predictor):
    """Base of every regressor.

    A subclass writes ``__init__``, ``_parameter_constraints``, its `part` card, ``_fit(X, y)`` and ``_predict(X)``.
    `X` arrives as float64 or float32, dense or CSR; `y` as float64. ``_predict`` returns an array of shape (n_rows,).
    ``predict``, ``score`` and all checks are inherited. A method that takes sample weights derives from
    :class:`WeightedRegressor` instead.
    """

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


class WeightedRegressor(WeightedPredictor, Regressor):
    """Base of a regressor that takes sample weights: ``_fit`` gets them, or None, as a third argument."""
