"""Naive Bayes: the evidence of the columns, taken for independent within a class, is added."""

from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import clone

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import DataError
from tamis.base.moments import ClassMoments, class_totals, divide
from tamis.base.nominal import TakesNominal
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import bearing_rows, class_prior
from tamis.bins.cuts import Cuts
from tamis.contingency.states import METHODS, in_columns
from tamis.incremental.additive import TERMS, AdditiveEvaluator
from tamis.naive_bayes.additive import Counted, Lookup, Powers, above_zero, dense_states
from tamis.naive_bayes.level_states import in_states, level_states

#: Origin, constant, linear and square part of the terms of numbers.
_Arrays: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

#: Variances below this are taken for zero.
_LEAST = 1e-290


def _phrase(a: Arguments) -> str:
    distribution = a.pop("distribution")
    return "naive Bayes on the states of the features" if distribution == "states" else f"naive Bayes ({distribution})"


class NaiveBayes(TakesNominal, WeightedClassifier):
    """Class with the largest prior times the product of the likelihoods of each column's value.

    The columns are taken for independent within a class, so that the evidence for class c is a sum over columns,

        log p_c + sum_j t_cj(x_j),

    and softmax of it the probability. The terms of a column:

    =========== ================================================================================
    gaussian    -(log v_cj + (x - m_cj)^2 / v_cj) / 2: mean in the class, and v_cj = (n_c s_cj + a s_j) / (n_c + a)
                of its variance s_cj there and s_j within all classes
    bernoulli   log q_cj where the value is above zero, else log(1 - q_cj); q_cj = (n_cj + a) / (n_c + 2 a),
                of the n_c rows of the class n_cj being above zero
    multinomial x log q_cj; q_cj = (N_cj + a) / (sum_j N_cj + a p), N_cj being the column's total in the class
    poisson     x log r_cj - r_cj; r_cj = (N_cj + a r_j) / (n_c + a), r_j being the mean over all rows
    states      log((n_cjs + a) / (n_cj + a V_j)), of the n_cj rows n_cjs being in the same of the V_j states
    =========== ================================================================================

    with `alpha` a. Nominal columns may come as they are, in data frames and arrays of objects: each level is a
    state, whatever the distribution of the others; with `bins` "modl" MODL groups the levels.

    Parameters
    ----------
    distribution : {"gaussian", "bernoulli", "multinomial", "poisson", "states"}, default="gaussian"
        Multinomial and Poisson take counts, which are not negative.
    bins : str, default="auto"
        How columns become "states": "auto" takes those of a few whole numbers as they are and cuts the others half a
        standard deviation below and above the mean; the other methods are those of
        :func:`tamis.contingency.states.states`.
    n_bins : int, optional
        Number of states, for the methods that take it.
    alpha : float, default=1.0
        Rows, or counts, added to those observed: a above. For the Gaussian they keep a class of few rows from having
        no variance in some column, which would outweigh all other columns.
    var_smoothing : float, default=1e-9
        For the Gaussian: added to the variance of a column in each class, as a share of its variance over all rows.
    class_weight : {"balanced"}, optional
        Take the same prior p_c for all classes instead of their shares of the rows.

    Attributes
    ----------
    classes_ : array
    nominal_ : bool array of shape (n_features,)
        Which columns are nominal.
    levels_ : dict of int to array of str
        The levels of each nominal column, by its number, in sorted order.
    level_states_ : dict of int to array
        The state of each of these levels; NaN for a level without weight.
    prior_ : array of shape (n_classes,)
    mean_, variance_ : arrays of shape (n_classes, n_features)
        Of the Gaussian; NaN for nominal columns.
    rate_ : array of shape (n_classes, n_features)
        q_cj or r_cj of the Bernoulli, multinomial and Poisson; NaN for nominal columns.
    used_ : bool array of shape (n_features,)
        Where all columns are states: those of more than one state.
    cuts_ : list of arrays, one a column
        Cuts of the columns that are counted as states; a state begins at its cut. For nominal columns they lie between
        the numbers in `level_states_`.
    shares_ : list of arrays of shape (n_classes, n_states), one a column
        Shares of the states of such columns in each class.

    See Also
    --------
    SNB, ESNB : Naive Bayes with forward selection of columns.

    Notes
    -----
    A missing value adds nothing and is not counted. An unseen level counts as missing; a value beyond the training
    values lies in an outer state. A constant column adds the same to all classes, except for the Bernoulli and the
    multinomial, whose smoothing counts for more in a small class. Where a class has no known value of a column, the
    Gaussian takes the mean and variance of all rows.

    The predictions are those of scikit-learn's ``BernoulliNB``, ``MultinomialNB`` and ``CategoricalNB`` where both take
    the data, and towards `alpha` 0 those of ``GaussianNB``, except that it adds a share of the largest variance of any
    column, and so depends on the units of the columns. Sample weights count as repeated rows, except in the cuts of
    "ssv".

    References
    ----------
    Domingos and Pazzani (1997), "On the optimality of the simple Bayesian classifier under zero-one loss"; McCallum and
    Nigam (1998), "A comparison of event models for naive Bayes text classification"; Eyheramendy and Madigan (2005),
    "A novel feature selection score for text categorization" (Poisson).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import NaiveBayes
    >>> X = np.array([[1.0, 0.0], [2.0, 5.0], [7.0, 5.0], [8.0, 5.0]])
    >>> y = ["low", "low", "high", "high"]
    >>> NaiveBayes().fit(X, y).predict([[1.5, 5.0], [np.nan, 5.0]])
    array(['low', 'high'], dtype='<U4')
    >>> NaiveBayes("states", bins="values").fit(X, y).predict_proba([[1.0, 0.0]]).round(2)
    array([[0.2, 0.8]])
    """

    part: ClassVar[Part] = Part(
        "nb",
        positional=("distribution",),
        search={
            "distribution": choice("gaussian", "bernoulli", "states", "multinomial"),
            "bins": choice("auto", "equal_frequency", "modl", "ssv"),
            "var_smoothing": choice(1e-9, 1e-2, 1.0),
            "alpha": choice(0.1, 0.01, 1.0),
            "class_weight": choice("balanced", None),
        },
        only={"bins": ("distribution", "states"), "var_smoothing": ("distribution", "gaussian")},
        # Of columns that are nearly always zero the variances in the classes say how many rows these have.
        dense_only={"distribution": ("gaussian",)},
        counts_only={"distribution": ("multinomial",)},
        paper="Domingos and Pazzani 1997; McCallum and Nigam 1998; Eyheramendy and Madigan 2005 (Poisson)",
        phrase=_phrase,
        scale_invariant=True,
        counterpart="ridge",
    )
    gives_probabilities = True
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "distribution": [StrOptions({"gaussian", "bernoulli", "multinomial", "poisson", "states"})],
        "bins": [StrOptions(set(METHODS))],
        "n_bins": [integer(2), None],
        "alpha": [real(0, None)],
        "var_smoothing": [real(0, None)],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        distribution: str = "gaussian",
        *,
        bins: str = "auto",
        n_bins: int | None = None,
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
        class_weight: str | None = None,
    ) -> None:
        self.distribution = distribution
        self.bins = bins
        self.n_bins = n_bins
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.class_weight = class_weight

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        X, y, cost, _ = bearing_rows(X, y, sample_weight, self.classes_, "nb")
        self.prior_ = class_prior(y, cost, class_weight=self.class_weight)
        counted = self._as_states()
        grouped = self.distribution == "states" and self.bins == "modl"
        self.level_states_ = level_states(X, y, cost, self.levels_, grouped=grouped)
        # Plain arrays, which a model file can hold.
        self._powers = None if counted.all() else self._fit_numbers(X[:, ~counted] if counted.any() else X, y, cost)
        self._states: Any = None
        if counted.any():
            X = in_states(X, counted, self.level_states_)
            states = Counted.of(X, y, cost, by=self.bins, n_bins=self.n_bins, nominal=self.nominal_[counted])
            self._states = states.cuts.count, states.cuts.values, states.shares(self.alpha)
            if counted.all():
                self.used_ = states.cuts.count > 0

    def _as_states(self) -> Mask:
        """The columns that are counted as states."""
        return np.ones_like(self.nominal_) if self.distribution == "states" else self.nominal_

    def _fit_numbers(self, X: Matrix, y: Codes, weight: FloatArray) -> _Arrays:
        """The terms of the columns that are not states."""
        if self.distribution == "gaussian":
            return self._fit_gaussian(ClassMoments.of(X, y, weight))
        present = self.distribution == "bernoulli"
        total, known, lowest = class_totals(above_zero(X) if present else X, y, weight, presence=present)
        a = float(self.alpha)
        if lowest < 0 and not present:
            raise DataError(
                f"Negative values in data passed to nb, whose {self.distribution} distribution takes counts; "
                f"the lowest is {lowest:g}"
            )
        if present:
            rate, absent = (total + a) / (known + 2 * a), (known - total + a) / (known + 2 * a)
            constant, linear = np.log(absent), np.log(rate) - np.log(absent)
        elif self.distribution == "multinomial":
            rate = (total + a) / (total + a).sum(axis=1, keepdims=True)
            constant, linear = np.zeros_like(rate), np.log(rate)
        else:
            overall = divide(total.sum(axis=0), known.sum(axis=0))
            rate = (total + a * overall) / (known + a)
            # A column of zeros adds nothing for a count, which is unseen.
            constant, linear = -rate, np.log(np.where(overall > 0, rate, 1.0))
        self.rate_ = self._spread(rate)
        return np.zeros(X.shape[1]), constant, linear, np.zeros_like(linear)

    def _fit_gaussian(self, moments: ClassMoments) -> _Arrays:
        overall = divide(moments.within + moments.between, moments.total)
        unknown = moments.weight == 0
        mean = np.where(unknown, moments.grand_mean, moments.mean)
        added = self.alpha * divide(moments.within, moments.total)
        own = (moments.scatter + added) / (moments.weight + self.alpha)
        variance = np.where(unknown, overall, own) + self.var_smoothing * overall
        self.mean_, self.variance_ = self._spread(mean), self._spread(variance)
        # Relative to the overall mean, small differences keep their digits.
        away = mean - moments.grand_mean
        flat = overall < _LEAST
        unit = np.where(flat, 1.0, variance)
        constant = np.where(flat, 0.0, -(np.log(unit) + away**2 / unit) / 2)
        linear, square = np.where(flat, 0.0, away / unit), np.where(flat, 0.0, -0.5 / unit)
        return moments.grand_mean, constant, linear, square

    def _spread(self, values: FloatArray) -> FloatArray:
        """Values of the numeric columns, NaN for nominal ones."""
        out = np.full((values.shape[0], self.nominal_.size), np.nan)
        out[:, ~self.nominal_] = values
        return out

    def _decision(self, X: Any) -> FloatArray:
        counted = self._as_states()
        evidence: FloatArray = np.tile(np.log(self.prior_), (X.shape[0], 1))
        if self._powers is not None:
            numbers = X[:, ~counted] if counted.any() else X
            with np.errstate(over="ignore", invalid="ignore"):
                evidence += Powers(*self._powers, presence=self.distribution == "bernoulli").evidence(numbers)
            if not np.isfinite(evidence).all():
                raise DataError(f"nb: the data has values that are too large for the {self.distribution} distribution")
        if self._states is not None:
            count, values, shares = self._states
            lookup = Lookup(Cuts.counted(count, values), np.ascontiguousarray(np.log(shares).T))
            evidence += lookup.evidence(in_states(X, counted, self.level_states_))
        return np.asarray(softmax(evidence, axis=1))

    #: Its evaluators take nominal columns.
    _evaluates_nominal = True

    def _evaluator(self, X: Any, y: Codes, Z: Any) -> AdditiveEvaluator | None:
        """Evaluates sets of columns without a fit for each, where the terms of a column depend on it alone."""
        size = X.shape[1] * Z.shape[0] * (int(y.max()) + 1)
        if self.distribution == "multinomial" or sp.issparse(X) or size > TERMS:
            return None
        fitted = clone(self).fit(X, y)
        return AdditiveEvaluator(self, X, y, Z, np.log(fitted.prior_), fitted._terms(fitted._read(Z, reset=False)))

    def _terms(self, X: FloatArray) -> FloatArray:
        """What each column adds to the evidence, of shape (n_columns, n_rows, n_classes)."""
        counted = self._as_states()
        terms = np.empty((X.shape[1], X.shape[0], self.classes_.size))
        if self._powers is not None:
            origin, constant, linear, square = self._powers
            numbers = X[:, ~counted]
            missing = np.isnan(numbers)
            away = (numbers > 0).astype(np.float64) if self.distribution == "bernoulli" else numbers - origin
            away = np.where(missing, 0.0, away).T[:, :, None]
            found = constant.T[:, None] + away * linear.T[:, None] + away**2 * square.T[:, None]
            terms[~counted] = np.where(missing.T[:, :, None], 0.0, found)
        if self._states is not None:
            count, values, shares = self._states
            cuts, table = Cuts.counted(count, values), np.log(shares).T
            lookup = Lookup(cuts, np.ascontiguousarray(table))
            states = dense_states(in_columns(in_states(X, counted, self.level_states_)), cuts)
            terms[counted] = lookup.table[lookup.first[:-1] + 1 + states].transpose(1, 0, 2)
        return terms

    @property
    def cuts_(self) -> list[FloatArray]:
        """Cuts of the columns that are counted as states."""
        self._check_counted("cuts_")
        return Cuts.counted(*self._states[:2]).apart()

    @property
    def shares_(self) -> list[FloatArray]:
        """Shares of the states of such columns in each class."""
        self._check_counted("shares_")
        count, _, shares = self._states
        return [own[:, 1:].copy() for own in np.split(shares, np.cumsum(count + 2)[:-1], axis=1)]

    def _check_counted(self, name: str) -> None:
        if getattr(self, "_states", None) is None:
            raise AttributeError(f"{name} exists once columns are counted as states")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.distribution in ("multinomial", "poisson")
        # Shares of a total do not separate classes that differ only in size.
        tags.classifier_tags.poor_score = self.distribution == "multinomial"
        return tags
