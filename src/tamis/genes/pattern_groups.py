"""Groups of genes whose intensities change by equal percentages from each time point to the next."""

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.base.validation import check_number


def percent_changes(profiles: FloatArray) -> FloatArray:
    """Percentage increase or decrease between neighbouring time points: ``100 (g[i+1] - g[i]) / g[i]``.

    NaN where an intensity is missing, or where the first of the two is not positive: there is no percentage of it.

    Examples
    --------
    >>> percent_changes(np.array([[10.0, 15.0, 12.0], [0.0, 5.0, 10.0]])).tolist()
    [[50.0, -20.0], [nan, 100.0]]
    """
    before, after = profiles[:, :-1], profiles[:, 1:]
    found = np.full(before.shape, np.nan)
    np.divide(100.0 * (after - before), before, out=found, where=before > 0)
    return found


def pattern_groups(
    profiles: FloatArray, clusters: Codes | None = None, *, tolerance: float = 10.0, fine: float = 5.0
) -> Codes:
    """Group genes whose percentage changes differ by at most a tolerance at every step.

    The algorithm of Raman and Domeniconi (2005), section 3.3. Within each cluster the first gene that has no group
    starts one, and all later genes without a group join it that differ from this first one by at most `tolerance`
    percentage points at all steps. Groups are disjoint; they depend on the order of the genes, as in the paper.
    A rough group is then grouped again, in the same way, with the tolerance `fine`. The paper sees by eye when "the
    majority of genes were close to" the tolerance; here a group is rough when more than half of its genes, apart from
    the first, differ from the first by more than the mean of both tolerances at some step. No labels are used.

    Parameters
    ----------
    profiles : array of shape (n_genes, n_times)
        Intensities.
    clusters : array of int of shape (n_genes,), optional
        The groups lie within these clusters; by default all genes are one.
    tolerance : float, default=10
        In percentage points.
    fine : float, default=5
        The tolerance for rough groups; not below `tolerance` switches this off.

    Returns
    -------
    array of int of shape (n_genes,)
        Numbers of groups from 0, the largest first and of equals that with the first gene; -1 for a gene with an
        unknown change, such as one from zero.

    Examples
    --------
    >>> X = np.array([[100.0, 200.0, 100.0], [10.0, 20.5, 10.0], [50.0, 50.0, 50.0], [0.0, 1.0, 1.0]])
    >>> pattern_groups(X).tolist()
    [0, 0, 1, -1]
    """
    check_number("tolerance", tolerance, 0.0, np.inf)
    check_number("fine", fine, 0.0, np.inf)
    changes = percent_changes(profiles)
    groups: list[np.ndarray] = []
    known = ~np.isnan(changes).any(axis=1)
    clusters = np.zeros(len(changes), dtype=np.intp) if clusters is None else clusters
    for cluster in np.unique(clusters[known]):
        for group in _grouped(changes, np.flatnonzero(known & (clusters == cluster)), tolerance):
            rough = fine < tolerance and _is_rough(changes[group], (tolerance + fine) / 2)
            groups += _grouped(changes, group, fine) if rough else [group]
    found = np.full(len(changes), -1, dtype=np.intp)
    for number, group in enumerate(sorted(groups, key=lambda one: (-one.size, one[0]))):
        found[group] = number
    return found


def _grouped(changes: FloatArray, genes: np.ndarray, tolerance: float) -> list[np.ndarray]:
    """Groups of the genes with the given numbers, in the order of their first ones."""
    own, groups = changes[genes], []
    # Only genes that are near at the step that tells most genes apart are compared at all steps.
    step = own[:, own.std(axis=0).argmax()] if own.shape[1] else np.zeros(genes.size)
    order = np.argsort(step, kind="stable")
    values, is_open = step[order], np.ones(genes.size, dtype=bool)
    for first in range(genes.size):
        if is_open[first]:
            # A little more, for rounding.
            reach = tolerance + 1e-9 * (tolerance + abs(step[first]))
            low = np.searchsorted(values, step[first] - reach)
            high = np.searchsorted(values, step[first] + reach, "right")
            some = order[low:high]
            some = some[is_open[some]]
            near = np.sort(some[_near(own[some], own[first], tolerance)])
            is_open[near] = False
            groups.append(genes[near])
    return groups


def _near(changes: FloatArray, first: FloatArray, limit: float) -> Mask:
    """Which genes differ from the first one by at most a limit at all steps."""
    return np.all(np.abs(changes - first) <= limit, axis=1)


def _is_rough(changes: FloatArray, limit: float) -> bool:
    """Whether more than half of the genes differ from the first one by more than the limit at some step."""
    return bool(2 * (~_near(changes, changes[0], limit)).sum() > len(changes) - 1)
