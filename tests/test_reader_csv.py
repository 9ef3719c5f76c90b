"""The CSV reader: against Python's csv module and pandas, what it finds in the text, and damaged files."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_tables import GOOD_CSV
from fuzzing import damaged, survives
from reading import reads, rows_of
from tamis.base.errors import DataError
from tamis.data.parsing.delimited_rows import scan, split
from tamis.data.parsing.missing_marks import MARKS, WORD_MARKS
from tamis.data.parsing.reader import Source
from tamis.data.readers.csv import reader

read = reads(reader, "toy.csv")

# Names and words that need quotes, and that are neither numbers, marks nor each other.
odd_text = st.text(st.characters(exclude_characters="\x00\r", exclude_categories=["Cs"]), max_size=6)
names = st.lists(odd_text.map("n{}z".format), min_size=1, max_size=5, unique=True)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6).map(float)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[object]], list[list[object]]]:
    """Names, the columns as written, and the columns as they should be read; the first is the class."""
    height = draw(st.integers(1, 6))
    columns = draw(names)
    written: list[list[object]] = []
    expected: list[list[object]] = []
    for number in range(len(columns) + 1):
        is_number = number > 0 and draw(st.booleans())
        value = numbers if is_number else odd_text.map("w{}z".format)
        marks = st.sampled_from(MARKS if is_number else WORD_MARKS)
        cells: list[object] = draw(
            st.lists(value if number == 0 else value | st.none(), min_size=height, max_size=height)
        )
        written.append([draw(marks) if cell is None else cell for cell in cells])
        expected.append(cells)
    return ["class", *columns], written, expected


@given(table=tables(), delimiter=st.sampled_from(",;|\t"), line_end=st.sampled_from(("\n", "\r\n")), bom=st.booleans())
@settings(max_examples=150)
def test_reads_what_the_csv_module_writes(
    folder: Path,
    table: tuple[list[str], list[list[object]], list[list[object]]],
    delimiter: str,
    line_end: str,
    bom: bool,
) -> None:
    header, written, expected = table
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(header)
    writer.writerows(zip(*written, strict=True))
    content = file.getvalue().encode("utf-8-sig" if bom else "utf-8")
    data = read(folder, gzip.compress(content) if bom else content, name="toy.csv.gz" if bom else "toy.csv")
    assert data.target == "class"
    assert data.feature_names.tolist() == header[1:]
    assert data.y.tolist() == expected[0]
    assert rows_of(data) == list(zip(*expected[1:], strict=True))
    wordy = [any(isinstance(cell, str) for cell in column) for column in expected[1:]]
    assert data.nominal.tolist() == wordy


@given(text=st.text('ab",\n', min_size=1, max_size=40).map("p,q\n{}".format))
@settings(max_examples=300)
def test_cuts_rows_as_the_csv_module_does(folder: Path, text: str) -> None:
    source = Source(folder / "cut.csv")
    try:
        records = [row for row in csv.reader(io.StringIO(text + "\n"), strict=True) if row]
    except csv.Error:
        records = []
    if records and all(len(row) == 2 for row in records):
        rows = split(source, text.encode(), ",")
        assert rows.width == 2
        assert rows.cells.fill_null("").to_list() == [cell for row in records for cell in row]
        assert scan(source, text.encode() + b"\n", ",")[0].cells.to_list() == rows.cells.fill_null("").to_list()
    else:
        with pytest.raises(DataError, match=r"cut\.csv, line"):
            split(source, text.encode(), ",")


cells = st.sampled_from(["a", " b ", "", '"a"', ' "a,b"\t', '"x\ny"', '""', '"p""q"', '5"', 'a"b"', '"c"d', '"e'])


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
@settings(max_examples=200)
def test_the_quick_way_and_the_careful_way_agree(folder: Path, rows: list[tuple[str, str]]) -> None:
    text = '"p",q\n' + "".join(f"{first},{second}\n" for first, second in rows)
    found: list[object] = []
    for cut in (split, lambda *given: scan(*given)[0]):
        try:
            result = cut(Source(folder / "cut.csv"), text.encode(), ",")
            found.append((result.cells.fill_null("").to_list(), result.starts.tolist()))
        except DataError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_reads_what_pandas_reads(folder: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 30)) * 10.0 ** rng.integers(-300, 300, size=30)).add_prefix("f")
    frame = frame.mask(rng.random(frame.shape) < 0.1).assign(label=rng.integers(0, 3, 50))
    text = frame.to_csv(index=False, na_rep="NA")
    data = read(folder, text)
    np.testing.assert_array_equal(data.X, frame.drop(columns="label").to_numpy())
    assert data.y.tolist() == frame["label"].tolist()
    assert data.y.dtype == np.int64


@pytest.mark.parametrize(("name", "target", "shape"), [("wdbc", "class", (569, 30)), ("wpbc", "outcome", (198, 34))])
def test_real_files_as_pandas_reads_them(shared_data: Path, name: str, target: str, shape: tuple[int, int]) -> None:
    path = shared_data / "uci" / f"{name}.csv.gz"
    data = reader.read(Source(path), target)
    frame = pd.read_csv(path, na_values="?")
    assert data.X.shape == shape
    np.testing.assert_array_equal(data.X, frame.drop(columns=target).to_numpy())
    assert data.y.tolist() == frame[target].tolist()
    assert data.name == name


@pytest.mark.parametrize(
    "text",
    [
        "a,b,class\n1,x,p\n2,?,q\n",
        "a;b;class\n1;x;p\n2;?;q\n",
        "a|b|class\n1|x|p\n2|NA|q\n",
        "a\tb\tclass\n1\tx\tp\n2\t\tq\n",
        "a b class\n1 x p\n2 ? q\n",
        "  a  b\tclass\n 1   x p  \n2 ?\t  q\n",
        '"a","b","class"\n"1","x","p"\n"2","","q"\n',
        "a, b, class\n1, x, p\n2, null, q\n",
        'a , b , class\n1 , "x" , p\n2,\tN/A\t,q',
        "\ufeffa,b,class\r\n1,x,p\r\n2,?,q\r\n",
        "a,b,class\r1,x,p\r2,?,q\r",
        "\n\na,b,class\n\n1,x,p\n   \n2,?,q\n\n\n",
    ],
)
def test_the_same_table_in_many_dresses(folder: Path, text: str) -> None:
    for name, content in (("toy.csv", text.encode()), ("toy.tsv.gz", gzip.compress(text.encode()))):
        data = read(folder, content, name=name)
        assert reader.looks_right(Source(folder / name))
        assert data.feature_names.tolist() == ["a", "b"]
        assert rows_of(data) == [(1.0, "x"), (2.0, None)]
        assert data.y.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("text", "target", "names", "y"),
    [
        ("1,2,x\n3,4,y\n", "x3", ["x1", "x2"], ["x", "y"]),
        ("a,2,x\nb,4,y\na,4,y\n", "x3", ["x1", "x2"], ["x", "y", "y"]),
        ("n,y,n\ny,n,y\ny,y,n\n", "x2", ["x1", "x3"], ["y", "n", "y"]),
        ("a,b,c\np,q,r\n", "x1", ["x2", "x3"], ["a", "p"]),
        ("red,small\nblue,small\n", "x2", ["x1"], ["small", "small"]),
        ("?,2,x\n3,4,y\n", "x3", ["x1", "x2"], ["x", "y"]),
        ("colour,size\nred,small\nred,large\n", "size", ["colour"], ["small", "large"]),
        ("colour,kind\nred,p\nred,q\n", "kind", ["colour"], ["p", "q"]),
        ("400,402.5,class\n1,2,p\n3,4,q\n", None, ["400", "402.5"], ["p", "q"]),
        (",0,1,class\n0,1,2,p\n1,3,4,q\n", None, ["0", "1"], ["p", "q"]),
        ("0,1,2,3\n5,6,7,0\n9,9,9,1\n", "3", ["0", "1", "2"], [0, 1]),
        ("2,3\n5,6\n", "3", ["2"], [6]),
        ("a,,class\n1,2,p\n", None, ["a", "x2"], ["p"]),
    ],
)
def test_the_header(folder: Path, text: str, target: str | None, names: list[str], y: list[object]) -> None:
    data = read(folder, text, target)
    assert data.feature_names.tolist() == names
    assert data.y.tolist() == y


@pytest.mark.parametrize("first", ["0,1,2,3", "1,2,3,4"])
def test_a_row_that_counts_the_columns_is_a_header(folder: Path, first: str) -> None:
    with pytest.raises(DataError, match=f"the columns are '{first[0]}'"):
        read(folder, f"{first}\n5,6,7,8\n9,9,9,9\n")


@pytest.mark.parametrize("delimiter", ",;|\t")
def test_one_delimiter_inside_values_of_another(folder: Path, delimiter: str) -> None:
    others = ",;|".replace(delimiter, "")
    text = f"a{delimiter}class\nred{others[0]} blue{delimiter}p\nred{delimiter}q\n"
    assert rows_of(read(folder, text)) == [(f"red{others[0]} blue",), ("red",)]


def test_marks_of_missing_values_in_numbers_and_in_words(folder: Path) -> None:
    rows = "".join(f"{mark},{mark},p\n" for mark in MARKS)
    data = read(folder, f"number,word,class\n1.5,some,q\n{rows}")
    number, word = zip(*rows_of(data), strict=True)
    assert number == (1.5, *[None] * len(MARKS))
    assert word == ("some", *[None] * len(WORD_MARKS), *MARKS[len(WORD_MARKS) :])


def test_plus_and_minus_are_classes(folder: Path) -> None:
    assert read(folder, "a,class\n1,+\n2,-\n3,+\n").y.tolist() == ["+", "-", "+"]


def test_nine_numbers_in_ten_make_a_word_a_mistake(folder: Path) -> None:
    rows = [f"{number},{number},p" for number in range(9)]
    assert rows_of(read(folder, "\n".join(["a,b,class", *rows[1:], "x,1,q"])))[-1] == ("x", 1.0)
    with pytest.raises(DataError, match=r"toy\.csv, line 11, column 'a': 'x' is not a number"):
        read(folder, "\n".join(["a,b,class", *rows, "x,1,q"]))
    assert read(folder, "\n".join(["a,b,class", *rows, "x,1,q"]), "a").y.tolist() == [*map(str, range(9)), "x"]


def test_blanks_inside_quotes_are_kept(folder: Path) -> None:
    assert rows_of(read(folder, 'a,class\n" x ",p\n y ,q\n')) == [(" x ",), ("y",)]


def test_quotes_that_open_no_value_are_characters(folder: Path) -> None:
    assert rows_of(read(folder, 'a,class\n5" pipe,p\n6 feet 5",q\n')) == [('5" pipe',), ('6 feet 5"',)]
    assert rows_of(read(folder, 'a,class\n5" pipe,p\n"7"" pipe",q\n')) == [('5" pipe',), ('7" pipe',)]


@pytest.mark.parametrize("mark", ["na", "Null", "NONE", "#div/0!", "N/a"])
def test_marks_in_numbers_have_any_letter_case(folder: Path, mark: str) -> None:
    assert rows_of(read(folder, f"number,word,class\n1.5,{mark},q\n{mark},b,q\n")) == [(1.5, mark), (None, "b")]


def test_a_hundred_thousand_columns(folder: Path) -> None:
    width = 100_000
    header = ",".join(f"g{number}" for number in range(width)) + ",class"
    lines = [",".join(["0.5"] * (row + 1) + ["?"] + ["-1e3"] * (width - row - 2)) + f",{row % 2}" for row in range(3)]
    data = read(folder, "\n".join([header, *lines]))
    assert data.X.shape == (3, width)
    assert data.n_missing == 3
    assert data.X[2, :4].tolist()[:3] == [0.5, 0.5, 0.5]
    assert data.X[:, -1].tolist() == [-1000.0] * 3
    with pytest.raises(DataError, match=r"line 4: has 100000 values where line 1 has 100001"):
        read(folder, "\n".join([header, *lines]).removesuffix(",0"))


def test_text_longer_than_a_block(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a,b,class\n" + "".join(f'{number},"p,\n""{number}",{"xy"[number % 2]}\n' for number in range(50))
    whole = rows_of(read(folder, text))
    for size in (1, 7, 64):
        monkeypatch.setattr("tamis.data.parsing.delimited_text._BLOCK_BYTES", size)
        assert rows_of(read(folder, text)) == whole


targets = st.sampled_from((None, "class", "x1", "x2"))


@given(content=st.binary(max_size=80) | st.text('a1.-?,;|\t "\n\r', max_size=60).map(str.encode), target=targets)
@settings(max_examples=150)
def test_any_bytes_give_data_or_an_error(folder: Path, content: bytes, target: str | None) -> None:
    survives(reader, folder / "any.csv", content, target)


@given(
    content=damaged([GOOD_CSV, b'a;b;class\n1;"x;\ny";p\n2;"z ""z""";q\n', b"1 2 p\n3 4 q\n", gzip.compress(GOOD_CSV)]),
    target=targets,
)
@settings(max_examples=150)
def test_damaged_files_give_data_or_an_error(folder: Path, content: bytes, target: str | None) -> None:
    survives(reader, folder / "damaged.csv", content, target)


@pytest.mark.parametrize(
    ("text", "features"),
    [
        (",a,class\ns1,1,x\ns2,2,y\n", ["a"]),
        ('"",a,class\n1,1,x\n2,2,y\n', ["a"]),
        (",a,class\ns1,1,x\ns1,2,y\n", ["x1", "a"]),
        ("id,a,class\ns1,1,x\ns2,2,y\n", ["id", "a"]),
        ("a,,class\n1,7,x\n2,8,y\n", ["a", "x2"]),
    ],
    ids=["words", "numbers", "repeated", "named", "elsewhere"],
)
def test_an_unnamed_first_column_of_distinct_values_names_the_rows(tmp_path, text, features):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert reader.read(Source(path), None).feature_names.tolist() == features
