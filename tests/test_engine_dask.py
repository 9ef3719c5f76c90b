"""A real scheduler and real workers on the loopback device: the same results, whatever happens to the workers."""

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

import tamis
from dask_cluster import cluster, soon
from tamis.base.errors import TamisError
from tamis.compose.subset_run import fit_search
from tamis.data.dataset import Dataset
from tamis.engines.engine import Lost, deadline, open_engine
from tamis.select import Fortal

pytest.importorskip("distributed")


class Data:
    """Dense and sparse data that notes every process it is read by, and a folder for the marks of tasks."""

    def __init__(self, dense: Dataset, sparse: Dataset, folder: Path) -> None:
        self.dense, self.sparse, self.folder = dense, sparse, folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with open(self.folder / "loads", "a") as file:
            file.write(f"{os.getpid()}\n")


def product(number: int, data: Data) -> tuple[float, bool]:
    dense, sparse = data.dense.X, data.sparse.X
    writeable = all(array.flags.writeable for array in (dense, sparse.data, sparse.indices))
    return float((sparse @ dense.T)[number].sum()), writeable


def slowly(seconds: float, data: Data) -> tuple[int, float | None]:
    time.sleep(seconds)
    return os.getpid(), deadline.get()


def failing(number: int, data: Data) -> int:
    if number == 3:
        raise FileNotFoundError("three")  # which is no fault of the network
    return number


def marked(number: int, data: Data) -> int:
    (data.folder / f"{number}-{os.getpid()}").touch()
    time.sleep(0.3)
    return -number


def deadly(number: int, data: Data) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return -number


def alone(seconds: float, data: Data) -> tuple[float, float]:
    start = time.time()
    time.sleep(seconds)
    return start, time.time()


@pytest.fixture
def data(tmp_path: Path) -> Data:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 30)) < 0.7, 0.0, rng.standard_normal((40, 30)))
    y = np.repeat([0, 1], 20)
    return Data(Dataset.of(X, y), Dataset.of(sp.csr_matrix(X), y), tmp_path)


def test_two_workers_one_killed(data: Data, tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        workers = [here.worker("--nthreads", "1", "--no-nanny") for _ in range(2)]
        with open_engine(f"dask://{here.place}", data) as engine:
            soon(lambda: engine.workers == 2, 60)
            assert engine.per_machine == 2
            expected = dict(open_engine("serial", data).run(product, range(40)))
            assert dict(engine.run(product, range(40))) == expected
            pids = {pid for _, (pid, _) in engine.run(slowly, [0.1] * 8)}
            loads = (tmp_path / "loads").read_text().split()
            assert sorted(loads) == sorted(map(str, pids))
            assert pids == {worker.pid for worker in workers}

            _times(engine)
            with pytest.raises(FileNotFoundError, match="three"):
                list(engine.run(failing, range(6)))

            run = engine.run(marked, range(16))
            found = dict([next(run), next(run)])
            soon(lambda: len(_at_work(tmp_path, workers[0].pid)) > 1, 10)
            workers[0].kill()
            found |= dict(run)
            assert found == {number: -number for number in range(16)}
            assert engine.workers == 1

            here.worker("--nthreads", "3", "--no-nanny")
            soon(lambda: engine.workers == 2, 60)
            _one_at_a_time(engine)
            workers[1].kill()  # what is left got the data from it
            assert dict(engine.run(product, range(40))) == expected


def _times(engine: Any) -> None:
    until = time.time() + 1.0
    found = dict(engine.run(slowly, [0.2] * 40, until=until))
    assert 1 <= len(found) < 15
    assert {said for _, said in found.values()} == {until}
    assert time.time() < until + 1.0
    hard = time.time() + 1.0
    assert set(dict(engine.run(slowly, [0.1, 2.0, 2.0, 2.0], hard=hard))) == {0}
    assert time.time() < hard + 0.5
    assert dict(engine.run(failing, [1, 2])) == {0: 1, 1: 2}


def _at_work(folder: Path, pid: int) -> list[Path]:
    return list(folder.glob(f"*-{pid}"))


def _one_at_a_time(engine: Any) -> None:
    spans = sorted(span for _, span in engine.run(alone, [0.2] * 6))
    at_once = max(sum(start <= begin < end for start, end in spans) for begin, _ in spans)
    assert at_once <= 2


@pytest.mark.slow
def test_a_task_that_ends_every_worker(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.engines.dask.CHANCES", 1)
    with cluster(tmp_path) as here:
        here.worker("--nthreads", "1", "--nworkers", "2")
        with open_engine(f"dask://{here.place}", data) as engine:
            found = dict(engine.run(deadly, range(8)))
        assert isinstance(found[1], Lost)
        assert str(found.pop(1)) == "task 2: the worker died each of the 2 times that it was tried"
        assert found == {number: -number for number in (0, 2, 3, 4, 5, 6, 7)}


def test_nobody_or_another_version_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr("tamis.engines.dask._TIMEOUT", 1.0)
    with pytest.raises(TamisError, match=f"^no Dask scheduler found at {place}$"):
        open_engine(f"dask://{place}", None)
    monkeypatch.setattr("tamis.engines.dask._TIMEOUT", 10.0)
    monkeypatch.setattr("tamis.engines.dask._QUIET", 0.2)
    monkeypatch.setattr("tamis.engines.dask._PATIENCE", 1.0)
    (tmp_path / "tamis").mkdir()
    (tmp_path / "tamis" / "__init__.py").write_text("__version__ = '9.9'")
    with cluster(tmp_path) as here:
        empty = rf"^the Dask scheduler at {here.place} has had no workers for 1 s: start one with 'dask worker tcp://"
        with pytest.warns(UserWarning, match="has no workers: waiting"), pytest.raises(TamisError, match=empty):
            open_engine(f"dask://{here.place}", None)
        monkeypatch.setattr("tamis.engines.dask._PATIENCE", 60.0)
        monkeypatch.setattr("tamis.engines.dask._QUIET", 60.0)
        here.worker("--nthreads", "1", "--no-nanny", path=tmp_path)
        with pytest.raises(
            TamisError, match=rf"this is tamis {tamis.__version__} and the worker at tcp://\S+ has 9.9$"
        ):
            open_engine(f"dask://{here.place}", None)


def test_without_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(TamisError, match=r"pip install tamis\[dask\]"):
        open_engine("dask://127.0.0.1:1", None)


def test_a_subset_search_ends_with_the_same_set(tmp_path: Path) -> None:
    """Here, in local processes and on a cluster; a classifier that is refitted for every set is slow enough."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6))
    X[:, [1, 4]] += y[:, None]
    found = []
    with cluster(tmp_path) as place:
        place.worker("--nworkers", "2", "--nthreads", "1")
        for engine in (None, "local(2)", f"dask://{place.place}"):
            model = Fortal(DecisionTreeClassifier(random_state=0), n_iter=80, random_state=0)
            fit_search(model, X, y, engine=engine)
            found.append((model.chosen_.tolist(), model.score_, model.n_evaluations_, model.complete_))
    assert found[0] == found[1] == found[2]
    assert found[0][3]
