"""mRMR computed anew at every step, as a test's oracle."""

from itertools import combinations_with_replacement

import numpy as np
from scipy.stats import f_oneway, linregress


def information(one: np.ndarray, other: np.ndarray) -> float:
    """What two columns of codes share, from the probabilities of their states; -1 and NaN are missing."""
    known = (one >= 0) & (other >= 0)
    if not known.any():
        return 0.0
    one, other = one[known].astype(int), other[known].astype(int)
    joint = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(joint, (one, other), 1.0 / one.size)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float((joint[joint > 0] * np.log(joint[joint > 0] / apart[joint > 0])).sum())


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    flat = np.ptp(one) == 0 or np.ptp(other) == 0
    return 0.0 if flat else abs(float(np.corrcoef(one, other)[0, 1]))


def f_statistic(column: np.ndarray, y: np.ndarray) -> float:
    parts = [column[y == c] for c in np.unique(y)]
    if np.ptp(column) == 0 or len(parts) == column.size:
        return 0.0
    return np.inf if all(np.ptp(part) == 0 for part in parts) else float(f_oneway(*parts).statistic)


def line_f(column: np.ndarray, y: np.ndarray) -> float:
    """F of the slope of a line, as the square of its t."""
    r = correlation(column, y)
    if column.size <= 2 or r == 0.0:
        return 0.0
    if r**2 > 1 - 1e-12:
        return np.inf
    line = linregress(column, y)
    return float((line.slope / line.stderr) ** 2)


def measures(X: np.ndarray, y: np.ndarray, criterion: str) -> tuple[np.ndarray, np.ndarray]:
    """Relevance of each column and redundancy of each pair, one by one."""
    shared = information if criterion.startswith("m") else correlation
    redundancy = np.zeros((X.shape[1], X.shape[1]))
    for i, j in combinations_with_replacement(range(X.shape[1]), 2):
        redundancy[i, j] = redundancy[j, i] = shared(X[:, i], X[:, j])
    if criterion.startswith("m"):
        return np.array([information(column, y) for column in X.T]), redundancy
    f = line_f if y.dtype.kind == "f" else f_statistic
    relevance = np.array([f(column, y) for column in X.T])
    finite = relevance[np.isfinite(relevance)]
    return np.where(np.isinf(relevance), 2 * max(0.5, finite.max(initial=0.0)), relevance), redundancy


def naive(
    relevance: np.ndarray,
    redundancy: np.ndarray,
    *,
    quotient: bool,
    units: list[list[int]],
    forced: tuple[int, ...] = (),
) -> list[int]:
    """Every worth anew in every round; what differs by rounding is equal, and of equals the first wins."""
    order, left = list(forced), [unit for unit in units if unit[0] not in forced]
    while left:
        worth = np.array([relevance[unit].mean() for unit in left])
        if order:
            shared = np.array([redundancy[np.ix_(unit, order)].mean() for unit in left])
            worth = worth / np.maximum(shared, 1e-3) if quotient else worth - shared
        near = worth >= worth.max() - 1e-9 * max(1.0, abs(worth.max()))
        order += left.pop(int(np.flatnonzero(near)[0]))
    return order
