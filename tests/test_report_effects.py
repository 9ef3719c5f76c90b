"""Direction of effect, rates of predictions, importance and quality of columns, against answers made by hand."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score

from tamis.data.dataset import Dataset
from tamis.reporting.effects import effects
from tamis.reporting.importance import importance, permuted
from tamis.reporting.quality import quality
from tamis.reporting.rates import rates, wilson
from tamis.reporting.row_values import heat, pairs
from tamis.validation.folds import StratifiedFolds
from tamis.validation.metrics import all_metrics

Z = norm.ppf(0.975)


def named(X, y, **more) -> Dataset:
    names = np.array([f"g{j}" for j in range(X.shape[1])])
    return Dataset(X, np.asarray(y), names, **more)


# ---------------------------------------------------------------- rates


@given(st.integers(1, 500), st.data())
def test_wilson_solves_the_equation_of_the_score_test(n: int, data) -> None:
    """Its ends are the probabilities p at which (share - p) is z standard errors of p."""
    share = data.draw(st.integers(0, n)) / n
    low, high = wilson(share, n)
    assert 0.0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1.0
    for end in (low, high):
        assert abs(share - end) == pytest.approx(Z * np.sqrt(end * (1 - end) / n), abs=1e-7)


def test_wilson_of_a_known_table() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857, table I: 81 of 263 and 0 of 20.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0.0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_rates_of_two_classes() -> None:
    truth, predicted = np.repeat([0, 0, 1, 1], [50, 10, 5, 35]), np.repeat([0, 1, 0, 1], [50, 10, 5, 35])
    found = {one["what"]: one for one in rates(truth, predicted, ["well", "ill"])}
    counts = {name: (one["right"], one["of"]) for name, one in found.items()}
    assert counts == {
        "sensitivity": (35, 40),
        "specificity": (50, 60),
        "positive predictive value": (35, 45),
        "negative predictive value": (50, 55),
    }
    for one in found.values():
        assert (one["low"], one["high"]) == pytest.approx(wilson(one["right"] / one["of"], one["of"]))


def test_rates_of_more_classes_are_recall_and_precision() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    found = rates(truth, predicted, ["a", "b", "c"])
    assert [(one["class"], one["what"]) for one in found][:3] == [("a", "recall"), ("a", "precision"), ("b", "recall")]
    np.testing.assert_allclose([one["share"] for one in found[::2]], recall_score(truth, predicted, average=None))
    np.testing.assert_allclose([one["share"] for one in found[1::2]], precision_score(truth, predicted, average=None))


def test_a_row_that_was_predicted_often_counts_once() -> None:
    truth, predicted = np.array([0] * 30 + [1] * 30), np.array([0] * 25 + [1] * 35)
    once, often = (
        rates(truth, predicted, ["a", "b"]),
        rates(np.tile(truth, 4), np.tile(predicted, 4), ["a", "b"], repeats=4),
    )
    assert [one["low"] for one in often] == pytest.approx([one["low"] for one in once])
    assert often[0]["of"] == 4 * once[0]["of"]


def test_what_was_never_predicted_has_no_rate() -> None:
    found = rates(np.array([0, 0, 1]), np.zeros(3, dtype=int), ["a", "b"])
    assert (found[2]["what"], found[2]["of"], found[2]["share"], found[2]["low"]) == (
        "positive predictive value",
        0,
        None,
        None,
    )


# ---------------------------------------------------------------- effects


def test_the_effect_is_cohens_d_with_the_interval_of_hedges_and_olkin() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["ill", "well"], [30, 50])
    X = rng.normal(size=(80, 2)) * 7 + 100
    X[:30, 0] += 9
    X[:30, 1] -= 5
    for column, one in enumerate(effects(named(X, y), [0, 1])):
        a, b = X[:30, column], X[30:, column]
        pooled = np.sqrt((29 * a.var(ddof=1) + 49 * b.var(ddof=1)) / 78)
        d = abs(a.mean() - b.mean()) / pooled
        reach = Z * np.sqrt(80 / (30 * 50) + d**2 / 160)
        assert one["class"] == ("ill", "well")[column]
        assert (one["size"], one["low"], one["high"]) == pytest.approx((d, d - reach, d + reach))
        assert one["level"] is None


def test_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 60)) + 0.8 * y[:, None]
    found = effects(named(X, y), range(60))
    ends = [(one["low"], one["high"]) if one["class"] == "1" else (-one["high"], -one["low"]) for one in found]
    assert np.mean([low < 0.8 < high for low, high in ends]) >= 0.88


def test_of_many_classes_the_one_that_differs_most_is_named() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 1))
    X[40:80] -= 4
    (one,) = effects(named(X, y), [0])
    assert one["class"] == "b"
    assert one["high"] < 0


def test_the_level_with_the_largest_difference_of_shares() -> None:
    colour = ["red"] * 12 + ["blue"] * 8 + ["red"] * 6 + ["blue"] * 24 + ["green"] * 10
    frame = pl.DataFrame({"colour": colour, "x": np.arange(60.0)})
    y = np.repeat(["ill", "well"], [20, 40])
    one, _ = effects(Dataset(frame, y, np.array(frame.columns)), [0, 1])
    assert (one["class"], one["level"]) == ("ill", "red")
    assert one["size"] == pytest.approx(12 / 20 - 6 / 40)
    (l1, u1), (l2, u2) = wilson(12 / 20, 20), wilson(6 / 40, 40)
    assert one["low"] == pytest.approx(0.45 - np.hypot(0.6 - l1, u2 - 0.15))
    assert one["high"] == pytest.approx(0.45 + np.hypot(u1 - 0.6, 0.15 - l2))


@pytest.mark.parametrize(
    "values",
    [[3.0] * 6, [np.nan] * 6, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [1.0, 2.0, 3.0, *[np.nan] * 3], [np.inf] * 6],
    ids=["constant", "missing", "exact", "one class", "infinite"],
)
def test_nothing_to_compare_has_no_effect(values) -> None:
    assert effects(named(np.array(values)[:, None], np.repeat(["a", "b"], 3)), [0]) == [None]


def test_missing_values_are_left_out_and_large_ones_do_not_overflow() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 20)
    x = rng.normal(size=40) + y
    gaps = np.append(x, [np.nan, np.inf])
    (whole,) = effects(named(x[:, None], y), [0])
    (rest,) = effects(named(gaps[:, None], np.append(y, [0, 1])), [0])
    (large,) = effects(named(1e300 * x[:, None], y), [0])
    assert rest["size"] == pytest.approx(whole["size"])
    assert large["size"] == pytest.approx(whole["size"])


def test_without_classes_there_are_no_effects() -> None:
    assert effects(named(np.ones((30, 1)), np.arange(30) / 7), [0]) is None


# ---------------------------------------------------------------- importance


@pytest.fixture(scope="module")
def planted() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 5))
    X[:, 2] += 4 * y
    return Dataset.of(X, y)


@pytest.mark.parametrize("metric", ["ber", "auc", "log_loss"])
def test_a_planted_column_matters_and_noise_does_not(planted: Dataset, metric: str) -> None:
    folds = StratifiedFolds(4).splits(planted.y)
    options = {"metric": all_metrics[metric], "seed": 0, "seconds": 60.0}
    found = importance(LogisticRegression(), "logistic", planted, folds, np.arange(5), **options)
    assert found.mean[2] > 0.3
    assert np.abs(np.delete(found.mean, 2)).max() < 0.05
    assert (found.folds, found.note, found.sd.shape) == (4, "", (5,))
    again = importance(LogisticRegression(), "logistic", planted, folds, np.arange(5)[::-1], **options)
    np.testing.assert_array_equal(again.mean[::-1], found.mean)


def test_the_planted_column_loses_what_chance_costs(planted: Dataset) -> None:
    """Without its only column the model guesses, so that the BER rises to one half."""
    folds = StratifiedFolds(4).splits(planted.y)
    options = {"metric": all_metrics["ber"], "seed": 1, "seconds": 60.0}
    found = importance(LogisticRegression(), "logistic", planted, folds, np.array([2]), **options)
    assert found.mean[0] == pytest.approx(0.48, abs=0.08)


def test_one_fold_has_no_deviation(planted: Dataset) -> None:
    folds = StratifiedFolds(4).splits(planted.y)[:1]
    options = {"metric": all_metrics["ber"], "seed": 1, "seconds": 60.0}
    found = importance(LogisticRegression(), "logistic", planted, folds, np.array([2]), **options)
    assert np.isnan(found.sd).all()


def test_without_time_or_with_a_model_that_fails_it_says_why(planted: Dataset) -> None:
    folds = StratifiedFolds(4).splits(planted.y)
    late = {"metric": all_metrics["ber"], "seed": 0, "seconds": -1.0}
    found = importance(LogisticRegression(), "logistic", planted, folds, np.array([2]), **late)
    assert (found.columns.size, found.folds) == (0, 0)
    assert "seconds" in found.note
    ready = {**late, "seconds": 60.0}
    found = importance(LogisticRegression(C=-1.0), "logistic", planted, folds, np.array([2]), **ready)
    assert found.note.startswith("it failed (")


def test_permuting_one_column_leaves_the_others() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 4)) * (rng.random((7, 4)) < 0.6)
    order = rng.permutation(7)
    expected = X.copy()
    expected[:, 1] = X[order, 1]
    before = X.copy()
    np.testing.assert_array_equal(permuted(X, 1, order), expected)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(permuted(sp.csr_array(X), 1, order).toarray(), expected)
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"])
    np.testing.assert_array_equal(permuted(frame, 1, order).to_numpy(), expected)
    pandas = pytest.importorskip("pandas")
    other = permuted(pandas.DataFrame(X, index=range(10, 17)), 1, order)
    np.testing.assert_array_equal(other.to_numpy(), expected)


# ---------------------------------------------------------------- quality


def test_the_quality_of_columns() -> None:
    rng = np.random.default_rng(0)
    wild = np.append(rng.uniform(0, 1, 38), [50.0, -50.0])
    gaps = np.where(np.arange(40) < 10, np.nan, np.arange(40.0))
    levels = ["u", "v"] * 18 + ["w", None, None, None]
    frame = pl.DataFrame({"wild": wild, "gaps": gaps, "flat": [2.0] * 40, "level": levels, "same": wild})
    frame = frame.with_columns(pl.col("gaps").fill_nan(None))
    data = Dataset(frame, np.repeat([0, 1], 20), np.array(frame.columns))
    found = quality(data, np.array([0, 3]))
    table = {row[0]: row[1:] for row in zip(*found["table"].values(), strict=True)}
    assert list(found["table"]) == ["name", "kind", "missing", "levels", "outliers", "constant", "copy_of"]
    assert (found["n"], found["remarked"], found["compared"]) == (5, 4, True)
    assert table["wild"] == ("numeric", 0.0, 40, 0.05, False, None)
    assert table["gaps"] == ("numeric", 0.25, 30, 0.0, False, None)
    assert table["flat"] == ("numeric", 0.0, 1, None, True, None)
    assert table["level"] == ("nominal", 0.075, 3, None, False, None)
    assert table["same"] == ("numeric", 0.0, 40, 0.05, False, "wild")
    # What is odd comes first.
    assert found["table"]["name"] == ["level", "gaps", "flat", "same", "wild"]


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array])
def test_sparse_columns_have_the_same_quality(form) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.7)
    X[:, 4], X[3, 2] = X[:, 1], np.nan
    y = np.repeat([0, 1], 25)
    assert quality(named(form(X), y), np.arange(6)) == quality(named(X, y), np.arange(6))


def test_wide_data_has_a_short_table() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3000))
    X[0, 2000:2900] = np.nan
    found = quality(named(X, np.repeat([0, 1], 6)), np.arange(1000))
    assert len(found["table"]["name"]) == 300
    assert found["remarked"] == 900
    assert sum(share > 0 for share in found["table"]["missing"]) == 150


def test_without_rows_there_is_no_quality() -> None:
    assert quality(named(np.ones((0, 2)), np.array([], dtype=int)), np.arange(2)) is None


# ---------------------------------------------------------------- values of rows


def test_the_heat_map_holds_standardised_values_by_class() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 8)) * 5 + 3
    X[4, 2] = np.nan
    data = named(X, y)
    found = heat(data, y, np.array([6, 2, 0, 5]))
    assert sorted(found["names"]) == ["g0", "g2", "g5", "g6"]
    assert found["class"] == sorted(y.tolist())
    assert sorted(found["row"]) == list(range(1, 61))
    for name, values in zip(found["names"], found["values"], strict=True):
        own = X[:, int(name[1:])]
        expected = ((own - np.nanmean(own)) / np.nanstd(own)).clip(-3, 3)[np.array(found["row"]) - 1]
        np.testing.assert_allclose(np.array(values, dtype=float), expected, atol=0.0051)
    assert [values[found["row"].index(5)] is None for values in found["values"]].count(True) == 1


def test_similar_rows_and_columns_stand_side_by_side() -> None:
    rng = np.random.default_rng(1)
    kind, twin = np.tile([0, 1], 30), np.tile([0, 1, 2], 4)
    X = 3.0 * kind[:, None] + rng.normal(size=(60, 3))[:, twin] + 0.1 * rng.normal(size=(60, 12))
    found = heat(named(X, np.arange(60) // 30), np.arange(60) // 30, np.arange(12))
    groups = [int(name[1:]) % 3 for name in found["names"]]
    assert sum(a != b for a, b in pairwise(groups)) == 2
    kinds = [kind[row - 1] for row in found["row"]]
    assert sum(a != b for a, b in pairwise(kinds)) <= 3


def test_few_rows_and_features_are_drawn() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [900, 100])
    data = named(rng.normal(size=(1000, 60)), y)
    found = heat(data, y, np.arange(60))
    assert (len(found["names"]), len(found["values"][0]), found["shown"], found["of"]) == (40, 200, 200, 1000)
    assert found["class"].count(1) == 20
    both = pairs(data, y, np.array([9, 3, 4, 1, 0]))
    assert both["names"] == ["g9", "g3", "g4", "g1"]
    assert [len(values) for values in both["values"]] == [500] * 4
    np.testing.assert_allclose(both["values"][1], data.X[np.array(both["row"]) - 1, 3], rtol=1e-4)


def test_one_feature_or_names_alone_are_not_drawn() -> None:
    y = np.array(["a", "a", "b", "b"])
    codes = np.array([0, 0, 1, 1])
    frame = pl.DataFrame({"u": ["x", "y", "x", "y"], "v": [1.0, 2.0, 3.0, 4.0]})
    data = Dataset(frame, y, np.array(["u", "v"]))
    assert heat(data, codes, np.array([0, 1])) is None
    assert pairs(data, codes, np.array([0, 1])) is None
    whole = named(np.array([[1.0, 2.0, np.inf]] * 4), y)
    assert heat(whole, codes, np.array([0, 1, 2]))["values"][0] in ([0.0] * 4, [None] * 4)
