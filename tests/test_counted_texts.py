"""Texts that are counted while a file is read in batches: the data set and the errors are those of the whole file."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.base.errors import DataError, TamisError
from tamis.cli.main import app
from tamis.compose.rank import rank
from tamis.data import Reading, load
from tamis.data.dataset import Dataset
from tamis.data.load import _read_counted, _with_sense, read
from tamis.data.parsing import tokens
from tamis.data.parsing.delimited_batches import row_batches
from tamis.data.parsing.delimited_rows import split
from tamis.data.parsing.reader import Source
from tamis.data.parsing.side_by_side import side_by_side

BODY = Reading(text=["body"])
ROWS = [
    ("crude", "Oil prices rose, traders said.\nMore tomorrow", 3.5, "eu"),
    ("grain", 'wheat and "hard" corn', 1.25, "us"),
    ("crude", "", 2.0, "us"),
    ("grain", "NA", None, "eu"),
    (None, "onlyhere is a word of a row without a class", 9.0, "eu"),
    ("crude", "Ölpreise, été 5 barrels of oil", 4.0, None),
    ("grain", "<p>corn &amp; oil</p>", 1.0, "us"),
    (None, "<b href='x'>nowhere else</b>", 1.0, "eu"),
    *(
        (("crude", "grain")[i % 2], f"word{i} oil{i % 7} corn{i % 5}\nside{i % 2}", float(i % 4), "eu")
        for i in range(40)
    ),
]
NAMES = ("label", "body", "price", "market")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.data.readers.csv._BATCH", 37)
    monkeypatch.setattr("tamis.data.readers.csv._HEADER_ROWS", 3)
    monkeypatch.setattr("tamis.data.readers.jsonl._BATCH", 90)
    monkeypatch.setattr("tamis.data.readers.parquet._BATCH", 200)
    monkeypatch.setattr("tamis.data.parsing.text_stream._BLOCK_BYTES", 50)
    monkeypatch.setattr("tamis.data.parsing.side_by_side._BLOCK", 10)
    monkeypatch.setattr(tokens, "_BLOCK", 7)


def as_csv(rows: Any = ROWS, names: Any = NAMES, **options: Any) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", **options)
    writer.writerow(names)
    writer.writerows(rows)
    return file.getvalue()


def whole(path: Path, target: str | None = "label", reading: Reading = BODY) -> Dataset:
    """The data set of a file that is read at once."""
    return _with_sense(read(path, target, reading), reading)


def same(path: Path, target: str | None = "label", reading: Reading = BODY) -> Dataset:
    """The data set of a file that was read in batches, once it equals that of the whole file."""
    assert _read_counted(path, target, reading) is not None
    found, expected = load(path, target, reading=reading), whole(path, target, reading)
    assert found.notes == expected.notes
    assert found.plan == expected.plan
    assert (found.name, found.target, dict(found.counted)) == (expected.name, expected.target, {})
    assert found.feature_names.dtype == expected.feature_names.dtype
    assert found.feature_names.tolist() == expected.feature_names.tolist()
    assert found.y.tolist() == expected.y.tolist()
    assert found.X.shape == expected.X.shape
    for name in ("data", "indices", "indptr"):
        ours, theirs = getattr(found.X, name), getattr(expected.X, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    assert found.X.documents.tolist() == expected.X.documents.tolist()
    for name in ("names", "words", "offsets", "codes"):
        ours, theirs = (getattr(data.X.vocabulary, name) for data in (found, expected))
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    return found


@pytest.mark.parametrize(
    "reading",
    [
        BODY,
        Reading(text=["body", "market"]),
        Reading(text=["bo*"], drop=["price", "market"]),
        Reading(text=["body"], kinds={"price": "nominal"}, na=["us"]),
        Reading(kinds={"body": "text"}, keep=["market"]),
    ],
    ids=["mixed", "two texts", "pattern", "na", "kinds"],
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "jsonl", "parquet"])
def test_the_data_set_is_that_of_the_whole_file(tmp_path: Path, reading: Reading, ending: str) -> None:
    path = tmp_path / f"texts.{ending}"
    if ending == "jsonl":
        path.write_text("\n\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS))
    elif ending == "parquet":
        pl.DataFrame(ROWS, schema=NAMES, orient="row").write_parquet(path, row_group_size=5)
        reading = Reading(**{**vars(reading), "na": ()})
    else:
        content = as_csv(delimiter="\t" if ending == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    data = same(path, reading=reading)
    assert "2 rows without a class are left out" in data.notes
    assert not any("onlyhere" in name for name in data.feature_names)


def test_the_layouts_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    texts = [(label, body) for label, body, _, _ in ROWS]
    for content in (
        as_csv(texts, NAMES[:2]),
        "# a comment\n# another one\n" + as_csv(texts, NAMES[:2]),
        "sep=;\n" + as_csv(texts, NAMES[:2], delimiter=";"),
        as_csv(texts, NAMES[:2], quoting=csv.QUOTE_ALL).replace("\n", "\r\n"),
        "\ufeff" + as_csv([(i, *row) for i, row in enumerate(texts)], ["", *NAMES[:2]]),
        "label,body\n" + "".join(f'{"ab"[i % 2]},a 5" pipe and {i} more "words"\n\n' for i in range(30)),
        "label,body\n"
        + "".join(f"{'ab'[i % 2]},{'5' + chr(34) if i % 3 else chr(34) * 2} pipe{i}\n" for i in [1, 2, 4]),
    ):
        path.write_text(content, newline="")
        same(path)
    path.write_bytes(as_csv(texts, NAMES[:2]).encode("cp1252"))
    assert "the text is cp1252, not UTF-8" in same(path).notes
    path.write_bytes(as_csv(texts, NAMES[:2]).encode("mac-roman"))
    same(path, reading=Reading(text=["body"], encoding="mac-roman"))
    path.write_text("a,good day\nb,bad day\n" * 60)
    same(path, "x1", Reading(text=["x2"]))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_what_cannot_be_read_in_batches_is_read_as_a_whole(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "texts.csv"
    path.write_bytes("label,body\na,good day\nb,bad day\n".encode(encoding))
    assert _read_counted(path, "label", BODY) is None
    assert load(path, "label", reading=BODY).X.names == ["bad", "day", "good"]
    path = tmp_path / "texts.json"
    path.write_text('[{"label": "a", "body": "good day"}, {"label": "b", "body": "bad day"}]')
    assert load(path, "label", reading=BODY).X.names == ["bad", "day", "good"]


def test_a_text_of_numbers_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("body,label\n" + "".join(f"{10 + i % 3},{'ab'[i % 2]}\n" for i in range(30)) + "twelve,a\n")
    assert load(path, "label", reading=BODY).X.names == ["10", "11", "12", "twelve"]


def test_keys_that_come_late(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    lines = [{"label": "ab"[i % 2], "body": f"good day {i}"} for i in range(12)]
    lines += [{"body": None, "size": i, "label": "a"} for i in range(12)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    same(path)
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines[12:], *lines[:12]]))
    same(path)
    late = [{key: value for key, value in line.items() if key != "body"} for line in lines[12:]]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*late, *lines[:12]]))
    assert _read_counted(path, "label", BODY) is None
    assert "size" in load(path, "label", reading=BODY).feature_names


def test_the_order_of_the_words_is_given_up_as_in_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_MOST_IN_ORDER", 20)
    path = tmp_path / "texts.csv"
    path.write_text(as_csv())
    assert not same(path).X.vocabulary.has_order


@given(
    text=st.text('ab", \n', min_size=1, max_size=40).map('p,"q"\n{}'.format),
    sizes=st.lists(st.integers(1, 12), min_size=1),
)
@settings(max_examples=300)
def test_rows_of_batches_are_those_of_the_whole_text(text: str, sizes: list[int]) -> None:
    source = Source(Path("cut.csv"))
    data, blocks = text.encode(), []
    while data:
        size = sizes[len(blocks) % len(sizes)]
        blocks.append(data[:size])
        data = data[size:]
    found: list[Any] = []
    try:
        rows = split(source, text.encode(), ",")
        found.append((rows.cells.fill_null("").to_list(), rows.lines().tolist()))
    except DataError as error:
        found.append(str(error))
    try:
        batches = list(row_batches(source, blocks, ","))
        cells = [cell for rows in batches for cell in rows.cells.fill_null("").to_list()]
        found.append((cells, [line for rows in batches for line in rows.lines().tolist()]))
    except DataError as error:
        found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", 'label,body\na,"good day"\nb,"bad d', r"t\.csv, line 3, column 2: a quote is not closed"),
        ("t.csv", 'label,body\na,"good day"\n' * 20 + 'a,"x\ny" z\nb,"q"\n', r"line 41, column 2: .* text follows"),
        ("t.csv", "body,label\ngood day,a\nbad day,b\nbad", r"line 4: has 1 value where line 1 has 2"),
        ("t.csv", "body,label\n" + "good day,a\n" * 50 + "good,day,b\n", r"line 52: has 3 values where line 1 has 2"),
        ("t.csv", "body,label,size\n" + "good day,a,1\n" * 50 + "day,b,x\n", r"line 52, column 'size': 'x' is not a"),
        ("t.csv", "body,label\n" + "good day,a\n" * 50 + "\x00,b\n", r"line 52: contains a NUL byte"),
        ("t.jsonl", '{"body": "a day", "label": 1}\n' * 30 + '{"body": "a d', r"line 31, column 10: .* is cut short"),
        ("t.csv", "bdy,label\ngood day,a\nbad day,b\n", r"no column is called 'body'.*'bdy'"),
        ("t.csv", "body,kind\ngood day,a\nbad day,b\n", r"no column is called 'label'"),
        ("t.csv", "body,label\n", r"has no rows"),
        ("t.csv", "\n", r"t\.csv: is empty"),
        ("t.csv.gz", "body,label\ngood day,a\n", r"is named \.gz but is not gzip data"),
        ("t.csv", "body,label\n--,a\n.,b\n", r"there is no word in 'body'"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(TamisError, match=message) as ours:
        load(path, "label", reading=BODY)
    assert "\n" not in str(ours.value)
    with pytest.raises(TamisError) as theirs:
        whole(path)
    assert str(ours.value) == str(theirs.value)


def test_a_file_that_was_cut_in_the_middle(tmp_path: Path) -> None:
    content = gzip.compress(as_csv().encode())
    (tmp_path / "t.csv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"the gzip data is damaged or cut short"):
        load(tmp_path / "t.csv.gz", "label", reading=BODY)
    path = tmp_path / "t.parquet"
    pl.DataFrame(ROWS, schema=NAMES, orient="row").write_parquet(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"is not a Parquet file, or is cut short"):
        load(path, "label", reading=BODY)
    path.write_bytes(content[:40] + b"\xff" * (len(content) - 48) + content[-8:])
    with pytest.raises(DataError, match=r"is a damaged Parquet file"):
        load(path, "label", reading=BODY)
    path = tmp_path / "bytes.csv"
    path.write_bytes(b"label,body\n" + b"a,good day\n" * 30 + b"b,\x81\x01\n")
    with pytest.raises(DataError, match=r"line 32: is not UTF-8 text, nor UTF-16 or cp1252"):
        load(path, "label", reading=BODY)


@pytest.mark.parametrize("by", ["chi2", "ig", "bns(5)", "cc", "chi2(fdr=0.1)", "words(2, max_df=0.5) | tfv(4)", "kl"])
def test_a_ranking_by_blocks_of_columns_is_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(as_csv([(label, body) for label, body, _, _ in ROWS], NAMES[:2]))
    expected = rank(path, by=by, target="label", text=["body"])
    monkeypatch.setattr("tamis.compose.fit_by_columns._ENTRIES", 11)
    assert rank(path, by=by, target="label", text=["body"]).equals(expected)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 6), st.integers(0, 99))
def test_matrices_side_by_side(widths: list[int], height: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = [rng.integers(0, 2, (height, width)).astype(np.float32) for width in widths]
    found = side_by_side([sp.csr_array(one) for one in dense])
    expected = sp.csr_array(np.hstack(dense))
    assert found.dtype == np.float32
    assert found.has_sorted_indices
    assert np.array_equal(found.toarray(), expected.toarray())


def test_the_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    path = tmp_path / "texts.csv"
    path.write_text(as_csv())
    done = CliRunner().invoke(app, ["rank", str(path), "chi2", "--text", "body", "--target", "label", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rows"] == len(ROWS) - 2
