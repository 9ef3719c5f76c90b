"""Support vector machine: the widest margin between classes, in the space of a kernel."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION, Fold, most_confident, weighted_folds
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import bearing_rows, class_pairs, row_terms
from tamis.classify.svm.cost_path import Candidate, Rule, search_columns, search_grams
from tamis.classify.svm.predictions import decisions
from tamis.classify.svm.shared_gram import Problem, SharedRows
from tamis.margins.kernel import GROUNDS, squared_norms
from tamis.margins.kernel_width import check_width, widths
from tamis.margins.pairs import Multiclass, column_path, suits_columns
from tamis.margins.solve import Solution


class NotSettled(ConvergenceWarning):
    """The solver stopped short of the optimum, or there is no hard margin because classes overlap."""


def _phrase(a: Arguments) -> str:
    kernel = {"gaussian": "Gaussian"}.get(name := a.pop("kernel"), name)
    return f"a support vector machine with {'the best of several kernels' if name == 'auto' else f'{kernel} kernel'}"


class SVM(SharedFit, WeightedClassifier):
    """Separate classes by the widest margin; several classes pair by pair or one against the rest.

    For two classes, with signs s of +1 and -1 and the kernel's image phi of a row, it minimises::

        |w|^2 / 2 + C sum_i max(0, 1 - s_i (w.phi(x_i) + b)).

    The kernels, with d the Euclidean distance and . the inner product of two rows:

    ============ ================================
    linear       x.x'
    gaussian     exp(-d^2 / sigma)
    exponential  exp(-d / sigma)
    polynomial   (x.x' / sigma + coef0)^degree
    cosine       (cos(x, x') + coef0)^degree
    sigmoid      tanh(x.x' / sigma + coef0)
    ============ ================================

    Parameters
    ----------
    kernel : str, default="linear"
        One of the above, or "auto": linear or gaussian, with C and sigma selected too unless they are given (a sigma
        of "scale" does not count as given). Where `solver` resolves to liblinear, "auto" is linear.
    C : float, "auto" or None, default=None
        Cost of a unit of slack; None is 1, or "auto" with ``kernel="auto"``. ``inf`` is a hard margin; if the classes
        overlap, a warning reports that there is none, and the solver's last state is the model. "auto" tries ten
        values between 1e-3 and 1e4 in geometric progression, divided by the mean squared distance of the training
        rows to their mean in the space of the kernel (ridge included).
    sigma : float, "scale", "classes" or "auto", default="scale"
        The width of the kernels that have one. "scale" is the number of columns times the variance of all values,
        the inverse of scikit-learn's ``gamma="scale"``; its square root for the exponential kernel. "classes" is Lal,
        Chapelle and Schölkopf's: with t the mean distance of a row to the nearest row of another class, 2 t^2 for the
        gaussian kernel and t for the exponential; "scale" when t is 0. "auto" tries seven multiples of "scale", from
        1/256 to 16 (for the exponential kernel their roots).
    degree : int, default=3
        Of the polynomial and cosine kernels.
    coef0 : float, default=0.0
        Of the polynomial, cosine and sigmoid kernels. Below zero a kernel may stop being positive definite.
    class_weight : {"balanced"}, optional
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: every class weighs the same.
    ridge : float, default=0.0
        Add to a training row's kernel with itself `ridge` times its class's share of the rows: a quadratic penalty
        on slack, heavier for the smaller class. 1 is Lal, Chapelle and Schölkopf's.
    solver : {"auto", "gram", "liblinear"}, default="auto"
        "gram" solves on the kernel matrix of the training rows, with libsvm, to the optimum; it takes 8 n^2 bytes.
        "liblinear" solves the linear kernel on the columns, which suits many rows with few values each; it penalises
        the intercept a little too, and stops within `tol`. "auto" takes liblinear for a finite C without ridge beyond
        4,000 rows when a row holds fewer stored values than an eighth of the rows, and beyond 15,000 rows always.
    multiclass : {"ovo", "ovr"}, default="ovo"
        How several classes are told apart: one against one, with a vote for every pair, or one against the rest, where
        the largest decision wins. The first is libsvm's, the second liblinear's and the usual one for text.
    intercept : bool, default=True
        Whether there is an intercept b; without one b is 0, as in Kovács and Kocsor's machines. Kernels that are
        positive everywhere, such as the Gaussian, hardly need it.
    tol : float, default=1e-3
        How much a margin of 1 may be missed.
    max_iter : int, optional
        Limit per two-class problem: steps for "gram", passes over the rows for "liblinear"; by default a few seconds'
        work. A warning reports when it was not enough.
    cv : int, default=5
        Folds of the internal cross-validation of "auto"; fewer when the largest class has fewer rows.
    caution : float, default=0.0
        How many standard deviations over the folds count against a candidate (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into those folds.

    Attributes
    ----------
    classes_ : array
    kernel_, C_, sigma_ : str, float and float
        The kernel, the cost and, for the kernels that have one, the width in use.
    candidates_ : list of (kernel, sigma, C)
        What "auto" has tried.
    cv_accuracy_ : array
        Their accuracy, averaged over the folds; balanced accuracy with ``class_weight="balanced"``.
    intercept_ : array of shape (n_problems,)
        Pairs (0, 1), (0, 2), ..., (1, 2), ... of classes, a decision above zero is for the second; with "ovr" one for
        each of three classes or more, a decision above zero is for it.
    coef_ : array of shape (n_problems, n_features)
        Linear kernel only.
    support_ : array of shape (n_support,)
        Numbers of the support vectors among the training rows, when solved on the Gram matrix.
    dual_coef_ : array of shape (n_support, n_problems)
        Their signed weights.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those rows, for the kernels other than linear.
    n_iter_ : array of shape (n_problems,)
        Steps or passes of the solver.

    See Also
    --------
    FRSVM : Faster predictions, on a few principal components for each pair of classes.

    Notes
    -----
    Sample weights multiply C row by row and divide the ridge: a row of weight 2 counts like the row twice. They do not
    change a hard margin. There are no class probabilities.

    "auto" takes the candidate with the highest mean accuracy over the folds; of equals the linear kernel, then the
    smallest C, then the largest sigma. Balance and ridge are computed anew in every training part, widths on all
    training rows. The folds do not depend on the order of the rows unless some have equal norms. With integer weights
    the copies of a row may lie in different folds. The search solves less exactly than the fit, which alone warns.

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
            "C": geom(1e-2, 1e3),
            "sigma": geom(0.1, 10.0),
            "class_weight": choice("balanced", None),
            "multiclass": choice("ovo", "ovr"),
        },
        paper="Boser, Guyon and Vapnik 1992; class ridge, sigma: Lal, Chapelle and Schölkopf 2006, section 1",
        only={"sigma": ("kernel", "gaussian")},
        unit_rows=True,
        phrase=_phrase,
        boundary={"linear": "linear", "gaussian": "kernel"},
        counterpart="svr",
        growth=2.0,
    )
    #: What kernels rest on is computed once; the solutions for many costs are found along a path.
    shared_parameters = ("kernel", "C", "sigma", "degree", "coef0", "class_weight", "ridge", "multiclass")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions({*GROUNDS, "auto"})],
        "C": [real(0, np.inf, "right"), StrOptions({"auto"}), None],
        "sigma": [real(0, None), StrOptions({"scale", "classes", "auto"})],
        "degree": [integer(1)],
        "coef0": [real()],
        "class_weight": [StrOptions({"balanced"}), None],
        "ridge": [real(0, None, "left")],
        "solver": [StrOptions({"auto", "gram", "liblinear"})],
        "multiclass": [StrOptions({"ovo", "ovr"})],
        "intercept": ["boolean"],
        "tol": [real(0, None)],
        "max_iter": [integer(1), None],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: str = "linear",
        C: float | Literal["auto"] | None = None,
        *,
        sigma: float | Literal["scale", "classes", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: str | None = None,
        ridge: float = 0.0,
        solver: str = "auto",
        multiclass: Multiclass = "ovo",
        intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        cv: int = 5,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.ridge = ridge
        self.solver = solver
        self.multiclass = multiclass
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[SharedRows, Sequence[Self]]:
        rows = bearing_rows(X, y, sample_weight, self.classes_, "SVM")
        return SharedRows(*rows, {one.kernel for one in estimators}, again=len(estimators) > 1), estimators

    def _finish(self, prepared: tuple[SharedRows, Sequence[Self]]) -> None:
        rows, estimators = prepared
        check_width(self.kernel, self.sigma)
        if self._by_columns(rows.X):
            self._fit_columns(rows)
            return
        self._choose(rows)
        same = set(self.shared_parameters) - {"C"}
        alike = (one for one in estimators if all(getattr(one, p) == getattr(self, p) for p in same))
        costs = [cost for cost in (one._given_cost() for one in alike) if cost is not None]
        problem = self._problem(self.kernel_, getattr(self, "sigma_", None))
        weights = self._store(rows.solve(problem, self.C_, costs, tol=self.tol, max_iter=self.max_iter))
        support = np.flatnonzero(weights.any(axis=1))
        self.support_ = rows.places[support]
        self.dual_coef_ = weights[support]
        if self.kernel_ == "linear":
            self.coef_ = np.ascontiguousarray((rows.X[support].T.astype(np.float64, copy=False) @ self.dual_coef_).T)
        else:
            self.support_vectors_ = rows.X[support]

    def _fit_columns(self, rows: SharedRows) -> None:
        C = self._given_cost()
        if C is None:
            self._take_best(*search_columns(rows.X, rows.y, rows.weight, self._folds(rows), self._rule()))
        else:
            self._take_candidate(Candidate("linear", None, C))
        unit, _ = row_terms(rows.y, rows.weight, class_weight=self.class_weight, ridge=0.0)
        options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, **self._rule().form}
        self.coef_ = np.ascontiguousarray(self._store(column_path(rows.X, rows.y, [self.C_ * unit], **options)[0]).T)

    def _choose(self, rows: SharedRows) -> None:
        """Kernel, width and cost, given or selected by cross-validation."""
        sigma = "auto" if self.kernel == "auto" and self.sigma == "scale" else self.sigma
        # The simplest kernel first.
        kernels = ("linear", "gaussian") if self.kernel == "auto" else (self.kernel,)
        tried = {k: widths(k, sigma, rows.X, rows.ground(k), rows.y, rows.weight) for k in kernels}
        C = self._given_cost()
        if C is not None and sum(map(len, tried.values())) == 1:
            self._take_candidate(Candidate(self.kernel, tried[self.kernel][0], C))
            return

        def values(kernel: str, width: float | None) -> FloatArray:
            return rows.values(self._problem(kernel, width))

        self._take_best(*search_grams(tried, values, rows.y, rows.weight, self._folds(rows), C, self._rule()))

    def _problem(self, kernel: str, sigma: float | None) -> Problem:
        form = self.multiclass, bool(self.intercept)
        return Problem(kernel, sigma, self.degree, self.coef0, self.class_weight, self.ridge, *form)

    def _given_cost(self) -> float | None:
        """C as a number, or None for "auto"."""
        if self.C is None:
            return None if self.kernel == "auto" else 1.0
        return None if self.C == "auto" else float(self.C)

    def _folds(self, rows: SharedRows) -> list[Fold]:
        what = "C" if self._given_cost() is None else "kernel" if self.kernel == "auto" else "sigma"
        key = squared_norms(rows.X)
        return weighted_folds(key, rows.y, rows.weight, self.cv, self.random_state, f'SVM: {what}="auto"')

    def _rule(self) -> Rule:
        return Rule(self.class_weight, self.ridge, self.tol, self.max_iter, self.multiclass, bool(self.intercept))

    def _take_best(self, candidates: list[Candidate], accuracy: FloatArray) -> None:
        self.candidates_ = candidates
        self.cv_accuracy_ = accuracy.mean(axis=0)
        self._take_candidate(candidates[most_confident(accuracy, self.caution)])

    def _take_candidate(self, best: Candidate) -> None:
        self.kernel_, self.C_ = best.kernel, best.C
        if best.sigma is not None:
            self.sigma_ = best.sigma

    def _store(self, problems: list[Solution]) -> FloatArray:
        """Weights of the problems side by side; sets intercepts and steps, and warns of what did not converge."""
        for names, found in zip(self._names(), problems, strict=True):
            self._warn(found, names)
        self.intercept_ = np.array([found.intercept for found in problems])
        self.n_iter_ = np.array([found.steps for found in problems], dtype=np.intp)
        return np.column_stack([found.weights for found in problems])

    def _names(self) -> list[str]:
        """What each two-class problem tells apart."""
        classes = self.classes_.tolist()
        if self.multiclass == "ovr" and len(classes) > 2:
            return [f"class {one!r} and the rest" for one in classes]
        return [f"classes {classes[a]!r} and {classes[b]!r}" for a, b in class_pairs(len(classes))]

    def _decision(self, X: Any) -> FloatArray:
        return decisions([self], X)[0]

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        return iter(decisions(models, X))

    def _by_columns(self, X: Matrix) -> bool:
        linear = self.kernel == "linear" or (self.kernel == "auto" and self.solver == "auto")
        possible = linear and self.ridge == 0 and self._given_cost() != np.inf
        if self.solver == "liblinear" and not possible:
            raise TamisError(
                'solver="liblinear" takes the linear kernel, a finite C and no ridge; '
                f"got kernel={self.kernel!r}, C={self.C}, ridge={self.ridge}"
            )
        if self.solver != "auto" or not possible:
            return self.solver == "liblinear"
        return suits_columns(X)

    def _warn(self, found: Solution, names: str) -> None:
        if np.isinf(self.C_) and (not found.settled or found.bounded):
            message = f"no hard margin found between {names}: they overlap; give a finite C"
        elif not found.settled:
            message = (
                f"the margin between {names} is not settled to tol={self.tol:g}; "
                "scale the columns, lower C or raise max_iter"
            )
        else:
            return
        warnings.warn(message, NotSettled, stacklevel=2)
