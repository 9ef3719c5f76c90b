"""Drives several searches side by side: collects what they ask for, has it computed, and keeps it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.mine.budget import Pace
from tamis.mine.engine import Engine
from tamis.mine.stages import Ask, Search, stages
from tamis.mine.store import Finding, Store
from tamis.validate.cases import Cases
from tamis.validate.folds import Split
from tamis.validate.plan import Branch, plan
from tamis.validate.walk import Task, walk

#: Recipes that one task computes at the most, unless one fit answers more.
_PORTION = 24

#: Under these names the store keeps the seconds that were spent when each round began, for which budget, and in all.
_ROUNDS, SPENT = "rounds", "spent"


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
    done, total : int
        Tasks of the present round.
    searches : sequence of Search
        The last one is that of all rows.
    pace : Pace
    """

    stage: str
    done: int
    total: int
    searches: Sequence[Search]
    pace: Pace


def examine(work: Work, given: Cases) -> dict[str, Finding]:
    """What came of the recipes of a task; fewer of them when time ran out on the way."""
    models = [recipe(text) for text in work.recipes]
    task = Task(plan(models), frozenset(range(len(models))), work.split, given.classes, None, work.seed, work.memory)
    found = walk(task, given.X, given.y)
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

    def drive(self, searches: Sequence[Search]) -> None:
        """Take the searches through all their stages, a step of each at a time.

        The seconds spent are kept at the beginning of every round. A run that is taken up again goes through the
        rounds that are over with the clock of the time, so that it takes the same course, and computes nothing in
        them: what is missing there was cut off by the budget.
        """
        limit = [self._pace.budget.seconds, self._pace.budget.trials]
        kept = self._store.noted(_ROUNDS) or {}
        # Without a limit of time nothing was cut off.
        passed: list[float] = kept["spent"] if limit[0] is not None and kept.get("budget") == limit else []
        rounds: list[float] = []
        courses = {search.board.number: stages(search) for search in searches}
        by_number = {search.board.number: search for search in searches}
        while courses:
            over = len(rounds) + 1 < len(passed)
            at = passed[len(rounds)] if len(rounds) < len(passed) else None
            self._pace.pretend(at if over else None)
            asks = {}
            for number, course in list(courses.items()):
                ask = next(course, None)
                if ask is None:
                    del courses[number]
                else:
                    asks[number] = ask
            rounds.append(self._pace.spent if at is None else at)
            if not over and limit[0] is not None:
                self._store.note(_ROUNDS, {"budget": limit, "spent": rounds})
            if asks:
                self._fulfil(asks, by_number, compute=not over)
        self._pace.pretend(None)

    def compute(self, works: Sequence[Work], searches: Sequence[Search] = ()) -> list[dict[str, Finding]]:
        """What came of tasks that must be done, whatever the time."""
        return self._found(works, "judge", searches, None, compute=True)

    def work(self, search: int, name: str, split: Split, recipes: Sequence[str]) -> Work:
        """A task of this run."""
        return Work(search, name, split, tuple(recipes), self._seed, self._memory)

    def _fulfil(self, asks: Mapping[int, Ask], searches: Mapping[int, Search], *, compute: bool) -> None:
        stage = next(iter(asks.values())).stage
        works, places = [], []
        for number, ask in asks.items():
            board = searches[number].board
            for split in ask.splits:
                wanted = [r for r in ask.recipes if split not in board.tried[r].values and not board.tried[r].error]
                for turn, portion in enumerate(portions(wanted)):
                    works.append(self.work(number, board.inner.name(split), board.inner.splits[split], portion))
                    places.append((turn, split, number))
        # By turns, all splits of a portion after one another, so that when time runs out every search has come equally
        # far and what was begun is of use.
        order = sorted(range(len(works)), key=lambda i: places[i])
        ends = [self._pace.end_of(ask.stage, ask.share) for ask in asks.values()]
        until = max((end for end in ends if end is not None), default=None)
        found = self._found([works[i] for i in order], stage, list(searches.values()), until, compute=compute)
        for i, findings in zip(order, found, strict=True):
            _, split, number = places[i]
            for text, finding in findings.items():
                searches[number].board.learn(text, split, finding)

    def _found(
        self, works: Sequence[Work], stage: str, searches: Sequence[Search], until: float | None, *, compute: bool
    ) -> list[dict[str, Finding]]:
        found = [self._store.find(work.search, work.name, work.recipes) for work in works]
        missing = [i for i, work in enumerate(works) if len(found[i]) < len(work.recipes)]
        if not compute or not missing:
            return found
        hard = None if until is None else self._pace.end_of("last")
        done = len(works) - len(missing)
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

    def _say(self, stage: str, done: int, total: int, searches: Sequence[Search]) -> None:
        if self._tell is not None:
            self._tell(Standing(stage, done, total, searches, self._pace))


def portions(recipes: Sequence[str]) -> list[tuple[str, ...]]:
    """Recipes in portions of which each shares as much as it can.

    A step of the plan that is shared by few enough recipes is one portion with all that follows it; one that is shared
    by more is divided at what follows it. Small portions that follow one another are joined.

    Examples
    --------
    >>> portions(["cc(5) | knn(1)", "ssv(5) | knn(1)", "cc(9) | knn(1)"])
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
