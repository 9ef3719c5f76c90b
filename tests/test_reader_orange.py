"""Orange's .tab: three lines above the rows, and plain tables of the same ending beside them."""

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given

import tamis as library
from fuzzing import damaged, survives
from reading import put, reads, rows_of
from tamis.base.errors import DataError
from tamis.data.load import Sought, load, reader_of
from tamis.data.parsing.reader import Source
from tamis.data.readers.orange import reader
from tamis.data.reading import Reading

GOOD = (
    b"size\tgrade\tname\ttext\twhen\tkind\n"
    b"continuous\td\tstring\tstring\ttime\tp q\n"
    b"\t\tmeta\tmeta include=True\tignore\tclass\n"
    b"1.5\t1\tann\tgene seen\t2020-01-31\tp\n"
    b"\t\t\t\t\t\n"
    b'?\t2\tbob\t"star ""seen"""\t~\tq\n'
)
read = reads(reader, "t.tab")


def test_types_and_flags(tmp_path: Path) -> None:
    data = read(tmp_path, GOOD)
    assert data.feature_names.tolist() == ["size", "grade"]
    assert rows_of(data) == [(1.5, "1"), (None, "2")]
    assert (data.target, data.y.tolist()) == ("kind", ["p", "q"])


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, {"t.tab": GOOD}) / "t.tab"
    source = Source(path)
    reader.read(source, None)
    assert source.notes == [
        "columns with the flag meta are left out: 'name', 'text'",
        "columns with the flag ignore are left out: 'when'",
    ]
    source = Source(path, Reading(text=["te*"]))
    assert reader.read(source, None).X["text"].to_list() == ["gene seen", 'star "seen"']
    # New rows keep what a model may ask for.
    assert reader.read(Source(path), Sought("kind")).feature_names.tolist() == ["size", "grade", "name", "text"]


def test_another_class_is_no_feature(tmp_path: Path) -> None:
    content = b"a\tb\tc\nc\td\td\n\tclass\tclass\n1\tx\tu\n2\ty\tv\n"
    with pytest.raises(DataError, match=r"2 columns have the flag class \('b', 'c'\); choose one with --target"):
        read(tmp_path, content)
    data = read(tmp_path, content, "c")
    assert (data.feature_names.tolist(), data.y.tolist()) == (["a"], ["u", "v"])


def test_without_a_flag_the_name_tells_the_class(tmp_path: Path) -> None:
    assert read(tmp_path, b"a\tclass\ncontinuous\td\n\t\n1\tx\n2\ty\n").y.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "orange"),
    [
        (GOOD, True),
        (b"a\tb\nd\td\n\tc\nx\ty\n", True),  # letters alone, with one flag and a hole
        (b"a\tclass\nd\tc\nc\td\nd\tc\n", False),  # values that are letters
        (b"a\tclass\n1\tc\n2\td\n", False),
        (b"a\tclass\nstring\tclass\nother\tclass\n", False),
        (b"a\tb\tclass\nd\td\td\nclass\t\n", False),  # ragged
        (b"a\tclass\n", False),
    ],
)
def test_plain_tables_stay_plain(tmp_path: Path, content: bytes, orange: bool) -> None:
    path = put(tmp_path, {"t.tab": content}) / "t.tab"
    assert (reader_of(Source(path)).name == "orange") == orange


def test_plain_tab_is_read_as_before(tmp_path: Path) -> None:
    path = put(tmp_path, {"t.tab": b"a\tb\tclass\n1\tx\tp\n2\ty\tq\n"}) / "t.tab"
    data = load(path)
    assert data.feature_names.tolist() == ["a", "b"]
    path.write_bytes(b"a\tb\tclass\n1\tx\tp\n2\n")
    with pytest.raises(DataError, match="line 3: has 1 value where line 1 has 3"):
        load(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\ncontinuous\td\n\tclass\n", "has no rows"),
        (b"a\tb\ncontinuous\td\n\tclass\n1\tx\nfast\ty\n", "line 5: 'fast' is no number, and 'a' is continuous; --na"),
        (b"a\tb\ncontinuous\td\n\tclass\n1\tx\n2\n", "line 5: has 1 value where line 1 has 2"),
        (b"a\ta\tb\nc\tc\tdiscrete\n\t\tclass\n1\t2\tx\n", "columns 1 and 2 are both called 'a'"),
        (b"a\tb\ncontinuous\td\nignore\tclass\n1\tx\n2\ty\n", "has no feature column beside 'b'"),
        (b"a\tb\ncontinuous\td\n\t\n1\tx\n2\ty\n", "name the class with --target"),
    ],
)
def test_faults(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "t.tab"))


@given(damaged([GOOD]))
def test_damaged_files(folder: Path, content: bytes) -> None:
    survives(reader, folder / "t.tab", content)


def test_named_parts_with_texts(home: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    def rows(count: int) -> bytes:
        lines = [f"{'ab'[i % 2]}\t{'gene' if i % 2 else 'star'} common{i % 5} seen" for i in range(count)]
        return gzip.compress("\n".join(["Category\tText", "d\tstring", "class\t", "\t", *lines, ""]).encode())

    put(home, {"mail-train.tab.gz": rows(30), "mail-test.tab.gz": rows(12)})
    status, out, _ = tamis("data", "mail", "--text", "Text", "--json")
    assert status == 0
    assert '"features": 8' in out
    recipe = "chi2(2) | nb(multinomial)"
    status, out, _ = tamis("validate", "mail", recipe, "--text", "Text", "--split", "official", "--json")
    assert status == 0
    data = library.load("mail", reading=Reading(text=["Text"]))
    assert Counter(data.split.tolist()) == {"train": 30, "test": 12}


def test_known_sets_have_their_texts(home: Path) -> None:
    content = b"Category\tText\nd\tstring\nclass\t\n\na\tgene seen\nb\tstar seen\n"
    put(home / "newsgroups20", {f"20newsgroups-{part}.tab": content for part in ("train", "test")})
    assert library.load("20newsgroups").feature_names.tolist() == ["gene", "seen", "star"]
    dropped = library.load("20newsgroups", reading=Reading(kinds={"Text": "nominal"}))
    assert dropped.feature_names.tolist() == ["Text"]
    assert library.load("20newsgroups", Sought("Category")).feature_names.tolist() == ["Text"]


@pytest.mark.parametrize(("name", "parts", "classes"), [("20newsgroups", (11293, 7528), 20), ("r52", (6532, 2568), 52)])
def test_published_sizes(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, name: str, parts: tuple[int, int], classes: int
) -> None:
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = library.load(name)
    assert Counter(data.split.tolist()) == {"train": parts[0], "test": parts[1]}
    assert data.classes.size == classes
