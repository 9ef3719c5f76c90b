"""Cuts by merging neighbours alike (ChiMerge)."""

import numpy as np
from scipy.stats import chi2

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.class_tables import class_tables
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning
from tamis.kernels.chimerge import merge_alike
from tamis.trees.rows import counted


@binning("chimerge", searched=False)
def chimerge(X: Matrix, y: Codes, *, alpha: float, min_bins: int, max_bins: int | None) -> list[FloatArray]:
    """Merge the neighbouring values of each column whose classes differ least, until all neighbours differ.

    Each distinct value begins as an interval. With A_ij rows of class j in interval i of two neighbours, R_i and C_j
    rows of the intervals and the classes in both, and E_ij = R_i C_j / (R_1 + R_2), the pair with the least

        chi2 = sum_ij (A_ij - E_ij)^2 / max(E_ij, 1/2)

    is merged, the first of several, as long as chi2 is at most the 1 - `alpha` quantile of the chi-square distribution
    with one degree of freedom fewer than classes, or as more than `max_bins` intervals are left. Merging ends at
    `min_bins` intervals: with ``min_bins == max_bins`` their number alone decides, as far as there are as many values.
    The floor of 1/2 is Kerber's; a class in neither interval adds nothing.

    Many pairs are tested, so that columns of noise are cut too, at the default level about once for every 11 values of
    two balanced classes; a level of 0.001 and a limit like ``max_bins=6`` keep the cuts few. Equal values stay
    together. Missing values are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X = np.arange(30.0)[:, None]
    >>> y = (X[:, 0] > 9) & (X[:, 0] < 20)
    >>> Discretize("chimerge").fit(X, y).cuts_
    [array([ 9.5, 19.5])]
    """
    return chimerge_cuts(X, y, alpha=alpha, min_bins=min_bins, max_bins=max_bins).apart()


def chimerge_cuts(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    *,
    alpha: float = 0.05,
    min_bins: int = 1,
    max_bins: int | None = None,
) -> Cuts:
    """The cuts of :func:`chimerge`; weights count as repeated rows."""
    if max_bins is not None and max_bins < min_bins:
        raise TamisError(f"min_bins={min_bins} and max_bins={max_bins} contradict each other")
    n_classes = int(y.max()) + 1
    X, y, weight = counted(X, y, sample_weight)
    limit = float(chi2.ppf(1 - alpha, max(n_classes - 1, 1)))
    found = []
    for table in class_tables(X, y, weight, n_classes):
        begins = np.zeros(table.values.size, dtype=bool)
        merge_alike(table.first, table.totals, limit, min_bins, max_bins or 0, begins)
        found.append(table.cuts(begins))
    return Cuts.joined(found) if found else Cuts.counted(np.zeros(0, dtype=np.int64), np.empty(0))
