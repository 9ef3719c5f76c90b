"""Clustering accuracy by brute force, curves against dimension without a look at test documents; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

import tamis
from tamis.base.errors import TamisError
from tamis.text.clustering import cluster_classes, clustering_accuracy, kmeans
from tamis.text.reduction_curves import ReductionCurves, reduction_curves
from tamis.transform import ICA, LSI

labelled = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=25)


def documents(n_rows=120, n_classes=3, words=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    topic = np.arange(words) % n_classes == y[:, None]
    return rng.poisson(0.2 + 1.5 * topic).astype(float), np.array(["hockey", "space", "autos"])[y]


def brute_force(train, test):
    """CA as the paper words it: the mean of the accuracies of the clusters, weighted by their test documents."""
    majority = {}
    for cluster in {c for c, _ in train}:
        members = [label for c, label in train if c == cluster]
        majority[cluster] = max(sorted(set(members)), key=members.count)
    shares, sizes = [], []
    for cluster in {c for c, _ in test}:
        members = [label for c, label in test if c == cluster]
        shares.append(sum(label == majority.get(cluster) for label in members) / len(members))
        sizes.append(len(members))
    return np.average(shares, weights=sizes)


@given(labelled, labelled)
def test_accuracy_equals_brute_force(train, test):
    found = clustering_accuracy(*zip(*train, strict=True), *zip(*test, strict=True))
    np.testing.assert_allclose(found, brute_force(train, test))


@given(labelled, st.permutations(range(4)))
def test_numbers_of_clusters_do_not_matter(train, order):
    clusters, y = map(np.array, zip(*train, strict=True))
    moved = np.array(order)[clusters]
    assert clustering_accuracy(moved, y, moved, y) == clustering_accuracy(clusters, y, clusters, y)


def test_a_test_document_does_not_change_the_class_of_its_cluster():
    assert cluster_classes([0, 0], ["b", "a"]) == {0: "a"}
    assert clustering_accuracy([0, 0, 0], ["a", "a", "b"], [0] * 9, ["b"] * 9) == 0.0
    assert clustering_accuracy([0], ["a"], [0, 1], ["a", "a"]) == 0.5


def test_kmeans_takes_the_best_of_many_starts():
    X, _ = documents()
    once = [kmeans(X, 8, n_init=1, random_state=seed).inertia_ for seed in range(20)]
    assert kmeans(X, 8, n_init=40, random_state=0).inertia_ <= np.median(once)
    first, second = (kmeans(form(X), 3, random_state=1) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(kmeans(X, 3, random_state=1).cluster_centers_, first.cluster_centers_)


def test_equal_rows_are_one_cluster():
    model = kmeans(np.ones((5, 2)), 3, random_state=0)
    assert np.unique(model.labels_).size == 1


class Spy(TransformerMixin, BaseEstimator):
    """A reduction to the first columns that notes the rows it was fitted on."""

    seen: list = []  # noqa: RUF012

    def __init__(self, size=2):
        self.size = size

    def fit(self, X, y=None):
        Spy.seen.append((X.copy(), y.copy()))
        self.size_ = self.size
        return self

    def transform(self, X):
        return X[:, : self.size_]


def test_reductions_see_training_documents_alone():
    X, y = documents()
    X[:, 0] = np.arange(120)
    Spy.seen = []
    reduction_curves({"spy": Spy}, X, y, [3, 2], n_splits=2)
    assert len(Spy.seen) == 4
    for rows, labels in Spy.seen:
        assert rows.shape == (90, 60)
        np.testing.assert_array_equal(labels, y[rows[:, 0].astype(int)])
        # Split in proportion to the classes.
        assert np.unique(labels, return_counts=True)[1].tolist() == [30, 30, 30]
    first, second = (set(Spy.seen[place][0][:, 0]) for place in (0, 2))
    assert first != second


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_curves_of_recipes(form):
    X, y = documents()
    methods = {
        name: lambda k, name=name: tamis.recipe(f"tfidf(true, idf=plain) | {name}({k})")
        for name in ("lsi", "random_projection", "variance")
    }
    curves = reduction_curves(methods, form(X), y, [10, 2, 30], n_splits=2)
    assert curves.dimensions.tolist() == [2, 10, 30]
    assert {curve.shape for curve in curves.accuracy.values()} == {(2, 3)}
    assert curves.mean("lsi").min() > 0.9
    assert curves.mean("lsi")[0] > curves.mean("random_projection")[0]
    again = reduction_curves({"lsi": methods["lsi"]}, form(X), y, [2, 10, 30], n_splits=2)
    np.testing.assert_array_equal(again.accuracy["lsi"], curves.accuracy["lsi"])


def test_what_reductions_share_is_fitted_once_and_is_what_each_is_alone():
    X, y = documents()

    def chain(last):
        return lambda k: make_pipeline(Spy(50), "passthrough", last(k))

    methods = {"lsi": chain(LSI), "ica": chain(ICA), "first": chain(Spy)}
    Spy.seen = []
    together = reduction_curves(methods, X, y, [2, 5], n_splits=2)
    # In each split the step that all begin with, and the last of two sizes.
    assert sorted(rows.shape[1] for rows, _ in Spy.seen) == [50] * 4 + [60] * 2
    for name, method in methods.items():
        for place, size in enumerate((2, 5)):
            alone = reduction_curves({name: method}, X, y, [size], n_splits=2)
            np.testing.assert_array_equal(alone.accuracy[name][:, 0], together.accuracy[name][:, place])


def test_indices_of_64_bits():
    X, y = documents()
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(kmeans(wide, 3, random_state=0).labels_, kmeans(X, 3, random_state=0).labels_)
    methods = {"first": lambda k: Spy(k)}
    found, dense = (reduction_curves(methods, form, y, [9, 60]).accuracy["first"] for form in (wide, X))
    np.testing.assert_array_equal(found, dense)


def test_classes_without_meaning_are_found_at_chance():
    X, y = documents(300)
    y = np.random.default_rng(1).permutation(y)
    assert reduction_curves({"lsi": LSI}, X, y, [5], n_splits=3).mean("lsi")[0] < 0.45


@given(st.integers(0, 999), st.integers(2, 12))
def test_the_paired_test_equals_scipys(seed, n):
    rng = np.random.default_rng(seed)
    one, two = rng.random((2, 3, n))
    curves = ReductionCurves(np.arange(10, 10 + n), {"one": one, "two": two})
    found = curves.paired_t("one", "two")
    for side, p in (("greater", found.above), ("less", found.below)):
        expected = ttest_rel(one.mean(axis=0), two.mean(axis=0), alternative=side)
        np.testing.assert_allclose([found.t, p], [expected.statistic, expected.pvalue], rtol=1e-9)
    assert found.n == n
    back = curves.paired_t("two", "one")
    np.testing.assert_allclose([back.mean, back.above], [-found.mean, found.below])


def test_the_paired_test_takes_a_range_of_dimensions():
    curves = ReductionCurves(np.array([2, 4, 8, 16]), {"a": np.array([[0.1, 0.5, 0.7, 0.0]]), "b": np.zeros((1, 4))})
    assert curves.paired_t("a", "b", 4, 8).n == 2
    np.testing.assert_allclose(curves.paired_t("a", "b", 4, 8).mean, 0.6)
    assert curves.paired_t("b", "b")[1:4] == (0.0, 0.5, 0.5)
    always = ReductionCurves(np.array([2, 4]), {"a": np.full((1, 2), 0.5), "b": np.full((1, 2), 0.4)})
    assert always.paired_t("a", "b")[1:4] == (np.inf, 0.0, 1.0)


def test_bad_input():
    X, y = documents()
    curves = reduction_curves({"lsi": LSI}, X, y, [2])
    for run, words in (
        (lambda: clustering_accuracy([0], ["a", "b"], [0], ["a"]), "training rows need one cluster and one class"),
        (lambda: clustering_accuracy([0], ["a"], [[0]], [["a"]]), "test rows need one cluster"),
        (lambda: clustering_accuracy([], [], [0], ["a"]), "no training rows"),
        (lambda: clustering_accuracy([0], ["a"], [], []), "no test rows"),
        (lambda: kmeans(X, 121), "n_clusters=121 is more than the 120 rows"),
        (lambda: kmeans(X, 0), "n_clusters must be a whole number"),
        (lambda: kmeans(X, 2, n_init=0), "n_init must be a whole number"),
        (lambda: reduction_curves({}, X, y, [2]), "methods is empty"),
        (lambda: reduction_curves({"lsi": LSI}, X, y, []), "dimensions is empty"),
        (lambda: reduction_curves({"lsi": LSI}, X, y, [0]), "a number of dimensions must be"),
        (lambda: reduction_curves({"lsi": LSI}, X, y[:9], [2]), "a class for each of the 120 documents"),
        (lambda: reduction_curves({"lsi": LSI}, X, y, [2], test_size=1.0), "test_size must be a share"),
        (lambda: reduction_curves({"lsi": LSI}, X, [*y[:-1], "one"], [2]), "class 'one' has one document"),
        (lambda: curves.paired_t("lsi", "lsi"), "needs two dimensions"),
        (lambda: curves.mean("pca"), "there is no curve 'pca'; there are lsi"),
    ):
        with pytest.raises(TamisError, match=words):
            run()
