"""Mutual information of tables of counts."""

import numpy as np
from scipy.special import xlogy

from tamis.base.types import FloatArray
from tamis.contingency.whole_numbers import at_counts

#: Relative rounding error of sums of n log n.
_ROUNDING = 64 * np.finfo(np.float64).eps


def mutual_information(counts: np.ndarray, first: np.ndarray | None = None) -> FloatArray:
    """Plug-in mutual information, in nats, of the rows and the columns of tables of counts.

    With the counts n_ij of a table and their sums by row, by column and over all,

        I = (sum_ij n_ij log n_ij - sum_i n_i log n_i - sum_j n_j log n_j + n log n) / n.

    A table without counts has no information. `counts` (n_classes, n_states), whole numbers or sums of weights, is one
    table, or many side by side: then `first` lists where each begins, and `n_states`; none may be without states.

    Examples
    --------
    >>> import numpy as np
    >>> mutual_information(np.array([[5, 0, 1, 3], [0, 5, 1, 3]]), np.array([0, 2, 4])).round(3)
    array([0.693, 0.   ])
    """
    starts = np.zeros(1, dtype=np.int64) if first is None else first[:-1]
    rows = np.add.reduceat(counts, starts, axis=1, dtype=_wide(counts))
    total = rows.sum(axis=0)
    joint = np.add.reduceat(_n_log_n(counts).sum(axis=0), starts)
    columns = np.add.reduceat(_n_log_n(counts.sum(axis=0, dtype=_wide(counts))), starts)
    whole = _n_log_n(total)
    sums = joint - _n_log_n(rows).sum(axis=0) - columns + whole
    # Rounding leaves values of both signs where there is no information.
    sums[sums <= _ROUNDING * np.maximum(np.abs(whole), np.abs(joint))] = 0.0
    return np.divide(sums, total, out=np.zeros(total.shape), where=total > 0)


def _wide(counts: np.ndarray) -> type:
    return np.int64 if counts.dtype.kind in "iu" else np.float64


def _n_log_n(counts: np.ndarray) -> FloatArray:
    """n log n of each number."""
    return at_counts(lambda n: xlogy(n, n), counts)
