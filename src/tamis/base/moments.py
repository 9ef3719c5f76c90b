"""Moments by class, and with a numeric target: the summaries of the data that most scores need."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.special import fdtrc

from tamis.base.errors import DataError
from tamis.base.score import ArrayFields
from tamis.base.task import is_numeric
from tamis.base.types import Codes, FloatArray, Matrix, Target
from tamis.base.validation import canonical, class_pairs
from tamis.kernels.comoments import csc_comoments, csr_comoments, dense_comoments
from tamis.kernels.moments import TILE_ROWS, csc_class_moments, csr_class_moments, dense_class_moments
from tamis.kernels.sparse import stored_arrays
from tamis.kernels.totals import csc_class_totals, csr_class_totals, dense_class_totals

#: Columns of a non-contiguous matrix copied at a time: few enough for the processor's cache.
_BLOCK = 64

#: Values up to which NumPy summarises a table sooner than numba is imported and a kernel loaded.
_FEW = 50_000

#: Larger values overflow when squared and summed.
_LARGEST = 1e150

#: Relative error of a mean; smaller differences are rounding, so that the scatter of a constant column is 0.
_ROUNDING = 64 * np.finfo(np.float64).eps

#: Share of the target's scatter that is rounding where a column explains the rest.
_UNEXPLAINED = 1e-12


@dataclass(frozen=True)
class ClassMoments(ArrayFields):
    """Weight, mean and scatter of each column in each class; every array is (classes, columns).

    Missing values are left out, so `weight` may differ from column to column. Those of parts of the rows, with the same
    classes, add up to those of all rows but for rounding.

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0], [2.0], [8.0]]), np.array([0, 0, 1, 0])
    >>> parts = [ClassMoments.of(X[rows], y[rows], n_classes=2) for rows in (slice(2), slice(2, 4))]
    >>> (parts[0] + parts[1]).mean.ravel()
    array([4., 2.])
    """

    weight: FloatArray
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(
        cls, X: Matrix, y: Codes, sample_weight: FloatArray | None = None, *, n_classes: int | None = None
    ) -> "ClassMoments":
        """Summarise `X` by the class codes `y` (0, 1, ...), in one pass.

        `n_classes` is for rows that may lack the last classes.
        """
        n_classes = int(y.max()) + 1 if n_classes is None else n_classes
        shape = (n_classes, X.shape[1])
        weight, mean, scatter = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        row_weight = _row_weight(sample_weight, X.shape[0])
        if sp.issparse(X):
            X = canonical(X)
            weight += _class_weight(y, row_weight, n_classes)
            kernel = csr_class_moments if X.format == "csr" else csc_class_moments
            kernel(*stored_arrays(X), y, row_weight, weight, mean, scatter)
        else:
            rows = np.argsort(y, kind="stable")
            starts = np.concatenate(([0], np.cumsum(np.bincount(y, minlength=n_classes))))
            dense = _small_class_moments if _is_small(X, row_weight) else dense_class_moments
            for columns, block in in_rows(X):
                dense(block, columns.start, rows, starts, row_weight, weight, mean, scatter)
        return cls._settled(weight, mean, scatter)

    @classmethod
    def _settled(cls, weight: FloatArray, mean: FloatArray, scatter: FloatArray) -> "ClassMoments":
        """Refuse what is too large, and take scatter that is rounding for none."""
        _refuse_huge(mean)
        scatter[scatter <= weight * (_ROUNDING * mean) ** 2] = 0.0
        return cls(weight, mean, scatter)

    def __add__(self, other: "ClassMoments") -> "ClassMoments":
        step, share, pooled = _merging(self, other)
        mean = self.mean + step * share
        return self._settled(self.weight + other.weight, mean, self.scatter + other.scatter + step**2 * pooled)

    @cached_property
    def total(self) -> FloatArray:
        """Weight of the known values of each column."""
        return self.weight.sum(axis=0)

    @cached_property
    def grand_mean(self) -> FloatArray:
        """Mean of each column over all classes; 0 without known values."""
        return divide((self.weight * self.mean).sum(axis=0), self.total)

    @cached_property
    def between(self) -> FloatArray:
        """Scatter of the class means about the grand mean."""
        between = (self.weight * (self.mean - self.grand_mean) ** 2).sum(axis=0)
        between[between <= self.total * (_ROUNDING * self.grand_mean) ** 2] = 0.0
        return between

    @cached_property
    def within(self) -> FloatArray:
        """Scatter about the class means, summed over classes."""
        return self.scatter.sum(axis=0)

    @cached_property
    def variance(self) -> FloatArray:
        """Biased variance of each column in each class; 0 without known values."""
        return divide(self.scatter, self.weight)

    def gap(self, a: int, b: int) -> FloatArray:
        """Distance of the means of classes `a` and `b`; 0 where one of them has no known value."""
        gap = np.abs(self.mean[a] - self.mean[b])
        size = np.maximum(np.abs(self.mean[a]), np.abs(self.mean[b]))
        gap[(gap <= _ROUNDING * size) | (self.weight[a] == 0) | (self.weight[b] == 0)] = 0.0
        return gap

    def pair_mean(self, measure: Callable[[int, int], FloatArray]) -> FloatArray:
        """Mean of a measure over all pairs of classes, weighted by the product of their weights."""
        if self.mean.shape[0] == 2:
            return measure(0, 1)
        share = {(a, b): self.weight[a] * self.weight[b] for a, b in class_pairs(self.mean.shape[0])}
        return divide(sum(w * measure(*pair) for pair, w in share.items()), sum(share.values()))


def _is_small(X: FloatArray, row_weight: FloatArray) -> bool:
    """Whether NumPy should summarise the table: a plain one, and numba is not there yet."""
    return X.size <= _FEW and "numba" not in sys.modules and bool(row_weight.all()) and not np.isnan(X).any()


@np.errstate(all="ignore")
def _small_class_moments(
    X: FloatArray,
    first: int,
    rows: Codes,
    starts: Codes,
    row_weight: FloatArray,
    weight: FloatArray,
    mean: FloatArray,
    scatter: FloatArray,
) -> None:
    """The kernel :func:`dense_class_moments` in NumPy, for a table without missing values and weights of zero.

    The sums are taken in the order of the kernel, so that the results are equal to the last bit.
    """
    out = slice(first, first + X.shape[1])
    for c in range(starts.size - 1):
        for top in range(starts[c], starts[c + 1], TILE_ROWS):
            tile = rows[top : min(top + TILE_ROWS, starts[c + 1])]
            w = row_weight[tile][:, None]
            x = X[tile].astype(np.float64)
            total = np.add.accumulate(w)[-1]
            tile_mean = np.add.accumulate(w * x)[-1] / total
            d = x - tile_mean
            tile_scatter = np.add.accumulate(w * d * d)[-1]
            before = weight[c, out].copy()
            weight[c, out] += total
            share = total / weight[c, out]
            d = tile_mean - mean[c, out]
            mean[c, out] += d * share
            scatter[c, out] += tile_scatter + d * d * before * share


@dataclass(frozen=True)
class TargetMoments(ArrayFields):
    """Weight, means, scatters and covariation of each column and a numeric target, over the rows in which it is known.

    Every array is (columns,). `covariation` is the sum of the products of the deviations from both means. Those of
    parts of the rows add up, as :class:`ClassMoments` do.
    """

    weight: FloatArray
    mean: FloatArray
    target_mean: FloatArray
    scatter: FloatArray
    target_scatter: FloatArray
    covariation: FloatArray

    @classmethod
    def of(cls, X: Matrix, y: FloatArray, sample_weight: FloatArray | None = None) -> "TargetMoments":
        """Summarise `X` with the numbers `y`, in one pass."""
        if not np.abs(y).max() < _LARGEST:
            raise DataError("the target contains values too large to square")
        row_weight = _row_weight(sample_weight, X.shape[0])
        found = np.zeros((6, X.shape[1]))
        if sp.issparse(X):
            X = canonical(X)
            if X.format == "csr" and np.isnan(X.data).any():
                # Which rows are known differs from column to column.
                X = X.tocsc()
            found[0] = row_weight.sum()
            found[2] = divide(row_weight @ y, found[0])
            found[4] = row_weight @ (y - found[2, 0]) ** 2
            kernel = csr_comoments if X.format == "csr" else csc_comoments
            kernel(*stored_arrays(X), y, row_weight, found)
        else:
            dense = _small_comoments if _is_small(X, row_weight) else dense_comoments
            for columns, block in in_rows(X):
                dense(block, columns.start, y, row_weight, found)
        return cls._settled(*found)

    @classmethod
    def _settled(
        cls,
        weight: FloatArray,
        mean: FloatArray,
        target_mean: FloatArray,
        scatter: FloatArray,
        target_scatter: FloatArray,
        covariation: FloatArray,
    ) -> "TargetMoments":
        """Refuse what is too large, and take scatter that is rounding for none."""
        _refuse_huge(mean[None])
        scatter[scatter <= weight * (_ROUNDING * mean) ** 2] = 0.0
        target_scatter[target_scatter <= weight * (_ROUNDING * target_mean) ** 2] = 0.0
        return cls(weight, mean, target_mean, scatter, target_scatter, covariation)

    def __add__(self, other: "TargetMoments") -> "TargetMoments":
        step, share, pooled = _merging(self, other)
        target_step = other.target_mean - self.target_mean
        return self._settled(
            self.weight + other.weight,
            self.mean + step * share,
            self.target_mean + target_step * share,
            self.scatter + other.scatter + step**2 * pooled,
            self.target_scatter + other.target_scatter + target_step**2 * pooled,
            self.covariation + other.covariation + step * target_step * pooled,
        )

    @cached_property
    def correlation(self) -> FloatArray:
        """Pearson correlation; 0 where the column or the target is constant."""
        sizes = np.sqrt(self.scatter) * np.sqrt(self.target_scatter)
        return np.clip(divide(self.covariation, sizes), -1.0, 1.0)


def moments(
    X: Matrix, y: Target | None, sample_weight: FloatArray | None = None, *, n_classes: int | None = None
) -> ClassMoments | TargetMoments:
    """The summary that suits a target of class codes, of numbers, or none, for which all rows are one class."""
    if y is None:
        return ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight)
    if is_numeric(y):
        return TargetMoments.of(X, y, sample_weight)
    return ClassMoments.of(X, y, sample_weight, n_classes=n_classes)


def regression_f(correlation: FloatArray, weight: FloatArray) -> FloatArray:
    """F statistic of the regression on one column, r^2 (n - 2) / (1 - r^2), with `weight` the number of rows n.

    It is 0 of two rows or fewer, and infinite where r^2 is 1 to twelve digits.

    Examples
    --------
    >>> regression_f(np.array([0.5, 1.0]), np.array([5.0, 5.0]))
    array([ 1., inf])
    """
    unexplained = (1.0 - correlation) * (1.0 + correlation)
    unexplained[unexplained < _UNEXPLAINED] = 0.0
    return ratio(np.maximum(weight - 2.0, 0.0) * correlation**2, unexplained)


def regression_pvalues(values: FloatArray, weight: FloatArray) -> FloatArray:
    """P-values of :func:`regression_f`; 1 of two rows or fewer."""
    return np.where(weight > 2, fdtrc(1.0, np.maximum(weight - 2.0, 1e-300), values), 1.0)


@np.errstate(all="ignore")
def _small_comoments(X: FloatArray, first: int, y: FloatArray, row_weight: FloatArray, found: FloatArray) -> None:
    """The kernel :func:`dense_comoments` in NumPy, as :func:`_small_class_moments` is that of the other."""
    out = found[:, first : first + X.shape[1]]
    for top in range(0, X.shape[0], TILE_ROWS):
        tile = slice(top, top + TILE_ROWS)
        w = row_weight[tile]
        total = np.add.accumulate(w)[-1]
        y_mean = np.add.accumulate(w * y[tile])[-1] / total
        e = y[tile] - y_mean
        shift = out[1].copy() if top else X[0].astype(np.float64)
        d = X[tile] - shift
        wd = w[:, None] * d
        sums = _in_fours(wd)
        off = sums / total
        x_step, y_step = shift + off - out[1], y_mean - out[2]
        before = out[0].copy()
        out[0] += total
        share = total / out[0]
        out[1] += x_step * share
        out[2] += y_step * share
        out[3] += np.maximum(_in_fours(wd * d) - sums * off, 0.0) + x_step * x_step * before * share
        out[4] += np.add.accumulate(w * e * e)[-1] + y_step * y_step * before * share
        rest = np.add.accumulate(w * e)[-1]
        out[5] += _in_fours(wd * e[:, None]) - off * rest + x_step * y_step * before * share


def _in_fours(terms: FloatArray) -> FloatArray:
    """Sum over rows, in the order of the kernel: four at a time, then those left."""
    fours = terms.shape[0] // 4 * 4
    a, b, c, d = (terms[place:fours:4] for place in range(4))
    return np.add.accumulate(np.concatenate(((a + b) + (c + d), terms[fours:])))[-1]


def class_totals(
    X: Matrix, y: Codes, sample_weight: FloatArray | None = None, *, presence: bool, n_classes: int | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Total of each column in each class, the weight of its known values, and the smallest value.

    With `presence` every value that is not zero counts as 1. `n_classes` is for rows that may lack the last classes.
    """
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    total = np.zeros((n_classes, X.shape[1]))
    row_weight = _row_weight(sample_weight, X.shape[0])
    known = np.zeros_like(total)
    known += _class_weight(y, row_weight, n_classes)
    lowest = 0.0
    if sp.issparse(X):
        X = canonical(X)
        kernel = csr_class_totals if X.format == "csr" else csc_class_totals
        lowest = kernel(*stored_arrays(X), y, row_weight, presence, total, known)
    else:
        for columns, block in in_rows(X):
            lowest = min(lowest, dense_class_totals(block, columns.start, y, row_weight, presence, total, known))
    _refuse_huge(total)
    return total, known, lowest


def divide(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    """Quotient, 0 where the denominator is zero."""
    out = np.zeros(np.broadcast_shapes(np.shape(numerator), denominator.shape))
    return np.divide(numerator, denominator, out=out, where=denominator != 0)


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Quotient of non-negative terms: 0 where both are zero, infinity where only the denominator is."""
    out = divide(numerator, denominator)
    out[(denominator == 0) & (numerator > 0)] = np.inf
    return out


def _merging(
    a: ClassMoments | TargetMoments, b: ClassMoments | TargetMoments
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For the update of Chan, Golub and LeVeque: from mean to mean, the share of `b`, and the weight of products."""
    share = divide(b.weight, a.weight + b.weight)
    return b.mean - a.mean, share, a.weight * share


def _row_weight(sample_weight: FloatArray | None, n_rows: int) -> FloatArray:
    return np.ones(n_rows) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)


def _class_weight(y: Codes, row_weight: FloatArray, n_classes: int) -> FloatArray:
    """Total weight of each class, as a column."""
    return np.bincount(y, weights=row_weight, minlength=n_classes).astype(np.float64)[:, None]


def in_rows(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The matrix when it is C-contiguous, else C-contiguous copies of a few columns at a time."""
    width = X.shape[1] if X.flags.c_contiguous else _BLOCK
    for first in range(0, X.shape[1], width):
        columns = slice(first, min(first + width, X.shape[1]))
        yield columns, np.ascontiguousarray(X[:, columns])


def _refuse_huge(values: FloatArray) -> None:
    bad = ~(np.abs(values) < _LARGEST).all(axis=0)
    if bad.any():
        column = int(np.flatnonzero(bad)[0])
        raise DataError(f"column {column} (counted from 0) contains infinity or values too large to square")
