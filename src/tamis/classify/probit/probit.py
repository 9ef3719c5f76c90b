"""Probit regression with a Gaussian or Laplace prior on the weights."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import log_ndtr, ndtr, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base._sklearn import StrOptions, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import bearing_rows, canonical, row_terms
from tamis.classify.probit.gaussian import newton
from tamis.classify.probit.laplace import proximal_newton
from tamis.classify.probit.likelihood import Found, Problem
from tamis.margins.kernel import inner_products

#: Most rows or columns for which Newton's method solves a system; beyond, it uses products with the rows alone.
_SMALL = 1_000


class Probit(SharedFit, WeightedClassifier):
    """Linear evidence for the classes behind the normal distribution, with a prior on the weights.

    For two classes, with signs s of +1 and -1 and the normal distribution function Phi, a row is of the second class
    with probability Phi(w.x + b). The weights are those of largest posterior probability; they minimise::

        |w|^2 / (2 variance)         + sum_i -log Phi(s_i (w.x_i + b))    prior="gaussian",
        sqrt(2 / variance) |w|_1     + sum_i -log Phi(s_i (w.x_i + b))    prior="laplace".

    The priors come from one hierarchy: each weight is normal about 0 with a variance of its own, which is given, or
    which has an exponential distribution of mean `variance`. The first makes a weight Gaussian, the second Laplacian,
    of the same variance; the Laplace prior sets most weights to 0. The intercept has a flat prior. Several classes are
    fitted one against the rest, and their probabilities divided by their sum.

    Parameters
    ----------
    prior : {"gaussian", "laplace"}, default="gaussian"
    variance : float, default=1.0
        Prior variance of a weight; the larger, the less the weights are shrunk.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
    used_ : bool array of shape (n_features,)
        With the Laplace prior: the columns with a weight in any class.
    n_iter_ : array of shape (n_classes,) or (1,)
        Steps of Newton's method.

    See Also
    --------
    Logistic : The same with the logistic distribution; its C is `variance` (l2) or sqrt(variance / 2) (l1).

    Notes
    -----
    The prior depends on the scale of the columns: standardise them first unless they are measured alike.

    The objective is convex, so that Newton's method finds the maximum that the EM algorithm of the papers converges to,
    in fewer steps. With the Gaussian prior the weights are combinations of the rows: with fewer rows than columns the
    unknowns are as many as rows. Beyond 1,000 of both, directions come from conjugate gradients. With the Laplace prior
    they come from coordinate descent. Sparse data stays sparse.

    On more than 100,000 stored values conjugate gradients and coordinate descent end a little earlier: the weights are
    then exact to about a ten-thousandth of the largest. A warning reports when the optimum was not reached.

    Sample weights multiply the likelihood row by row: a row of weight 2 counts like the row twice, one of weight 0 not
    at all.

    References
    ----------
    Figueiredo (2003), "Adaptive sparseness for supervised learning", IEEE PAMI 25; Genkin, Lewis and Madigan (2007),
    "Large-scale Bayesian logistic regression for text categorization", Technometrics 49; Eyheramendy and Madigan
    (2005), "A novel feature selection score for text categorization", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import Probit
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [3.0, 2.0]])
    >>> model = Probit("laplace").fit(X, ["low", "low", "high", "high"])
    >>> model.used_
    array([ True, False])
    >>> model.predict_proba([[1.5, 9.0]]).round(6)
    array([[0.5, 0.5]])
    """

    part: ClassVar[Part] = Part(
        "probit",
        positional=("prior", "variance"),
        search={
            "prior": choice("gaussian", "laplace"),
            "variance": geom(1e-2, 1e4),
            "class_weight": choice("balanced", None),
        },
        paper="Figueiredo 2003; Eyheramendy and Madigan 2005, section 3",
        unit_rows=True,
        phrase=lambda a: f"probit regression with {a.pop('prior').capitalize()} prior",
        # The search has logistic, which predicts nearly the same.
        searched=False,
        boundary="linear",
        counterpart="ridge",
    )
    #: Coordinates of the rows, or their columns, serve every variance.
    shared_parameters = ("prior", "variance", "class_weight")
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "prior": [StrOptions({"gaussian", "laplace"})],
        "variance": [real(0, None)],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        prior: Literal["gaussian", "laplace"] = "gaussian",
        variance: float = 1.0,
        *,
        class_weight: str | None = None,
    ) -> None:
        self.prior = prior
        self.variance = variance
        self.class_weight = class_weight

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> "_SharedRows":
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "probit")
        return _SharedRows(X.astype(np.float64, copy=False), y, weight)

    def _finish(self, prepared: "_SharedRows") -> None:
        cost, _ = row_terms(prepared.y, prepared.weight, class_weight=self.class_weight, ridge=0.0)
        n_classes = self.classes_.shape[0]
        against_rest = [1] if n_classes == 2 else range(n_classes)
        fit = self._sparse if self.prior == "laplace" else self._shrunk
        found = [fit(prepared, Problem.of(prepared.y == c, cost)) for c in against_rest]
        self.coef_ = np.array([one.weights for one in found])
        self.intercept_ = np.array([one.intercept for one in found])
        self.n_iter_ = np.array([one.steps for one in found], dtype=np.intp)
        if self.prior == "laplace":
            self.used_ = self.coef_.any(axis=0)
        if not all(one.settled for one in found):
            what = f"prior={self.prior}, variance={self.variance:g}"
            message = f"probit is not settled with {what}; scale the columns or lower the variance"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)

    def _shrunk(self, rows: "_SharedRows", problem: Problem) -> Found:
        if min(rows.X.shape) > _SMALL:
            found = newton(rows.centred, problem, self.variance, exact=False)
            weights = found.weights
        else:
            places, axes = rows.coordinates
            found = newton(places, problem, self.variance, exact=True)
            weights = found.weights if axes is None else rows.centred.T @ (axes @ found.weights)
        return found._replace(weights=weights, intercept=found.intercept - float(weights @ rows.centre))

    def _sparse(self, rows: "_SharedRows", problem: Problem) -> Found:
        return proximal_newton(rows.columns, problem, float(np.sqrt(2 / self.variance)))

    def _decision(self, X: Any) -> FloatArray:
        evidence = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        if self.classes_.shape[0] == 2:
            return np.asarray(ndtr(np.column_stack([-evidence, evidence])))
        # Logarithms, since the probabilities of all classes may round to zero.
        return np.asarray(softmax(log_ndtr(evidence), axis=1))


class _SharedRows:
    """Training rows with a weight above zero, in the forms that solvers take; each form is made when first used."""

    def __init__(self, X: Matrix, y: Codes, weight: FloatArray) -> None:
        self.X, self.y, self.weight = X, y, weight

    @cached_property
    def centre(self) -> FloatArray:
        """The means of dense columns, which are subtracted; zeros for sparse ones."""
        return np.zeros(self.X.shape[1]) if sp.issparse(self.X) else self.X.mean(axis=0)

    @cached_property
    def centred(self) -> Matrix:
        """The rows, less the centre where they are dense."""
        return self.X if sp.issparse(self.X) else self.X - self.centre

    @cached_property
    def columns(self) -> Matrix:
        """The same as a CSC matrix."""
        return canonical(sp.csc_array(self.X))

    @cached_property
    def coordinates(self) -> tuple[Matrix, FloatArray | None]:
        """The rows with no more columns than rows, and their axes as sums of rows (None: the columns)."""
        X = self.centred
        if X.shape[1] <= X.shape[0]:
            return X, None
        values, axes = np.linalg.eigh(inner_products(X))
        real = values > values[-1] * X.shape[0] * np.finfo(np.float64).eps
        if not real.any():
            return np.zeros((X.shape[0], 1)), np.zeros((X.shape[0], 1))
        length = np.sqrt(values[real])
        return axes[:, real] * length, axes[:, real] / length
