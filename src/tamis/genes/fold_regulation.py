"""Fold regulation: how much higher a gene is in the treated samples than in the control at the same time."""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import false_discovery_control

from tamis.base.types import FloatArray
from tamis.genes.expression import Expression


def log2_fold(treated: FloatArray, control: FloatArray) -> FloatArray:
    """Logarithm to base 2 of treated over control; NaN where one of them is missing or not positive.

    Raman and Domeniconi (2005) call the logarithm itself the fold: their "2 fold" is a ratio of 4.

    Examples
    --------
    >>> log2_fold(np.array([8.0, 1.0, 0.0]), np.array([2.0, 2.0, 2.0])).tolist()
    [2.0, -1.0, nan]
    """
    positive = (treated > 0) & (control > 0)
    ratio = np.divide(treated, control, out=np.full(np.shape(treated), np.nan), where=positive)
    fold: FloatArray = np.log2(ratio)
    return fold


class FoldTest(NamedTuple):
    """Student's t of the mean log2 fold over some time points, gene by gene.

    Attributes
    ----------
    p, q : arrays of shape (n_genes,)
        Two-sided p-values, and the false discovery rates at which each gene would be reported (Benjamini and Hochberg
        1995) among all genes tested. NaN where a value is missing or not positive.
    """

    p: FloatArray
    q: FloatArray


def fold_test(expression: Expression, treated: str, control: str, times: FloatArray) -> FoldTest | None:
    """Test whether the mean fold over some time points is zero, against the spread of the replicates.

    The variance of the logarithms is pooled over the conditions and times, within which it is measured, gene by gene.
    None where no condition and time has replicates: a single sample each has no spread, and there is no test.

    Parameters
    ----------
    expression : Expression
    treated, control : str
        Conditions.
    times : array
        Time points with samples of both conditions.

    Returns
    -------
    FoldTest or None
    """
    cells = [
        (sign, expression.values[:, (expression.times == time) & (expression.conditions == condition)])
        for sign, condition in ((1.0, treated), (-1.0, control))
        for time in times
    ]
    freedom = sum(one.shape[1] - 1 for _, one in cells)
    if freedom < 1:
        return None
    n_genes = expression.values.shape[0]
    mean, squares, weight = np.zeros(n_genes), np.zeros(n_genes), 0.0
    for sign, one in cells:
        logs = np.log2(one, out=np.full(one.shape, np.nan), where=one > 0)
        own = logs.mean(axis=1)
        mean += sign * own / len(times)
        squares += ((logs - own[:, None]) ** 2).sum(axis=1)
        weight += 1.0 / one.shape[1] / len(times) ** 2
    error = np.sqrt(squares / freedom * weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2.0 * stdtr(freedom, -np.abs(mean / error))
    # Replicates that are all equal, such as copies of a file, have no spread either.
    p[error == 0] = np.nan
    q = np.full(n_genes, np.nan)
    known = ~np.isnan(p)
    if known.any():
        q[known] = false_discovery_control(p[known])
    return FoldTest(p, q)
