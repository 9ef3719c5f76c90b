"""Run files that cannot be used: each gets one sentence, and what is not a run is left alone."""

import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from findings import IDENTITY, check_integrity, result, same
from fuzzing import damaged
from tamis.base.errors import TamisError
from tamis.mining.run.packing import array_to_bytes
from tamis.mining.run.store import Store


def refused(path: Path, sentence: str) -> None:
    """Both ways to open the path are refused with this sentence, and nothing is left beside it."""
    before = sorted(path.parent.iterdir()) if path.parent.is_dir() else None
    for attempt in (lambda: Store.open(path, IDENTITY), lambda: Store.read(path)):
        with pytest.raises(TamisError) as caught:
            attempt()
        assert str(caught.value) == f"{path}: {sentence}"
    assert before is None or sorted(path.parent.iterdir()) == before


def foreign(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n" * 500, b"SQLite format 3\0", bytes(5000)])
def test_a_file_that_is_no_run_is_refused_and_left_alone(content, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    path.write_bytes(content)
    refused(path, "is not a run of tamis; name another run file")
    assert path.read_bytes() == content


def test_the_sqlite_file_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    foreign(path, "CREATE TABLE results (a)", "INSERT INTO results VALUES (1)")
    before = path.read_bytes()
    refused(path, "is not a run of tamis; name another run file")
    assert path.read_bytes() == before


def test_a_run_of_another_layout_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    Store.open(path, IDENTITY).close()
    foreign(path, "PRAGMA user_version = 1")
    before = path.read_bytes()
    refused(path, "has layout 1, this version of tamis has layout 2; name another run file or delete it")
    assert path.read_bytes() == before


def test_places_where_no_run_can_be_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(tmp_path, "is a folder; name a file")
    for path in (tmp_path / "no" / "a.tamis", tmp_path / "file" / "a.tamis"):
        refused(path, "its folder does not exist; make it first or name another run file")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        refused(tmp_path / "pipe", "is not a file")
    with pytest.raises(TamisError, match=r"a\.tamis: there is no such run file"):
        Store.read(tmp_path / "a.tamis")
    with pytest.raises(TamisError, match="cannot be opened"):
        Store.open(tmp_path / ("a" * 254), IDENTITY)


@pytest.mark.parametrize("name", ["a b?mode=memory#x.tamis", "100%41.tamis", "é.tamis"])
def test_odd_names_are_names(name: str, tmp_path: Path) -> None:
    for _ in range(2):
        with Store.open(tmp_path / name, IDENTITY) as run:
            run.put(0, "1", {"a": result()})
    assert os.listdir(tmp_path) == [name]
    with Store.read(tmp_path / name) as run:
        assert run.count() == 1


@contextmanager
def closed_folder() -> Iterator[Path]:
    """A folder to be :func:`shut`; afterwards it is gone, and root is root again."""
    if not hasattr(os, "geteuid"):
        pytest.skip("permissions are of another kind here")
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def shut(folder: Path, *, files: int = 0o444, itself: int = 0o555) -> None:
    """Give these permissions to the files in a folder and to itself, and obey them from here on."""
    for path in folder.iterdir():
        path.chmod(files)
    folder.chmod(itself)
    if os.geteuid() == 0:
        os.seteuid(65534)


def test_a_folder_that_cannot_be_written_to_is_for_reading_only() -> None:
    with closed_folder() as folder:
        path = folder / "a.tamis"
        with Store.open(path, IDENTITY) as run:
            run.put(0, "1", {"a": result()})
            during = path.read_bytes()
        # A copy of a run that was being written, without the files beside it.
        (folder / "copy.tamis").write_bytes(during)
        shut(folder)
        for name in ("a.tamis", "new.tamis"):
            with pytest.raises(TamisError, match=rf"{name}: cannot be opened .*; look at the permissions of the file"):
                Store.open(folder / name, IDENTITY)
        with Store.read(path) as run:
            assert same(run.find(0, "1", ["a"])["a"], result())
        with Store.read(folder / "copy.tamis") as run:
            assert run.noted("elapsed") is None
        assert sorted(os.listdir(folder)) == ["a.tamis", "copy.tamis"]


def test_a_file_that_may_not_be_read_is_refused() -> None:
    with closed_folder() as folder:
        path = folder / "a.tamis"
        Store.open(path, IDENTITY).close()
        shut(folder, files=0o000)
        with pytest.raises(TamisError, match=r"a\.tamis: cannot be opened"):
            Store.read(path)


@pytest.mark.parametrize("killed", [False, True])
def test_a_file_that_may_only_be_read_is_not_opened_for_writing(killed: bool) -> None:
    with closed_folder() as folder:
        path = folder / "a.tamis"
        run = Store.open(path, IDENTITY)
        during = path.read_bytes()
        run.close()
        if killed:
            path.write_bytes(during)
        shut(folder, itself=0o777)
        with pytest.raises(TamisError, match=r"a\.tamis: cannot be opened .*readonly"):
            Store.open(path, IDENTITY)


def test_a_full_disk_is_told_of_and_nothing_is_half_written(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.tamis", IDENTITY) as run:
        run.put(0, "1", {"a": result()})
        (pages,) = run._connection.execute("PRAGMA page_count").fetchone()
        run._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(TamisError, match=r"a\.tamis: cannot be written \(the disk is full\)"):
            run.put(0, "2", {f"knn({k})": result(k) for k in range(40)})
        assert run.count() == 1
        assert run.find(0, "2", ["knn(0)"]) == {}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A closed run of several pages."""
    path = tmp_path_factory.mktemp("intact") / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        for split in "12":
            run.put(0, split, {f"cc({k}) | knn": result(k) for k in range(8)} | {"a": TamisError("no")})
        run.note("elapsed", 1.0)
    return path.read_bytes()


def survives(path: Path, content: bytes) -> bool:
    """Whether all of a file can be read and added to; when not, one sentence about the path must say so."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(content)
    said = []
    for writing in (False, True):
        try:
            with Store.open(path, IDENTITY) if writing else Store.read(path) as run:
                _ = run.versions, run.noted("elapsed"), run.count()
                for split in "12":
                    run.find(0, split, [*(f"cc({k}) | knn" for k in range(8)), "a"])
                if writing:
                    run.put(0, "1", {"new": result(9)})
                    run.put(0, "3", {"new": result(9)})
                    run.note("elapsed", 2.0)
        except TamisError as error:
            said.append(str(error))
    assert all(text.startswith(f"{path}: ") and len(text.splitlines()) == 1 for text in said)
    return not said


def test_a_run_that_is_cut_off_is_refused_in_a_sentence(intact: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    assert survives(path, intact)
    ends = {*range(0, len(intact), 1500), *range(0, len(intact), 4096), 1, 16, 99, 100, len(intact) - 1}
    assert not any(survives(path, intact[:end]) for end in sorted(ends))


@settings(max_examples=200)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore::tamis.mining.run.store.OtherVersions")
def test_a_damaged_run_gives_at_worst_a_sentence(data, intact: bytes, folder: Path) -> None:
    survives(folder / "damaged.tamis", data.draw(damaged([intact])))


@pytest.mark.filterwarnings("ignore::tamis.mining.run.store.OtherVersions")
def test_a_flipped_bit_of_an_answer_is_noticed(intact: bytes, tmp_path: Path) -> None:
    answers = result(3).predictions
    for array in (answers.scores, answers.probabilities):
        at = intact.index(array.tobytes())
        for byte in (at, at + array.nbytes - 1):
            content = bytearray(intact)
            content[byte] ^= 1
            assert not survives(tmp_path / "a.tamis", bytes(content))


@pytest.mark.filterwarnings("ignore::tamis.mining.run.store.OtherVersions")
@given(data=st.data())
@settings(max_examples=40)
def test_damage_to_the_journal_loses_at_most_what_it_holds(data, folder: Path) -> None:
    path = folder / "journal.tamis"
    for left in folder.glob("journal.tamis*"):
        left.unlink()
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result(1)})
        both = path.read_bytes(), path.with_name("journal.tamis-wal").read_bytes()
    path.write_bytes(both[0])
    path.with_name("journal.tamis-wal").write_bytes(data.draw(damaged([both[1]])))
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result(1)})
        assert same(run.find(0, "1", ["a"])["a"], result(1))
    check_integrity(path)


# -- files that were made to do harm ---------------------------------------------------------------------------------

FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
HARMFUL = {
    "view": ["DROP TABLE notes", f"CREATE VIEW notes AS SELECT i AS name, i AS value FROM ({FOREVER})"],
    "trigger": [f"CREATE TRIGGER t AFTER INSERT ON results BEGIN INSERT INTO notes SELECT i, i FROM ({FOREVER}); END"],
    "column": ["ALTER TABLE results ADD COLUMN more"],
    "no table": ["DROP TABLE splits"],
}


@pytest.mark.parametrize("statements", HARMFUL.values(), ids=HARMFUL)
def test_other_tables_are_refused(statements, intact: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    path.write_bytes(intact)
    foreign(path, *statements)
    refused(path, "is damaged (its tables are not those of a run); name another run file or delete it")


def forged(*numbers: int, kinds: tuple[int, int] = (8, 8), shape: tuple[int, ...] | None = None) -> bytes:
    """An array of eight-byte whole numbers as the file has it, of which any part may be a lie."""
    shape = (len(numbers),) if shape is None else shape
    body = struct.pack(f"<BBB{len(shape)}Q", *kinds, len(shape), *shape) + np.array(numbers, "<i8").tobytes()
    return struct.pack("<I", zlib.crc32(body)) + body


LIES = {
    "no such class": ("results", "labels", forged(*[0] * 19, 2)),
    "negative class": ("results", "labels", forged(*[0] * 19, -1)),
    "true class": ("splits", "truth", forged(*[0] * 19, 2)),
    "too few answers": ("results", "labels", forged(*[0] * 19)),
    "huge shape": ("results", "labels", forged(*[0] * 20, shape=(2**40, 2**40))),
    "many axes": ("results", "labels", forged(1, shape=(1,) * 200)),
    "floats for classes": ("results", "labels", forged(*[0] * 20, kinds=(11, 8))),
    "no such type": ("results", "labels", forged(*[0] * 20, kinds=(200, 8))),
    "nothing": ("results", "labels", b""),
    "text": ("results", "labels", "labels"),
    "null": ("results", "labels", None),
    "scores of no probabilities": ("results", "scores = 'probabilities', probabilities", None),
    "other word": ("results", "scores", "labels"),
    "shape of scores": ("results", "scores", array_to_bytes(np.zeros((20, 3)))),
    "shape of probabilities": ("results", "probabilities", array_to_bytes(np.zeros(20))),
    "column beyond": ("results", "n_selected = 1, selected", forged(500)),
    "column before": ("results", "n_selected = 1, selected", forged(-1)),
    "columns back": ("results", "n_selected = 2, selected", forged(7, -1)),
    "columns over the end": ("results", "n_selected = 2, selected", forged(300, 300)),
    "columns beyond all numbers": ("results", "n_selected = 3, selected", forged(1, 2**62, 2**62)),
    "too few columns": ("results", "n_selected", 3),
    "number of columns as text": ("results", "n_selected", "many"),
    "metrics of a list": ("results", "metrics", "[1]"),
    "metrics of text": ("results", "metrics", '{"ber": "0.1"}'),
    "metrics of nothing": ("results", "metrics", "{"),
    "endless metrics": ("results", "metrics", "[" * 100_000),
    "binary metrics": ("results", "metrics", b"{}"),
    "broken text": ("results", "metrics = CAST(x'ff' AS TEXT), warnings", None),
    "warnings of numbers": ("results", "warnings", "[[1, 2]]"),
    "warnings of one": ("results", "warnings", "[[1]]"),
    "seconds of text": ("results", "fit_seconds", "long"),
    "number of columns": ("splits", "n_features", 2**40),
    "negative columns": ("splits", "n_features", -1),
    "fractional columns": ("splits", "n_features", 0.5),
    "no rows": ("splits", '"rows"', None),
    "error of bytes": ("results", "error", b"no"),
}


@pytest.mark.parametrize(("table", "column", "value"), LIES.values(), ids=LIES)
def test_columns_that_lie_are_refused_in_a_sentence(table, column, value, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result()})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    with (
        Store.read(path) as run,
        pytest.raises(TamisError, match=r"a\.tamis: is damaged \(.*\); name another") as caught,
    ):
        run.find(0, "1", ["a"])
    assert len(str(caught.value).splitlines()) == 1


def test_a_result_without_its_split_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result()})
    foreign(path, "DELETE FROM splits")
    with Store.read(path) as run, pytest.raises(TamisError, match="a result in split 1 of search 0 cannot be read"):
        run.find(0, "1", ["a"])


@pytest.mark.parametrize(
    "name", ["antigravity.Warning", "os.system", "tamis.no.Such", "tamis.base.errors.TamisError", "x", ""]
)
def test_the_name_of_a_warning_runs_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result()})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE results SET warnings = ?", (json.dumps([[name, "hello"]]),))
    with Store.read(path) as run:
        assert run.find(0, "1", ["a"])["a"].warnings == ((UserWarning, "hello"),)
    assert "antigravity" not in sys.modules
