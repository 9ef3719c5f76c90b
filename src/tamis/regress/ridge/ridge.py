"""Ridge regression: least squares with a penalty on the squared weights."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.linear_model import Ridge as IterativeRidge

from tamis.base._sklearn import StrOptions, real
from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.search_range import geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import centre_and_scale, weighted_numbers
from tamis.incremental.ridge import RidgeEvaluator
from tamis.incremental.ridge_auto import AutoRidgeEvaluator
from tamis.margins.linear import LinearPredictions
from tamis.regress.ridge.normal_equations import EQUAL, FREE, PENALTIES, NormalEquations

#: Equations up to this number are always solved by their eigenvalues.
_SMALL = 500

#: Penalties from which on eigenvalues are quicker than a factorization each.
_MANY = 8

#: Most rows by which a penalty is selected, if there are as many columns.
_MOST = 3_000

#: Equations from this number on are solved by conjugate gradients.
_LARGE = 10_000


class _Prepared(NamedTuple):
    """Rows of a weight above zero, their equations unless they are too many, and whether to find eigenvalues.

    The target is in units of its deviation, `scale`, above its mean.
    """

    mean: float
    scale: float
    rows: tuple[Matrix, FloatArray, FloatArray]
    equations: NormalEquations | None
    decompose: bool


class Ridge(LinearPredictions, SharedFit, WeightedRegressor):
    """Linear prediction of least squared error plus a penalty on the squared weights.

    It minimises, over weights w and an intercept b that is not penalised::

        sum_i (y_i - w.x_i - b)^2 + alpha |w|^2.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The penalty, as in scikit-learn's ``Ridge``; 0 is least squares, of the smallest weights where they are not
        unique. "auto" takes, of 45 penalties between 1e3 and 1e-8 times the largest eigenvalue of the centred rows'
        products, the one with the smallest squared error on rows left out one at a time; of equals the largest.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    alpha_ : float
        The penalty in use.
    alphas_, loo_rmse_ : arrays
        With ``alpha="auto"``: the penalties compared, largest first, and the root mean squared error of each.

    See Also
    --------
    Lasso : A penalty on the absolute weights, which sets most of them to 0.

    Notes
    -----
    The penalty depends on the scale of the columns: standardise them first unless they are measured alike. It does not
    depend on the scale of the target.

    One decomposition, of the smaller of the rows' and the columns' products, serves every penalty and the errors of all
    rows left out. Sparse rows stay sparse. Beyond 10,000 equations the solver is conjugate gradients, and with more
    than 3,000 rows and columns "auto" uses 3,000 rows, evenly spaced in the order of their targets. Where selection
    precedes the fit, rows left out by "auto" have had a part in it.

    A row of weight 2 counts like the row twice. Where all weights are whole numbers, copies of a row are left out one
    at a time.

    References
    ----------
    Hoerl and Kennard (1970), "Ridge regression: biased estimation for nonorthogonal problems"; Allen (1974), "The
    relationship between variable selection and data augmentation and a method for prediction".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import Ridge
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> model = Ridge(alpha=4.0).fit(X, [7.0, 11.0, 7.0, 11.0])
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1., 0.]), 9.0)
    """

    part: ClassVar[Part] = Part(
        "ridge",
        positional=("alpha",),
        search={"alpha": geom(1e-3, 1e3)},
        paper="Hoerl and Kennard 1970",
        unit_rows=True,
        phrase="ridge regression",
        boundary="linear",
        counterpart="logistic",
    )
    #: One decomposition serves every penalty.
    shared_parameters = ("alpha",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"alpha": [real(0, None, "left"), StrOptions({"auto"})]}

    def __init__(self, alpha: float | Literal["auto"] = "auto") -> None:
        self.alpha = alpha

    def _evaluator(self, X: Matrix, y: FloatArray, Z: Matrix) -> RidgeEvaluator | AutoRidgeEvaluator:
        """Evaluates sets of columns without a fit for each."""
        if self.alpha == "auto":
            return AutoRidgeEvaluator(self, X, y, Z, PENALTIES, free=FREE, equal=EQUAL)
        return RidgeEvaluator(self, X, y, Z, float(self.alpha))

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> _Prepared:
        X, y, weight, _ = weighted_numbers(X, y, sample_weight, "ridge")
        mean, scale = centre_and_scale(y, weight)
        rows, size = (X, (y - mean) / scale, weight), min(X.shape)
        if size >= _LARGE:
            return _Prepared(mean, scale, rows, None, False)
        selects = size <= _MOST and any(one.alpha == "auto" for one in estimators)
        decompose = size <= _SMALL or selects or len({one.alpha for one in estimators}) > _MANY
        return _Prepared(mean, scale, rows, NormalEquations(*rows), decompose)

    def _finish(self, prepared: _Prepared) -> None:
        mean, scale, rows, equations, decompose = prepared
        if self.alpha == "auto":
            few = equations if equations is not None and equations.size <= _MOST else NormalEquations(*_spread(*rows))
            self.alphas_, errors = few.leave_one_out()
            self.alpha_ = float(self.alphas_[errors <= errors.min() * (1 + EQUAL)][0])
            self.loo_rmse_ = scale * errors
        else:
            self.alpha_ = float(self.alpha)
        if equations is not None:
            coef, intercept = equations.solve(self.alpha_, decompose=decompose)
        else:
            X, y, weight = rows
            model = IterativeRidge(alpha=self.alpha_, solver="sparse_cg", tol=1e-8).fit(X, y, sample_weight=weight)
            coef, intercept = model.coef_, float(model.intercept_)
        self.coef_, self.intercept_ = scale * coef, mean + scale * intercept


def _spread(X: Matrix, y: FloatArray, weight: FloatArray) -> tuple[Matrix, FloatArray, FloatArray]:
    """Some rows, evenly spaced in the order of their targets."""
    places = np.linspace(0, y.size - 1, min(_MOST, y.size)).round().astype(np.intp)
    rows = np.sort(np.argsort(y, kind="stable")[places])
    return X[rows], y[rows], weight[rows]
