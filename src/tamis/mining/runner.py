"""Drives several searches side by side: collects what they ask for, has it computed, and keeps it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.mining.budget import Budget, Pace
from tamis.mining.engine import Engine
from tamis.mining.run.store import Finding, Store
from tamis.mining.search_state import Ask, Search
from tamis.mining.stages import stages
from tamis.validation.cases import Cases
from tamis.validation.execute.preparations import Remembered
from tamis.validation.execute.walk import Task, walk
from tamis.validation.folds import Split
from tamis.validation.plan import Branch, plan

#: Recipes that one task computes at the most, unless one fit answers more.
_PORTION = 24

#: What walks in this process prepared, by data: searches come back to the same rows round after round.
_remembered: WeakKeyDictionary[Cases, Remembered] = WeakKeyDictionary()

#: Under these names the store keeps how the rounds went, the seconds spent in all, and when each stage began.
_ROUNDS, SPENT, STAGES = "rounds", "spent", "stages"


@dataclass(frozen=True, eq=False)
class Work:
    """Recipes on one split: what is computed in one go, by whatever process.

    Which recipes stand together does not depend on who computes, nor on what is known already: where they share work
    their numbers agree to rounding only, and a search must take the same course again.
    """

    search: int
    name: str
    split: Split
    recipes: tuple[str, ...]
    seed: int
    memory: float


@dataclass(frozen=True, eq=False)
class Standing:
    """How far a run has come.

    Attributes
    ----------
    stage : str
    number : int
        Of the round; what the searches know changes from round to round.
    done, total : int
        Tasks of the round.
    searches : sequence of Search
        The last one is that of all rows.
    pace : Pace
    """

    stage: str
    number: int
    done: int
    total: int
    searches: Sequence[Search]
    pace: Pace


def examine(work: Work, given: Cases) -> dict[str, Finding]:
    """What came of the recipes of a task; fewer of them when time ran out on the way."""
    models = [recipe(text) for text in work.recipes]
    task = Task(plan(models), frozenset(range(len(models))), work.split, given.classes, None, work.seed, work.memory)
    found = walk(task, given.X, given.y, _remembered.setdefault(given, Remembered()))
    # An error as text alone: its cause may be something that cannot travel.
    return {
        work.recipes[i]: TamisError(str(one)) if isinstance(one, TamisError) else one
        for i, one in sorted(found.items())
    }


class Runner:
    """Has searches computed.

    Parameters
    ----------
    store : Store
    engine : Engine
    pace : Pace
    seed : int
    memory : float
        Bytes that the rows which recipes share may take in one worker.
    tell : callable, optional
        Hears a :class:`Standing` whenever something was computed.
    """

    def __init__(
        self,
        store: Store,
        engine: Engine,
        pace: Pace,
        *,
        seed: int,
        memory: float,
        tell: Callable[[Standing], None] | None = None,
    ) -> None:
        self._store, self._engine, self._pace = store, engine, pace
        self._seed, self._memory, self._tell = seed, memory, tell
        self._rounds = 0
        self._stages: list[dict[str, Any]] = store.noted(STAGES, [])

    def drive(self, searches: Sequence[Search]) -> None:
        """Take the searches through all their stages, a step of each at a time.

        Under a limit of time what is tried depends on the clock. So the seconds spent at the beginning of every round
        are kept, and what was cut off at its end; a run that is taken up again goes through the rounds that are over
        with the clock of the time and without what was cut off then, and takes the same course. The clock is left at
        the beginning of the last round, for what is chosen now is to be chosen again.
        """
        journal = _Journal(self._store, self._pace.budget)
        courses = {search.board.number: stages(search) for search in searches}
        by_number = {search.board.number: search for search in searches}
        while courses:
            self._pace.pretend(None)
            # It stands still while the searches decide, so that it can stand there again.
            self._pace.pretend(journal.begin(self._pace.spent))
            if self._pace.left is not None:
                self._pace.keep_back(max(s.confirming() for s in searches), max(s.after() for s in searches))
            asks = {number: ask for number, course in courses.items() if (ask := next(course, None)) is not None}
            courses = {number: courses[number] for number in asks}
            if asks:
                self._fulfil(asks, by_number, journal)

    def compute(self, works: Sequence[Work], searches: Sequence[Search]) -> list[dict[str, Finding]]:
        """What came of tasks that must be done, whatever the time."""
        return self._found(works, "judge", searches, None, compute=True)

    def work(self, search: int, name: str, split: Split, recipes: Sequence[str]) -> Work:
        """A task of this run."""
        return Work(search, name, split, tuple(recipes), self._seed, self._memory)

    def _fulfil(self, asks: Mapping[int, Ask], searches: Mapping[int, Search], journal: "_Journal") -> None:
        stage = next(iter(asks.values())).stage
        works, places = [], []
        for number, ask in asks.items():
            board = searches[number].board
            for split in ask.splits:
                wanted = [r for r in ask.recipes if split not in board.tried[r].values and not board.tried[r].error]
                # The same for every split, most of the time.
                for turn, portion in enumerate(portions(tuple(wanted))):
                    works.append(self.work(number, board.inner.name(split), board.inner.splits[split], portion))
                    places.append((turn, split, number))
        # By turns, all splits of a portion after one another, so that when time runs out every search has come equally
        # far and what was begun is of use.
        order = sorted(range(len(works)), key=lambda i: places[i])
        if not journal.reading:
            self._pace.pretend(None)
        ends = [self._pace.end_of(ask.stage, ask.share) for ask in asks.values()]
        until = max((end for end in ends if end is not None), default=None)
        ordered = [works[i] for i in order]
        found = journal.settled(
            ordered, self._found(ordered, stage, list(searches.values()), until, compute=not journal.reading)
        )
        for i, findings in zip(order, found, strict=True):
            _, split, number = places[i]
            for text, finding in findings.items():
                searches[number].board.learn(text, split, finding)

    def _found(
        self, works: Sequence[Work], stage: str, searches: Sequence[Search], until: float | None, *, compute: bool
    ) -> list[dict[str, Finding]]:
        self._rounds += 1
        found = [self._store.find(work.search, work.name, work.recipes) for work in works]
        missing = [i for i, work in enumerate(works) if len(found[i]) < len(work.recipes)]
        if not compute or not missing:
            return found
        hard = None if until is None else self._pace.end_of("last")
        done = len(works) - len(missing)
        self._begin(stage)
        self._say(stage, done, len(works), searches)
        for number, findings in self._engine.run(examine, [works[i] for i in missing], until=until, hard=hard):
            place = missing[number]
            work = works[place]
            if isinstance(findings, TamisError):
                findings = dict.fromkeys(work.recipes, findings)
            self._store.put(work.search, work.name, findings)
            self._store.note(SPENT, self._pace.spent)
            # What was kept before stays: the store has the last word.
            found[place] = {**findings, **found[place]}
            done += 1
            self._say(stage, done, len(works), searches)
        return found

    def _begin(self, stage: str) -> None:
        """Write down when a stage begins, unless it goes on."""
        if not self._stages or self._stages[-1]["stage"] != stage:
            self._stages.append({"stage": stage, "begin": self._pace.spent})
            self._store.note(STAGES, self._stages)

    def _say(self, stage: str, done: int, total: int, searches: Sequence[Search]) -> None:
        if self._tell is not None:
            self._tell(Standing(stage, self._rounds, done, total, searches, self._pace))


class _Journal:
    """When each round of a run began, in seconds spent, and what of it was cut off by the limit of time.

    Parameters
    ----------
    store : Store
    budget : Budget
        A run that had another one takes another course.
    """

    def __init__(self, store: Store, budget: Budget) -> None:
        self._store = store
        self._limited = budget.seconds is not None
        limit = [budget.seconds, budget.trials]
        kept = store.noted(_ROUNDS) or {}
        same = self._limited and kept.get("budget") == limit
        self._kept: dict[str, Any] = kept if same else {"budget": limit, "spent": [], "cut": {}}
        self._over = len(self._kept["spent"]) - 1
        self._round = -1

    @property
    def reading(self) -> bool:
        """Whether the present round was over before."""
        return self._round < self._over

    def begin(self, spent: float) -> float:
        """Begin a round; the seconds spent when it first began."""
        self._round += 1
        if self._round == len(self._kept["spent"]):
            self._kept["spent"].append(spent)
            self._write()
        return float(self._kept["spent"][self._round])

    def settled(self, works: Sequence[Work], found: list[dict[str, Finding]]) -> list[dict[str, Finding]]:
        """What the round came to: what was cut off then is left out, though it may have been computed since."""
        if self.reading:
            cut = {(search, name, text) for search, name, text in self._kept["cut"].get(str(self._round), [])}
            return [
                {text: one for text, one in findings.items() if (work.search, work.name, text) not in cut}
                for work, findings in zip(works, found, strict=True)
            ]
        missing = [
            (work.search, work.name, text)
            for work, findings in zip(works, found, strict=True)
            for text in work.recipes
            if text not in findings
        ]
        if missing:
            self._kept["cut"][str(self._round)] = missing
            self._write()
        return found

    def _write(self) -> None:
        if self._limited:
            self._store.note(_ROUNDS, self._kept)


@lru_cache(maxsize=64)
def portions(recipes: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Recipes in portions of which each shares as much as it can.

    A step of the plan that is shared by few enough recipes is one portion with all that follows it; one that is shared
    by more is divided at what follows it. Small portions that follow one another are joined.

    Examples
    --------
    >>> portions(("cc(5) | knn(1)", "ssv(5) | knn(1)", "cc(9) | knn(1)"))
    [('cc(5) | knn(1)', 'cc(9) | knn(1)', 'ssv(5) | knn(1)')]
    """
    found: list[list[int]] = []
    for part in _parts(plan([recipe(text) for text in recipes]).root):
        if found and len(found[-1]) + len(part) <= _PORTION:
            found[-1] += part
        else:
            found.append(list(part))
    return [tuple(recipes[i] for i in part) for part in found]


def _parts(branch: Branch) -> Iterator[list[int]]:
    for step in branch.steps:
        if len(step.models) <= _PORTION or step.last or all(len(b.models) <= 1 for b in step.branches):
            yield sorted(step.models)
        else:
            for below in step.branches:
                yield from _parts(below)
