"""Active-set steps to the optimum of the dual problem of a support vector machine, for classes or for numbers.

Rows have weights ``alpha`` between 0 and a cost, of signs whose weighted sum is zero. A row whose weight is within its
bounds has f(x) = gram @ (signs * alpha) + b at its target. For two classes the targets are the signs. A machine for
numbers has two weights a row, one for each side of its tube, so that the arrays are twice as long as the Gram matrix.
"""

import numpy as np
from scipy.linalg.lapack import dposv

from tamis.base.types import FloatArray

#: Violation of the optimality conditions that a refined solution may have.
_EXACT = 1e-10

#: Added to a mean diagonal of 1 so that systems with repeated rows can be solved.
_JITTER = 1e-11

#: The fixed cost of a round, in multiplications.
_ROUND = 1e6


def within(alpha: FloatArray, cost: FloatArray) -> FloatArray:
    """Weights clipped at their cost; rounding must not leave a row just below it that alone fixes the intercept."""
    return np.where(alpha < cost * (1 - 1e-12), alpha, cost)


def pulls(wanted: FloatArray, signs: FloatArray, cost: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The intercept that puts each row on its target: for rows that may gain weight, and for rows that may lose it.

    `wanted` is the target less the output without intercept. At the optimum none of the first exceeds any of the
    second. Other rows are infinite.
    """
    gain = np.where((signs > 0) & (alpha < cost) | (signs < 0) & (alpha > 0), wanted, -np.inf)
    lose = np.where((signs > 0) & (alpha > 0) | (signs < 0) & (alpha < cost), wanted, np.inf)
    return gain, lose


def exactness(alpha: FloatArray) -> float:
    """Tolerance of the optimality conditions in a refined solution."""
    return _EXACT * max(1.0, 1e-4 * float(alpha.sum()))


def refine(
    gram: FloatArray, signs: FloatArray, targets: FloatArray, cost: FloatArray, alpha: FloatArray, work: float
) -> tuple[float, float]:
    """Active-set steps in float64 from a feasible `alpha`, changed in place; returns the intercept and the violation.

    Every step improves the dual objective, so that stopping early does no harm.
    """
    n_rows = gram.shape[0]
    output = np.tile(gram @ (signs * alpha).reshape(-1, n_rows).sum(axis=0), alpha.size // n_rows)
    while True:
        wanted = targets - output
        gain, lose = pulls(wanted, signs, cost, alpha)
        up, down = int(gain.argmax()), int(lose.argmin())
        intercept, violation = (gain[up] + lose[down]) / 2, gain[up] - lose[down]
        exact = exactness(alpha)
        if violation <= exact:
            break
        rows = np.flatnonzero((alpha > 0) & (alpha < cost))
        if rows.size == 0:
            rows = np.array([up, down])
        elif np.ptp(wanted[rows]) <= exact:
            # One row joins at a time: with two, one of them could leave its bounds at once.
            middle = wanted[rows].mean()
            rows = np.append(rows, up if gain[up] - middle > middle - lose[down] else down)
        work -= _ROUND + rows.size**3 / 3 + 2.0 * rows.size * n_rows
        if work < 0 or not _step(gram, signs, wanted[rows], cost, alpha, output, rows):
            break
    return float(intercept), float(violation)


def _step(
    gram: FloatArray,
    signs: FloatArray,
    wanted: FloatArray,
    cost: FloatArray,
    alpha: FloatArray,
    output: FloatArray,
    rows: np.ndarray,
) -> bool:
    """Move the weights of `rows` towards their joint optimum until one meets a bound; False if that fails."""
    places = rows % gram.shape[0]
    # The signed weights sum to zero, so the last row is eliminated from the system.
    system = gram[np.ix_(places, places)]
    system -= system[-1].copy()
    system -= system[:, -1:].copy()
    system = system[:-1, :-1]
    system.flat[:: rows.size] += _JITTER
    # On the few rows of most steps the checks of `cho_factor` would take longer than LAPACK.
    _, direction, failed = dposv(system, wanted[:-1] - wanted[-1], lower=1)
    if failed:
        return False  # the sigmoid kernel need not be positive definite
    direction = np.append(direction, -direction.sum())
    change = signs[rows] * direction
    room = np.where(change > 0, cost[rows] - alpha[rows], alpha[rows])
    limit = np.divide(room, np.abs(change), out=np.full(rows.size, np.inf), where=change != 0)
    length = min(1.0, limit.min())
    alpha[rows] = np.clip(alpha[rows] + length * change, 0.0, cost[rows])
    stop = limit <= length
    alpha[rows[stop]] = np.where(change[stop] > 0, cost[rows[stop]], 0.0)
    output += np.tile(length * direction @ gram[places], output.size // gram.shape[0])
    return True
