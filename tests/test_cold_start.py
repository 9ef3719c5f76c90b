"""A cold machine: kernels are compiled once, by one process each, and before the clock of a search starts."""

import importlib
import logging
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core import caching

from sampled import FEW_DRAWS
from tamis.cli.mine_progress import _Lines
from tamis.compose.catalog import catalog
from tamis.compose.needed_kernels import needed_kernels
from tamis.engines.ready import compile_seconds, ready
from tamis.kernels import compiler
from tamis.kernels.compiler import Kernel
from tamis.kernels.disk_cache import compiled, lock_path, stored
from tamis.kernels.lock import Lock, LockedError
from tamis.mining import runner
from tamis.mining.budget import Budget, Clock
from tamis.mining.progress_display import _picture
from tamis.mining.search import mine

TINY = """
from tamis.kernels.compiler import kernel

@kernel("float64(float64[::1])", "float64(float32[::1])", reads=1)
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s

@kernel("float64(float64[::1])", reads=1)
def first(x):
    return x[0]
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module of two small kernels that nothing has compiled yet."""
    name = f"tiny_{time.monotonic_ns()}"
    (tmp_path / f"{name}.py").write_text(TINY)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module(name)
    del sys.modules[name]


# Locks.


def test_a_lock_is_for_one(tmp_path):
    path = tmp_path / "a-lock"
    with Lock(path), pytest.raises(LockedError):
        Lock(path)
    assert not path.exists()
    with Lock(path):
        assert path.exists()


def test_a_lock_is_waited_for(tmp_path):
    path = tmp_path / "a-lock"
    held = Lock(path)
    threading.Timer(0.3, held.release).start()
    begin = time.perf_counter()
    with Lock(path, patience=30.0):
        assert time.perf_counter() - begin > 0.25
    begin = time.perf_counter()
    with Lock(path), pytest.raises(LockedError):
        Lock(path, patience=0.2)
    assert time.perf_counter() - begin > 0.15


COUNT = """
import sys, time
from pathlib import Path
from tamis.kernels.lock import Lock
folder = Path(sys.argv[1])
for _ in range(40):
    with Lock(folder / "a-lock", patience=60.0):
        number = int((folder / "count").read_text())
        time.sleep(0.001)
        (folder / "count").write_text(str(number + 1))
"""


def test_processes_that_wait_for_a_lock_get_it_one_at_a_time(tmp_path):
    (tmp_path / "count").write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "120"


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = tmp_path / "a-lock"
    code = "import sys, time; from pathlib import Path; from tamis.kernels.lock import Lock\n"
    code += "lock = Lock(Path(sys.argv[1])); print('locked', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"locked")
    with pytest.raises(LockedError):
        Lock(path)
    process.kill()
    process.wait()
    process.stdout.close()
    with Lock(path, patience=10.0):
        pass


# What is on disk.


def test_what_is_missing_is_found_without_compiling(tiny):
    assert tiny.total.missing() == list(tiny.total.signatures)
    assert tiny.total.missing(single=False) == ["float64(float64[::1])"]
    tiny.total.warm(["float64(float64[::1])"])
    assert tiny.total.missing() == ["float64(float32[::1])"]
    tiny.total.warm()
    assert tiny.total.missing() == []
    assert not lock_path(tiny.total._dispatcher).exists()


def test_a_version_without_its_machine_code_is_missing(tiny):
    tiny.first.warm()
    for file in Path(tiny.first._dispatcher._cache.cache_path).glob("*first*.nbc"):
        file.unlink()
    assert tiny.first.missing() == list(tiny.first.signatures)


@pytest.mark.parametrize("cores", [1, 2])
def test_ready_compiles_what_is_missing_and_reports(tiny, monkeypatch, cores):
    monkeypatch.setattr("tamis.engines.ready.cpu_count", lambda: cores)
    heard: list[tuple[int, int]] = []
    assert ready([tiny.total, tiny.first], progress=lambda *count: heard.append(count)) == 2
    assert heard == [(0, 2), (1, 2), (2, 2)]
    assert tiny.total.missing() == tiny.first.missing() == []
    again = compiled(tiny.total.python)
    again.compile(tiny.total._kinds["float64(float64[::1])"])
    assert sum(again.stats.cache_hits.values()) == 1
    assert ready([tiny.total, tiny.first], progress=lambda *count: heard.append(count)) == 0
    assert len(heard) == 3


def test_ready_logs_where_nobody_listens(tiny, caplog):
    with caplog.at_level(logging.INFO, logger="tamis"):
        ready([tiny.first])
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert caplog.messages[0] == "compiling 1 kernels, once on this machine: 0 of 1"


ONCE = """
import sys, time
from pathlib import Path
import numpy as np
folder, name, own = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.path.insert(0, str(folder))
kernel = __import__(name).total
compile_now = kernel._dispatcher._compiler.compile
def slowly(*args):
    (folder / f"compiling-{own}").touch()
    time.sleep(1.5)
    return compile_now(*args)
kernel._dispatcher._compiler.compile = slowly
(folder / f"here-{own}").touch()
while len(list(folder.glob("here-*"))) < 2:
    time.sleep(0.01)
assert kernel(np.arange(4.0)) == 6.0
print(sum(kernel._dispatcher.stats.cache_hits.values()), sum(kernel._dispatcher.stats.cache_misses.values()))
"""


def test_two_processes_at_once_compile_a_kernel_once(tiny, tmp_path):
    run = [sys.executable, "-c", ONCE, str(tmp_path), tiny.__name__]
    processes = [subprocess.Popen([*run, own], stdout=subprocess.PIPE, text=True) for own in "ab"]
    outputs = sorted(process.communicate(timeout=120)[0].strip() for process in processes)
    # One of them compiled; the other waited, and found it on disk.
    assert outputs == ["0 1", "1 0"]
    assert len(list(tmp_path.glob("compiling-*"))) == 1
    assert tiny.total.missing() == ["float64(float32[::1])"]


# Disks that do not cooperate.


def test_where_nothing_can_be_stored_kernels_work(tiny, monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    alone = Kernel(tiny.total.python, tiny.total.signatures, reads=1)
    assert not alone.is_stored
    assert alone.missing() == []
    assert ready([alone]) == 0
    assert alone(np.arange(4.0)) == 6.0
    assert not stored(alone._dispatcher)(alone._kinds["float64(float64[::1])"])


def test_a_full_disk_does_not_stop_a_kernel(tiny, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tiny.total._dispatcher._cache, "save_overload", full)
    with caplog.at_level(logging.WARNING, logger="tamis"):
        assert tiny.total(np.arange(4.0)) == 6.0
    assert "the compiled total cannot be stored" in caplog.text
    assert tiny.total.missing() == list(tiny.total.signatures)


def test_where_no_lock_can_be_made_a_kernel_is_compiled_without(tiny, monkeypatch, tmp_path):
    nowhere = tmp_path / "none" / "a-lock"
    with pytest.raises(sqlite3.OperationalError):
        Lock(nowhere)
    monkeypatch.setattr(compiler, "lock_path", lambda dispatcher: nowhere)
    assert tiny.total(np.arange(4.0)) == 6.0
    assert tiny.total.missing() == ["float64(float32[::1])"]


def test_a_lock_that_is_never_released_is_not_waited_for_without_end(tiny, monkeypatch):
    monkeypatch.setattr(compiler, "_OTHERS", 0.2)
    with Lock(lock_path(tiny.total._dispatcher)):
        assert tiny.total(np.arange(4.0)) == 6.0


def test_processes_that_die_leave_the_rest_to_the_first_call(tiny, monkeypatch, caplog):
    monkeypatch.setattr("tamis.engines.ready.cpu_count", lambda: 2)
    monkeypatch.setattr("tamis.engines.ready._warm", _die)
    with caplog.at_level(logging.WARNING, logger="tamis"):
        ready([tiny.total, tiny.first])
    assert "a process died" in caplog.text
    assert tiny.first(np.arange(4.0)) == 0.0


def _die(*_):
    os._exit(1)


# What a search needs.


@pytest.mark.filterwarnings("ignore::tamis.base.cut.NothingPasses")
@pytest.mark.filterwarnings("ignore::tamis.bayes.drawn.NotMixedWarning")
@pytest.mark.parametrize("sparse", [False, True])
def test_parts_call_no_kernel_that_is_not_known_to_be_needed(monkeypatch, sparse):
    called: set[Kernel] = set()
    call = Kernel.__call__

    def noted(self, *args):
        called.add(self)
        return call(self, *args)

    monkeypatch.setattr(Kernel, "__call__", noted)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.integers(0, 9, size=(40, 6)).astype(float)
    X[:, 0] += 5 * y
    seen = 0
    for name, part in catalog().items():
        called.clear()
        try:
            part.make(**FEW_DRAWS.get(name, {})).fit(sp.csr_array(X) if sparse else X, y)
        except (ValueError, TypeError):  # not for sparse data
            assert sparse, name
        assert called <= set(needed_kernels([name])), name
        seen += len(called)
    assert seen > 20


def test_a_search_compiles_what_its_templates_need(monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "ready", lambda kernels, **options: asked.append((set(kernels), options["single"])))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.repeat([0, 1], 20)
    for data in (X, X.astype(np.float32)):
        mine(data, y, trials=2, only=["cc | centroid"], without=["committee", "blend"], engine="serial", folds=2)
    (few, single), (_, both) = asked
    assert few == set(needed_kernels(["cc", "centroid"]))
    assert (single, both) == (False, True)


# The clock.


def test_a_paused_clock_stands_still():
    now = [100.0]
    clock = Clock(Budget(50.0), 5.0, lambda: now[0])
    now[0] += 2.0
    with clock.paused():
        now[0] += 30.0
        assert clock.spent == 7.0
    assert clock.spent == 7.0
    now[0] += 1.0
    assert clock.spent == 8.0


def test_an_interrupted_pause_ends():
    now = [100.0]
    clock = Clock(Budget(50.0), 5.0, lambda: now[0])
    with pytest.raises(KeyboardInterrupt), clock.paused():
        raise KeyboardInterrupt
    now[0] += 1.0
    assert clock.spent == 6.0


def slow(kernels, *, single, progress):
    """In place of `ready`: two kernels take two seconds."""
    for done in range(3):
        if progress is not None:
            progress(done, 2)
        time.sleep(2.0 / 3)
    return 2


def test_the_budget_begins_when_the_kernels_are_ready(monkeypatch):
    monkeypatch.setattr(runner, "ready", slow)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)
    reports = []
    begin = time.perf_counter()
    found = mine(
        X,
        y,
        budget=60,
        trials=2,
        only=["cc | knn(3)"],
        engine="serial",
        folds=2,
        inner_folds=2,
        progress=reports.append,
    )
    elapsed = time.perf_counter() - begin
    assert elapsed > 2.0
    assert found.run_.seconds < elapsed - 1.9
    compiling = [(one.done, one.total) for one in reports if one.stage == "compile"]
    assert compiling == [(0, 2), (1, 2), (2, 2)]
    assert [one.stage for one in reports[:3]] == ["compile"] * 3


# The command line.


def test_mine_tells_that_it_compiles(tamis, monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "ready", slow)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 3)) + y[:, None]
    rows = [",".join(map(str, (*row, label))) for row, label in zip(X, y, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c,class", *rows]))
    monkeypatch.chdir(tmp_path)
    code, _, error = tamis(
        "mine", "data.csv", "--try", "knn(3)", "--trials", 2, "--engine", "serial", "--folds", 2, "--inner-folds", 2
    )
    assert code == 0
    assert error.startswith("compiling 2 kernels, once on this machine: 0 of 2\n")
    assert "compiling 2 kernels, once on this machine: 2 of 2\n" in error


def test_a_line_for_each_quarter_of_the_kernels(capsys):
    lines = _Lines(None)
    for done in range(42):
        lines(SimpleNamespace(stage="compile", done=done, total=41))
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 5
    assert shown[0] == "compiling 41 kernels, once on this machine: 0 of 41"
    assert shown[-1] == "compiling 41 kernels, once on this machine: 41 of 41"
    picture = _picture(SimpleNamespace(stage="compile", done=12, total=41), [])
    assert str(picture) == "compiling 41 kernels, once on this machine: 12 of 41"


def test_warm_compiles_in_processes(tamis, tiny, monkeypatch):
    monkeypatch.setattr(compiler, "all_kernels", lambda: [tiny.total, tiny.first])
    assert tamis("warm")[:2] == (0, "2 kernels are compiled and stored on disk, 2 of them now\n")
    assert tamis("warm")[:2] == (0, "2 kernels are compiled and stored on disk, 0 of them now\n")


def test_warm_says_when_nothing_can_be_stored(tamis, tiny, monkeypatch):
    monkeypatch.setattr(compiler, "all_kernels", lambda: [tiny.total])
    monkeypatch.setattr(Kernel, "is_stored", False)
    code, out, error = tamis("warm")
    assert (code, out) == (2, "")
    assert error == "tamis: compiled kernels cannot be stored; set NUMBA_CACHE_DIR to a folder that can be written\n"


def test_times_are_measured_without_the_cache(tamis, tiny, monkeypatch):
    monkeypatch.setattr(compiler, "all_kernels", lambda: [tiny.total, tiny.first])
    code, out, _ = tamis("warm", "--times")
    assert code == 0
    assert out.startswith("3 versions of 2 kernels:")
    seconds = [float(line.split()[0]) for line in out.splitlines() if " float64(" in line]
    assert len(seconds) == 3
    assert seconds == sorted(seconds, reverse=True)
    assert min(seconds) > 0.0
    assert tiny.total.missing() == list(tiny.total.signatures)
    tiny.total.warm()
    found = compile_seconds([tiny.total])
    assert min(found.values()) > 0.01
    assert tiny.total.missing() == []
