"""A large CSV is read batch by batch: the data set, its notes and its errors are those of the file read as a whole."""

import codecs
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tamis.base.errors import TamisError
from tamis.data import Reading, load
from tamis.data.load import Sought
from tamis.data.readers import csv

NUMBERS = [
    st.integers(-3, 3).map(str),
    st.floats(-5, 5).map("{:.2f}".format),
    st.sampled_from(["1e3", "-0.5", "+2", "inf", "12345678901234567890", "nan"]),
    st.sampled_from(["1,5", "2,25", "-0,5"]),
    st.sampled_from(["1.234", "2.345.678", "7"]),
    st.sampled_from(["<0.5", ">3", "1", "2.5", "3"]),
    st.sampled_from(["5 mg", "7 mg", "12mg"]),
    st.sampled_from(["20200131", "20210228", "20191224"]),
]
WORDS = [
    st.sampled_from(["red", "green", "blue"]),
    st.sampled_from(["true", "False", "TRUE"]),
    st.sampled_from(["none", "NONE", "Na", ""]),
    st.sampled_from(["é", "ü 2", "a much longer text than twelve letters", "12 monkeys"]),
    st.sampled_from(["2020-01-31", "31.01.2020", "1/2/2020 10:30"]),
]
MARKS = ["", "NA", "?", "none", "N.A.", "-", "lost", "-999", "-999.0"]


@st.composite
def texts(draw: st.DrawFn) -> tuple[bytes, str | None, Reading]:
    """A messy table, the target, and how it is read."""
    delimiter = draw(st.sampled_from([",", ";", "\t", ","]))
    width, height = draw(st.integers(2, 5)), draw(st.integers(6, 24))
    names = [draw(st.sampled_from([f"c{j}", f"c{j}", f"name {j}", "", "id"])) for j in range(width - 1)]
    rows: list[list[str]] = [[] for _ in range(height)]
    for _ in range(width - 1):
        kind = draw(st.sampled_from(NUMBERS * 2 + WORDS))
        late, often = draw(st.sampled_from(["", "", "x", *MARKS])), draw(st.sampled_from([0, 0, 3, 9]))
        for i, row in enumerate(rows):
            row.append(draw(st.sampled_from(MARKS)) if often and i % 10 < often else draw(kind))
        if late and draw(st.booleans()):
            rows[draw(st.integers(0, height - 1))][-1] = late
    if draw(st.booleans()):
        for i, row in enumerate(rows):
            row[0] = str(i)
    for row in rows:
        row.append(
            draw(st.sampled_from(["p", "q", "q", "", "1"])) if draw(st.integers(0, 9)) == 9 else "pq"[len(row[0]) % 2]
        )
    place = draw(st.sampled_from([0, width - 1]))
    table = [[*names, "class"], *rows] if draw(st.integers(0, 5)) else rows
    lines = []
    for row in table:
        cells = [*row[:-1][:place], row[-1], *row[:-1][place:]]
        if draw(st.integers(0, 7)) == 7:
            cells = [f'"{cell}{draw(st.sampled_from(["", delimiter, chr(10), chr(34) * 2]))}"' for cell in cells]
        lines.append(draw(st.sampled_from(["", "", " "])) + delimiter.join(cells))
    for fault in draw(st.lists(st.sampled_from(["1" + delimiter, 'a"b', '"open', "", " ", "\f"]), max_size=1)):
        lines.insert(draw(st.integers(0, len(lines))), fault)
    if draw(st.integers(0, 5)) == 5:
        lines = ["# a comment", *(["#another"] * draw(st.integers(0, 9))), *lines]
    text = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])).join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "cp1252", "utf-16"])), "replace")
    if draw(st.integers(0, 9)) == 9:
        at = draw(st.integers(0, len(content)))
        content = content[:at] + draw(st.sampled_from([b"\x00", b"\x81", b"\xff\xfe"])) + content[at:]
    target = draw(st.sampled_from([None, "class", "c0", "x1", Sought("class"), Sought("class", ["c0"])]))
    given_ = {
        "na": draw(st.sampled_from([(), (), ("lost",), ("-999", "lost")])),
        "decimal": draw(st.sampled_from([None, None, None, ",", "."])),
        "delimiter": draw(st.sampled_from([None, None, None, delimiter])),
        "encoding": draw(st.sampled_from([None, None, None, "utf-8", "cp1252"])),
    }
    if given_["delimiter"] == given_["decimal"]:
        given_["decimal"] = None
    return content, target, Reading(**given_)


def outcome(path: Path, target: str | None, reading: Reading) -> Any:
    """All that is known of a data set, or the message."""
    try:
        data = load(path, target, reading=reading)
    except TamisError as error:
        return str(error)
    parts = {name: exact(rows) for name, rows in data.unlabelled.items()}
    known = (data.feature_names.tolist(), data.target, data.task, data.plan, data.notes, data.name)
    return (exact(data.X), data.y.dtype.kind, data.y.tolist(), parts, *known)


def exact(X: Any) -> Any:
    if isinstance(X, pl.DataFrame):
        return [(column.dtype, [repr(value) for value in column]) for column in X]
    return X.dtype, X.shape, X.flags.f_contiguous, X.flags.c_contiguous, X.tobytes()


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each file that is read with small batches was read in batches."""
    found: list[bool] = []
    read = csv._streamed

    def noted(*arguments: Any) -> Any:
        try:
            data = read(*arguments)
        except TamisError:
            found.append(True)
            raise
        found.append(data is not None)
        return data

    monkeypatch.setattr(csv, "_streamed", noted)
    monkeypatch.setattr(csv, "_SAMPLE_BYTES", 40)
    return found


def both(path: Path, target: str | None, reading: Reading) -> Iterator[Any]:
    """What comes of the file read as a whole, then in small batches."""
    for size, head in ((1 << 22, 1 << 20), (30, 60)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv, "_BATCH", size)
            patch.setattr(sys.modules["tamis.data.load"], "_HEAD_BYTES", head)
            patch.setattr("tamis.data.parsing.text_stream._BLOCK_BYTES", size)
            yield outcome(path, target, reading)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts())
@example((b"a,b,class\n" + b"1,2,p\n3,4,q\n" * 20 + b"NONE,word,q\n", None, Reading()))
@example((b"a;b;class\n" + b"1.234;2,5;p\n3;4;q\n" * 20, None, Reading()))
@example((codecs.BOM_UTF16_LE + b"q,0,0\n" * 23 + b"q,0,0", None, Reading()))
@example((b"a,class\n" + b"1,2\n3,4\n" * 20 + b"1,2,3\n" + b"1,5\n" * 9 + b"\x00", "lost", Reading()))
def test_the_data_set_is_that_of_the_whole_file(tmp_path: Path, streams: list[bool], case: Any) -> None:
    content, target, reading = case
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    whole, in_batches = both(path, target, reading)
    if content.startswith(codecs.BOM_UTF16_LE) and isinstance(whole, str):
        # The names of the columns are looked at first, so that damage further down goes unnoticed where they are wrong.
        assert isinstance(in_batches, str)
    else:
        assert whole == in_batches


def test_the_tables_above_are_read_in_batches(tmp_path: Path, streams: list[bool]) -> None:
    path = tmp_path / "t.csv"
    rows = [
        f"{i},{i / 8},{'NA' if i % 5 == 0 else i * i},{['red', 'blue'][i % 2]},{'pq'[i % 3 > 0]}" for i in range(60)
    ]
    for marks in ("\n", "\r\n"):
        path.write_text(marks.join(["id,size,area,colour,class", *rows, ""]), newline="")
        whole, in_batches = both(path, None, Reading())
        assert whole == in_batches
        assert streams == [True]
        assert whole[4:] == (["size", "area", "colour"], "class", "classify", whole[7], whole[8], "t")
        streams.clear()
