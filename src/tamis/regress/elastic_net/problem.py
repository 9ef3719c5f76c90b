"""A least squares problem with centred columns and weighted rows, dense or sparse."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix


class Solution(NamedTuple):
    """Weights of the columns, the intercept, and whether they are optimal."""

    weights: FloatArray
    intercept: float
    settled: bool


@dataclass(frozen=True)
class Problem:
    """Columns less their means and a target less its mean, rows times the root of their weight.

    Weights are in units of their mean, so that the loss is ``|target - columns w|^2 / (2 n)`` for n rows.
    """

    X: Matrix
    y: FloatArray
    weight: FloatArray

    @cached_property
    def share(self) -> FloatArray:
        return self.weight / self.weight.sum()

    @cached_property
    def root(self) -> FloatArray:
        return np.sqrt(self.share * self.y.size)

    @cached_property
    def means(self) -> FloatArray:
        return np.asarray(self.X.T @ self.share)

    @cached_property
    def mean(self) -> float:
        return float(self.share @ self.y)

    @cached_property
    def target(self) -> FloatArray:
        return (self.y - self.mean) * self.root

    @cached_property
    def rows(self) -> FloatArray:
        """All columns, centred and weighted, where they are dense."""
        rows = np.subtract(self.X, self.means, order="F")
        rows *= self.root[:, None]
        return rows

    @cached_property
    def sparse_columns(self) -> sp.csc_matrix:
        """The columns as they are, where they are sparse, in the form that solvers take."""
        X = sp.csc_matrix(self.X)
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
        return X

    def columns(self, used: Codes) -> FloatArray:
        """Some columns, centred and weighted."""
        if not sp.issparse(self.X):
            return self.rows[:, used]
        return (self.sparse_columns[:, used].toarray() - self.means[used]) * self.root[:, None]

    def pulls(self, residuals: FloatArray) -> FloatArray:
        """Gradients of the loss at weights that leave these residuals, one a column, with the sign changed."""
        if not sp.issparse(self.X):
            return self.rows.T @ residuals / self.y.size
        weighted = self.root[:, None] * residuals
        return (np.asarray(self.X.T @ weighted) - np.outer(self.means, weighted.sum(axis=0))) / self.y.size

    def solution(self, weights: FloatArray, settled: bool) -> Solution:
        return Solution(weights, self.mean - float(self.means @ weights), settled)
