"""Linear discriminants and ridge, one column more or less: the inverse of the scatter is bordered, not recomputed."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier

from tamis.base.types import Codes, FloatArray, Mask, Matrix, Target
from tamis.incremental.column_updates import ColumnUpdatingEvaluator, leaders
from tamis.incremental.evaluator import IncrementalEvaluator, dense_columns

#: Scores with a smaller relative difference are ties in any precision.
_TIE = 1e-11

#: Rounding error of a solution, in units of the precision times the condition number.
_ROUNDING = 8.0

#: A solution with a larger relative error is never trusted.
WORST = 1e-3


def lda_evaluator(model: Any, X: Matrix, y: Codes, Z: Matrix) -> IncrementalEvaluator | None:
    r"""scikit-learn's ``LinearDiscriminantAnalysis`` with solver "svd" or "lsqr" and no shrinkage, or None.

    With class means m, priors p and scatter S within classes, the predicted class has the largest

    .. math:: (z - \bar m)' S^{-1} (m_k - \bar m) - (m_k - \bar m)' S^{-1} (m_k - \bar m) / 2 + \log p_k.

    A column c that joins a set, with scatter r to the set and v of its own, changes both products by a term of rank
    one: :math:`a' S^{-1} b` grows by :math:`(a_c - a'g)(b_c - b'g) / (v - r'g)` where :math:`g = S^{-1} r`.

    References
    ----------
    Golub and Van Loan (2013), "Matrix Computations", section 2.1.4.
    """
    if type(model) is not LinearDiscriminantAnalysis or model.solver not in ("svd", "lsqr"):
        return None
    if model.shrinkage is not None or model.covariance_estimator is not None or model.n_components is not None:
        return None
    count = np.bincount(y)
    # Large tolerances make scikit-learn drop directions of any set.
    if count.size < 2 or y.size <= count.size or not (is_number(model.tol) and model.tol <= 0.1):
        return None
    priors = count / y.size if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    # Priors that scikit-learn refuses, normalizes or takes the logarithm of zero of are left to it.
    if priors.shape != count.shape or not priors.min() > 0 or abs(priors.sum() - 1.0) > 1e-6:
        return None
    return _DiscriminantEvaluator(model, X, y, Z, priors)


def ridge_evaluator(model: Any, X: Matrix, y: Codes, Z: Matrix) -> IncrementalEvaluator | None:
    r"""scikit-learn's ``RidgeClassifier`` with an exact solver and class weights none or "balanced", or None.

    The solvers "auto", "cholesky" and "svd" are exact on dense rows, "cholesky" without intercept on sparse ones. With
    targets t of 1 for the class and -1 for the others, the predicted class has the largest

    .. math:: \bar t_k + (z - \bar x)' (X'X + \alpha I)^{-1} X' t_k

    (X centred), and a column changes the product as in :func:`lda_evaluator`.
    """
    if type(model) is not RidgeClassifier or model.positive or not (is_number(model.alpha) and model.alpha >= 0):
        return None
    # On sparse rows the other solvers stop at a tolerance, short of the solution.
    exact = ("auto", "cholesky", "svd") if not sp.issparse(X) else () if model.fit_intercept else ("cholesky",)
    if model.solver not in exact or int(y.max()) < 1:
        return None
    weighting = model.class_weight
    if weighting is not None and not (isinstance(weighting, str) and weighting == "balanced"):
        return None
    return _RidgeEvaluator(model, X, y, Z)


class Column(NamedTuple):
    """Columns as rows: centred, and scaled to the same scatter where the evaluator does so."""

    train: FloatArray
    test: FloatArray
    #: The right side of the equations, for each class.
    target: FloatArray
    #: The diagonal of the scatter.
    norm: FloatArray
    #: The largest absolute value, and the largest distance of a test row from the centre.
    top: FloatArray
    reach: FloatArray
    #: The largest value in deviations; infinite where the deviation is nothing but rounding.
    stretch: FloatArray


@dataclass(frozen=True, eq=False)
class State:
    """The solution for a set of columns."""

    columns: np.ndarray
    own: Column
    #: Inverse of the scatter's Cholesky factor, and its products with the test rows and the targets. Updates by these
    #: halves lose the digits of the scatter's condition number once, updates by the inverse twice.
    half_inverse: FloatArray
    half_test: FloatArray
    half_target: FloatArray
    inverse: FloatArray
    weights: FloatArray
    usable: bool


class LinearEvaluator(ColumnUpdatingEvaluator[Column]):
    """Base of the linear evaluators, which predict by ``constant + z' S^-1 b - half * b' S^-1 b``.

    The targets b and the scatter S are bordered by a column.
    """

    #: The factor of the second term.
    half = 0.0
    #: Whether columns are scaled to the same scatter first, as scikit-learn does or as if it did.
    scaled = True
    #: Up to this trace of the inverse, in units of the mean scatter, scikit-learn certainly drops no direction.
    limit = 1e12
    #: The number of terms of the size of a value that sum to a target.
    terms = 1.0
    constant: FloatArray
    #: The size of the terms of the constants.
    offset: float
    _state: State | None = None

    def _solved(self, columns: np.ndarray) -> State:
        """The solution for the set itself, from scratch, so that rounding does not accumulate over steps."""
        if self._state is None or not np.array_equal(self._state.columns, columns):
            own = self._prepared(columns)
            scatter = own.train @ own.train.T
            np.fill_diagonal(scatter, own.norm)
            half, usable = np.zeros_like(scatter), bool(np.isfinite(own.stretch).all())
            if usable and columns.size:
                try:
                    half = solve_triangular(np.linalg.cholesky(scatter), np.eye(columns.size), lower=True)
                except np.linalg.LinAlgError:
                    usable = False
            inverse = half.T @ half
            halves = half, half @ own.test, half @ own.target
            self._state = State(columns, own, *halves, inverse, half.T @ halves[2], usable)
        return self._state

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Target, Mask]:
        # A prediction that overflows is not certain.
        with np.errstate(all="ignore"):
            state = self._solved(columns)
            if state.usable:
                return self._added(state, candidates) if joining else self._removed(state, candidates)
        return np.zeros((candidates.size, self.Z.shape[0]), dtype=self.y.dtype), np.zeros(candidates.size, dtype=bool)

    def _added(self, state: State, candidates: np.ndarray) -> tuple[Target, Mask]:
        new = self._prepared(candidates)
        cross = state.half_inverse @ (state.own.train @ new.train.T)
        schur = new.norm - np.einsum("sc,sc->c", cross, cross)
        test, target = new.test - cross.T @ state.half_test, new.target - cross.T @ state.half_target
        part = state.half_inverse.T @ cross
        return self._predicted(state, 1.0, part, np.where(schur > 0, schur, np.nan), test, target, new)

    def _removed(self, state: State, candidates: np.ndarray) -> tuple[Target, Mask]:
        place = np.array([np.flatnonzero(state.columns == j)[0] for j in candidates], dtype=np.intp)
        schur = 1.0 / state.inverse[place, place]
        part = -state.inverse[:, place] * schur
        test, target = -part.T @ state.own.test, state.weights[place] * schur[:, None]
        return self._predicted(state, -1.0, part, schur, test, target, None)

    def _predicted(
        self,
        state: State,
        sign: float,
        part: FloatArray,
        schur: FloatArray,
        test: FloatArray,
        target: FloatArray,
        new: Column | None,
    ) -> tuple[Target, Mask]:
        """Predictions after each change, and which of them rounding cannot have changed."""
        slope = sign * target / schur[:, None]
        gram = state.half_target.T @ state.half_target
        base = state.half_target.T @ state.half_test + (self.constant - self.half * gram.diagonal())[:, None]
        predicted, lead = leaders(
            base[k] + slope[:, k, None] * (test - self.half * target[:, k, None]) for k in range(self.n_classes)
        )
        error, blur = self._error(state, sign, part, schur, slope, new)
        certain = (error < WORST) & (lead.min(axis=1) > blur)
        size = state.columns.size + int(sign)
        return predicted, certain & self._uses_all(size, gram + slope[:, :, None] * target[:, None, :], error)

    def _error(
        self, state: State, sign: float, part: FloatArray, schur: FloatArray, slope: FloatArray, new: Column | None
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds, for each change, of the relative error of the solution and of the error of a score.

        They are those of solving with the scatter, and so wide enough for scikit-learn's algorithm too.
        """
        own = state.own
        diagonal = np.maximum(state.inverse.diagonal()[:, None] + sign * part**2 / schur, 0.0)
        weights = np.abs(state.weights[:, :, None] - part[:, None, :] * slope.T)
        size = np.tensordot(own.top, weights, axes=1).max(axis=0)
        root = np.sqrt(diagonal)
        reach, top = own.reach @ root, own.top @ root
        stretch = np.full(schur.size, own.stretch.max(initial=1.0))
        if new is None:
            # The update starts from the set with the column, whose condition may be worse than without.
            condition = np.full(schur.size, state.inverse.trace() * own.norm.mean())
        else:
            condition = (diagonal.sum(axis=0) + 1.0 / schur) * (own.norm.sum() + new.norm) / (own.norm.size + 1)
            size = size + new.top * np.abs(slope).max(axis=1)
            reach, top = reach + new.reach / np.sqrt(schur), top + new.top / np.sqrt(schur)
            stretch = np.maximum(stretch, new.stretch)
        unit = _ROUNDING * self.precision
        error = np.where(condition < self.limit, np.maximum(unit * condition * stretch, _TIE), np.inf)
        return error, error * (size + self.offset) + unit * self.terms * reach * top

    def _uses_all(self, size: int, gram: FloatArray, error: FloatArray) -> Mask | bool:
        """Whether the classifier uses all directions between the class means."""
        return True

    def _statistics(
        self, train: FloatArray, test: FloatArray, target: FloatArray, alpha: float, top: FloatArray
    ) -> Column:
        """Statistics of columns, in units of their scatter."""
        norm = np.einsum("cn,cn->c", train, train) + alpha
        stretch = np.where(norm > 0, top * np.sqrt(self.terms) / np.sqrt(norm), np.inf)
        unit = np.sqrt(np.where(norm > 0, norm, 1.0)) if self.scaled else np.ones_like(norm)
        reach = np.abs(test).max(axis=1) / unit
        across = unit[:, None]
        return Column(train / across, test / across, target / across, norm / unit**2, top / unit, reach, stretch)

    def _dense(self, columns: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Training and test rows of some columns, transposed, and the largest absolute value of each column."""
        train, test = dense_columns(self.X, columns).T, dense_columns(self.Z, columns).T
        return train, test, np.maximum(np.abs(train).max(axis=1), np.abs(test).max(axis=1))


class _DiscriminantEvaluator(LinearEvaluator):
    """Targets are the class means, the scatter is that within classes."""

    half = 0.5

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, priors: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.priors = priors
        self.constant = np.log(priors)
        self.offset = float(np.abs(self.constant).max())
        count = np.bincount(y)
        self.share = np.eye(self.n_classes)[y] / count
        # The solver "svd" takes priors too, but its scatter ignores them.
        self.scaled = model.solver == "svd"
        self.root_weight = np.sqrt(np.full(y.size, 1 / y.size) if self.scaled else (priors / count)[y])
        if self.scaled and model.tol > 0:
            # It drops directions of less than tol deviations; the smallest has at least 1 / trace of the inverse.
            self.limit = 0.25 / model.tol**2

    def _prepare(self, columns: np.ndarray) -> Column:
        train, test, top = self._dense(columns)
        means = train @ self.share
        # The solver "lsqr" does not centre, which costs digits.
        centre = (means @ self.priors if self.scaled else np.zeros(columns.size))[:, None]
        return self._statistics((train - means[:, self.y]) * self.root_weight, test - centre, means - centre, 0.0, top)

    def _uses_all(self, size: int, gram: FloatArray, error: FloatArray) -> Mask | bool:
        """Whether the solver "svd" drops no direction between means: it drops those far smaller than the first."""
        rank = min(self.n_classes - 1, size)
        if not self.scaled or rank < 2:
            return True
        root = np.sqrt(self.priors)
        gram = np.where(np.isfinite(error)[:, None, None], gram * root[:, None] * root, 0.0)
        value = np.linalg.eigvalsh(gram)
        used: Mask = value[:, -rank] > np.maximum(4 * self.model.tol**2, error) * value[:, -1]
        return used


class _RidgeEvaluator(LinearEvaluator):
    """Targets are the products of the columns with the classes, the scatter is about the mean, plus alpha."""

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix) -> None:
        super().__init__(model, X, y, Z)
        self.alpha = float(model.alpha)
        self.scaled = model.solver != "svd"
        weight = np.ones(y.size) if model.class_weight is None else (y.size / (self.n_classes * np.bincount(y)))[y]
        self.terms = float(weight.sum())
        self.share = weight / self.terms if model.fit_intercept else np.zeros(y.size)
        self.root_weight = np.sqrt(weight)
        classes = 2.0 * np.eye(self.n_classes)[y] - 1.0
        self.constant = self.share @ classes
        # A weighted mean of ones and minus ones: rounding accumulates even where they cancel.
        self.offset = float(np.sqrt(y.size)) if model.fit_intercept else 0.0
        self.classes = (classes - self.constant) * self.root_weight[:, None]

    def _prepare(self, columns: np.ndarray) -> Column:
        train, test, top = self._dense(columns)
        centre = (train @ self.share)[:, None]
        train = (train - centre) * self.root_weight
        return self._statistics(train, test - centre, train @ self.classes, self.alpha, top)


def is_number(value: Any) -> bool:
    """Whether a parameter is a number."""
    return isinstance(value, Real) and not isinstance(value, bool)
