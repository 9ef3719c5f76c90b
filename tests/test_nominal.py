"""Nominal columns as codes: every kind of table gives the same, and what cannot be read is named."""

import datetime
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.preprocessing import OrdinalEncoder

from tamis.base.classifier import Classifier
from tamis.base.errors import DataError, TamisError
from tamis.base.nominal import TakesNominal, coded
from tamis.base.part import Part
from tamis.compose.catalog import catalog, register
from tamis.compose.recipe import completed, parse


class Keeper(Classifier):
    """Keeps what it is given; the plain twin of the two below."""

    part: ClassVar[Part] = Part("keeper", paper="none")
    _parameter_constraints: ClassVar[dict] = {}

    def _fit(self, X, y, *weight):
        self.fit_X, self.fit_y = X, y

    def _decision(self, X):
        self.seen_X = X
        return np.zeros((X.shape[0], self.classes_.size))


class Nominal(TakesNominal, Keeper):
    part: ClassVar[Part] = Part("nominal", paper="none")


class Missing(Nominal):
    part: ClassVar[Part] = Part("missing", paper="none")
    accepts_missing = True


ROWS = pl.DataFrame(
    {
        "height": [1.5, 0.5, 2.5, 0.0],
        "colour": ["red", "blue", "blue", "red"],
        "weight": [10, 20, 30, 40],
        "sex": ["f", "m", "m", "f"],
    }
)
PANDAS = pd.DataFrame(ROWS.to_dict(as_series=False))
CODES = [[1.5, 1, 10, 0], [0.5, 0, 20, 1], [2.5, 0, 30, 1], [0, 1, 40, 0]]
Y = ["no", "yes", "yes", "no"]


def forms(frame):
    """The same rows as polars of three dtypes, pandas of three dtypes, array of objects, and lists."""
    yield frame
    for dtype in (pl.Categorical, pl.Enum(["f", "m", "red", "blue", "green"])):
        yield frame.with_columns(pl.col("colour", "sex").cast(dtype))
    pandas = pd.DataFrame(frame.to_dict(as_series=False))
    for dtype in (object, "str", "category"):
        yield pandas.astype({"colour": dtype, "sex": dtype})
    yield np.array(frame.rows(), dtype=object)
    yield [list(row) for row in frame.rows()]


@pytest.mark.parametrize("form", range(8))
def test_every_kind_of_table_arrives_as_codes(form):
    X = list(forms(ROWS))[form]
    model = Nominal().fit(X, Y)
    assert model.fit_X.dtype == np.float64
    np.testing.assert_array_equal(model.fit_X, CODES)
    np.testing.assert_array_equal(model.fit_y, [0, 1, 1, 0])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.nominal_.tolist() == [False, True, False, True]
    assert {j: levels.tolist() for j, levels in model.levels_.items()} == {1: ["blue", "red"], 3: ["f", "m"]}
    assert model.n_features_in_ == 4
    assert list(getattr(model, "feature_names_in_", ROWS.columns)) == ROWS.columns
    assert hasattr(model, "feature_names_in_") == hasattr(X, "columns")
    model.predict(X)
    np.testing.assert_array_equal(model.seen_X, CODES)
    matrix, nominal, levels = coded(X)
    np.testing.assert_array_equal(matrix, CODES)
    np.testing.assert_array_equal(nominal, model.nominal_)
    assert {j: list(texts) for j, texts in levels.items()} == {1: ["blue", "red"], 3: ["f", "m"]}


@pytest.mark.parametrize("form", range(8))
def test_unseen_and_missing_are_told_apart(form):
    after = pl.DataFrame(
        {"height": [None, 1.0], "colour": ["green", "red"], "weight": [1, 2], "sex": [None, "m"]}, schema=ROWS.schema
    )
    X = list(forms(after))[form]
    model = Missing().fit(list(forms(ROWS))[form], Y)
    model.predict(X)
    np.testing.assert_array_equal(model.seen_X, [[np.nan, -1, 1, np.nan], [1, 1, 2, 1]])


WORDS = st.lists(st.tuples(*[st.sampled_from(["a", "B", "ä", "10", "9", "", "a\0"])] * 2), min_size=2, max_size=20)


@given(WORDS, WORDS)
def test_codes_equal_scikit_learn(train, test):
    train, test = np.array(train, dtype=object), np.array(test, dtype=object)
    theirs = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(train)
    model = Nominal().fit(train, np.arange(len(train)) % 2)
    np.testing.assert_array_equal(model.fit_X, theirs.transform(train))
    for j, known in enumerate(theirs.categories_):
        assert model.levels_[j].tolist() == known.tolist()
    model.predict(test)
    np.testing.assert_array_equal(model.seen_X, theirs.transform(test))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array, pl.from_numpy, pd.DataFrame, list])
def test_numbers_alone_arrive_as_without_the_base(form, dtype):
    X = form(np.array([[0.0, 1.5, 0.0], [2.5, 0.0, 0.0]], dtype=dtype))
    plain, model = Keeper().fit(X, ["b", "a"]), Nominal().fit(X, ["b", "a"])
    plain.predict(X), model.predict(X)
    for theirs, ours in ((plain.fit_X, model.fit_X), (plain.seen_X, model.seen_X)):
        assert type(ours) is type(theirs)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(*(M.toarray() if sp.issparse(M) else M for M in (ours, theirs)))
    assert not model.nominal_.any()
    assert model.nominal_.shape == (3,)
    assert model.levels_ == {}
    matrix, nominal, levels = coded(X)
    assert matrix.dtype == plain.fit_X.dtype
    assert sp.issparse(matrix) == sp.issparse(X)
    assert (nominal.tolist(), levels) == ([False] * 3, {})


def test_an_array_of_numbers_is_not_copied():
    X = np.eye(3)
    assert Nominal().fit(X, [0, 1, 1]).fit_X is X
    assert coded(X).matrix is X


def test_booleans_and_numbers_of_objects_are_numbers():
    frame = pl.DataFrame({"b": [True, False], "n": [1, 2]})
    expected = [[1, 1], [0, 2]]
    for X in (frame, pd.DataFrame(frame.to_dict(as_series=False)), np.array(frame.rows(), dtype=object)):
        np.testing.assert_array_equal(Nominal().fit(X, [0, 1]).fit_X, expected)


def test_the_next_fit_forgets_the_levels():
    model = Nominal().fit(ROWS, Y).fit(np.eye(2), [0, 1])
    assert model.levels_ == {}
    assert not hasattr(model, "feature_names_in_")


def test_the_answers_are_checked_as_scikit_learn_does():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = Nominal().fit(ROWS, np.array(Y)[:, None])
    np.testing.assert_array_equal(model.fit_y, [0, 1, 1, 0])
    for y, match in (
        (Y[:3], r"inconsistent numbers of samples: \[4, 3\]"),
        (None, "requires y to be passed"),
        ([0.0, 1.0, np.nan, 1.0], "contains NaN"),
        ([0.1, 0.2, 0.3, 0.7], "Unknown label type"),
        (["a"] * 4, "at least 2 classes"),
        (np.ones((4, 2)), "1d array"),
    ):
        with pytest.raises(ValueError, match=match):
            Nominal().fit(ROWS, y)


def refused():
    yield ROWS.select("colour", "height", "weight", "sex"), "feature names"
    yield ROWS.drop("sex"), "feature names"
    yield ROWS.rows(), "does not have valid feature names"
    yield ROWS.with_columns(pl.lit(1.0).alias("sex")), "nominal: column 'sex' holds numbers, but held text in fit"
    yield ROWS.with_columns(pl.lit("x").alias("weight")), "nominal: column 'weight' holds text, but held numbers in fit"
    yield ROWS.with_columns(pl.lit(np.inf).alias("height")), "nominal: column 'height' contains infinity"
    yield ROWS.clear(), "nominal got a table without rows"
    yield sp.csr_array(np.eye(4)), "nominal: a sparse matrix cannot hold"
    yield ROWS.with_columns(pl.lit(None).alias("height")), "column 'height' has missing values; put impute in front"
    yield ROWS.with_columns(pl.lit(None).alias("sex")), "column 'sex' has missing values; put impute in front"


@pytest.mark.parametrize(("after", "match"), list(refused()))
def test_rows_unlike_those_of_fit_are_refused(after, match):
    model = Nominal().fit(ROWS, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((ValueError, UserWarning), match=match):
            model.predict(after)


def test_text_where_fit_had_numbers_is_refused():
    model = Nominal().fit(np.eye(2), [0, 1])
    with pytest.raises(DataError, match="column 'x1' holds text, but held numbers in fit"):
        model.predict(np.array([[1.0, "a"]], dtype=object))
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.predict(np.array([["a"]], dtype=object))


def test_what_is_neither_number_nor_text_is_refused():
    day = datetime.date(2003, 12, 1)
    for X, column in (
        (ROWS.with_columns(pl.lit(day).alias("day")), "'day' is of type Date"),
        (PANDAS.assign(day=pd.Timestamp(day)), "'day' holds something else"),
        (np.array([["a", day]] * 4, dtype=object), "'x1' holds something else"),
    ):
        with pytest.raises(DataError, match=f"nominal takes numbers and text; column {column}"):
            Nominal().fit(X, Y)
        with pytest.raises(DataError, match=f"ssv takes numbers and text; column {column}"):
            coded(X, "ssv")
    with pytest.raises(DataError, match=r"nominal takes a table of rows and columns; got 1 dimension"):
        Nominal().fit(np.array(["a", "b"], dtype=object), [0, 1])
    with pytest.raises(TamisError, match="column 'x0' has missing values"):
        Nominal().fit([[None, "a"], [1.0, "b"]], [0, 1])


@pytest.mark.parametrize("model", [Nominal(), Missing()], ids=["complete", "missing"])
def test_the_base_keeps_the_contract_of_names(model):
    cloned = clone(model).fit(PANDAS, Y)
    assert cloned.feature_names_in_.tolist() == ROWS.columns
    assert cloned.predict(PANDAS).tolist() == ["no"] * 4


class Around(Missing):
    """Takes everything itself, and a recipe and further recipes."""

    part: ClassVar[Part] = Part("around", positional=("first", "*rest"), paper="none")
    _parameter_constraints: ClassVar[dict] = {"first": [object], "rest": [list]}

    def __init__(self, first=None, rest=()):
        self.first = first
        self.rest = rest


@pytest.fixture
def own_parts():
    known = dict(catalog())
    for cls in (Keeper, Nominal, Missing, Around):
        register(cls, "classifier")
    yield
    catalog().clear()
    catalog().update(known)


@pytest.mark.usefixtures("own_parts")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("keeper", "impute | encode | keeper"),
        ("nominal", "impute | nominal"),
        ("missing", "missing"),
        ("impute(mean) | nominal", "impute(mean) | nominal"),
        ("impute | keeper", "encode | impute | keeper"),
        ("encode | missing", "encode | missing"),
        ("encode(ordinal) | nominal", "impute | encode(ordinal) | nominal"),
        ("cc(2) | missing", "encode | cc(2) | missing"),
        ("cc(2) | nominal", "impute | encode | cc(2) | nominal"),
    ],
)
def test_recipes_are_completed_where_a_part_needs_it(written, expected):
    assert str(completed(parse(written), nominal=True, missing=True)) == expected
    assert str(completed(parse(written), nominal=False, missing=False)) == written


@pytest.mark.usefixtures("own_parts")
@pytest.mark.parametrize(
    ("written", "front"),
    [
        ("around(missing(), missing(), missing())", []),
        ("around(missing(), missing(), nominal())", ["impute"]),
        ("around(nominal())", ["impute"]),
        ("around(cc(2) | missing)", ["encode"]),
        ("around(missing(), missing(), around(missing(), keeper()))", ["impute", "encode"]),
    ],
)
def test_recipes_within_a_part_count_as_parts(written, front):
    chain = completed(parse(written), nominal=True, missing=True)
    assert [part.name for part in chain.parts] == [*front, "around"]
