"""Fetching from OpenML, played by a small server on this machine: the data, the file, and every way to fail."""

import hashlib
import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from urllib.parse import unquote

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import _openml

from tamis.base.errors import DataError, TamisError
from tamis.data.dataset import Dataset
from tamis.data.fetch import fetch
from tamis.data.load import load

module = import_module("tamis.data.fetch")

NUMBERS = """@RELATION numbers
@ATTRIBUTE id NUMERIC
@ATTRIBUTE a NUMERIC
@ATTRIBUTE class {no,yes}
@ATTRIBUTE 'b c' NUMERIC
@DATA
1,1.5,yes,4
2,?,no,5
3,2.5,yes,-6e2
"""
MIXED = """@RELATION mixed
@ATTRIBUTE size NUMERIC
@ATTRIBUTE colour {red,'dark blue'}
@ATTRIBUTE class {1,2}
@DATA
1,red,2
?,'dark blue',1
3,?,2
"""
SPARSE = """@RELATION sparse
@ATTRIBUTE a NUMERIC
@ATTRIBUTE b NUMERIC
@ATTRIBUTE class {low,high}
@ATTRIBUTE c {none,some}
@DATA
{0 3.5,3 some}
{1 -1,2 high}
{0 2}
{2 high}
"""
REGRESSION = "@RELATION r\n@ATTRIBUTE a NUMERIC\n@ATTRIBUTE class NUMERIC\n@DATA\n1,0.5\n2,1.5\n"


def column(index: int, name: str, kind: str = "numeric", **more: str) -> dict:
    plain = {"is_target": "false", "is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
    return {"index": str(index), "name": name, "data_type": kind, **plain, **more}


class OpenML:
    """The data sets the server knows, what it was asked, and how it misbehaves."""

    def __init__(self) -> None:
        self.sets: dict[int, dict] = {}
        self.asked: list[str] = []
        self.failing: int | None = None
        self.override: dict[str, bytes] = {}

    def add(self, number: int, name: str, arff: str, columns: list[dict], **details: object) -> None:
        form = "Sparse_ARFF" if "{0 " in arff else "ARFF"
        self.sets[number] = {
            "arff": arff.encode(),
            "columns": columns,
            "details": {
                "id": str(number),
                "name": name,
                "version": "1",
                "status": "active",
                "format": form,
                "description": "made for a test",
                "url": f"https://www.openml.org/data/v1/download/{number}/{number}.arff",
                "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
                "default_target_attribute": "class",
                **details,
            },
        }

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        if self.failing is not None:
            return self.failing, b"{}"
        for piece, body in self.override.items():
            if piece in path:
                return 200, body
        found = self._find(path)
        return (412, b'{"error": {"code": "372", "message": "No results"}}') if found is None else (200, found)

    def _find(self, path: str) -> bytes | None:
        pieces = path.strip("/").split("/")
        if path.startswith("/data/"):
            return self.sets[int(pieces[3])]["arff"]
        if pieces[4] == "list":
            wanted = unquote(pieces[6])
            if "data_version" in pieces and pieces[pieces.index("data_version") + 1] != "1":
                return None
            known = [number for number, one in self.sets.items() if one["details"]["name"].lower() == wanted]
            listed = [{"did": number, "version": 1, "status": "active"} for number in known]
            return json.dumps({"data": {"dataset": listed}}).encode() if known else None
        number = int(pieces[-1])
        if number not in self.sets:
            return None
        one = self.sets[number]
        rows = one["arff"].decode().split("@DATA\n")[1].count("\n")
        return json.dumps(
            {
                "features": {"data_features": {"feature": one["columns"]}},
                "qualities": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(rows)}]}},
            }.get(pieces[4], {"data_set_description": one["details"]})
        ).encode()


@pytest.fixture
def openml(monkeypatch):
    """The server, with four small data sets; its address is `openml.url`."""
    monkeypatch.setenv("no_proxy", "*")
    state = OpenML()
    state.add(
        1,
        "numbers",
        NUMBERS,
        [
            column(0, "id", is_row_identifier="true"),
            column(1, "a"),
            column(2, "class", "nominal", is_target="true"),
            column(3, "b c"),
        ],
    )
    nominal = [column(0, "size"), column(1, "colour", "nominal"), column(2, "class", "nominal", is_target="true")]
    state.add(2, "Mixed up", MIXED, nominal)
    state.add(
        3,
        "sparse",
        SPARSE,
        [
            column(0, "a"),
            column(1, "b"),
            column(2, "class", "nominal", is_target="true"),
            column(3, "c", "nominal"),
        ],
    )
    state.add(4, "regression", REGRESSION, [column(0, "a"), column(1, "class", is_target="true")])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, body = state.answer(self.path)
            # A client that lost patience has hung up.
            with suppress(ConnectionError):
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def fails(openml, name, home, **more) -> str:
    """The one sentence of the refusal; nothing may be written."""
    with pytest.raises(DataError) as caught:
        fetch(name, server=openml.url, home=home, **more)
    assert "\n" not in str(caught.value)
    assert not home.exists() or not list(home.iterdir())
    return str(caught.value)


def test_numbers_become_an_array(openml, tmp_path):
    data = fetch("numbers", server=openml.url, home=tmp_path)
    assert isinstance(data, Dataset)
    np.testing.assert_array_equal(data.X, [[1.5, 4.0], [np.nan, 5.0], [2.5, -600.0]])
    assert data.y.tolist() == ["yes", "no", "yes"]
    assert data.feature_names.tolist() == ["a", "b c"]
    assert (data.name, data.target) == ("numbers", "class")


def test_the_file_is_a_table_with_the_class_last(openml, tmp_path):
    fetch("numbers", server=openml.url, home=tmp_path / "new" / "folder")
    (path,) = (tmp_path / "new" / "folder").iterdir()
    assert path.name == "numbers.parquet"
    frame = pl.read_parquet(path)
    assert frame.columns == ["a", "b c", "class"]
    np.testing.assert_array_equal(frame["a"], [1.5, np.nan, 2.5])
    assert frame["class"].to_list() == ["yes", "no", "yes"]


def test_nominal_columns_become_words(openml, tmp_path):
    data = fetch("Mixed up", server=openml.url, home=tmp_path)
    assert data.X.schema == {"size": pl.Float64, "colour": pl.String}
    assert data.X["colour"].to_list() == ["red", "dark blue", None]
    assert data.X["size"].to_list() == [1.0, None, 3.0]
    assert data.y.tolist() == [2, 1, 2]
    assert data.nominal.tolist() == [False, True]
    assert data.name == "Mixed_up"
    assert pl.read_parquet(tmp_path / "Mixed_up.parquet").columns == ["size", "colour", "class"]


def test_sparse_data_stays_sparse_and_the_first_class_is_right(openml, tmp_path):
    data = fetch("sparse", server=openml.url, home=tmp_path)
    assert sp.issparse(data.X)
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), [[3.5, 0, 1], [0, -1, 0], [2, 0, 0], [0, 0, 0]])
    assert data.y.tolist() == ["low", "high", "low", "high"]
    assert data.feature_names.tolist() == ["a", "b", "c"]
    kept = np.load(tmp_path / "sparse.npz", allow_pickle=False)
    again = sp.csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=kept["shape"])
    np.testing.assert_array_equal(again.toarray(), data.X.toarray())
    assert kept["y"].tolist() == data.y.tolist()
    assert kept["feature_names"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("number", [1, "1", " 1 "])
def test_by_number(openml, tmp_path, number):
    assert fetch(number, server=openml.url + "/", home=tmp_path).name == "numbers"
    assert not any("/list/" in path for path in openml.asked)


def test_a_version_of_a_name(openml, tmp_path):
    assert fetch("numbers", version=1, server=openml.url, home=tmp_path).n_rows == 3
    assert fetch("numbers", version="1", server=openml.url, home=tmp_path).n_rows == 3
    with pytest.raises(DataError, match="OpenML data set 'numbers', version 9: OpenML knows no such data set"):
        fetch("numbers", version=9, server=openml.url, home=tmp_path)


def test_a_number_to_predict(openml, tmp_path):
    assert fetch("regression", server=openml.url, home=tmp_path).y.tolist() == [0.5, 1.5]


def test_home_follows_the_environment(openml, tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path / "named"))
    fetch("numbers", server=openml.url)
    assert (tmp_path / "named" / "numbers.parquet").is_file()
    monkeypatch.delenv("TAMIS_DATA")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    fetch("numbers", server=openml.url)
    assert (tmp_path / "me" / "tamis_data" / "numbers.parquet").is_file()


def test_a_second_fetch_replaces_the_first(openml, tmp_path):
    fetch("numbers", server=openml.url, home=tmp_path)
    openml.add(1, "numbers", NUMBERS.replace("1.5", "9.5"), openml.sets[1]["columns"])
    assert fetch("numbers", server=openml.url, home=tmp_path).X[0, 0] == 9.5
    assert pl.read_parquet(tmp_path / "numbers.parquet")["a"][0] == 9.5
    assert len(list(tmp_path.iterdir())) == 1


def test_a_name_from_the_server_cannot_leave_the_folder(openml, tmp_path):
    openml.sets[1]["details"]["name"] = "../../up"
    data = fetch(1, server=openml.url, home=tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == [f"{data.name}.parquet"]
    assert "/" not in data.name


def test_scikit_learn_is_left_as_it_was(openml, tmp_path):
    usual = _openml.urlopen
    fetch("numbers", server=openml.url, home=tmp_path / "a")
    fails(openml, "unknown", tmp_path / "b")
    assert _openml.urlopen is usual


@pytest.mark.parametrize("name", ["numbers", "Mixed_up", "sparse", "regression"])
def test_load_finds_it_by_name(openml, tmp_path, monkeypatch, name):
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    fetched = fetch(name.replace("_", " "), server=openml.url)
    loaded = load(name)
    assert (loaded.name, loaded.target) == (fetched.name, fetched.target)
    assert loaded.feature_names.tolist() == fetched.feature_names.tolist()
    # Two fractions are taken for classes, which are words.
    assert list(map(str, loaded.y.tolist())) == list(map(str, fetched.y.tolist()))
    if isinstance(fetched.X, pl.DataFrame):
        assert loaded.X.equals(fetched.X)
    else:
        assert sp.issparse(loaded.X) == sp.issparse(fetched.X)
        np.testing.assert_array_equal(*(X.toarray() if sp.issparse(X) else X for X in (loaded.X, fetched.X)))


@pytest.mark.parametrize(
    ("target", "feature", "names"),
    [
        ("CLASS", "a", ["a", "b c", "CLASS"]),
        ("outcome", "a", ["a", "b c", "class"]),
        ("outcome", "y", ["y", "b c", "class"]),
        ("y", "label", ["label", "b c", "class"]),
        ("label", "y", ["y", "b c", "label"]),
        ("outcome", "Class", ["Class_", "b c", "class"]),
        ("class", "CLASS", ["CLASS_", "b c", "class"]),
    ],
)
def test_the_class_can_be_told_by_its_name(openml, tmp_path, target, feature, names):
    columns = [dict(one) for one in openml.sets[1]["columns"]]
    columns[1]["name"], columns[2]["name"] = feature, target
    arff = NUMBERS.replace("ATTRIBUTE class", f"ATTRIBUTE {target}").replace("ATTRIBUTE a", f"ATTRIBUTE {feature}")
    openml.add(1, "numbers", arff, columns, default_target_attribute=target)
    data = fetch(1, server=openml.url, home=tmp_path)
    assert [*data.feature_names, data.target] == names
    assert data.y.tolist() == ["yes", "no", "yes"]
    assert pl.read_parquet(tmp_path / "numbers.parquet").columns == names


# --- what can go wrong


def test_unknown_name(openml, tmp_path):
    said = fails(openml, "no such/thing?", tmp_path)
    assert said == "OpenML data set 'no such/thing?': OpenML knows no such data set, or it is not active"


def test_unknown_number(openml, tmp_path):
    assert fails(openml, 77, tmp_path).startswith("OpenML data set 77: OpenML knows no such data set")


@pytest.mark.parametrize("name", ["numbers", 1])
def test_no_network_is_told_at_once(name, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    start = time.perf_counter()
    with pytest.raises(DataError, match=r"127\.0\.0\.1:1 cannot be reached .*; is there a network\?"):
        fetch(name, server="http://127.0.0.1:1", home=tmp_path)
    assert time.perf_counter() - start < 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["numbers", 1])
def test_a_server_in_trouble(openml, tmp_path, name):
    openml.failing = 503
    start = time.perf_counter()
    assert "returned 503 Service Unavailable" in fails(openml, name, tmp_path)
    assert time.perf_counter() - start < 2


def test_a_server_that_stays_silent(openml, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT", 0.2)
    release = threading.Event()
    monkeypatch.setattr(openml, "answer", lambda path: (release.wait(5), (200, b"{}"))[1])
    start = time.perf_counter()
    try:
        assert "cannot be reached (timed out)" in fails(openml, 1, tmp_path)
        assert time.perf_counter() - start < 2
    finally:
        release.set()


@pytest.mark.parametrize(
    ("piece", "body"),
    [
        ("/json/data/1", b"<html>sign in to the hotel's network</html>"),
        ("/json/data/1", b"\xff\xfe\x00"),
        ("/json/data/1", b"{}"),
        ("/json/data/1", b"[]"),
        ("/json/data/features", b'{"data_features": {"feature": [{}]}}'),
        ("/json/data/qualities", b"null"),
        ("/download/", NUMBERS[:-40].encode()),
        ("/download/", b""),
    ],
)
def test_an_answer_that_makes_no_sense(openml, tmp_path, piece, body):
    openml.override[piece] = body
    assert fails(openml, 1, tmp_path).startswith("OpenML data set 1: the response cannot be read (")


@pytest.mark.parametrize("arff", [NUMBERS + "4,5\n", NUMBERS.replace("4\n", "four\n"), "@RELATION x\n", "junk"])
def test_a_damaged_file_with_the_right_checksum(openml, tmp_path, arff):
    openml.add(1, "numbers", arff + "@DATA\n" * ("@DATA" not in arff), openml.sets[1]["columns"])
    assert fails(openml, 1, tmp_path).startswith("OpenML data set 1: ")


def test_free_text(openml, tmp_path):
    openml.sets[1]["columns"][1]["data_type"] = "string"
    assert fails(openml, 1, tmp_path) == (
        "OpenML data set 1: has columns of free text, which are neither numbers nor nominal"
    )


@pytest.mark.parametrize("target", [None, "a,class", "absent"])
def test_no_class_column(openml, tmp_path, target):
    openml.sets[1]["details"]["default_target_attribute"] = target
    said = fails(openml, 1, tmp_path)
    assert said == f"OpenML data set 1: names no single column as its class; OpenML's default target is {target!r}"


def test_nothing_but_a_class(openml, tmp_path):
    only = "@RELATION x\n@ATTRIBUTE class {u,v}\n@DATA\nu\nv\n"
    openml.add(1, "numbers", only, [column(0, "class", "nominal", is_target="true")])
    assert fails(openml, 1, tmp_path) == "OpenML data set 1: has no feature column beside 'class'"


def test_a_missing_label(openml, tmp_path):
    openml.add(1, "numbers", NUMBERS.replace("yes,4", "?,4"), openml.sets[1]["columns"])
    found = fetch(1, home=tmp_path, server=openml.url)
    assert found.y.tolist() == ["no", "yes"]
    assert found.notes == ("1 row without a class is left out",)


def test_a_folder_that_cannot_be_written(openml, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DataError, match=r"numbers\.parquet: cannot be written \("):
        fetch("numbers", server=openml.url, home=blocked)
    assert blocked.read_text() == "in the way"


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("", {}, "must not be empty"),
        ("iris", {"version": 0}, "version must be 'active' or a whole number of 1 or more; got 0"),
        ("iris", {"version": "new"}, "version must be 'active' or a whole number"),
        (61, {"version": 2}, "version goes with a name; the number 61"),
        ("iris", {"server": "localhost:8000"}, "server must be an address that starts with http"),
    ],
)
def test_bad_arguments(name, more, message, tmp_path):
    with pytest.raises(TamisError, match=message):
        fetch(name, home=tmp_path, **more)
