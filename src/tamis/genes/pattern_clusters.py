"""Maximal pattern-based clusters: genes whose values shift alike over some of the time points."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole

#: Differences of each gene between two time points, by the pair of time points.
_Shifts = dict[tuple[int, int], FloatArray]


class PCluster(NamedTuple):
    """Genes and time points, by number, in rising order."""

    genes: tuple[int, ...]
    times: tuple[int, ...]


def p_score(values: FloatArray, x: int, y: int, u: int, v: int) -> float:
    """How differently two genes shift between two time points: ``|(x_u - y_u) - (x_v - y_v)|``."""
    return float(abs((values[x, u] - values[y, u]) - (values[x, v] - values[y, v])))


def pclusters(
    values: FloatArray, delta: float, *, min_genes: int = 2, min_times: int = 2, max_clusters: int = 100_000
) -> list[PCluster]:
    """Find all maximal delta-pClusters of some size.

    Genes R and time points D are a delta-pCluster when ``|(x_u - y_u) - (x_v - y_v)| <= delta`` for all x, y in R and
    u, v in D (Jiang et al. 2003, as cited by Raman and Domeniconi 2005). It is maximal when no gene and no time point
    can be added. On logarithms of intensities a shift is a factor. The enumeration is exact. Genes fit D when, for each
    pair of time points, their values of ``g_u - g_v`` lie within an interval of length `delta`. So the search goes
    through the first gene of each cluster and, depth first, through the sets of time points; with each time point
    the genes shrink that can go with the first one, and a branch ends where they or the time points become too few. No
    labels are used.

    Parameters
    ----------
    values : array of shape (n_genes, n_times)
        A gene takes no part at a time where its value is missing.
    delta : float
        In the unit of the values.
    min_genes, min_times : int, default=2
        Smaller clusters are left out. What is maximal does not depend on it.
    max_clusters : int, default=100000
        An error, rather than an endless search, where there are more: their number may grow exponentially.

    Returns
    -------
    list of PCluster
        In rising order of their genes, then of their time points.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0, 3.0], [2.0, 6.0, 9.0], [4.0, 8.1, 6.0]])
    >>> pclusters(X, 0.2)
    [PCluster(genes=(0, 1, 2), times=(0, 1)), PCluster(genes=(0, 2), times=(0, 1, 2))]
    """
    check_number("delta", delta, 0.0, np.inf)
    check_whole("min_genes", min_genes, 2)
    check_whole("min_times", min_times, 2)
    check_whole("max_clusters", max_clusters, 1)
    values = np.asarray(values, dtype=np.float64)
    n_genes, n_times = values.shape
    shifts = {(u, v): values[:, u] - values[:, v] for u, v in combinations(range(n_times), 2)}
    found: list[PCluster] = []
    for first in range(n_genes - min_genes + 1):
        near = {pair: np.abs(shift - shift[first]) <= delta for pair, shift in shifts.items()}
        for times, others in _with_time_points(near, first, n_times, min_genes, min_times):
            for cluster in _boxes(shifts, others[others >= first], first, times, delta, min_genes, max_clusters):
                if _is_maximal(shifts, cluster, others, times, n_times, delta):
                    found.append(PCluster(tuple(cluster.tolist()), times))
        _check_count(len(found), max_clusters, delta)
    return sorted(found)


def _with_time_points(
    near: dict[tuple[int, int], np.ndarray], first: int, n_times: int, min_genes: int, min_times: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Sets of time points, with all genes that are within delta of the first one at all pairs of them."""
    size = next(iter(near.values())).size if near else 0
    open_sets: list[tuple[tuple[int, ...], np.ndarray]]
    open_sets = [((start,), np.arange(size)) for start in reversed(range(n_times))]
    while open_sets:
        times, genes = open_sets.pop()
        if len(times) >= min_times:
            yield times, genes
        for new in reversed(range(times[-1] + 1, n_times)):
            if len(times) + n_times - new < min_times:
                continue
            left = genes
            for old in times:
                left = left[near[old, new][left]]
            if (left >= first).sum() >= min_genes:
                open_sets.append(((*times, new), left))


def _check_count(count: int, max_clusters: int, delta: float) -> None:
    if count > max_clusters:
        raise TamisError(
            f"there are more than max_clusters={max_clusters} clusters at delta={delta:g}: lower delta, or "
            "raise min_genes or min_times"
        )


def _boxes(
    shifts: _Shifts,
    genes: np.ndarray,
    first: int,
    times: tuple[int, ...],
    delta: float,
    min_genes: int,
    max_clusters: int,
) -> list[np.ndarray]:
    """Sets of these genes, with the first, whose shifts lie within delta at all pairs of the time points.

    The maximal ones are among them; others may be, and are recognized afterwards.
    """
    found = {genes.tobytes(): genes}
    for pair in combinations(times, 2):
        smaller: dict[bytes, np.ndarray] = {}
        for each in found.values():
            for window in _windows(each, shifts[pair], first, delta):
                if window.size >= min_genes:
                    smaller[window.tobytes()] = window
        found = smaller
        _check_count(len(found), max_clusters, delta)
    return list(found.values())


def _windows(genes: np.ndarray, shift: FloatArray, first: int, delta: float) -> Iterator[np.ndarray]:
    """The largest sets of genes with shifts within delta that hold the first one."""
    own = shift[genes]
    if own.max() - own.min() <= delta:
        yield genes
        return
    reached = -np.inf
    for low in np.unique(own[own <= shift[first]]):
        inside = (own >= low) & (own - low <= delta)
        high = own[inside].max()
        if high >= shift[first] and high > reached:
            # A window that reaches no further than the one before it is a part of that.
            reached = high
            yield genes[inside]


def _is_maximal(
    shifts: _Shifts, genes: np.ndarray, others: np.ndarray, times: tuple[int, ...], n_times: int, delta: float
) -> bool:
    """Whether none of the other genes fits, and no other time point."""
    for pair in combinations(times, 2):
        shift = shifts[pair]
        low, high = shift[genes].min(), shift[genes].max()
        own = shift[others]
        others = others[np.maximum(own, high) - np.minimum(own, low) <= delta]
    if others.size > genes.size:
        return False
    for new in set(range(n_times)).difference(times):
        if all(np.ptp(shifts[min(new, old), max(new, old)][genes]) <= delta for old in times):
            return False
    return True
