"""Ranking a Parquet folder that does not fit into memory, beside reading it with polars alone.

python -m benchmarks stream --gigabytes 20 --columns 2000             # what docs/scale.md shows; the folder is removed
python -m benchmarks stream --gigabytes 4 --folds 10 --dask           # folds in one pass; one and two Dask workers
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import psutil

#: It takes options, and minutes.
ONLY_NAMED = True

_TAMIS = "from tamis.cli.main import main; main()"

#: Reads every file whole, one after the other, and keeps nothing.
_POLARS = """
import sys, polars
from pathlib import Path
for path in sorted(Path(sys.argv[1]).iterdir()):
    polars.scan_parquet(path, glob=False).collect()
"""

#: The pass with folds, or without.
_FOLDS = """
import sys, time
import numpy as np
from tamis import scores
from tamis.data.chunks.formats import open_chunked
from tamis.streaming.scores import Folds, streamed_scores
from tamis.streaming.target import StreamedTarget
if __name__ == "__main__":
    table = open_chunked(sys.argv[1])
    target = StreamedTarget.of(table)
    part = (np.arange(target.n_rows) % 10).astype(np.int16)
    for number in range(int(sys.argv[3])):
        for divisions in ([], [Folds(part, 10)]):
            begin = time.perf_counter()
            more = {"divisions": divisions, "resume": False, "engine": sys.argv[4]}
            streamed_scores(table, target, scores.get(sys.argv[2]), **more)
            print("ten folds" if divisions else "one ranking", time.perf_counter() - begin, flush=True)
"""


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks stream", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.0, metavar="N", help="size of the values as float32")
    parser.add_argument("--columns", type=int, default=2000, metavar="N")
    parser.add_argument("--rows", type=int, default=25_000, metavar="N", help="rows of a row group")
    parser.add_argument("--memory", default="2GB", metavar="SIZE")
    parser.add_argument("--scores", nargs="+", default=["f", "ig"], metavar="SCORE")
    parser.add_argument("--folds", action="store_true", help="also ten folds in one pass")
    parser.add_argument("--dask", action="store_true", help="also one and two Dask workers")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="where to write; a temporary folder by default")
    given = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="tamis-stream-", dir=given.folder) as name:
        folder = Path(name, "table")
        rows = write_table(folder, given.gigabytes, given.columns, given.rows)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(
            f"{rows} rows, {given.columns} columns, {len(list(folder.iterdir()))} files, {size / 1e9:.2f} GB",
            flush=True,
        )
        for _ in range(2):
            wall, cpu, peak = measured([sys.executable, "-c", _POLARS, str(folder)])
            print(f"{'polars reads it':<24} {wall:7.1f} s, {cpu:7.1f} s of CPU time, peak {peak:5.2f} GB", flush=True)
        for score in given.scores:
            command = ["rank", str(folder), score, "--memory", given.memory]
            alone = wall
            wall, cpu, peak = measured([sys.executable, "-c", _TAMIS, *command])
            print(
                f"{'tamis rank by ' + score:<24} {wall:7.1f} s, {cpu:7.1f} s of CPU time, peak {peak:5.2f} GB; "
                f"{alone / wall:.2f} of the speed of reading",
                flush=True,
            )
            wall = alone
        if given.folds:
            for score in given.scores:
                print(f"by {score}", flush=True)
                _run(["-c", _FOLDS, str(folder), score, "2", "local"])
        if given.dask:
            _dask(folder, given.scores[0])


def write_table(folder: Path, gigabytes: float, n_columns: int, rows: int) -> int:
    """Write files of four row groups of random numbers, of which a few tell the classes; return the number of rows."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    files = max(1, round(gigabytes * 1e9 / (4 * rows * 4 * n_columns)))
    for number in range(files):
        y = rng.integers(0, 2, 4 * rows)
        X = rng.standard_normal((4 * rows, n_columns), dtype=np.float32)
        X[:, :20] += 0.2 * y[:, None]
        frame = pl.DataFrame(X, schema=[f"g{j}" for j in range(n_columns)])
        frame = frame.with_columns(pl.Series("class", np.where(y, "case", "control")))
        frame.write_parquet(folder / f"part-{number:04}.parquet", row_group_size=rows)
    return 4 * rows * files


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, those of CPU time, and the peak of the memory of it and its children in gigabytes."""
    begin = time.perf_counter()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _resident(process))
        time.sleep(0.2)
    wall = time.perf_counter() - begin
    usage = os.times()
    cpu = usage.children_user + usage.children_system
    spent, measured.spent = cpu - measured.spent, cpu  # type: ignore[attr-defined]
    if process.returncode:
        raise SystemExit(f"{' '.join(command[3:])} ended with status {process.returncode}")
    return wall, spent, peak / 1e9


measured.spent = 0.0  # type: ignore[attr-defined]


def _resident(process: psutil.Process) -> float:
    """Bytes of a process and its children, with what they share counted once."""
    total = 0.0
    try:
        for one in [process, *process.children(recursive=True)]:
            total += one.memory_full_info().pss
    except psutil.Error:
        pass
    return total


def _run(arguments: list[str]) -> None:
    subprocess.run([sys.executable, *arguments], check=True)


def _dask(folder: Path, score: str) -> None:
    """Seconds of a pass with one and with two workers of a Dask cluster on this machine."""
    from distributed import Client

    address = "tcp://127.0.0.1:18786"
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "18786", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    children = [subprocess.Popen(start, **quiet)]  # type: ignore[call-overload]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    setting = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    times = []
    try:
        for n_workers in (1, 2):
            children.append(subprocess.Popen([*worker, "--name", str(n_workers)], env=setting, **quiet))  # type: ignore[call-overload]
            with Client(address, timeout=60) as client:
                client.wait_for_workers(n_workers, timeout=60)
            code = [sys.executable, "-c", _FOLDS, str(folder), score, "1", f"dask://{address.removeprefix('tcp://')}"]
            found = subprocess.run(code, check=True, capture_output=True, text=True).stdout
            times.append(float(found.split()[2]))
            print(f"{n_workers} Dask workers: {times[-1]:.1f} s", flush=True)
        print(f"two are {times[0] / times[1]:.2f} times as fast as one", flush=True)
    finally:
        for child in reversed(children):
            child.send_signal(signal.SIGTERM)
            child.wait()
