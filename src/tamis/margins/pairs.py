"""Support vector machines of several classes: a two-class problem per pair or class, for one cost or a path of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import class_pairs
from tamis.margins.solve import WORK, Solution, grow, solve_columns, solve_gram, solve_gram_through_origin

#: Rows up to which the Gram matrix is always quicker, and beyond which it is too large for memory.
_FEW_ROWS, _MANY_ROWS = 4_000, 15_000

#: Stored values per row, as a share of the number of rows, from which on the Gram matrix is quicker.
_LIGHT = 1 / 8

#: How several classes are split into two-class problems: every pair, or every class against the rest.
Multiclass = Literal["ovo", "ovr"]

#: The cost that stands for a hard margin when the mean diagonal of the centred kernel is 1.
_HARD = 1e9


def suits_columns(X: Matrix) -> bool:
    """Whether there are enough rows, with few enough values, for liblinear to beat a kernel matrix."""
    n_rows = X.shape[0]
    stored = X.nnz if sp.issparse(X) else X.size
    return bool(n_rows > _MANY_ROWS or (n_rows > _FEW_ROWS and stored / n_rows < _LIGHT * n_rows))


def two_class_problems(y: Codes, multiclass: Multiclass) -> Iterator[tuple[np.ndarray, Mask]]:
    """The rows of every two-class problem, and which of them are of its second class.

    Pairs (0, 1), (0, 2), ..., (1, 2), ... of classes, or each class against the rest; two classes are one problem.

    >>> [positive.tolist() for _, positive in two_class_problems(np.array([0, 1, 2]), "ovr")]
    [[True, False, False], [False, True, False], [False, False, True]]
    """
    n_classes = int(y.max()) + 1
    if multiclass == "ovr" and n_classes > 2:
        for c in range(n_classes):
            yield np.arange(y.size), y == c
        return
    for a, b in class_pairs(n_classes):
        rows = np.flatnonzero((y == a) | (y == b))
        yield rows, y[rows] == b


def gram_path(
    gram: FloatArray,
    y: Codes,
    costs: Sequence[FloatArray],
    ridge: FloatArray,
    *,
    tol: float,
    max_iter: int | None,
    work: float = WORK,
    multiclass: Multiclass = "ovo",
    intercept: bool = True,
) -> list[list[Solution]]:
    """Solve every two-class problem on a Gram matrix for costs that grow; `gram` is used up.

    A problem is not solved again when its solution follows from the previous one: when no row's weight reaches its cost
    a larger cost changes nothing, and while the cost is small all weights are proportional to it.

    Each of `costs` is a multiple, above 1, of the one before; a single one may be infinite (hard margin). `ridge` is
    added to the diagonal. Without `intercept` it is 0. Returns for each cost the solutions of the problems,
    f = gram @ weights + intercept, with the Gram matrix as it was passed and a weight for every row. The other keywords
    are those of :func:`~tamis.margins.solve.solve_gram`.
    """
    mean = gram.mean(axis=0) if intercept else np.zeros(y.size)
    if intercept:
        # Signed weights sum to zero, so centring changes the intercept only. It saves digits in libsvm's float32, and a
        # hard margin does not depend on the location and scale of the data.
        gram -= mean
        gram -= mean[:, None] - mean.mean()
    gram.flat[:: gram.shape[0] + 1] += ridge
    mean_diagonal = float(gram.diagonal().mean())
    scale = mean_diagonal if mean_diagonal > 0 else 1.0
    gram /= scale
    path: list[list[Solution]] = [[] for _ in costs]
    solve = solve_gram if intercept else solve_gram_through_origin
    for rows, positive in two_class_problems(y, multiclass):
        part = gram if rows.size == y.size else gram[np.ix_(rows, rows)]
        found: Solution | None = None
        for place, cost in enumerate(costs):
            scaled = np.where(np.isinf(cost[rows]), _HARD, cost[rows] * scale)
            if found is not None:
                factor = float(cost[0] / costs[place - 1][0])
                found = _next(part, positive, scaled, found, factor if intercept else None)
            if found is None:
                found = solve(part, positive, scaled, tol=tol, max_iter=max_iter, work=work)
            weights = np.zeros(gram.shape[0])
            weights[rows] = found.weights / scale
            path[place].append(replace(found, weights=weights, intercept=found.intercept - float(mean @ weights)))
    return path


def _next(
    gram: FloatArray, positive: Mask, cost: FloatArray, before: Solution, factor: float | None
) -> Solution | None:
    """The solution at `factor` times the cost of `before`, if it follows from it, else None.

    Without a factor only a solution that no larger cost changes goes on.
    """
    if not before.settled or (before.bounded and factor is None):
        return None
    return before if factor is None or not before.bounded else grow(gram, positive, cost, before, factor)


def column_path(
    X: Matrix,
    y: Codes,
    costs: Sequence[FloatArray],
    *,
    tol: float,
    max_iter: int | None,
    multiclass: Multiclass = "ovo",
    intercept: bool = True,
) -> list[list[Solution]]:
    """Solve every two-class problem on the columns, for every cost; the weights are those of the columns."""
    path: list[list[Solution]] = [[] for _ in costs]
    for rows, positive in two_class_problems(y, multiclass):
        part = X if rows.size == y.size else X[rows]
        for place, cost in enumerate(costs):
            found = solve_columns(part, positive, cost[rows], tol=tol, max_iter=max_iter, intercept=intercept)
            path[place].append(found)
    return path
