"""Impute against scikit-learn's SimpleImputer, on every kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from tamis.base.errors import DataError
from tamis.transform import Encode, Impute, Standardize

STRATEGIES = ["median", "mean"]
SMALL = arrays(
    np.float64,
    st.tuples(st.integers(1, 9), st.integers(1, 4)),
    elements=st.sampled_from([np.nan, -2.5, -1.0, 0.0, 0.0, 0.0, 1.0, 3.0]),
)


@pytest.fixture(name="X")
def matrix():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(41, 6)), 1) * (rng.random((41, 6)) < 0.7)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[:, 4] = np.nan
    return X


@pytest.fixture
def mixed():
    """Columns of every kind, each with a hole; what they become is written in test_mixed_frames_...."""
    return {
        "size": [1.0, None, 5.0, 3.0],
        "colour": ["red", "blue", None, "blue"],
        "tie": ["b", "a", None, None],
        "count": [2, 4, 4, None],
    }


FILLED = [(1.0, "red", "b", 2.0), (3.0, "blue", "a", 4.0), (5.0, "blue", "a", 4.0), (3.0, "blue", "a", 4.0)]


def oracle(X, strategy):
    return SimpleImputer(strategy=strategy, keep_empty_features=True).fit_transform(X)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numbers_equal_scikit_learn(X, strategy):
    np.testing.assert_allclose(Impute(strategy).fit_transform(X), oracle(X, strategy))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sparse_equals_dense_and_stays_sparse(X, strategy, form):
    got = Impute(strategy).fit_transform(form(X))
    assert got.format == "csr"
    np.testing.assert_allclose(got.toarray(), Impute(strategy).fit_transform(X))
    assert got.nnz == np.count_nonzero(got.toarray())


@given(SMALL, st.sampled_from(STRATEGIES))
def test_any_numbers_equal_scikit_learn_dense_and_sparse(X, strategy):
    expected = oracle(X, strategy)
    np.testing.assert_allclose(Impute(strategy).fit_transform(X), expected)
    np.testing.assert_allclose(Impute(strategy).fit_transform(sp.csr_array(X)).toarray(), expected)


def test_values_stored_twice_count_as_their_sum():
    data, columns, starts = np.array([1.0, 2.0, np.nan, 5.0]), np.array([0, 0, 0, 0]), np.array([0, 2, 3, 4])
    twice = sp.csr_array((data, columns, starts), shape=(3, 1))
    np.testing.assert_array_equal(Impute().fit_transform(twice).toarray(), [[3.0], [4.0], [5.0]])


def test_what_is_filled_in_comes_from_fit(X):
    model = Impute("mean").fit(X)
    holes = np.full((2, 6), np.nan)
    np.testing.assert_allclose(model.transform(holes), np.tile(model.fill_numbers_, (2, 1)))
    assert model.fill_numbers_[4] == 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_float32_stays(X, strategy, form):
    got = Impute(strategy).fit_transform(form(X.astype(np.float32)))
    assert got.dtype == np.float32


def test_mixed_polars_frames_come_back_as_polars_frames(mixed):
    got = Impute().fit_transform(pl.DataFrame(mixed))
    assert got.rows() == FILLED
    assert got.schema == {"size": pl.Float64, "colour": pl.String, "tie": pl.String, "count": pl.Float64}


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_mixed_pandas_frames_come_back_as_pandas_frames(mixed, dtype):
    frame = pd.DataFrame(mixed, index=[7, 5, 3, 1]).astype({"colour": dtype, "tie": dtype})
    got = Impute().fit_transform(frame)
    assert isinstance(got, pd.DataFrame)
    assert list(got.itertuples(index=False, name=None)) == FILLED
    assert got.index.tolist() == [7, 5, 3, 1]
    assert got.columns.tolist() == list(mixed)
    assert frame["colour"].isna().sum() == 1


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_object_arrays_come_back_as_object_arrays(mixed, nothing):
    columns = [[nothing if value is None else value for value in column] for column in mixed.values()]
    rows = np.array(columns, dtype=object).T
    got = Impute().fit_transform(rows)
    assert got.dtype == object
    assert [tuple(row) for row in got] == FILLED
    assert [tuple(row) for row in Impute().fit_transform(rows.tolist())] == FILLED


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["a", "b", "c"])])
def test_polars_categories_are_nominal(dtype):
    frame = pl.DataFrame({"x": pl.Series(["b", None, "b"], dtype=dtype)})
    assert Impute().fit_transform(frame).rows() == [("b",), ("b",), ("b",)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_numeric_frames_come_back_as_frames_of_the_same_numbers(X, strategy):
    names = list("abcdef")
    expected = oracle(X, strategy)
    for frame in (
        pl.DataFrame(X, schema=names),
        pl.DataFrame(X, schema=names).fill_nan(None),
        pd.DataFrame(X, columns=names),
    ):
        got = Impute(strategy).fit_transform(frame)
        assert type(got) is type(frame)
        assert list(got.columns) == names
        np.testing.assert_allclose(got.to_numpy(), expected)


def test_integers_and_booleans_with_holes_are_numbers():
    frame = pl.DataFrame({"i": [1, None, 3], "b": [True, None, True]})
    assert Impute().fit_transform(frame).rows() == [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]
    frame = pd.DataFrame(
        {"i": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([True, None, True], dtype="boolean")}
    )
    assert Impute().fit_transform(frame).to_numpy().tolist() == [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_without_any_value(strategy):
    frame = pl.DataFrame({"t": pl.Series([None, None], dtype=pl.String), "n": pl.Series([None, None])})
    model = Impute(strategy).fit(frame)
    assert model.transform(frame).rows() == [("missing", 0.0), ("missing", 0.0)]
    assert model.nominal_.tolist() == [True, False]
    text = pl.DataFrame({"t": ["a", None]})
    assert Impute(strategy).fit_transform(text).rows() == [("a",), ("a",)]


def test_a_column_without_values_takes_the_type_it_had_in_fit(mixed):
    model = Impute().fit(pd.DataFrame(mixed))
    empty = pd.DataFrame({name: [None] for name in mixed}, dtype=object)
    assert list(model.transform(empty).itertuples(index=False, name=None)) == [(3.0, "blue", "a", 4.0)]


def test_numbers_written_as_text_are_nominal():
    rows = np.array([["1", 1.0], ["10", 2.0], [None, None], ["10", 4.0]], dtype=object)
    assert Impute().fit_transform(rows)[2].tolist() == ["10", 2.0]


@pytest.mark.parametrize("source", [pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize("asked", ["pandas", "polars"])
def test_set_output_decides_the_kind(mixed, source, asked):
    got = Impute().set_output(transform=asked).fit_transform(source(mixed))
    assert isinstance(got, pd.DataFrame if asked == "pandas" else pl.DataFrame)
    rows = got.rows() if asked == "polars" else list(got.itertuples(index=False, name=None))
    assert rows == FILLED
    assert list(got.columns) == list(mixed)


def test_names_and_clone_and_pipeline(mixed):
    frame = pl.DataFrame(mixed)
    model = clone(Impute("mean")).fit(frame)
    assert model.feature_names_in_.tolist() == list(mixed)
    assert model.n_features_in_ == 4
    assert model.get_feature_names_out().tolist() == list(mixed)
    pipe = make_pipeline(Impute(), Encode(), Standardize()).set_output(transform="pandas").fit(frame)
    assert pipe.transform(frame).columns.tolist() == ["size", "colour=blue", "colour=red", "tie=a", "tie=b", "count"]


def test_pandas_columns_may_have_numbers_for_names():
    frame = pd.DataFrame([["u", 1.0], [None, None]], columns=[3, 8])
    got = Impute().fit_transform(frame)
    assert got.columns.tolist() == [3, 8]
    assert got.to_numpy().tolist() == [["u", 1.0], ["u", 1.0]]
    got = Impute().set_output(transform="polars").fit_transform(frame)
    assert got.rows() == [("u", 1.0), ("u", 1.0)]


def refused():
    text = pl.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]})
    yield text, text.select("b", "a"), "feature names"
    yield text, text.select("a"), "feature names"
    yield text, pl.DataFrame({"a": [1.0], "b": [1.0]}), "column 'a' holds numbers, but held text in fit"
    yield text, pl.DataFrame({"a": ["x"], "b": ["y"]}), "column 'b' holds text, but held numbers in fit"
    yield text, text.clear(), "without rows"
    yield text, pl.DataFrame({"a": ["x"], "b": [np.inf]}), "column 'b' contains infinity"


@pytest.mark.parametrize(("before", "after", "message"), list(refused()))
def test_rows_unlike_those_of_fit_are_refused(before, after, message):
    model = Impute().fit(before)
    with pytest.raises(ValueError, match=message):
        model.transform(after)


def test_arrays_unlike_those_of_fit_are_refused():
    rows = np.array([["u", 1.0], ["v", 2.0]], dtype=object)
    with pytest.raises(DataError, match="sparse matrix cannot hold"):
        Impute().fit(rows).transform(sp.csr_array(np.eye(2)))
    with pytest.raises(DataError, match="column 'x0' holds text, but held numbers in fit"):
        Impute().fit(np.eye(2)).transform(rows)
    with pytest.raises(ValueError, match="3 features"):
        Impute().fit(rows).transform(np.array([["u", 1.0, 2.0]], dtype=object))


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"when": [0, 1]}).cast(pl.Date),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
        pd.DataFrame({"when": [{}, 1]}),
    ],
)
def test_dates_and_other_things_are_refused(frame):
    with pytest.raises(DataError, match="column 'when'"):
        Impute().fit(frame)


@pytest.mark.parametrize("bad", ["text", ["a", "b"], np.array([[["a"]]])])
def test_what_is_no_table_is_refused(bad):
    with pytest.raises(DataError, match="dimension"):
        Impute().fit(bad)


def test_bad_parameters_and_infinity_are_refused(X):
    with pytest.raises(ValueError, match="'strategy' parameter"):
        Impute("mode").fit(X)
    with pytest.raises(ValueError, match="infinity"):
        Impute().fit([[np.inf], [1.0]])
