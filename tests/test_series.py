"""Time series: the container, correlations, autoregression, streams; each against something independent."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis.base.errors import DataError
from tamis.series import RunningCorrelations, Series, every_subset, planted


def items(n=5, n_variables=4, seed=0, low=6, high=30):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(n_variables, n_variables))
    return [rng.normal(size=(rng.integers(low, high), n_variables)) @ mixing + 7.0 for _ in range(n)]


def test_a_row_is_the_upper_triangle_of_the_correlation_matrix():
    rows = items()
    table = Series.of(rows, ["a", "b"] * 2 + ["a"], variables=["p", "q", "r", "s"]).correlations()
    assert table.feature_names.tolist() == ["p~q", "p~r", "p~s", "q~r", "q~s", "r~s"]
    expected = [np.corrcoef(item.T)[np.triu_indices(4, 1)] for item in rows]
    np.testing.assert_allclose(table.X, expected, atol=1e-12)
    assert table.notes == ()


def test_missing_values_leave_the_other_time_points_of_a_pair():
    rng = np.random.default_rng(0)
    rows = items(8)
    for item in rows:
        item[rng.random(item.shape) < 0.2] = np.nan
    rows[0][:, 2] = np.nan  # a sensor that was off
    expected = [pd.DataFrame(item).corr(min_periods=2).to_numpy()[np.triu_indices(4, 1)] for item in rows]
    table = Series.of(rows, [0, 1] * 4).correlations()
    np.testing.assert_allclose(table.X, np.nan_to_num(expected), atol=1e-12)
    assert np.isnan(expected).sum() == 3
    assert "3 of 48 correlations are undefined" in table.notes[0]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 + 0.1, -3.3e-7])
def test_constant_variables_have_correlations_of_zero(value):
    item = items(1)[0]
    item[:, 1] = value
    table = Series.of([item, items(1, seed=3)[0]], [0, 1]).correlations()
    assert table.X[0, [0, 3, 4]].tolist() == [0.0, 0.0, 0.0]
    assert (table.X[1] != 0).all()
    why = "of variables that are constant, or of items with fewer than 2 known time points"
    assert table.notes == (f"3 of 12 correlations are undefined, {why}: they are 0",)
    streamed = RunningCorrelations(4)
    for row in item:
        streamed.update(row)
    np.testing.assert_allclose(streamed.pairs(), table.X[0], atol=1e-12)


def test_a_constant_variable_is_seen_in_items_of_any_length():
    long = np.random.default_rng(0).normal(size=(200_000, 2))
    long[:, 1] = 0.1
    table = Series.of([long, items(1)[0][:, :2]], [0, 1])
    assert table.correlations().X[0].tolist() == [0.0]
    assert table.autoregression().X[0, 3:].tolist() == [0.0, 0.0, 0.0]
    assert RunningCorrelations(2).update(long).pairs().tolist() == [0.0]


def test_an_item_of_one_time_point_is_a_row_of_zeros():
    series = Series.of([*items(3), [[1.0, 2.0, 3.0, 4.0]]], [0, 1, 0, 1])
    assert series.correlations().X[-1].tolist() == [0.0] * 6
    assert series.autoregression().X[-1].tolist() == [0.0] * 12
    with pytest.raises(DataError, match="all correlations are undefined"):
        Series.of([[[1.0, 2.0]], [[2.0, 3.0]]], [0, 1]).correlations()


def test_one_variable_has_no_correlations():
    series = Series.of([item[:, :1] for item in items()], [0, 1, 0, 1, 0])
    with pytest.raises(DataError, match="has one variable, and correlations need two; take autoregression"):
        series.correlations()
    assert series.autoregression().X.shape == (5, 3)


def test_equal_items_are_kept_and_noted():
    rows = items(4)
    table = Series.of([*rows, rows[0], rows[0].copy()], [0, 1] * 3).correlations()
    np.testing.assert_array_equal(table.X[0], table.X[4])
    assert table.notes == ("2 items equal another one: such items in training and test rows make errors too small",)


def forward_backward(z, order):
    """The coefficients by least squares on the stacked equations."""
    z = z - np.nanmean(z)
    n = z.size
    forward = [[z[t], *(z[t - k] for k in range(1, order + 1))] for t in range(order, n)]
    backward = [[z[t], *(z[t + k] for k in range(1, order + 1))] for t in range(n - order)]
    equations = np.array([one for one in forward + backward if not np.isnan(one).any()])
    return np.linalg.lstsq(equations[:, 1:], equations[:, 0], rcond=1e-12)[0]


@pytest.mark.parametrize("order", [1, 3, 5])
def test_autoregression_is_least_squares_forward_and_backward(order):
    rows = items(4, low=order + 1)
    rows[1][3, 2] = np.nan
    table = Series.of(rows, [0, 1, 0, 1], variables=list("abcd")).autoregression(order)
    expected = [np.concatenate([forward_backward(column, order) for column in item.T]) for item in rows]
    np.testing.assert_allclose(table.X, expected, atol=1e-8)
    assert table.feature_names[: order + 1].tolist() == [*(f"a.{lag}" for lag in range(1, order + 1)), "b.1"]


def test_autoregression_finds_the_law_of_a_long_series():
    rng = np.random.default_rng(0)
    law, z = np.array([0.5, -0.3, 0.2]), np.zeros(20_000)
    for t in range(3, z.size):
        z[t] = law @ z[t - 3 : t][::-1] + rng.normal()
    found = Series.of([z[:, None] + 5.0, z[:, None]], [0, 1]).autoregression().X
    np.testing.assert_allclose(found, [law, law], atol=0.03)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_smooth_series_keep_the_digits_of_their_equations():
    # The products of such equations are singular in float64.
    z = np.cumsum(np.cumsum(np.random.default_rng(0).normal(size=400)))[:, None]
    found = Series.of([z, z + 1.0], [0, 1]).autoregression().X
    np.testing.assert_allclose(found[0], forward_backward(z[:, 0], 3), rtol=1e-6)


@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(-1e6, 1e6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_stream_has_the_correlations_of_all_its_values(seed, n_variables, offset, holes):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rng.integers(2, 80), n_variables)) @ rng.normal(size=(n_variables, n_variables)) + offset
    if holes:
        values[rng.random(values.shape) < 0.15] = np.nan
    cuts = np.sort(rng.integers(0, len(values), rng.integers(0, 6)))
    streamed, left, right = (RunningCorrelations(n_variables) for _ in range(3))
    for number, block in enumerate(np.split(values, cuts)):
        streamed.update(block)
        (left if number % 2 else right).update(block)
    expected = pd.DataFrame(values - (offset if not np.isnan(offset) else 0.0)).corr(min_periods=2).to_numpy().copy()
    np.fill_diagonal(expected, 1.0)
    tolerance = 1e-10 * max(1.0, abs(offset) / 1e3)
    for found in (streamed, left.merge(right)):
        known = found.counts > 3  # of fewer points deviations may be as small as the rounding of the offset
        np.testing.assert_allclose(found.correlations()[known], np.nan_to_num(expected)[known], atol=tolerance)
    together = RunningCorrelations(n_variables).update(values).correlations()
    np.testing.assert_allclose(streamed.correlations(), together, atol=tolerance)


def test_a_stream_refuses_what_it_cannot_add():
    with pytest.raises(DataError, match="values must have 3 variables; got shape"):
        RunningCorrelations(3).update([1.0, 2.0])
    with pytest.raises(DataError, match="infinity"):
        RunningCorrelations(2).update([1.0, np.inf])
    with pytest.raises(DataError, match="cannot be read as numbers"):
        RunningCorrelations(2).update(["a", "b"])
    with pytest.raises(DataError, match="the other has 2"):
        RunningCorrelations(3).merge(RunningCorrelations(2))
    assert RunningCorrelations(2).correlations().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_layouts_differ_in_their_axes_alone():
    cube = np.random.default_rng(0).normal(size=(6, 3, 20)).astype(np.float32)
    by_variable = Series.of(cube, [0, 1] * 3, layout="variables-time")
    by_time = Series.of(cube.transpose(0, 2, 1), [0, 1] * 3)
    assert by_variable.n_variables == by_time.n_variables == 3
    np.testing.assert_array_equal(by_variable.correlations().X, by_time.correlations().X)


def test_rows_and_variables_can_be_taken():
    series = planted(10, 5, 20)
    few = series.rows(series.y == "a").only(["r2", "r1"])
    assert few.n_items == 5
    assert few.correlations().feature_names.tolist() == ["r2~r1"]
    whole = series.correlations()
    place = [{*name.split("~")} for name in whole.feature_names].index({"r1", "r2"})
    np.testing.assert_allclose(few.correlations().X[:, 0], whole.X[whole.y == "a", place], atol=1e-12)
    with pytest.raises(DataError, match="variables must be among"):
        series.only(["r9"])


def test_a_table_of_items_to_predict_has_no_classes():
    table = Series.of(items()).correlations()
    assert table.n_rows == 0
    assert table.unlabelled[""].shape == (5, 6)


def test_numbers_can_be_the_target():
    table = Series.of(items(), [0.5, 1.25, 2.5, 3.75, 5.5]).correlations()
    assert table.task == "regress"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"items": []}, "there are no items"),
        ({"items": [[[1.0, 2.0]], [[1.0]]]}, "item 1 has 2 variables and item 2 has 1"),
        ({"items": [[1.0, 2.0]]}, "item 1 must have rows and columns"),
        ({"items": [[["a", "b"]]]}, "item 1 cannot be read as numbers"),
        ({"items": [[[1.0, np.inf]]]}, "item 1 contains infinity or values too large"),
        ({"items": [[[1.0, 1e200]]]}, "item 1 contains infinity or values too large"),
        ({"items": [np.empty((0, 2))]}, "item 1 has 0 time points"),
        ({"items": [[[1.0, 2.0]]], "y": [1, 2]}, "y must have 1 values"),
        ({"items": [[[1.0, 2.0]]], "variables": ["a", "a"]}, "must be 2 different names"),
        ({"items": [[[1.0, 2.0]]], "layout": "wide"}, "layout must be"),
    ],
)
def test_refuses_in_one_sentence(given, message):
    with pytest.raises(DataError, match=message):
        Series.of(**given)


def test_variables_of_a_table_are_selected_within_folds():
    table = planted(60, 6, 40).correlations()
    found = tamis.validate("standardize | corona(2) | svm(linear)", table, folds=3)
    assert found.summary()["ber"].mean < 0.1


def test_every_subset_knows_the_best_one():
    found = every_subset(planted(40, 5, 40), folds=4)
    assert [*found] == [2, 3, 4, 5]
    assert "r1" in found[2].variables
    assert found[2].best <= found[2].mean <= found[2].worst
    # The one subset of all variables: a plain validation on the same folds.
    whole = tamis.validate("standardize | svm(linear)", planted(40, 5, 40).correlations(), folds=4, metrics="accuracy")
    assert found[5].best == pytest.approx(1.0 - whole.summary()["accuracy"].mean)
    with pytest.raises(ValueError, match="sizes must be from 2 to 5"):
        every_subset(planted(40, 5, 40), [6])
    with pytest.raises(ValueError, match="more than 5000"):
        every_subset(planted(20, 14, 20))


def test_the_planted_classes_differ_in_correlations_alone():
    series = planted(200, 6, 60)
    by = [
        tamis.validate("standardize | svm(linear)", table, folds=4).summary()["ber"].mean
        for table in (series.correlations(), series.autoregression())
    ]
    assert by[0] < 0.05
    assert by[1] > 0.35
