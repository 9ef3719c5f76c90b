"""The honesty panel: every warning against a brute-force count, present where it should be and absent elsewhere."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise, permutations
from time import perf_counter

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from planted import chain, dataset, planted
from tamis.data.dataset import Dataset
from tamis.reporting.class_warnings import _chance_of_separation, separators
from tamis.reporting.honesty import constant_columns, honesty
from tamis.validation.permutation import permutation_test
from tamis.validation.result import Estimate
from tamis.validation.whole import validate

FORMS = [np.asarray, sp.csr_array, sp.csr_matrix]


def named(X, y, **known) -> Dataset:
    return Dataset(X, np.asarray(y), np.array([f"f{j}" for j in range(X.shape[1])]), **known)


def warned(data, *, validation=None, inner_estimate=None, leak=None, permutation=None, used=None) -> dict:
    """The facts, which JSON must hold unchanged."""
    found = honesty(
        data, validation=validation, inner_estimate=inner_estimate, leak=leak, permutation=permutation, used=used
    )
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    return found


def about(found, words) -> list[dict]:
    return [one for one in found["warnings"] if words in one["what"]]


@pytest.fixture(scope="module")
def clean() -> Dataset:
    X, y = planted(rows=200, columns=10)
    return dataset(X, y)


@pytest.fixture(scope="module")
def judged(clean):
    return validate(chain(), clean, folds=5, metrics=["ber"])


def test_nothing_is_said_of_sound_data(clean, judged) -> None:
    found = warned(clean, validation=judged, used=np.array([3, 8]))
    assert found == {"leak": None, "permutation": None, "search": None, "warnings": []}


# Rows


@given(arrays(np.int64, (14, 2), elements=st.integers(0, 3)), arrays(np.int64, 14, elements=st.integers(0, 2)))
def test_rows_of_two_classes_and_copies_are_counted(X, y) -> None:
    classes = defaultdict(set)
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        classes[tuple(row)].add(label)
    mixed = sum(len(classes[tuple(row)]) > 1 for row in X.tolist())
    copies = 14 - len(classes)
    for form in FORMS:
        found = warned(named(form(X.astype(float)), y))
        said = [one["what"].split()[0] for one in about(found, "row of another class")]
        assert said == ([str(mixed)] if mixed else [])
        said = [one["what"].split()[0] for one in about(found, "of an earlier row")]
        assert said == ([str(copies)] if copies else [])


def test_the_example_is_a_pair_of_equal_rows_of_two_classes() -> None:
    X = np.array([[1.0], [2.0], [3.0], [2.0], [2.0]])
    found = about(warned(named(X, ["a", "a", "b", "a", "b"])), "row of another class")[0]
    assert "row 2 and row 5 for example" in found["what"]
    assert found["level"] == "warning"


def test_copies_within_a_group_are_no_leak() -> None:
    X = np.array([[1.0], [1.0], [2.0], [2.0], [3.0], [4.0]])
    assert "2 rows are copies" in about(warned(named(X, [0, 0, 0, 1, 1, 1])), "of an earlier row")[0]["what"]
    same = warned(named(X, [0, 0, 0, 1, 1, 1], groups=np.array(list("aabbcc"))))
    assert about(same, "of an earlier row") == []
    one = warned(named(X, [0, 0, 0, 1, 1, 1], groups=np.array(list("aabcdd"))))
    assert "1 row is a copy" in about(one, "of an earlier row")[0]["what"]


def test_equal_rows_with_a_number_to_predict_are_of_no_other_class() -> None:
    found = warned(named(np.ones((4, 1)), np.array([0.5, 1.5, 2.5, 3.5])))
    assert about(found, "row of another class") == []


def test_very_large_data_is_not_looked_through(clean, monkeypatch) -> None:
    monkeypatch.setattr("tamis.data.duplicates._MOST_VALUES", 1000)
    assert [one["what"] for one in warned(clean)["warnings"]] == ["Equal rows were not looked for."]


# Columns


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.just(4)),
        elements=st.one_of(st.sampled_from([0.0, 1.0]), st.just(np.nan)),
    )
)
def test_constant_columns_are_those_of_one_known_value(X) -> None:
    expected = [len({v for v in column if v == v}) <= 1 for column in X.T.tolist()]
    y = np.zeros(X.shape[0])
    for form in FORMS:
        assert constant_columns(named(form(X), y)).tolist() == expected
    frame = pl.DataFrame({f"f{j}": pl.Series(column, nan_to_null=True) for j, column in enumerate(X.T)})
    words = frame.with_columns(pl.col("f0").cast(pl.String))
    assert constant_columns(Dataset(words, y, np.array(words.columns))).tolist() == expected


def test_constant_columns_are_named(clean) -> None:
    X = np.hstack([clean.X, np.ones((200, 7))])
    found = about(warned(named(X, clean.y)), "one value only")
    assert found[0]["what"].startswith("7 columns hold one value only")
    assert '"f10", "f11", "f12", "f13", "f14" and 2 more' in found[0]["what"]
    assert found[0]["level"] == "note"
    assert "1 column holds" in about(warned(named(X[:, :11], clean.y)), "one value only")[0]["what"]


def brute_error(column, y) -> float:
    """Balanced error of the best single threshold, by trying them all."""
    below = column < np.unique(column)[:, None]
    left = [below[:, y == c].mean(axis=1) for c in np.unique(y)]
    error = (left[0] + 1 - left[1]) / 2
    return float(np.minimum(error, 1 - error).min())


@pytest.mark.parametrize("form", FORMS)
def test_separators_are_found_by_the_best_threshold(form) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 40)) + y[:, None] * np.linspace(2, 8, 40)
    X[:, ::2] *= -1
    X[y == 0, 5] = 0.0
    errors = np.array([brute_error(column, y) for column in X.T])
    expected = np.flatnonzero(errors <= 0.02)
    columns, found = separators(named(form(X), y))
    assert 3 < expected.size < 37
    assert sorted(columns.tolist()) == expected.tolist()
    np.testing.assert_allclose(found, errors[columns], atol=1e-12)
    assert np.all(np.diff(found) >= 0)


def test_separators_are_named_and_suspicious(clean) -> None:
    X = np.column_stack([clean.X, *[clean.y + 0.1 * k for k in range(7)]])
    found = about(warned(named(X, clean.y)), "separate the classes")
    assert len(found) == 1
    assert found[0]["what"].startswith("7 columns alone each separate")
    assert '"f10" (0.0%), "f11" (0.0%)' in found[0]["what"]
    assert found[0]["what"].endswith("and 2 more.")
    assert "target in disguise" in found[0]["why"]
    assert found[0]["level"] == "warning"


def test_very_many_separators_are_not_counted_to_the_end(clean) -> None:
    X = np.tile(clean.y[:, None] * 1.0, 150) + np.arange(150)
    assert about(warned(named(X, clean.y)), "100 or more columns alone each separate")


def test_few_rows_are_separated_by_chance() -> None:
    X, y = np.random.default_rng(0).normal(size=(8, 500)), np.repeat([0, 1], 4)
    found = about(warned(named(X, y)), "separate the classes")[0]
    assert found["level"] == "note"
    assert f"about {500 * 2 / 70:.2g} columns" in found["why"]


@pytest.mark.parametrize("y", [[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 1, 2, 2]])
def test_chance_of_separation_is_brute_force(y) -> None:
    def changes(order):
        return sum(a != b for a, b in pairwise(order))

    orders = list(permutations(y))
    apart = np.mean([changes(order) == len(set(y)) - 1 for order in orders])
    assert _chance_of_separation(np.array(y)) == pytest.approx(apart)


@pytest.mark.parametrize("form", FORMS)
def test_many_classes_are_separated_by_intervals(form) -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, 400)
    X = rng.normal(size=(400, 6))
    X[:, 1] = rng.permutation(5)[y] + rng.uniform(0, 0.9, 400)
    X[:, 3] = 5.0 * (y == 2) + rng.uniform(size=400)
    X[:, 4] = y
    X[rng.choice(400, 4, replace=False), 4] += 1
    columns, errors = separators(named(form(X), y))
    assert columns.tolist() == [1, 4]
    assert errors[0] == 0
    assert 0 < errors[1] <= 0.02


def test_names_can_give_the_class_away() -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"size": rng.normal(size=90), "row": [f"r{i}" for i in range(90)]})
    for y, words in (
        (np.repeat(["a", "b"], 45), ["red", "blue"] * 22 + ["red"] + ["green", "black", "grey"] * 15),
        (np.repeat(["a", "b", "c"], 30), ["red", "zinc"] * 15 + ["blue"] * 30 + ["yellow", "green"] * 15),
    ):
        table = frame.with_columns(colour=pl.Series(words))
        columns, errors = separators(Dataset(table, y, np.array(table.columns)))
        assert (columns.tolist(), errors.tolist()) == ([2], [0.0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_that_is_mostly_unknown_separates_nothing(n_classes) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(120) % n_classes
    X = rng.normal(size=(120, 3))
    X[:, 1] = X[:, 2] = y
    X[rng.permutation(120)[:80], 1] = np.nan
    X[rng.permutation(120)[:20], 2] = np.nan
    for form in FORMS:
        assert separators(named(form(X), y))[0].tolist() == [2]


# Classes


def test_small_and_unequal_classes() -> None:
    y = np.array(["many"] * 50 + ["few"] * 4 + ["some"] * 20)
    found = warned(named(np.random.default_rng(0).normal(size=(74, 3)), y))
    small, unequal = about(found, "fewer than 5 rows")[0], about(found, " times the ")[0]
    assert '1 class has fewer than 5 rows: "few" (4).' in small["what"]
    assert small["level"] == "warning"
    assert 'Class "many" has 50 rows, 12.5 times the 4 of class "few".' in unequal["what"]
    assert unequal["level"] == "note"


@pytest.mark.parametrize(("rows", "said"), [(25, 0), (26, 1)])
def test_classes_may_differ_five_times(rows, said) -> None:
    y = np.repeat(["a", "b"], [rows, 5])
    assert len(about(warned(named(np.random.default_rng(0).normal(size=(rows + 5, 2)), y)), " times the ")) == said


# The model and its numbers


def test_more_columns_than_rows_are_used(clean, judged) -> None:
    wide = named(np.random.default_rng(0).normal(size=(40, 60)), np.repeat([0, 1], 20))
    assert "uses 41 columns and was made from 40 rows" in about(warned(wide, used=np.arange(41)), "uses")[0]["what"]
    assert about(warned(wide, used=np.arange(40)), "uses") == []
    folds = replace(judged, selected=(np.arange(50), np.arange(41)))
    assert about(warned(wide, validation=folds), "uses 45.5 columns")


def test_probes_among_the_used(clean, judged) -> None:
    roles = np.where(np.arange(10) < 6, "informative", "probe")
    data = replace(clean, roles=roles)
    found = warned(data, validation=judged, used=np.array([1, 3, 6, 9]))
    assert about(found, "2 of the 4 features that the model uses are probes")
    assert about(warned(data, used=np.array([1, 3])), "probe") == []
    assert about(warned(clean, validation=replace(judged, probe_share=0.125)), "12.5% of the features used are probes")


@pytest.mark.parametrize(("mean", "se", "said"), [(0.5, 0.0509, 0), (0.5, 0.0511, 1), (0.01, 0.08, 0)])
def test_wide_intervals(mean, se, said, clean, judged) -> None:
    wide = replace(judged, estimates={"ber": Estimate(mean, 0.1, se)})
    found = about(warned(clean, validation=wide), "only known to lie between")
    assert len(found) == said
    if said:
        assert "The BER is only known to lie between 0.400 and 0.600." in found[0]["what"]


def test_log_loss_has_no_wide_interval(clean) -> None:
    found = validate(chain(), clean, folds=5, metrics=["log_loss"])
    wide = replace(found, estimates={"log_loss": Estimate(0.5, 1.0, 0.3)})
    assert warned(clean, validation=wide)["warnings"] == []


@pytest.mark.parametrize(("rows", "said"), [(99, 1), (100, 0)])
def test_one_small_test_set(rows, said, clean) -> None:
    parts = np.where(np.arange(200) < 200 - rows, "train", "test")
    data = replace(clean, split=parts)
    found = validate(chain(), data, split="official", metrics=["accuracy"])
    assert len(about(warned(data, validation=found), f"one test set of {rows} rows")) == said


def test_search_and_leak_are_held_against_the_honest_error(clean, judged) -> None:
    honest = judged.estimates["ber"].mean
    leak = replace(judged, estimates={"ber": Estimate(honest - 0.08, 0.1, 0.01)})
    found = warned(clean, validation=judged, inner_estimate=Estimate(honest - 0.06, 0.1, 0.02), leak=leak)
    assert found["search"]["optimism"] == pytest.approx(0.06)
    assert found["search"]["honest"] == honest
    assert found["leak"]["optimism"] == pytest.approx(0.08)
    assert found["leak"]["nested"] == {"mean": honest, "se": judged.estimates["ber"].se}
    assert found["leak"]["leaky"] == {"mean": honest - 0.08, "se": 0.01}
    search, leaked = about(found, "The inner estimate")[0], about(found, "selected on all rows")[0]
    assert (search["level"], leaked["level"]) == ("warning", "note")
    assert "6.0 points" in search["why"]
    assert "8.0 points" in leaked["why"]
    small = warned(clean, validation=judged, inner_estimate=Estimate(honest - 0.04, 0.1, 0.02))
    assert small["warnings"] == []


def test_optimism_has_the_metric_the_right_way_up(clean) -> None:
    found = validate(chain(), clean, folds=5, metrics=["accuracy"])
    better = Estimate(found.estimates["accuracy"].mean + 0.1, 0.1, 0.01)
    assert warned(clean, validation=found, inner_estimate=better)["search"]["optimism"] == pytest.approx(0.1)


def test_a_real_leak_check_and_permutation_test() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 300)), np.repeat([0, 1], 20)
    data = dataset(X, y)
    found = validate(chain(), data, folds=4, metrics=["ber"], leak_check=True)
    test = permutation_test(chain(), data, n=5, folds=4)
    facts = warned(data, validation=found, leak=found.leak, permutation=test)
    assert facts["leak"]["optimism"] == pytest.approx(found.optimism)
    assert facts["leak"]["optimism"] > 0.1
    assert facts["permutation"] == {"value": test.observed, "p": test.pvalue, "null": test.null.tolist()}


def test_warnings_come_before_notes(clean) -> None:
    X = np.column_stack([np.ones(200), clean.X, clean.y])
    levels = [one["level"] for one in warned(named(X, clean.y))["warnings"]]
    assert levels == ["warning", "note"]


def test_data_without_classes_or_rows() -> None:
    assert warned(named(np.ones((0, 3)), []))["warnings"] == []
    one = warned(named(np.arange(30.0).reshape(10, 3), ["a"] * 10))
    assert one["warnings"] == []


def test_hostile_names_are_passed_through(clean) -> None:
    names = np.array(["<script>alert(1)</script>", "x" * 300, "\u202e\u05d0", "\U0001f600"])
    y = np.where(clean.y == 1, names[0], names[1])
    X = np.column_stack([np.ones(200), clean.y, np.arange(200.0), np.full(200, 2.0)])
    found = " ".join(one["what"] for one in warned(Dataset(X, y, names))["warnings"])
    assert all(f'"{name}"' in found for name in names if name != names[2])


def test_a_hundred_thousand_sparse_columns_are_quick() -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 800, 800_000), rng.integers(0, 100_000, 800_000)
    X = sp.csr_array((rng.normal(size=800_000), places), shape=(800, 100_000))
    data = named(X, rng.integers(0, 2, 800))
    separators(data)  # the kernels may have to be compiled
    start = perf_counter()
    warned(data)
    assert perf_counter() - start < 3
