"""Nearest neighbours, one column more or less: squared distances add up over columns."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.incremental.evaluator import dense_columns
from tamis.incremental.fallback import EvaluatorWithFallback
from tamis.kernels.incremental import add_squares, nearest_means, nearest_votes

#: Numbers in a block of columns and in a block of distances.
_BLOCK = 2_000_000

#: Values from here on are left to the model, which may reject them.
_LARGEST = 1e100

_NO_ORDER = np.empty((0, 0), dtype=np.intp)


class NearestEvaluator(EvaluatorWithFallback):
    """Vote, or mean of the numbers, of the `k` nearest training rows by Euclidean distance.

    A column joins by adding its squared differences to those of the set. Sums without a column are not found by
    subtraction, which would lose digits: the set is halved, the other half added, and so on down to single columns.

    With `first` the model takes the earlier of training rows at the same distance, to twelve digits; otherwise its
    order is unknown, and it is refitted where that decides. With `products` it may compute distances from inner
    products, with the rounding of the rows' lengths. `k` is at most the number of training rows.
    """

    def __init__(self, model: Any, X: Matrix, y: Target, Z: Matrix, k: int, *, first: bool, products: bool) -> None:
        super().__init__(model, X, y, Z)
        self.k, self.first, self.products = k, first, products
        self._cached: tuple[np.ndarray, FloatArray] | None = None

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Target, Mask]:
        predicted = np.empty((candidates.size, self.Z.shape[0]), dtype=self.y.dtype)
        certain = np.ones(candidates.size, dtype=bool)
        height = max(1, _BLOCK // self.X.shape[0])
        for top in range(0, self.Z.shape[0], height):
            rows = slice(top, top + height)
            change = self._with if joining else self._without
            for places, votes, unique in change(rows, columns, candidates):
                predicted[places, rows] = votes
                certain[places] &= unique
        return predicted, certain

    def _with(
        self, rows: slice, columns: np.ndarray, candidates: np.ndarray
    ) -> Iterator[tuple[np.ndarray, Target, Mask]]:
        """Places of a block of candidates, the votes on some test rows with each, and whether they are certain."""
        squares, norms = self._squares(rows, columns), self._norms(rows, columns)
        # In order of distance the kernel can stop early; without a column all distances are 0.
        order = np.argsort(squares, axis=1) if columns.size else _NO_ORDER
        squares = np.take_along_axis(squares, order, axis=1) if columns.size else squares
        for places in self._blocks(candidates):
            new = candidates[places]
            yield places, *self._votes(squares, order, norms, columns.size + 1, *self._dense(rows, new))

    def _without(
        self, rows: slice, columns: np.ndarray, candidates: np.ndarray
    ) -> Iterator[tuple[np.ndarray, Target, Mask]]:
        places = np.arange(candidates.size)
        stay = columns[~np.isin(columns, candidates)]
        squares, norms = self._squares(rows, stay), self._norms(rows, stay)
        yield from self._halved(rows, candidates, places, squares, norms, columns.size - 1)

    def _halved(
        self, rows: slice, leaving: np.ndarray, places: np.ndarray, squares: FloatArray, norms: FloatArray, left: int
    ) -> Iterator[tuple[np.ndarray, Target, Mask]]:
        """Votes without each of the `leaving` in turn, given the distances without all of them."""
        if leaving.size == 1:
            nothing = np.zeros((1, squares.shape[0])), np.zeros((1, squares.shape[1]))
            yield places, *self._votes(squares, _NO_ORDER, norms, left, *nothing)
            return
        half = leaving.size // 2
        for out, stay in ((slice(half), slice(half, None)), (slice(half, None), slice(half))):
            added = self._added(squares.copy(), rows, leaving[stay])
            longer = norms + self._norms(rows, leaving[stay])
            yield from self._halved(rows, leaving[out], places[out], added, longer, left)

    def _votes(
        self, squares: FloatArray, order: np.ndarray, norms: FloatArray, size: int, test: FloatArray, train: FloatArray
    ) -> tuple[Target, Mask]:
        """Predictions by the nearest rows with each of some columns added, to make a set of `size`."""
        predicted = np.empty((test.shape[0], test.shape[1]), dtype=self.y.dtype)
        certain = np.empty(test.shape[0], dtype=bool)
        # Inner products: each of the three terms has the error of `size` roundings of at most twice the length of the
        # test row and the distance. Sums of squares: twelve digits are more than certain.
        rounding = 8.0 * (size + 8) * np.finfo(np.float64).eps
        relative, absolute = (1e-12 + rounding, rounding) if self.products else (1e-11, 0.0)
        distances = squares, order, test, train, norms
        if is_numeric(self.y):
            nearest_means(*distances, self.y, self.k, relative, absolute, self.first, predicted, certain)
        else:
            n_classes = int(self.y.max()) + 1
            nearest_votes(*distances, self.y, self.k, n_classes, relative, absolute, self.first, predicted, certain)
        return predicted, certain

    def _squares(self, rows: slice, columns: np.ndarray) -> FloatArray:
        """Squared distances in the columns; for a set that has grown, the last ones are updated."""
        whole = self.Z.shape[0] * self.X.shape[0] <= _BLOCK
        known, squares = self._cached if self._cached is not None and whole else (columns[:0], None)
        if squares is None or known.size > columns.size or not np.array_equal(known, columns[: known.size]):
            known, squares = columns[:0], np.zeros((self._test(rows).shape[0], self.X.shape[0]))
        self._added(squares, rows, columns[known.size :])
        self._cached = (columns.copy(), squares) if whole else None
        return squares

    def _added(self, squares: FloatArray, rows: slice, columns: np.ndarray) -> FloatArray:
        for places in self._blocks(columns):
            add_squares(*self._dense(rows, columns[places]), squares)
        return squares

    def _norms(self, rows: slice, columns: np.ndarray) -> FloatArray:
        """Squared lengths of test rows, where rounding depends on them."""
        norms = np.zeros(self._test(rows).shape[0])
        for places in self._blocks(columns) if self.products else ():
            norms += (dense_columns(self._test(rows), columns[places]) ** 2).sum(axis=1)
        return norms

    def _blocks(self, columns: np.ndarray) -> Iterator[np.ndarray]:
        width = max(1, _BLOCK // self.X.shape[0])
        return (np.arange(start, min(start + width, columns.size)) for start in range(0, columns.size, width))

    def _dense(self, rows: slice, columns: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Columns of the test rows and of the training rows, transposed."""
        return dense_columns(self._test(rows), columns).T, dense_columns(self.X, columns).T

    def _test(self, rows: slice) -> Matrix:
        return self.Z if rows.stop >= self.Z.shape[0] and rows.start == 0 else self.Z[rows]


def too_large(*parts: Matrix) -> bool:
    """Whether squares of the values might overflow, or a value is missing."""
    values = [M.data if sp.issparse(M) else M for M in parts]
    return any(v.size and not max(float(v.max()), -float(v.min())) < _LARGEST for v in values)
