"""RFE: fit a linear SVM, drop the columns with the smallest weights, fit again, until few are left."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.cut import Cut, rank
from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.selector import Selection, Selector, Weighted
from tamis.base.space import geom
from tamis.base.sweep import Sweep
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.kernel import inner_products, squared_norms
from tamis.margins.pairs import bearing_rows, column_path, gram_path, row_terms, suits_columns
from tamis.margins.solve import Solution

#: How much a margin of 1 may be missed when there is no going on to the optimum.
_TOL = 1e-3

#: Steps of libsvm for a hard margin: classes that overlap on some columns do so on fewer too, round after round.
_HARD_STEPS = 100_000

#: A weight below this share of what rows and columns of such a length could give is rounding.
_NOISE = 1e-10

#: Roundings that a Gram matrix may have suffered, in units of its trace, before it is computed anew.
_WORN = 1e4

#: Columns that have left stay in store until those that remain are fewer than this share of it.
_CROWDED = 0.75


class RFE(Sweep, Weighted, Selector):
    """Keep the columns that a linear SVM gives the largest weights, the others dropped bit by bit with a refit each.

    Guyon, Weston, Barnhill and Vapnik's recursive feature elimination. A round fits a linear SVM on the columns that
    remain, one machine w_ab per pair of classes, and drops those with the smallest sum over the pairs of w_ab,j^2;
    of equals the later columns go first. The weights of a linear SVM depend on the scale of the columns: standardise
    them first unless they are measured alike.

    Parameters
    ----------
    k : int, optional
        Keep `k` columns; all of them when there are fewer.
    fraction : float, optional
        Keep this share of the columns, rounded up. With neither given, half of them.
    step : int or float, default=0.1
        How many columns a round drops: a whole number, or a share of those that remain, rounded down but at least
        one. The last round drops no more than leaves `k`.
    C : float, default=1.0
        What a unit of slack costs; ``inf`` asks for a hard margin.
    balance : bool, default=False
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: every class weighs the same.

    Attributes
    ----------
    ranking_ : int array of shape (n_features,)
        Column numbers from best to worst: first those of the last machine by their weights there, then those
        that left, the last to leave first.
    scores_ : array of shape (n_features,)
        How many columns are ranked below.
    sizes_ : int array of shape (n_rounds,)
        On how many columns machines were fitted.
    n_support_ : int array of shape (n_rounds,)
        Rows that bear weight in them, when solved on the Gram matrix.

    Notes
    -----
    The machines are solved on the Gram matrix of the rows, from which the products of the columns that leave are
    subtracted: a round costs little more than a look at the columns that remain. They are solved to the optimum, for
    elimination magnifies errors: on 7,000 genes weights that are off by 0.0003 end in quite other columns. Only many
    rows with few values each are left to liblinear, as in ``svm``, whose weights are exact to a thousandth or so.

    Where rounds end depends on `step` and the number of columns alone, not on `k`. So one elimination serves every
    `k`: what is kept is what remains after the last full round and the best of those that the next one would drop.
    A share of 0.1 takes 7,000 columns down to one in about 80 rounds.

    Sample weights multiply C row by row: a row of weight 2 counts like the row twice, one of weight 0 is as if absent.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import RFE
    >>> X = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [0.0, 4.0, 3.0], [1.0, 5.0, 3.0]])
    >>> found = RFE(1).fit(X, [0, 0, 1, 1])
    >>> found.get_support(indices=True), found.ranking_, found.sizes_
    (array([1]), array([1, 0, 2]), array([3, 2]))
    """

    part: ClassVar[Part] = Part(
        "rfe",
        positional=("k",),
        search={"k": geom(1, 10_000), "C": geom(1e-3, 1e4)},
        paper="Guyon, Weston, Barnhill and Vapnik 2002",
    )
    #: One elimination down to the smallest size serves all.
    sweeps = ("k", "fraction")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "fraction": [Interval(Real, 0, 1, closed="right"), None],
        "step": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "C": [Interval(Real, 0, np.inf, closed="right")],
        "balance": ["boolean"],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        fraction: float | None = None,
        step: float = 0.1,
        C: float = 1.0,
        balance: bool = False,
    ) -> None:
        self.k = k
        self.fraction = fraction
        self.step = step
        self.C = C
        self.balance = balance

    def _select(self, X: Any, y: Any, *weight: Any) -> Selection:
        return self._alone(X, y, *weight)

    def _prepare(self, asked: Sequence[Self], X: Any, *given: Any) -> "_Path":
        X, y, weight, _ = bearing_rows(X, given[0], given[1], self.classes_, "RFE")
        unit, _ = row_terms(y, weight, balance=self.balance, ridge=0.0)
        remaining = (_ByColumns if suits_columns(X) and np.isfinite(self.C) else _ByRows)(X, y, self.C * unit)
        return _eliminate(remaining, X.shape[1], self.step, {one._size(X.shape[1]) for one in asked})

    def _answer(self, prepared: "_Path") -> Selection:
        n_features = self.n_features_in_
        size = self._size(n_features)
        last = prepared.last(size)
        rounds = prepared.rounds[: last + 1]
        ranking = np.concatenate([prepared.orders[last], *(one.gone for one in reversed(rounds[:-1]))])
        self._warn_unsettled(rounds)
        self.sizes_ = np.array([one.size for one in rounds])
        support = [one.n_support for one in rounds if one.n_support is not None]
        if support:
            self.n_support_ = np.array(support)
        keep = np.zeros(n_features, dtype=bool)
        keep[ranking[:size]] = True
        scores = np.empty(n_features)
        scores[ranking] = np.arange(n_features)[::-1]
        return Selection(keep, scores, ranking)

    def _size(self, n_features: int) -> int:
        """How many columns to keep."""
        nothing_given = self.k is None and self.fraction is None
        cut = Cut(self.k, 0.5 if nothing_given else self.fraction)
        return int(cut.apply(np.zeros(n_features), np.arange(n_features)).sum())

    def _warn_unsettled(self, rounds: Sequence["_Round"]) -> None:
        sizes = [one.size for one in rounds if not (one.settled if np.isfinite(self.C) else one.free)]
        if not sizes:
            return
        if np.isfinite(self.C):
            message = f"{len(sizes)} of {len(rounds)} machines are not settled; scale the columns or lower C"
        else:
            message = f"no hard margin found on {max(sizes)} columns and fewer: classes overlap; give a finite C"
        warnings.warn(f"RFE: {message}", ConvergenceWarning, stacklevel=2)


class _Round(NamedTuple):
    """A machine on `size` columns, and those that are dropped after it, best first."""

    size: int
    gone: np.ndarray
    n_support: int | None
    settled: bool
    free: bool


class _Path(NamedTuple):
    """Rounds of an elimination, and for those in which a size that was asked is met their columns, best first."""

    rounds: list[_Round]
    orders: dict[int, np.ndarray]

    def last(self, size: int) -> int:
        """The last round before `size` columns are left; the first one when there are no more from the start."""
        return max(0, sum(one.size > size for one in self.rounds) - 1)


def _eliminate(remaining: "_ByRows | _ByColumns", n_columns: int, step: float, asked: set[int]) -> _Path:
    """Drop columns round by round, until there are as few as the smallest size asked."""
    path = _Path([], {})
    columns = np.arange(n_columns)
    while True:
        size = columns.shape[0]
        drop = step if isinstance(step, Integral) else max(1, int(step * size))
        left = max(1, size - int(drop))
        lengths, pairs = remaining.weigh()
        # Columns that are equal but for rounding count as equal.
        order = rank((lengths / (lengths.max() or 1.0)).astype(np.float32))
        if any(left <= one <= size for one in asked):
            path.orders[len(path.rounds)] = columns[order]
        settled = all(pair.settled for pair in pairs)
        free = settled and not any(pair.bounded for pair in pairs)
        path.rounds.append(_Round(size, columns[order[left:]], remaining.n_support(pairs), settled, free))
        if left <= min(asked):
            return path
        kept = np.zeros(size, dtype=bool)
        kept[order[:left]] = True
        columns = columns[kept]
        remaining.keep(kept)


class _ByRows:
    """The remaining columns, and the inner products of the rows over them.

    Columns are stored as rows, which are cheap to take out; some that have left may still be there.
    """

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._y, self._cost = y, cost
        self._store = X.T.tocsr() if sp.issparse(X) else np.ascontiguousarray(X.T, dtype=np.float64)
        self._alive = np.ones(X.shape[1], dtype=bool)
        self._compute()
        self._norms = np.sqrt(squared_norms(self._store))

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Length of each remaining column's weights over the pairs of classes, and the solutions."""
        steps = None if np.isfinite(self._cost[0]) else _HARD_STEPS
        no_ridge = np.zeros(self._y.shape[0])
        pairs = gram_path(self._gram.copy(), self._y, [self._cost], no_ridge, tol=_TOL, max_iter=steps)[0]
        dual = np.column_stack([pair.weights for pair in pairs])
        lengths = np.linalg.norm(self._store @ dual, axis=1)
        lengths[lengths <= _NOISE * np.linalg.norm(dual) * self._norms] = 0.0
        return lengths[self._alive], pairs

    def n_support(self, pairs: list[Solution]) -> int | None:
        return int(np.any([pair.weights != 0 for pair in pairs], axis=0).sum())

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
        leaving = np.flatnonzero(self._alive)[~kept]
        self._alive[leaving] = False
        stay = int(kept.sum())
        fewer = leaving.shape[0] < stay
        if fewer:
            self._gram -= inner_products(self._store[leaving].T)
            self._subtractions += 1
        if stay < _CROWDED * self._alive.shape[0]:
            self._store, self._norms = self._store[self._alive], self._norms[self._alive]
            self._alive = np.ones(stay, dtype=bool)
        # Each subtraction rounds numbers as large as those that were there at first.
        if not fewer or self._subtractions * self._full > _WORN * self._gram.trace():
            self._compute()

    def _compute(self) -> None:
        """The inner products from the columns themselves."""
        remaining = self._store if self._alive.all() else self._store[self._alive]
        with np.errstate(over="ignore", invalid="ignore"):
            self._gram = inner_products(remaining.T)
        if not np.isfinite(self._gram).all():
            raise TamisError("RFE: the inner products of the rows overflow; scale the columns first")
        self._full, self._subtractions = float(self._gram.trace()), 0


class _ByColumns:
    """The remaining columns, for liblinear."""

    def __init__(self, X: Matrix, y: Codes, cost: FloatArray) -> None:
        self._X = X.tocsr() if sp.issparse(X) else X
        self._y, self._cost = y, cost
        low, high = min_max_axis(X, axis=0) if sp.issparse(X) else (X.min(axis=0), X.max(axis=0))
        self._constant = low == high

    def weigh(self) -> tuple[FloatArray, list[Solution]]:
        """Length of each remaining column's weights over the pairs of classes, and the solutions."""
        pairs = column_path(self._X, self._y, [self._cost], tol=_TOL, max_iter=None)[0]
        lengths = np.linalg.norm([pair.weights for pair in pairs], axis=0)
        # They may get a small weight, for liblinear penalises the intercept.
        return np.where(self._constant, 0.0, lengths), pairs

    def n_support(self, pairs: list[Solution]) -> int | None:
        """Not known to liblinear's answer."""
        return None

    def keep(self, kept: Mask) -> None:
        """Let the columns go that are not `kept`, a mask of those that remained."""
        self._X, self._constant = self._X[:, kept], self._constant[kept]
