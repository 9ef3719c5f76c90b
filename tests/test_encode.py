"""Encode against scikit-learn's OneHotEncoder and OrdinalEncoder, on every kind of input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from tamis.base.errors import DataError
from tamis.base.mixed_columns import columns_of, level_codes
from tamis.data import load
from tamis.transform import Encode, Impute, Standardize

WORDS = st.lists(st.tuples(*[st.sampled_from(["a", "B", "ä", "10", "9", ""])] * 2), min_size=1, max_size=20)


@pytest.fixture
def mixed():
    return pl.DataFrame(
        {
            "height": [1.5, None, 2.5, 0.0],
            "colour": ["red", "blue", None, "red"],
            "weight": [10, 20, 30, 40],
            "sex": ["f", "m", "m", "f"],
        }
    )


NAMES = ["height", "colour=blue", "colour=red", "weight", "sex=f", "sex=m"]
ONEHOT = [[1.5, 0, 1, 10, 1, 0], [np.nan, 1, 0, 20, 0, 1], [2.5, 0, 0, 30, 0, 1], [0, 0, 1, 40, 1, 0]]
ORDINAL = [[1.5, 1, 10, 0], [np.nan, 0, 20, 1], [2.5, np.nan, 30, 1], [0, 1, 40, 0]]


def forms(frame):
    """The same rows as polars, pandas of three dtypes, object array, and lists."""
    plain = frame.to_dict(as_series=False)
    pandas = pd.DataFrame(plain)
    yield frame
    yield frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
    for dtype in (object, "str", "category"):
        yield pandas.astype({"colour": dtype, "sex": dtype})
    yield np.array(frame.rows(), dtype=object)
    yield [list(row) for row in frame.rows()]


@pytest.mark.parametrize("form", range(7))
def test_each_nominal_column_is_replaced_in_its_place(mixed, form):
    X = list(forms(mixed))[form]
    model = Encode().fit(X)
    np.testing.assert_array_equal(model.transform(X), ONEHOT)
    assert model.origins_.tolist() == [0, 1, 1, 2, 3, 3]
    assert model.nominal_.tolist() == [False, True, False, True]
    assert model.categories_ == [None, ["blue", "red"], None, ["f", "m"]]
    expected = [
        n.replace("height", "x0").replace("colour", "x1").replace("weight", "x2").replace("sex", "x3") for n in NAMES
    ]
    assert model.get_feature_names_out().tolist() == (NAMES if hasattr(X, "columns") else expected)


@pytest.mark.parametrize("form", range(7))
def test_ordinal_codes_follow_sorted_order(mixed, form):
    X = list(forms(mixed))[form]
    model = Encode("ordinal").fit(X)
    np.testing.assert_array_equal(model.transform(X), ORDINAL)
    assert model.origins_.tolist() == [0, 1, 2, 3]
    names = list(mixed.columns) if hasattr(X, "columns") else ["x0", "x1", "x2", "x3"]
    assert model.get_feature_names_out().tolist() == names


@given(WORDS, WORDS)
def test_words_equal_scikit_learn_also_unseen_ones(train, test):
    train, test = np.array(train, dtype=object), np.array(test, dtype=object)
    theirs = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(train)
    np.testing.assert_array_equal(Encode().fit(train).transform(test), theirs.transform(test))
    theirs = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(train)
    np.testing.assert_array_equal(Encode("ordinal").fit(train).transform(test), theirs.transform(test))


def test_missing_and_unseen_values_are_told_apart_by_codes_alone():
    model = Encode("ordinal").fit([["a"], ["b"]])
    np.testing.assert_array_equal(model.transform([["c"], [None], ["b"]]), [[-1], [np.nan], [1]])
    np.testing.assert_array_equal(
        Encode().fit([["a"], ["b"]]).transform([["c"], [None], ["b"]]), [[0, 0], [0, 0], [0, 1]]
    )


def test_numbers_written_as_text_are_nominal():
    X = np.array([["10", 10], ["9", 9], ["10", 8]], dtype=object)
    assert Encode().fit(X).get_feature_names_out().tolist() == ["x0=10", "x0=9", "x1"]
    assert Encode().fit(np.array([["1", "2"], ["1", "3"]])).get_feature_names_out().tolist() == ["x0=1", "x1=2", "x1=3"]
    assert Encode().fit(np.array([[b"u"], [b"v"]])).get_feature_names_out().tolist() == ["x0=u", "x0=v"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, pl.from_numpy, pd.DataFrame])
@pytest.mark.parametrize("how", ["onehot", "ordinal"])
def test_numbers_pass_unchanged(how, form):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(9, 5)).astype(np.float32) * (rng.random((9, 5)) < 0.5)
    numbers[2, 3] = np.nan
    X = form(numbers)
    out = Encode(how).fit_transform(X)
    assert sp.issparse(out) == sp.issparse(X)
    assert out.dtype == (np.float64 if isinstance(X, pl.DataFrame) else np.float32)
    np.testing.assert_array_equal(out.toarray() if sp.issparse(out) else out, numbers)
    assert out is not X


def wide(n_rows=4000, n_words=3000):
    rng = np.random.default_rng(0)
    words = [f"w{i:04d}" for i in rng.integers(0, n_words, n_rows)]
    return pl.DataFrame({"number": rng.normal(size=n_rows), "word": words, "hole": [None, "x"] * (n_rows // 2)})


def test_wide_output_is_sparse_and_the_same():
    X = wide()
    model = Encode().fit(X)
    assert model.sparse_output_
    out = model.transform(X[:50])
    assert out.format == "csr"
    assert out.indices.dtype == np.int32
    dense = model.set_output(transform="polars").transform(X[:50])
    np.testing.assert_array_equal(out.toarray(), dense.to_numpy())
    words = (
        OneHotEncoder(sparse_output=False).fit(X.select("word").to_numpy()).transform(X[:50].select("word").to_numpy())
    )
    np.testing.assert_array_equal(out.toarray()[:, 1:-1], words)
    np.testing.assert_array_equal(out.toarray()[:, 0], X["number"][:50])
    np.testing.assert_array_equal(out.toarray()[:, -1], [0, 1] * 25)


@given(WORDS, WORDS, st.integers(2, 4))
def test_rare_values_are_one_category_as_in_scikit_learn(train, test, least):
    train, test = np.array(train, dtype=object), np.array(test, dtype=object)
    theirs = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=least, sparse_output=False).fit(train)
    model = Encode(min_frequency=least).fit(train)
    np.testing.assert_array_equal(model.transform(test), theirs.transform(test))
    rare = [name for name in model.get_feature_names_out() if name.endswith("=(rare)")]
    assert len(rare) == model.rare_.sum()


def test_rare_values_have_the_last_code_and_missing_ones_none():
    train = [["b"], ["b"], ["c"], ["d"], ["a"], ["a"], [None]]
    model = Encode("ordinal", min_frequency=2).fit(train)
    np.testing.assert_array_equal(
        model.transform([["a"], ["b"], ["c"], ["new"], [None]]), [[0], [1], [2], [2], [np.nan]]
    )
    # Nothing rare: an unknown value is still unknown.
    np.testing.assert_array_equal(Encode("ordinal", min_frequency=2).fit([["a"], ["a"]]).transform([["new"]]), [[-1]])


def test_output_is_sparse_only_when_large_and_empty():
    assert not Encode().fit(wide(n_words=500)).sparse_output_
    full = wide().with_columns(pl.lit(1.0).alias(f"n{j}") for j in range(2000))
    assert not Encode().fit(full).sparse_output_
    assert not Encode("ordinal").fit(wide()).sparse_output_
    assert isinstance(Encode("ordinal").fit_transform(wide()), np.ndarray)


def test_names_already_taken_get_a_number():
    X = pl.DataFrame({"a": ["x", "b=x"], "a=b": ["x", "y"], "a=x": [1.0, 2.0], "a=x_2": [1.0, 2.0]})
    assert Encode().fit(X).get_feature_names_out().tolist() == ["a=b=x", "a=x_3", "a=b=x_2", "a=b=y", "a=x", "a=x_2"]


def test_a_column_without_any_known_value_disappears():
    X = pl.DataFrame({"t": pl.Series([None, None], dtype=pl.String), "n": [1.0, 2.0]})
    model = Encode().fit(X)
    assert model.get_feature_names_out().tolist() == ["n"]
    np.testing.assert_array_equal(model.transform(X), [[1], [2]])
    np.testing.assert_array_equal(model.transform(pl.DataFrame({"t": ["u"], "n": [1.0]})), [[1]])
    with pytest.raises(DataError, match="no column has any known value"):
        Encode().fit(X.select("t"))


def test_booleans_are_numbers():
    X = pl.DataFrame({"b": [True, False, None]})
    np.testing.assert_array_equal(Encode().fit_transform(X), [[1], [0], [np.nan]])
    X = pd.DataFrame({"b": [True, False], "t": ["u", "v"]})
    np.testing.assert_array_equal(Encode().fit_transform(X), [[1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("asked", ["pandas", "polars"])
@pytest.mark.parametrize("how", ["onehot", "ordinal"])
def test_set_output_and_clone_and_pipeline(mixed, how, asked):
    pipe = clone(make_pipeline(Encode(how), Standardize())).set_output(transform=asked)
    got = pipe.fit_transform(mixed)
    assert isinstance(got, pd.DataFrame if asked == "pandas" else pl.DataFrame)
    assert list(got.columns) == (NAMES if how == "onehot" else mixed.columns)


def test_names_for_input_without_names():
    model = Encode().fit([["u", 1.0]])
    assert model.get_feature_names_out(["a", "b"]).tolist() == ["a=u", "b"]
    with pytest.raises(ValueError, match="length equal"):
        model.get_feature_names_out(["a"])


@pytest.mark.parametrize("name", ["vote", "soybean", "mushroom"])
def test_real_tables_equal_scikit_learn(shared_data, name):
    X = load(str(shared_data / "uci" / f"{name}.arff.gz")).X
    model = make_pipeline(Impute(), Encode()).fit(X)
    out = model.transform(X)
    theirs = make_pipeline(
        SimpleImputer(missing_values=None, strategy="most_frequent"), OneHotEncoder(sparse_output=False)
    )
    expected = theirs.fit_transform(X.to_numpy().astype(object))
    np.testing.assert_array_equal(out.toarray() if sp.issparse(out) else out, expected)


def test_bad_input_is_refused(mixed):
    with pytest.raises(ValueError, match="'how' parameter"):
        Encode("binary").fit(mixed)
    with pytest.raises(DataError, match="column 'height' contains infinity"):
        Encode().fit(mixed.with_columns(pl.lit(np.inf).alias("height")))
    with pytest.raises(DataError, match="column 'weight' holds text, but held numbers in fit"):
        Encode().fit(mixed).transform(mixed.with_columns(pl.lit("heavy").alias("weight")))


NUMBERS = st.lists(st.sampled_from([1.0, -2.5, np.inf, np.nan, None]), min_size=1, max_size=12)
LEVELS = st.lists(st.sampled_from(["a", "b", "c", "", None]), min_size=1, max_size=12)


@given(NUMBERS, LEVELS, st.sets(st.sampled_from(["a", "b", "c", ""])))
def test_columns_are_those_of_polars_queries(numbers, words, known):
    column = pl.Series("x", numbers, dtype=pl.Float64, strict=False)
    (found,) = columns_of(column.to_frame(), "encode")
    assert found.to_list() == column.fill_nan(None).to_list()
    position = {level: float(place) for place, level in enumerate(sorted(known))}
    expected = [np.nan if word is None else position.get(word, -1.0) for word in words]
    np.testing.assert_array_equal(level_codes(pl.Series("x", words, dtype=pl.String), sorted(known)), expected)
