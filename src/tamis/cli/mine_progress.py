"""The progress of a search: a live table on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.mining.runner import Progress

#: Models in the live table.
_SHOWN = 8

#: The stage before the search.
COMPILE = "compile"

#: What each stage does, in words.
_STAGES = {
    "portfolio": "recipes that did well on other data",
    "base": "classifiers on all features",
    "select": "selections",
    "classify": "classifiers behind the best selections",
    "templates": "the given templates",
    "tune": "tuning",
    "substitute": "substituting parts",
    "confirm": "evaluating the best on more folds",
    "ensemble": "committees",
    "last": "one recipe, because time is short",
    "evaluate": "evaluating the choice on unseen rows",
}


@contextmanager
def watching() -> Iterator[Callable[["Progress"], None]]:
    """Yield a callback that shows the progress of a search."""
    best = _Best()
    if not sys.stderr.isatty():
        yield _Lines(best)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield lambda progress: live.update(_picture(progress, best(progress)))


class _Best:
    """The best models of the search on all rows: error, features, folds and recipe, updated once in a round."""

    def __init__(self) -> None:
        self._round = -1
        self._rows: list[list[str]] = []

    def __call__(self, progress: "Progress") -> list[list[str]]:
        if progress.number != self._round and progress.searches:
            self._round = progress.number
            self._rows = [list(row) for row in _rows(progress)]
        return self._rows


class _Lines:
    """Prints a line whenever a stage begins or the best model changes."""

    def __init__(self, best: _Best) -> None:
        self._models = best
        self._stage = ""
        self._best = ""

    def __call__(self, progress: "Progress") -> None:
        if progress.stage == COMPILE:
            self._compiling(progress)
            return
        rows = self._models(progress)
        best = f"{rows[0][0]}, {rows[0][1]} features: {rows[0][3]}" if rows else ""
        words = _words(progress)
        if words == self._stage and best == self._best:
            return
        self._stage, self._best = words, best
        print(f"[{_clock(progress.clock.spent)}] {words}{'; best so far: ' + best if best else ''}", file=sys.stderr)

    def _compiling(self, progress: "Progress") -> None:
        """A line for each quarter of the kernels."""
        quarter = f"{progress.stage} {4 * progress.done // progress.total}"
        if quarter != self._stage:
            self._stage = quarter
            print(_compiling(progress), file=sys.stderr)


def _words(progress: "Progress") -> str:
    words = _STAGES.get(progress.stage, progress.stage)
    repeated = progress.phase == "estimate" and progress.stage != "evaluate"
    return f"honest estimate, the search within each outer fold: {words}" if repeated else words


def _compiling(progress: "Progress") -> str:
    return f"compiling {progress.total} kernels, once on this machine: {progress.done} of {progress.total}"


def _rows(progress: "Progress") -> Iterator[tuple[str, str, str, str]]:
    from tamis.mining.mined import leaderboard

    trials = progress.searches[-1].trials
    for row in leaderboard(trials).head(_SHOWN).iter_rows(named=True):
        error = "" if row["se"] is None else f" +- {row['se']:.4f}"
        size = "?" if row["features"] is None else f"{row['features']:.0f}"
        yield f"{trials.metric.title} {row[trials.metric.name]:.4f}{error}", size, str(row["folds"]), row["recipe"]


def _picture(progress: "Progress", models: Sequence[Sequence[str]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if progress.stage == COMPILE:
        return Text(_compiling(progress))
    left = progress.clock.left
    time = f"{_clock(progress.clock.spent)} spent" + ("" if left is None else f", {_clock(max(0.0, left))} left")
    tried = sum(len(search.trials.by_recipe) for search in progress.searches)
    head = Text(f"{_words(progress)}: {progress.done} of {progress.total} tasks; {tried} recipes tried in all; {time}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("inner estimate", "features", "folds", "recipe"):
        table.add_column(name, justify="right" if name in ("features", "folds") else "left", overflow="ellipsis")
    for row in models:
        table.add_row(*map(Text, row))
    return Group(head, table)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
