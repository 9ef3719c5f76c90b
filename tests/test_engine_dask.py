"""A real scheduler and real workers on the loopback device: the same results, whatever happens to the workers."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from dask_cluster import cluster, soon
from tamis import __version__
from tamis.base.errors import TamisError
from tamis.compose.subset_run import fit_search
from tamis.data.dataset import Dataset
from tamis.engines.dask import _Members
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
    until = time.monotonic() + 1.0
    found = dict(engine.run(slowly, [0.2] * 40, until=until))
    assert 1 <= len(found) < 15
    assert all(until <= said < until + 0.5 for _, said in found.values())
    assert time.monotonic() < until + 1.0
    hard = time.monotonic() + 1.0
    assert set(dict(engine.run(slowly, [0.1, 2.0, 2.0, 2.0], hard=hard))) == {0}
    assert time.monotonic() < hard + 0.5
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
        with pytest.raises(TamisError, match=rf"this is tamis {__version__} and the worker at tcp://\S+ has 9.9$"):
            open_engine(f"dask://{here.place}", None)


@contextmanager
def speaker(words: bytes) -> Iterator[str]:
    """The address of a port that accepts every connection and says the same to each."""
    with socket.socket() as port, ExitStack() as open_ones:
        port.bind(("127.0.0.1", 0))
        port.listen()

        def accept() -> None:
            with suppress(OSError):
                while True:
                    other = open_ones.enter_context(port.accept()[0])
                    other.sendall(words)

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{port.getsockname()[1]}"
        port.shutdown(socket.SHUT_RDWR)


def test_a_port_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tamis: Callable[..., tuple[int, str, str]]
) -> None:
    (tmp_path / "a.csv").write_text("a,b,y\n" + "1,2,x\n2,1,z\n" * 10)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tamis.engines.dask._TIMEOUT", 0.5)
    monkeypatch.setattr("tamis.engines.dask._QUIET", 0.3)
    with speaker(b"") as place:
        begin = time.monotonic()
        code, _, said = tamis("mine", "a.csv", "--target", "y", "--trials", 2, "--engine", f"dask://{place}")
        assert time.monotonic() - begin < 5
    assert code == 2
    who = f"the Dask scheduler at {place} has not answered for"
    assert said.splitlines()[-2:] == [
        f"tamis: note: {who} 0 s: waiting for it, 1 s at most",
        f"tamis: {who} 1 s; is it a Dask scheduler?",
    ]


@pytest.mark.parametrize("words", [b"SSH-2.0-OpenSSH_9.9\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(40)])
def test_a_port_that_speaks_another_language_is_refused(words: bytes) -> None:
    with speaker(words) as place, pytest.raises(TamisError, match=rf"^what answers at {place} is no Dask scheduler"):
        open_engine(f"dask://{place}", None)


class Quiet:
    """A client of two workers, of which the second has given its last sign of life."""

    def __init__(self) -> None:
        self.scheduler, self.signs, self.hangs = self, {"one": 0.0, "two": 0.0}, False

    def nthreads(self) -> dict[str, int]:
        time.sleep(60 if self.hangs else 0)
        return dict.fromkeys(self.signs, 1)

    def identity(self) -> dict[str, Any]:
        self.signs["one"] += 1
        return {"workers": {name: {"last_seen": sign} for name, sign in self.signs.items()}}

    def sync(self, function: Callable[[], Any]) -> Any:
        return function()

    def run(self, function: Callable[[], str], workers: list[str], on_error: str) -> dict[str, str]:
        return {worker: function() for worker in workers}


def test_a_worker_without_a_sign_of_life_gets_no_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.engines.dask._LOOK", 0.0)
    monkeypatch.setattr("tamis.engines.dask._HUNG", 0.2)
    client = Quiet()
    members = _Members(client, "here")
    assert members.there() == {"one", "two"}
    time.sleep(0.3)
    with pytest.warns(UserWarning, match="the worker at two has given no sign of life for 0 s: its task goes to"):
        assert members.there() == {"one"}
    client.signs["two"] += 1
    members.there()
    assert members.there() == {"one", "two"}
    monkeypatch.setattr("tamis.engines.dask._SILENT", 0.1)
    client.hangs = True
    with pytest.raises(TamisError, match="the Dask scheduler at here has not answered for 0 s"):
        members.there()


@pytest.mark.slow
def test_a_worker_and_a_scheduler_that_hang(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.engines.dask._HUNG", 8.0)
    with cluster(tmp_path) as here:
        workers = [here.worker("--nthreads", "1", "--no-nanny") for _ in range(2)]
        with open_engine(f"dask://{here.place}", data) as engine:
            soon(lambda: engine.workers == 2, 60)
            run = engine.run(marked, range(12))
            found = dict([next(run), next(run)])
            workers[0].send_signal(signal.SIGSTOP)
            try:
                with pytest.warns(UserWarning, match="no sign of life"):
                    found |= dict(run)
            finally:
                workers[0].send_signal(signal.SIGCONT)
            assert found == {number: -number for number in range(12)}
            soon(lambda: engine.workers == 2, 60)
            monkeypatch.setattr("tamis.engines.dask._SILENT", 1.0)
            monkeypatch.setattr("tamis.engines.dask._TIMEOUT", 1.0)
            here.scheduler.send_signal(signal.SIGSTOP)
            try:
                with pytest.raises(TamisError, match=r"scheduler at .* has not answered for 1 s"):
                    dict(engine.run(marked, range(12)))
            finally:
                here.scheduler.send_signal(signal.SIGCONT)


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
