"""The error of the search on fresh rows against its seconds, for the present code and an earlier one.

python -m benchmarks mine_curve                            # four sets, 10 to 640 s, two codes: almost three hours
python -m benchmarks mine_curve --figure docs/images/error-seconds.svg
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench_mine import kept, run_all
from benchmarks.mine.results import Line
from benchmarks.mine.systems import ROOT, short_revision

#: It takes hours, so that it is run only by name.
ONLY_NAMED = True

SETS = ("arcene", "madelon", "sonar", "child_leukemia")
SECONDS = (10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 600.0)
SYSTEMS = ("tamis", "before")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks mine_curve", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET")
    parser.add_argument("--seconds", nargs="+", type=float, default=list(SECONDS))
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), metavar="SYSTEM")
    parser.add_argument("--re-splits", type=int, default=1, metavar="N")
    parser.add_argument("--before", default="3c210e3", metavar="REV")
    results = ROOT / "benchmarks" / "results" / "mine_curve.csv"
    parser.add_argument("--results", type=Path, default=results, metavar="FILE")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw the curves")
    given = parser.parse_args(arguments)
    given.before, given.again = short_revision(given.before), []
    run_all(given, given.seconds)
    lines = [line for line in kept(given) if line.set in given.sets and line.system in given.systems]
    print(f"\n{_table(lines, given.sets, given.systems)}")
    if given.figure is not None:
        _draw(lines, given.sets, given.systems, given.figure)


def _curve(lines: Sequence[Line], name: str, system: str) -> tuple[list[float], list[float]]:
    """The seconds and the mean errors in percent of one set and system."""
    own = [line for line in lines if (line.set, line.system) == (name, system)]
    seconds = sorted({line.seconds for line in own})
    return seconds, [100 * float(np.mean([one.ber for one in own if one.seconds == t])) for t in seconds]


def _table(lines: Sequence[Line], sets: Sequence[str], systems: Sequence[str]) -> str:
    times = sorted({line.seconds for line in lines})
    rows = [["data", "", *(f"{t:g} s" for t in times)]]
    for name in sets:
        for system in systems:
            errors = dict(zip(*_curve(lines, name, system), strict=True))
            rows.append([name, system, *(f"{errors[t]:.1f}" if t in errors else "" for t in times)])
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([drawn[0], "|---" * len(rows[0]) + "|", *drawn[1:]])


def _draw(lines: Sequence[Line], sets: Sequence[str], systems: Sequence[str], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(sets), figsize=(2.6 * len(sets), 2.6), layout="constrained")
    for axis, name in zip(np.atleast_1d(axes), sets, strict=True):
        for system, style in zip(systems, ("o-", "s--", "^:", "d-."), strict=False):
            axis.plot(*_curve(lines, name, system), style, label=system, markersize=4)
        axis.set_xscale("log")
        times = sorted({line.seconds for line in lines})
        axis.set_xticks(times, [f"{t:g}" for t in times], fontsize=7)
        axis.minorticks_off()
        axis.set_ylim(bottom=0)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("seconds")
    np.atleast_1d(axes)[0].set_ylabel("BER on fresh rows (%)")
    np.atleast_1d(axes)[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
