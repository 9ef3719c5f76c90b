"""Cuts into bins of equal width."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import min_max_axis

from tamis.base.errors import DataError
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.trees.rows import counted

#: Bins by default.
_BINS = 10


@binning("equal_width", supervised=False)
def equal_width(X: Matrix, y: Codes | None, *, n_bins: int | None) -> list[FloatArray]:
    """Cut each column into `n_bins` (10) bins of the same width between its lowest and its highest value.

    A constant column is not cut.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> Discretize("equal_width", n_bins=4).fit(np.array([[0.0], [1.0], [8.0]])).cuts_
    [array([2., 4., 6.])]
    """
    return width_cuts(X, n_bins).apart()


def width_cuts(X: Matrix, n_bins: int | None = None, sample_weight: FloatArray | None = None) -> Cuts:
    """The cuts of :func:`equal_width`; rows of weight zero are left out."""
    X, _, _ = counted(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight)
    low, high = _ends(X)
    cuts = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, (n_bins or _BINS) + 1)[1:-1]
    # Cuts that coincide by rounding are one.
    return Cuts.table(cuts, cuts > np.column_stack((low, cuts[:, :-1])))


def _ends(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest known value of each column, NaN where none is known."""
    if sp.issparse(X):
        ends = min_max_axis(X, axis=0, ignore_nan=True)
    else:
        ends = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    low, high = (np.asarray(end, dtype=np.float64) for end in ends)
    with np.errstate(over="ignore", invalid="ignore"):
        bad = np.flatnonzero(np.isinf(high - low) | np.isinf(low))
    if bad.size:
        raise DataError(f"column {int(bad[0])} (counted from 0) contains infinity or values too far apart")
    return low, high
