"""Bayesian logistic regression with a precision for each column, of largest marginal likelihood or drawn."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import bearing_rows, canonical, column_names, row_terms
from tamis.bayes.density import Rows
from tamis.bayes.drawn import FromDraws, Model, check_thin, dense_rows, deviations, group_names, numbered
from tamis.bayes.priors import Priors
from tamis.bayes.sampler import Settings, require
from tamis.classify.bayes_logistic.design import Design
from tamis.classify.bayes_logistic.likelihood import Problem
from tamis.classify.bayes_logistic.marginal_likelihood import INTERCEPT, Posterior, Prior, common_variance, relevance
from tamis.margins.kernel import inner_products

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Most rows and columns at once: a square matrix of the smaller number is factored in every step.
_MOST = 10_000


def _is_drawn(model: "BayesLogistic") -> bool:
    return model.method == "hmc"


def _fit_seconds(rows: int, columns: int) -> float:
    """About the processor seconds of a fit on dense columns.

    Measured on 1000 x 100, 1000 x 500, 2000 x 500 and 300 x 2000: 0.2, 3, 5 and 0.7 s.
    """
    return 1.2e-8 * rows * min(rows, columns) ** 2


class BayesLogistic(FromDraws, WeightedClassifier):
    """Linear evidence for the classes, each column with a prior precision that the data determine.

    For two classes, with signs s of +1 and -1, the model is::

        P(y_i | x_i) = sigmoid(s_i (w.(x_i - m) + b)),    w_j ~ N(0, 1 / precision_j),    b ~ N(0, 10^2),

    where m are the column means. The precisions maximise the marginal likelihood, in which w and b are integrated out
    by Laplace's approximation (automatic relevance determination). The precision of a column that tells the classes
    nothing beside the others becomes infinite: its weight is 0, and it is not used. Where few columns separate the
    rows the marginal likelihood grows as precisions fall: the deviation 1 / sqrt(precision_j) is at most 10 over that
    of column j.

    Probabilities are averaged over the posterior of w and b by MacKay's formula: for evidence of mean f and variance v
    at a new row they are sigmoid(f / sqrt(1 + pi v / 8)), nearer to 1/2 the less the data determine the weights.

    Several classes are fitted one against the rest. These problems share the precisions, which maximise the sum of
    their log marginal likelihoods, so that a column has one relevance; the probabilities are divided by their sum.

    With ``method="hmc"`` weights and precisions are drawn from their posterior instead, as by ``bayes_net(0)``:
    weights by Hamiltonian Monte Carlo, precisions by Gibbs steps, and the probabilities of all draws are averaged.
    Several classes have a softmax. All columns that vary are used, and relevances have intervals. It needs JAX to fit,
    ``pip install "tamis[bayes]"``, and not to predict.

    Parameters
    ----------
    method : {"laplace", "hmc"}, default="laplace"
        The precisions of largest marginal likelihood, or draws.
    prior_shape : float or None, default=None
        Shape a of the Gamma distribution of a precision, with density proportional to
        ``precision^(a/2 - 1) exp(-a precision / (2 prior_precision))``. 0, which None stands for with "laplace", is a
        flat prior on its logarithm. Above 0 no precision becomes infinite, and all columns are used. With "hmc" it must
        be above 0, since there is no posterior otherwise; None stands for 1.
    prior_precision : float or None, default=None
        Mean of that distribution; it matters for a shape above 0. None stands for 1 with "laplace". With "hmc" the mean
        is drawn too, from a Gamma distribution of shape 2 with this mean; None stands for the number of columns that
        vary, with which the evidence of standardised columns has a variance near 1 before any row is seen.
    groups : sequence of shape (n_features,), optional
        A label for each column; columns with the same label share a precision. By default each has its own.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.
    max_iter : int, default=1000
        Most steps of the search for the precisions.
    tol : float, default=0.01
        The search ends when a round of steps, or bringing a column back, raises the log marginal likelihood by no more.
    draws, warmup, chains, thin, leapfrog : int, default=1000, 500, 2, 10, 60
        Of "hmc": rounds of each chain after those of warm-up, each a draw; of `thin` draws one is used for predictions;
        `leapfrog` is the most steps of a trajectory.
    random_state : int, Generator, RandomState or None, default=None
        Starts the chains of "hmc".

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
        The most probable weights; with "hmc" the means of the draws.
    intercept_ : array of shape (n_classes,) or (1,)
    precisions_ : array of shape (n_features,)
        Infinite for columns that are not used.
    scale_ : array of shape (n_features,)
        The relevance of each column: ``1 / sqrt(precision)``, the deviation of its weight under the prior. With "hmc"
        the median of the draws; 0 for constants.
    feature_importances_ : array of shape (n_features,)
        The same.
    used_ : bool array of shape (n_features,)
        The columns with a finite precision.
    covariance_ : array of shape (n_classes, n_used + 1, n_used + 1), or (1, n_used + 1, n_used + 1)
        Posterior covariance of the weights of the used columns and, last, of b. Not there with more used columns than
        rows; then `rows_` holds the rows, and `row_precision_` the inverse of the covariance of their evidence.
    log_marginal_likelihood_ : float
    path_ : array of shape (n_steps + 1,)
        The log marginal likelihood at one precision for all columns and after each step, with the log density of the
        precisions where they have a prior shape. It never falls.
    n_iter_ : int
        Steps of the search.
    relevance_, relevance_interval_, followed_, r_hat_, ess_, divergences_, acceptance_
        With "hmc" alone, as for :class:`~tamis.classify.bayes_net.BayesNet`: `scale_` in units of the deviations of the
        columns, between which values nine draws of ten lie, and how well the chains mixed. There is also ``plot()``.
    coef_draws_ : array of shape (n_draws, n_outputs, n_features)
        With "hmc" the thinned draws of the weights, for two classes with one output.
    intercept_draws_ : array of shape (n_draws, n_outputs)

    See Also
    --------
    Logistic : One penalty for all weights.
    BayesNet : Networks of hidden units, drawn like the weights here with "hmc".
    tamis.select.FromModel : Selects the columns of the largest `scale_`, ``from_model(bayes_logistic, k=20)``.

    Notes
    -----
    The relevance depends on the units of the columns: standardise them first. Sparse columns stay sparse; their means
    are taken off implicitly. A step costs what a square matrix of the rows, or of the columns in use if they are fewer,
    costs to factor. A warning reports when `max_iter` steps were not enough.

    Of columns without information about a third stay in use, with small scales: those whose slope is above its
    deviation. The scales rank; a cut such as ``from_model(bayes_logistic, k=20)`` selects.

    The marginal likelihood has many local maxima, and of correlated columns few survive: on wide data the used columns
    are a small set that explains the training rows, not all that are relevant. With a hundred columns for each row
    the marginal likelihood itself is fitted too well, and one penalty for all weights may predict better.

    A row of weight 2 counts like the row twice, one of weight 0 not at all.

    With "hmc" sparse rows are made dense, which is refused above 3.2 GB, and another order of the columns gives other
    draws. A warning reports chains that have not met.

    References
    ----------
    MacKay (1992), "The evidence framework applied to classification networks", Neural Computation 4; Neal (1996),
    *Bayesian Learning for Neural Networks*; Tipping (2001), "Sparse Bayesian learning and the relevance vector
    machine", JMLR 1; Faul and Tipping (2003), "Fast marginal likelihood maximisation for sparse Bayesian models"; Wipf
    and Nagarajan (2008), "A new view of automatic relevance determination".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import BayesLogistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = np.where(2 * X[:, 1] + rng.logistic(size=200) > 0, "ill", "well")
    >>> model = BayesLogistic().fit(X, y)
    >>> model.scale_.round(2)
    array([0.43, 2.39, 0.  , 0.  , 0.16])
    >>> model.used_
    array([ True,  True, False, False,  True])
    """

    part: ClassVar[Part] = Part(
        "bayes_logistic",
        positional=("method",),
        search={"class_weight": choice("balanced", None)},
        paper="MacKay 1992; Tipping 2001; Wipf and Nagarajan 2008",
        phrase="Bayesian logistic regression with automatic relevance determination",
        limits=Limits(rows=3_000, values=10_000_000),
        slow=True,
        fit_seconds=_fit_seconds,
        boundary="linear",
        counterpart="ridge",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"laplace", "hmc"})],
        "prior_shape": [real(0, None, "left"), None],
        "prior_precision": [real(0, None), None],
        "groups": ["array-like", None],
        "class_weight": [StrOptions({"balanced"}), None],
        "max_iter": [integer(1)],
        "tol": [real(0, None)],
        "draws": [integer(1)],
        "warmup": [integer(1)],
        "chains": [integer(1)],
        "thin": [integer(1)],
        "leapfrog": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        method: Literal["laplace", "hmc"] = "laplace",
        *,
        prior_shape: float | None = None,
        prior_precision: float | None = None,
        groups: Sequence[Any] | None = None,
        class_weight: str | None = None,
        max_iter: int = 1_000,
        tol: float = 0.01,
        draws: int = 1_000,
        warmup: int = 500,
        chains: int = 2,
        thin: int = 10,
        leapfrog: int = 60,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.method = method
        self.prior_shape = prior_shape
        self.prior_precision = prior_precision
        self.groups = groups
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.draws = draws
        self.warmup = warmup
        self.chains = chains
        self.thin = thin
        self.leapfrog = leapfrog
        self.random_state = random_state

    @property
    def draws_columns(self) -> bool:
        """Whether another order of the columns gives another result."""
        return self.method == "hmc"

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        groups = numbered("bayes_logistic", self.groups, X.shape[1])
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "bayes_logistic")
        X = X.astype(np.float64, copy=False)
        {"laplace": self._fit_laplace, "hmc": self._fit_hmc}[self.method](X, y, weight, groups)

    def _fit_hmc(self, X: Matrix, y: Codes, weight: FloatArray, groups: Codes) -> None:
        who = "bayes_logistic"
        shape = 1.0 if self.prior_shape is None else float(self.prior_shape)
        if shape == 0:
            raise TamisError(f'{who}: with method="hmc" prior_shape must be above 0, since there is no posterior')
        check_thin(who, self.draws, self.thin)
        require(part=who)
        varying = np.flatnonzero(~_constant(X))
        # Without a column that varies, one of zeros stands in.
        rows = dense_rows(who, X[:, varying] if varying.size else np.zeros((X.shape[0], 1)), y, weight)
        cost, _ = row_terms(rows.y, rows.weight, class_weight=self.class_weight, ridge=0.0)
        centre = np.average(rows.X, axis=0, weights=cost)
        two = self.classes_.shape[0] == 2
        labels, numbers = np.unique(groups[varying] if varying.size else groups[:1], return_inverse=True)
        names = np.array(group_names(self.groups, column_names(self)))[labels]
        rows = Rows(rows.X - centre, rows.y.astype(np.float64) if two else rows.y, cost)
        mean = max(varying.size, 1) if self.prior_precision is None else float(self.prior_precision)
        priors = Priors(input_scale=mean**-0.5, ard_shape=shape)
        model = Model("logistic" if two else "softmax", 1 if two else self.classes_.shape[0], (), priors)
        settings = Settings(self.chains, self.draws, self.warmup, self.thin, "hmc", self.leapfrog)
        weights, drawn = self._draw(who, rows, model, settings, numbers, names.tolist())
        slopes, zeros = weights[:, : -model.outputs], weights[:, -model.outputs :]
        self.coef_draws_ = np.zeros((len(weights), model.outputs, X.shape[1]))
        slopes = slopes.reshape(len(slopes), -1, model.outputs).swapaxes(1, 2)
        self.coef_draws_[..., varying] = slopes[..., : varying.size]
        self.intercept_draws_ = zeros - slopes @ centre
        self.coef_, self.intercept_ = self.coef_draws_.mean(axis=0), self.intercept_draws_.mean(axis=0)
        scales, spread = np.zeros((len(weights), X.shape[1])), np.zeros(X.shape[1])
        scales[:, varying], spread[varying] = drawn[:, : varying.size], deviations(rows)[: varying.size]
        self._keep_relevance(scales, spread)
        self.scale_ = np.median(scales, axis=0)
        with np.errstate(divide="ignore"):
            self.precisions_ = self.scale_**-2.0
        self.used_ = self.scale_ > 0

    def _fit_laplace(self, X: Matrix, y: Codes, weight: FloatArray, groups: Codes) -> None:
        cost, _ = row_terms(y, weight, class_weight=self.class_weight, ridge=0.0)
        if sp.issparse(X):
            X = canonical(sp.csc_array(X))
        varying = np.flatnonzero(~_constant(X))
        if min(X.shape[0], varying.size) > _MOST:
            raise TamisError(
                f"bayes_logistic factors matrices of all rows or all columns and takes at most {_MOST:,} of one of "
                f"them; got {X.shape[0]:,} rows and {varying.size:,} columns that vary: select columns first"
            )
        n_classes = self.classes_.shape[0]
        problems = [Problem.of(y == c, cost) for c in ([1] if n_classes == 2 else range(n_classes))]
        design, centre = Design.of(X[:, varying], cost)
        _, numbers = np.unique(groups[varying], return_inverse=True)
        start = np.full(int(numbers.max(initial=-1)) + 1, common_variance(design, problems))
        prior = Prior(float(self.prior_shape or 0.0), float(self.prior_precision or 1.0))
        found = relevance(design, problems, numbers, prior, start, max_iter=self.max_iter, tol=self.tol)
        if not found.settled:
            message = f"bayes_logistic is not settled after {self.max_iter} steps; raise 'max_iter' or 'tol'"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.n_iter_ = len(found.path) - 1
        self.path_ = np.array(found.path)
        self.log_marginal_likelihood_ = found.posterior.log_evidence
        self._keep(X, varying, centre, found.posterior)

    def _keep(self, X: Matrix, varying: Codes, centre: FloatArray, posterior: Posterior) -> None:
        """Keep what predictions need of a posterior for the columns that vary, with their means."""
        used = varying[posterior.columns]
        self.centre_ = centre[posterior.columns]
        self.precisions_ = np.full(X.shape[1], np.inf)
        self.precisions_[used] = 1 / posterior.variances
        self.used_ = np.isfinite(self.precisions_)
        self.scale_ = 1 / np.sqrt(self.precisions_)
        self.coef_ = np.zeros((len(posterior.modes), X.shape[1]))
        self.coef_[:, used] = posterior.weights
        self.intercept_ = posterior.intercepts - posterior.weights @ self.centre_
        if posterior.dual:
            self.rows_ = X[:, used].tocsr() if sp.issparse(X) else X[:, used]
            self.row_precision_ = np.array([posterior.data_precision(mode) for mode in posterior.modes])
        else:
            scale = np.append(np.sqrt(posterior.variances), INTERCEPT)
            self.covariance_ = np.array([scale[:, None] * mode.covariance * scale for mode in posterior.modes])

    @property
    def feature_importances_(self) -> FloatArray:
        """The relevance of each column."""
        return self.scale_

    def _decision(self, X: Any) -> FloatArray:
        if hasattr(self, "coef_draws_"):
            return self._average(X)
        evidence = np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True)) + self.intercept_
        evidence /= np.sqrt(1 + np.pi / 8 * self._variance(X))
        if self.classes_.shape[0] == 2:
            return expit(np.column_stack([-evidence, evidence]))
        # Logarithms, since the probabilities of all classes may round to zero.
        return np.asarray(softmax(log_expit(evidence), axis=1))

    def _variance(self, X: Matrix) -> FloatArray:
        """Posterior variance of the evidence of each row, for each class."""
        X = X[:, np.flatnonzero(self.used_)].astype(np.float64, copy=False)
        if hasattr(self, "covariance_"):
            dense = X.toarray() if sp.issparse(X) else X
            about = np.column_stack([dense - self.centre_, np.ones(X.shape[0])])
            return np.column_stack([np.einsum("ij,ij->i", about @ one, about) for one in self.covariance_])
        # What the prior says of the evidence, less what the rows tell of it.
        variances = 1 / self.precisions_[self.used_]
        middle = variances * self.centre_
        scaled = X @ sp.diags_array(variances) if sp.issparse(X) else X * variances
        shift = float(middle @ self.centre_) + INTERCEPT**2
        offset = np.asarray(X @ middle)
        shared = inner_products(scaled, self.rows_) - offset[:, None] - np.asarray(self.rows_ @ middle) + shift
        squares = np.asarray((X.power(2) if sp.issparse(X) else X**2) @ variances) - 2 * offset + shift
        known = [np.einsum("ij,ij->i", shared @ one, shared) for one in self.row_precision_]
        return np.maximum(squares[:, None] - np.column_stack(known), 0.0)

    @available_if(_is_drawn)
    def plot(self, most: int = 40) -> "Figure":
        """A plotly figure: the relevance of the `most` most relevant columns, with intervals; of "hmc" alone."""
        return super().plot(most)

    def _average(self, X: Matrix) -> FloatArray:
        """Class probabilities averaged over the draws."""
        found = np.zeros((X.shape[0], self.classes_.shape[0]))
        for slopes, zeros in zip(self.coef_draws_, self.intercept_draws_, strict=True):
            outputs = np.asarray(safe_sparse_dot(X, slopes.T, dense_output=True)) + zeros
            found += expit(np.hstack([-outputs, outputs])) if zeros.size == 1 else softmax(outputs, axis=1)
        return found / len(self.coef_draws_)


def _constant(X: Matrix) -> Mask:
    """Which columns have one value."""
    if sp.issparse(X):
        return np.asarray((X.max(axis=0) - X.min(axis=0)).toarray()).ravel() == 0
    return np.asarray(np.ptp(X, axis=0) == 0)
