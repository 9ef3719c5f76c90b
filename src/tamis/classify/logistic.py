"""Logistic regression with a penalty on the weights, squared (l2) or absolute (l1)."""

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, softmax
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base._sklearn import StrOptions, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.meta_estimators import LibraryClassifier
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.kernel import inner_products, squared_norms

#: scikit-learn before 1.8 takes the name of the penalty, later versions the share of l1.
_NAMED = LogisticRegression().penalty == "l2"

#: Most unknowns of Newton's method: a step costs their square times the rows.
_NEWTON = 1_000

#: Most steps of L-BFGS where Newton's method can take over, and where it cannot.
_STEPS, _LAST = 200, 10_000

#: Tolerances of liblinear, tried in turn until the weights are optimal.
_TOLERANCES = (1e-7, 1e-9, 1e-12)

#: Values up to which Newton's method and the last tolerance are tried first: they are fast enough.
_CHEAP = 100_000

#: liblinear's penalty on an intercept of 1, as a share of that on a weight of 1 and of the loss.
_INTERCEPT = 1e-3

#: Share of zeros in a dense matrix below which it is centred for liblinear.
_FULL = 0.1

#: Largest difference of the gradients of loss and penalty at the optimum, in units of the penalty's.
_BALANCE = 0.05


class Logistic(LibraryClassifier, WeightedClassifier):
    """Linear evidence for the classes, of maximal likelihood less a penalty on the weights.

    With l2 it minimises, over weights W and intercepts b of all classes::

        sum_c |W_c|^2 / 2 + C sum_i -log softmax(W x_i + b)[y_i],

    for two classes with one vector w of weights. With l1 the penalty is ``|w|_1``, which sets most weights to 0;
    several classes are then fitted one against the rest, and their probabilities divided by their sum.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
    C : float, default=1.0
        Weight of the likelihood against the penalty.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.

    Attributes
    ----------
    classes_ : array
    model_ : sklearn.linear_model.LogisticRegression
        With l1 and several classes, an ``OneVsRestClassifier`` of them.
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
    used_ : bool array of shape (n_features,)
        With l1: the columns with a weight in any class.

    Notes
    -----
    The penalty depends on the scale of the columns: standardise them first unless they are measured alike.

    With l2 the solver is L-BFGS, or Newton's method where L-BFGS is slow or the problem small, with at most 1,000
    unknowns. The weights are combinations of the rows: with fewer rows than columns the unknowns are as many as rows.

    With l1 the solver is liblinear's coordinate descent, with a fixed seed; scikit-learn's solver for all classes
    together takes many times longer. liblinear penalises the intercept too; it is scaled so that this hardly counts.
    Dense data with few zeros is centred for it. celer, which ``lasso`` uses, takes neither an intercept nor
    weights of rows for this loss and is not used. A warning reports when a solver did not reach the optimum.

    Sample weights multiply C row by row: a row of weight 2 counts like the row twice, one of weight 0 not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import Logistic
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [3.0, 2.0]])
    >>> model = Logistic("l1").fit(X, ["low", "low", "high", "high"])
    >>> model.used_
    array([ True, False])
    >>> model.predict([[0.5, 9.0], [2.5, 9.0]])
    array(['low', 'high'], dtype='<U4')
    """

    part: ClassVar[Part] = Part(
        "logistic",
        positional=("penalty", "C"),
        search={"penalty": choice("l2", "l1"), "C": geom(1e-2, 1e4), "class_weight": choice("balanced", None)},
        paper="Cox 1958; Tibshirani 1996 (l1)",
        unit_rows=True,
        phrase=lambda a: f"logistic regression with {a.pop('penalty').upper()} penalty",
        boundary="linear",
        counterpart="ridge",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [StrOptions({"l2", "l1"})],
        "C": [real(0, None)],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(self, penalty: Literal["l2", "l1"] = "l2", C: float = 1.0, *, class_weight: str | None = None) -> None:
        self.penalty = penalty
        self.C = C
        self.class_weight = class_weight

    def _make(self) -> LogisticRegression:
        penalty = {"penalty": self.penalty} if _NAMED else {"l1_ratio": float(self.penalty == "l1")}
        if self.penalty == "l1":
            solver = {"solver": "liblinear", "max_iter": 500, "random_state": 0}
        else:
            solver = {"solver": "lbfgs", "tol": 1e-9, "max_iter": _LAST}
        return LogisticRegression(C=float(self.C), **penalty, **solver)

    def _train(self, X: Matrix, y: Codes, cost: FloatArray | None) -> Any:
        X = X.astype(np.float64, copy=False)
        cost = np.ones(y.size) if cost is None else cost
        model, converged = (self._absolute if self.penalty == "l1" else self._squared)(X, y, cost)
        if not converged:
            message = f"logistic is not settled with penalty={self.penalty}, C={self.C:g}; scale the columns or lower C"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        many = getattr(model, "estimators_", [model])
        self.coef_ = np.concatenate([one.coef_ for one in many])
        self.intercept_ = np.concatenate([one.intercept_ for one in many])
        if self.penalty == "l1":
            self.used_ = self.coef_.any(axis=0)
        return model

    def _squared(self, X: Matrix, y: Codes, cost: FloatArray) -> tuple[LogisticRegression, bool]:
        n_rows, n_features = X.shape
        n_classes = self.classes_.shape[0]
        vectors = 1 if n_classes == 2 else n_classes
        # Solvers stop by the size of the gradient: rows of mean square length 1 make that independent of the scale.
        scale = float(np.sqrt(squared_norms(X).mean())) or 1.0
        model = self._make().set_params(C=self.C * scale**2)
        newton = min(n_rows, n_features) * vectors <= _NEWTON
        converged, axes = False, None
        if not newton or n_rows * n_features * vectors > _CHEAP:
            converged = _converges(model.set_params(max_iter=_STEPS if newton else _LAST), X / scale, y, cost)
        if newton and not converged:
            places, axes = _in_row_space(X, scale) if n_rows < n_features else (X / scale, None)
            converged = _converges(model.set_params(solver="newton-cholesky", tol=1e-9, max_iter=200), places, y, cost)
        weights = model.coef_ / scale
        model.coef_ = weights if axes is None else np.ascontiguousarray((X.T @ (axes @ weights.T)).T)
        model.n_features_in_ = n_features
        return model.set_params(C=float(self.C)), converged

    def _absolute(self, X: Matrix, y: Codes, cost: FloatArray) -> tuple[Any, bool]:
        centre = np.zeros(X.shape[1])
        if not sp.issparse(X) and np.count_nonzero(X) > (1 - _FULL) * X.size:
            centre = np.average(X, axis=0, weights=cost)
            X = X - centre
        loss = min(1.0, self.C * float(cost.sum()))
        n_classes = self.classes_.shape[0]
        model = self._make().set_params(intercept_scaling=1 / (_INTERCEPT * loss))
        positives = [y == 1] if n_classes == 2 else [y == c for c in range(n_classes)]
        if n_classes > 2:
            with config_context(enable_metadata_routing=True):
                model = OneVsRestClassifier(model.set_fit_request(sample_weight=True))
        cheap = (X.nnz if sp.issparse(X) else X.size) <= _CHEAP
        for tol in _TOLERANCES[-1:] if cheap else _TOLERANCES:
            getattr(model, "estimator", model).set_params(tol=tol)
            # Without routing OneVsRestClassifier takes no weights.
            with config_context(enable_metadata_routing=n_classes > 2):
                _converges(model, X, y, cost)
            many = getattr(model, "estimators_", [model])
            # liblinear's own criterion is unreliable: the gradient at the weights decides.
            converged = all(self._balanced(one, X, p, cost) for one, p in zip(many, positives, strict=True))
            if converged:
                break
        for one in many:
            one.intercept_ = one.intercept_ - one.coef_ @ centre
        return model, converged

    def _balanced(self, model: LogisticRegression, X: Matrix, positive: Mask, cost: FloatArray) -> bool:
        """Whether the gradients of loss and penalty balance at the weights (no weight of 0 should grow)."""
        weights = model.coef_[0]
        gradient = self.C * (X.T @ (cost * (positive - expit(X @ weights + model.intercept_))))
        gap = np.where(weights == 0, np.maximum(0.0, np.abs(gradient) - 1), np.abs(gradient - np.sign(weights)))
        return bool(gap.max() <= _BALANCE)

    def _decision(self, X: Any) -> FloatArray:
        evidence = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        if self.classes_.shape[0] == 2:
            return expit(np.column_stack([-evidence, evidence]))
        # Logarithms, since the probabilities of all classes may round to zero.
        return np.asarray(softmax(log_expit(evidence) if self.penalty == "l1" else evidence, axis=1))


def _converges(model: Any, X: Matrix, y: Codes, cost: FloatArray) -> bool:
    """Fit, and return whether the solver converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=cost)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _in_row_space(X: Matrix, scale: float) -> tuple[FloatArray, FloatArray]:
    """Coordinates of the rows on axes of the space that they span, divided by `scale`; the axes as sums of rows."""
    values, axes = np.linalg.eigh(inner_products(X))
    real = values > values[-1] * X.shape[0] * np.finfo(np.float64).eps
    if not real.any():
        return np.zeros((X.shape[0], 1)), np.zeros((X.shape[0], 1))
    length = np.sqrt(values[real])
    return axes[:, real] * (length / scale), axes[:, real] / length
