"""Seconds and peak memory of `tamis rank` on a generated corpus of a given size."""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.zipf_corpus import write_corpus

#: Takes options, and a gigabyte takes minutes.
ONLY_NAMED = True

_TAMIS = "from tamis.cli.main import main; main()"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks corpus", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000, metavar="N", help="size of the file")
    parser.add_argument("--words", type=int, default=300_000, metavar="N", help="distinct words")
    parser.add_argument("--scores", nargs="+", default=["chi2"], metavar="SCORE", help="scores to rank by")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="tamis-corpus-") as folder:
        file = Path(folder, "corpus.csv")
        start = time.perf_counter()
        documents = write_corpus(file, given.megabytes * 10**6, n_words=given.words)
        made = time.perf_counter() - start
        print(f"{documents} documents, {file.stat().st_size / 1e6:.0f} MB, written in {made:.0f} s", flush=True)
        for score in given.scores:
            command = ["rank", str(file), score, "--text", "body", "--target", "label"]
            wall, cpu, peak = _measured([sys.executable, "-c", _TAMIS, *command])
            print(f"rank by {score:<10} {wall:7.1f} s ({cpu:.1f} s of CPU time), peak {peak:6.0f} MB", flush=True)


def _measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, those of CPU time, and the peak of its and its children's resident memory in megabytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    # The usage is that of this process and of the children that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command[3:])} ended with status {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
