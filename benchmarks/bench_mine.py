"""The search beside its peers: the same rows and seconds for all, and errors on rows that none of them has seen.

    python -m benchmarks mine                                      # every set and system, 120 s a run: most of a day
    python -m benchmarks mine --seconds 20 --sets colon sonar --systems tamis flaml
    python -m benchmarks mine --again tamis --write docs/results.md

Every result is a line of the results file as soon as it is there; what is in the file is not run again.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from sklearn.metrics import balanced_accuracy_score

from benchmarks.mine.estimates import estimates
from benchmarks.mine.resplit import SETS, Resplit, resplit, write
from benchmarks.mine.results import TIE, Line, append, key, read, replaced, table, written
from benchmarks.mine.systems import (
    OTHERS,
    OURS,
    ROOT,
    SYSTEMS,
    FailedError,
    Outcome,
    Systems,
    UnavailableError,
    short_revision,
)
from benchmarks.mine.worker import CORES
from benchmarks.portfolio import learned_without
from tamis.data import load
from tamis.data.named import names

#: It takes hours, so that it is run only by name.
ONLY_NAMED = True


def main(arguments: Sequence[str] = ()) -> None:
    given = _arguments(arguments)
    given.before = short_revision(given.before)
    run_all(given, [given.seconds])
    lines = [line for line in kept(given) if line.seconds == given.seconds]
    if not lines:
        return
    notes = replaced(given.results, given.seconds)
    for name, section, page in (
        ("mine", "\n".join([_section(lines, given.seconds), *notes]), given.write),
        ("estimates", estimates(lines), given.write_estimates),
    ):
        print(f"\n{section}")
        if page is not None:
            page.write_text(written(page.read_text(encoding="utf-8"), section, name), encoding="utf-8")


def kept(given: argparse.Namespace) -> list[Line]:
    """The lines of the results file that count: of the code of before those of its revision."""
    return [line for line in read(given.results).values() if line.key[-1] in ("", given.before)]


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    known = (*SYSTEMS, *OTHERS)
    parser = argparse.ArgumentParser("python -m benchmarks mine", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET", help="names that tamis can load")
    parser.add_argument(
        "--systems", nargs="+", default=list(SYSTEMS), choices=known, metavar="SYSTEM", help=", ".join(known)
    )
    parser.add_argument("--re-splits", type=int, default=3, metavar="N")
    parser.add_argument("--seconds", type=float, default=120.0, help="of every run")
    parser.add_argument("--before", default="3c210e3", metavar="REV", help="the revision that is the code of before")
    parser.add_argument(
        "--again", nargs="+", default=[], choices=known, metavar="SYSTEM", help="run what is there again"
    )
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "mine.csv", metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table between the marks of this page")
    parser.add_argument("--write-estimates", type=Path, metavar="PAGE", help="the same with what the searches say")
    given = parser.parse_args(arguments)
    if given.re_splits < 1:
        parser.error(f"--re-splits takes a number from 1; got {given.re_splits}")
    if not given.seconds >= 1:
        parser.error(f"--seconds takes a number from 1; got {given.seconds:g}")
    return given


def _find_data() -> None:
    """Named sets lie in the folder TAMIS_DATA, or in one beside the project."""
    beside = ROOT.parent / "shared" / "data"
    if "TAMIS_DATA" not in os.environ and beside.is_dir():
        os.environ["TAMIS_DATA"] = str(beside)


def _present(name: str) -> bool:
    found = name in names()
    if not found:
        print(f"{name}: is absent, and left out")
    return found


def run_all(given: argparse.Namespace, times: Sequence[float]) -> None:
    """Run what is not in the results file yet, for each of some numbers of seconds."""
    _find_data()
    sets = [name for name in given.sets if _present(name)]
    done = read(given.results)
    runs = [
        (seconds, number, name, system)
        for seconds in times
        for number in range(given.re_splits)
        for name in sets
        for system in given.systems
        if system in given.again or key(name, number, system, seconds, given.before) not in done
    ]
    print(f"{len(runs)} runs, {sum(seconds for seconds, *_ in runs) / 3600:.1f} hours at most", flush=True)
    systems = Systems(given.before)
    try:
        _run(given.results, runs, systems)
    finally:
        systems.close()


def _run(results: Path, runs: Sequence[tuple[float, int, str, str]], systems: Systems) -> None:
    for seconds, number, name, system in runs:
        try:
            systems.prepare(system)
        except UnavailableError as error:
            print(f"{name} {number} {system}: left out, {error}", flush=True)
            continue
        line = _run_one(systems, name, number, system, seconds)
        append(results, line)
        what = line.error or line.chosen
        print(
            f"{name:<16} {number}  {system:<16} BER {100 * line.ber:5.1f}  {line.used:6.1f} s  {what[:80]}", flush=True
        )


def _run_one(systems: Systems, name: str, number: int, system: str, seconds: float) -> Line:
    rows = resplit(load(name), number)
    with tempfile.TemporaryDirectory(prefix="tamis-bench-") as folder:
        # The portfolio that the search comes with was learned from some of the sets.
        write(rows, Path(folder), learned_without(name) if system in OURS and system != "before" else None)
        try:
            found: Outcome | FailedError = systems.run(system, Path(folder), seconds)
        except FailedError as error:
            found = error
    return _line(rows, found, name, number, system, seconds, systems.revision(system))


def _line(
    rows: Resplit, found: Outcome | FailedError, name: str, number: int, system: str, seconds: float, revision: str
) -> Line:
    """The line of a run; one that failed has the error of always the same class."""
    known = {
        "set": name,
        "re_split": number,
        "system": system,
        "seconds": seconds,
        "date": date.today().isoformat(),
        "revision": revision,
        "train_rows": rows.y.size,
        "fresh_rows": rows.truth.size,
        "columns": rows.train.shape[1],
        "classes": rows.n_classes,
    }
    if isinstance(found, FailedError):
        return Line(**known, versions="", ber=1 - 1 / rows.n_classes, used=found.used, error=str(found))
    ber = 1 - balanced_accuracy_score(rows.truth, found.predictions)
    said = {one: getattr(found, one) for one in ("versions", "used", "honest", "honest_se", "features", "chosen")}
    return Line(**known, ber=ber, **said)


def _section(lines: Sequence[Line], seconds: float) -> str:
    """The table with what must be known to read it."""
    sets = list(dict.fromkeys([*SETS, *(line.set for line in lines)]))
    days = sorted({line.date for line in lines})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    most = max(line.re_split for line in lines) + 1
    versions = sorted({one for line in lines for one in line.versions.split(", ") if one})
    about = [
        f"Balanced error rates in percent on fresh rows, the mean of {most} re-splits; {seconds:g} s a run on",
        f"{CORES} cores, {when}. Rows are training + fresh ones. {_revisions(lines)}{', '.join(versions)}.",
        'The column "tamis says" is the honest estimate that the search reports itself. Differences of at most',
        f"{TIE} points are ties. A run that failed counts with the error of always the same class. The portfolio of",
        "`tamis` is the one that the other sets teach: it knows nothing of the set it is run on.",
    ]
    return "\n".join(about) + "\n\n" + table(lines, sets, (*SYSTEMS, *OTHERS))


def _revisions(lines: Sequence[Line]) -> str:
    """Which code `tamis` and `before` are."""
    found = {system: sorted({one.revision for one in lines if one.system == system}) for system in ("tamis", "before")}
    return "".join(f"`{system}` is revision {', '.join(known)}; " for system, known in found.items() if known)
