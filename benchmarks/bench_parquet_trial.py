"""Seconds that the trial of a Parquet file takes, by the clock and of the processor, in fresh processes in turns.

    python -m benchmarks parquet_trial --times 20

The file has 1000 rows and 51 columns. "none" is the same without a trial, "late" a trial whose process starts when the
file is read, and "early" what is done: it starts before this process imports what it needs.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import tamis

#: Takes options.
ONLY_NAMED = True

_TRIAL = "import tamis.data.parsing.parquet_trial as trial; trial."
_WAYS = {
    "none": f"{_TRIAL}expect = lambda path: None; trial.content_is_readable = lambda content: True",
    "late": f"{_TRIAL}expect = lambda path: None",
    "early": "",
}
_LOAD = "from tamis import load; load('x.parquet')"
_USES = {
    "load": ("", _LOAD),
    "load after numpy, scipy and polars": ("import tamis.data.dataset", _LOAD),
    "tamis data": ("import sys; sys.argv = ['tamis', 'data', 'x.parquet']", "from tamis.cli.main import main; main()"),
}
_FOLLOWING = """
import time
from tamis import load
load("x.parquet")
begin = time.perf_counter()
for _ in range(20):
    load("x.parquet")
print((time.perf_counter() - begin) / 20)
"""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks parquet_trial", description=__doc__)
    parser.add_argument("--times", type=int, default=10, metavar="N", help="runs of each, in turns")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="tamis-parquet-") as folder:
        rng = np.random.default_rng(0)
        columns = {f"x{j}": rng.normal(size=1000) for j in range(50)}
        pl.DataFrame({**columns, "class": rng.integers(0, 2, 1000)}).write_parquet(Path(folder, "x.parquet"))
        runs: dict[tuple[str, str], list[tuple[float, float]]] = {(use, way): [] for use in _USES for way in _WAYS}
        for _ in range(given.times):
            for (use, way), found in runs.items():
                before, work = _USES[use]
                found.append(_seconds("\n".join([before, _WAYS[way], work]), folder)[:2])
        print(f"medians of {given.times} runs; in brackets the least\n")
        print("| first file of a process | trial | seconds | of the processor |\n|---|---|---|---|")
        for (use, way), found in runs.items():
            clock, cpu = (f"{median(each):.2f} ({min(each):.2f})" for each in zip(*found, strict=True))
            print(f"| {use} | {way} | {clock} | {cpu} |")
        for way in ("none", "early"):
            each = float(_seconds(f"{_WAYS[way]}\n{_FOLLOWING}", folder)[2])
            print(f"\na file that follows, trial {way}: {each:.4f} s", end="")
        print()


def _seconds(code: str, folder: str) -> tuple[float, float, str]:
    """Seconds of a process by the clock and of the processor, with those of its own, and what it prints."""
    setting = {**os.environ, "PYTHONPATH": str(Path(tamis.__file__).parents[1])}
    begin, start = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], env=setting, cwd=folder, capture_output=True, check=True)
    clock, end = time.perf_counter() - start, os.times()
    cpu = end.children_user + end.children_system - begin.children_user - begin.children_system
    return clock, cpu, done.stdout.decode()


if __name__ == "__main__":
    main()
