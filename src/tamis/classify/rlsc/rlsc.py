"""Regularized least-squares classification: the least squared error of class codes in the space of a kernel."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.inner_cv import row_copies
from tamis.base.part import Arguments, Limits, Part, percent
from tamis.base.search_range import choice
from tamis.base.seeds import generator
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import bearing_rows, row_terms
from tamis.classify.rlsc.least_squares import KernelLeastSquares
from tamis.margins.kernel import GROUNDS, apply, ground, inner_products, squared_norms
from tamis.margins.kernel_width import MULTIPLES, spread_width

#: Kernels; all are positive semidefinite.
_KERNELS = ("linear", "gaussian", "polynomial")

#: Most rows of a machine: its kernel matrix takes 3 GB, and its eigenvectors as much.
_MOST_ROWS = 20_000

#: Given penalties from which on eigenvalues are quicker than a factorization each.
_MANY = 16

#: Errors with a smaller relative difference differ by rounding alone.
_EQUAL = 1e-9

#: Kernel values that are held at a time in predictions.
_BLOCK = 4_000_000


class _Problem(NamedTuple):
    """What a kernel matrix and its eigenvalues depend on beside the rows."""

    kernel: str
    sigma: float | str
    degree: int
    coef0: float
    class_weight: str | None

    def widths(self, scale: float) -> tuple[float | None, ...]:
        """The widths to try, the widest first; `scale` is that of "scale"."""
        if self.kernel == "linear":
            return (None,)
        if isinstance(self.sigma, str):
            return tuple((scale * (MULTIPLES if self.sigma == "auto" else np.ones(1))).tolist())
        return (float(self.sigma),)

    def values(self, grounds: FloatArray, width: float | None) -> FloatArray:
        return apply(self.kernel, grounds, sigma=width or 1.0, degree=self.degree, coef0=self.coef0)


class _Machine(NamedTuple):
    """A solution: its rows and their coefficients, its width and penalty, and what was compared to find these."""

    rows: np.ndarray
    coef: FloatArray
    width: float | None
    penalty: float
    candidates: FloatArray


class _Shared(NamedTuple):
    """The training rows, their numbers among all, and the machines by problem and penalty."""

    X: Matrix
    places: np.ndarray
    found: dict[tuple[_Problem, float | str], list[_Machine]]


def _phrase(a: Arguments) -> str:
    kernel = {"gaussian": "Gaussian"}.get(name := a.pop("kernel"), name)
    one = f"regularized least-squares classification with {kernel} kernel"
    share, machines = a.pop("max_samples"), a.pop("n_estimators")
    return one if share == 1 else f"the mean of {machines} machines of {one}, each on {percent(share)} of the rows"


class RLSC(SharedFit, WeightedClassifier):
    """Fit class codes by least squares in the space of a kernel; alone, or as the mean of machines on some of the rows.

    For two classes, with codes s of +1 and -1, it minimises over the functions f of a kernel k::

        sum_i (s_i - f(x_i))^2 + n penalty |f|^2,    f(x) = sum_i c_i k(x_i, x),

    and predicts the sign of f(x). Several classes are separated one against the rest, on one decomposition of the
    kernel matrix; the largest f wins.

    ============ ================================
    linear       x.x'
    gaussian     exp(-|x - x'|^2 / sigma)
    polynomial   (x.x' / sigma + coef0)^degree
    ============ ================================

    Parameters
    ----------
    kernel : {"gaussian", "linear", "polynomial"}, default="gaussian"
    penalty : float or "auto", default="auto"
        "auto" compares 41 values, such that n penalty is between 1e2 and 1e-8 times the largest eigenvalue of the
        kernel matrix, and takes the one with the smallest squared error on rows left out one at a time.
    sigma : float, "scale" or "auto", default="scale"
        The width of the kernels that have one. "scale" is the number of columns times the variance of all values, the
        inverse of scikit-learn's ``gamma="scale"``. "auto" tries seven multiples of it, from 1/256 to 16, and takes the
        one with the smallest error on rows left out, for seven times the time.
    degree : int, default=3
    coef0 : float, default=1.0
        Of the polynomial kernel; not below zero.
    class_weight : {"balanced"}, optional
        Multiply the squared error of a row by n / (k n_c) for the n_c of n rows in its class, of k classes.
    n_estimators : int, default=1
        Machines, of which f is the mean.
    max_samples : float, default=1.0
        Share of each class's rows that a machine is fitted on, drawn without replacement for each; at least one row of
        every class. With 1 all machines would be equal, and one is fitted.
    random_state : int, Generator, RandomState or None, default=None
        Draws these rows.

    Attributes
    ----------
    classes_ : array
    penalties_ : array of shape (n_machines,)
        The penalty of each machine.
    sigmas_ : array of shape (n_machines,)
        Their widths, for the kernels that have one.
    candidates_ : list of arrays of shape (n_candidates, 3)
        For each machine the widths (NaN for the linear kernel), penalties and root mean squared errors on rows left out
        that were compared; empty where both are given.
    coef_ : array of shape (n_problems, n_features)
        Linear kernel only. Two classes are one problem, f above zero for the second.
    widths_ : array of shape (n_widths,)
    support_ : array of shape (n_support,)
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
    dual_coef_ : array of shape (n_widths, n_support, n_problems)
        For the other kernels the distinct widths, the training rows that any machine uses, by number and as they are,
        and the coefficients c, averaged over the machines.

    See Also
    --------
    SVM : The same kernels with the hinge loss and an intercept.
    Ridge : Least squares of numbers.

    Notes
    -----
    The error of a fit without a row follows from the eigenvalues of the kernel matrix, for every penalty, without a
    refit: n penalty and the weights of the other rows stay what they are. Errors are averaged over the problems; of
    equals the widest kernel counts, then the largest penalty. Where selection precedes the fit, rows left out have had
    a part in it.

    There is no intercept, and there are no probabilities: f is a margin. The linear kernel is best on centred columns.

    A machine of n rows takes n^2 numbers of memory three times over and, with "auto", the time of n^3: of 6,000 rows
    minutes, of 600 a tenth of a second. Some dozens of machines on a tenth of the rows each are a cheaper model of many
    rows. More than 20,000 rows a machine are refused. Sparse rows stay sparse, and any number of columns enters by the
    products of the rows only.

    Torkkola and Tuv rank the columns by a random forest and combine machines with Gaussian kernels on random parts of
    the rows. Their chapter was not at hand, only abstracts: that outputs are averaged and not weighted is our reading.

    A row of weight 2 counts like the row twice. Where all weights are whole numbers, copies of a row are drawn, and
    left out, one at a time.

    References
    ----------
    Rifkin, Yeo and Poggio (2003), "Regularized least-squares classification"; Torkkola and Tuv (2006), "Ensembles of
    regularized least squares classifiers for high-dimensional problems", in Guyon et al., "Feature Extraction".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import RLSC
    >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> y = ["far", "far", "near", "far", "far"]
    >>> RLSC(penalty=0.01, sigma=1.0).fit(X, y).predict([[0.1], [1.6]])
    array(['near', 'far'], dtype='<U4')
    >>> RLSC("linear", 0.2).fit(X, np.sign(X[:, 0] + 0.5)).coef_.round(6)
    array([[0.545455]])
    """

    part: ClassVar[Part] = Part(
        "rlsc",
        positional=("kernel", "penalty"),
        search={
            "kernel": choice("gaussian", "linear"),
            "sigma": choice("scale", "auto"),
            "class_weight": choice("balanced", None),
        },
        paper="Rifkin, Yeo and Poggio 2003; Torkkola and Tuv 2006",
        only={"sigma": ("kernel", "gaussian")},
        phrase=_phrase,
        limits=Limits(rows=2_000),
        growth=3.0,
        boundary={"linear": "linear", "gaussian": "kernel"},
        counterpart="svr",
    )
    #: One kernel matrix, or one decomposition of it, serves all of them.
    shared_parameters = ("kernel", "penalty", "sigma", "degree", "coef0", "class_weight")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(set(_KERNELS))],
        "penalty": [real(0, None), StrOptions({"auto"})],
        "sigma": [real(0, None), StrOptions({"scale", "auto"})],
        "degree": [integer(1)],
        "coef0": [real(0, None, "left")],
        "class_weight": [StrOptions({"balanced"}), None],
        "n_estimators": [integer(1)],
        "max_samples": [real(0, 1, "right")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        kernel: str = "gaussian",
        penalty: float | Literal["auto"] = "auto",
        *,
        sigma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | None = None,
        n_estimators: int = 1,
        max_samples: float = 1.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.random_state = random_state

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> _Shared:
        X, y, weight, places = bearing_rows(X, y, sample_weight, self.classes_, "RLSC")
        wanted: dict[_Problem, list[float | str]] = {}
        for problem, penalty in dict.fromkeys(one._key() for one in estimators):
            wanted.setdefault(problem, []).append(penalty)
        scale = spread_width(X, weight)
        found: dict[tuple[_Problem, float | str], list[_Machine]] = {}
        for own in self._draw(X, y, weight):
            rows = np.flatnonzero(own)
            _check_size(rows.size)
            mine, codes, counts = X if rows.size == y.size else X[rows], y[rows], own[rows]
            grounds = {kind: ground(kernel, mine) for kind, kernel in _kinds(estimators).items()}
            for problem, penalties in wanted.items():
                shared = grounds[GROUNDS[problem.kernel]]
                for penalty, machine in _solved(problem, penalties, shared, scale, codes, counts).items():
                    found.setdefault((problem, penalty), []).append(machine._replace(rows=rows))
        return _Shared(X, places, found)

    def _draw(self, X: Matrix, y: Codes, weight: FloatArray) -> Iterator[FloatArray]:
        """The weights of the rows for each machine; 0 for a row that it does not see."""
        if self.max_samples == 1:
            yield weight
            return
        random = generator(self.random_state)
        copies, each = row_copies(squared_norms(X), weight)
        for _ in range(self.n_estimators):
            drawn = [random.permutation(copies[y[copies] == c]) for c in range(self.classes_.size)]
            first = [one[: max(1, round(self.max_samples * one.size))] for one in drawn]
            yield each * np.bincount(np.concatenate(first), minlength=y.size)

    def _problem(self) -> _Problem:
        return _Problem(self.kernel, self.sigma, self.degree, self.coef0, self.class_weight)

    def _key(self) -> tuple[_Problem, float | str]:
        return self._problem(), self.penalty if isinstance(self.penalty, str) else float(self.penalty)

    def _finish(self, prepared: _Shared) -> None:
        X, places, found = prepared
        machines = found[self._key()]
        self.penalties_ = np.array([one.penalty for one in machines])
        self.candidates_ = [one.candidates for one in machines]
        support = np.unique(np.concatenate([one.rows for one in machines]))
        widths = sorted({one.width or 1.0 for one in machines})
        dual = np.zeros((len(widths), support.size, machines[0].coef.shape[1]))
        for one in machines:
            dual[widths.index(one.width or 1.0), np.searchsorted(support, one.rows)] += one.coef / len(machines)
        # A copy: the model must not change with the caller's rows.
        rows = X[support]
        if self.kernel == "linear":
            self.coef_ = np.ascontiguousarray((rows.T.astype(np.float64, copy=False) @ dual[0]).T)
            return
        self.sigmas_ = np.array([one.width for one in machines])
        self.widths_, self.dual_coef_ = np.array(widths), dual
        self.support_, self.support_vectors_ = places[support], rows

    def _decision(self, X: Any) -> FloatArray:
        return next(self._decide_all([self], X))

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        curved = [model for model in models if model.kernel != "linear"]
        sums = [np.zeros((X.shape[0], model.dual_coef_.shape[2])) for model in curved]
        if curved:
            # Those fitted together use the same rows.
            vectors = curved[0].support_vectors_
            height = max(1, _BLOCK // vectors.shape[0])
            for top in range(0, X.shape[0], height):
                block = X[top : top + height]
                grounds = {kind: ground(kernel, block, vectors) for kind, kernel in _kinds(curved).items()}
                for model, out in zip(curved, sums, strict=True):
                    for width, coef in zip(model.widths_.tolist(), model.dual_coef_, strict=True):
                        out[top : top + height] += model._problem().values(grounds[GROUNDS[model.kernel]], width) @ coef
        waiting = iter(sums)
        evidence = (inner_products(X, model.coef_) if model.kernel == "linear" else next(waiting) for model in models)
        return (one[:, 0] if one.shape[1] == 1 else one for one in evidence)


def _kinds(models: Sequence[RLSC]) -> dict[str, str]:
    """The ground matrices that the kernels of some models need, each with a kernel that names it."""
    return {GROUNDS[model.kernel]: model.kernel for model in models}


def _solved(
    problem: _Problem, penalties: Sequence[float | str], grounds: FloatArray, scale: float, y: Codes, weight: FloatArray
) -> dict[float | str, _Machine]:
    """A machine for each penalty, on rows of some codes and weights; its `rows` are all of them."""
    n_classes, n = int(y.max()) + 1, float(weight.sum())
    # Two classes need only the machine of the second.
    targets = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else 1), 1.0, -1.0)
    cost = row_terms(y, weight, class_weight=problem.class_weight, ridge=0.0)[0]
    copies = weight if (weight == np.rint(weight)).all() else np.ones(y.size)
    widths = problem.widths(scale)
    decompose = len(widths) > 1 or "auto" in penalties or len(penalties) > _MANY
    found: dict[float | str, _Machine] = {}
    lowest = dict.fromkeys(penalties, np.inf)
    for width in widths:
        values = problem.values(grounds, width)
        system = KernelLeastSquares(values.copy() if values is grounds else values, targets, cost, copies)
        for penalty in penalties:
            alphas = np.array([n * penalty]) if isinstance(penalty, float) else system.penalties()
            if len(widths) * alphas.size == 1:
                coef = system.solve(float(alphas[0]), decompose=decompose)
                found[penalty] = _Machine(np.arange(y.size), coef, width, float(penalty), np.empty((0, 3)))
                continue
            errors = system.leave_one_out(alphas)
            candidates = np.column_stack([np.full(alphas.size, width or np.nan), alphas / n, errors])
            if penalty in found:
                candidates = np.concatenate([found[penalty].candidates, candidates])
                found[penalty] = found[penalty]._replace(candidates=candidates)
            if errors.min() < lowest[penalty] * (1 - _EQUAL):
                lowest[penalty] = errors.min()
                # The largest penalty of those that differ by rounding.
                alpha = float(alphas[errors <= errors.min() * (1 + _EQUAL)][0])
                coef = system.solve(alpha, decompose=True)
                found[penalty] = _Machine(np.arange(y.size), coef, width, alpha / n, candidates)
    return found


def _check_size(n_rows: int) -> None:
    if n_rows > _MOST_ROWS:
        raise TamisError(
            f"rlsc: a machine of {n_rows} rows needs a kernel matrix of {8e-9 * n_rows**2:.1f} GB; at most "
            f"{_MOST_ROWS} rows are taken, so fit several machines on some of the rows each by max_samples and "
            "n_estimators"
        )
