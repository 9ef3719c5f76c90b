"""Correlations between columns, and of columns with the classes: by numbers, or by states."""

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.moments import ClassMoments, divide
from tamis.base.parallel import one_thread
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.states import States
from tamis.kernels.shared_states import dense_cells, stored_cells
from tamis.subsets.complete_states import dense_states

#: Numbers in a block of columns.
_BLOCK = 4_000_000

#: Binary digits of an exact sum.
_DIGITS = 50

#: A share of entropies below it is rounding.
_ROUNDING = 1e-12


class Pearson:
    """Pearson correlation of numeric columns, dense or sparse, without missing values; 0 for constants."""

    def __init__(self, X: Matrix, weight: FloatArray, who: str) -> None:
        if not np.isfinite(X.data if sp.issparse(X) else X).all():
            raise DataError(f"{who} takes no missing values; put impute in front of it")
        moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp), weight)
        self._X = X.tocsc() if sp.issparse(X) else X
        self._weight = weight
        self._mean, self._scale = moments.mean[0], divide(1.0, np.sqrt(moments.scatter[0]))
        #: Which columns are constant.
        self.flat: Mask = self._scale == 0

    def rows(self, columns: np.ndarray) -> FloatArray:
        """Correlation of some columns with all columns."""
        width = max(1, _BLOCK // self._X.shape[0])
        parts = []
        for start in range(0, columns.size, width):
            some = columns[start : start + width]
            values = self._X[:, some]
            values = (values.toarray() if sp.issparse(values) else values).astype(np.float64)
            parts.append(self._with((values - self._mean[some]) * self._scale[some]))
        return np.concatenate(parts)

    def with_classes(self, y: Codes) -> FloatArray:
        """Correlation of the indicator of each class with all columns."""
        return self.with_targets((np.arange(int(y.max()) + 1) == y[:, None]).astype(np.float64))

    def with_targets(self, values: FloatArray) -> FloatArray:
        """Correlation of each of some targets, of shape (n_rows, n_targets), with all columns."""
        centred = values - self._weight @ values / self._weight.sum()
        return self._with(centred * divide(1.0, np.sqrt(self._weight @ centred**2)))

    def _with(self, unit: FloatArray) -> FloatArray:
        """Products of centred columns of length 1 with all columns; the means of those cancel."""
        weighted = unit * self._weight[:, None]
        # The sums must not depend on the number of threads.
        with one_thread():
            found = np.asarray((self._X.T @ weighted).T if sp.issparse(self._X) else weighted.T @ self._X)
        # What rounding leaves of the sum of a centred column is not multiplied by the means.
        found = found - np.outer(weighted.sum(axis=0), self._mean)
        values: FloatArray = np.clip(found * self._scale, -1.0, 1.0)
        return values


class Uncertainty:
    """Symmetrical uncertainty of columns as states, 2 I(f, g) / (H(f) + H(g)); 0 for constants."""

    def __init__(self, found: States, weight: FloatArray) -> None:
        self._found = found
        self._weight = weight
        total = float(weight.sum())
        # Sums of terms up to the largest one, each a multiple of 1 / grid, are exact.
        largest = max(total * max(np.log(total), 0.0), 1.0) + weight.size
        self._grid = 2.0 ** (_DIGITS - int(np.ceil(np.log2(largest))))
        self._least = _ROUNDING * max(abs(total * np.log(total)), total)
        self._own = self._cells(np.zeros(weight.size, dtype=np.intp), 1)
        self._all = float(np.rint(self._grid * total * np.log(total)) / self._grid)

    def rows(self, columns: np.ndarray) -> FloatArray:
        """Symmetrical uncertainty of some columns with all columns."""
        out = np.empty((columns.size, self._found.sizes.size))
        for row, j in zip(out, columns, strict=True):
            row[:] = self._shared(self._states_of(j), int(self._found.sizes[j]), self._own[j])
        return out

    def with_classes(self, y: Codes) -> FloatArray:
        """Symmetrical uncertainty of the classes with all columns."""
        codes = y.astype(np.int32)[None]
        n_classes = int(y.max()) + 1
        own = np.empty(1)
        one = np.zeros(y.size, dtype=np.intp)
        dense_cells(codes, np.array([n_classes]), self._weight, one, 1, self._grid, own)
        return self._shared(y, n_classes, own[0])

    def _shared(self, other: Codes, n_other: int, own: float) -> FloatArray:
        entropies = 2.0 * self._all - self._own - own
        information = self._all + self._cells(other, n_other) - self._own - own
        found = np.zeros(entropies.size)
        np.divide(2.0 * information, entropies, out=found, where=entropies > self._least)
        values: FloatArray = np.clip(found, 0.0, 1.0)
        return values

    def _states_of(self, column: int) -> Codes:
        return dense_states(self._found, np.array([column]))[0].astype(np.intp)

    def _cells(self, other: Codes, n_other: int) -> FloatArray:
        """Sum of m log m over the cells of the table of each column and another."""
        found, out = self._found, np.empty(self._found.sizes.size)
        common = self._weight, np.ascontiguousarray(other), n_other, self._grid, out
        if found.codes is not None:
            dense_cells(found.codes, found.sizes, *common)
        else:
            stored_cells(found.indptr, found.rows, found.stored, found.zero, found.sizes, *common)
        return out
