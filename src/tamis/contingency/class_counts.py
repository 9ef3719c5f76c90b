"""Counts of words and documents in each class, which the scores of text are a formula of."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, TamisError
from tamis.base.moments import class_totals, divide
from tamis.base.score import Scored
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.contingency.whole_numbers import at_counts

#: Values of a dense matrix copied at a time.
_BLOCK = 1 << 15

#: Relative rounding error of sums of weights.
_ROUNDING = 64 * np.finfo(np.float64).eps


class Totals(NamedTuple):
    """Total of each column in each class and weight of its known rows (n_classes, n_columns); the smallest value."""

    total: FloatArray
    known: FloatArray
    lowest: float


class LogSums(NamedTuple):
    """Sums of tf and of its square over the rows, for each column; tf = 1 + ln(count), 0 without the word."""

    total: FloatArray
    squares: FloatArray


class OneClass(NamedTuple):
    """One class against all others, for each column: totals in the class and outside it, and weights of the rows."""

    inside: FloatArray
    outside: FloatArray
    rows: FloatArray
    others: FloatArray


class ClassCounts:
    """The counts of each column in each class, each kind computed when it is first used.

    Scores of the same data share one of these, so that each kind is counted once. Those of parts of the rows, with the
    same classes, add up: ``ClassCounts(X[:9], y[:9], n_classes=2) + ClassCounts(X[9:], y[9:], n_classes=2)``. A sum
    does not keep the rows. It has the kinds that one of the two has been asked for; all, where neither has.

    Parameters
    ----------
    X : array, CSR or CSC matrix of shape (n_rows, n_columns)
        Counts; NaN is missing.
    y : int array of shape (n_rows,), optional
        Class codes 0, 1, ...; all rows are one class by default.
    sample_weight : array of shape (n_rows,), optional
        Rows count this many times.
    n_classes : int, optional
        By default the largest code plus one.

    Examples
    --------
    >>> counts = ClassCounts(np.array([[3.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 0, 1]))
    >>> counts.presence.total
    array([[2., 1.],
           [0., 1.]])
    >>> counts.occurrences.total
    array([[4., 1.],
           [0., 1.]])
    """

    def __init__(
        self,
        X: Matrix,
        y: Codes | None = None,
        sample_weight: FloatArray | None = None,
        *,
        n_classes: int | None = None,
    ) -> None:
        y = np.zeros(X.shape[0], dtype=np.intp) if y is None else y
        self._n_classes = int(y.max()) + 1 if n_classes is None else n_classes
        if sample_weight is not None and not sample_weight.all():
            # A row of weight zero is not there, so that it has no say in what is constant.
            rows = np.flatnonzero(sample_weight)
            X, y, sample_weight = X[rows], y[rows], sample_weight[rows]
        self._X = canonical(X) if sp.issparse(X) else X
        self._y = y
        self._weight = sample_weight

    @cached_property
    def presence(self) -> Totals:
        """Rows in which a column is not zero."""
        _refuse_infinity(self._X)
        return self._totals(presence=True)

    @cached_property
    def occurrences(self) -> Totals:
        """Sums of the values."""
        return self._totals(presence=False)

    @property
    def known(self) -> FloatArray:
        """Weight of the rows in which a column is known (n_classes, n_columns)."""
        found: Totals = vars(self).get("occurrences") or self.presence
        return found.known

    @cached_property
    def logs(self) -> LogSums:
        """Sums of tf and of its square; a value between 0 and 1/e has the tf 0, not one below it."""
        X, weight = self._X, np.ones(self._y.size) if self._weight is None else self._weight
        if sp.issparse(X):
            major = np.repeat(np.arange(X.indptr.size - 1), np.diff(X.indptr))
            rows, columns = (major, X.indices) if X.format == "csr" else (X.indices, major)
            tf = at_counts(_tf, X.data)
            once = weight[rows] * tf
            return LogSums(_by_column(columns, once, X.shape[1]), _by_column(columns, once * tf, X.shape[1]))
        total, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for rows in _blocks(X):
            tf = _tf(X[rows])
            total += weight[rows] @ tf
            squares += weight[rows] @ tf**2
        return LogSums(total, squares)

    @cached_property
    def range(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value of each column without negative ones; 0 and 1 where some are zero and some not."""
        low, high = np.zeros(self.known.shape[1]), np.asarray(self.presence.total.any(axis=0), dtype=np.float64)
        full = np.flatnonzero(self.everywhere)
        if full.size and sp.issparse(self._X):
            stored = self._X[:, full].tocsc()
            low[full] = np.fmin.reduceat(stored.data, stored.indptr[:-1])
            high[full] = np.fmax.reduceat(stored.data, stored.indptr[:-1])
        elif full.size:
            low[full], high[full] = np.inf, -np.inf
            for rows in _blocks(self._X):
                block = self._X[rows]
                low[full] = np.fmin(low, np.fmin.reduce(block, axis=0))[full]
                high[full] = np.fmax(high, np.fmax.reduce(block, axis=0))[full]
        return low, high

    @property
    def everywhere(self) -> Mask:
        """The columns that are zero in no row, of those that are known in some."""
        n = self.known.sum(axis=0)
        return (n > 0) & (n - self.presence.total.sum(axis=0) <= _ROUNDING * n)

    @property
    def mixed(self) -> Mask:
        """The columns that are zero in some rows and not zero in others."""
        return ~self.everywhere & self.presence.total.any(axis=0)

    @property
    def varied(self) -> Mask:
        """The columns that are not constant."""
        low, high = self.range
        return low < high

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of counts that were computed."""
        return tuple(kind for kind in _KINDS if kind in vars(self))

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        wanted = {*self.kinds, *other.kinds} or set(_KINDS)
        if "range" in wanted:
            wanted.add("presence")
        both = object.__new__(ClassCounts)
        for kind in wanted:
            setattr(both, kind, _SUMS[kind](self, other))
        return both

    def arrays(self) -> dict[str, np.ndarray]:
        """What was computed, as arrays by name, for :meth:`of_arrays`."""
        found: dict[str, np.ndarray] = {}
        for kind in self.kinds:
            parts = getattr(self, kind)
            found |= {f"{kind}.{place}": np.asarray(part) for place, part in enumerate(parts)}
        return found

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "ClassCounts":
        """The counts that :meth:`arrays` wrote; they do not keep the rows."""
        found = object.__new__(cls)
        for kind, make in _KINDS.items():
            parts = [arrays[f"{kind}.{place}"] for place in range(3) if f"{kind}.{place}" in arrays]
            if parts:
                setattr(found, kind, make(*parts))
        return found

    def _totals(self, *, presence: bool) -> Totals:
        found = Totals(*class_totals(self._X, self._y, self._weight, presence=presence, n_classes=self._n_classes))
        # The weights of missing values were subtracted: what rounding leaves of all of them is nothing.
        size = np.bincount(self._y, weights=self._weight, minlength=self._n_classes)
        found.known[found.known <= _ROUNDING * size[:, None]] = 0.0
        return found


def _sum_of_totals(kind: str) -> Callable[[ClassCounts, ClassCounts], Totals]:
    def summed(a: ClassCounts, b: ClassCounts) -> Totals:
        x, y = getattr(a, kind), getattr(b, kind)
        return Totals(x.total + y.total, x.known + y.known, min(x.lowest, y.lowest))

    return summed


def _sum_of_logs(a: ClassCounts, b: ClassCounts) -> LogSums:
    return LogSums(*(x + y for x, y in zip(a.logs, b.logs, strict=True)))


def _joint_range(a: ClassCounts, b: ClassCounts) -> tuple[FloatArray, FloatArray]:
    seen = [counts.known.any(axis=0) for counts in (a, b)]
    (low, high), (lower, higher) = a.range, b.range
    some = seen[0] & seen[1]
    return (
        np.where(some, np.minimum(low, lower), np.where(seen[0], low, lower)),
        np.where(some, np.maximum(high, higher), np.where(seen[0], high, higher)),
    )


#: The kinds of counts, and how each is made of its arrays.
_KINDS: dict[str, Callable[..., Any]] = {
    "presence": lambda total, known, lowest: Totals(total, known, float(lowest)),
    "occurrences": lambda total, known, lowest: Totals(total, known, float(lowest)),
    "logs": LogSums,
    "range": lambda low, high: (low, high),
}
_SUMS: dict[str, Callable[[ClassCounts, ClassCounts], Any]] = {
    "presence": _sum_of_totals("presence"),
    "occurrences": _sum_of_totals("occurrences"),
    "logs": _sum_of_logs,
    "range": _joint_range,
}


def class_mean(counts: ClassCounts, totals: Totals, useful: Mask, measure: Callable[[OneClass], FloatArray]) -> Scored:
    """Mean of a measure of one class against the others over the classes, weighted by their shares of the rows.

    Columns that are not `useful`, and a class in which or outside which nothing is known, have the value 0.
    """
    whole, n = totals.total.sum(axis=0), counts.known.sum(axis=0)

    def of_class(c: int) -> FloatArray:
        inside, rows = totals.total[c], counts.known[c]
        # Rounding of weights may leave a negative count.
        table = OneClass(inside, np.maximum(whole - inside, 0.0), rows, np.maximum(n - rows, 0.0))
        values = measure(table)
        values[~useful | (table.rows == 0) | (table.others == 0)] = 0.0
        return values

    classes = range(counts.known.shape[0])
    values = np.zeros(n.size)
    for c in classes:
        values += divide(counts.known[c], n) * of_class(c)
    return Scored(values, by_class=lambda: np.stack([of_class(c) for c in classes]))


def refuse_negative(lowest: float, who: str) -> None:
    """Refuse values below zero, in the name of a score."""
    if lowest < 0:
        raise TamisError(f"Negative values in data: {who} needs values of zero and above, got {lowest:g}")


def _blocks(X: np.ndarray) -> Iterator[slice]:
    """Slices of a few rows."""
    step = max(_BLOCK // X.shape[1], 1)
    return (slice(first, first + step) for first in range(0, X.shape[0], step))


def _by_column(columns: np.ndarray, terms: FloatArray, n_columns: int) -> FloatArray:
    """Sum of the terms of each column."""
    return np.bincount(columns, weights=terms, minlength=n_columns).astype(np.float64, copy=False)


def _tf(values: np.ndarray) -> FloatArray:
    # NaN is not above zero.
    positive = np.where(values > 0, values, 1.0).astype(np.float64, copy=False)
    return np.asarray(np.where(values > 0, np.maximum(1.0 + np.log(positive), 0.0), 0.0))


def _refuse_infinity(X: Matrix) -> None:
    """Refuse infinity, which counting presence would not notice."""
    values = X.data if sp.issparse(X) else X
    if np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all():
        return
    bad = np.isinf(values)
    if bad.any():
        column = X.tocoo().col[bad][0] if sp.issparse(X) else np.nonzero(bad)[1][0]
        raise DataError(f"column {int(column)} (counted from 0) contains infinity")
