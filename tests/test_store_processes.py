"""A run in several processes: nothing is lost to a kill, one writes at a time, others may read."""

import os
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from findings import IDENTITY, check_integrity, child, logged, result, same, until, write_on
from tamis.base.errors import TamisError
from tamis.mining.run.store import Store


def test_a_kill_at_any_moment_loses_nothing_that_was_put(tmp_path: Path) -> None:
    path, log = tmp_path / "a.tamis", tmp_path / "log"
    log.touch()
    rng = np.random.default_rng(3)
    for attempt in range(12):
        opened, put = log.read_bytes().count(b"open"), len(logged(log))
        process = child(path, log, 10_000)
        if attempt % 3 == 1:  # the others may be killed while they make or open the file, or well after that
            until(lambda opened=opened: log.read_bytes().count(b"open") > opened)
        elif attempt % 3 == 2:
            until(lambda put=put: len(logged(log)) > put + 3)
        time.sleep(float(rng.uniform(0.0, 0.1)))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        done = logged(log)
        if not path.exists():
            assert not done
            continue
        with Store.read(path) as run:
            assert run.count() % 5 == 0
            for batch in done:
                found = run.find(batch % 3, str(batch), [f"knn({k})" for k in range(5)])
                assert all(same(found[f"knn({k})"], result(5 * batch + k)) for k in range(5))
            assert run.count() >= 5 * len(done)
            assert not done or run.noted("batch") >= done[-1]
        if attempt % 2:
            check_integrity(path)
    assert len(logged(log)) > 12
    write_on(path, log, 1)
    with Store.read(path) as run:
        every = range(run.count() // 5)
        assert all(len(run.find(batch % 3, str(batch), ["knn(0)", "knn(4)"])) == 2 for batch in every)
    assert logged(log)[-1] == every[-1]
    check_integrity(path)
    assert sorted(os.listdir(tmp_path)) == ["a.tamis", "log"]


def test_a_run_that_is_written_can_be_read_and_not_be_opened(tmp_path: Path) -> None:
    path, log = tmp_path / "a.tamis", tmp_path / "log"
    process = child(path, log, 10_000)
    until(lambda: logged(log))
    (tmp_path / "other.tamis").symlink_to(path)
    for name in ("a.tamis", "other.tamis"):
        with pytest.raises(TamisError, match=rf"{name}: is in use by another process.*name another run file$"):
            Store.open(tmp_path / name, IDENTITY)
    with Store.read(path) as run:
        seen = []
        until(lambda: seen.append(run.count()) or run.count() > seen[0] + 50)
        assert seen == sorted(seen)
        assert not any(count % 5 for count in seen)
        last = run.count() // 5 - 1
        assert same(run.find(last % 3, str(last), ["knn(4)"])["knn(4)"], result(5 * last + 4))
    assert process.is_alive()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    with Store.open(path, IDENTITY) as run:
        assert run.count() >= 5 * len(logged(log))


def test_a_run_is_open_once_in_a_process_and_free_when_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run:
        with pytest.raises(TamisError, match=r"a\.tamis: is in use .*still open in this one"):
            Store.open(path, IDENTITY)
        run.put(0, "1", {"a": result()})
    run.close()
    assert os.listdir(tmp_path) == ["a.tamis"]
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        run.count()
    Store.open(path, IDENTITY).close()


def test_a_reader_does_not_disturb_the_end_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    run = Store.open(path, IDENTITY)
    with Store.read(path) as reader:
        run.put(0, "1", {"a": result()})
        assert reader.count() == 1
        run.close()
        assert reader.count() == 1
    Store.open(path, IDENTITY).close()
    assert os.listdir(tmp_path) == ["a.tamis"]


def test_another_program_that_holds_the_file_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    with Store.open(path, IDENTITY) as run, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        run._connection.execute("PRAGMA busy_timeout = 20")
        with pytest.raises(TamisError, match=r"a\.tamis: is locked by another program; try again"):
            run.put(0, "1", {"a": result()})
        other.execute("ROLLBACK")
        run.put(0, "1", {"a": result()})


def test_what_a_deleted_run_left_behind_does_not_come_back(tmp_path: Path) -> None:
    path, log = tmp_path / "a.tamis", tmp_path / "log"
    process = child(path, log, 10_000)
    until(lambda: logged(log))
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert (tmp_path / "a.tamis-wal").stat().st_size
    path.unlink()
    with Store.open(path, IDENTITY | {"seed": 1}) as run:
        assert run.count() == 0
    check_integrity(path)


def test_a_run_with_its_journal_can_be_taken_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.tamis"
    (tmp_path / "there").mkdir()
    with Store.open(path, IDENTITY) as run:
        run.put(0, "1", {"a": result()})
        for name in ("a.tamis", "a.tamis-wal"):
            shutil.copy(tmp_path / name, tmp_path / "there" / name)
    with Store.read(tmp_path / "there" / "a.tamis") as run:
        assert same(run.find(0, "1", ["a"])["a"], result())
