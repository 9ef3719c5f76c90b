"""Who computes: the same results from this process and from others, whatever happens to those."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from joblib import Parallel, cpu_count, delayed
from threadpoolctl import threadpool_info

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.engines import local
from tamis.engines.engine import Lost, deadline, open_engine
from tamis.validation.execute.fold import FoldTask, run_fold
from tamis.validation.folds import StratifiedFolds
from tamis.validation.models import as_estimators
from tamis.validation.plan import plan

_RNG = np.random.default_rng(0)
_X = np.where(_RNG.random((60, 12)) < 0.5, 0.0, _RNG.standard_normal((60, 12)))
_Y = np.repeat([0, 1], 30)
_X[_Y == 1, :3] += 1.0


class Counted:
    """Notes in a file every process that it is read by."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(state)
        with open(self.path, "a") as file:
            file.write(f"{os.getpid()}\n")


@dataclass(frozen=True)
class Data:
    """The forms that data takes."""

    forms: dict[str, Dataset]
    counted: Counted
    marks: Path


def evaluated(task: tuple[str, FoldTask], data: Data) -> dict[int, tuple[Any, ...]]:
    form, fold = task
    found = run_fold(fold, data.forms[form])
    return {model: (r.metrics, r.predictions.labels.tolist(), r.selected.tolist()) for model, r in found.items()}


def of_whole_data(form: str, data: Data) -> tuple[bool, float]:
    """A compiled kernel and an operation that sorts in place, on data that was not indexed."""
    X = data.forms[form].X
    if sp.issparse(X):
        X.has_sorted_indices = False
        X.sort_indices()
    arrays = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    return all(array.flags.writeable for array in arrays), float(X.sum())


def slowly(seconds: float, data: Data) -> tuple[int, float | None]:
    time.sleep(seconds)
    return os.getpid(), deadline.get()


def failing(number: int, data: Data) -> int:
    if number == 3:
        raise ZeroDivisionError("three")
    return number


def deadly(number: int, data: Data) -> int:
    """Task 1 ends its process always, task 4 once."""
    mark = data.marks / str(number)
    if number == 1 or (number == 4 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return -number


def inside(number: int, data: Data) -> tuple[int, set[int], list[int], str | None]:
    np.ones((2, 2)) @ np.ones((2, 2))
    pids = set(Parallel(n_jobs=2)(delayed(os.getpid)() for _ in range(4)))
    return os.getpid(), pids, [pool["num_threads"] for pool in threadpool_info()], os.environ.get("OMP_NUM_THREADS")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    folder = tmp_path_factory.mktemp("engine")
    table = pl.DataFrame(_X, schema=[f"x{i}" for i in range(12)])
    forms = {
        "dense": Dataset.of(_X, _Y),
        "sparse": Dataset.of(sp.csr_matrix(_X), _Y),
        "empty": Dataset.of(sp.csr_matrix(_X.shape), _Y),
        "table": Dataset.of(table, _Y),
    }
    return Data(forms, Counted(str(folder / "loads")), folder)


@pytest.fixture(scope="module")
def engine(data: Data) -> Iterator[Any]:
    with open_engine("local(2)", data) as engine:
        for _ in range(60):  # the second process may be up later than the first
            if len({pid for _, (pid, _) in engine.run(slowly, [0.1] * 4)}) == 2:
                break
        yield engine


@pytest.mark.parametrize(
    "name", ["", "Serial", "local()", "local(0)", "local(-1)", "local(2", "dask", "dask://host", "dask://h:1/x", "ray"]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(TamisError, match=r"serial, local, .* dask://host:port"):
        open_engine(name, None)


@pytest.mark.parametrize(
    ("name", "n_jobs", "workers"), [("serial", 1, 1), ("local(1)", 1, 1), ("local(3)", 1, 3), (None, 1, 1)]
)
def test_the_name_says_how_many_workers_there_are(name: str | None, n_jobs: int, workers: int) -> None:
    engine = open_engine(name, None, n_jobs=n_jobs)
    assert engine.workers == engine.per_machine == workers


def test_there_are_no_more_jobs_than_cores() -> None:
    cores = cpu_count()
    assert open_engine(None, None, n_jobs=-1).workers == cores
    assert open_engine(None, None, n_jobs=cores + 3).workers == cores


def test_a_fold_is_the_same_on_every_engine(engine: Any, data: Data) -> None:
    models = as_estimators(["cc({2, 4}) | {knn(1), svm}", "standardize | tree"])
    merged = plan(models)
    tasks = [
        (form, FoldTask(merged, frozenset(range(len(models))), split, None, 0))
        for form, given in data.forms.items()
        for split in StratifiedFolds(3).splits(given.y)
    ]
    here = dict(open_engine("serial", data).run(evaluated, tasks))
    there = dict(engine.run(evaluated, tasks))
    assert sorted(there) == list(range(len(tasks)))
    assert here == there


def test_everything_can_be_done_with_the_data(engine: Any, data: Data) -> None:
    forms = ["dense", "sparse", "empty"]
    sums = [float(data.forms[form].X.sum()) for form in forms]
    assert dict(engine.run(of_whole_data, forms)) == {i: (True, total) for i, total in enumerate(sums)}


def test_the_data_is_read_once_by_each_worker(engine: Any, data: Data) -> None:
    pids = {pid for _, (pid, _) in engine.run(slowly, [0.1] * 8)}
    assert len(pids) == 2
    loads = Path(data.counted.path).read_text().split()
    assert os.getpid() not in pids
    assert len(loads) == len(set(loads))
    assert {str(pid) for pid in pids} <= set(loads)


def test_no_process_and_no_thread_inside_a_task(engine: Any) -> None:
    for _, (pid, pids, threads, declared) in engine.run(inside, range(3)):
        assert pids == {pid}
        assert set(threads) == {1}
        assert declared == "1"


def test_results_come_as_they_are_there(engine: Any) -> None:
    start = time.monotonic()
    run = engine.run(slowly, [3.0, 0.1, 0.1])
    assert [next(run)[0], next(run)[0]] == [1, 2]
    assert time.monotonic() - start < 2.0
    run.close()
    assert dict(engine.run(failing, [1, 2])) == {0: 1, 1: 2}


@pytest.mark.parametrize("name", ["serial", "local(2)"])
def test_no_task_is_begun_late_and_each_knows_when_to_stop(name: str, engine: Any, data: Data) -> None:
    one = open_engine("serial", data) if name == "serial" else engine
    until = time.monotonic() + 1.0
    found = dict(one.run(slowly, [0.2] * 40, until=until))
    assert 1 <= len(found) < 15
    assert {said for _, said in found.values()} == {until}
    assert until <= time.monotonic() < until + 1.0
    assert deadline.get() is None
    assert dict(one.run(slowly, [0.0], until=time.monotonic() - 1)) == {}


def test_what_takes_too_long_is_given_up(engine: Any) -> None:
    hard = time.monotonic() + 1.0
    found = dict(engine.run(slowly, [0.1, 60.0, 60.0, 60.0], hard=hard))
    assert set(found) <= {0}
    assert time.monotonic() < hard + 1.0
    assert dict(engine.run(failing, [1, 2])) == {0: 1, 1: 2}


def test_an_error_of_the_work_comes_out(engine: Any, data: Data) -> None:
    for one in (open_engine("serial", data), engine):
        with pytest.raises(ZeroDivisionError, match="three"):
            list(one.run(failing, range(6)))
        assert dict(one.run(failing, [1])) == {0: 1}


def test_a_run_ends_the_one_before_it(engine: Any) -> None:
    first = engine.run(slowly, [0.0, 60.0, 60.0])
    next(first)
    assert dict(engine.run(failing, [1, 2])) == {0: 1, 1: 2}
    assert list(first) == []


def pid_of(seconds: float, data: Any) -> int:
    time.sleep(seconds)
    return os.getpid()


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_short_tasks_stay_in_this_process_when_starting_others_does_not_pay(count: int) -> None:
    with local.LocalEngine(None, 2, at_once=False) as engine:
        assert dict(engine.run(pid_of, [0.001] * count)) == dict.fromkeys(range(count), os.getpid())


def test_long_tasks_are_shared_out_once_the_processes_are_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_STARTING", 0.0)
    with local.LocalEngine(None, 2, at_once=False) as engine:
        pids = [pid for _, pid in takewhile(lambda found: found[1] == os.getpid(), engine.run(pid_of, [0.05] * 2000))]
    assert 1 <= len(pids) < 2000


def waiting(number: int, folder: Path) -> int:
    """Task 0 ends when the others have ended."""
    if number:
        (folder / str(number)).touch()
    else:
        _soon(lambda: len(os.listdir(folder)) == 2, 60)
    return os.getpid()


def test_a_long_first_task_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_LONG", 0.1)
    with local.LocalEngine(tmp_path, 2, at_once=False) as engine:
        found = dict(engine.run(waiting, [0, 1, 2]))
    assert found[0] == os.getpid()
    assert os.getpid() not in (found[1], found[2])


def test_an_error_of_the_work_comes_out_of_this_process_too() -> None:
    with local.LocalEngine(None, 2, at_once=False) as engine, pytest.raises(ZeroDivisionError, match="three"):
        list(engine.run(failing, range(6)))


def test_dead_workers_are_replaced(engine: Any, data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "CHANCES", 1)
    found = dict(engine.run(deadly, range(8)))
    assert isinstance(found[1], Lost)
    assert str(found.pop(1)) == "task 2: the worker died each of the 2 times that it was tried"
    assert (data.marks / "4").exists()
    assert found == {number: -number for number in (0, 2, 3, 4, 5, 6, 7)}


def test_no_room_for_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path / "absent"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent too"))
    with open_engine("local(2)", 1) as engine, pytest.raises(TamisError, match=r"cannot be written .*absent too"):
        list(engine.run(pow, [1, 2]))


_SCRIPT = """
import os, sys, time
from tamis.engines.engine import open_engine

def work(number, folder):
    open(os.path.join(folder, str(os.getpid())), "w").close()
    time.sleep(600)

with open_engine("local(2)", sys.argv[1]) as engine:
    list(engine.run(work, [1, 2, 3]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups")
@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_nothing_stays_behind(how: str, tmp_path: Path) -> None:
    folder, home = tmp_path / "pids", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, str(folder)],
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(home)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _soon(lambda: len(os.listdir(folder)) == 2, 60)
        assert len(os.listdir(home)) == 1
        start = time.monotonic()
        if how == "interrupt":  # as the terminal does it: to all processes
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.kill()
        said, _ = process.communicate(timeout=10)
        assert time.monotonic() - start < 5
        _soon(lambda: not any(_alive(int(pid)) for pid in os.listdir(folder)), 5)
        _soon(lambda: not os.listdir(home), 5)
        if how == "interrupt":
            assert said.count("Traceback") == 1
            assert said.rstrip().endswith("KeyboardInterrupt")
    finally:
        process.kill()


def _soon(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z" if sys.platform == "linux" else True
    )
