"""Numbers as people write them: what is written in any style is read back, and styles are told apart."""

import csv
import io
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import put
from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.data.load import read as load
from tamis.data.reading import Reading

#: Decimal mark and thousands mark.
STYLES = [(",", "."), (",", " "), (",", "\u00a0"), (".", ","), (".", "'"), (".", " "), (",", ""), (".", "")]

numbers = st.lists(st.integers(-(10**10), 10**10), min_size=3, max_size=8)


def written(value: int, decimal: str, thousands: str) -> str:
    """A number of hundredths in a style."""
    return f"{Decimal(value) / 100:,.2f}".translate(str.maketrans({",": thousands, ".": decimal}))


def saved(folder: Path, columns: list[list[str]], delimiter: str, **options: object) -> Dataset:
    """The data set of these columns and a class."""
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow([*(f"c{j}" for j in range(len(columns))), "class"])
    writer.writerows([*row, "pq"[i % 2]] for i, row in enumerate(zip(*columns, strict=True)))
    return load(put(folder, {"t.csv": file.getvalue()}) / "t.csv", reading=Reading(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("style", STYLES, ids=repr)
@given(values=numbers, delimiter=st.sampled_from(";\t,|"), missing=st.sampled_from(["", "NA", "n/a", "#N/A", "-"]))
@settings(max_examples=15)
def test_a_column_in_any_style_is_read_back(
    folder: Path, style: tuple[str, str], values: list[int], delimiter: str, missing: str
) -> None:
    data = saved(folder, [[*(written(value, *style) for value in values), missing]], delimiter)
    np.testing.assert_array_equal(data.X[:, 0], [*(value / 100 for value in values), np.nan])


@given(values=numbers, others=st.lists(st.integers(0, 10**6), min_size=8, max_size=8))
def test_whole_numbers_beside_decimal_commas(folder: Path, values: list[int], others: list[int]) -> None:
    columns = [[written(value, ",", "") for value in values], [str(other) for other in others[: len(values)]]]
    data = saved(folder, columns, ";")
    np.testing.assert_array_equal(data.X[:, 1], others[: len(values)])


@given(values=numbers, limited=st.data())
def test_limits_are_taken_as_numbers(folder: Path, values: list[int], limited: st.DataObject) -> None:
    values = [*values, 1, 2, 3]
    marks = limited.draw(st.lists(st.sampled_from(["", "<", ">", "<= ", "≥"]), min_size=3, max_size=len(values) - 3))
    marks = [*marks, *[""] * (len(values) - len(marks))]
    data = saved(folder, [[mark + written(v, ".", "") for mark, v in zip(marks, values, strict=True)]], ",")
    np.testing.assert_array_equal(data.X[:, 0], [value / 100 for value in values])
    count = sum(mark != "" for mark in marks)
    assert sum("detection limit" in note and note.startswith(f"{count} ") for note in data.notes) == (count > 0)


def test_a_wide_table_of_decimal_commas(folder: Path) -> None:
    X = np.random.default_rng(0).integers(-(10**6), 10**6, (20, 500)) / 1000
    texts = [[f"{value:.3f}".replace(".", ",") for value in column] for column in X.T]
    np.testing.assert_array_equal(saved(folder, texts, ";").X, X)


def test_words_that_hold_digits_stay_words(folder: Path) -> None:
    columns = [["P001", "P002"], ["3-4", "5-6"], ["12:30", "13:45"], ["1.2.3", "1.2.4"], ["1,2,3", "4,5,6"]]
    data = saved(folder, columns, ";")
    assert data.nominal.all()
    assert data.X.rows() == list(zip(*columns, strict=True))


def test_the_class_is_not_taken_apart(folder: Path) -> None:
    data = load(put(folder, {"t.csv": "a;class\n1,5;10 %\n2,5;20 %\n"}) / "t.csv")
    assert data.y.tolist() == ["10 %", "20 %"]


def test_a_given_decimal_mark_is_kept_to(folder: Path) -> None:
    assert saved(folder, [["1.234", "5.678"]], ";", decimal=",").X.ravel().tolist() == [1234.0, 5678.0]
    assert saved(folder, [["1,234", "5,678"]], ";", decimal=".").X.ravel().tolist() == [1234.0, 5678.0]
    data = saved(folder, [["1.5", "2.5"]], ";", decimal=",")
    assert data.X.ravel().tolist() == [1.5, 2.5]
    assert data.notes == ("points are decimal marks all the same in 'c0'",)
    assert saved(folder, [["1,5", "2,5"]], ";", decimal=".").nominal.all()


@pytest.mark.parametrize(
    ("options", "piece"),
    [
        ({"decimal": "x"}, "decimal must be '.' or ','"),
        ({"delimiter": "ab"}, "delimiter must be one character"),
        ({"delimiter": "\n"}, "delimiter must be one character"),
        ({"delimiter": ",", "decimal": ","}, "cannot both be ','"),
        ({"encoding": "klingon"}, "encoding 'klingon' is unknown"),
        ({"encoding": "base64"}, "encoding 'base64' is unknown"),
        ({"on": "id"}, "goes with labels"),
    ],
)
def test_bad_ways_of_reading(options: dict[str, str], piece: str) -> None:
    with pytest.raises(TamisError, match=piece):
        Reading(**options)  # type: ignore[arg-type]


def test_reading_as_options() -> None:
    assert Reading().words() == ""
    reading = Reading(decimal=",", na=("n d", "-9"), transpose=True, delimiter="tab")
    assert reading.words() == " --decimal , --na 'n d' --na -9 --delimiter '\t' --transpose"
    assert reading.given() == ["decimal", "na", "delimiter", "transpose"]
