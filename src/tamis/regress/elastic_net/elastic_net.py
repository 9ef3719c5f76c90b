"""Elastic net: least squares with a penalty on the absolute and the squared weights."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.inner_cv import CAUTION, most_confident, weighted_folds
from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import centre_and_scale, weighted_numbers
from tamis.margins.kernel import inner_products, squared_norms
from tamis.margins.linear import LinearPredictions
from tamis.regress.elastic_net.descent import descend, highest_penalty
from tamis.regress.elastic_net.problem import Solution

#: Penalties that "auto" tries, and the smallest of them with more columns than rows, and with fewer.
_PENALTIES, _WIDE, _TALL = 40, 1e-2, 1e-3


class _Prepared(NamedTuple):
    """Mean and deviation of the target, the highest penalty, solutions by share of it, and what "auto" has tried."""

    mean: float
    scale: float
    highest: float
    solutions: dict[float, Solution]
    tried: tuple[FloatArray, FloatArray, float] | None


class ElasticNet(LinearPredictions, SharedFit, WeightedRegressor):
    """Linear prediction of least squared error plus a penalty that sets many weights to 0.

    It minimises, over weights w and an intercept b that is not penalised::

        sum_i (y_i - w.x_i - b)^2 / (2 n) + a (r |w|_1 + (1 - r) |w|^2 / 2)

    for the target in units of its deviation, a penalty a and the ratio r. With r = 1 it is the lasso; a smaller one
    shares the weight between columns that vary together.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        The penalty a, as a share of the smallest that sets all weights to 0: 1 uses no column, and most columns enter
        below 0.1. "auto" takes, of 40 shares between 1 and 0.001 (0.01 with more columns than rows), the one with the
        smallest squared error, plus `caution` deviations, over the folds of an internal cross-validation; of equals
        the largest.
    l1_ratio : float, default=0.5
        The ratio r, above 0 and at most 1.
    cv : int, default=5
        Folds of the internal cross-validation, stratified by the size of the target.
    caution : float, default=0.0
        How many standard deviations over the folds count against a penalty (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    used_ : bool array of shape (n_features,)
        The columns with a weight.
    share_, alpha_ : float
        The penalty in use, as a share of the highest and as it is, which is `alpha` of scikit-learn's ``ElasticNet``
        for the target in units of its deviation.
    shares_, cv_r2_ : arrays
        With ``alpha="auto"``: the shares compared, largest first, and 1 less their squared error in units of the
        target's variance, averaged over the folds.

    See Also
    --------
    Lasso : With a ratio of 1.

    Notes
    -----
    A share means the same for targets of any scale. The scale of the columns matters: standardise them first unless
    they are measured alike. Coordinate descent finds the columns in use: celer's (the extra ``tamis[celer]``) if it is
    installed and there are more columns than rows, and no weights where these are sparse; otherwise scikit-learn's.
    With up to 2,000 columns in use the equations that hold at the optimum then give it to rounding, so that the result
    does not depend on which of the two is installed. Of equal columns the lasso uses one. A warning reports when the
    optimum is not reached.
    Penalties that are fitted together are solved from the largest to the smallest, each from the solution before it.
    A row of weight 2 counts like the row twice.

    References
    ----------
    Zou and Hastie (2005), "Regularization and variable selection via the elastic net"; Friedman, Hastie and Tibshirani
    (2010), "Regularization paths for generalized linear models via coordinate descent"; Massias, Gramfort and Salmon
    (2018), "Celer: a fast solver for the lasso with dual extrapolation"; Lee, Battle, Raina and Ng (2006), "Efficient
    sparse coding algorithms".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import ElasticNet
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> model = ElasticNet(alpha=0.25, l1_ratio=0.5).fit(X, [7.0, 11.0, 7.0, 11.0])
    >>> model.coef_.round(6), model.used_
    (array([1.2, 0. ]), array([ True, False]))
    """

    part: ClassVar[Part] = Part(
        "elastic_net",
        positional=("alpha", "l1_ratio"),
        search={"alpha": geom(3e-3, 0.8), "l1_ratio": choice(0.1, 0.5, 0.9)},
        paper="Zou and Hastie 2005",
        phrase="the elastic net",
        counterpart="logistic",
    )
    #: Penalties are solved along a path.
    shared_parameters = ("alpha",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [real(0, None), StrOptions({"auto"})],
        "l1_ratio": [real(0, 1, "right")],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        alpha: float | Literal["auto"] = "auto",
        l1_ratio: float = 0.5,
        *,
        cv: int = 5,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> _Prepared:
        X, y, weight, _ = weighted_numbers(X, y, sample_weight, self.part.name)
        mean, scale = centre_and_scale(y, weight)
        y = (y - mean) / scale
        ratio = float(self.l1_ratio)
        highest = highest_penalty(X, y, weight, ratio)
        wanted = {float(one.alpha) for one in estimators if one.alpha != "auto"}
        tried = None
        if len(wanted) < len({one.alpha for one in estimators}):
            tried = self._try_all(X, y, weight)
            wanted.add(tried[2])
        shares = sorted((share for share in wanted if share * highest > 0), reverse=True)
        found = descend(X, y, weight, [share * highest for share in shares], ratio, exact=True)
        return _Prepared(mean, scale, highest, dict(zip(shares, found, strict=True)), tried)

    def _finish(self, prepared: _Prepared) -> None:
        mean, scale, highest, solutions, tried = prepared
        if self.alpha == "auto":
            assert tried is not None
            self.shares_, self.cv_r2_, self.share_ = tried
        else:
            self.share_ = float(self.alpha)
        self.alpha_ = self.share_ * highest
        # Where no column says anything of the target there is nothing to solve.
        found = solutions.get(self.share_, Solution(np.zeros(self.n_features_in_), 0.0, settled=True))
        self.coef_ = scale * found.weights
        self.intercept_ = mean + scale * found.intercept
        self.used_ = self.coef_ != 0
        if not found.settled:
            message = f"{self.part.name} is not settled with alpha={self.share_:g}; scale the columns or raise alpha"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)

    def _try_all(self, X: Matrix, y: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """Shares of the highest penalty, what each explains in the folds on average, and the best of them."""
        what = f'{self.part.name}: alpha="auto"'
        folds = weighted_folds(squared_norms(X), y, weight, self.cv, self.random_state, what)
        shares = np.geomspace(1.0, _WIDE if X.shape[0] < X.shape[1] else _TALL, _PENALTIES)
        explained = np.zeros((len(folds), shares.size))
        for fold, part in enumerate(folds):
            train, test = np.flatnonzero(part.train), np.flatnonzero(part.test)
            rows = X[train], y[train], part.train[train]
            mean = np.average(rows[1], weights=rows[2])
            explained[fold] = 1.0 - np.average((y[test] - mean) ** 2, weights=part.test[test])
            highest = highest_penalty(*rows, float(self.l1_ratio))
            if highest > 0:
                path = descend(*rows, (shares * highest).tolist(), float(self.l1_ratio), exact=False)
                outputs = inner_products(X[test], np.stack([one.weights for one in path]))
                errors = y[test, None] - outputs - [one.intercept for one in path]
                explained[fold] = 1.0 - np.average(errors**2, axis=0, weights=part.test[test])
        return shares, explained.mean(axis=0), float(shares[most_confident(explained, self.caution)])
