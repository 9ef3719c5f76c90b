"""Run every benchmark, or those named on the command line."""

import importlib
import pkgutil
import sys
import warnings

import benchmarks


def main() -> None:
    warnings.simplefilter("ignore")
    wanted = [f"bench_{name}" for name in sys.argv[1:]]
    found = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    for name in wanted or found:
        importlib.import_module(f"benchmarks.{name}").main()


main()
