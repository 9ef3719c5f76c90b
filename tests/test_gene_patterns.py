"""Clusters of genes against a walk through scipy's tree, and groups of equal percentages against the paper's loop."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage, to_tree

from tamis.base.errors import TamisError
from tamis.genes.clustering import hierarchical_clusters
from tamis.genes.pattern_groups import pattern_groups, percent_changes


def cut(profiles, level, metric):
    """Sets of genes below the nodes at a level of scipy's tree, with leaves that end above it."""

    def below(node, depth):
        if depth == 0 or node.is_leaf():
            return {frozenset(node.pre_order())}
        return below(node.get_left(), depth - 1) | below(node.get_right(), depth - 1)

    return below(to_tree(linkage(profiles, "average", metric=metric)), level)


def sets(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def groups_by_loops(profiles, clusters, tolerance, fine):
    """The paper's loop, gene by gene; rough groups are divided once more."""

    def loop(genes, limit):
        found, rest = [], list(genes)
        while rest:
            first, *others = rest
            near = [first]
            for gene in others:
                if all(abs(change(gene, i) - change(first, i)) <= limit for i in range(steps)):
                    near.append(gene)
            found.append(near)
            rest = [gene for gene in rest if gene not in near]
        return found

    def change(gene, i):
        return 100.0 * (profiles[gene, i + 1] - profiles[gene, i]) / profiles[gene, i]

    steps, found = profiles.shape[1] - 1, []
    for cluster in sorted(set(clusters)):
        for group in loop([g for g in range(len(profiles)) if clusters[g] == cluster], tolerance):
            far = [
                g for g in group[1:]
                if any(abs(change(g, i) - change(group[0], i)) > (tolerance + fine) / 2 for i in range(steps))
            ]  # fmt: skip
            found += loop(group, fine) if fine < tolerance and len(far) > (len(group) - 1) / 2 else [group]
    return found


@pytest.mark.parametrize("metric", ["correlation", "euclidean"])
@pytest.mark.parametrize("level", [0, 1, 3, 40])
def test_clusters_are_the_nodes_at_a_level_of_scipys_tree(metric, level):
    X = np.random.default_rng(level).lognormal(5, 1, (40, 8))
    found = hierarchical_clusters(X, level=level, metric=metric)
    assert sets(found) == cut(X, level, metric)
    assert found.max() + 1 <= 2**level if level < 40 else found.max() == 39
    first = [np.flatnonzero(found == label)[0] for label in range(found.max() + 1)]
    assert first == sorted(first)


def test_a_constant_gene_correlates_with_none():
    X = np.array([[1.0, 2.0, 3.0], [7.0, 7.0, 7.0], [2.0, 4.0, 6.1], [0.1, 0.1, 0.1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = hierarchical_clusters(X, level=3)
    assert found[0] == found[2] or sets(found) == {frozenset([i]) for i in range(4)}
    assert sets(hierarchical_clusters(X, level=1)) != {frozenset([0]), frozenset([1, 2, 3])}


def test_equal_genes_are_not_parted():
    X = np.array([[1.0, 3.0, 9.0]] * 3 + [[5.0, 6.0, 4.0]])
    assert hierarchical_clusters(X, level=9).tolist() == [0, 0, 0, 1]
    assert hierarchical_clusters(X * 7, level=9, metric="euclidean").tolist() == [0, 0, 0, 1]
    assert hierarchical_clusters(np.ones((3, 4)), level=9, metric="euclidean").tolist() == [0, 0, 0]


def test_clusters_of_few_genes():
    assert hierarchical_clusters(np.ones((1, 3))).tolist() == [0]
    assert hierarchical_clusters(np.empty((0, 3))).tolist() == []
    with pytest.raises(TamisError, match="metric must be one of correlation, euclidean; got 'cosine'"):
        hierarchical_clusters(np.ones((3, 3)), metric="cosine")
    with pytest.raises(TamisError, match="level must be a whole number of 0 or more; got -1"):
        hierarchical_clusters(np.ones((3, 3)), level=-1)


def test_a_tree_as_deep_as_there_are_genes():
    X = np.cumsum(np.ones((1200, 2)), axis=0) ** 3
    assert hierarchical_clusters(X, level=2, metric="euclidean").size == 1200


def test_percent_changes_by_hand():
    X = np.array([[100.0, 150.0, 75.0], [0.0, 1.0, 3.0], [-2.0, 1.0, 0.0], [np.nan, 1.0, 2.0]])
    expected = [[50.0, -50.0], [np.nan, 200.0], [np.nan, -100.0], [np.nan, 100.0]]
    np.testing.assert_array_equal(percent_changes(X), expected)


@given(st.integers(0, 2**32), st.sampled_from([(10.0, 5.0), (10.0, 10.0), (20.0, 5.0), (0.0, 0.0)]))
@settings(max_examples=60, deadline=None)
def test_groups_are_those_of_the_papers_loop(seed, tolerances):
    rng = np.random.default_rng(seed)
    patterns = rng.lognormal(4, 0.5, (4, 5))[rng.integers(0, 4, 30)]
    X = patterns * rng.lognormal(0, 1, (30, 1)) * rng.lognormal(0, 0.03, (30, 5))
    X[:3] = X[3:6]
    clusters = rng.integers(0, 3, 30)
    found = pattern_groups(X, clusters, tolerance=tolerances[0], fine=tolerances[1])
    expected = groups_by_loops(X, clusters.tolist(), *tolerances)
    assert sets(found) == {frozenset(group) for group in expected}
    sizes = np.bincount(found)
    assert (np.diff(sizes) <= 0).all()


def test_groups_do_not_depend_on_the_level_of_a_gene():
    rng = np.random.default_rng(3)
    X = rng.lognormal(4, 0.2, (20, 4))
    scaled = X * 2.0 ** rng.integers(-3, 4, (20, 1))
    np.testing.assert_array_equal(pattern_groups(scaled, tolerance=20.0), pattern_groups(X, tolerance=20.0))


def test_a_rough_group_is_refined():
    # The others are 8 or 9 points from the first gene: within 10, beyond 7.5, and within 5 of each other.
    X = np.array([[100.0, 100.0], [100.0, 108.0], [100.0, 109.0]])
    assert pattern_groups(X, fine=10.0).tolist() == [0, 0, 0]
    assert pattern_groups(X, fine=5.0).tolist() == [1, 0, 0]
    smooth = np.array([[100.0, 100.0], [100.0, 101.0], [100.0, 109.0]])
    assert pattern_groups(smooth, fine=5.0).tolist() == [0, 0, 0]


def test_genes_without_a_known_change_have_no_group():
    X = np.array([[0.0, 1.0, 2.0], [1.0, np.nan, 2.0], [1.0, 2.0, 0.0], [-1.0, 2.0, 3.0]])
    assert pattern_groups(X).tolist() == [-1, -1, 0, -1]
    with pytest.raises(TamisError, match="tolerance must be a finite number of 0 or more; got -1"):
        pattern_groups(X, tolerance=-1)
