"""Functions of columns that are constant, or straight lines, in each bin."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.bins.cuts import starts
from tamis.kernels.states import segment_states


class Lines(NamedTuple):
    """For each column the slope of each bin, and its lowest and highest value, beyond which a line is not continued."""

    slopes: list[FloatArray]
    ends: list[FloatArray]


class Pieces(NamedTuple):
    """A function of each column, with `width` numbers as its value.

    Attributes
    ----------
    cuts : list of float arrays, one a column
        Ascending; bins are closed on the left.
    levels : list of float arrays of shape (n_bins, width), one a column
        The value in each bin; where there are lines, that at the lowest end.
    missing : float array of shape (n_features, width)
        The value of a missing entry.
    zero : float array of shape (n_features, width)
        What is subtracted from all values of a column.
    lines : Lines, optional
        For functions that are straight lines in each bin; `width` is then 1.
    """

    cuts: list[FloatArray]
    levels: list[FloatArray]
    missing: FloatArray
    zero: FloatArray
    lines: Lines | None = None

    @property
    def width(self) -> int:
        """Output columns of an input column."""
        return int(self.missing.shape[1])

    def at_zero(self) -> FloatArray:
        """The values of the number 0 in each column, nothing subtracted."""
        zeros = np.zeros(len(self.cuts))
        return self._at(zeros, self.first[:-1] + self._codes(zeros, np.arange(zeros.size + 1)))

    @property
    def first(self) -> np.ndarray:
        """The bins of column j are ``first[j]`` up to ``first[j + 1]``, counted over all columns."""
        return starts(np.array([cuts.size + 1 for cuts in self.cuts]))

    def _codes(self, values: FloatArray, begin: np.ndarray) -> np.ndarray:
        """The bins, counted in each column, of the values of one column after the other; -1 where one is missing."""
        codes = np.empty(values.size, dtype=np.int32)
        cuts = np.concatenate(self.cuts)
        segment_states(values, begin[:-1], begin[1:], self.first - np.arange(begin.size), cuts, codes)
        return codes

    def _at(self, x: FloatArray, place: np.ndarray) -> FloatArray:
        """The values of known numbers in some bins, counted over all columns; nothing is subtracted."""
        found = np.concatenate(self.levels)[place]
        if self.lines is not None:
            slopes, ends = (np.concatenate(one)[place] for one in self.lines)
            found[:, 0] += _rise(x, slopes, ends)
        return found

    def values(self, X: Matrix) -> Matrix:
        """The values of rows, in a new matrix."""
        if sp.issparse(X):
            return self._of_sparse(canonical(X).tocsc())
        width = self.width
        out = np.empty((X.shape[0], X.shape[1] * width), dtype=X.dtype)
        for j, (cuts, levels) in enumerate(zip(self.cuts, self.levels, strict=True)):
            missing = np.isnan(X[:, j])
            # Missing values have the place after the last bin.
            codes = np.where(missing, cuts.size + 1, np.searchsorted(cuts, X[:, j], side="right"))
            found = (np.vstack((levels, self.missing[j])) - self.zero[j])[codes]
            if self.lines is not None:
                known = codes[~missing]
                found[~missing, 0] += _rise(X[~missing, j], self.lines.slopes[j][known], self.lines.ends[j][known])
            out[:, j * width : (j + 1) * width] = found
        return out

    def _of_sparse(self, X: Matrix) -> Matrix:
        width, begin = self.width, X.indptr.astype(np.int64)
        codes = self._codes(X.data, begin)
        column = np.repeat(np.arange(X.shape[1]), np.diff(begin))
        values = self._at(X.data, self.first[column] + np.maximum(codes, 0))
        values = np.where(codes[:, None] < 0, self.missing[column], values) - self.zero[column]
        # A stored zero is as one that is not stored.
        values[X.data == 0] = 0.0
        places = np.repeat(X.indices, width), (column[:, None] * width + np.arange(width)).ravel()
        kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
        out = kind((values.ravel().astype(X.dtype), places), shape=(X.shape[0], X.shape[1] * width))
        out.eliminate_zeros()
        return out


def _rise(x: FloatArray, slopes: FloatArray, ends: FloatArray) -> FloatArray:
    """How far lines rise from the lowest end of their bins to some values."""
    low, high = ends.T
    found: FloatArray = slopes * (np.clip(x.astype(np.float64), low, high) - low)
    return found
