"""JSON lines: read as a table of text, with every fault told by its line."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis as library
from fuzzing import damaged, survives
from reading import put, reads, rows_of
from tamis.base.errors import DataError
from tamis.data.load import Sought, load
from tamis.data.parsing.reader import Source
from tamis.data.readers.jsonl import reader
from tamis.data.reading import Reading

GOOD = b'{"size": 1.5, "colour": "red", "class": "p"}\n{"class": "q", "size": 2, "new": true}\n'
read = reads(reader, "t.jsonl")

values = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)


def test_missing_keys_are_missing_values(tmp_path: Path) -> None:
    data = read(tmp_path, GOOD)
    assert data.feature_names.tolist() == ["size", "colour", "new"]
    assert rows_of(data) == [(1.5, "red", None), (2.0, None, 1.0)]
    assert data.y.tolist() == ["p", "q"]


@given(st.lists(st.fixed_dictionaries({"a": values, "b": values}), min_size=1, max_size=6))
def test_numbers_come_back_exactly(folder: Path, rows: list[dict[str, object]]) -> None:
    lines = "".join(
        json.dumps({"a": row["a"], "b": row["b"], "class": f"c{i % 2}"}) + "\n" for i, row in enumerate(rows)
    )
    known = [(row["a"], row["b"]) for row in rows]
    if any(len({type(v) is bool for v in column if v is not None}) == 2 for column in zip(*known, strict=True)):
        return  # true among numbers is a word there
    expected = [tuple(None if v is None else float(v) for v in row) for row in known]  # type: ignore[arg-type]
    assert rows_of(read(folder, lines)) == expected


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t.jsonl.gz", "t.txt", "t"])
def test_found_by_name_and_by_content(tmp_path: Path, name: str) -> None:
    content = gzip.compress(GOOD) if name.endswith(".gz") else GOOD
    assert load(put(tmp_path, {name: content}) / name).y.tolist() == ["p", "q"]


def test_one_list_of_objects(tmp_path: Path) -> None:
    lines = read(tmp_path, GOOD)
    listed = read(tmp_path, json.dumps([json.loads(line) for line in GOOD.splitlines()], indent=2), name="t.json")
    assert rows_of(listed) == rows_of(lines)
    assert listed.y.tolist() == lines.y.tolist()


def test_text_that_json_can_hold(tmp_path: Path) -> None:
    lines = '\ufeff{"a": "caf\\u00e9\\u0000\\ud800", "class": 1}\r\n\r\n{"a": " \\ud83d\\ude00 ", "class": 2}'
    assert rows_of(read(tmp_path, lines)) == [("café\x00\ufffd",), ("😀",)]


def test_a_second_file_in_json(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"t.csv": "id,a\nk,1\nl,2\n", "labels.jsonl": '{"id": "l", "class": "q"}\n{"id": "k", "class": "p"}\n'},
    )
    data = load(tmp_path / "t.csv", reading=Reading(labels=tmp_path / "labels.jsonl"))
    assert data.y.tolist() == ["p", "q"]


def test_rows_without_a_class(tmp_path: Path) -> None:
    data = read(tmp_path, '{"text": "one"}\n{"text": "two"}\n', Sought("class"))
    assert data.unlabelled[""].rows() == [("one",), ("two",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD[:-20], r"line 2, column \d+: is not JSON, or is cut short"),
        (GOOD + b"[1, 2]\n", "line 3: is no object"),
        (
            GOOD + b'{"size": {"x": 1}}\n',
            "line 3: 'size' is an object; values must be numbers, text, true, false or null",
        ),
        (GOOD + b'{"tags": ["a"]}\n', "line 3: 'tags' is a list"),
        (GOOD + b'{"size": 1, "size": 2}\n', "line 3: an object has the key 'size' twice"),
        (b"[]", "is an empty list"),
        (b'[{"a": 1}, 2]', "object 2: is no object"),
        (b'[{"a": 1},\n{"a": 2', "line 2, column 8: is not JSON, or is cut short"),
        (b"{}\n{}\n", "have no keys"),
        (b'{"a": ' + b"9" * 5000 + b', "class": 1}\n', "line 1: holds a number that is too long"),
        (b'{"a": ' + b"[" * 100000, "line 1"),
        (b'{"a": Infinity, "class": 1}\n{"a": 1, "class": 2}\n', "line 1, column 'a': holds an infinite number"),
        (b'{"a": 1}\n{"a": 2}\n', "name the class with --target"),
        (b" \n\n", "is empty"),
        (b'{"a": "\x00"}\n', "NUL byte"),
    ],
)
def test_faults_are_told_by_line(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "t.jsonl"))
    assert len(str(caught.value).splitlines()) == 1


@given(damaged([GOOD, b'[{"a": 1, "class": "p"}, {"a": 2, "class": "q"}]']))
def test_damaged_files(folder: Path, content: bytes) -> None:
    survives(reader, folder / "t.jsonl", content)


def test_texts_from_the_command_line(tmp_path: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    rows = [{"label": "ab"[i % 2], "body": f"{'gene' if i % 2 else 'star'} common{i % 5} seen"} for i in range(30)]
    path = put(tmp_path, {"t.jsonl": "".join(json.dumps(row) + "\n" for row in rows)}) / "t.jsonl"
    status, out, _ = tamis("rank", path, "chi2", "--text", "body", "--json")
    assert status == 0
    assert {row["feature"] for row in json.loads(out)["ranking"][:2]} == {"gene", "star"}
    path.write_text('{"body": "one"}\n{"body": ["two"]}\n')
    status, _, error = tamis("rank", path, "chi2", "--text", "body")
    assert status == 2
    assert "line 2: 'body' is a list" in error


def test_web_pages(shared_data: Path) -> None:
    path = shared_data / "webkb4" / "webkb4_raw.jsonl.gz"
    if not path.is_file():
        pytest.skip("WebKB is not there")
    data = reader.read(Source(path), None)
    assert data.feature_names.tolist() == ["university", "name", "html"]
    assert Counter(data.y.tolist()) == {"student": 1641, "faculty": 1124, "course": 930, "project": 504}
    assert library.load(path).left_out.keys() >= {"html"}
