"""Folders of documents: one folder a class, a file a document, from training to prediction."""

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

import tamis as library
from tamis.base.errors import DataError
from tamis.data.load import Sought, load, read
from tamis.data.reading import Reading

Tamis = Callable[..., tuple[int, str, str]]

TWO = {"bio/1.txt": "gene seen", "bio/2.htm": "<p>gene &amp; cell</p>", "sky/1.txt": "star seen", "sky/x": "star"}


def tree(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """The folder with files in folders; content that begins with -> is a link."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("->"):
            path.symlink_to(content[2:])
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def corpus(count: int = 20) -> dict[str, str]:
    return {
        f"{kind}/{i:02}.txt": f"{word} common{i % 5} seen"
        for kind, word in (("a", "star"), ("b", "gene"))
        for i in range(count)
    }


def test_a_class_a_folder(tmp_path: Path) -> None:
    data = read(tree(tmp_path / "mail", TWO))
    assert data.X.rows() == [("gene seen",), ("<p>gene &amp; cell</p>",), ("star seen",), ("star",)]
    assert data.y.tolist() == ["bio", "bio", "sky", "sky"]
    assert data.row_names.tolist() == ["bio/1.txt", "bio/2.htm", "sky/1.txt", "sky/x"]
    assert (data.name, data.target, data.texts, data.notes) == ("mail", "class", ("text",), ())
    found = load(tmp_path / "mail")
    assert found.feature_names.tolist() == ["cell", "gene", "seen", "star"]
    assert found.rows([2]).row_names.tolist() == ["sky/1.txt"]
    with pytest.raises(DataError, match="no target 'kind' can be chosen"):
        load(tmp_path / "mail", "kind")


def test_official_parts(tmp_path: Path) -> None:
    files = {f"{top}/{name}": text for top in ("mail-train", "mail-test") for name, text in TWO.items()}
    data = load(tree(tmp_path / "mail", files))
    assert data.split.tolist() == ["train"] * 4 + ["test"] * 4
    assert data.y.tolist() == ["bio", "bio", "sky", "sky"] * 2
    # Train and test that hold files are classes like any others.
    assert load(tree(tmp_path / "odd", {"train/1": "by rail", "test/1": "an exam"})).y.tolist() == ["test", "train"]


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ({"sky/3.txt": b""}, "1 of 5 files are empty: documents without words"),
        ({"sky/3.txt": " \n"}, "1 of 5 files are empty"),
        ({"sky/3.txt.gz": gzip.compress(b"")}, "1 of 5 files are empty"),
        ({"sky/3.txt": "caf\u00e9".encode("latin-1")}, "1 of 5 files are cp1252, not UTF-8"),
        ({"sky/3.txt": "star".encode("utf-16")}, "1 of 5 files are utf-16, not UTF-8"),
        ({"sun/.hidden": "x"}, "folders without files are no classes: 'sun'"),
        ({"sky/3.txt.gz": gzip.compress(b"star")}, None),
        ({"one/only.txt": "a class of one"}, None),
        ({".git/config": "x", ".DS_Store": b"\x00", "sky/.DS_Store": b"\x00"}, None),
        ({"sky/there": "->1.txt"}, None),
    ],
)
def test_folders_as_people_have_them(tmp_path: Path, more: dict[str, str | bytes], note: str | None) -> None:
    data = load(tree(tmp_path / "mail", {**TWO, **more}))
    assert "star" in data.feature_names
    assert len(data.notes) == (1 + (note is not None))  # and that one text is HTML
    assert note is None or data.notes[0].startswith(note)


@pytest.mark.parametrize(
    ("more", "where", "message"),
    [
        ({"sky/3.bin": b"a\x00b"}, "sky/3.bin", "line 1: contains a NUL byte, so it is not a text file"),
        ({"sky/3.txt": b"a\n\x9d\x01"}, "sky/3.txt", "line 2: is not UTF-8 text, nor UTF-16 or cp1252; --encoding"),
        ({"sky/3.txt.gz": gzip.compress(b"star" * 99)[:-9]}, "sky/3.txt.gz", "damaged or cut short"),
        ({"sky/3.txt.gz": b"star"}, "sky/3.txt.gz", "is named .gz but is not gzip data"),
        ({"sky/1.txt.gz": gzip.compress(b"star")}, "sky", "'1.txt' is there twice, plain and gzipped; remove one"),
        ({"sky/gone": "->nowhere"}, "sky/gone", "is a link to nothing; remove it"),
        ({"sky/deep/1.txt": "x"}, "sky", "holds 2 files, such as '1.txt', beside folders"),
        ({"deep/er/1.txt": "x"}, "deep", "is the folder of a class and holds the folder 'er'; name the folder whose"),
        ({"loop": "->."}, "loop", "is the folder of a class and holds the folder 'bio'"),
        ({"README": "x"}, "", "holds 'README' beside folders, and a folder of documents has one folder a class"),
        ({"a.csv": "x", "b.csv": "x"}, "", "holds 2 files, such as 'a.csv', beside folders"),
        ({"reut2.sgm": "<REUTERS>"}, "", "holds 'reut2.sgm' beside folders"),
    ],
)
def test_refused_by_name(tmp_path: Path, more: dict[str, str | bytes], where: str, message: str) -> None:
    folder = tree(tmp_path / "mail", {**TWO, **more})
    with pytest.raises(DataError) as caught:
        load(folder)
    assert str(caught.value).startswith(f"{folder / where}:" if "line" not in message else f"{folder / where}, line")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_encoding_is_heeded(tmp_path: Path) -> None:
    folder = tree(tmp_path / "mail", {**TWO, "sky/3.txt": "\u017elu\u0165".encode("cp1250")})
    assert "žluť" in load(folder, reading=Reading(encoding="cp1250")).feature_names
    with pytest.raises(DataError, match="--transpose is not for documents"):
        load(folder, reading=Reading(transpose=True))


def test_files_without_classes_are_for_prediction(tmp_path: Path) -> None:
    folder = tree(tmp_path / "new", {"b.txt": "one", "a.txt": "two"})
    with pytest.raises(DataError, match=r"is a folder without challenge files .* without folders of documents"):
        load(folder)
    data = load(folder, Sought("class"))
    assert data.unlabelled[""].rows() == [("two",), ("one",)]
    assert data.row_names.tolist() == ["a.txt", "b.txt"]
    with pytest.raises(DataError, match="is a folder without"):
        load(tree(tmp_path / "none", {".hidden": "x"}), Sought("class"))


def test_challenge_files_keep_their_meaning(tmp_path: Path) -> None:
    files = {"toy_train.data": "1 2\n3 4\n", "toy_train.labels": "-1\n1\n"}
    assert load(tree(tmp_path / "toy", {**files, "notes/a.txt": "text"})).X.tolist() == [[1, 2], [3, 4]]


def test_a_name_and_a_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "mail.csv").write_text("a,class\n1,u\n2,v\n")
    monkeypatch.chdir(tmp_path)
    tree(tmp_path / "mail", {"a.npz": b"\x00"})
    assert load("mail").feature_names.tolist() == ["a"]
    tree(tmp_path / "mail", TWO)
    (tmp_path / "mail" / "a.npz").unlink()
    assert "gene" in load("mail").feature_names
    monkeypatch.chdir(tmp_path / "mail")
    assert load(Path()).name == "mail"


def test_options_for_the_text(tmp_path: Path) -> None:
    folder = tree(tmp_path / "mail", TWO)
    assert load(folder, reading=Reading(kinds={"text": "nominal"})).feature_names.tolist() == ["text"]
    with pytest.raises(DataError, match="no feature is left"):
        load(folder, reading=Reading(drop=["text"]))


def test_from_a_folder_to_a_prediction(tmp_path: Path, tamis: Tamis) -> None:
    folder, new, model = tree(tmp_path / "mail", corpus()), tmp_path / "new", tmp_path / "model"
    tree(new, {"x.txt": "gene fresh", "y.html": "<html><title>star</title>"})
    status, out, error = tamis("data", folder, "--json")
    assert (status, error) == (0, "")
    assert json.loads(out)["features"] == 8
    status, _, _ = tamis("select", folder, "chi2(2) | nb(multinomial)", "--save", model)
    assert status == 0
    status, out, _ = tamis("predict", model, new, "--json")
    assert status == 0
    assert [(row["name"], row["class"]) for row in json.loads(out)["predictions"]] == [("x.txt", "b"), ("y.html", "a")]
    status, out, _ = tamis("predict", model, folder, "--output", tmp_path / "all.csv")
    assert status == 0
    assert "BER 0.0000" in out
    assert pl.read_csv(tmp_path / "all.csv")["name"].to_list()[:2] == ["a/00.txt", "a/01.txt"]
    assert library.predict(model, new).table["class"].to_list() == ["b", "a"]
    assert library.predict(model, load(folder)).error["ber"] == 0.0  # loaded before, so its words are counted
