"""What killed processes left behind is removed by a later one, and nothing else is."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tamis.data.write import write_text
from tamis.kernels import temporary
from tamis.kernels.temporary import Owner, make_folder, partial_name, remove_left, temporary_folder

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of that of temporary files and of shared memory."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(temporary, "SHARED_MEMORY", str(folder))
    monkeypatch.delenv("JOBLIB_TEMP_FOLDER", raising=False)
    return folder


@pytest.fixture
def dead() -> Owner:
    """A process that has ended."""
    process = subprocess.Popen(["sleep", "60"])
    owner = Owner.this()._replace(pid=process.pid, start=temporary._start(process.pid))
    assert not owner.is_dead
    process.kill()
    process.wait()
    return owner


@pytest.fixture
def alive() -> Iterator[Owner]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield Owner.this()._replace(pid=process.pid, start=temporary._start(process.pid))
        process.kill()


def test_a_name_tells_its_owner(place: Path) -> None:
    owner = Owner.this()
    assert Owner.of(f"{owner}-abc") == owner
    assert not owner.is_dead
    with temporary_folder() as folder:
        assert folder.parent == place
        assert folder.name.startswith(f"tamis-{owner}-")
        assert remove_left() == []
    assert os.listdir(place) == []


def test_what_a_dead_process_left_is_removed_with_its_companions(place: Path, dead: Owner, alive: Owner) -> None:
    left = place / f"tamis-{dead}-x"
    (left / "deep").mkdir(parents=True)
    (left / "deep" / "data").write_text("much")
    companions = {f"sem.loky-{dead.pid}-abc", f"joblib_memmapping_folder_{dead.pid}_1_2"}
    others = {
        f"sem.loky-{alive.pid}-abc",
        f"joblib_memmapping_folder_{alive.pid}_1_2",
        "sem.loky-x",
        "tamis-old",
        f"tamis-{alive}-x",
        f"sem.other-{dead.pid}-abc",
    }
    for name in companions | others:
        (place / name).touch()
    new = make_folder()
    assert set(os.listdir(place)) == others | {new.name}


def test_semaphores_of_unknown_processes_stay(place: Path, dead: Owner) -> None:
    """They may be of another program; or of another machine's process, if the folder is shared."""
    (place / f"sem.loky-{dead.pid}-abc").touch()
    assert remove_left() == []


def test_a_number_that_is_used_again_is_not_the_owner(place: Path, alive: Owner) -> None:
    before = alive._replace(start=alive.start - 1)
    (place / f"tamis-{before}-x").mkdir()
    (place / f"sem.loky-{alive.pid}-abc").touch()  # may be of the process that has the number now
    assert [path.name for path in remove_left()] == [f"tamis-{before}-x"]
    assert os.listdir(place) == [f"sem.loky-{alive.pid}-abc"]


def test_after_a_restart_of_the_machine_every_owner_is_dead(place: Path, alive: Owner) -> None:
    (place / f"tamis-{alive._replace(boot='0' * 8)}-x").mkdir()
    assert len(remove_left()) == 1


def test_other_machines_and_other_users_are_left_alone(
    place: Path, dead: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / f"tamis-{dead._replace(place='0' * 12)}-x").mkdir()
    assert remove_left() == []
    mine = place / f"tamis-{dead}-x"
    mine.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert remove_left() == []
    assert remove_left() == [mine]


def test_a_link_is_removed_and_not_followed(place: Path, dead: Owner, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (place / f"tamis-{dead}-x").symlink_to(tmp_path / "precious")
    assert len(remove_left()) == 1
    assert (tmp_path / "precious").is_dir()


def test_without_known_starts_a_number_that_lives_is_the_owner(alive: Owner, dead: Owner) -> None:
    assert not alive._replace(start=0).is_dead
    assert dead._replace(start=0).is_dead


def test_a_file_half_written_is_removed_by_the_next_writer(tmp_path: Path, dead: Owner, alive: Owner) -> None:
    target = tmp_path / "model"
    left, other = tmp_path / f".model.{dead}", tmp_path / f".model.{alive}"
    kept = tmp_path / f".model.{dead}.bak"  # not a name that tamis gives
    for path in (left, other, kept):
        path.touch()
    assert partial_name(target) == tmp_path / f".model.{Owner.this()}"
    write_text(target, "whole")
    assert sorted(os.listdir(tmp_path)) == sorted([other.name, kept.name, "model", "temporary"])


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    write_text(tmp_path / ("n" * 255), "whole")
    assert (tmp_path / ("n" * 255)).read_text() == "whole"


def test_a_folder_that_refuses_is_no_error(place: Path, dead: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / f"tamis-{dead}-x").mkdir()

    def refuse(*_: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(temporary.shutil, "rmtree", refuse)
        assert remove_left() == []
    assert remove_left([str(place / "absent")]) == []


_SEARCH = """
import sys
import numpy as np
from tamis.mining.search import mine
rng = np.random.default_rng(0)
y = np.arange(60) % 2
X = rng.normal(size=(60, 20)) + y[:, None] * (np.arange(20) == 3)
def mark(progress):
    open(sys.argv[1], "a").write("x")
mine(X, y, trials=400, engine=sys.argv[2], progress=mark)
"""


def kill_searches(folder: Path, times: int, engine: str) -> None:
    """Start searches and kill each with all its helpers, when it has computed something."""
    mark, temporary_files = folder / "mark", folder / "temporary"
    for number in range(times):
        mark.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", _SEARCH, str(mark), engine],
            env={**os.environ, "TMPDIR": str(temporary_files), "JOBLIB_TEMP_FOLDER": str(temporary_files)},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 120
        while not (mark.exists() and (engine == "serial" or _semaphores(process.pid))):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        time.sleep(0.01 * (number % 7))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        left = [name for name in os.listdir(temporary_files) if name.startswith("tamis-")]
        # The run file, and the data of the local workers; what earlier searches left is gone.
        assert len(left) == (1 if engine == "serial" else 2)
        assert {Owner.of(name.removeprefix("tamis-")).pid for name in left} == {process.pid}


def _semaphores(pid: int) -> list[str]:
    return [name for name in os.listdir("/dev/shm") if name.startswith(f"sem.loky-{pid}-")]


def kill_and_look(folder: Path, place: Path, times: int, *engines: str) -> None:
    for engine in engines:
        kill_searches(folder, times, engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(temporary, "SHARED_MEMORY", "/dev/shm")
        removed = remove_left()
    assert any(path.name.startswith("sem.loky-") for path in removed)
    assert os.listdir(place) == []
    assert not any(path.exists() for path in removed)


def test_searches_killed_with_all_their_helpers_leave_nothing_to_the_next(tmp_path: Path, place: Path) -> None:
    kill_and_look(tmp_path, place, 1, "local(2)")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills_leave_nothing(tmp_path: Path, place: Path) -> None:
    kill_and_look(tmp_path, place, 50, "serial", "local(2)")
