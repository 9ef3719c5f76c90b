"""Correlations of variables that are updated as values arrive."""

from typing import Self

import numpy as np

from tamis.base.errors import DataError
from tamis.base.moments import divide
from tamis.base.types import FloatArray, Mask

#: Deviations below this share of the mean are rounding: the variable is constant.
_CONSTANT = 1e-13


class RunningCorrelations:
    """Correlations of all values so far: values are added in blocks, and two objects can be merged.

    For every pair of variables the time points at which both are known are counted, with the means, the sums of squares
    and the sum of products of the deviations there. The sums of two blocks are merged as Chan, Golub and LeVeque (1983)
    do it, without cancellation, so that the correlations are those of all values together. Memory does not grow with
    the number of values.

    Parameters
    ----------
    n_variables : int

    Examples
    --------
    >>> stream = RunningCorrelations(2)
    >>> for time in range(4):
    ...     _ = stream.update([[time, time**2]])
    >>> stream.correlations().round(4)
    array([[1.    , 0.9583],
           [0.9583, 1.    ]])
    >>> bool(np.allclose(stream.correlations(), np.corrcoef([0, 1, 2, 3], [0, 1, 4, 9])))
    True
    """

    def __init__(self, n_variables: int) -> None:
        if n_variables < 1:
            raise DataError(f"n_variables must be at least 1; got {n_variables}")
        shape = (n_variables, n_variables)
        #: Of each pair (a, b): time points, mean of a, squared deviations of a, and products of deviations of a and b.
        self._count, self._mean, self._scatter, self._product = (np.zeros(shape) for _ in range(4))

    @property
    def n_variables(self) -> int:
        return self._count.shape[0]

    @property
    def counts(self) -> np.ndarray:
        """Time points at which both variables of each pair are known."""
        return self._count.astype(np.int64)

    def update(self, values: FloatArray) -> Self:
        """Add values of shape (n_times, n_variables), or those of one time point; NaN is missing."""
        try:
            block = np.atleast_2d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError):
            raise DataError("values cannot be read as numbers in rows of equal length") from None
        if block.ndim != 2 or block.shape[1] != self.n_variables:
            raise DataError(f"values must have {self.n_variables} variables; got shape {np.shape(values)}")
        if np.isinf(block).any():
            raise DataError("values contain infinity")
        known = ~np.isnan(block)
        # Deviations from the mean of the block: products of large values would cancel.
        shift = known_means(block, known)
        deviations, there = np.where(known, block - shift, 0.0), known.astype(np.float64)
        both = there.T @ there
        totals = deviations.T @ there
        mean = divide(totals, both)
        self._add(
            both,
            shift[:, None] + mean,
            np.maximum((deviations**2).T @ there - totals * mean, 0.0),
            deviations.T @ deviations - mean * totals.T,
        )
        return self

    def merge(self, other: "RunningCorrelations") -> Self:
        """Add the values that another object has seen."""
        if other.n_variables != self.n_variables:
            raise DataError(f"both must have {self.n_variables} variables; the other has {other.n_variables}")
        self._add(other._count, other._mean, other._scatter, other._product)
        return self

    def correlations(self) -> FloatArray:
        """The matrix: 1 on the diagonal, 0 where a variable is constant or fewer than 2 points are known."""
        length = np.sqrt(self._scatter)
        found = np.clip(divide(self._product, np.where(self._flat(), 0.0, length * length.T)), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found

    def pairs(self) -> FloatArray:
        """The upper triangle of the correlation matrix, row by row: a row of ``Series.correlations``."""
        return self.correlations()[np.triu_indices(self.n_variables, 1)]

    @property
    def undefined(self) -> int:
        """Number of pairs whose correlation is undefined, so that 0 stands for it."""
        return int(self._flat()[np.triu_indices(self.n_variables, 1)].sum())

    def _flat(self) -> Mask:
        """Pairs of which one variable is constant at the common time points."""
        constant = is_constant(self._scatter, self._mean, self._count)
        return constant | constant.T

    def _add(self, count: FloatArray, mean: FloatArray, scatter: FloatArray, product: FloatArray) -> None:
        total = self._count + count
        away, share = mean - self._mean, divide(count, total)
        # A pair without values has a mean of 0, which must not count.
        between = self._count * share
        self._mean = self._mean + away * share
        self._scatter = self._scatter + scatter + away**2 * between
        self._product = self._product + product + away * away.T * between
        self._count = total


def known_means(values: FloatArray, known: Mask) -> FloatArray:
    """Means of the known values of each column, 0 without any; exact where all are equal, however many.

    >>> values = np.full((100_000, 1), 0.1)
    >>> known_means(values, values > 0) == 0.1, sum(values) / 100_000 == 0.1
    (array([ True]), array([False]))
    """
    if not len(values):
        return np.zeros(values.shape[1])
    first = np.take_along_axis(np.where(known, values, 0.0), known.argmax(axis=0)[None], axis=0)[0]
    found: FloatArray = first + divide(np.where(known, values - first, 0.0).sum(axis=0), known.sum(axis=0))
    return found


def is_constant(scatter: FloatArray, mean: FloatArray, count: FloatArray | float) -> Mask:
    """Whether squared deviations from the mean, summed over `count` values, are rounding."""
    constant: Mask = (scatter <= count * (_CONSTANT * mean) ** 2) | (np.asarray(count) < 2)
    return constant
