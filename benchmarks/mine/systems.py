"""The systems of the benchmark: where each of them lives, and how it is run on the rows of a folder."""

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import tamis

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("worker.py")

#: Every system of the table, in its order.
SYSTEMS = ("tamis", "before", "extra trees", "lightgbm", "l1 logistic", "flaml", "autogluon")

#: Systems that run only when they are named.
OTHERS = ("tamis nested", "tamis permuted", "tamis nested permuted", "flaml log loss", "autogluon medium")

#: Systems that are this project.
OURS = ("tamis", "before", "tamis nested", "tamis permuted", "tamis nested permuted")

#: What is installed into the environment of a peer, which lies beside the project's own.
PEERS = {
    "flaml": ("flaml[automl,catboost]==2.7.*",),
    "autogluon": ("autogluon.tabular[lightgbm,xgboost,catboost,fastai]==1.6.*",),
}

#: For every system. Threads that wait must not spin: two of them on a busy core would hold each other up.
SETTING = {"PYTHONWARNINGS": "ignore", "OMP_WAIT_POLICY": "passive"}

#: A system is stopped when it has taken this multiple of its seconds, and a minute more to start and to predict.
PATIENCE = 2.0


class UnavailableError(Exception):
    """A system that cannot be run here."""


class FailedError(Exception):
    """A system that gave no predictions, and the seconds it took."""

    def __init__(self, why: str, used: float) -> None:
        super().__init__(why)
        self.used = used


@dataclass
class Outcome:
    """The predictions for the fresh rows, and the system's answer (:class:`benchmarks.mine.worker.Answer`)."""

    predictions: np.ndarray
    used: float
    chosen: str
    features: int | None
    honest: float | None
    honest_se: float | None
    versions: str


@dataclass
class Systems:
    """Makes what each system needs when it is first run: an environment, or the code of a revision."""

    before: str
    _kept: list[tempfile.TemporaryDirectory[str]] = field(default_factory=list)
    _sources: dict[str, Path] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)

    def prepare(self, system: str) -> None:
        """Make what the system needs, or say why it cannot be had; the same answer the second time."""
        if system in self._refused:
            raise UnavailableError(self._refused[system])
        try:
            if _peer(system) is not None:
                self._environment(system)
            elif system in OURS:
                self._source(system)
        except UnavailableError as error:
            self._refused[system] = str(error)
            raise

    def run(self, system: str, folder: Path, seconds: float) -> Outcome:
        """Fit the system on the rows of a folder and predict its fresh rows."""
        self.prepare(system)
        peer = _peer(system)
        python = sys.executable if peer is None else str(_folder(peer) / "bin" / "python")
        setting = os.environ | SETTING
        setting.pop("PYTHONPATH", None)
        if system in OURS:
            setting["PYTHONPATH"] = str(self._source(system))
        command = [python, str(WORKER), system, str(folder), str(seconds)]
        _run(command, setting, PATIENCE * seconds + 60)
        answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        return Outcome(predictions=np.load(folder / "predictions.npy"), **answer)

    def revision(self, system: str) -> str:
        """The revision of the code, for the systems that are this project; else nothing."""
        if system == "before":
            return self.before
        return _git("describe", "--always", "--dirty", "--exclude=*").decode().strip() if system in OURS else ""

    def close(self) -> None:
        """Remove the code of earlier revisions."""
        for folder in self._kept:
            folder.cleanup()

    def _environment(self, system: str) -> None:
        peer = _peer(system)
        assert peer is not None
        folder = _folder(peer)
        if (folder / ".ready").exists():
            return
        print(f"{peer}: makes its environment in {folder.name}", flush=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *PEERS[peer]]
        for command in ([sys.executable, "-m", "venv", str(folder)], pip):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise UnavailableError(f"{peer} cannot be installed: {_last_line(done.stderr or done.stdout)}")
        (folder / ".ready").touch()

    def _source(self, system: str) -> Path:
        """The folder of the package, with its kernels compiled: the first run must not pay for it."""
        if system not in self._sources:
            source = self._earlier() if system == "before" else Path(tamis.__file__).parents[1]
            setting = {**os.environ, "PYTHONPATH": str(source)}
            command = [sys.executable, "-c", "from tamis.cli.main import main; main()", "warm"]
            done = subprocess.run(command, env=setting, capture_output=True, text=True, check=False)
            if done.returncode:
                raise UnavailableError(f"the kernels cannot be compiled: {_last_line(done.stderr)}")
            self._sources[system] = source
        return self._sources[system]

    def _earlier(self) -> Path:
        folder = tempfile.TemporaryDirectory(prefix="tamis-before-")
        try:
            source = source_of(self.before, folder.name)
        except UnavailableError:
            folder.cleanup()
            raise
        self._kept.append(folder)
        return source


def _peer(system: str) -> str | None:
    """The peer with an environment of its own that the system is a setting of."""
    first = system.split()[0]
    return first if first in PEERS else None


def _folder(peer: str) -> Path:
    return ROOT / f".venv-{peer}"


def _git(*arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    except OSError as error:
        raise UnavailableError(f"git cannot be run: {error}") from error
    if done.returncode:
        raise UnavailableError(f"git {arguments[0]}: {_last_line(done.stderr.decode())}")
    return done.stdout


def source_of(revision: str, folder: str) -> Path:
    """The package of a revision, unpacked in a folder: what to put on the path."""
    with tarfile.open(fileobj=io.BytesIO(_git("archive", revision, "src"))) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder, "src")


def short_revision(revision: str) -> str:
    """The revision by its short number, where git knows it."""
    try:
        return _git("rev-parse", "--short", "--verify", f"{revision}^{{commit}}").decode().strip()
    except UnavailableError:
        return revision


def _run(command: list[str], setting: dict[str, str], limit: float) -> None:
    """Run a command; what it started ends with it."""
    start, why = time.perf_counter(), ""
    with subprocess.Popen(
        command, env=setting, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as worker:
        try:
            _, said = worker.communicate(timeout=limit)
            if worker.returncode < 0:
                why = f"ended by signal {signal.Signals(-worker.returncode).name}"
            elif worker.returncode:
                why = _last_line(said)
        except subprocess.TimeoutExpired:
            why = f"stopped after {limit:.0f} s"
        finally:
            _end(worker)
    if why:
        raise FailedError(why, time.perf_counter() - start)


def _end(worker: "subprocess.Popen[str]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
