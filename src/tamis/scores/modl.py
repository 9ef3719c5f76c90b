"""Evidence of the most probable intervals or groups of a feature about the classes (MODL)."""

import numpy as np
import scipy.sparse as sp

from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical
from tamis.bins.level_groups import level_groups
from tamis.discretize.modl import modl_intervals


@score(
    Part(
        "modl",
        paper="Boulle 2006; Boulle 2005 (nominal)",
        phrase="how much more probable their intervals are than none (MODL)",
        counterpart="mi",
    ),
    takes_nominal=True,
)
def modl(X: Matrix, y: Codes, sample_weight: FloatArray | None = None, nominal: Mask | None = None) -> FloatArray:
    """By how many nats per row the feature's best intervals cost less than a single one.

    A numeric feature is cut into the most probable intervals given the classes (:func:`tamis.discretize.modl.modl`),
    and the levels of a nominal one are grouped by the same criterion (:func:`tamis.bins.level_groups.level_groups`).
    The score is the log ratio of their posterior probability to that of no partition, divided by the number of rows
    with a known value. It is 0 without a partition: such a feature is independent of the classes. Of a thousand
    features of noise about 12 score above 0 with 100 rows of two classes, 6 with 300 rows and 2 with 1000; some more
    with more classes and few rows. For many rows the score approaches the mutual information of intervals and classes.
    Rows in which the value is missing are left out. Sample weights count as repeated rows, also fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import modl
    >>> X = np.column_stack([np.arange(40), np.arange(40) % 5])
    >>> modl(X, np.repeat(["a", "b"], 20)).round(3)
    array([0.489, 0.   ])
    """
    named = np.zeros(X.shape[1], dtype=bool) if nominal is None else nominal
    weight = np.ones(y.size) if sample_weight is None else sample_weight
    gains = np.empty(X.shape[1])
    gains[~named] = modl_intervals(X[:, ~named] if named.any() else X, y, sample_weight=sample_weight).gains
    for j in np.flatnonzero(named):
        gains[j] = level_groups(X[:, j], y, sample_weight=sample_weight).gain
    return np.asarray(divide(gains, _known(X, weight)))


def _known(X: Matrix, weight: FloatArray) -> FloatArray:
    """Weight of the rows with a known value, of each column."""
    if not sp.issparse(X):
        return np.asarray(weight @ ~np.isnan(X))
    missing = canonical(X).copy()
    missing.data = np.isnan(missing.data).astype(np.float64)
    return np.asarray(weight.sum() - weight @ missing)
