"""Support vector regression: the flattest function with most rows inside its tube, in the space of a kernel."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.part import Arguments, Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import centre_and_scale, weighted_numbers
from tamis.margins.kernel import GROUNDS, apply, ground, inner_products
from tamis.margins.kernel_width import spread_width
from tamis.margins.pairs import suits_columns
from tamis.margins.solve import Solution
from tamis.margins.tube import solve_tube, solve_tube_columns

#: Kernel values that are held at a time.
_BLOCK = 4_000_000


def _phrase(a: Arguments) -> str:
    kernel = {"gaussian": "Gaussian"}.get(name := a.pop("kernel"), name)
    return f"support vector regression with {kernel} kernel"


class _SharedRows:
    """Training rows with a weight above zero, the target in units of its deviation, and what kernels rest on."""

    def __init__(self, X: Matrix, y: FloatArray, weight: FloatArray | None) -> None:
        self.X, y, self.weight, self.places = weighted_numbers(X, y, weight, "svr")
        self.mean, self.scale = centre_and_scale(y, self.weight)
        self.y = (y - self.mean) / self.scale
        self._grounds: dict[str, FloatArray] = {}

    def ground(self, kernel: str) -> FloatArray:
        """Inner products, distances or cosines, computed once."""
        kind = GROUNDS[kernel]
        if kind not in self._grounds:
            self._grounds[kind] = ground(kernel, self.X)
        return self._grounds[kind]


class SVR(SharedFit, WeightedRegressor):
    """Predict by the flattest function from which few rows differ by more than a tolerance.

    With the kernel's image phi of a row and the target in units of its deviation, it minimises::

        |w|^2 / 2 + C sum_i max(0, |y_i - w.phi(x_i) - b| - epsilon).

    The kernels are those of :class:`~tamis.classify.svm.svm.SVM`.

    Parameters
    ----------
    kernel : str, default="linear"
        "linear", "gaussian", "exponential", "polynomial", "cosine" or "sigmoid".
    C : float, default=1.0
        Cost of a unit of error.
    epsilon : float, default=0.1
        Error that costs nothing, in units of the target's deviation.
    sigma : float or "scale", default="scale"
        The width of the kernels that have one. "scale" is the number of columns times the variance of all values,
        the inverse of scikit-learn's ``gamma="scale"``; its square root for the exponential kernel.
    degree : int, default=3
        Of the polynomial and cosine kernels.
    coef0 : float, default=0.0
        Of the polynomial, cosine and sigmoid kernels. Below zero a kernel may stop being positive definite.
    tol : float, default=1e-3
        How much the optimum may be missed, in units of the target's deviation.
    max_iter : int, optional
        Limit of the solver's steps, or passes over the rows; by default a few seconds' work.

    Attributes
    ----------
    sigma_ : float
        The width in use, for the kernels that have one.
    intercept_ : float
    coef_ : array of shape (n_features,)
        Linear kernel only.
    support_ : array of shape (n_support,)
        Numbers of the support vectors among the training rows, when solved on the kernel matrix.
    dual_coef_ : array of shape (n_support,)
        Their weights.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those rows, for the kernels other than linear.
    n_iter_ : int
        Steps or passes of the solver.

    Notes
    -----
    The solver is libsvm on the kernel matrix of the training rows, which takes 8 n^2 bytes, followed by steps to the
    optimum. The linear kernel is solved on the columns by liblinear where there are many rows, as for
    :class:`~tamis.classify.svm.svm.SVM`. A warning reports when the optimum is not reached. What kernels rest on is
    computed once for machines that are fitted together. A row of weight 2 counts like the row twice.

    References
    ----------
    Drucker, Burges, Kaufman, Smola and Vapnik (1997), "Support vector regression machines".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import SVR
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = SVR(C=100.0, epsilon=0.0).fit(X, [10.0, 30.0, 50.0, 70.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([20.]), 10.0)
    """

    part: ClassVar[Part] = Part(
        "svr",
        positional=("kernel", "C"),
        search={
            "kernel": choice("linear", "gaussian"),
            "C": geom(1e-2, 1e3),
            "epsilon": choice(0.1, 0.01, 0.3),
            "sigma": geom(0.1, 10.0),
        },
        paper="Drucker, Burges, Kaufman, Smola and Vapnik 1997",
        only={"sigma": ("kernel", "gaussian")},
        unit_rows=True,
        phrase=_phrase,
        boundary={"linear": "linear", "gaussian": "kernel"},
        counterpart="svm",
        growth=2.0,
    )
    #: What kernels rest on is computed once.
    shared_parameters = ("kernel", "C", "epsilon", "sigma", "degree", "coef0")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(GROUNDS))],
        "C": [real(0, None)],
        "epsilon": [real(0, None, "left")],
        "sigma": [real(0, None), StrOptions({"scale"})],
        "degree": [integer(1)],
        "coef0": [real()],
        "tol": [real(0, None)],
        "max_iter": [integer(1), None],
    }

    def __init__(
        self,
        kernel: str = "linear",
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        sigma: float | Literal["scale"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> _SharedRows:
        return _SharedRows(X, y, sample_weight)

    def _finish(self, prepared: _SharedRows) -> None:
        rows, cost = prepared, float(self.C) * prepared.weight
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        if self.kernel == "linear" and suits_columns(rows.X):
            found = solve_tube_columns(rows.X, rows.y, cost, float(self.epsilon), **options)
            self.coef_ = rows.scale * found.weights
        else:
            if GROUNDS[self.kernel] == "distances" or self.kernel in ("polynomial", "sigmoid"):
                self.sigma_ = self._width(rows)
            values = self._apply(rows.ground(self.kernel))
            # The solver overwrites the kernel matrix, which of the linear kernel is what others rest on.
            values = values.copy() if self.kernel == "linear" else values
            found = solve_tube(values, rows.y, cost, float(self.epsilon), **options)
            support = np.flatnonzero(found.weights)
            self.support_ = rows.places[support]
            self.dual_coef_ = rows.scale * found.weights[support]
            if self.kernel == "linear":
                self.coef_ = np.asarray(rows.X[support].T.astype(np.float64, copy=False) @ self.dual_coef_).ravel()
            else:
                self.support_vectors_ = rows.X[support]
        self.intercept_ = rows.mean + rows.scale * found.intercept
        self.n_iter_ = found.steps
        self._warn(found)

    def _predict(self, X: Any) -> FloatArray:
        if self.kernel == "linear":
            return inner_products(X, self.coef_[None])[:, 0] + self.intercept_
        found = np.full(X.shape[0], self.intercept_)
        if self.support_.size:
            height = max(1, _BLOCK // self.support_.size)
            for top in range(0, X.shape[0], height):
                block = self._apply(ground(self.kernel, X[top : top + height], self.support_vectors_))
                found[top : top + height] += block @ self.dual_coef_
        return found

    def _apply(self, grounds: FloatArray) -> FloatArray:
        width = getattr(self, "sigma_", 1.0)
        return apply(self.kernel, grounds, sigma=width, degree=self.degree, coef0=self.coef0)

    def _width(self, rows: _SharedRows) -> float:
        if self.sigma != "scale":
            return float(self.sigma)
        squared = spread_width(rows.X, rows.weight)
        return float(np.sqrt(squared)) if self.kernel == "exponential" else squared

    def _warn(self, found: Solution) -> None:
        if not found.settled:
            message = f"svr is not settled to tol={self.tol:g}; scale the columns, lower C or raise max_iter"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
