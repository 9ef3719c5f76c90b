"""The features panel: order and shares, agreement of selectors, correlations and histograms against plain oracles."""

import json
from collections import Counter
from time import perf_counter

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import fcluster, linkage

from tamis.compose.quick_scores import best, has_classes, scores
from tamis.data.dataset import Dataset
from tamis.reporting.distributions import distributions
from tamis.reporting.features import features
from tamis.reporting.redundancy import redundancy
from tamis.scores import cc, ssv
from tamis.validation.stability import stability

HOSTILE = ["<script>alert(1)</script>", "x" * 300, "\u202eright to left \u05d0", "\U0001f600", "a\nb\t\"'&", ""]


def named(X, y, **known) -> Dataset:
    return Dataset(X, np.asarray(y), np.array([f"f{j}" for j in range(X.shape[1])]), **known)


def told(facts) -> dict:
    """The facts after a journey through JSON, which must not change them."""
    back = json.loads(json.dumps(facts, allow_nan=False))
    assert back == facts
    return back


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 30))
    X[:, 4] += 2 * y
    X[:, 7] += y
    X[np.abs(X) < 0.3] = 0.0
    return X, y


@pytest.fixture(scope="module")
def mixed() -> Dataset:
    """Two numeric columns, one with gaps, and two nominal ones, one with gaps."""
    frame = pl.DataFrame(
        {
            "size": [1.5, None, 3.5, 4.0, 5.0, 6.0],
            "colour": ["red", "red", "blue", None, "blue", "red"],
            "weight": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0],
            "nothing": pl.Series([None] * 6, dtype=pl.String),
        }
    )
    return Dataset(frame, np.array(["a", "a", "a", "b", "b", "b"]), np.array(frame.columns))


def test_used_come_first_then_often_chosen_then_high_scores(problem) -> None:
    X, y = problem
    kept = [np.array([4, 7, 20]), np.array([4, 9]), np.array([4, 7]), np.array([4])]
    found = told(features(named(X, y), used=np.array([9, 4]), kept=kept, sets={}))
    table = found["table"]
    values = cc(X, y)
    share = {4: 1.0, 7: 0.5, 9: 0.25, 20: 0.25}
    columns = [int(name[1:]) for name in table["name"]]
    expected = sorted(range(30), key=lambda j: (j not in (9, 4), -share.get(j, 0.0), -values[j]))
    assert columns == expected
    assert columns[:4] == [4, 9, 7, 20]
    assert table["chosen"] == [share.get(j, 0.0) for j in columns]
    assert table["used"] == [j in (9, 4) for j in columns]
    np.testing.assert_allclose(table["score"], values[columns], rtol=1e-5)
    order = np.argsort(-values, kind="stable")
    assert table["rank"] == [int(np.flatnonzero(order == j)[0]) + 1 for j in columns]
    assert (found["score_name"], found["n"], found["left_out"], table["role"]) == ("cc", 30, 0, None)


def test_stability_is_that_of_the_folds(problem) -> None:
    X, y = problem
    kept = [np.array([4, 7, 20]), np.array([4, 9]), np.array([4, 7])]
    found = features(named(X, y), used=None, kept=kept, sets={})
    expected = stability(kept, 30)
    low, high = expected.interval
    assert found["stability"] == {"index": expected.index, "low": low, "high": high}
    assert features(named(X, y), used=None, kept=kept[:1], sets={})["stability"] is None


def test_unknown_choices_are_none_and_not_false(problem) -> None:
    table = told(features(named(*problem), used=None, kept=None, sets={}))["table"]
    assert set(table["used"]) == set(table["chosen"]) == {None}
    np.testing.assert_array_equal(table["rank"], np.arange(1, 31))


def test_probes_added_by_validation_are_not_listed(problem) -> None:
    X, y = problem
    kept = [np.array([4, 31]), np.array([4, 55])]
    found = features(named(X, y), used=np.array([4, 31]), kept=kept, sets={})
    assert len(found["table"]["name"]) == 30
    assert found["stability"]["index"] == stability(kept, 56).index


def test_roles(problem) -> None:
    X, y = problem
    roles = np.where(np.arange(30) < 10, "informative", "probe")
    table = features(named(X, y, roles=roles), used=None, kept=None, sets={})["table"]
    assert table["role"] == ["real" if int(name[1:]) < 10 else "probe" for name in table["name"]]


def test_only_the_top_thousand_and_the_chosen_are_listed() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 1500)), np.repeat([0, 1], 10)
    order = np.argsort(-cc(X, y), kind="stable")
    worst = order[-3:]
    table = features(named(X, y), used=worst[:1], kept=[worst[:2], worst[1:]], sets={})["table"]
    listed = [int(name[1:]) for name in table["name"]]
    assert listed[:3] == [worst[0], worst[1], worst[2]]
    assert listed[3:] == order[:1000].tolist()


def test_a_model_of_all_of_very_many_columns_is_cut_short() -> None:
    X = sp.random(30, 25_000, 0.1, format="csr", random_state=0)
    found = features(named(X, np.repeat([0, 1], 15)), used=np.arange(25_000), kept=[np.arange(25_000)], sets={})
    assert len(found["table"]["name"]) == 20_000
    assert found["left_out"] == 5_000
    assert max(found["table"]["rank"]) == 20_000


@given(st.lists(st.sets(st.integers(0, 15)), min_size=2, max_size=6))
def test_agreement_is_that_of_sets(chosen) -> None:
    data = named(np.arange(32.0).reshape(2, 16), [0, 1])
    sets = {f"s{i}": np.array(sorted(one), dtype=int) for i, one in enumerate(chosen)}
    found = told(features(data, used=None, kept=None, sets=sets))["selectors"]
    counted = Counter(tuple(i for i, one in enumerate(chosen) if j in one) for j in set().union(*chosen))
    assert {tuple(one["members"]): one["size"] for one in found["sets"]} == counted
    sizes = [one["size"] for one in found["sets"]]
    assert sizes == sorted(sizes, reverse=True)
    assert found["sizes"] == [len(one) for one in chosen]
    assert found["names"] == list(sets)


def test_agreement_shows_thirty_combinations_and_needs_two_selectors() -> None:
    data = named(np.arange(200.0).reshape(2, 100), [0, 1])
    rng = np.random.default_rng(0)
    sets = {f"s{i}": np.flatnonzero(rng.integers(0, 2, 100)) for i in range(8)}
    assert len(features(data, used=None, kept=None, sets=sets)["selectors"]["sets"]) == 30
    assert features(data, used=None, kept=None, sets={"one": np.array([1])})["selectors"] is None


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array])
def test_sparse_equals_dense(form, problem) -> None:
    X, y = problem
    known = {"used": np.array([4]), "kept": [np.array([4, 7]), np.array([4, 8])], "sets": {}}
    dense, sparse = features(named(X, y), **known), features(named(form(X), y), **known)
    # Sums in another order round differently.
    np.testing.assert_allclose(sparse["table"].pop("score"), dense["table"].pop("score"), rtol=1e-5)
    assert sparse == dense


def test_names_and_gaps_are_scored_by_ssv(mixed, problem) -> None:
    name, values = scores(mixed)
    assert name == "ssv"
    np.testing.assert_array_equal(values, ssv(mixed.X, mixed.y))
    X, y = problem[0].copy(), problem[1]
    X[3, 5] = np.nan
    assert scores(named(X, y))[0] == scores(named(sp.csr_array(X), y))[0] == "ssv"
    assert scores(named(*problem))[0] == "cc"


def test_mixed_columns_pass(mixed) -> None:
    found = told(features(mixed, used=np.array([1, 2]), kept=[np.array([1]), np.array([2, 0])], sets={}))
    assert found["table"]["name"][:2] == ["weight", "colour"]
    assert found["redundancy"]["names"] == ["weight", "size"]
    assert [one["kind"] for one in found["distributions"]] == ["numeric", "nominal", "numeric", "nominal"]


NO_CLASSES = [[0] * 30, np.arange(30), np.linspace(0, 1, 30), []]


@pytest.mark.parametrize(
    ("y", "expected"), [*((y, False) for y in NO_CLASSES), ([0.0, 1.0] * 15, True), (["a", "b", "c"] * 10, True)]
)
def test_what_counts_as_classes(y, expected) -> None:
    data = named(np.random.default_rng(0).normal(size=(len(y), 3)), y)
    assert has_classes(data) is expected
    found = told(features(data, used=None, kept=None, sets={}))
    assert (found["score_name"] == "cc") is expected
    assert (found["table"]["score"][0] is not None) is expected


def test_best_columns(problem) -> None:
    X, y = problem
    values = cc(X, y)
    assert best(named(X, y), 5).tolist() == sorted(np.argsort(-values)[:5].tolist())
    assert best(named(X, y), 30).tolist() == list(range(30))


def test_a_hundred_thousand_sparse_columns_are_quick() -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 800, 800_000), rng.integers(0, 100_000, 800_000)
    X = sp.csr_array((rng.normal(size=800_000), places), shape=(800, 100_000))
    data = named(X, rng.integers(0, 2, 800))
    features(data, used=None, kept=None, sets={})  # the kernels may have to be compiled
    start = perf_counter()
    kept = [np.arange(fold, 5000) for fold in range(10)]
    found = features(data, used=np.arange(5000), kept=kept, sets={"a": np.arange(9000), "b": np.arange(8000, 20_000)})
    assert perf_counter() - start < 2
    assert len(json.dumps(found, allow_nan=False)) < 1_000_000
    assert len(found["distributions"]) == 60
    assert len(found["redundancy"]["names"]) == 40


def test_names_are_passed_through_untouched() -> None:
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(12, 6)), np.array(HOSTILE * 2), np.array(HOSTILE))
    found = told(features(data, used=None, kept=None, sets={name: np.array([0]) for name in HOSTILE}))
    assert sorted(found["table"]["name"]) == sorted(HOSTILE)
    assert sorted(found["redundancy"]["names"]) == sorted(HOSTILE)
    assert sorted(one["name"] for one in found["distributions"]) == sorted(HOSTILE)
    assert {one["class"] for one in found["distributions"][0]["classes"]} == set(HOSTILE)
    assert found["selectors"]["names"] == HOSTILE


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e120])
def test_correlation_is_numpys(scale, problem) -> None:
    X, y = problem
    X = X * scale + scale
    found = told(redundancy(named(X, y), np.arange(30)))
    np.testing.assert_allclose(found["correlation"], np.abs(np.corrcoef(X, rowvar=False)), atol=1e-4)


def test_correlation_leaves_out_missing_values_pair_by_pair(problem) -> None:
    X, y = problem[0].copy(), problem[1]
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    found = np.array(redundancy(named(X, y), np.arange(30))["correlation"])
    for a, b in [(0, 1), (4, 7), (13, 29), (5, 5)]:
        both = ~np.isnan(X[:, a]) & ~np.isnan(X[:, b])
        assert found[a, b] == pytest.approx(abs(np.corrcoef(X[both, a], X[both, b])[0, 1]), abs=1e-4)


def test_clusters_are_scipys_and_lie_together() -> None:
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(100, 3))
    centres[:, 1] += 0.8 * centres[:, 0]  # alike, but not so much as to be one cluster
    X = np.repeat(centres, 4, axis=1)[:, rng.permutation(12)] + 0.3 * rng.normal(size=(100, 12))
    found = redundancy(named(X, rng.integers(0, 2, 100)), np.arange(12))
    distance = 1 - np.abs(np.corrcoef(X, rowvar=False))
    expected = fcluster(linkage(distance[np.triu_indices(12, 1)], "average"), 0.3, "distance")
    assert len(set(found["cluster"])) == 3
    same = np.equal.outer(found["cluster"], found["cluster"])
    np.testing.assert_array_equal(same, np.equal.outer(expected, expected))
    assert sorted(found["order"]) == list(range(12))
    along = [found["cluster"][j] for j in found["order"]]
    assert along == sorted(along)


def test_constant_columns_correlate_with_nothing() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[:, 1] = 0.1
    X[:, 3] = np.nan
    correlation = np.array(told(redundancy(named(X, [0, 1] * 10), np.arange(4)))["correlation"])
    for column in (1, 3):
        np.testing.assert_array_equal(np.delete(correlation[column], column), 0.0)
    assert correlation[0, 2] > 0


def test_one_numeric_column_has_no_redundancy(mixed) -> None:
    assert redundancy(mixed, [0, 1, 3]) is None
    assert redundancy(named(np.ones((4, 1)), [0, 1, 0, 1]), [0]) is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_histogram_is_numpys(form) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(500, 2)), rng.choice(["a", "b", "c"], 500)
    X[np.abs(X) < 0.5] = 0.0
    for j, one in enumerate(told(distributions(named(form(X), y), [0, 1]))):
        edges = np.linspace(*np.percentile(X[:, j], [1, 99]), 25)
        np.testing.assert_allclose(one["edges"], edges)
        for own in one["classes"]:
            inside = np.clip(X[y == own["class"], j], edges[0], edges[-1])
            assert own["counts"] == np.histogram(inside, edges)[0].tolist()
        assert one["missing"] == 0
        assert one["levels"] is None


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 40), st.just(1)),
        elements=st.one_of(st.just(np.nan), st.sampled_from([0.0, 1.0, 2.0]), st.floats(-1e100, 1e100)),
    )
)
def test_every_row_is_counted_once(X) -> None:
    y = np.arange(X.shape[0]) % 2
    one = told(distributions(named(X, y), [0]))[0]
    known = ~np.isnan(X[:, 0])
    assert one["missing"] == (~known).sum()
    for label, own in zip(sorted(set(y)), one["classes"], strict=True):
        assert sum(own["counts"]) == (known & (y == label)).sum()
        assert len(own["counts"]) == len(one["edges"]) - 1
    assert np.all(np.diff(one["edges"]) >= 0)


def test_few_values_have_a_bin_each() -> None:
    X = np.array([[0.0, 5.0], [1.0, 5.0], [1.0, 5.0], [4.0, 5.0], [np.nan, 5.0]])
    first, constant = distributions(named(X, ["a", "a", "b", "b", "b"]), [0, 1])
    assert first["edges"] == [-0.5, 0.5, 2.5, 5.5]
    assert [own["counts"] for own in first["classes"]] == [[1, 1, 0], [0, 1, 1]]
    assert first["missing"] == 1
    assert constant["edges"] == [4.5, 5.5]
    assert [own["counts"] for own in constant["classes"]] == [[2], [3]]


def test_a_value_on_an_edge_belongs_above_it() -> None:
    X = np.repeat(np.arange(25.0), 40)[:, None]
    one = distributions(named(X, [0] * 1000), [0])[0]
    assert one["edges"] == list(range(25))
    assert one["classes"][0]["counts"] == [40] * 23 + [80]


def test_rare_values_of_a_sparse_column_are_seen() -> None:
    X = np.zeros((2000, 1))
    X[:15, 0] = np.arange(1, 16)
    one = distributions(named(sp.csr_array(X), [0, 1] * 1000), [0])[0]
    counts = np.sum([own["counts"] for own in one["classes"]], axis=0)
    assert (one["edges"][0], one["edges"][-1]) == (0, 15)
    assert counts[0] == 1985
    assert counts[1:].sum() == 15


def test_levels_are_counted(mixed) -> None:
    colour, nothing = told(distributions(mixed, [1, 3]))
    assert colour["kind"] == "nominal"
    assert colour["levels"] == ["red", "blue"]
    assert colour["classes"] == [{"class": "a", "counts": [2, 1]}, {"class": "b", "counts": [1, 1]}]
    assert (colour["missing"], colour["edges"]) == (1, None)
    assert (nothing["missing"], nothing["levels"]) == (6, [])


def test_rare_levels_and_small_classes_are_put_together() -> None:
    levels = [f"l{k:02}" for k in range(25) for _ in range(k + 1)]
    y = np.array([f"c{row % 20 if row % 3 else 7:02}" for row in range(len(levels))])
    frame = pl.DataFrame({"level": levels, "number": np.arange(float(len(levels)))})
    one = distributions(Dataset(frame, y, np.array(frame.columns)), [0])[0]
    assert one["levels"] == [f"l{k:02}" for k in range(24, 4, -1)] + ["other"]
    names = [own["class"] for own in one["classes"]]
    largest = sorted(sorted(set(y), key=lambda c: (-(y == c).sum(), c))[:11])
    assert names == [*largest, "other"]
    for own in one["classes"]:
        rows = y == own["class"] if own["class"] != "other" else ~np.isin(y, largest)
        counted = Counter(np.array(levels)[rows].tolist())
        assert own["counts"][:-1] == [counted[level] for level in one["levels"][:-1]]
        assert sum(own["counts"]) == rows.sum()


def test_at_most_sixty_features_are_drawn(problem) -> None:
    X = np.tile(problem[0], 3)
    found = distributions(named(X, problem[1]), np.arange(89, -1, -1))
    assert [one["name"] for one in found] == [f"f{j}" for j in range(89, 29, -1)]
