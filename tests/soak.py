"""Searches under trouble, for as long as is wanted: ``python tests/soak.py --minutes 60`` or ``make soak``.

Each round is a search whose processes are killed, cut off, stopped or given too little room again and again. The same
command resumes it until it ends. Then all its results, its model and its report must be those of a search without
trouble, and nothing of it may be left in the folders of temporary files and of shared memory. A table is printed after
each round; the exit code is 1 if anything differed.
"""

import argparse
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from dask_cluster import ROOT, Cluster, cluster

_SEARCH = """
import sys, warnings
import numpy as np
from tamis.compose.model_file import card_of, save_model
from tamis.data.dataset import Dataset
from tamis.reporting.note_facts import mine
from tamis.reporting.run_report import report
from test_mine import TEMPLATES, planted

warnings.simplefilter("ignore")
folder, engine = sys.argv[1:]
X, y = planted()
found = mine(
    X, y, trials=14, only=TEMPLATES, without=["committee"], folds=2, inner_folds=2, estimate="bootstrap",
    engine=engine, run=f"{folder}/run", progress=False,
)
save_model(f"{folder}/model", found.model, card_of(found.model, Dataset.of(X, y), recipe=found.recipe_))
report(f"{folder}/run", out=f"{folder}/report.html")
"""

#: Rounds end with a search without trouble after this many with it.
_TROUBLES = 3

#: Facts that differ between two searches with the same result.
_OF_THE_RUN = {"begin", "command", "date", "end", "seconds"}

_ENGINES = {"serial": "serial", "local": "local(2)"}


class Soak:
    """The troubles, what they were worth, and what was found afterwards."""

    def __init__(self, folder: Path, place: Cluster | None, seed: int, only: str = "") -> None:
        self.folder, self.cluster, self.rng = folder, place, np.random.default_rng(seed)
        self.only = only
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.counts: dict[str, Counter[str]] = {}
        self.pids: list[int] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        begin = time.monotonic()
        self.expected = self._result(self._finish(folder / "alone", "serial"))
        self.seconds = time.monotonic() - begin

    def round(self, number: int) -> None:
        """One search with troubles of one kind."""
        troubles: list[tuple[str, str, Callable[..., str]]] = [
            ("process killed", "serial", self._kill),
            ("process killed", "local", self._kill),
            ("process and helpers killed", "local", self._kill_all),
            ("local worker killed", "local", self._kill_worker),
            ("file may not grow", "serial", self._no_room),
            ("run file held for seconds", "serial", self._hold),
            ("process stopped for seconds", "local", self._stop),
        ]
        if self.cluster is not None:
            troubles += [
                ("Dask worker killed", "dask", self._kill_dask_worker),
                ("Dask scheduler killed", "dask", self._kill_scheduler),
                ("process killed", "dask", self._kill),
            ]
        troubles = [one for one in troubles if self.only in f"{one[0]} ({one[1]})"]
        name, kind, trouble = troubles[number % len(troubles)]
        engine = _ENGINES.get(kind) or f"dask://{self.cluster.place}"
        count = self.counts.setdefault(f"{name} ({kind})", Counter())
        folder = self.folder / str(number)
        folder.mkdir()
        for _ in range(_TROUBLES):
            self._staff()
            count[trouble(folder, engine)] += 1
        self._staff()
        found = self._result(self._finish(folder, engine))
        count["rounds"] += 1
        for what, value in found.items():
            count[f"{what} differ"] += value != self.expected[what]
        count["left"] += len(self._left())

    def table(self) -> str:
        """The counts, a row for each kind of trouble."""
        columns = ("rounds", "met", "too late", "errors", "results differ", "model differ", "report differ", "left")
        lines = ["| trouble | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        lines += [
            f"| {name} | " + " | ".join(str(count[column]) for column in columns) + " |"
            for name, count in sorted(self.counts.items())
        ]
        return "\n".join(lines)

    @property
    def faults(self) -> int:
        """Differences, things left behind, and errors that are not one sentence."""
        wrong = ("errors", "results differ", "model differ", "report differ", "left")
        return sum(count[what] for count in self.counts.values() for what in wrong)

    def _start(self, folder: Path, engine: str, **options: Any) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
        process = subprocess.Popen(
            [sys.executable, "-c", _SEARCH, str(folder), engine],
            env={**os.environ, "PYTHONPATH": paths, "TMPDIR": str(self.temporary)},
            start_new_session=True,
            stderr=subprocess.PIPE,
            **options,
        )
        self.pids.append(process.pid)
        return process

    def _finish(self, folder: Path, engine: str) -> Path:
        folder.mkdir(exist_ok=True)
        process = self._start(folder, engine)
        _, said = process.communicate(timeout=600)
        if process.returncode:
            sys.exit(f"a search without trouble failed:\n{said.decode()}")
        return folder

    def _some_time(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for some part of a search's time; whether it still runs."""
        try:
            process.wait(float(self.rng.uniform(0.05, 0.9)) * self.seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def _kill(self, folder: Path, engine: str, group: bool = False) -> str:
        process = self._start(folder, engine)
        met = self._some_time(process)
        if met:
            os.killpg(process.pid, signal.SIGKILL) if group else process.kill()
        process.communicate(timeout=60)
        return "met" if met else "too late"

    def _kill_all(self, folder: Path, engine: str) -> str:
        return self._kill(folder, engine, group=True)

    def _kill_worker(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        time.sleep(float(self.rng.uniform(0.0, 0.3)) * self.seconds)
        met = False
        while not met and process.poll() is None:
            met = _kill_child(process.pid)
            time.sleep(0.05)
        return self._ended(process, met)

    def _no_room(self, folder: Path, engine: str) -> str:
        size = int(self.rng.uniform(20_000, 400_000))
        limit = (size, resource.RLIM_INFINITY)
        process = self._start(folder, engine, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        _, said = process.communicate(timeout=600)
        if not process.returncode:
            return "too late"
        return "met" if b"TamisError" in said or b"DataError" in said else "errors"

    def _hold(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        met = self._some_time(process) and (folder / "run").exists()
        if met:
            with closing(sqlite3.connect(folder / "run", isolation_level=None, timeout=10)) as other:
                other.execute("BEGIN IMMEDIATE")
                time.sleep(2)
                other.execute("ROLLBACK")
        return self._ended(process, met)

    def _stop(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        met = self._some_time(process)
        if met:
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(2)
            os.killpg(process.pid, signal.SIGCONT)
        return self._ended(process, met)

    def _kill_dask_worker(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        met = self._some_time(process)
        self.workers.pop(0).kill()
        self._staff()
        return self._ended(process, met)

    def _kill_scheduler(self, folder: Path, engine: str) -> str:
        assert self.cluster is not None
        process = self._start(folder, engine)
        met = self._some_time(process)
        self.cluster.scheduler.kill()
        self.cluster.scheduler.wait()
        for worker in self.workers:
            worker.kill()
        self.workers.clear()
        self.cluster.start_scheduler()
        self._staff()
        _, said = process.communicate(timeout=600)
        if process.returncode and b"TamisError" not in said:
            return "errors"
        return "met" if met else "too late"

    @staticmethod
    def _ended(process: subprocess.Popen[bytes], met: bool) -> str:
        """What came of a trouble that a search must survive."""
        process.communicate(timeout=600)
        return "errors" if process.returncode else "met" if met else "too late"

    def _staff(self) -> None:
        """Two workers for the cluster."""
        while self.cluster is not None and len(self.workers) < 2:
            self.workers.append(self.cluster.worker("--nthreads", "1", "--no-nanny"))

    @staticmethod
    def _result(folder: Path) -> dict[str, Any]:
        """What must not depend on troubles: all results, the predictions, the report without times and names."""
        from tamis.compose.model_file import load_model
        from test_mine import planted

        columns = "search, split, recipe, error, metrics, labels, scores, probabilities, selected"
        with closing(sqlite3.connect(folder / "run")) as run:
            results = run.execute(f"SELECT {columns} FROM results ORDER BY search, split, recipe").fetchall()
            (facts,) = run.execute("SELECT value FROM notes WHERE name = 'facts'").fetchone()
        model, _ = load_model(folder / "model")
        page = (folder / "report.html").read_text(encoding="utf-8")
        return {
            "results": results,
            "model": model.predict_proba(planted()[0]).tolist(),
            "report": (_timeless(json.loads(facts)), page.count("<")),
        }

    def _left(self) -> list[str]:
        """Temporary files, and what is in shared memory of the processes of this soak."""
        deadline = time.monotonic() + 5  # helpers of a process end after it
        while True:
            here = os.listdir(self.temporary)
            shared = [
                name
                for name in (os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else [])
                if any(f"-{pid}-" in name for pid in self.pids)
            ]
            if not here + shared or time.monotonic() > deadline:
                return here + shared
            time.sleep(0.1)


def _kill_child(pid: int) -> bool:
    """Kill a worker of a process, if it has one."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
            command = Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == pid and b"popen_loky" in command:
            os.kill(int(entry), signal.SIGKILL)
            return True
    return False


def _timeless(facts: Any) -> Any:
    """Facts without times, and without commands, which name the file of the run."""
    if isinstance(facts, dict):
        return {key: _timeless(value) for key, value in facts.items() if key not in _OF_THE_RUN}
    return [_timeless(one) for one in facts] if isinstance(facts, list) else facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-dask", action="store_true", help="without a cluster")
    parser.add_argument("--only", default="", metavar="WORDS", help="troubles whose row in the table has these words")
    given = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        logs = Path(folder, "cluster")
        logs.mkdir()
        with nullcontext() if given.no_dask else cluster(logs) as place:
            soak = Soak(Path(folder), place, given.seed, given.only)
            number = 0
            while time.monotonic() - begin < 60 * given.minutes:
                soak.round(number)
                number += 1
                print(f"\n{(time.monotonic() - begin) / 60:.1f} minutes, {number} rounds\n\n{soak.table()}", flush=True)
    sys.exit(bool(soak.faults))


if __name__ == "__main__":
    main()
