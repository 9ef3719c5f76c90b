"""A full disk, files that may not grow, folders that may not be written, and a clock that jumps."""

import os
import re
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from findings import IDENTITY, result, same
from tamis.base.errors import DataError, TamisError
from tamis.cli.mine import _build, _end
from tamis.kernels.lock import Lock
from tamis.mining.budget import Budget, Clock
from tamis.mining.run.store import Store

_QUICK = (
    "--target",
    "class",
    "--trials",
    4,
    "--engine",
    "serial",
    "--inner-folds",
    3,
    "--try",
    "cc({1, 2, 3, 4}) | knn",
)

Command = Callable[..., tuple[int, str, str]]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process may grow beyond a size: a disk that is full, but for the code of the error."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    lines = [",".join(f"{value:.3f}" for value in row) + ("," + "ab"[number % 2]) for number, row in enumerate(X)]
    Path("a.csv").write_text("\n".join([",".join(f"c{i}" for i in range(12)) + ",class", *lines]))
    return Path("a.csv")


def test_a_run_that_cannot_grow_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"

    def fill(run: Store) -> None:
        for one in range(10_000):
            run.put(0, str(one), {"a": result(one)})

    said = r"a\.tamis: cannot be .*; what was stored in it stays, and the same command resumes$"
    with Store.open(path, IDENTITY) as run, files_of_at_most(150_000), pytest.raises(TamisError, match=said):
        fill(run)
    with Store.read(path) as run:
        stored = run.count()
    assert stored > 5
    with Store.open(path, IDENTITY) as run:
        assert run.count() == stored
        assert all(same(run.find(0, str(one), ["a"])["a"], result(one)) for one in range(stored))
        run.put(0, "new", {"a": result()})
    assert os.listdir(tmp_path) == ["a.tamis"]


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        (pages,) = run._connection.execute("PRAGMA page_count").fetchone()
        run._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        said = r"a\.tamis: cannot be written \(the disk is full\); what was stored in it stays"
        with pytest.raises(TamisError, match=said):
            run.put(0, "1", {f"knn({k})": result(k) for k in range(100)})


def test_no_lock_stays_where_there_is_no_room_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
    (tmp_path / "a-lock").touch()
    with pytest.raises(sqlite3.OperationalError, match="full"):
        Lock(tmp_path / "a-lock")
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_a_search_that_meets_a_full_disk_resumes_to_the_same_result(tamis: Command, table: Path) -> None:
    words = ("mine", table, *_QUICK, "--run")
    with files_of_at_most(90_000):
        code, _, said = tamis(*words, "run")
    assert code == 2
    assert said.splitlines()[-1].startswith("tamis: run: cannot be read or written")
    assert Store.read(Path("run")).count() > 0
    code, resumed, _ = tamis(*words, "run")
    assert code == 0
    assert _found(resumed) == _found(tamis(*words, "other")[1])


@pytest.mark.slow
def test_results_are_printed_although_the_report_cannot_be_written(tamis: Command, table: Path) -> None:
    words = ("mine", table, *_QUICK)
    code, _, _ = tamis(*words)
    assert code == 0
    with files_of_at_most(200_000):
        code, printed, said = tamis(*words, "--report", "other.html")
    assert code == 2
    assert "chosen: " in printed
    assert "report: " not in printed
    assert said.splitlines()[-1] == (
        "tamis: other.html: cannot be written (File too large); the search is complete: tamis report a.tamis-run "
        "writes the report elsewhere with --out"
    )
    assert not [name for name in os.listdir() if name.startswith(".") or name == "other.html"]


def test_a_report_that_cannot_be_written_is_told_of_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(run: Path, out: Path) -> None:
        raise DataError(f"{out}: cannot be written (No space left on device)")

    monkeypatch.setattr("tamis.reporting.run_report.report", refuse)
    said = _build(Path("a.tamis-run"), Path("a.html"))
    assert said == (
        "a.html: cannot be written (No space left on device); the search is complete: tamis report a.tamis-run writes "
        "the report elsewhere with --out"
    )
    with pytest.raises(TamisError, match="the search is complete"):
        _end(said)
    _end(None)


def test_a_clock_that_jumps_changes_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(Budget(60.0))
    for jump in (-86_400.0, 86_400.0):
        with monkeypatch.context() as patch:
            moved = time.time() + jump
            patch.setattr(time, "time", lambda moved=moved: moved)
            assert 0 <= clock.spent < 30
            assert not clock.over("tune")


def test_no_limit_of_time_hangs_on_the_clock_of_the_wall() -> None:
    """But one, in days: how old interim results are, beside times of files."""
    source = Path(__file__).parents[1] / "src" / "tamis"
    wall = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if re.search(r"\btime\.time\(\)|^from time import .*\btime\b", path.read_text(), re.MULTILINE)
    }
    assert wall == {"streaming/kept_sums.py"}


def _found(printed: str) -> list[str]:
    """What a search prints, without the names of its files."""
    return [line for line in printed.splitlines() if not line.startswith(("run", "resuming"))]
