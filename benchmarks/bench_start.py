"""Seconds of CPU time from the start to the end of a command on a small table, beside those of an earlier revision."""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

import tamis
from benchmarks.mine.systems import short_revision, source_of

#: Takes options.
ONLY_NAMED = True

_TAMIS = "from tamis.cli.main import main; main()"
_RECIPE = "cc(5) | nb"
_COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("list",),
    ("data", "small.csv"),
    ("rank", "small.csv", "--target", "y"),
    ("validate", "small.csv", _RECIPE, "--target", "y"),
    ("predict", "small.tamis-model", "small.csv"),
)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks start", description=__doc__)
    parser.add_argument("--before", metavar="REV", help="an earlier revision to time too")
    parser.add_argument("--times", type=int, default=5, metavar="N", help="runs of each, in turns")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="tamis-start-") as folder:
        sources = {"now": Path(tamis.__file__).parents[1]}
        if given.before:
            revision = short_revision(given.before)
            sources = {revision: source_of(revision, folder), **sources}
        _small_table(Path(folder, "small.csv"))
        for source in sources.values():
            # The first run also compiles, and makes the model.
            save = ("select", "small.csv", _RECIPE, "--target", "y", "--save", "small.tamis-model")
            _cpu_seconds([_TAMIS, *save], source, folder)
        print(f"seconds of CPU time, least and median of {given.times}: {', '.join(sources)}")
        lines = {"import scikit-learn": ["import sklearn"], "import tamis": ["import tamis"]}
        for name, command in (lines | {" ".join(["tamis", *one]): [_TAMIS, *one] for one in _COMMANDS}).items():
            runs = [[_cpu_seconds(command, source, folder) for source in sources.values()] for _ in range(given.times)]
            found = [f"{min(each):5.2f} {median(each):5.2f}" for each in zip(*runs, strict=True)]
            print(f"{name:<52} {'    '.join(found)}", flush=True)


def _small_table(path: Path) -> None:
    """200 rows of 30 numbers, and a class that depends on two of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30)).round(4)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=200) > 0, "yes", "no")
    rows = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join([",".join([*(f"f{j}" for j in range(30)), "y"]), *rows]))


def _cpu_seconds(command: Sequence[str], source: Path, folder: str) -> float:
    """User and system time of a process, with its children."""
    setting = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
    begin = os.times()
    done = subprocess.run(
        [sys.executable, "-c", *command], env=setting, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    end = os.times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system
