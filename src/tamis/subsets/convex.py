"""The optimum of a convex network whose basis functions are the columns of a set."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, TamisError
from tamis.base.parallel import one_thread
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import check_number, check_whole, row_terms
from tamis.margins.convex import LOSSES, Objective
from tamis.margins.convex_candidates import Candidates, SolvedSubset
from tamis.subsets.usable_rows import refuse_nominal, usable_rows

#: Values of columns, for all machines together, that may be held.
_MOST = 100_000_000

#: Values whose squares can be summed.
_LARGEST = 1e100


class ConvexOptimum:
    """Minus CN(I), the smallest penalised loss of a sum of the columns I; no set scores below a set that it contains.

    With signs s of +1 and -1 for two classes, CN(I) is the minimum over the coefficients a of

        sum_i L(s_i sum_j a_j x_ij) + penalty sum_j a_j^2,    j in I.

    Several classes are separated one against all, and their optima added up. The empty set has the loss of margins 0.

    Parameters
    ----------
    objectives : list of Objective
        One for each class that is separated from the others.
    tol, max_iter : float and int
        As of :func:`tamis.margins.convex.minimise`.

    See Also
    --------
    tamis.classify.ConvexNet : The same optimum over basis functions of a kernel, as a classifier.

    Notes
    -----
    Each set is solved, from the coefficients of the last set; one that differs by a column from those that the second
    derivatives predict. The scores of equal sets are equal to a relative 1e-9. There is no intercept, and the penalty
    depends on the scale of the columns: put ``standardize`` in front.

    References
    ----------
    Kovács and Kocsor (2005), "Improving a basis function based classification method using feature selection
    algorithms".

    Examples
    --------
    >>> X = np.array([[-2.0, 1], [-1, -1], [-1.5, 0.5], [1, 0.2], [2, -1], [1.5, 0.3]])
    >>> measure = ConvexOptimum.of(X, np.array([0, 0, 0, 1, 1, 1]))
    >>> measure.many(np.array([[False, False], [True, False], [False, True]])).round(3)
    array([-4.159, -2.259, -4.115])
    >>> measure.add(np.array([1]), np.array([0])).round(3)
    array([-2.259])
    """

    def __init__(self, objectives: list[Objective], *, tol: float = 1e-10, max_iter: int = 100) -> None:
        self._machines = [Candidates(one, tol=tol, max_iter=max_iter) for one in objectives]
        #: The last set, solved by each machine.
        self._last = [machine.empty() for machine in self._machines]

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: Any,
        nominal: Any = None,
        sample_weight: Any = None,
        *,
        loss: str = "logistic",
        penalty: float = 1.0,
        class_weight: str | None = None,
        tol: float = 1e-10,
        max_iter: int = 100,
    ) -> "ConvexOptimum":
        """From validated data: numeric columns without missing values, and class codes 0, 1, ...

        Parameters
        ----------
        X : array or CSR/CSC matrix of shape (n_rows, n_features)
            A sparse matrix is held as a dense one.
        y : int array of shape (n_rows,)
        nominal : bool array of shape (n_features,), optional
            Columns that are nominal, which are refused.
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        loss : {"logistic", "squared_hinge", "exponential"}, default="logistic"
        penalty : float, default=1.0
        class_weight : {"balanced"}, optional
            Weigh the loss of a row by n / (k n_c) for the n_c of n rows in its class, of k classes.
        tol : float, default=1e-10
            Largest slope left at an optimum, as a share of the largest possible at the start.
        max_iter : int, default=100
            Most rounds of steps.
        """
        X, codes, weight, named = usable_rows(X, y, sample_weight, nominal, "ConvexOptimum")
        refuse_nominal(named, "ConvexOptimum")
        if loss not in LOSSES:
            raise TamisError(f"'loss' of ConvexOptimum must be one of {', '.join(LOSSES)}; got {loss!r}")
        if class_weight not in (None, "balanced"):
            raise TamisError(f"'class_weight' of ConvexOptimum must be balanced or None; got {class_weight!r}")
        check_number("'penalty' of ConvexOptimum", penalty, np.finfo(np.float64).tiny, np.inf)
        check_whole("'max_iter' of ConvexOptimum", max_iter, 1)
        # Two classes need only the machine of the second.
        n_classes = int(codes.max()) + 1
        signs = [np.where(codes == c, 1.0, -1.0) for c in (range(n_classes) if n_classes > 2 else (1,))]
        if X.shape[0] * X.shape[1] * len(signs) > _MOST:
            raise TamisError(
                f"ConvexOptimum holds {X.shape[1]} columns on {X.shape[0]} rows for {len(signs)} classes, more than "
                f"{_MOST:,} values; select columns by a score first"
            )
        values = np.ascontiguousarray((X.toarray() if sp.issparse(X) else X).T, dtype=np.float64)
        if not (np.abs(values) <= _LARGEST).all():
            raise DataError("ConvexOptimum takes no missing values and no numbers above 1e100; impute or scale first")
        present = np.unique(codes, return_inverse=True)[1]
        cost, _ = row_terms(present, weight, class_weight=class_weight, ridge=0.0)
        ends = np.full(values.shape[0], -np.inf), np.full(values.shape[0], np.inf)
        matrix = np.full((1, values.shape[0]), float(penalty))
        return cls([Objective(loss, values * one, cost, matrix, *ends) for one in signs], tol=tol, max_iter=max_iter)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._machines[0].objective.n_basis

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        with one_thread():
            return np.array([-sum(one.at.value for one in self._solve(np.flatnonzero(row))) for row in sets])

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        scores = np.zeros(candidates.size)
        with one_thread():
            for machine, subset in zip(self._machines, self._solve(columns), strict=True):
                estimates = machine.additions(subset, candidates)
                for place, j in enumerate(candidates):
                    scores[place] -= machine.solve(np.append(subset.chosen, j), estimates.coef(place)).at.value
        return scores

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        scores = np.zeros(candidates.size)
        with one_thread():
            for machine, subset in zip(self._machines, self._solve(columns), strict=True):
                estimates = machine.removals(subset)
                for place, j in enumerate(candidates):
                    start = estimates.coef(int(np.searchsorted(estimates.columns, j)))
                    scores[place] -= machine.solve(subset.chosen[subset.chosen != j], start).at.value
        return scores

    def _solve(self, columns: Codes) -> list[SolvedSubset]:
        """The optimum of each machine on a set, from the coefficients of the last one."""
        chosen = np.sort(columns).astype(np.intp, copy=False)
        if not np.array_equal(chosen, self._last[0].chosen):
            self._last = [
                self._from(machine, one, chosen) for machine, one in zip(self._machines, self._last, strict=True)
            ]
        return self._last

    @staticmethod
    def _from(machine: Candidates, last: SolvedSubset, chosen: Codes) -> SolvedSubset:
        start = np.zeros(machine.objective.n_basis)
        start[chosen] = last.at.coef[chosen]
        return machine.solve(chosen, start)
