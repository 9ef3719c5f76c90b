"""Searches under trouble, for as long as is wanted: ``python tests/soak.py --minutes 60`` or ``make soak``.

Each round has three troubles of one kind: processes are killed, cut off, stopped, or given too little room or files
that stall. A search that ends is resumed by the same command until it is complete. For a trouble that a search must
survive, each of the three is another search. Then all results, the model and the report must be those of a search
without trouble, and nothing may be left in the folders of temporary files and of shared memory. A table is printed
after each round; the exit code is 1 if anything differed.
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
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dask_cluster import ROOT, Cluster, cluster

_SEARCH = """
import sys, warnings
import numpy as np
from tamis.compose.model_file import card_of, save_model
from tamis.data.dataset import Dataset
from tamis.data.load import load
from tamis.reporting.note_facts import mine
from tamis.reporting.run_report import report
from test_mine import TEMPLATES

warnings.simplefilter("ignore")
table, folder, engine = sys.argv[1:]
data = load(table, "class")
X, y = data.X, data.y
found = mine(
    X, y, trials=14, only=TEMPLATES, without=["committee"], folds=2, inner_folds=2, estimate="bootstrap",
    engine=engine, run=f"{folder}/run", progress=False,
)
save_model(f"{folder}/model", found.model, card_of(found.model, Dataset.of(X, y), recipe=found.recipe_))
report(f"{folder}/run", out=f"{folder}/report.html")
"""

#: Troubles of a round.
_TROUBLES = 3

#: A folder that makes files stall for the processes that have it on their path.
_STALLING = ROOT / "tests" / "stalling_files"

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
        from test_mine import planted

        self.rows, y = planted()
        self.table_of_data = folder / "table.parquet"
        pl.DataFrame(self.rows).with_columns(pl.Series("class", y)).write_parquet(self.table_of_data)
        # The first search may wait for kernels that are compiled once.
        self.expected = self._result(self._finish(folder / "first", "serial"))
        begin = time.monotonic()
        self._finish(folder / "alone", "serial")
        self.seconds = time.monotonic() - begin

    def round(self, number: int) -> None:
        """Some troubles of one kind."""
        fatal: list[tuple[str, str, Callable[..., str]]] = [
            ("process killed", "serial", self._kill),
            ("process killed", "local", self._kill),
            ("process and helpers killed", "local", self._kill_all),
            ("process killed while files stall", "local", self._kill_stalling),
            ("file may not grow", "serial", self._no_room),
        ]
        survived: list[tuple[str, str, Callable[..., str]]] = [
            ("local worker killed", "local", self._kill_worker),
            ("run file held for seconds", "serial", self._hold),
            ("process stopped for seconds", "local", self._stop),
            ("files stall for seconds", "serial", self._stall),
            ("files stall for seconds", "local", self._stall),
        ]
        if self.cluster is not None:
            fatal += [("process killed", "dask", self._kill), ("Dask scheduler killed", "dask", self._kill_scheduler)]
            survived += [("Dask worker killed", "dask", self._kill_dask_worker)]
        troubles = [one for one in fatal + survived if self.only in f"{one[0]} ({one[1]})"]
        name, kind, trouble = troubles[number % len(troubles)]
        engine = _ENGINES.get(kind) or f"dask://{self.cluster.place}"
        count = self.counts.setdefault(f"{name} ({kind})", Counter())
        # A search that survives its trouble is complete, so that the next trouble needs another search.
        anew = trouble in [one[2] for one in survived]
        folders = [self.folder / (f"{number}-{n}" if anew else f"{number}") for n in range(_TROUBLES)]
        for folder in folders:
            folder.mkdir(exist_ok=True)
            self._staff()
            outcome = trouble(folder, engine)
            count[outcome] += 1
            # A machine that others share too is not always as fast as at the beginning.
            self.seconds *= 0.7 if outcome == "too late" else 1.05
            if anew and outcome != "errors":
                self._compare(self._result(folder), count)
        if not anew:
            self._staff()
            self._compare(self._result(self._finish(folder, engine)), count)
        count["rounds"] += 1
        count["left"] += len(self._left())

    def _compare(self, found: dict[str, Any], count: Counter[str]) -> None:
        for what, value in found.items():
            count[f"{what} differ"] += value != self.expected[what]

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

    def _start(
        self, folder: Path, engine: str, *, stalls: Path | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start a search; where `stalls` is a file, which counts them, the files of the search stall."""
        paths = [ROOT / "src", ROOT / "tests"]
        env = {**os.environ, "TMPDIR": str(self.temporary)}
        if stalls is not None:
            paths.append(_STALLING)
            env |= {"STALLING_FOLDER": str(self.folder), "STALLS_COUNTED": str(stalls)}
        process = subprocess.Popen(
            [sys.executable, "-c", _SEARCH, str(self.table_of_data), str(folder), engine],
            env={**env, "PYTHONPATH": os.pathsep.join(map(str, paths))},
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

    def _some_time(self, process: subprocess.Popen[bytes], most: float = 0.9) -> bool:
        """Wait for some part of a search's time; whether it still runs."""
        try:
            process.wait(float(self.rng.uniform(0.05, most)) * self.seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def _some_time_of_work(self, process: subprocess.Popen[bytes], folder: Path) -> bool:
        """The same once the run file is there: about half of a short search is imports."""
        while process.poll() is None and not (folder / "run").exists():
            time.sleep(0.02)
        return self._some_time(process, 0.4)

    def _kill(self, folder: Path, engine: str, *, group: bool = False, **options: Any) -> str:
        process = self._start(folder, engine, **options)
        met = self._some_time(process)
        if met:
            os.killpg(process.pid, signal.SIGKILL) if group else process.kill()
        process.communicate(timeout=60)
        return "met" if met else "too late"

    def _kill_all(self, folder: Path, engine: str) -> str:
        return self._kill(folder, engine, group=True)

    def _kill_stalling(self, folder: Path, engine: str) -> str:
        return self._kill(folder, engine, stalls=folder / "stalls")

    def _stall(self, folder: Path, engine: str) -> str:
        stalls = folder / "stalls"
        process = self._start(folder, engine, stalls=stalls)
        process.wait(600)
        return self._ended(process, stalls.stat().st_size > 0)

    def _kill_worker(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        while process.poll() is None and not _workers_of(process.pid):
            time.sleep(0.05)
        time.sleep(float(self.rng.uniform(0.0, 0.5)) * self.seconds)
        alive = _workers_of(process.pid) if process.poll() is None else []
        for pid in alive[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return self._ended(process, bool(alive))

    def _no_room(self, folder: Path, engine: str) -> str:
        size = int(self.rng.uniform(20_000, 400_000))
        limit = (size, resource.RLIM_INFINITY)
        process = self._start(folder, engine, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        _, said = process.communicate(timeout=600)
        if not process.returncode:
            return "too late"
        return "met" if b"TamisError" in said or b"DataError" in said else _error(said)

    def _hold(self, folder: Path, engine: str) -> str:
        process = self._start(folder, engine)
        met = self._some_time_of_work(process, folder)
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
        met = self._some_time_of_work(process, folder)
        self.workers.pop(0).kill()
        self._staff()
        return self._ended(process, met)

    def _kill_scheduler(self, folder: Path, engine: str) -> str:
        assert self.cluster is not None
        process = self._start(folder, engine)
        met = self._some_time_of_work(process, folder)
        self.cluster.scheduler.kill()
        self.cluster.scheduler.wait()
        for worker in self.workers:
            worker.kill()
        self.workers.clear()
        self.cluster.start_scheduler()
        self._staff()
        _, said = process.communicate(timeout=600)
        if process.returncode and b"TamisError" not in said:
            return _error(said)
        return "met" if met else "too late"

    @staticmethod
    def _ended(process: subprocess.Popen[bytes], met: bool) -> str:
        """What came of a trouble that a search must survive."""
        _, said = process.communicate(timeout=600)
        if process.returncode:
            return _error(said)
        return "met" if met else "too late"

    def _staff(self) -> None:
        """Two workers for the cluster."""
        while self.cluster is not None and len(self.workers) < 2:
            self.workers.append(self.cluster.worker("--nthreads", "1", "--no-nanny"))

    def _result(self, folder: Path) -> dict[str, Any]:
        """What must not depend on troubles: all results, the predictions, the report without times and names."""
        from tamis.compose.model_file import load_model

        columns = "search, split, recipe, error, metrics, labels, scores, probabilities, selected"
        with closing(sqlite3.connect(folder / "run")) as run:
            results = run.execute(f"SELECT {columns} FROM results ORDER BY search, split, recipe").fetchall()
            (facts,) = run.execute("SELECT value FROM notes WHERE name = 'facts'").fetchone()
        model, _ = load_model(folder / "model")
        page = (folder / "report.html").read_text(encoding="utf-8")
        return {
            "results": results,
            "model": model.predict_proba(self.rows).tolist(),
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


def _error(said: bytes) -> str:
    print(said.decode(errors="replace"), file=sys.stderr, flush=True)
    return "errors"


def _workers_of(pid: int) -> list[int]:
    """The local workers of a process, as numbers of processes."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
            command = Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == pid and b"popen_loky" in command:
            found.append(int(entry))
    return found


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
    # What a soak that is ended has started ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
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
