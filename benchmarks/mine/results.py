"""The results file, a line a run, and the table made of it."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

#: Mean errors of a set that differ by no more, in points, are a tie.
TIE = 0.5


@dataclass(frozen=True)
class Line:
    """One system on one re-split of one set; errors are shares of 1. With an `error` no predictions came, and `ber` is
    that of always the same class."""

    set: str
    re_split: int
    system: str
    seconds: float
    date: str
    revision: str
    versions: str
    train_rows: int
    fresh_rows: int
    columns: int
    classes: int
    ber: float
    used: float
    honest: float | None = None
    honest_se: float | None = None
    features: int | None = None
    chosen: str = ""
    error: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not run twice; other code than this is another run only if it is the code of before."""
        return key(self.set, self.re_split, self.system, self.seconds, self.revision)


def key(name: str, re_split: int, system: str, seconds: float, revision: str) -> tuple[Any, ...]:
    """The key of a run, known before it is made."""
    return name, re_split, system, seconds, revision if system == "before" else ""


def read(path: Path) -> dict[tuple[Any, ...], Line]:
    """The lines of a results file by key; of lines with the same key the last."""
    return {line.key: line for line in _lines(path)}


def replaced(path: Path, seconds: float) -> list[str]:
    """A note for each system of which earlier results are in the file: a table must not hide that it was run again."""
    lines = [line for line in _lines(path) if line.seconds == seconds]
    last = {line.key: line for line in lines}
    earlier = Counter(line.system for line in lines if last[line.key] is not line)
    return [f"- {system}: {n} results were replaced by those of later runs." for system, n in earlier.items()]


def _lines(path: Path) -> list[Line]:
    return [_line(row) for row in csv.DictReader(_whole_lines(path).splitlines())]


def append(path: Path, line: Line) -> None:
    """Add a line to the results file, in place of one that was cut in the middle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in fields(Line)], lineterminator="\n")
    whole = _whole_lines(path)
    if not whole:
        writer.writeheader()
    writer.writerow({name: _text(value) for name, value in asdict(line).items()})
    with path.open("a", encoding="utf-8", newline="") as file:
        file.truncate(len(whole.encode()))
        file.write(text.getvalue())


def _whole_lines(path: Path) -> str:
    if not path.exists():
        return ""
    # Line ends as they are: the length of the text is a place in the file.
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    return text[: text.rfind("\n") + 1]


def _text(value: Any) -> str:
    """A value in one line."""
    return "" if value is None else " ".join(str(value).split())


def _line(row: dict[str, str]) -> Line:
    numbers: dict[str, Any] = {
        name: int(row[name]) for name in ("re_split", "train_rows", "fresh_rows", "columns", "classes")
    }
    numbers |= {name: float(row[name]) for name in ("seconds", "ber", "used")}
    numbers |= {name: float(row[name]) if row[name] else None for name in ("honest", "honest_se")}
    numbers["features"] = int(row["features"]) if row["features"] else None
    return Line(**(row | numbers))


def wins(lines: Iterable[Line], ours: str, theirs: str) -> tuple[int, int, int]:
    """Sets on which `ours` wins, ties and loses by its mean error on the re-splits that both have."""
    errors: dict[str, dict[str, dict[int, float]]] = {}
    for line in lines:
        errors.setdefault(line.set, {}).setdefault(line.system, {})[line.re_split] = line.ber
    counts = [0, 0, 0]
    for systems in errors.values():
        common = systems.get(ours, {}).keys() & systems.get(theirs, {}).keys()
        if common:
            difference = 100 * float(np.mean([systems[ours][n] - systems[theirs][n] for n in common]))
            counts[1 if abs(difference) <= TIE + 1e-9 else 0 if difference < 0 else 2] += 1
    return counts[0], counts[1], counts[2]


def table(lines: Sequence[Line], sets: Sequence[str], systems: Sequence[str]) -> str:
    """The table in Markdown: a row a set, the means, the wins, and what failed."""
    by_run: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        by_run.setdefault((line.set, line.system), []).append(line)
    shown = [one for one in systems if any((name, one) in by_run for name in sets)]
    named = [name for name in sets if any((name, one) in by_run for one in shown)]
    whole = [name for name in named if all((name, one) in by_run for one in shown)]
    rows = [
        ["data", "rows, columns, classes", *shown, "tamis says"],
        *(_row(name, shown, by_run) for name in named),
    ]
    means = {
        one: float(np.mean([_mean(by_run[name, one], "ber") for name in whole])) if whole else None for one in shown
    }
    rows.append(["mean" if whole == named else f"mean of {len(whole)} sets", "", *map(_percent, means.values()), ""])
    used = [f"{np.mean([line.used for line in lines if line.system == one]):.0f}" for one in shown]
    rows.append(["seconds", "", *used, ""])
    if "tamis" in shown:
        counts = {one: wins(lines, "tamis", one) for one in shown if one != "tamis"}
        against = ["/".join(map(str, counts[one])) if one in counts else "" for one in shown]
        rows.append(["tamis wins/ties/loses", "", *against, ""])
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    text = "\n".join([drawn[0], "|---" * len(rows[0]) + "|", *drawn[1:]])
    return "\n".join([text, "", *_failures(lines)])


def _row(name: str, systems: Sequence[str], by_run: dict[tuple[str, str], list[Line]]) -> list[str]:
    found = {one: by_run.get((name, one), []) for one in systems}
    means = {one: _mean(lines, "ber") for one, lines in found.items()}
    best = min(round(100 * mean, 1) for mean in means.values() if mean is not None)
    cells = []
    for one, lines in found.items():
        text = _percent(means[one])
        failed = sum(bool(line.error) for line in lines)
        strong = f"**{text}**" if text and float(text) == best else text
        cells.append(f"{strong} ({failed} failed)" if failed else strong)
    first = next(line for lines in found.values() for line in lines)
    size = f"{first.train_rows} + {first.fresh_rows}, {first.columns}, {first.classes}"
    return [name, size, *cells, _percent(_mean(found.get("tamis", []), "honest"))]


def _mean(lines: Iterable[Line], what: str) -> float | None:
    values = [value for line in lines if (value := getattr(line, what)) is not None]
    return float(np.mean(values)) if values else None


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _failures(lines: Iterable[Line]) -> list[str]:
    """A line for each system and reason: where it gave no predictions."""
    where: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        if line.error:
            names = where.setdefault((line.system, line.error), [])
            if line.set not in names:
                names.append(line.set)
    return [f"- {system} failed on {', '.join(names)}: {error}" for (system, error), names in where.items()]


def written(page: str, section: str, name: str) -> str:
    """The page with the section between the two marks of a name replaced."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, start, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not start or not end:
        raise ValueError(f"the page has no lines {first} and {last}")
    return f"{before}{first}\n\n{section}\n\n{last}{after}"
