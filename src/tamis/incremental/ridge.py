"""Ridge regression, one column more or less: the inverse of the scatter is bordered, not recomputed."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import centre_and_scale
from tamis.incremental.evaluator import IncrementalEvaluator
from tamis.incremental.linear import WORST, Column, LinearEvaluator, State, is_number

#: Bound of the error of a prediction, in deviations of the target; where it may be larger, the model is refitted.
_CLOSE = 1e-7

#: Iterative solvers with a smaller tolerance reach the solution.
_EXACT = 1e-9


def ridge_regression_evaluator(model: Any, X: Matrix, y: FloatArray, Z: Matrix) -> IncrementalEvaluator | None:
    """scikit-learn's ``Ridge`` with one penalty and a solver that reaches the solution, or None."""
    if type(model) is not Ridge or model.positive or not (is_number(model.alpha) and model.alpha >= 0):
        return None
    exact: tuple[str, ...] = ("auto", "cholesky", "svd")
    if sp.issparse(X):
        # With an intercept, "auto" is the iterative solver "sparse_cg".
        exact = () if model.tol > _EXACT else ("auto", "sparse_cg") if model.fit_intercept else ("cholesky",)
    if model.solver not in exact:
        return None
    return RidgeEvaluator(model, X, y, Z, float(model.alpha), intercept=bool(model.fit_intercept))


class RidgeEvaluator(LinearEvaluator):
    r"""Predictions :math:`\bar y + (z - \bar x)' (X'X + \alpha I)^{-1} X' y`, with X and y centred.

    A column changes the product as in :func:`~tamis.incremental.linear.lda_evaluator`.

    Parameters
    ----------
    model, X, y, Z
        As for :class:`~tamis.incremental.fallback.EvaluatorWithFallback`; `y` holds numbers, not all equal.
    alpha : float
        The penalty.
    intercept : bool, default=True
        Without an intercept nothing is centred.
    """

    def __init__(
        self, model: Any, X: Matrix, y: FloatArray, Z: Matrix, alpha: float, *, intercept: bool = True
    ) -> None:
        super().__init__(model, X, y, Z)
        self.alpha = alpha
        mean, self.unit = centre_and_scale(y)
        self.mean = mean if intercept else 0.0
        self.terms = float(y.size)
        self.share = np.full(y.size, 1.0 / y.size) if intercept else np.zeros(y.size)
        self.constant, self.offset = np.zeros(1), 0.0
        self.numbers = ((y - self.mean) / self.unit)[:, None]

    def _prepare(self, columns: np.ndarray) -> Column:
        train, test, top = self._dense(columns)
        centre = (train @ self.share)[:, None]
        train = train - centre
        return self._statistics(train, test - centre, train @ self.numbers, self.alpha, top)

    def _predicted(
        self,
        state: State,
        sign: float,
        part: FloatArray,
        schur: FloatArray,
        test: FloatArray,
        target: FloatArray,
        new: Column | None,
    ) -> tuple[FloatArray, Mask]:
        slope = sign * target / schur[:, None]
        predicted = state.half_target.T @ state.half_test + slope * test
        error, blur = self._error(state, sign, part, schur, slope, new)
        return self.mean + self.unit * predicted, (error < WORST) & (blur < _CLOSE)
