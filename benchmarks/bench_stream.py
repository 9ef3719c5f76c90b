"""Ranking a Parquet folder that does not fit into memory, beside reading it with polars alone.

python -m benchmarks stream --gigabytes 20 --columns 2000             # what docs/scale.md shows; the folder is removed
python -m benchmarks stream --gigabytes 4 --folds --dask              # folds in one pass; one and two Dask workers
python -m benchmarks stream --growth                                  # seconds by rows, columns and stored values
python -m benchmarks stream --csv 2                                   # the peak of loading a CSV file into memory
"""

import argparse
import os
import shutil
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
import os, sys, time
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
            begin, spent = time.perf_counter(), sum(os.times()[:4])
            more = {"divisions": divisions, "resume": False, "engine": sys.argv[4]}
            streamed_scores(table, target, scores.get(sys.argv[2]), **more)
            wall, cpu = time.perf_counter() - begin, sum(os.times()[:4]) - spent
            print("ten folds  " if divisions else "one ranking", f"{wall:.1f} s, {cpu:.1f} s of CPU time", flush=True)
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
    parser.add_argument("--growth", action="store_true", help="only how time grows with rows, columns and values")
    parser.add_argument("--csv", type=float, metavar="N", help="only the peak of loading a CSV file of N gigabytes")
    given = parser.parse_args(arguments)
    if given.growth or given.csv:
        with TemporaryDirectory(prefix="tamis-stream-", dir=given.folder) as name:
            if given.growth:
                growth(Path(name))
            if given.csv:
                csv_peak(Path(name), given.csv)
        return
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


#: Rows, columns, and the stored values of svmlight or 0 for Parquet.
_SIZES = [
    *((rows, 1000, 0) for rows in (50_000, 100_000, 200_000)),
    *((10_000, columns, 0) for columns in (5_000, 10_000, 20_000)),
    *((20_000, 100_000, stored) for stored in (1_000_000, 2_000_000, 4_000_000)),
]


def growth(folder: Path) -> None:
    """Print CPU seconds of one process for opening a table and for a pass, and what a column of sums takes."""
    from tamis import scores
    from tamis.data.chunks.formats import open_chunked
    from tamis.streaming.scores import streamed_scores
    from tamis.streaming.target import StreamedTarget

    print("| format | rows | columns | stored values | file, GB | open, s | f, s | ns a value | ig, s | ns a value |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    first = True
    for rows, columns, stored in _SIZES:
        path = folder / "growth"
        if stored:
            path = _write_svmlight(folder / "growth.svm", rows, columns, stored)
        else:
            write_table(path, rows * columns * 4 / 1e9, columns, rows // 4)
        cells = []
        for _ in range(2 if first else 1):  # the first time compiles
            begin = time.process_time()
            table = open_chunked(path)
            target = StreamedTarget.of(table)
            cells = [f"{time.process_time() - begin:.2f}"]
            for name in ("f", "ig"):
                begin = time.process_time()
                streamed_scores(table, target, scores.get(name), engine="serial", resume=False)
                seconds = time.process_time() - begin
                cells += [f"{seconds:.2f}", f"{1e9 * seconds / (stored or rows * columns):.1f}"]
        first = False
        files = list(path.iterdir()) if path.is_dir() else [path]
        size = sum(file.stat().st_size for file in files) / 1e9
        kind = "svmlight" if stored else "Parquet"
        shown = f"{stored or rows * columns:,}".replace(",", " ")
        print(f"| {kind} | {rows} | {columns} | {shown} | {size:.3f} |", " | ".join(cells), "|", flush=True)
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _write_svmlight(path: Path, rows: int, columns: int, stored: int) -> Path:
    """Counts in random places, as many in every row."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="ascii") as file:
        for _ in range(rows):
            places = np.sort(rng.choice(columns, stored // rows, replace=False)) + 1
            values = rng.integers(1, 9, places.size)
            label = rng.integers(0, 2)
            file.write(f"{label} " + " ".join(f"{j}:{v}" for j, v in zip(places, values, strict=True)) + "\n")
    return path


#: Loads a file, and prints the bytes of its array.
_LOAD = """
import sys
from pathlib import Path
from tamis.data import load
data = load(sys.argv[1])
Path(sys.argv[2]).write_text(str(data.X.nbytes))
"""


def csv_peak(folder: Path, gigabytes: float) -> None:
    """Print the peak of loading a CSV file as a multiple of its array."""
    path, size = folder / "big.csv", folder / "size"
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        while file.tell() < gigabytes * 1e9:
            frame = pl.DataFrame(rng.standard_normal((20_000, 200)), schema=[f"g{j}" for j in range(200)])
            frame = frame.with_columns(pl.Series("class", np.where(rng.integers(0, 2, 20_000), "case", "control")))
            frame.write_csv(file, include_header=not file.tell(), float_precision=6)
    wall, cpu, peak = measured([sys.executable, "-c", _LOAD, str(path), str(size)])
    array = int(size.read_text()) / 1e9
    print(
        f"CSV of {path.stat().st_size / 1e9:.2f} GB: array of {array:.2f} GB, peak {peak:.2f} GB, "
        f"{peak / array:.2f} times the array; {wall:.1f} s, {cpu:.1f} s of CPU time"
    )


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, those of CPU time, and the peak of the memory of it and its children in gigabytes."""
    begin, before = time.perf_counter(), os.times()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _resident(process))
        time.sleep(0.2)
    wall = time.perf_counter() - begin
    usage = os.times()
    spent = usage.children_user + usage.children_system - before.children_user - before.children_system
    if process.returncode:
        raise SystemExit(f"{' '.join(command[3:])} ended with status {process.returncode}")
    return wall, spent, peak / 1e9


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
    children: list[subprocess.Popen[bytes]] = [subprocess.Popen(start, **quiet)]  # type: ignore[call-overload]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    setting = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    times = []
    try:
        for n_workers in (1, 2):
            children.append(subprocess.Popen([*worker, "--name", str(n_workers)], env=setting, **quiet))  # type: ignore[call-overload]
            with Client(address, timeout=60) as client:
                client.wait_for_workers(n_workers, timeout=60)
            code = [sys.executable, "-c", _FOLDS, str(folder), score, "1", f"dask://{address.removeprefix('tcp://')}"]
            before = [_spent(child) for child in children[1:]]
            found = subprocess.run(code, check=True, capture_output=True, text=True).stdout
            times.append(float(found.split()[2]))
            cpu = [_spent(child) - spent for child, spent in zip(children[1:], before, strict=True)]
            shown = " and ".join(f"{spent:.1f}" for spent in cpu)
            print(f"{n_workers} Dask workers: {times[-1]:.1f} s; {shown} s of CPU time of the workers", flush=True)
        print(f"two are {times[0] / times[1]:.2f} times as fast as one", flush=True)
    finally:
        for child in reversed(children):
            child.send_signal(signal.SIGTERM)
            child.wait()


def _spent(child: "subprocess.Popen[bytes]") -> float:
    """Seconds of CPU time of a process and its children."""
    process = psutil.Process(child.pid)
    times = [one.cpu_times() for one in [process, *process.children(recursive=True)]]
    return sum(one.user + one.system for one in times)
