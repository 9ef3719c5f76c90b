"""Predictions of linear regressors; those fitted together share one pass over new rows."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from tamis.base.types import FloatArray
from tamis.margins.kernel import inner_products


class LinearPredictions:
    """First base of a regressor that predicts ``coef_ . x + intercept_``."""

    coef_: FloatArray
    intercept_: float

    def _predict(self, X: Any) -> FloatArray:
        return next(self._predict_all([self], X))

    @classmethod
    def _predict_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        outputs = inner_products(X, np.stack([model.coef_ for model in models]))
        return (outputs[:, place] + model.intercept_ for place, model in enumerate(models))
