"""Try some inputs in this process: python -m benchmarks.fuzz.worker KIND SEED FIRST LAST FOLDER.

Writes a line before and after each input. Memory is limited to a gigabyte more than the process begins with, so that
an input that takes more is a finding.
"""

import json
import logging
import random
import resource
import sys
import time
from pathlib import Path

from benchmarks.fuzz.attempts import attempt_of, outcome

#: Bytes that an input may take.
MEMORY = 1 << 30
#: Inputs of another seed that are tried first: libraries load, and caches fill.
_WARM = 25


def main() -> None:
    kind, seed, first, last, folder = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    attempt = attempt_of(kind, Path(folder))
    for index in range(_WARM):
        outcome(attempt, random.Random(f"warm/{kind}/{index}"))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for index in range(int(first), int(last)):
        print(json.dumps([index]), flush=True)
        begin, cpu = time.perf_counter(), time.process_time()
        found = outcome(attempt, random.Random(f"{seed}/{kind}/{index}"))
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps([index, found, round(seconds, 3), round(cpu, 3), peak]), flush=True)


main()
