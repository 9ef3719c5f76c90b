"""Cuts into bins of equal frequency."""

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.kernels.states import quantile_cuts
from tamis.trees.columns import sorted_columns
from tamis.trees.rows import counted

#: Bins by default.
_BINS = 10


@binning("equal_frequency", supervised=False)
def equal_frequency(X: Matrix, y: Codes | None, *, n_bins: int | None) -> list[FloatArray]:
    """Cut each column into `n_bins` (10) bins of as nearly the same number of rows as its values allow.

    A cut lies halfway between two values where that makes the bins equal; otherwise at the value they share, which goes
    to the upper bin. Equal values stay together: a column with many of them gets fewer bins.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> Discretize("equal_frequency", n_bins=3).fit(np.array([[1.0], [2.0], [3.0], [5.0], [8.0], [9.0]])).cuts_
    [array([2.5, 6.5])]
    """
    return frequency_cuts(X, n_bins).apart()


def frequency_cuts(X: Matrix, n_bins: int | None = None, sample_weight: FloatArray | None = None) -> Cuts:
    """The cuts of :func:`equal_frequency`; weights count as repeated rows."""
    X, _, weight = counted(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight)
    cuts = np.empty((X.shape[1], (n_bins or _BINS) - 1))
    count = np.zeros(X.shape[1], dtype=np.int64)
    for columns in sorted_columns(X):
        found, size = np.empty((columns.features.size, cuts.shape[1])), np.zeros(columns.features.size, dtype=np.int64)
        quantile_cuts(columns.begin, columns.end, columns.rows, columns.values, weight, found, size)
        cuts[columns.features], count[columns.features] = found, size
    return Cuts.table(cuts, np.arange(cuts.shape[1]) < count[:, None])
