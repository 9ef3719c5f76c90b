"""The progress of a search: a live table on a terminal, a bar and a table in a notebook."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, TypeAlias

from tamis.compose.plural import counted
from tamis.engines.progress import NotebookOutput, bar_html, check_progress, clock, displaying
from tamis.mining.mined import leaderboard
from tamis.mining.runner import Progress

#: A function that is called whenever something was computed.
Watch: TypeAlias = Callable[[Progress], None]

#: Models in the live table.
_SHOWN = 8

#: The stage before the search.
COMPILE = "compile"

#: What each stage does, in words.
_STAGES = {
    "portfolio": "recipes that did well on other data",
    "base": "models on all features",
    "select": "selections",
    "classify": "models behind the best selections",
    "templates": "the given templates",
    "tune": "tuning",
    "substitute": "substituting parts",
    "narrow": "fewer features in the best models",
    "confirm": "evaluating the best on more folds",
    "ensemble": "committees",
    "last": "one recipe, because time is short",
    "evaluate": "evaluating the choice on unseen rows",
}


@contextmanager
def watching(progress: Watch | bool | None = None) -> Iterator[Watch | None]:
    """Yield the function to call: a given one, or one that shows the progress; None where nobody can see it."""
    check_progress(progress)
    if callable(progress):
        yield progress
        return
    with displaying(progress) as place:
        if place is None:
            yield None
        else:
            with (live_table if place == "terminal" else _notebook_table)() as watch:
                yield watch


@contextmanager
def live_table() -> Iterator[Watch]:
    """A table on the terminal that is drawn four times a second, and is gone at the end."""
    from rich.console import Console
    from rich.live import Live

    best = Best()
    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:
        yield lambda progress: live.update(_picture(progress, best(progress)))


@contextmanager
def _notebook_table() -> Iterator[Watch]:
    best, output, last = Best(), NotebookOutput(), "searching"

    def watch(progress: Progress) -> None:
        nonlocal last
        rows = best(progress)
        last = f"searched {_time(progress)}"
        output.show(_html(progress, rows))

    try:
        yield watch
    except BaseException:
        output.end(f"{last}; stopped")
        raise
    output.end(last)


class Best:
    """The best models of the search on all rows: error, features, folds and recipe, updated once in a round."""

    def __init__(self) -> None:
        self._round = -1
        self._rows: list[list[str]] = []

    def __call__(self, progress: Progress) -> list[list[str]]:
        if progress.number != self._round and progress.searches:
            self._round = progress.number
            self._rows = [list(row) for row in _rows(progress)]
        return self._rows


def stage_words(progress: Progress) -> str:
    """What the search does now."""
    words = _STAGES.get(progress.stage, progress.stage)
    repeated = progress.phase == "estimate" and progress.stage != "evaluate"
    return f"honest estimate, the search within each outer fold: {words}" if repeated else words


def compiling(progress: Progress) -> str:
    """How many kernels are compiled."""
    return f"compiling {progress.total} kernels, once on this machine: {progress.done} of {progress.total}"


def _rows(progress: Progress) -> Iterator[tuple[str, str, str, str]]:
    """The models that look best, whether they have all folds yet or not."""
    trials = progress.searches[-1].trials
    rows = {row["recipe"]: row for row in leaderboard(trials).iter_rows(named=True)}
    best = [trial.recipe for trial, _ in trials.estimates() if trial.recipe in rows]
    for row in (rows[recipe] for recipe in best[:_SHOWN]):
        error = "" if row["se"] is None else f" +- {row['se']:.4f}"
        size = "?" if row["features"] is None else f"{row['features']:.0f}"
        yield f"{trials.metric.title} {row[trials.metric.name]:.4f}{error}", size, str(row["folds"]), row["recipe"]


def _time(progress: Progress) -> str:
    return f"{clock(progress.clock.spent)}, {_begun(progress)}"


_COLUMNS = ("inner estimate", "features", "folds", "recipe")


def _picture(progress: Progress, models: Sequence[Sequence[str]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if progress.stage == COMPILE:
        return Text(compiling(progress))
    left = progress.clock.left
    time = f"{clock(progress.clock.spent)} spent" + ("" if left is None else f", {clock(max(0.0, left))} left")
    words = stage_words(progress)
    head = Text(f"{words}: {progress.done} of {progress.total} tasks; {_begun(progress)}; {time}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in _COLUMNS:
        table.add_column(name, justify="right" if name in ("features", "folds") else "left", overflow="ellipsis")
    for row in models:
        table.add_row(*map(Text, row))
    return Group(head, table)


def _html(progress: Progress, models: Sequence[Sequence[str]]) -> str:
    """The same as HTML without a script; the bar is that of the tasks of a round."""
    if progress.stage == COMPILE:
        return bar_html("compiling kernels, once on this machine", progress.done, progress.total)
    words, left = stage_words(progress), progress.clock.left
    bar = bar_html(words, progress.done, progress.total)
    time = _time(progress) + ("" if left is None else f", {clock(max(0.0, left))} left")
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in models)
    return f"<div>{bar}; {time}</div><table><tr>{head}</tr>{body}</table>"


def _begun(progress: Progress) -> str:
    """How many recipes have a result, in all searches together."""
    begun = sum(bool(one.values) for search in progress.searches for one in search.trials.by_recipe.values())
    return f"{counted(begun, 'recipe')} begun in all searches"
