"""Marker genes: folds in closed form, the test against scipy's, planted markers, and samples of all kinds."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tamis.base.errors import TamisError
from tamis.data.synthetic.infection import infection
from tamis.genes import Expression, find_markers
from tamis.genes.fold_regulation import fold_test, log2_fold
from tamis.genes.pattern_groups import pattern_groups

NAN = np.nan


def made(ill, well, times=None, **options):
    ill, well = np.asarray(ill, dtype=float), np.asarray(well, dtype=float)
    times = range(ill.shape[1]) if times is None else times
    conditions = ["ill"] * ill.shape[1] + ["mock"] * well.shape[1]
    return Expression.of(np.hstack([ill, well]), times=[*times, *times], conditions=conditions, **options)


@pytest.fixture(scope="module")
def planted():
    data = infection()
    return data, find_markers(Expression.of_dataset(data))


# --- folds


def test_folds_in_closed_form():
    fold = log2_fold(np.array([8.0, 1.0, 5.0, 0.0, -4.0, NAN, 3.0]), np.array([1.0, 8.0, 5.0, 1.0, -2.0, 1.0, 0.0]))
    np.testing.assert_array_equal(fold, [3.0, -3.0, 0.0, NAN, NAN, NAN, NAN])


def test_the_test_of_one_time_is_students():
    rng = np.random.default_rng(0)
    X = rng.lognormal(5, 0.3, (6, 7))
    data = Expression.of(X, times=[4.0] * 7, conditions=["ill"] * 4 + ["mock"] * 3)
    found = fold_test(data, "ill", "mock", np.array([4.0]))
    expected = stats.ttest_ind(np.log2(X[:, :4]), np.log2(X[:, 4:]), axis=1).pvalue
    np.testing.assert_allclose(found.p, expected)
    np.testing.assert_allclose(found.q, stats.false_discovery_control(expected))


def test_the_test_of_two_times_is_a_contrast_of_an_analysis_of_variance():
    rng = np.random.default_rng(1)
    X = rng.lognormal(5, 0.3, (1, 10))
    times, conditions = np.array([1, 1, 2, 2, 2, 1, 1, 1, 2, 2]), ["ill"] * 5 + ["mock"] * 5
    found = fold_test(Expression.of(X, times=times, conditions=conditions), "ill", "mock", np.array([1.0, 2.0]))
    design = np.column_stack([(np.array(conditions) == c) & (times == t) for c in ("ill", "mock") for t in (1, 2)])
    design, y, contrast = design.astype(float), np.log2(X[0]), np.array([0.5, 0.5, -0.5, -0.5])
    beta, (rest,), *_ = np.linalg.lstsq(design, y)
    error = np.sqrt(rest / 6 * contrast @ np.linalg.inv(design.T @ design) @ contrast)
    np.testing.assert_allclose(found.p, 2 * stats.t.sf(abs(contrast @ beta) / error, 6))


def test_without_replicates_there_is_no_test_and_without_spread_no_p():
    assert fold_test(made([[1, 2]], [[1, 2]]), "ill", "mock", np.array([1.0])) is None
    same = Expression.of([[2.0, 2.0, 1.0, 1.0]], times=[0] * 4, conditions=["ill"] * 2 + ["mock"] * 2)
    found = fold_test(same, "ill", "mock", np.array([0.0]))
    assert np.isnan(found.p).all()
    assert np.isnan(found.q).all()


def test_q_values_of_genes_alike_are_those_of_noise():
    rng = np.random.default_rng(2)
    X = rng.lognormal(8, 0.1, (3000, 8))
    data = Expression.of(X, times=[0] * 8, conditions=["ill", "mock"] * 4)
    found = fold_test(data, "ill", "mock", np.array([0.0]))
    assert stats.kstest(found.p, "uniform").pvalue > 0.001
    assert (found.q < 0.05).sum() == 0


# --- planted markers


def test_planted_markers_are_found(planted):
    data, found = planted
    true, markers = set(data.feature_names[data.roles == "informative"]), set(found.markers)
    assert len(true) == 120
    assert len(true & markers) >= 0.95 * len(true)
    assert len(markers - true) <= 0.02 * len(markers)


@pytest.mark.parametrize("seed", [1, 2])
def test_other_markers_are_found_too(seed):
    data = infection(n_genes=3000, seed=seed)
    # The hierarchy has no part in which genes are markers.
    markers = set(find_markers(Expression.of_dataset(data), level=0).markers)
    true = set(data.feature_names[data.roles == "informative"])
    assert len(true & markers) >= 0.95 * len(true)
    assert len(markers - true) <= 0.02 * len(markers)


def test_without_an_infection_there_are_no_markers():
    data = infection(n_genes=2000, seed=3)
    mock = data.rows(data.y == "mock")
    again = infection(n_genes=2000, n_rows=32, seed=3)
    half = Expression.of_dataset(replace(mock, y=np.where(np.arange(mock.n_rows) < 8, "ill", "mock")))
    assert again.n_rows == 32
    assert find_markers(half, level=1).is_marker.sum() == 0


def test_the_steps_are_consistent(planted):
    _, found = planted
    assert found.kept.sum() == 6800 - sum(one.removed for one in found.filters)
    assert (found.groups >= 0).sum() == found.kept.sum()
    assert (found.groups[~found.kept] == -1).all()
    for group in found.marker_groups[:20]:
        assert len(set(found.clusters[found.groups == group].tolist())) == 1
    table = found.table()
    assert table.columns[:4] == ["gene", "group", "direction", "q"]
    assert table.columns[4:] == [f"fold {t}" for t in ("0.5", "2", "4", "8", "16", "24", "48", "72")]
    assert ((table["fold 72"] > 0) == (table["direction"] == "up")).all()
    assert (table.select("fold 48", "fold 72").to_numpy().__abs__() >= 1.5).all()
    weakest = np.abs(table.select("fold 48", "fold 72").to_numpy()).min(axis=1)
    assert (np.diff(weakest) <= 0).all()
    assert (table["q"] < 0.05).all()


def test_a_large_matrix_is_quick(planted):
    data, _ = planted
    expression = Expression.of_dataset(data.rows(np.arange(24)))
    start = time.process_time()
    find_markers(expression, level=3)
    assert time.process_time() - start < 20


# --- decisions


def test_a_marker_is_regulated_in_one_direction_at_all_late_times():
    well = np.full((5, 3), 100.0)
    ill = [[100, 300, 300], [100, 300, 100], [100, 30, 300], [100, 30, 30], [900, 100, 280]]
    found = find_markers(made(ill, well), normalize=False)
    assert found.is_marker.tolist() == [True, False, False, True, False]
    assert found.table()["direction"].to_list() == ["down", "up"]
    assert find_markers(made(ill, well), normalize=False, n_late=1).is_marker.tolist() == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert find_markers(made(ill, well), normalize=False, n_late=9, min_fold=0.0).is_marker.sum() == 4


def test_replicates_are_averaged():
    data = Expression.of([[2.0, 4.0, 9.0, NAN]], times=[1, 1, 1, 1], conditions=["a", "a", "b", "b"])
    assert data.profiles("a").tolist() == [[3.0]]
    assert data.profiles("b").tolist() == [[9.0]]


def test_the_order_of_samples_does_not_count(planted):
    data, _ = planted
    own = Expression.of_dataset(data.rows(np.arange(32)))
    order = np.random.default_rng(0).permutation(32)
    turned = replace(
        own,
        values=own.values[:500, order],
        genes=own.genes[:500],
        samples=own.samples[order],
        times=own.times[order],
        conditions=own.conditions[order],
    )
    first = find_markers(replace(own, values=own.values[:500], genes=own.genes[:500]))
    second = find_markers(turned)
    assert first.markers.tolist() == second.markers.tolist()
    np.testing.assert_allclose(first.fold, second.fold)


def test_values_that_are_missing_zero_or_negative():
    ill = [[100, 300, 900], [100, NAN, 900], [100, 0, 900], [100, -5, 900], [100, 400, -900]]
    found = find_markers(made(ill, np.full((5, 3), 100.0)), normalize=False, min_present=50.0)
    assert found.is_marker.tolist() == [True, False, False, False, False]
    assert np.isnan(found.fold[1:4, 1]).all()
    assert found.groups.tolist() == [0, -1, -1, -1, -1]
    assert found.notes == ("genes in no group, for a value is missing or not positive at some time: 4",)
    early = find_markers(made(ill, np.full((5, 3), 100.0)), normalize=False, min_present=50.0, n_late=1)
    assert early.is_marker.tolist() == [True, True, True, True, False]


def test_one_time_point():
    found = find_markers(made([[400.0], [100.0]], [[100.0], [90.0]], times=[24]), normalize=False)
    assert found.markers.tolist() == ["gene 1"]
    assert found.n_groups == 0
    assert found.table().to_dicts() == [{"gene": "gene 1", "group": None, "direction": "up", "fold 24": 2.0}]
    assert found.notes == ("there is one time point, so that there are no patterns over time",)


def test_genes_that_are_equal_share_a_group():
    ill = [[100, 300, 900]] * 3 + [[50, 60, 40]]
    found = find_markers(made(ill, np.full((4, 3), 100.0)), normalize=False, delta=0.0)
    assert found.groups.tolist() == [0, 0, 0, 1]
    assert [one.genes for one in found.p_clusters] == [(0, 1, 2)]
    assert found.to_dict()["p_clusters"] == [{"genes": ["gene 1", "gene 2", "gene 3"], "times": [0.0, 1.0, 2.0]}]


def test_no_gene_is_left():
    found = find_markers(made([[1.0, 1.0]], [[1.0, 1.0]]), normalize=False, delta=1.0)
    assert found.kept.sum() == 0
    assert found.table().height == 0
    assert found.to_dict()["clusters"] == []
    assert found.p_clusters == []


def test_a_time_with_one_condition_alone():
    data = Expression.of([[100, 400, 900, 100, 100.0]], times=[0, 4, 8, 0, 4], conditions=["ill"] * 3 + ["mock"] * 2)
    found = find_markers(data, normalize=False, n_late=1)
    assert found.late.tolist() == [4.0]
    np.testing.assert_array_equal(found.fold, [[0.0, 2.0, NAN]])
    assert found.notes == ("only one condition has samples at 8: there is no fold then",)
    with pytest.raises(TamisError, match="no time point has samples of both 'ill' and 'mock'"):
        find_markers(Expression.of([[1.0, 2.0]], times=[0, 1], conditions=["ill", "mock"]), normalize=False)


def test_logarithms():
    ill, well = [[6.0, 9.0, 11.0], [6.0, 7.0, 6.0]], [[6.0, 6.0, 6.0], [6.0, 7.0, 6.0]]
    found = find_markers(made(ill, well), log2=True, normalize=False)
    np.testing.assert_allclose(found.fold, np.subtract(ill, well))
    assert "no value is above 25: if they are logarithms" in find_markers(made(ill, well)).notes[0]
    with pytest.raises(TamisError, match="a value is above 1000, so that they are no logarithms"):
        find_markers(made([[2000.0, 3.0]], [[1.0, 2.0]]), log2=True)


@pytest.mark.parametrize(
    ("conditions", "options", "message"),
    [
        (["a", "b"], {}, "name the control with --control; the conditions are 'a', 'b'"),
        (["a", "a"], {"control": "a"}, "one other, or --treated, is needed; the conditions are 'a'"),
        (["a", "b", "c"], {"control": "a"}, "one other, or --treated, is needed"),
        (["mock", "b"], {"control": "c"}, "control 'c' is no condition; there are 'b', 'mock'"),
        (["mock", "b"], {"control": "b", "treated": "b"}, "treated and control are both 'b'"),
        (["mock", "control"], {}, "name the control"),
        (["mock", "b"], {"n_late": 0}, "n_late must be a whole number of 1 or more; got 0"),
        (["mock", "b"], {"min_fold": -1.0}, "min_fold must be a finite number of 0 or more"),
        (["mock", "b"], {"metric": "cosine"}, "metric must be one of correlation, euclidean; got 'cosine'"),
    ],
)
def test_what_is_refused(conditions, options, message):
    n = len(conditions)
    with pytest.raises(TamisError, match=message):
        find_markers(Expression.of([[100.0] * n], times=[0] * n, conditions=conditions), **options)


def test_the_control_is_found_by_its_name_or_by_the_other():
    three = Expression.of([[100.0, 200.0, 300.0]], times=[0] * 3, conditions=["Mock", "flu", "cold"])
    found = find_markers(three, treated="flu", normalize=False)
    assert (found.control, found.treated, found.expression.samples.size) == ("Mock", "flu", 2)
    two = Expression.of([[100.0, 200.0]], times=[0] * 2, conditions=["a", "b"])
    assert find_markers(two, treated="b", normalize=False).control == "a"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"values": [[np.inf, 1.0]]}, "gene 'gene 1', sample 'sample 1': the value is infinite"),
        ({"values": np.empty((0, 2))}, "values must have genes and samples"),
        ({"times": [0, NAN]}, "sample 'sample 2' has no time"),
        ({"times": [0]}, "one time for each of 2"),
        ({"samples": ["s", "s"]}, "sample 's' occurs twice"),
        ({"values": [[1.0, 2.0]] * 2, "genes": ["g", "g"]}, "gene 'g' occurs twice"),
    ],
)
def test_matrices_that_are_refused(given, message):
    with pytest.raises(TamisError, match=message):
        Expression.of(**{"values": [[1.0, 2.0]], "times": [0, 1], "conditions": ["a", "b"], **given})


# --- the generated infection


def test_the_courses_of_the_infection_are_as_described():
    data = infection(n_genes=2000, n_markers=100, noise=0.0, seed=5)
    own = Expression.of_dataset(data)
    # Without noise the brightness of a chip is the median of its logarithms less that of another.
    logs = np.log2(own.values)
    mock = np.array([logs[:, (own.times == t) & (own.conditions == "mock")].mean(axis=1) for t in own.time_points])
    ill = np.array([logs[:, (own.times == t) & (own.conditions == "infected")].mean(axis=1) for t in own.time_points])
    fold = ill - mock
    fold -= np.median(fold, axis=1, keepdims=True)
    marked, some = data.roles[1:] == "informative", data.roles[1:] == "redundant"
    assert marked.sum() == 100
    assert (np.abs(fold[-1, marked]) > 2.15).all()
    assert (np.abs(fold[-1, marked]) < 4.05).all()
    assert (fold[-2, marked] / fold[-1, marked] > 0.88).all()
    assert (np.abs(fold[:2, marked]) < 0.6).all()
    assert (np.abs(fold[-1, some]) < 0.95).all()
    assert (np.abs(fold[:, some]).max(axis=0) > 0.2).all()
    assert np.abs(fold[:, ~marked & ~some]).max() < 0.05
    assert ((mock.max(axis=0) - mock.min(axis=0))[~marked & ~some] > 0.2).mean() > 0.05


def test_noise_hides_the_groups_not_the_markers():
    quiet, loud = (infection(n_genes=800, n_markers=40, noise=noise) for noise in (0.0, 0.2))
    groups = [pattern_groups(Expression.of_dataset(d).profiles("mock")).max() for d in (quiet, loud)]
    assert groups[0] < groups[1]
    assert find_markers(Expression.of_dataset(loud), level=1).is_marker.sum() >= 38
