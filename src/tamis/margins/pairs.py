"""Support vector machines of several classes: one two-class problem per pair, for one cost or a path of costs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import class_pairs
from tamis.margins.solve import WORK, Solution, grow, solve_columns, solve_gram

#: Rows up to which the Gram matrix is always quicker, and beyond which it is too large for memory.
_FEW_ROWS, _MANY_ROWS = 4_000, 15_000

#: Stored values per row, as a share of the number of rows, from which on the Gram matrix is quicker.
_LIGHT = 1 / 8

#: The cost that stands for a hard margin when the mean diagonal of the centred kernel is 1.
_HARD = 1e9


def suits_columns(X: Matrix) -> bool:
    """Whether there are enough rows, with few enough values, for liblinear to beat a kernel matrix."""
    n_rows = X.shape[0]
    stored = X.nnz if sp.issparse(X) else X.size
    return bool(n_rows > _MANY_ROWS or (n_rows > _FEW_ROWS and stored / n_rows < _LIGHT * n_rows))


def gram_path(
    gram: FloatArray,
    y: Codes,
    costs: Sequence[FloatArray],
    ridge: FloatArray,
    *,
    tol: float,
    max_iter: int | None,
    work: float = WORK,
) -> list[list[Solution]]:
    """Solve every pair of classes on a Gram matrix for costs that grow; `gram` is used up.

    A pair is not solved again when its solution follows from the previous one: when no row's weight reaches its cost a
    larger cost changes nothing, and while the cost is small all weights are proportional to it.

    Each of `costs` is a multiple, above 1, of the one before; a single one may be infinite (hard margin). `ridge` is
    added to the diagonal. Returns for each cost the solutions of the pairs, f = gram @ weights + intercept, with the
    Gram matrix as it was passed and a weight for every row. The keywords are those of
    :func:`~tamis.margins.solve.solve_gram`.
    """
    # Signed weights sum to zero, so centring changes the intercept only. It saves digits in libsvm's float32, and a
    # hard margin does not depend on the location and scale of the data.
    mean = gram.mean(axis=0)
    gram -= mean
    gram -= mean[:, None] - mean.mean()
    gram.flat[:: gram.shape[0] + 1] += ridge
    mean_diagonal = float(gram.diagonal().mean())
    scale = mean_diagonal if mean_diagonal > 0 else 1.0
    gram /= scale
    pairs = class_pairs(int(y.max()) + 1)
    path: list[list[Solution]] = [[] for _ in costs]
    for a, b in pairs:
        rows = np.flatnonzero((y == a) | (y == b))
        part = gram if len(pairs) == 1 else gram[np.ix_(rows, rows)]
        found: Solution | None = None
        for place, cost in enumerate(costs):
            scaled = np.where(np.isinf(cost[rows]), _HARD, cost[rows] * scale)
            if found is not None:
                found = _next(part, y[rows] == b, scaled, found, float(cost[0] / costs[place - 1][0]))
            if found is None:
                found = solve_gram(part, y[rows] == b, scaled, tol=tol, max_iter=max_iter, work=work)
            weights = np.zeros(gram.shape[0])
            weights[rows] = found.weights / scale
            path[place].append(replace(found, weights=weights, intercept=found.intercept - float(mean @ weights)))
    return path


def _next(gram: FloatArray, positive: Mask, cost: FloatArray, before: Solution, factor: float) -> Solution | None:
    """The solution at `factor` times the cost of `before`, if it follows from it, else None."""
    if not before.settled:
        return None
    return grow(gram, positive, cost, before, factor) if before.bounded else before


def column_path(
    X: Matrix, y: Codes, costs: Sequence[FloatArray], *, tol: float, max_iter: int | None
) -> list[list[Solution]]:
    """Solve every pair of classes on the columns, for every cost; the weights are those of the columns."""
    path: list[list[Solution]] = [[] for _ in costs]
    for a, b in class_pairs(int(y.max()) + 1):
        rows = np.flatnonzero((y == a) | (y == b))
        part, positive = X[rows], y[rows] == b
        for place, cost in enumerate(costs):
            path[place].append(solve_columns(part, positive, cost[rows], tol=tol, max_iter=max_iter))
    return path
