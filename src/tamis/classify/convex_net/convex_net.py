"""Convex network: a penalised sum of basis functions with the smallest loss, and the few of them that matter."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread
from tamis.base.part import Arguments, Limits, Part
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows
from tamis.classify.convex_net.basis import Rows, basis_values, check_gram, check_largest, given_matrix, interval
from tamis.classify.convex_net.basis_search import Path, Steps, floating, forward, plus_minus
from tamis.classify.convex_net.chunks import basis_chunks, kernel_chunks, most_values
from tamis.classify.convex_net.problem import Problem, Setting
from tamis.margins.convex import LOSSES, Point, minimise
from tamis.margins.convex_candidates import Candidates, SolvedSubset
from tamis.margins.kernel import GROUNDS, apply, ground
from tamis.margins.kernel_width import widths

#: Kernel values that are held at a time in predictions.
_BLOCK = 4_000_000


#: A solved set of basis functions, and CN of the sets of 1, 2, ... basis functions on the way to it.
_Machine = tuple[SolvedSubset, FloatArray]


class _Shared(NamedTuple):
    """What estimators that are fitted together share, and the machines of each by its shared parameters."""

    problem: Problem
    signs: list[FloatArray]
    sigma: float | None
    found: dict[tuple[Any, ...], list[_Machine]]


def _phrase(a: Arguments) -> str:
    few = a.pop("sparsity")
    return "a convex network" if few is None else f"a convex network of few basis functions ({few})"


class ConvexNet(SharedFit, WeightedClassifier):
    """Add up basis functions so that a convex loss of the margins is smallest; several classes one against all.

    For two classes, with signs s of +1 and -1 and basis functions f_j, it finds the coefficients a that minimise

        sum_i L(s_i sum_j a_j f_j(x_i)) + penalty a'Aa,    low <= a_j <= high,

    and predicts the sign of sum_j a_j f_j(x). The basis functions are f_j(x) = s_j k(x, x_j), one for each training row
    x_j, with a kernel k of :class:`~tamis.classify.SVM`, or those given as `basis`. The losses:

    ============= ===================
    logistic      ln(1 + exp(-m))
    squared_hinge max(0, 1 - m)^2
    exponential   exp(-m)
    ============= ===================

    With `sparsity` only a few basis functions have a coefficient. A search finds them on CN(I), the smallest objective
    with the basis functions I alone.

    Parameters
    ----------
    sparsity : int, float or None, default=None
        Most basis functions of a class, as a number or a share of all; None uses all.
    kernel : {"linear", "gaussian", "exponential", "polynomial", "cosine", "sigmoid"}, default="cosine"
    sigma : float or "scale", default="scale"
        As for :class:`~tamis.classify.SVM`, with `degree` and `coef0`, for the kernels that have them.
    degree, coef0 : int and float, default=3 and 1.0
    loss : {"logistic", "squared_hinge", "exponential"}, default="logistic"
    penalty : float, default=1.0
        Kovács and Kocsor's lambda.
    shape : "identity", "gram" or array of shape (n_basis, n_basis), default="identity"
        The matrix A. "gram" has s_i s_j k(x_i, x_j), which makes a'Aa the squared length of sum_j a_j f_j in the space
        of the kernel. An array must be symmetric and positive semidefinite.
    low, high : float, array of shape (n_basis,) or None, default=None
        Bounds of each coefficient; None is no bound. With `sparsity` they must enclose 0. A kernel has one basis
        function for each distinct row (see Notes) with a weight above zero.
    basis : callable, optional
        Takes rows, as a float array or a CSR matrix, and returns an array of shape (n_rows, n_basis).
    search : {"sffs", "pta", "sfs"}, default="sffs"
        Floating, plus l take away r, or forward search for basis functions.
    plus, minus : int, default=3 and 1
        How many "pta" adds and then removes in a turn.
    exhaustive : bool, default=False
        Solve CN for every candidate of the search, as the paper does, instead of for those with the lowest estimates
        (see Notes).
    class_weight : {"balanced"}, optional
        Weigh the loss of a row by n / (k n_c) for the n_c of n rows in its class, of k classes.
    tol : float, default=1e-9
        Largest slope left at the optimum, as a share of the largest possible at the start.
    max_iter : int, default=100
        Most rounds of steps. A warning reports when they were not enough.

    Attributes
    ----------
    classes_ : array
    support_ : int array of shape (n_support,)
        Training rows, or columns of `basis`, with a coefficient for any class.
    coef_ : array of shape (n_machines, n_support)
        What k(x, x_j) (or f_j) counts for a class: s_j a_j (or a_j). One machine for two classes.
    support_vectors_ : array or CSR matrix of shape (n_support, n_features)
        Those rows, unless `basis` is given.
    sigma_ : float
        The width in use, for the kernels that have one.
    objective_ : array of shape (n_machines,)
        The smallest objective.
    n_iter_ : int array of shape (n_machines,)
        Rounds of the last solve, at least 1.
    chosen_ : list of int arrays
        With a `sparsity` below the number of basis functions: the training rows or columns that each machine uses, in
        the order in which they were added.
    path_ : array of shape (n_machines, n_chosen)
        Likewise: CN of the sets of 1, 2, ... basis functions that the search found.

    See Also
    --------
    SVM : The same kernels with the hinge loss and an intercept.

    Notes
    -----
    The solver begins with a round of Newton steps along one coefficient after another, as in the paper, and goes on
    with steps of all coefficients. There is no intercept, but a positive `coef0` gives a kernel a constant part. There
    are no class probabilities.

    Values of basis functions that do not fit into three quarters of scikit-learn's ``working_memory`` (1e8 values by
    default) are computed again in every pass, a chunk of rows at a time; a `basis` gets a piece of the rows, and must
    not depend on which. Without `sparsity` the optimum is found by Newton steps from conjugate gradients, one pass
    each, or from second derivatives that are added up over the chunks. All classes share the passes, tens without
    bounds and up to hundreds with them. `max_iter` counts Newton steps.

    The search estimates CN of a candidate by the minimum on the line along which the coefficients change to second
    order: no less than CN, and mostly equal to it to several digits. The sets it goes on from are solved. With a small
    `penalty` a step may so miss the best candidate, and the search end elsewhere; with `exhaustive` it does not, at
    30 to 40 times the cost. Forward and floating search stop at `sparsity` basis functions. "pta" goes on to the turn
    that begins with at least that many, and takes its best set of that size.

    Equal rows of one class count as one row with their weights added: it has one basis function, with
    A_jj = 1 / weight and bounds multiplied by the weight. Without `sparsity` the result is the same as with one basis
    function for each. With `basis`, or an array as `shape`, weights multiply the loss alone.

    References
    ----------
    Kovács and Kocsor (2005), "Improving a basis function based classification method using feature selection
    algorithms".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import ConvexNet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = ConvexNet(5, kernel="gaussian", penalty=0.01).fit(X, y)
    >>> model.support_.size, round(model.score(X, y), 2)
    (5, 0.98)
    """

    part: ClassVar[Part] = Part(
        "convex_net",
        positional=("sparsity",),
        search={
            "kernel": choice("cosine", "gaussian"),
            "penalty": geom(1e-2, 1e2, 5),
            "class_weight": choice("balanced", None),
        },
        paper="Kovács and Kocsor 2005",
        phrase=_phrase,
        limits=Limits(rows=2_000),
        growth=3.0,
        counterpart="svr",
    )
    #: One matrix of basis functions serves all of them, one search every sparsity.
    shared_parameters = ("sparsity", "loss", "penalty", "search", "plus", "minus", "class_weight")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sparsity": [integer(1), real(0, 1), None],
        "kernel": [StrOptions(set(GROUNDS))],
        "sigma": [real(0, None), StrOptions({"scale"})],
        "degree": [integer(1)],
        "coef0": [real()],
        "loss": [StrOptions(set(LOSSES))],
        "penalty": [real(0, None)],
        "shape": [StrOptions({"identity", "gram"}), "array-like"],
        "low": [real(None, None, "both"), "array-like", None],
        "high": [real(None, None, "both"), "array-like", None],
        "basis": [callable, None],
        "search": [StrOptions({"sffs", "pta", "sfs"})],
        "plus": [integer(1)],
        "minus": [integer(0)],
        "exhaustive": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), None],
        "tol": [real(0, None)],
        "max_iter": [integer(1)],
    }

    def __init__(
        self,
        sparsity: float | None = None,
        *,
        kernel: str = "cosine",
        sigma: float | Literal["scale"] = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        loss: str = "logistic",
        penalty: float = 1.0,
        shape: Any = "identity",
        low: Any = None,
        high: Any = None,
        basis: Callable[[Any], Any] | None = None,
        search: str = "sffs",
        plus: int = 3,
        minus: int = 1,
        exhaustive: bool = False,
        class_weight: str | None = None,
        tol: float = 1e-9,
        max_iter: int = 100,
    ) -> None:
        self.sparsity = sparsity
        self.kernel = kernel
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.penalty = penalty
        self.shape = shape
        self.low = low
        self.high = high
        self.basis = basis
        self.search = search
        self.plus = plus
        self.minus = minus
        self.exhaustive = exhaustive
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> _Shared:
        rows = Rows(*bearing_rows(X, y, sample_weight, self.classes_, "ConvexNet"))
        problem, sigma = self._problem(rows, sparse=any(one.sparsity is not None for one in estimators))
        # Two classes need only the machine of the second.
        codes = range(self.classes_.size) if self.classes_.size > 2 else (1,)
        shared = _Shared(problem, [np.where(problem.rows.y == c, 1.0, -1.0) for c in codes], sigma, {})
        alike: dict[tuple[Any, ...], list[Self]] = {}
        # Equal parameters may come in different types.
        for one in {one._key(): one for one in estimators}.values():
            alike.setdefault((one.loss, float(one.penalty), one.class_weight), []).append(one)
        settings = [(Setting(signs, *key), nets) for signs in shared.signs for key, nets in alike.items()]
        wholes = self._wholes(problem, settings)
        # The sets of a search are small: a second thread costs more than it saves.
        with one_thread():
            for (setting, nets), whole in zip(settings, wholes, strict=True):
                for one, machine in zip(nets, self._solve(nets, problem, setting, whole), strict=True):
                    shared.found.setdefault(one._key(), []).append(machine)
        return shared

    def _wholes(self, problem: Problem, settings: list[tuple[Setting, list[Self]]]) -> list[Point | None]:
        """The optimum of each setting on all basis functions, where it is wanted and takes chunks: all together."""
        n = problem.n_basis if problem.chunked else 0
        wanted = [k for k, (_, nets) in enumerate(settings) if any(one._size(n) == n > 0 for one in nets)]
        found = problem.minimise([settings[k][0] for k in wanted], tol=self.tol, max_iter=self.max_iter)
        by_place = dict(zip(wanted, found, strict=True))
        return [by_place.get(k) for k in range(len(settings))]

    def _problem(self, rows: Rows, *, sparse: bool) -> tuple[Problem, float | None]:
        """The basis functions, the matrix and the bounds, and the width of the kernel."""
        named = isinstance(self.shape, str)
        sigma: float | None = None
        values: FloatArray | None = None
        if self.basis is None:
            rows = rows.distinct() if named else rows
            (sigma,) = widths(self.kernel, self.sigma, rows.X, np.empty((0, 0)), rows.y, rows.weight)
            chunks = kernel_chunks(self.kernel, rows.X, self._options(sigma))
            if rows.y.size**2 <= most_values():
                values = self._apply(ground(self.kernel, rows.X), sigma)
        else:
            # With more rows than this, their number of basis functions decides whether all values fit into memory.
            first = basis_values(self.basis, rows.X[: max(1, isqrt(most_values()))])
            chunks = basis_chunks(self.basis, rows.X, first.shape[1])
            if first.shape[0] < rows.y.size and rows.y.size * first.shape[1] <= most_values():
                first = basis_values(self.basis, rows.X)
            if first.shape[0] == rows.y.size and first.size <= most_values():
                values = np.ascontiguousarray(first.T)
        if values is not None:
            check_largest(values)
        n_basis = chunks.n_basis
        counts = rows.weight if self.basis is None and named else np.ones(n_basis)
        of_kernel = named and self.shape == "gram"
        if not named:
            matrix = given_matrix(self.shape, n_basis)
        elif of_kernel:
            check_gram(self.kernel, self.coef0, self.basis)
            assert chunks.diagonal is not None
            matrix = chunks.diagonal[None]
        else:
            with np.errstate(over="ignore"):
                matrix = 1.0 / counts[None]
        box = interval(self.low, self.high, counts, around_zero=sparse)
        return Problem(rows, values, chunks, matrix, *box, of_rows=self.basis is None, of_kernel=of_kernel), sigma

    def _solve(
        self, nets: Sequence[Self], problem: Problem, setting: Setting, whole: Point | None
    ) -> Iterator[_Machine]:
        """The machine of each estimator on one objective; shared searches run once."""
        every = np.arange(problem.n_basis)
        objective = None
        if whole is None or any(one._size(every.size) < every.size for one in nets):
            objective = problem.objective(setting)
        paths: dict[tuple[Any, ...], Path] = {}
        for one in nets:
            size = one._size(every.size)
            if size == every.size:
                if whole is None:
                    assert objective is not None
                    whole = minimise(objective, tol=self.tol, max_iter=self.max_iter)
                yield SolvedSubset(every, whole), np.empty(0)
                continue
            how = (one.search, one.plus, one.minus)
            if how not in paths:
                assert objective is not None
                options: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter, "exhaustive": self.exhaustive}
                paths[how] = Path(one._steps(Candidates(objective, **options)))
            found = [paths[how].at(n) for n in range(1, size + 1)]
            yield found[-1], np.array([one.at.value for one in found])

    def _steps(self, candidates: Candidates) -> Steps:
        if self.search == "sfs":
            return forward(candidates)
        if self.search == "sffs":
            return floating(candidates)
        if self.plus <= self.minus:
            got = f"got plus={self.plus}, minus={self.minus}"
            raise TamisError(f"'plus' of convex_net must be larger than 'minus'; {got}")
        return plus_minus(candidates, int(self.plus), int(self.minus))

    def _size(self, n_basis: int) -> int:
        """How many basis functions a machine may use."""
        if self.sparsity is None:
            return n_basis
        wanted = self.sparsity if isinstance(self.sparsity, Integral) else max(1, round(self.sparsity * n_basis))
        return min(int(wanted), n_basis)

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.shared_parameters)

    def _finish(self, prepared: _Shared) -> None:
        problem = prepared.problem
        machines, paths = zip(*prepared.found[self._key()], strict=True)
        coef = np.stack([one.at.coef * problem.own(signs) for one, signs in zip(machines, prepared.signs, strict=True)])
        used = np.flatnonzero(coef.any(axis=0))
        names = problem.rows.places if problem.of_rows else np.arange(problem.n_basis)
        self.support_, self.coef_ = names[used], coef[:, used]
        if problem.of_rows:
            self.support_vectors_ = problem.rows.X[used]
        if prepared.sigma is not None:
            self.sigma_ = prepared.sigma
        self.objective_ = np.array([one.at.value for one in machines])
        self.n_iter_ = np.array([max(1, one.at.rounds) for one in machines], dtype=np.intp)
        if paths[0].size:
            self.chosen_ = [names[one.chosen] for one in machines]
            self.path_ = np.stack(paths)
        self._n_basis = problem.n_basis
        if not all(one.at.settled for one in machines):
            message = f"convex_net is not settled to tol={self.tol:g}; raise 'max_iter' or 'penalty', or scale the data"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)

    def _decision(self, X: Any) -> FloatArray:
        evidence = np.zeros((X.shape[0], self.coef_.shape[0]))
        height = max(1, _BLOCK // max(1, self.support_.size) if self.basis is None else most_values() // self._n_basis)
        for top in range(0, X.shape[0], height):
            evidence[top : top + height] = self._evidence(X[top : top + height])
        return evidence[:, 0] if evidence.shape[1] == 1 else evidence

    def _evidence(self, X: Any) -> FloatArray:
        """The sums of some rows, a column for each machine."""
        if self.basis is not None:
            values = basis_values(self.basis, X)
            if values.shape[1] != self._n_basis:
                raise TamisError(
                    f"'basis' of convex_net returned {values.shape[1]} columns; in the fit it returned {self._n_basis}"
                )
            return np.asarray(values[:, self.support_] @ self.coef_.T)
        if not self.support_.size:
            return np.zeros((X.shape[0], self.coef_.shape[0]))
        grounds = ground(self.kernel, X, self.support_vectors_)
        return np.asarray(self._apply(grounds, getattr(self, "sigma_", None)) @ self.coef_.T)

    def _options(self, sigma: float | None) -> dict[str, Any]:
        return {"sigma": sigma or 1.0, "degree": self.degree, "coef0": self.coef0}

    def _apply(self, grounds: FloatArray, sigma: float | None) -> FloatArray:
        return apply(self.kernel, grounds, **self._options(sigma))
