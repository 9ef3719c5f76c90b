"""The reader of Excel workbooks: exact values, and damaged files."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing import damaged, survives
from reading import reads, rows_of
from tamis.base.errors import DataError
from tamis.data.load import load
from tamis.data.parsing.reader import Source
from tamis.data.readers.xlsx import reader
from workbooks import workbook

read = reads(reader, "toy.xlsx")
GOOD = workbook({"S": [["size", "colour", "class"], [1.5, "r", "x"], [2, "g", "y"], [None, "b", "x"]]})


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=6))
def test_numbers_keep_all_their_digits(folder: Path, values: list[float]) -> None:
    rows = [[value, "xy"[i % 2]] for i, value in enumerate(values)]
    assert [row[0] for row in rows_of(read(folder, workbook({"S": [["a", "class"], *rows]})))] == values


def test_whole_numbers_stay_whole_in_the_class_and_among_words(folder: Path) -> None:
    data = read(folder, workbook({"S": [["a", "class"], ["k", 1], [2, 0], ["007", 1]]}))
    assert data.y.tolist() == [1, 0, 1]
    assert rows_of(data) == [("k",), ("2",), ("007",)]


def test_the_content_tells_whatever_the_name(folder: Path) -> None:
    (folder / "book.dat").write_bytes(GOOD)
    assert load(folder / "book.dat").X.rows() == [(1.5, "r"), (2.0, "g"), (None, "b")]


def test_what_is_no_workbook(folder: Path) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    for content in (packed.getvalue(), GOOD[:300], b"PK\x03\x04", b"a,b\n1,2\n"):
        with pytest.raises(DataError, match=r"toy\.xlsx"):
            read(folder, content)
    with pytest.raises(DataError, match="one column"):
        read(folder, workbook({"S": [["class"], ["x"], ["y"]]}))


@given(content=damaged([GOOD]), target=st.sampled_from((None, "size")))
@settings(max_examples=80)
def test_damaged_files_give_data_or_an_error(folder: Path, content: bytes, target: str | None) -> None:
    survives(reader, folder / "damaged.xlsx", content, target)


def test_reading_notes_the_other_sheets(folder: Path) -> None:
    (folder / "two.xlsx").write_bytes(workbook({"A": [["a", "class"], [1, "x"], [2, "y"]], "B": [["b"]]}))
    source = Source(folder / "two.xlsx")
    reader.read(source, None)
    assert source.notes == ["the first sheet, 'A', is read; the others are 'B'"]
