"""Loading by path, by content and by name, and what is said when there is nothing to load."""

import gzip
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import polars as pl
import pytest

import tamis.data
from bad_matrices import X, Y, matlab, packed
from tamis.base.errors import DataError
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.load import readers

CSV = b"a,b,class\n1,2,u\n3,4,v\n"


def test_package_shows_the_function_whatever_was_imported_first() -> None:
    assert tamis.data.load is load
    assert callable(load)
    assert tamis.data.Dataset is Dataset
    assert tamis.data.add_probes.__module__ == "tamis.data.probes"
    assert not hasattr(tamis.data, "nothing")
    assert dir(tamis.data) == ["Dataset", "Reading", "add_probes", "load", "sense"]


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, tamis.data, tamis.data.load; print(callable(tamis.data.load), 'numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "False"]


def test_every_reader_is_found() -> None:
    names = [
        "arff",
        "challenge",
        "documents",
        "gct",
        "geo",
        "h5ad",
        "jsonl",
        "mat",
        "npz",
        "orange",
        "parquet",
        "reuters",
        "svmlight",
        "xlsx",
        "csv",
    ]
    assert [reader.name for reader in readers()] == names
    endings = [ending for reader in readers() for ending in reader.suffixes]
    assert [ending for ending, count in Counter(endings).items() if count > 1] == [".tab"]  # Orange's, or plain
    assert all("." in ending and ending == ending.lower() for ending in endings)


def test_the_folder_of_readers_lists_the_formats_and_nothing_else() -> None:
    package = import_module("tamis.data.readers")
    assert {info.name for info in iter_modules(package.__path__)} == {reader.name for reader in readers()}


def test_data_set_comes_back_as_it_is() -> None:
    data = Dataset(X, Y, np.array(["a", "b", "c"]))
    assert load(data) is data


def test_path_as_text_and_as_path(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    path.write_bytes(CSV)
    for given in (path, str(path)):
        data = load(given)
        assert data.X.tolist() == [[1, 2], [3, 4]]
        assert data.y.tolist() == ["u", "v"]
    assert load(path, target="b").y.tolist() == [2, 4]


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".mat", ".svm", ".arff", ".parquet", ".txt", "", ".gz"])
@pytest.mark.parametrize("kind", ["npz", "mat", "parquet"])
def test_binary_content_tells_whatever_the_name(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"toy{suffix}"
    if kind == "npz":
        content = packed(X=X, y=Y)
    elif kind == "mat":
        content = matlab({"X": X, "Y": Y[:, None]})
    else:
        pl.DataFrame(X, schema=["x1", "x2", "x3"]).with_columns(pl.Series("class", Y)).write_parquet(path)
        content = path.read_bytes()
    path.write_bytes(gzip.compress(content) if suffix == ".gz" else content)
    data = load(path)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == Y.tolist()


@pytest.mark.parametrize("suffix", ["", ".txt", ".dat", ".data", ".txt.gz"])
@pytest.mark.parametrize(
    ("content", "sparse"),
    [
        (CSV, False),
        (b"u 1:1 2:2\nv 1:3 2:4\n".replace(b"u", b"1").replace(b"v", b"2"), True),
        (b"@relation r\n@attribute a real\n@attribute b real\n@attribute class {u,v}\n@data\n1,2,u\n3,4,v\n", False),
    ],
    ids=["csv", "svmlight", "arff"],
)
def test_text_content_tells_when_the_name_does_not(tmp_path: Path, content: bytes, sparse: bool, suffix: str) -> None:
    path = tmp_path / f"toy{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith(".gz") else content)
    data = load(path)
    assert data.is_sparse == sparse
    assert (data.X.toarray() if sparse else data.X).tolist() == [[1, 2], [3, 4]]


def test_arff_called_csv(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    path.write_bytes(b"@relation r\n@attribute a real\n@attribute class {u,v}\n@data\n1,u\n3,v\n")
    assert load(path).y.tolist() == ["u", "v"]


def test_malformed_text_is_told_by_the_reader_its_name_asks_for(tmp_path: Path) -> None:
    path = tmp_path / "toy.svm"
    path.write_bytes(b"1,2\n3,4\n")
    with pytest.raises(DataError, match="line 1: has several labels"):
        load(path)


def test_junk_of_no_format(tmp_path: Path) -> None:
    path = tmp_path / "toy.xyz"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(
        DataError, match=r"toy\.xyz: its 256 bytes are in no known format \(arff, challenge, documents, gct"
    ):
        load(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"toy\.xyz: is empty"):
        load(path)


def test_what_is_not_there(tmp_path: Path, home: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv: no such file"):
        load(tmp_path / "gone.csv")
    with pytest.raises(DataError, match=r"gone\.csv: no such file"):
        load("gone.csv")
    with pytest.raises(DataError, match=r"some/where: no such file"):
        load("some/where")
    with pytest.raises(DataError, match="is a folder without challenge files"):
        load(tmp_path)
    with pytest.raises(DataError, match="got int"):
        load(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["xro", "x" * 5000, "a\x00b", ""])
def test_unknown_name_without_home(no_home: None, name: str) -> None:
    with pytest.raises(DataError) as caught:
        load(name)
    message = str(caught.value)
    assert "\n" not in message
    if name == "xro":
        assert message.startswith("no file and no data set is called 'xro'; the nearest names are xor")
        assert "TAMIS_DATA" in message


def test_nearest_names(home: Path) -> None:
    for name in ("iris", "wine"):
        (home / f"{name}.csv").write_bytes(CSV)
    with pytest.raises(DataError) as caught:
        load("irris")
    assert str(caught.value) == "no file and no data set is called 'irris'; the nearest names are iris"


def test_file_wins_over_name(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "foo.csv").write_bytes(CSV)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foo").mkdir()
    assert load("foo").n_rows == 2
    (tmp_path / "foo").rmdir()
    (tmp_path / "foo").write_bytes(CSV + b"5,6,u\n")
    assert load("foo").n_rows == 3
