"""Support vector machine: the widest margin between classes, in the space of a kernel."""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from tamis.base.classifier import Classifier, one_vs_one
from tamis.base.errors import TamisError
from tamis.base.labels import class_pairs
from tamis.base.part import Part
from tamis.base.selector import Weighted
from tamis.base.space import choice, geom
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.kernel import GROUNDS, inner_products, kernel_values
from tamis.classify.margin import Solution, solve_columns, solve_gram

#: The cost that stands for a hard margin when the mean diagonal of the centred kernel is 1.
_HARD = 1e9

#: Below so many rows the Gram matrix always wins, beyond so many it no longer fits an ordinary memory.
_FEW_ROWS, _MANY_ROWS = 4_000, 15_000

#: Stored values per row from which on a product of rows costs more than liblinear's passes, as a share of the rows.
_LIGHT = 1 / 8

#: Kernel values that are held at a time while predicting.
_BLOCK = 4_000_000


class NotSettled(ConvergenceWarning):
    """The solver stopped short of the optimum, or a hard margin was asked of classes that overlap."""


class SVM(Weighted, Classifier):
    """Separate classes by the widest margin; several classes pair by pair, each pair one vote.

    For two classes, with signs s of +1 and -1 and the kernel's image phi of a row, it minimises

        |w|^2 / 2 + C sum_i max(0, 1 - s_i (w.phi(x_i) + b)).

    The kernels, with d the Euclidean distance and . the inner product of two rows:

    ============ ================================
    linear       x.x'
    gaussian     exp(-d^2 / sigma)
    exponential  exp(-d / sigma)
    polynomial   (x.x' / sigma + offset)^degree
    cosine       (cos(x, x') + offset)^degree
    sigmoid      tanh(x.x' / sigma + offset)
    ============ ================================

    Parameters
    ----------
    kernel : str, default="linear"
        One of the above.
    C : float, default=1.0
        What a unit of slack costs; ``inf`` asks for a hard margin. When the classes overlap there is none: a warning
        says so, and what the solver had by then is kept.
    sigma : float or "scale", default="scale"
        The width of the kernels that have one. "scale" takes the number of columns times the variance of all values,
        the mean squared distance of a row to the overall mean (scikit-learn's ``gamma="scale"`` upside down); for
        the exponential kernel the square root of that.
    degree : int, default=3
        Of the polynomial and cosine kernels.
    offset : float, default=0.0
        Of the polynomial, cosine and sigmoid kernels. Below zero a kernel may stop being positive definite.
    balance : bool, default=False
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: every class weighs the same.
    ridge : float, default=0.0
        Add to a training row's kernel with itself `ridge` times its class's share of the rows: a quadratic penalty
        on slack, heavier for the smaller class. 1 is Lal, Chapelle and Schölkopf's.
    solver : {"auto", "gram", "liblinear"}, default="auto"
        "gram" solves on the kernel matrix of the training rows, with libsvm, to the optimum; it takes 8 n^2 bytes.
        "liblinear" solves the linear kernel on the columns, which suits many rows with few values each. It weighs
        the intercept a little too, and stops within `tol`. "auto" takes liblinear for a finite C without ridge beyond
        4,000 rows when a row holds fewer stored values than an eighth of the rows, and beyond 15,000 rows always.
    tol : float, default=1e-3
        How much a margin of 1 may be missed.
    max_iter : int, optional
        Limit per pair of classes: steps for "gram", passes over the rows for "liblinear". By default what takes a
        few seconds. A warning says when it was not enough.

    Attributes
    ----------
    classes_ : array
    intercept_ : array of shape (n_pairs,)
        Pairs (0, 1), (0, 2), ..., (1, 2), ... of classes; a decision above zero speaks for the second.
    coef_ : array of shape (n_pairs, n_features)
        Linear kernel only.
    support_ : array of shape (n_support,)
        Training rows that bear weight, when solved on the Gram matrix.
    dual_coef_ : array of shape (n_support, n_pairs)
        Their signed weights.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those rows, for the kernels other than linear.
    sigma_ : float
        The width, for the kernels that have one.
    n_iter_ : array of shape (n_pairs,)
        Steps or passes the solver took.

    Notes
    -----
    Sample weights multiply C row by row and divide the ridge, so that a row of weight 2 counts like the row twice;
    a row of weight 0 is as if absent. They do not change a hard margin. There are no class probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import SVM
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    >>> model = SVM(C=np.inf).fit(X, ["left", "left", "right", "right"])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[1., 0.]]), array([-1.]))
    >>> model.predict([[5.0, 5.0]])
    array(['right'], dtype='<U5')
    """

    part: ClassVar[Part] = Part(
        "svm",
        positional=("kernel", "C"),
        search={
            "kernel": choice("linear", "gaussian"),
            "C": geom(1e-3, 1e4),
            "sigma": geom(1e-3, 1e4),
            "balance": choice(True, False),
        },
        paper="Boser, Guyon and Vapnik 1992; class ridge: Lal, Chapelle and Schölkopf 2006, section 1",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(GROUNDS))],
        "C": [Interval(Real, 0, np.inf, closed="right")],
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"scale"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "offset": [Interval(Real, None, None, closed="neither")],
        "balance": ["boolean"],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", "gram", "liblinear"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        kernel: str = "linear",
        C: float = 1.0,
        *,
        sigma: float | Literal["scale"] = "scale",
        degree: int = 3,
        offset: float = 0.0,
        balance: bool = False,
        ridge: float = 0.0,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.sigma = sigma
        self.degree = degree
        self.offset = offset
        self.balance = balance
        self.ridge = ridge
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, X: Any, y: Any, *weight: Any) -> None:
        given = np.ones(X.shape[0]) if weight[0] is None else weight[0]
        rows = np.flatnonzero(given > 0)
        if rows.size < X.shape[0]:
            X, y, given = X[rows], y[rows], given[rows]
        size = np.bincount(y, weights=given, minlength=self.classes_.shape[0])
        if not size.all():
            empty = self.classes_.tolist()[int(np.argmin(size))]
            raise TamisError(f"SVM: no row of class {empty!r} has a sample weight above zero")
        factor = size.sum() / (size.shape[0] * size) if self.balance else np.ones(size.shape[0])
        cost = self.C * given * factor[y]
        if self._by_columns(X):
            self._fit_columns(X, y, cost)
            return
        if self.kernel not in ("linear", "cosine"):
            self.sigma_ = self._width(X, given) if self.sigma == "scale" else float(self.sigma)
        ridge = self.ridge * size[y] / size.sum() / given
        weights = self._fit_gram(self._kernel(X), y, cost, ridge)
        bears = np.flatnonzero(weights.any(axis=1))
        self.support_ = rows[bears]
        self.dual_coef_ = weights[bears]
        if self.kernel == "linear":
            self.coef_ = np.ascontiguousarray((X[bears].T.astype(np.float64, copy=False) @ self.dual_coef_).T)
        else:
            self.support_vectors_ = X[bears]

    def _fit_columns(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        pairs = class_pairs(self.classes_.shape[0])
        self.coef_ = np.empty((len(pairs), X.shape[1]))
        self.intercept_ = np.empty(len(pairs))
        self.n_iter_ = np.empty(len(pairs), dtype=np.intp)
        for number, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((y == a) | (y == b))
            found = solve_columns(X[rows], y[rows] == b, cost[rows], tol=self.tol, max_iter=self.max_iter)
            self._warn_unsettled(found, a, b)
            self.coef_[number], self.intercept_[number] = found.weights, found.intercept
            self.n_iter_[number] = found.steps

    def _fit_gram(self, gram: FloatArray, y: Codes, cost: FloatArray, ridge: FloatArray) -> FloatArray:
        """Signed weights of the rows for each pair of classes; `gram` is used up."""
        # Signed weights sum to zero, so moving the origin to the rows' mean changes the intercept and nothing else.
        # It keeps digits that libsvm's float32 would lose, and makes a hard margin free of the data's place and size.
        mean = gram.mean(axis=0)
        gram -= mean
        gram -= mean[:, None] - mean.mean()
        gram.flat[:: gram.shape[0] + 1] += ridge
        scale = float(gram.diagonal().mean())
        scale = scale if scale > 0 else 1.0
        gram /= scale
        cost = cost * scale if np.isfinite(self.C) else np.full(cost.shape[0], _HARD)
        pairs = class_pairs(self.classes_.shape[0])
        weights = np.zeros((gram.shape[0], len(pairs)))
        self.intercept_ = np.empty(len(pairs))
        self.n_iter_ = np.empty(len(pairs), dtype=np.intp)
        for number, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((y == a) | (y == b))
            part = gram if len(pairs) == 1 else gram[np.ix_(rows, rows)]
            found = solve_gram(part, y[rows] == b, cost[rows], tol=self.tol, max_iter=self.max_iter)
            self._warn_unsettled(found, a, b)
            weights[rows, number] = found.weights / scale
            self.intercept_[number] = found.intercept - mean @ weights[:, number]
            self.n_iter_[number] = found.steps
        return weights

    def _decision(self, X: Any) -> FloatArray:
        if self.kernel == "linear":
            decisions = inner_products(X, self.coef_)
        else:
            decisions = np.empty((X.shape[0], self.intercept_.shape[0]))
            height = max(1, _BLOCK // self.support_.shape[0])
            for top in range(0, X.shape[0], height):
                block = self._kernel(X[top : top + height], self.support_vectors_)
                decisions[top : top + height] = block @ self.dual_coef_
        decisions += self.intercept_
        return decisions[:, 0] if decisions.shape[1] == 1 else one_vs_one(decisions, self.classes_.shape[0])

    def _kernel(self, X: Matrix, Z: Matrix | None = None) -> FloatArray:
        sigma = getattr(self, "sigma_", 1.0)
        return kernel_values(self.kernel, X, Z, sigma=sigma, degree=self.degree, offset=self.offset)

    def _by_columns(self, X: Matrix) -> bool:
        possible = self.kernel == "linear" and self.ridge == 0 and np.isfinite(self.C)
        if self.solver == "liblinear" and not possible:
            raise TamisError(
                'solver="liblinear" takes the linear kernel, a finite C and no ridge; '
                f"got kernel={self.kernel!r}, C={self.C}, ridge={self.ridge}"
            )
        if self.solver != "auto" or not possible:
            return self.solver == "liblinear"
        n_rows = X.shape[0]
        stored = X.nnz if sp.issparse(X) else X.size
        return n_rows > _MANY_ROWS or (n_rows > _FEW_ROWS and stored / n_rows < _LIGHT * n_rows)

    def _width(self, X: Matrix, weight: FloatArray) -> float:
        """Number of columns times the variance of all values, each row weighted; its root for the exponential."""
        mean = np.average(np.asarray(X.mean(axis=1, dtype=np.float64)).ravel(), weights=weight)
        if sp.issparse(X):
            squares = X.astype(np.float64, copy=False).power(2).mean(axis=1)
            variance = np.average(np.asarray(squares).ravel(), weights=weight) - mean**2
        else:
            variance = np.average(((X - mean) ** 2).mean(axis=1), weights=weight)
        width = float(X.shape[1] * variance) if variance > 0 else 1.0
        return float(np.sqrt(width)) if self.kernel == "exponential" else width

    def _warn_unsettled(self, found: Solution, a: int, b: int) -> None:
        first, second = self.classes_[[a, b]].tolist()
        hard = not np.isfinite(self.C)
        if hard and (not found.settled or np.abs(found.weights).max() >= _HARD):
            message = f"no hard margin found between classes {first!r} and {second!r}: they overlap; give a finite C"
        elif not found.settled:
            message = (
                f"the margin between classes {first!r} and {second!r} is not settled to tol={self.tol:g}; "
                "scale the columns, lower C or raise max_iter"
            )
        else:
            return
        warnings.warn(message, NotSettled, stacklevel=2)
