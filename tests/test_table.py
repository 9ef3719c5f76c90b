"""Columns to data sets: the class column, the kinds of columns, labels, and what is refused."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import Table, find_target, from_frame, labels, refuse_infinity

SOURCE = Source(Path("folder/toy.csv"))


def dataset(columns: dict[str, list[object]], target: str | None = None) -> Dataset:
    return from_frame(SOURCE, pl.DataFrame(columns)).dataset(target)


def label_array(column: object) -> np.ndarray:
    return labels(SOURCE, "class", column, lambda row: f"row {row + 1}")


def test_all_numbers_give_an_array() -> None:
    data = dataset({"a": [1, 2, None], "class": ["x", "y", "x"], "b": [0.5, None, float("nan")]})
    assert isinstance(data.X, np.ndarray)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.X, [[1, 0.5], [2, np.nan], [np.nan, np.nan]])
    assert data.feature_names.tolist() == ["a", "b"]
    assert (data.name, data.target, data.n_missing) == ("toy", "class", 3)
    assert data.y.tolist() == ["x", "y", "x"]


def test_words_give_a_data_frame() -> None:
    data = dataset({"a": [1.0, float("nan")], "b": ["p", None], "class": [1, 2]})
    assert data.X.schema == {"a": pl.Float64, "b": pl.String}
    assert data.X.rows() == [(1.0, "p"), (None, None)]
    assert data.nominal.tolist() == [False, True]
    assert data.n_missing == 2


def test_nothing_but_words() -> None:
    data = dataset({"a": ["p", "q"], "class": ["x", "y"]})
    assert data.X.rows() == [("p",), ("q",)]


@pytest.mark.parametrize("dtype", [pl.Null, pl.String, pl.Int8])
def test_a_column_without_values_is_numeric(dtype: type[pl.DataType]) -> None:
    frame = pl.DataFrame({"a": pl.Series([None, None], dtype=dtype), "b": [1, 2], "class": ["x", "y"]})
    data = from_frame(SOURCE, frame).dataset(None)
    assert isinstance(data.X, np.ndarray)
    assert np.isnan(data.X[:, 0]).all()


@pytest.mark.parametrize("words", [[True, None, False], ["TRUE", None, "False"], ["true", None, "FALSE"]])
def test_true_and_false_are_numbers_in_features_and_words_in_the_class(words: list[object]) -> None:
    data = dataset({"a": words, "class": ["x", "y", "x"]})
    np.testing.assert_array_equal(data.X, [[1], [np.nan], [0]])
    data = dataset({"a": [1, 2], "class": words[::2]})
    assert data.y.tolist() == [str(word) if isinstance(word, str) else str(word).lower() for word in words[::2]]


def test_a_third_word_makes_true_and_false_nominal() -> None:
    data = dataset({"a": ["true", "false", "maybe"], "b": ["true", "false", "true"], "class": ["x", "y", "x"]})
    assert data.X.rows() == [("true", 1.0), ("false", 0.0), ("maybe", 1.0)]


numbers_or_nothing = st.floats(allow_infinity=False) | st.none()
words_or_nothing = st.text().map("word {}".format) | st.none()


@given(rows=st.lists(st.tuples(numbers_or_nothing, words_or_nothing, st.integers(-9, 9)), min_size=1))
def test_a_frame_keeps_its_values(rows: list[tuple[float | None, str | None, int]]) -> None:
    frame = pl.DataFrame(rows, orient="row", schema={"n": pl.Float64, "w": pl.String, "t": pl.Int8})
    data = from_frame(SOURCE, frame).dataset("t")
    assert data.y.tolist() == [row[2] for row in rows]
    numbers = [None if row[0] is None or np.isnan(row[0]) else row[0] for row in rows]
    words = [row[1] for row in rows]
    if any(words):
        assert data.X.get_column("n").to_list() == numbers
        assert data.X.get_column("w").to_list() == words
    else:
        np.testing.assert_array_equal(data.X, [[np.nan if n is None else n, np.nan] for n in numbers])


@pytest.mark.parametrize(
    ("names", "target", "at"),
    [
        (["a", "Class", "target"], None, 1),
        (["Y", "LABEL", "a"], None, 1),
        (["a", "y"], None, 1),
        (["a", "class"], "a", 0),
    ],
)
def test_the_class_column(names: list[str], target: str | None, at: int) -> None:
    assert find_target(SOURCE, names, target) == at


def test_the_class_column_is_asked_for_when_it_cannot_be_told() -> None:
    with pytest.raises(DataError, match=r"toy.csv: no column is called class, target, label or y, .* --target; .*'a'"):
        find_target(SOURCE, list("abcdefgh"), None)
    with pytest.raises(DataError, match=r"called 'CLASS'; the nearest is 'class'; the columns are 'class', 'b'$"):
        find_target(SOURCE, ["class", "b"], "CLASS")
    with pytest.raises(DataError, match=r"'a', 'b', 'c', 'd', 'e' and 3 more$"):
        find_target(SOURCE, list("abcdefgh"), "z")


@pytest.mark.parametrize(
    ("column", "expected", "kind"),
    [
        (np.array([1.0, -2.0]), [1, -2], "i"),
        (np.array([0.5, 2.0]), [0.5, 2.0], "f"),
        (np.array([1e300, 2.0]), [1e300, 2.0], "f"),
        (pl.Series(["x", "y"]), ["x", "y"], "U"),
        (pl.Series(["-1", "+1", "10"]), [-1, 1, 10], "i"),
        (pl.Series(["1", "01"]), ["1", "01"], "U"),
        (pl.Series(["1", "2.0"]), ["1", "2.0"], "U"),
        (pl.Series(["99999999999999999999"]), ["99999999999999999999"], "U"),
    ],
)
def test_labels(column: object, expected: list[object], kind: str) -> None:
    y = label_array(column)
    assert y.tolist() == expected
    assert y.dtype.kind == kind


def test_one_class_is_left_to_others() -> None:
    assert dataset({"a": [1, 2], "class": ["x", "x"]}).classes.tolist() == ["x"]


@pytest.mark.parametrize(
    ("columns", "piece"),
    [
        ({"a": [], "class": []}, "has no rows"),
        ({"class": ["x"]}, "has no feature column beside 'class'"),
        ({"a": [1, 2], "class": pl.Series([None, None], dtype=pl.String)}, "the class 'class' is missing in all rows"),
        ({"a": [1, 2], "class": [float("nan")] * 2}, "the class 'class' is missing in all rows"),
        ({"a": [1, 2], "class": [1.0, float("inf")]}, "row 2, column 'class': holds an infinite number"),
        ({"a": [1, 2], "b": [0.0, float("-inf")], "class": ["x", "y"]}, "row 2, column 'b': holds an infinite number"),
        ({"a": [1, 2], "class": ["x", "y" * 2000]}, "row 2: the class 'class' is a text of 2000 characters"),
        ({"a": [b"1"], "class": ["x"]}, "column 'a': has type Binary"),
        ({"a": [{"b": 1}], "class": ["x"]}, "column 'a': has type Struct"),
    ],
)
def test_refused(columns: dict[str, list[object]], piece: str) -> None:
    with pytest.raises(DataError, match=r"toy\.csv") as caught:
        dataset(columns)
    assert piece in str(caught.value)


@pytest.mark.parametrize("classes", [["x", None, "y", None], [1.0, float("nan"), 2.0, float("nan")]])
def test_rows_without_a_class_are_left_out_with_a_note(classes: list[object]) -> None:
    source = Source(Path("toy.csv"))
    data = from_frame(source, pl.DataFrame({"a": [1, 2, 3, 4], "b": list("pqrs"), "class": classes})).dataset(None)
    assert data.X.rows() == [(1.0, "p"), (3.0, "r")]
    assert data.y.tolist() == [classes[0], classes[2]]
    assert source.notes == ["2 rows without a class are left out"]


def test_the_line_of_an_odd_label_counts_the_rows_that_were_left_out() -> None:
    with pytest.raises(DataError, match=r"row 3: the class 'class' is a text of 2000"):
        dataset({"a": [1, 2, 3], "class": [None, "x", "y" * 2000]})


def test_an_optional_class_that_some_rows_lack_is_not_used() -> None:
    source = Source(Path("toy.csv"))
    data = from_frame(source, pl.DataFrame({"a": [1, 2], "class": ["x", None]})).dataset(Sought("class"))
    assert (data.n_rows, data.unlabelled[""].tolist()) == (0, [[1.0], [2.0]])
    assert source.notes == ["1 of 2 rows have no class, so the classes are not used"]


@pytest.mark.parametrize(("name", "near"), [("diagnosys", "'diagnosis'; "), ("DIAGNOSIS", "'diagnosis'; "), ("q", "")])
def test_a_misspelt_target_suggests_the_nearest(name: str, near: str) -> None:
    with pytest.raises(DataError, match="the columns are") as caught:
        find_target(SOURCE, ["age", "diagnosis", "dose"], name)
    assert ("the nearest is " + near in str(caught.value)) == bool(near)


def test_two_columns_of_one_name_are_refused() -> None:
    table = Table(SOURCE, ["a", "b", "a", "class"], np.zeros((2, 4)), {}, str)
    with pytest.raises(DataError, match="columns 1 and 3 are both called 'a'"):
        table.dataset(None)


def test_what_a_nominal_column_holds_as_numbers_does_not_matter() -> None:
    numbers = np.array([[1.0, np.inf, 0.0], [2.0, np.nan, 1.0]])
    data = Table(SOURCE, ["a", "b", "class"], numbers, {1: pl.Series(["inf", "word"])}, str).dataset(None)
    assert data.X.rows() == [(1.0, "inf"), (2.0, "word")]


def test_infinity_in_a_sparse_matrix_is_refused() -> None:
    X = sp.csr_array(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, np.inf]]))
    with pytest.raises(DataError, match=r"toy.csv, line 3, column 'c': holds an infinite number"):
        refuse_infinity(SOURCE, X, ["a", "b", "c"], lambda row: f"line {row + 1}")


@given(st.text())
def test_a_quoted_name_stays_on_one_short_line(text: str) -> None:
    assert len(quoted(text).splitlines()) == 1
    assert quoted("x" * 1000 + text) == repr("x" * 37 + "...")
