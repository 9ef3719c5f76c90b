"""Seconds, memory and ratios, measured the same way in every benchmark."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], *, at_most: int = 5) -> float:
    """Best of a few runs after one that warms up; a run of over four seconds is made once."""
    start = time.perf_counter()
    work()
    first = time.perf_counter() - start
    if first > 4.0:
        return first
    times = []
    for _ in range(at_most):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(what: str, ours: Callable[[], Any], peer: str, theirs: Callable[[], Any], note: str = "") -> float:
    """Time both, print one line, and return how many times faster ours is."""
    mine, other = seconds(ours), seconds(theirs)
    print(f"{what:<52} {mine:9.4f} s   {peer:<34} {other:9.4f} s   {other / mine:8.1f}x  {note}", flush=True)
    return other / mine


def extra_memory(setup: str, work: str) -> float:
    """Megabytes by which `work` raises the peak of a fresh process that has run `setup`, and a small run of `work`."""
    code = f"""
import resource
{setup}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{work}
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)
