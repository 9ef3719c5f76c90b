"""Rank correlation of a feature with a numeric target."""

import numpy as np

from tamis.base.moments import regression_f, regression_pvalues
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray, Matrix, Target
from tamis.kernels.ranks import rank_correlations
from tamis.trees.columns import sorted_columns
from tamis.trees.rows import counted


@score(
    Part("spearman", paper="Spearman 1904", phrase="rank correlation with the target", counterpart="cc"),
    pvalues=True,
    tasks=("regress",),
)
def spearman(X: Matrix, y: Target, sample_weight: FloatArray | None = None) -> Scored:
    """Absolute rank correlation of the feature with a numeric target.

    Spearman's rho is the Pearson correlation of the ranks, in which equal values share their middle rank:

        rho = sum_i (r_i - R)(s_i - S) / sqrt(sum_i (r_i - R)^2 sum_i (s_i - S)^2),

    with the ranks r_i of the feature and s_i of the target, and their means R and S. It finds any relation that only
    rises or only falls, and one outlier cannot decide it. The p-value is two-sided: rho sqrt((n - 2) / (1 - rho^2)) is
    compared with Student's t of n - 2 degrees of freedom. Rows in which the feature is missing are left out, and the
    others ranked anew. Sample weights count as repeated rows. A constant feature scores 0 with p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import spearman
    >>> spearman(np.array([[1.0, 3.0], [2.0, 3.0], [3.0, 1.0], [9.0, 0.0]]), [0.1, 0.2, 0.4, 9.5]).round(3)
    array([1.   , 0.949])
    """
    X, y, weight = counted(X, y, sample_weight)
    found = np.zeros((2, X.shape[1]))
    order = np.argsort(y, kind="stable")
    for columns in sorted_columns(X):
        some = np.empty((2, columns.features.size))
        rank_correlations(*columns.segments, y, order, weight, some)
        found[:, columns.features] = some
    correlation, known = found
    values = np.minimum(np.abs(correlation), 1.0)
    return Scored(values, lambda: regression_pvalues(regression_f(values, known), known))
