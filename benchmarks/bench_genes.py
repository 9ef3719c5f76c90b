"""Gene patterns of 6800 genes: all steps beside plain scipy, and pClusters beside brute force over sets of genes."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from benchmarks.timing import compare, seconds
from tamis.base.types import FloatArray
from tamis.data.synthetic.infection import infection
from tamis.genes import Expression, find_markers, pclusters
from tamis.genes.clustering import hierarchical_clusters
from tamis.genes.pattern_groups import pattern_groups, percent_changes


def _usual_clusters(profiles: FloatArray) -> Any:
    return fcluster(linkage(profiles, "average", metric="correlation"), 8, "maxclust")


def _usual_groups(profiles: FloatArray, tolerance: float) -> int:
    """The paper's loop: every gene without a group is compared with the first of a group, one after the other."""
    changes = percent_changes(profiles)
    rest, groups = list(range(len(changes))), 0
    while rest:
        first = rest[0]
        rest = [gene for gene in rest[1:] if (np.abs(changes[gene] - changes[first]) > tolerance).any()]
        groups += 1
    return groups


def _brute(values: FloatArray, delta: float) -> int:
    """Maximal clusters by trying all sets of genes and time points."""
    n, times = values.shape
    found = set()
    for size in range(2, times + 1):
        for chosen in combinations(range(times), size):
            shifts = [values[:, u] - values[:, v] for u, v in combinations(chosen, 2)]
            for count in range(2, n + 1):
                for genes in combinations(range(n), count):
                    if all(np.ptp(shift[list(genes)]) <= delta for shift in shifts):
                        found.add((frozenset(genes), frozenset(chosen)))
    return sum(not any(a <= c and b <= d and (a, b) != (c, d) for c, d in found) for a, b in found)


def _alone(what: str, work: Callable[[], Any], note: str = "") -> None:
    print(f"{what:<52} {seconds(work, at_most=1):9.4f} s   {note}", flush=True)


def main() -> None:
    expression = Expression.of_dataset(infection())
    found = find_markers(expression)
    profiles = found.expression.profiles("infected")[found.groups >= 0]
    ours = partial(hierarchical_clusters, profiles)
    compare(
        f"clusters of {len(profiles)} genes", ours, "scipy linkage, correlation", partial(_usual_clusters, profiles)
    )
    few = profiles[:1500]
    ours = partial(pattern_groups, few, fine=10.0)
    compare("pattern groups of 1500 genes", ours, "the paper's loop", partial(_usual_groups, few, 10.0))
    rng = np.random.default_rng(0)
    small = rng.integers(0, 6, (9, 5)).astype(float)
    compare("pClusters of 9 genes x 5 times", partial(pclusters, small, 1.0), "all sets", partial(_brute, small, 1.0))
    logs = np.log2(profiles)
    for delta, genes, times in ((0.05, 2, 7), (0.1, 2, 8)):
        n = len(pclusters(logs, delta, min_genes=genes, min_times=times))
        work = partial(pclusters, logs, delta, min_genes=genes, min_times=times)
        _alone(f"pClusters of {len(logs)} genes, delta {delta:g}, {genes} x {times}", work, f"{n} maximal")
    _alone("find_markers, 6800 genes x 32 samples", partial(find_markers, expression))
