"""Code length in bits of a histogram and of the class labels given it (Kudo and Tenmoto, eq. 1)."""

from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln, xlogy

from tamis.base.types import FloatArray, Mask


def log_star(number: float) -> float:
    """Rissanen's log2* of a whole number: log2 + log2 log2 + ..., as long as the terms are positive.

    Examples
    --------
    >>> [log_star(x) for x in (1, 2, 4, 16)]
    [0.0, 1.0, 3.0, 7.0]
    """
    found = 0.0
    while number > 1.0:
        number = float(np.log2(number))
        found += number
    return found


def axes_bits(depths: Iterable[int], n_columns: int) -> float:
    """Bits for the division of the axes: the last three lines of the first form of eq. 1.

    `depths` counts the halvings of each axis; axes that are not divided may be left out. Which m+ of the m axes are
    divided takes log2 m + log2 C(m, m+); their depths d_i, of sum d, take

        log2* d + d H(d_1/d, ...) - (k - 1)/2 log2 d + log2 d + sum_{i <= k - 2} log2+ d_i.

    The paper has k = m. Then the negative term, from Stirling's formula, goes to minus infinity with the number of
    columns, and any division pays. The formula holds for depths above zero only, so k is here the number of divided
    axes, but at least 2 where there are two columns. The sum leaves out the two deepest axes, so that the order of the
    columns does not matter.

    Examples
    --------
    >>> axes_bits([1], 2)
    2.0
    >>> round(axes_bits([2, 2], 4), 3) == round(2 + float(np.log2(6)) + 3 + 4 + 1, 3)
    True
    """
    divided = np.sort([depth for depth in depths if depth > 0])
    named = np.log2(n_columns) + _log2_binomial(n_columns, divided.size)
    if not divided.size:
        return float(named)
    d = float(divided.sum())
    k = min(n_columns, max(2, divided.size))
    entropy = d * np.log2(d) - (divided * np.log2(divided)).sum()
    sent = np.log2(divided[: max(divided.size - 2, 0)]).sum()
    return float(named + log_star(d) + entropy + (3 - k) / 2 * np.log2(d) + sent)


def cells_bits(occupied: np.ndarray | int, mixed: np.ndarray | int, n_classes: int) -> FloatArray:
    """Bits for which cells are mixed, and the class of every pure one: the first line of eq. 1."""
    pure = np.asarray(occupied - mixed, dtype=np.float64)
    return np.log2(occupied) + _log2_binomial(occupied, mixed) + pure * np.log2(n_classes)


def labels_bits(weight: FloatArray) -> FloatArray:
    """Bits for the classes in each cell, n H + (c - 1)/2 log2 n, and 0 for a pure one: the second line."""
    n = weight.sum(axis=1)
    entropy = (xlogy(n, n) - xlogy(weight, weight).sum(axis=1)) / np.log(2.0)
    parameters = (weight.shape[1] - 1) / 2 * np.log2(np.maximum(n, 1.0))
    return np.where(is_mixed(weight), entropy + parameters, 0.0)


def is_mixed(weight: FloatArray) -> Mask:
    """Which cells hold rows of more than one class."""
    return (weight > 0).sum(axis=1) > 1


def _log2_binomial(n: np.ndarray | int, k: np.ndarray | int) -> FloatArray:
    return (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / np.log(2.0)
