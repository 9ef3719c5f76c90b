"""Run every benchmark but those of hours, or the named ones; options after a name are for that benchmark."""

import importlib
import pkgutil
import sys
import warnings
from itertools import takewhile

import benchmarks


def main() -> None:
    warnings.simplefilter("ignore")
    named = list(takewhile(lambda one: not one.startswith("-"), sys.argv[1:]))
    options = sys.argv[1 + len(named) :]
    found = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    if options and len(named) != 1:
        sys.exit("options follow the name of one benchmark: python -m benchmarks mine --seconds 20")
    for name in [f"bench_{one}" for one in named] or found:
        if name not in found:
            sys.exit(f"no benchmark is called {name.removeprefix('bench_')!r}; there are {_listed(found)}")
        bench = importlib.import_module(f"benchmarks.{name}")
        if options and not hasattr(bench, "ONLY_NAMED"):
            sys.exit(f"{named[0]} takes no options")
        if named or not hasattr(bench, "ONLY_NAMED"):
            bench.main(*([options] if options else []))


def _listed(found: list[str]) -> str:
    return ", ".join(name.removeprefix("bench_") for name in found)


main()
