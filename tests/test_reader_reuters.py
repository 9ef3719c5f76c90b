"""Reuters-21578: documents in SGML with several labels, and the published split."""

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import tamis as library
from fuzzing import damaged, survives
from reading import put, reads
from tamis.base.errors import DataError
from tamis.data.load import Sought, load
from tamis.data.readers.reuters import reader

read = reads(reader, "t.sgm")

NORMAL = (
    "<TITLE>COCOA &lt;CCX> UP</TITLE><DATELINE> LONDON, </DATELINE><BODY>Prices rose 5 &amp; more.\nReuter\n&#3;</BODY>"
)


def document(
    number: int,
    topics: tuple[str, ...] = ("cocoa",),
    text: str = NORMAL,
    *,
    split: str = "TRAIN",
    given: str = "YES",
    kind: str = "",
    places: tuple[str, ...] = (),
) -> str:
    """A document as the collection has it."""
    labels = {"TOPICS": topics, "PLACES": places, "PEOPLE": ()}
    lists = "\n".join(f"<{k}>{''.join(f'<D>{one}</D>' for one in v)}</{k}>" for k, v in labels.items())
    return (
        f'<REUTERS TOPICS="{given}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" OLDID="{number}" NEWID="{number}">\n'
        f"<DATE>26-FEB-1987</DATE>\n{lists}\n<UNKNOWN>\n&#5;junk</UNKNOWN>\n<TEXT{kind}>&#2;\n{text}</TEXT>\n</REUTERS>\n"
    )


def collection(*documents: str) -> str:
    return '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(documents)


SMALL = collection(
    document(1, places=("usa",)),
    document(2, ("grain", "wheat"), split="TEST"),
    document(3, ()),
    document(4, given="NO"),
    document(5, split="NOT-USED"),
    document(6, ("earn",), "******<TITLE>NET\n</TITLE>Blah blah blah.\n", kind=' TYPE="BRIEF"'),
    document(7, ("acq",), "FED REPORT\n  two &lt;weeks>\n", kind=' TYPE="UNPROC"'),
)


def test_texts_labels_and_parts(tmp_path: Path) -> None:
    path = put(tmp_path, {"t.sgm": SMALL}) / "t.sgm"
    data = load(path, Sought("topics"))
    body = "Prices rose 5 & more.\nReuter"
    assert data.X.rows() == [
        ("COCOA <CCX> UP", body),
        ("COCOA <CCX> UP", body),
        ("COCOA <CCX> UP", body),
        ("NET", None),
        (None, "FED REPORT\n  two <weeks>"),
    ]
    assert data.y.tolist() == ["cocoa", "grain;wheat", "", "earn", "acq"]
    assert data.split.tolist() == ["train", "test", "train", "train", "train"]
    assert data.row_names.tolist() == ["1", "2", "3", "6", "7"]
    assert (data.target, data.texts) == ("topics", ("title", "body"))
    assert data.notes == (
        "2 of 7 documents are in no part of the split ModApte and are left out",
        "1 of 5 documents have several labels, joined with ';'",
        "1 of 5 documents have no label: theirs is an empty text",
    )
    found = load(path)
    assert {"title: cocoa", "body: prices", "title: net", "body: weeks"} <= set(found.feature_names.tolist())
    assert "body: junk" not in found.feature_names
    assert load(path, "places").y.tolist() == ["usa", "", "", "", ""]
    with pytest.raises(DataError, match="no target 'class' can be chosen"):
        load(path, "class")


def test_folder_of_files(tmp_path: Path) -> None:
    second = collection(document(8, ("tea",), split="TEST"))
    files = {"reut2-000.sgm": SMALL, "reut2-001.SGM.gz": gzip.compress(second.encode()), "README.txt": "not a document"}
    data = load(put(tmp_path / "reuters", files))
    assert data.row_names.tolist() == ["1", "2", "3", "6", "7", "8"]
    assert data.name == "reuters"
    put(tmp_path / "reuters", {"copy.sgm": SMALL})
    with pytest.raises(DataError, match=r"reut2-000\.sgm: document 1 is also in .*copy\.sgm; remove one"):
        load(tmp_path / "reuters")


def test_documents_without_a_split(tmp_path: Path) -> None:
    plain = SMALL.replace("LEWISSPLIT", "OTHER")
    data = read(tmp_path, plain)
    assert data.n_rows == 7
    assert data.split is None
    unused = collection(document(1, split="NOT-USED"))
    with pytest.raises(DataError, match='no document has TOPICS="YES" and LEWISSPLIT="TRAIN" or "TEST"'):
        read(tmp_path, unused)
    new = read(tmp_path, unused, Sought("topics"))
    assert (new.n_rows, new.unlabelled[""].height, new.row_names.tolist()) == (0, 1, ["1"])


def test_another_encoding(tmp_path: Path) -> None:
    content = collection(document(1, text="<BODY>caf\u00e9</BODY>"), document(2)).encode("latin-1")
    data = load(put(tmp_path, {"t.sgm": content}) / "t.sgm", Sought("topics"))
    assert data.X["body"][0] == "café"
    assert data.notes == ("1 of 1 files are not UTF-8, and are read in another encoding",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            SMALL[: SMALL.rindex("</REUTERS>")],
            r"line \d+: a document is not closed by </REUTERS>; is the file cut short",
        ),
        (SMALL.replace("</REUTERS>", "", 1), "line 2: a document is not closed"),
        ("<!DOCTYPE lewis>\n<HTML>", "has no <REUTERS> document"),
        ("", "is empty"),
    ],
)
def test_faults(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, content)
    assert str(caught.value).startswith(str(tmp_path / "t.sgm"))
    assert len(str(caught.value).splitlines()) == 1


@given(damaged([SMALL.encode()]))
def test_damaged_files(folder: Path, content: bytes) -> None:
    survives(reader, folder / "t.sgm", content)


def test_from_the_command_line(tmp_path: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    documents = [
        document(
            i, ("tea",) if i % 2 else ("tin",), f"<BODY>{'leaf' if i % 2 else 'ore'} news{i % 4}</BODY>", split=part
        )
        for i, part in enumerate(["TRAIN"] * 20 + ["TEST"] * 8)
    ]
    folder = put(tmp_path / "news", {"a.sgm": collection(*documents)})
    status, out, error = tamis("validate", folder, "chi2(2) | nb(multinomial)", "--split", "official")
    assert (status, error) == (0, "")
    assert "28 rows" in out
    put(folder, {"a.sgm": SMALL})
    _, _, error = tamis("data", folder)
    assert "1 of 5 documents have several labels" in error


def test_published_counts(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Lewis (1997), and of Debole and Sebastiani (2005): 90 topics are in both parts."""
    if not (shared_data / "reuters21578").is_dir():
        pytest.skip("Reuters-21578 is not there")
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = load("reuters21578", Sought("topics"))
    labelled = data.y != ""
    assert Counter(data.split.tolist()) == {"train": 9603, "test": 3299}
    assert Counter(data.split[labelled].tolist()) == {"train": 7775, "test": 3019}
    topics = {part: set(";".join(data.y[labelled & (data.split == part)]).split(";")) for part in ("train", "test")}
    assert {part: len(found) for part, found in topics.items()} == {"train": 115, "test": 93}
    assert len(topics["train"] & topics["test"]) == 90
    assert np.unique(data.row_names).size == 12902
    assert library.data.Dataset.of(data).X["title"].null_count() < 500
