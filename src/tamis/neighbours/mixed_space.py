"""Rows of numbers and symbols as points whose Minkowski distance is the mixed distance of the rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tamis.base.task import is_numeric
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.neighbours.level_means import level_means

SYMBOLS = ("vdm", "overlap")


@dataclass(frozen=True, eq=False)
class MixedSpace:
    """Replace each symbol by a vector, and divide each number by its range in the training rows.

    The Minkowski distance of two points is that of the rows when a column contributes at most 1: a number
    |x - x'| / range, a symbol the distance of ``KNN`` or ``KNNRegressor``. Two vectors of class shares, or of
    indicators, differ by 2^(1/alpha) at most, by which they are divided (`scale`). Rows without symbols stay as they
    are. `nominal` marks the columns of codes, `n_levels` counts their symbols, and `shares` holds the vector of each
    symbol and, last, of an unseen one: its class shares, or the mean of its numbers; None for indicators.

    References
    ----------
    Wilson and Martinez (1997), "Improved heterogeneous distance functions"; Grabczewski and Jankowski (2003),
    "Transformations of symbolic data for continuous data oriented models".
    """

    nominal: Mask
    half_ranges: FloatArray
    scale: float
    n_levels: list[int]
    shares: list[FloatArray] | None

    @classmethod
    def of(cls, X: Matrix, y: Codes | FloatArray, n_levels: Mapping[int, int], *, symbols: str, alpha: float) -> Self:
        """Fit on training rows; `n_levels` counts the symbols of each nominal column, `alpha` may be infinite."""
        nominal = np.zeros(X.shape[1], dtype=bool)
        nominal[list(n_levels)] = True
        scale, sizes = 2 ** (-1 / alpha), list(n_levels.values())
        if not sizes:
            return cls(nominal, np.zeros(0), scale, sizes, None)
        # Halves, since the range of very large numbers would overflow.
        half = X[:, ~nominal].max(axis=0) / 2 - X[:, ~nominal].min(axis=0) / 2
        half[half == 0] = 0.5
        shares = None
        if symbols == "vdm":
            columns = [(X[:, j].astype(np.intp), size) for j, size in n_levels.items()]
            if is_numeric(y):
                shares = [_means(codes, y, size) / scale for codes, size in columns]
            else:
                n_classes = int(y.max()) + 1
                shares = [level_means(codes, y, size, n_classes=n_classes) for codes, size in columns]
        return cls(nominal, half, scale, sizes, shares)

    def points(self, X: Matrix) -> Matrix:
        """The points of rows; a CSR matrix for indicators."""
        if not self.n_levels:
            return X
        with np.errstate(over="ignore"):
            numbers = X[:, ~self.nominal] / 2 / self.half_ranges
        # The code of an unseen symbol, -1, is the last place.
        codes = X[:, self.nominal].astype(np.intp)
        if self.shares is None:
            return sp.hstack([sp.csr_array(numbers), self._indicators(codes)], format="csr")
        vectors = [self.scale * shares[column] for shares, column in zip(self.shares, codes.T, strict=True)]
        return np.hstack([numbers, *vectors])

    def _indicators(self, codes: Codes) -> Matrix:
        """One column a symbol and, after those of each nominal column, one for unseen symbols."""
        *starts, width = accumulate((size + 1 for size in self.n_levels), initial=0)
        places = starts + np.where(codes < 0, self.n_levels, codes)
        row_starts = np.arange(0, places.size + 1, places.shape[1])
        return sp.csr_array((np.full(places.size, self.scale), places.ravel(), row_starts), (len(codes), width))


def _means(codes: Codes, y: Any, n_levels: int) -> FloatArray:
    """Mean target of the rows of each symbol, from 0 to 1; the overall mean for a symbol without rows."""
    means = level_means(codes, y, n_levels)
    spread = np.ptp(means)
    return (means - means.min()) / (spread if spread > 0 else 1.0)
