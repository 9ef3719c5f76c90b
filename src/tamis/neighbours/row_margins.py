"""The margins of rows by their nearest neighbours, and the utilities that Simba and G-flip add up.

The margin of a row is half of how much farther its nearest row of another class (its miss) is than the nearest other
row of its own (its hit): how far the row could move before the nearest-neighbour rule were wrong.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from tamis.base._sklearn import StrOptions, real
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical

#: Constraint of the parameter `beta` of the selectors.
BETA: list[Any] = [real(0, None), StrOptions({"auto"})]


class ComparedRows(NamedTuple):
    """Rows in the order of their classes, without constant columns and in units of the columns' deviation.

    The unit is the root of the columns' mean variance, one for the whole table.
    """

    X: Matrix
    y: Codes
    #: The rows that have a margin: those of classes with two rows or more.
    queries: np.ndarray
    #: The columns that vary.
    varies: Mask

    @classmethod
    def of(cls, X: Matrix, y: Codes, who: str) -> "ComparedRows":
        """The rows to compare; `who` is the name in error messages."""
        size = np.bincount(y)
        if size.max() == 1:
            raise TamisError(f"{who} needs a class with two rows or more; every class of y has one row")
        with np.errstate(over="ignore"):
            variance = ClassMoments.of(X, np.zeros(y.size, dtype=np.intp)).scatter[0] / y.size
            large = not variance.sum() < np.finfo(np.float64).max / 8
        if large:
            raise TamisError(f"{who}: squared distances overflow on values this large; scale the columns first")
        varies = variance > 0
        unit = float(np.sqrt(variance[varies].mean())) if varies.any() else 1.0
        order = np.argsort(y, kind="stable")
        if sp.issparse(X):
            rows = canonical(sp.csr_array(X, dtype=np.float64))[order][:, np.flatnonzero(varies)] / unit
            rows.eliminate_zeros()
        else:
            rows = np.divide(X[order][:, varies], unit, dtype=np.float64)
        return cls(rows, y[order], np.flatnonzero(size[y[order]] > 1), varies)

    def spread(self, values: FloatArray) -> FloatArray:
        """Values of the columns that vary, with 0 for those that do not."""
        found = np.zeros(self.varies.size)
        found[self.varies] = values
        return found


def mean_utility(margins: FloatArray, utility: str, beta: float) -> float:
    """Mean utility of margins: the margin itself, the logistic function of it, or whether it is above zero.

    Examples
    --------
    >>> margins = np.array([-1.0, 0.0, 2.0, 3.0])
    >>> [round(mean_utility(margins, utility, 1.0), 2) for utility in ("linear", "sigmoid", "zero_one")]
    [1.0, 0.65, 0.5]
    """
    if utility == "linear":
        return float(margins.mean())
    return float(np.mean(expit(beta * margins) if utility == "sigmoid" else margins > 0))


def usual_beta(margins: FloatArray) -> float:
    """The slope of the logistic function for margins on all columns: 1 over their mean size."""
    typical = float(np.abs(margins).mean())
    return 1.0 / typical if typical > 0 else 1.0
