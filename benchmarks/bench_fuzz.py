"""Mutated files of every format, recipes and models: how many are used, refused, or end in a traceback or a crash."""

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fuzz.attempts import REFUSED, USED, kinds
from benchmarks.fuzz.samples import write_models

#: Takes options, and hours for all.
ONLY_NAMED = True

#: Inputs that a worker tries before its results are kept.
_PART = 1000
#: Seconds of the processor that an input may take, and after which a worker is stopped.
_SLOW, _HANGS = 2.0, 60.0
#: Crashes in a part after which the rest of it is left.
_CRASHES = 20


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="over all kinds (default 10000)")
    parser.add_argument("--kinds", default=",".join(kinds()), metavar="A,B", help="formats, recipe or model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resume", type=Path, metavar="FILE", help="results, kept part by part; parts in it are done")
    given = parser.parse_args(arguments)
    chosen = given.kinds.split(",")
    with tempfile.TemporaryDirectory(prefix="tamis-fuzz-") as folder:
        results = run(chosen, given.inputs, given.seed, Path(folder), given.resume)
    print(table(results))


def run(
    chosen: Sequence[str], inputs: int, seed: int, folder: Path, resume: Path | None = None
) -> list[dict[str, Any]]:
    """The results of all parts; those in the file `resume` are not tried again."""
    kept = [json.loads(line) for line in resume.read_text().splitlines()] if resume and resume.exists() else []
    done = {(one["kind"], one["seed"], one["first"], one["last"]): one for one in kept}
    share = -(-inputs // len(chosen))
    results = []
    # A part of every kind before the next one, so that what is done first is a sample of all.
    parts = [(kind, first) for first in range(0, share, _PART) for kind in chosen]
    for kind, first in parts:
        last = min(first + _PART, share)
        result = done.get((kind, seed, first, last))
        if result is None:
            models = folder / "models"
            if kind == "model" and not models.exists():
                models.mkdir()
                write_models(models)
            result = _part(kind, seed, first, last, folder)
            if resume:
                with resume.open("a") as file:
                    file.write(json.dumps(result) + "\n")
        results.append(result)
    return results


def table(results: Sequence[dict[str, Any]]) -> str:
    """A row for each kind, and every finding with the inputs that show it."""
    lines = [f"{'kind':10} {'inputs':>7} {'used':>7} {'refused':>8} {'findings':>9} {'slowest':>8} {'memory':>8}"]
    of_kinds = {one["kind"]: [other for other in results if other["kind"] == one["kind"]] for one in results}
    for kind, parts in of_kinds.items():
        used, refused, tried = (sum(one[key] for one in parts) for key in ("used", "refused", "tried"))
        slowest, peak = max(one["slowest"] for one in parts), max(one["peak"] for one in parts)
        found = sum(len(one["findings"]) for one in parts)
        lines.append(f"{kind:10} {tried:7} {used:7} {refused:8} {found:9} {slowest:6.2f} s {peak / 2**20:5.0f} MB")
    findings: dict[tuple[str, str], list[int]] = {}
    for one in results:
        for index, text in one["findings"]:
            findings.setdefault((one["kind"], text), []).append(index)
    for (kind, text), places in sorted(findings.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(places):5} x {kind} {places[:3]}: {text}")
    return "\n".join(lines)


def _part(kind: str, seed: int, first: int, last: int, folder: Path) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    findings: list[tuple[int, str]] = []
    slowest, peak, start, crashes = 0.0, 0, first, 0
    while start < last and crashes < _CRASHES:
        at = start - 1
        for index, *rest in _lines(kind, seed, start, last, folder):
            at = index
            if rest:
                found, _, cpu, memory = rest
                start, slowest, peak = index + 1, max(slowest, cpu), max(peak, memory)
                counts["tried"] += 1
                if found in (USED, REFUSED):
                    counts[found] += 1
                else:
                    findings.append((index, found))
                if cpu > _SLOW:
                    findings.append((index, "took longer than 2 seconds of the processor"))
        if start < last:
            if at < start:
                raise RuntimeError(f"the worker of {kind} does not start")
            findings.append((at, "crashed, hung, or was killed for its memory"))
            counts["tried"] += 1
            start, crashes = at + 1, crashes + 1
    plain = {key: counts[key] for key in ("tried", USED, REFUSED)}
    place = {"kind": kind, "seed": seed, "first": first, "last": last}
    return {**place, **plain, "findings": findings, "slowest": slowest, "peak": peak}


def _lines(kind: str, seed: int, first: int, last: int, folder: Path) -> Iterator[list[Any]]:
    """What a worker writes, until it ends, or is silent for too long."""
    root = Path(__file__).parents[1]
    paths = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    worker = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.fuzz.worker", kind, str(seed), str(first), str(last), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert worker.stdout is not None
    rest = b""
    # Imports, and kernels that are not compiled yet, take longer.
    patience, used = 10 * _HANGS, 0.0
    try:
        while True:
            if not select.select([worker.stdout], [], [], patience)[0]:
                if _hangs(worker.pid, used + patience):
                    break
                continue
            more = os.read(worker.stdout.fileno(), 1 << 16)
            if not more:
                break
            patience, used = _HANGS, _state(worker.pid)[1]
            *whole, rest = (rest + more).split(b"\n")
            for line in whole:
                yield json.loads(line)
    finally:
        worker.kill()
        worker.wait()
        worker.stdout.close()


def _hangs(pid: int, most: float) -> bool:
    """Whether a silent worker waits, or has used that much of the processor: on a busy machine it may have had none."""
    state, used = _state(pid)
    return used > most or state not in ("R", "D")


def _state(pid: int) -> tuple[str, float]:
    """The state of a process that was not waited for yet, and the seconds of the processor that it has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
