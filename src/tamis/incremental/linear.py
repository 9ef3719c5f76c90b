"""Linear discriminants and ridge, one column more or less: the inverse of the scatter is bordered, not found anew."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.column_updates import UpdatingJudge, leaders
from tamis.incremental.evaluator import Judge, dense_columns

#: Relative differences of scores below this are ties whatever the precision.
_TIE = 1e-11

#: Rounding of a solution in units of the precision and of the condition.
_ROUNDING = 8.0

#: A solution with a larger relative error is not trusted at all.
_WORST = 1e-3


def lda_judge(model: Any, X: Matrix, y: Codes, Z: Matrix) -> Judge | None:
    r"""What linear discriminant analysis says when a column joins or leaves; None for what is not covered.

    With the class means m, the priors p and the scatter S within classes the class is the one with the largest

    .. math:: (z - \bar m)' S^{-1} (m_k - \bar m) - (m_k - \bar m)' S^{-1} (m_k - \bar m) / 2 + \log p_k.

    A column c that joins a set, with scatter r to the set and v of its own, changes both products by a term of rank
    one: :math:`a' S^{-1} b` grows by :math:`(a_c - a'g)(b_c - b'g) / (v - r'g)` where :math:`g = S^{-1} r`.

    Parameters
    ----------
    model : estimator
        scikit-learn's ``LinearDiscriminantAnalysis`` with solver "svd" or "lsqr" and no shrinkage.
    X, y, Z : training rows, their class codes and test rows
        As for :class:`~tamis.incremental.fallback.DoubtingJudge`.

    References
    ----------
    Golub and Van Loan (2013), "Matrix Computations", section 2.1.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = np.array([[0.0, 5.0], [1.0, 6.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> judge = lda_judge(LinearDiscriminantAnalysis(), X, y, np.array([[0.5, 9.0], [4.0, 2.0]]))
    >>> judge.add(np.array([], dtype=int), np.array([0, 1]))
    array([[0, 1],
           [1, 0]])
    """
    if type(model) is not LinearDiscriminantAnalysis or model.solver not in ("svd", "lsqr"):
        return None
    if model.shrinkage is not None or model.covariance_estimator is not None or model.n_components is not None:
        return None
    count = np.bincount(y)
    # Large tolerances make scikit-learn drop directions of any set.
    if count.size < 2 or y.size <= count.size or not (_is_number(model.tol) and model.tol <= 0.1):
        return None
    priors = count / y.size if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    # Priors that scikit-learn would refuse, mend or take the logarithm of zero of are left to it.
    if priors.shape != count.shape or not priors.min() > 0 or abs(priors.sum() - 1.0) > 1e-6:
        return None
    return _DiscriminantJudge(model, X, y, Z, priors)


def ridge_judge(model: Any, X: Matrix, y: Codes, Z: Matrix) -> Judge | None:
    r"""What a ridge classifier says when a column joins or leaves; None for what is not covered.

    With targets t of 1 for the class and -1 for the others the class is the one with the largest

    .. math:: \bar t_k + (z - \bar x)' (X'X + \alpha I)^{-1} X' t_k

    (X centred), and a column changes the product as in :func:`lda_judge`.

    Parameters
    ----------
    model : estimator
        scikit-learn's ``RidgeClassifier`` with a solver that is exact: "auto", "cholesky" or "svd" on dense rows,
        "cholesky" without intercept on sparse ones; class weights none or "balanced".
    X, y, Z : training rows, their class codes and test rows
        As for :class:`~tamis.incremental.fallback.DoubtingJudge`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = np.array([[0.0, 5.0], [1.0, 6.0], [4.0, 5.5], [5.0, 6.5]]), np.array([0, 0, 1, 1])
    >>> judge = ridge_judge(RidgeClassifier(), X, y, np.array([[0.5, 9.0], [4.0, 2.0]]))
    >>> judge.add(np.array([], dtype=int), np.array([0, 1]))
    array([[0, 1],
           [1, 0]])
    """
    if type(model) is not RidgeClassifier or model.positive or not (_is_number(model.alpha) and model.alpha >= 0):
        return None
    # On sparse rows the others stop at a tolerance, short of the solution.
    exact = ("auto", "cholesky", "svd") if not sp.issparse(X) else () if model.fit_intercept else ("cholesky",)
    if model.solver not in exact or int(y.max()) < 1:
        return None
    if model.class_weight is not None and not (
        isinstance(model.class_weight, str) and model.class_weight == "balanced"
    ):
        return None
    return _RidgeJudge(model, X, y, Z)


class _Column(NamedTuple):
    """Columns, each a row here: centred, and scaled to the same scatter where the judge does so."""

    learn: FloatArray
    judged: FloatArray
    #: The right side of the equations, for each class.
    target: FloatArray
    #: The diagonal of the scatter.
    norm: FloatArray
    #: The largest value met, and the largest distance of a test row from the centre.
    top: FloatArray
    reach: FloatArray
    #: How many deviations the largest value is; where there is nothing but rounding, infinity.
    stretch: FloatArray


@dataclass(frozen=True, eq=False)
class _State:
    """The solution for a set of columns."""

    columns: np.ndarray
    own: _Column
    #: Inverse of the scatter's Cholesky factor, and what it makes of the test rows and the targets: an update by these
    #: halves loses the digits that the scatter's condition costs once, one by the inverse twice.
    half_inverse: FloatArray
    half_judged: FloatArray
    half_target: FloatArray
    inverse: FloatArray
    weights: FloatArray
    usable: bool


class _LinearJudge(UpdatingJudge[_Column]):
    """Scores ``constant + z' S^-1 b - half * b' S^-1 b``, with targets b and scatter S, bordered by a column."""

    #: The share of the second term.
    half = 0.0
    #: Whether columns are brought to the same scatter first, as scikit-learn does or as if it did.
    scaled = True
    #: The trace of the inverse, in units of the mean scatter, up to which scikit-learn drops no direction for certain.
    limit = 1e12
    #: How many terms of the size of a value are added up to a target.
    terms = 1.0
    constant: FloatArray
    #: The size of the terms that the constants are made of.
    offset: float
    _state: _State | None = None

    def _solved(self, columns: np.ndarray) -> _State:
        """The solution for the set itself, from scratch: rounding cannot build up from step to step."""
        if self._state is None or not np.array_equal(self._state.columns, columns):
            own = self._prepared(columns)
            scatter = own.learn @ own.learn.T
            np.fill_diagonal(scatter, own.norm)
            half, usable = np.zeros_like(scatter), bool(np.isfinite(own.stretch).all())
            if usable and columns.size:
                try:
                    half = solve_triangular(np.linalg.cholesky(scatter), np.eye(columns.size), lower=True)
                except np.linalg.LinAlgError:
                    usable = False
            inverse = half.T @ half
            halves = half, half @ own.judged, half @ own.target
            self._state = _State(columns, own, *halves, inverse, half.T @ halves[2], usable)
        return self._state

    def _changed(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        # What overflows is no answer to be sure of.
        with np.errstate(all="ignore"):
            state = self._solved(columns)
            if state.usable:
                return self._joined(state, candidates) if joining else self._left(state, candidates)
        return np.zeros((candidates.size, self.Z.shape[0]), dtype=np.intp), np.zeros(candidates.size, dtype=bool)

    def _joined(self, state: _State, candidates: np.ndarray) -> tuple[Codes, Mask]:
        new = self._prepared(candidates)
        cross = state.half_inverse @ (state.own.learn @ new.learn.T)
        schur = new.norm - np.einsum("sc,sc->c", cross, cross)
        judged, target = new.judged - cross.T @ state.half_judged, new.target - cross.T @ state.half_target
        part = state.half_inverse.T @ cross
        return self._answers(state, 1.0, part, np.where(schur > 0, schur, np.nan), judged, target, new)

    def _left(self, state: _State, candidates: np.ndarray) -> tuple[Codes, Mask]:
        place = np.array([np.flatnonzero(state.columns == j)[0] for j in candidates], dtype=np.intp)
        schur = 1.0 / state.inverse[place, place]
        part = -state.inverse[:, place] * schur
        judged, target = -part.T @ state.own.judged, state.weights[place] * schur[:, None]
        return self._answers(state, -1.0, part, schur, judged, target, None)

    def _answers(
        self,
        state: _State,
        sign: float,
        part: FloatArray,
        schur: FloatArray,
        judged: FloatArray,
        target: FloatArray,
        new: _Column | None,
    ) -> tuple[Codes, Mask]:
        """Answers after each change, and which of them rounding cannot have touched."""
        slope = sign * target / schur[:, None]
        gram = state.half_target.T @ state.half_target
        base = state.half_target.T @ state.half_judged + (self.constant - self.half * gram.diagonal())[:, None]
        said, lead = leaders(
            base[k] + slope[:, k, None] * (judged - self.half * target[:, k, None]) for k in range(self.n_classes)
        )
        error, blur = self._error(state, sign, part, schur, slope, new)
        sure = (error < _WORST) & (lead.min(axis=1) > blur)
        size = state.columns.size + int(sign)
        return said, sure & self._keeps_all(size, gram + slope[:, :, None] * target[:, None, :], error)

    def _error(
        self, state: _State, sign: float, part: FloatArray, schur: FloatArray, slope: FloatArray, new: _Column | None
    ) -> tuple[FloatArray, FloatArray]:
        """Bounds, for each change, of the relative error of the solution and of the error of a score.

        They are those of solving with the scatter, so wide enough for scikit-learn's own way to the scores too.
        """
        own = state.own
        diagonal = np.maximum(state.inverse.diagonal()[:, None] + sign * part**2 / schur, 0.0)
        weights = np.abs(state.weights[:, :, None] - part[:, None, :] * slope.T)
        size = np.tensordot(own.top, weights, axes=1).max(axis=0)
        root = np.sqrt(diagonal)
        reach, top = own.reach @ root, own.top @ root
        stretch = np.full(schur.size, own.stretch.max(initial=1.0))
        if new is None:
            # The way back leads through the set with the column, which may be worse off than the one without.
            condition = np.full(schur.size, state.inverse.trace() * own.norm.mean())
        else:
            condition = (diagonal.sum(axis=0) + 1.0 / schur) * (own.norm.sum() + new.norm) / (own.norm.size + 1)
            size = size + new.top * np.abs(slope).max(axis=1)
            reach, top = reach + new.reach / np.sqrt(schur), top + new.top / np.sqrt(schur)
            stretch = np.maximum(stretch, new.stretch)
        unit = _ROUNDING * self.precision
        error = np.where(condition < self.limit, np.maximum(unit * condition * stretch, _TIE), np.inf)
        return error, error * (size + self.offset) + unit * self.terms * reach * top

    def _keeps_all(self, size: int, gram: FloatArray, error: FloatArray) -> Mask | bool:
        """Whether the classifier uses all that tells the classes apart."""
        return True

    def _finished(
        self, learn: FloatArray, judged: FloatArray, target: FloatArray, alpha: float, top: FloatArray
    ) -> _Column:
        """Columns in their units."""
        norm = np.einsum("cn,cn->c", learn, learn) + alpha
        stretch = np.where(norm > 0, top * np.sqrt(self.terms) / np.sqrt(norm), np.inf)
        unit = np.sqrt(np.where(norm > 0, norm, 1.0)) if self.scaled else np.ones_like(norm)
        reach = np.abs(judged).max(axis=1) / unit
        across = unit[:, None]
        return _Column(learn / across, judged / across, target / across, norm / unit**2, top / unit, reach, stretch)

    def _dense(self, columns: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Training rows and test rows of some columns, each a row here, and their largest values."""
        learn, judged = dense_columns(self.X, columns).T, dense_columns(self.Z, columns).T
        return learn, judged, np.maximum(np.abs(learn).max(axis=1), np.abs(judged).max(axis=1))


class _DiscriminantJudge(_LinearJudge):
    """Targets are the class means, the scatter is that within classes."""

    half = 0.5

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix, priors: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.priors = priors
        self.constant = np.log(priors)
        self.offset = float(np.abs(self.constant).max())
        count = np.bincount(y)
        self.share = np.eye(self.n_classes)[y] / count
        # The solver "svd" is told the priors too, but its scatter is that of the rows as they come.
        self.scaled = model.solver == "svd"
        self.root_weight = np.sqrt(np.full(y.size, 1 / y.size) if self.scaled else (priors / count)[y])
        if self.scaled and model.tol > 0:
            # It drops directions of less than tol deviations; the smallest has 1 / trace of the inverse at least.
            self.limit = 0.25 / model.tol**2

    def _prepare(self, columns: np.ndarray) -> _Column:
        learn, judged, top = self._dense(columns)
        means = learn @ self.share
        # The solver "lsqr" centres nothing, which costs it digits.
        centre = (means @ self.priors if self.scaled else np.zeros(columns.size))[:, None]
        return self._finished((learn - means[:, self.y]) * self.root_weight, judged - centre, means - centre, 0.0, top)

    def _keeps_all(self, size: int, gram: FloatArray, error: FloatArray) -> Mask | bool:
        """Whether the solver "svd" keeps all directions between means: it drops those far smaller than the first."""
        rank = min(self.n_classes - 1, size)
        if not self.scaled or rank < 2:
            return True
        root = np.sqrt(self.priors)
        gram = np.where(np.isfinite(error)[:, None, None], gram * root[:, None] * root, 0.0)
        value = np.linalg.eigvalsh(gram)
        kept: Mask = value[:, -rank] > np.maximum(4 * self.model.tol**2, error) * value[:, -1]
        return kept


class _RidgeJudge(_LinearJudge):
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
        # A mean of ones and minus ones, each weighted: rounding adds up even where they cancel.
        self.offset = float(np.sqrt(y.size)) if model.fit_intercept else 0.0
        self.classes = (classes - self.constant) * self.root_weight[:, None]

    def _prepare(self, columns: np.ndarray) -> _Column:
        learn, judged, top = self._dense(columns)
        centre = (learn @ self.share)[:, None]
        learn = (learn - centre) * self.root_weight
        return self._finished(learn, judged - centre, learn @ self.classes, self.alpha, top)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
