"""The measures of subset search against their formulas written out, and against each other's methods."""

import pickle
from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from joblib import parallel_config
from scipy.stats import entropy
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.classify import ConvexNet
from tamis.incremental import fallback
from tamis.kernels.explained import explained_shares
from tamis.kernels.inconsistency import refine, set_losses
from tamis.kernels.shared_states import dense_cells, stored_cells
from tamis.kernels.subset_merit import subset_merits
from tamis.subsets.bic import BIC
from tamis.subsets.cfs import CFS
from tamis.subsets.classifier import ClassifierAccuracy
from tamis.subsets.convex import ConvexOptimum
from tamis.subsets.correlations import Pearson
from tamis.subsets.inconsistency import Inconsistency
from tamis.subsets.least_squares import LeastSquares
from tamis.subsets.pair_rows import PairRows

NOTHING = np.empty(0, dtype=np.intp)

#: Each measure, the error that it admits between its methods, and whether it takes weights and missing values.
MEASURES = {
    "cfs": (lambda X, y, **more: CFS.of(X, y, bins="values", **more), 0.0),
    "pearson": (lambda X, y, **more: CFS.of(X, y, correlation="pearson", **more), 0.0),
    "inconsistency": (Inconsistency.of, 0.0),
    "bic": (BIC.of, 1e-8),
    "convex": (ConvexOptimum.of, 1e-8),
    "classifier": (lambda X, y: ClassifierAccuracy.of(X, y, cv=3, random_state=0), 0.0),
}
#: Those that compute with numbers.
NUMBERS = ("pearson", "bic", "convex")
BY_STATES = ("cfs", "inconsistency")
WEIGHTED = ("cfs", "pearson", "inconsistency", "bic", "convex")


@st.composite
def tables(draw, missing: bool = False):
    """Small whole numbers with ties, repeated and constant columns; classes of at least two rows."""
    n, p = draw(st.integers(4, 30)), draw(st.integers(1, 6))
    values = [0.0, 0.0, 1.0, 2.0, -3.0, *([np.nan] if missing else [])]
    X = draw(hnp.arrays(np.float64, (n, p), elements=st.sampled_from(values)))
    if p > 2 and draw(st.booleans()):
        X[:, 1] = X[:, 0]
    if p > 3 and draw(st.booleans()):
        X[:, 2] = 1.0
    n_classes = draw(st.integers(2, min(4, n // 2)))
    y = np.concatenate(
        (
            np.repeat(np.arange(n_classes), 2),
            draw(hnp.arrays(np.intp, n - 2 * n_classes, elements=st.integers(0, n_classes - 1))),
        )
    )
    return X, y


def every_set(n: int) -> np.ndarray:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)


def planted(rows: int = 80, columns: int = 7, n_classes: int = 3, seed: int = 0):
    rng = generator(seed)
    y = np.arange(rows) % n_classes
    X = rng.normal(size=(rows, columns))
    X[:, 0] += y
    X[:, -1] -= 0.5 * y
    return X, y


def check_methods(measure, tolerance: float) -> None:
    """`add` and `remove` from many sets, in any order, equal `many`."""
    n = measure.n_features
    sets = every_set(n)
    scores = measure.many(sets)
    assert np.isfinite(scores).all()
    for i in generator(1).permutation(sets.shape[0])[:40]:
        columns = generator(int(i)).permutation(np.flatnonzero(sets[i]))
        others = np.flatnonzero(~sets[i])
        np.testing.assert_allclose(
            measure.add(columns, others), scores[i | 1 << others], rtol=tolerance, atol=tolerance
        )
        np.testing.assert_allclose(
            measure.remove(columns, columns), scores[i & ~(1 << columns)], rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("name", MEASURES)
@given(table=tables())
@settings(max_examples=12, deadline=None)
def test_a_set_has_one_score_whatever_the_method(name, table) -> None:
    make, tolerance = MEASURES[name]
    check_methods(make(*table), tolerance)


@pytest.mark.parametrize("name", MEASURES)
def test_a_set_has_one_score_on_numbers_of_any_size(name) -> None:
    make, tolerance = MEASURES[name]
    X, y = planted(columns=5)
    check_methods(make(X * [1.0, 1e-3, 50.0, 1.0, 1.0] + [0, 0, 0, 7, 0], y), tolerance)


@pytest.mark.parametrize("name", MEASURES)
@given(table=tables(), data=st.data())
@settings(max_examples=12, deadline=None)
def test_columns_may_be_permuted(name, table, data) -> None:
    make, tolerance = MEASURES[name]
    X, y = table
    order = np.array(data.draw(st.permutations(range(X.shape[1]))))
    sets = every_set(X.shape[1])
    here, there = make(X, y).many(sets), make(X[:, order], y).many(sets[:, order])
    np.testing.assert_allclose(here, there, rtol=0, atol=max(tolerance, 1e-8 if name == "pearson" else 0.0) * y.size)


@pytest.mark.parametrize("name", MEASURES)
@given(form=st.sampled_from([sp.csr_array, sp.csc_array, sp.csc_matrix]), table=tables())
@settings(max_examples=12, deadline=None)
def test_sparse_equals_dense(name, form, table) -> None:
    make, _ = MEASURES[name]
    X, y = table
    sets = every_set(X.shape[1])
    measure = make(form(X), y)
    np.testing.assert_allclose(measure.many(sets), make(X, y).many(sets), rtol=1e-8, atol=1e-8)
    some, others = np.arange(X.shape[1] // 2), np.arange(X.shape[1] // 2, X.shape[1])
    np.testing.assert_allclose(measure.add(some, others), make(X, y).add(some, others), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(measure.remove(others, others), make(X, y).remove(others, others), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", WEIGHTED)
@given(table=tables(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_weights_are_repeated_rows(name, table, data) -> None:
    make, _ = MEASURES[name]
    X, y = table
    weight = data.draw(hnp.arrays(np.intp, y.size, elements=st.integers(0, 3)))
    weight[: 2 * (y.max() + 1)] += 1
    sets = every_set(X.shape[1])
    weighted, repeated = make(X, y, sample_weight=weight), make(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.many(sets), repeated.many(sets), rtol=1e-7, atol=1e-7)
    if name in BY_STATES:
        in_sparse = make(sp.csc_array(X), y, sample_weight=weight)
        np.testing.assert_allclose(in_sparse.many(sets), repeated.many(sets), atol=1e-8)


@pytest.mark.parametrize("name", MEASURES)
def test_measures_travel_to_other_processes(name) -> None:
    make, _ = MEASURES[name]
    X, y = planted()
    measure = make(X, y)
    sets = generator(0).random((20, 7)) < 0.5
    before = measure.many(sets)
    measure.add(np.array([0, 3]), np.array([1]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(measure)).many(sets), before)


@pytest.mark.parametrize("name", MEASURES)
def test_no_sets_and_no_candidates(name) -> None:
    make, _ = MEASURES[name]
    measure = make(*planted())
    assert measure.n_features == 7
    assert measure.many(np.zeros((0, 7), dtype=bool)).shape == (0,)
    assert measure.add(np.array([1, 2]), NOTHING).shape == (0,)
    assert measure.remove(np.array([1, 2]), NOTHING).shape == (0,)


@pytest.mark.parametrize("name", WEIGHTED)
def test_one_class_and_one_row(name) -> None:
    make, tolerance = MEASURES[name]
    for rows in (1, 5):
        check_methods(make(generator(0).normal(size=(rows, 3)), np.zeros(rows, dtype=np.intp)), tolerance)


def test_a_class_of_one_row() -> None:
    X, y = planted(31, 4)
    y[:] = np.arange(31) % 2
    y[7] = 2
    for name, (make, tolerance) in MEASURES.items():
        check_methods(make(X, y), max(tolerance, 1e-12 if name == "classifier" else 0.0))


# CFS


def uncertainty(one: np.ndarray, other: np.ndarray, weight: np.ndarray | None = None) -> float:
    """By entropies of scipy and the mutual information of scikit-learn."""
    if weight is not None:
        one, other = np.repeat(one, weight), np.repeat(other, weight)
    both = sum(entropy(np.unique(each, return_counts=True, equal_nan=True)[1]) for each in (one, other))
    codes = [np.unique(each, return_inverse=True, equal_nan=True)[1] for each in (one, other)]
    return 2.0 * mutual_info_score(*codes) / both if both > 1e-12 else 0.0


def merit(relevance: np.ndarray, pairs: np.ndarray, columns: list[int]) -> float:
    """Hall's formula, word for word."""
    k = len(columns)
    if k == 0:
        return 0.0
    among = [pairs[i, j] for i, j in combinations(columns, 2)]
    return k * np.mean(relevance[columns]) / np.sqrt(k + k * (k - 1) * (np.mean(among) if among else 0.0))


def merits(relevance, pairs, sets) -> np.ndarray:
    return np.array([merit(relevance, pairs, np.flatnonzero(row).tolist()) for row in sets])


@given(table=tables(missing=True), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_merit_is_that_of_the_formula(table, data) -> None:
    X, y = table
    p = X.shape[1]
    nominal = np.array(data.draw(st.lists(st.booleans(), min_size=p, max_size=p)))
    relevance = np.array([uncertainty(X[:, j], y) for j in range(p)])
    pairs = np.array([[uncertainty(X[:, i], X[:, j]) for j in range(p)] for i in range(p)])
    sets = every_set(p)
    expected = merits(relevance, pairs, sets)
    np.testing.assert_allclose(CFS.of(X, y, nominal, bins="values").many(sets), expected, atol=2e-8)
    np.testing.assert_allclose(CFS.of(sp.csr_array(X), y, nominal, bins="values").many(sets), expected, atol=2e-8)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_merit_by_pearson_correlation(n_classes) -> None:
    X, y = planted(60, 5, n_classes)
    X[:, 4] = 1e6 + 3 * X[:, 1]
    share = np.bincount(y) / y.size
    relevance = sum(share[c] * np.abs([np.corrcoef(x, y == c)[0, 1] for x in X.T]) for c in range(n_classes))
    sets = every_set(5)
    expected = merits(relevance, np.abs(np.corrcoef(X.T)), sets)
    np.testing.assert_allclose(CFS.of(X, y, correlation="pearson").many(sets), expected, atol=1e-7)


def test_a_repeated_column_adds_nothing_and_a_constant_one_takes_away() -> None:
    X, y = planted(200, 3, 2)
    X = np.column_stack([X, X[:, 0], np.full(200, 4.0)])
    for how in ({"bins": "modl"}, {"bins": "auto"}, {"correlation": "pearson"}):
        measure = CFS.of(X, y, **how)
        alone = measure.add(NOTHING, np.arange(5))
        assert alone[0] == alone[3] > 0.05
        assert alone[4] == 0.0
        repeated, constant = measure.add(np.array([0]), np.array([3, 4]))
        assert repeated == pytest.approx(alone[0], abs=1e-8)
        assert constant == pytest.approx(alone[0] / np.sqrt(2), abs=1e-8)


def test_columns_of_many_states_are_compared_by_sorting() -> None:
    rng = generator(0)
    X = np.column_stack([rng.permutation(300) % 150, rng.integers(0, 140, 300), rng.integers(0, 3, 300)]).astype(float)
    y = rng.integers(0, 3, 300)
    every = np.ones(3, dtype=bool)
    relevance = np.array([uncertainty(x, y) for x in X.T])
    pairs = np.array([[uncertainty(a, b) for b in X.T] for a in X.T])
    for form in (np.asarray, sp.csc_array):
        for weight in (None, rng.integers(1, 3, 300)):
            found = CFS.of(form(X), y, every, weight, bins="values").many(every_set(3))
            if weight is not None:
                relevance = np.array([uncertainty(x, y, weight) for x in X.T])
                pairs = np.array([[uncertainty(a, b, weight) for b in X.T] for a in X.T])
            np.testing.assert_allclose(found, merits(relevance, pairs, every_set(3)), atol=2e-8)
        relevance = np.array([uncertainty(x, y) for x in X.T])
        pairs = np.array([[uncertainty(a, b) for b in X.T] for a in X.T])


def test_only_rows_of_used_columns_are_computed() -> None:
    rng = generator(0)
    X, y = rng.integers(0, 3, (40, 3000)).astype(float), np.arange(40) % 2
    measure = CFS.of(X, y, bins="values")
    measure.add(np.array([5, 2900]), np.arange(100, 200))
    assert measure._pairs.table.shape[0] <= 4
    measure.remove(np.array([5, 17, 2900]), np.array([5]))
    assert np.flatnonzero(measure._pairs.place >= 0).tolist() == [5, 17, 2900]


def test_a_pair_has_one_value_whichever_row_is_computed_first() -> None:
    class Uneven:
        def rows(self, columns):
            return 10.0 * columns[:, None] + np.arange(5.0)

    pairs = PairRows(Uneven(), 5, 1.0)
    pairs.of(np.array([3]))
    found = pairs.of(np.array([4, 0, 3]))
    among = found[:, [4, 0, 3]]
    np.testing.assert_array_equal(among, among.T)
    np.testing.assert_array_equal(among.diagonal(), 1.0)
    assert pairs.of(np.arange(5)).shape == (5, 5)
    np.testing.assert_array_equal(pairs.of(np.arange(5)), pairs.of(np.arange(5)).T)


@given(st.data(), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_the_merit_kernel_equals_its_twin_to_the_bit(data, n) -> None:
    grid = st.integers(0, 2**30).map(lambda v: v / 2**30)
    table = np.triu(data.draw(hnp.arrays(np.float64, (n, n), elements=grid)), 1)
    table += table.T
    relevance = data.draw(hnp.arrays(np.float64, n, elements=grid))
    sets = data.draw(hnp.arrays(np.bool_, (9, n)))
    place = generator(0).permutation(n)
    shuffled = np.empty_like(table)
    shuffled[place] = table
    out = np.empty(9)
    subset_merits(sets, relevance, shuffled, place, out)
    total, size = np.einsum("si,ij,sj->s", sets, table, sets), sets.sum(axis=1)
    expected = np.divide(sets @ relevance, np.sqrt(size + total), out=np.zeros(9), where=size > 0)
    np.testing.assert_array_equal(out, expected)


# Inconsistency


def inconsistency(X, y, columns, weight) -> float:
    """By a counter for each pattern."""
    patterns: dict = defaultdict(Counter)
    for row, own, w in zip(np.where(np.isnan(X), "missing", (X + 0.0).astype(str)), y, weight, strict=True):
        patterns[tuple(row[columns])][own] += w
    return sum(sum(count.values()) - max(count.values()) for count in patterns.values()) / sum(weight)


@given(table=tables(missing=True), data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_inconsistency_is_that_of_a_counter(table, data) -> None:
    X, y = table
    weight = data.draw(hnp.arrays(np.intp, y.size, elements=st.integers(1, 4)))
    sets = every_set(X.shape[1])
    expected = np.array([inconsistency(X, y, np.flatnonzero(row), weight) for row in sets])
    for form in (np.asarray, sp.csr_array):
        measure = Inconsistency.of(form(X), y, sample_weight=weight, bins="values")
        np.testing.assert_allclose(measure.many(sets), -expected, rtol=0, atol=1e-15)
        for threshold in (0.0, 0.05, 0.2, float(expected.min()), float(np.median(expected))):
            np.testing.assert_array_equal(measure.consistent(sets, threshold), expected <= threshold + 1e-12)


@given(table=tables(missing=True))
@settings(max_examples=30, deadline=None)
def test_more_columns_are_never_less_consistent(table) -> None:
    measure = Inconsistency.of(*table)
    sets = every_set(measure.n_features)
    scores = measure.many(sets)
    for j in range(measure.n_features):
        without = np.flatnonzero(~sets[:, j])
        assert (scores[without | 1 << j] >= scores[without]).all()


def test_inconsistency_with_fractions_as_weights() -> None:
    X, y = planted(60, 4)
    X, weight = np.round(X), generator(0).random(60)
    measure = Inconsistency.of(X, y, sample_weight=weight, bins="values")
    check_methods(measure, 1e-12)
    expected = [-inconsistency(X, y, np.flatnonzero(row), weight) for row in every_set(4)]
    np.testing.assert_allclose(measure.many(every_set(4)), expected, atol=1e-12)


def test_inconsistency_of_columns_with_more_states_than_a_byte() -> None:
    rng = generator(0)
    X = np.column_stack([rng.integers(0, 200, 400), rng.integers(0, 2, 400)]).astype(float)
    y = rng.integers(0, 2, 400)
    measure = Inconsistency.of(X, y, np.array([True, True]))
    expected = [-inconsistency(X, y, np.flatnonzero(row), np.ones(400)) for row in every_set(2)]
    np.testing.assert_allclose(measure.many(every_set(2)), expected, atol=1e-15)


def test_the_partition_kernel_equals_its_twin() -> None:
    rng = generator(0)
    for dtype in (np.int8, np.int32):
        codes, y = rng.integers(0, 4, (2, 50)).astype(dtype), rng.integers(0, 3, 50)
        rows, starts = np.arange(50, dtype=np.int32), np.array([0, 50])
        for column in codes:
            out_rows, out_starts = np.empty_like(rows), np.empty(rows.size + 1, dtype=np.int64)
            n = refine(column, 4, y, rows, starts, out_rows, out_starts)
            rows, starts = out_rows[: out_starts[n]].copy(), out_starts[: n + 1].copy()
        found = {frozenset(rows[a:b].tolist()) for a, b in pairwise(starts)}
        patterns = defaultdict(set)
        for i in range(50):
            patterns[tuple(codes[:, i])].add(i)
        mixed = {frozenset(block) for block in patterns.values() if len({y[i] for i in block}) > 1}
        assert found == mixed


# BIC


def schwarz(X, y, columns, weight) -> float:
    """Minus the criterion, by least squares on the rows."""
    n, classes = weight.sum(), np.unique(y)
    design = np.column_stack([np.ones(y.size), X[:, columns]]) * np.sqrt(weight)[:, None]
    value = 0.0
    for c in classes[1:] if classes.size == 2 else classes:
        target = (y == c) * np.sqrt(weight)
        coef = np.linalg.lstsq(design, target, rcond=None)[0]
        value += n * np.log(((target - design @ coef) ** 2).sum() / n) + (len(columns) + 1) * np.log(n)
    return -value


@pytest.mark.parametrize("n_classes", [2, 4])
def test_bic_is_that_of_least_squares(n_classes) -> None:
    X, y = planted(90, 6, n_classes)
    X = X * [1.0, 1e-4, 300.0, 1.0, 1.0, 1.0] + [0, 0, 0, 50, 0, 0]
    X[:, 5] = X[:, 0] - 2 * X[:, 3]
    X[:, 4] = 3.0
    weight = generator(0).integers(1, 4, 90).astype(float)
    sets = every_set(6)
    expected = [schwarz(X, y, np.flatnonzero(row), weight) for row in sets]
    measure = BIC.of(X, y, sample_weight=weight)
    np.testing.assert_allclose(measure.many(sets), expected, rtol=1e-8)
    check_methods(measure, 1e-8)


def test_a_perfect_fit_and_more_columns_than_rows() -> None:
    rng = generator(0)
    y = np.arange(12) % 2
    X = np.column_stack([y, 1.0 - y, rng.normal(size=(12, 20))])
    measure = BIC.of(X, y)
    perfect, both = measure.add(NOTHING, np.array([0]))[0], measure.add(np.array([0]), np.array([1]))[0]
    assert both == pytest.approx(perfect - np.log(12))
    assert measure.many(np.ones((1, 22), dtype=bool))[0] == pytest.approx(perfect - 21 * np.log(12))
    assert measure.remove(np.array([0, 1]), np.array([0]))[0] == pytest.approx(perfect)


@given(st.integers(0, 1000), st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=12))
@settings(max_examples=40)
def test_a_fit_does_not_depend_on_the_sets_before(seed: int, sets: list[set[int]]) -> None:
    rng = generator(seed)
    X = rng.normal(size=(30, 8)) + rng.normal(size=(30, 1))
    X[:, 6], X[:, 7] = 2.0, X[:, 0] + X[:, 1]
    numbers = Pearson(X, np.ones(30), "a test")
    targets = numbers.with_targets(rng.normal(size=(30, 2)) + X[:, [1]])
    moved = LeastSquares(numbers, targets)
    for one in sets:
        columns, anew = np.array(sorted(one), dtype=np.intp), LeastSquares(numbers, targets)
        moved.move(columns)
        anew.move(columns)
        # Of dependent columns, those that joined first are used.
        assert moved.used.size == anew.used.size
        np.testing.assert_allclose(moved.solved @ moved.solved.T, anew.solved @ anew.solved.T, atol=1e-10)
        np.testing.assert_allclose(moved.rest(np.arange(8)), anew.rest(np.arange(8)), atol=1e-10)
        np.testing.assert_allclose(moved.left, anew.left, atol=1e-10)
        if set(moved.used) != set(anew.used):
            continue
        order = [moved.used.tolist().index(j) for j in anew.used]
        for here, there in zip(moved.coefficients(), anew.coefficients(), strict=True):
            np.testing.assert_allclose(here[..., order], there, rtol=1e-8, atol=1e-8)


@given(st.data(), st.integers(1, 6), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_the_least_squares_kernel_equals_its_twin(data, n, n_targets) -> None:
    rng = generator(data.draw(st.integers(0, 1000)))
    Z = rng.normal(size=(20, n + n_targets))
    Z = (Z - Z.mean(axis=0)) / np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=0))
    table, targets = Z[:, :n].T @ Z[:, :n], np.ascontiguousarray(Z[:, n:].T @ Z[:, :n])
    sets = every_set(n)
    out = np.empty((sets.shape[0], n_targets))
    explained_shares(sets, table, np.arange(n), targets, 1e-7, out)
    for row, got in zip(sets, out, strict=True):
        some = np.flatnonzero(row)
        inverse = np.linalg.inv(table[np.ix_(some, some)])
        np.testing.assert_allclose(
            got, np.einsum("ti,ij,tj->t", targets[:, some], inverse, targets[:, some]), atol=1e-9
        )


# Convex networks


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "exponential"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cn_is_the_optimum_of_the_classifier(loss, n_classes) -> None:
    X, y = planted(50, 4, n_classes)
    weight = generator(0).integers(1, 3, 50).astype(float)
    sets = every_set(4)[1:]
    for class_weight in (None, "balanced"):
        how = {"loss": loss, "penalty": 0.3, "class_weight": class_weight}
        measure = ConvexOptimum.of(X, y, sample_weight=weight, **how)
        expected = [
            -ConvexNet(basis=lambda Z, row=row: Z[:, row], **how).fit(X, y, sample_weight=weight).objective_.sum()
            for row in sets
        ]
        np.testing.assert_allclose(measure.many(sets), expected, rtol=1e-9)


def test_more_columns_never_raise_cn() -> None:
    measure = ConvexOptimum.of(*planted(60, 5))
    sets = every_set(5)
    scores = measure.many(sets)
    for j in range(5):
        without = np.flatnonzero(~sets[:, j])
        assert (scores[without | 1 << j] >= scores[without] - 1e-9).all()
    assert scores[0] == pytest.approx(-3 * 60 * np.log(2))


# Classifiers


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        RidgeClassifier(),
        DecisionTreeClassifier(max_features=2, max_depth=3),
    ],
    ids=str,
)
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_the_accuracy_is_that_of_refits(model, scoring) -> None:
    X, y = planted(60, 4)
    labels = np.array(["a", "b", "c"])
    measure = ClassifierAccuracy.of(X, y, model, classes=labels, scoring=scoring, cv=4, random_state=3)
    sets = every_set(4)
    expected = np.empty((4, 16))
    for f, fold in enumerate(measure.score.folds):
        for i, row in enumerate(sets):
            if row.any():
                fitted = clone(fold.model).fit(X[fold.train][:, row], labels[y[fold.train]])
                right = fitted.predict(X[fold.test][:, row]) == labels[y[fold.test]]
            else:
                right = y[fold.test] == np.bincount(y[fold.train]).argmax()
            each = [right[y[fold.test] == c].mean() for c in np.unique(y[fold.test])]
            expected[f, i] = right.mean() if scoring == "accuracy" else np.mean(each)
    np.testing.assert_allclose(measure.many(sets), expected.mean(axis=0), atol=1e-12)
    check_methods(measure, 1e-15)


def test_a_classifier_that_follows_a_column_is_not_refitted(monkeypatch) -> None:
    X, y = planted()
    measure = ClassifierAccuracy.of(X, y, random_state=0)
    monkeypatch.setattr(fallback, "refitted", None)
    monkeypatch.setattr("tamis.incremental.scored_folds.refitted", None)
    check_methods(measure, 1e-15)


def test_workers_do_not_change_the_accuracy() -> None:
    X, y = planted()
    sets = generator(0).random((12, 7)) < 0.5
    model = DecisionTreeClassifier(max_features=1)
    with parallel_config(backend="threading"):
        one, two = (ClassifierAccuracy.of(X, y, model, n_jobs=n, random_state=0).many(sets) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_caution_lowers_the_score() -> None:
    X, y = planted()
    every = np.ones((1, 7), dtype=bool)
    assert ClassifierAccuracy.of(X, y, caution=1.0, random_state=0).many(every) < ClassifierAccuracy.of(
        X, y, random_state=0
    ).many(every)


# Input


@pytest.mark.parametrize("name", MEASURES)
def test_classes_are_checked(name) -> None:
    make, _ = MEASURES[name]
    X, _ = planted(10, 3)
    for y in (np.zeros(9, dtype=int), np.array(["a"] * 10), np.full(10, -1)):
        with pytest.raises(TamisError, match="class code"):
            make(X, y)
    if name in ("pearson", "bic", "classifier"):
        with pytest.raises(TamisError, match="finite number"):
            make(X, np.append(np.arange(9) / 2, np.nan))
    else:
        with pytest.raises(TamisError, match="is for classes, and the target holds numbers"):
            make(X, np.arange(10) / 2)


@pytest.mark.parametrize("name", NUMBERS)
def test_measures_of_numbers_refuse_what_is_none(name) -> None:
    make, _ = MEASURES[name]
    X, y = planted(20, 3)
    with pytest.raises(TamisError, match="column 1"):
        make(X, y, nominal=np.array([False, True, False]))
    X[3, 1] = np.nan
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(TamisError, match="missing values"):
            make(form(X), y)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_checked(name) -> None:
    make, _ = MEASURES[name]
    X, y = planted(10, 3)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        make(X, y, sample_weight=np.full(10, -1.0))
    with pytest.raises(ValueError, match="zero"):
        make(X, y, sample_weight=np.zeros(10))
    with pytest.raises(TamisError, match="nominal"):
        make(X, y, nominal=[True])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: CFS.of(X, y, correlation="kendall"), "correlation.*kendall"),
        (lambda X, y: CFS.of(X, y, bins="square"), "bins.*square"),
        (lambda X, y: Inconsistency.of(X, y, bins="square"), "bins.*square"),
        (lambda X, y: ConvexOptimum.of(X, y, loss="hinge"), "loss.*hinge"),
        (lambda X, y: ConvexOptimum.of(X, y, penalty=0.0), "penalty"),
        (lambda X, y: ConvexOptimum.of(X, y, class_weight="none"), "class_weight.*none"),
        (lambda X, y: ConvexOptimum.of(1e200 * X, y), "1e100"),
        (lambda X, y: ClassifierAccuracy.of(X, y, scoring="auc"), "scoring.*auc"),
        (lambda X, y: ClassifierAccuracy.of(X, y, "tree"), "estimator"),
        (lambda X, y: ClassifierAccuracy.of(X[:3], np.arange(3)), "two rows"),
    ],
)
def test_a_wrong_parameter_is_named(make, words) -> None:
    with pytest.raises((TamisError, TypeError), match=words):
        make(*planted(20, 3))


def test_kernels_declare_the_types_they_are_called_with() -> None:
    rng = generator(0)
    y = np.arange(40) % 2
    X = rng.integers(0, 3, (40, 5)).astype(float)
    X[:, 0] = rng.permutation(40)
    for nominal in (None, np.ones(5, dtype=bool)):
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            for dtype in (np.float32, np.float64):
                for make in (CFS.of, Inconsistency.of):
                    measure = make(form(X.astype(dtype)), y, nominal)
                    measure.many(every_set(5))
                    measure.remove(np.arange(3), np.arange(3))
                BIC.of(form(X.astype(dtype)), y).many(every_set(5))
    for one in (subset_merits, set_losses, refine, dense_cells, stored_cells, explained_shares):
        used = set(one._ready)
        one.warm()
        assert used <= one._ready
        assert len(one._ready) == len(one.signatures)
