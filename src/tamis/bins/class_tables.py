"""Columns as tables: the weight of each class at each distinct value."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import helmert

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.value_tables import ValueTables, tabulated


class ClassTables(ValueTables):
    """Tables whose totals are the weight of each class; the target's numbers are the class indicators."""

    def sums(self) -> FloatArray:
        """Weight, sum of squares and sums of a target whose squared error is half that of the class indicators.

        For two classes the target is 0 or 1, for more the indicators in Helmert contrasts, one fewer than classes.
        """
        weight = self.totals.sum(axis=1)
        n_classes = self.totals.shape[1]
        if n_classes == 2:
            return np.column_stack((weight, self.totals[:, 1], self.totals[:, 1]))
        return np.column_stack((weight, weight * (0.5 - 0.5 / n_classes), self.totals @ helmert(n_classes).T / 2**0.5))

    def means(self, totals: FloatArray, otherwise: FloatArray) -> FloatArray:
        """The class shares."""
        weight = totals.sum(axis=1, keepdims=True)
        return np.where(weight > 0, totals / np.where(weight > 0, weight, 1.0), otherwise)

    def errors(self, predictions: FloatArray) -> FloatArray:
        """Half the squared error of the class indicators about predicted shares."""
        weight = self.totals.sum(axis=1)
        return 0.5 * weight * (1 + (predictions**2).sum(axis=1)) - (self.totals * predictions).sum(axis=1)


def class_tables(X: Matrix, y: Codes, weight: FloatArray, n_classes: int) -> Iterator[ClassTables]:
    """All columns of a matrix as tables, in blocks of a moderate size; weights are above zero.

    Examples
    --------
    >>> X = np.array([[0.0], [5.0], [0.0], [np.nan]])
    >>> (table,) = class_tables(X, np.array([0, 1, 1, 1]), np.ones(4), 2)
    >>> table.values, table.totals.tolist()
    (array([0., 5.]), [[1.0, 1.0], [0.0, 1.0]])
    """
    codes = y.astype(np.int64, copy=False)
    total = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
    return tabulated(X, ClassTables, codes, np.ascontiguousarray(weight[:, None]), total)
