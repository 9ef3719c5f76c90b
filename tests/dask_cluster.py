"""A real scheduler and real workers on the loopback device."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


class Cluster:
    """Processes of Dask on this machine."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.place = f"127.0.0.1:{free.getsockname()[1]}"
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()

    def worker(self, *options: str, path: Path = ROOT) -> subprocess.Popen[bytes]:
        options = ("--host", "127.0.0.1", "--local-directory", str(self._folder), *options)
        return self._dask("worker", f"tcp://{self.place}", "--no-dashboard", *options, path=path)

    def start_scheduler(self) -> None:
        """Start the scheduler, or start it again at the same place."""
        port = self.place.partition(":")[2]
        self.scheduler = self._dask("scheduler", "--host", "127.0.0.1", "--port", port, "--dashboard-address", ":0")
        soon(self._answers, 60)

    def kill_scheduler(self) -> None:
        self.scheduler.kill()

    def end(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _dask(self, *words: str, path: Path = ROOT) -> subprocess.Popen[bytes]:
        with open(self._folder / f"{words[0]}-{len(self._processes)}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (path, path / "src", path / "tests")))},
                stdout=log,
                stderr=log,
                cwd=path,
            )
        self._processes.append(process)
        return process

    def _answers(self) -> bool:
        host, _, port = self.place.partition(":")
        with socket.socket() as asked:
            return asked.connect_ex((host, int(port))) == 0


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    one = Cluster(folder)
    try:
        yield one
    finally:
        one.end()


def soon(condition: Callable[[], bool], seconds: float) -> None:
    end = time.time() + seconds
    while not condition():
        assert time.time() < end
        time.sleep(0.05)
