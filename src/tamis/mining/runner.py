"""Drives several searches side by side: collects what they ask for, has it computed, and keeps it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.mining.budget import Budget, Pace
from tamis.mining.run.store import Store
from tamis.mining.search_state import Ask, Search
from tamis.mining.stages import stages
from tamis.validation.execute.driver import Driver
from tamis.validation.fold_result import Finding
from tamis.validation.folds import Split
from tamis.validation.plan import Plan, plan

#: Recipes that one task evaluates at the most, unless one fit answers more.
_BATCH = 24

#: Under these names the store keeps how the rounds went, the seconds spent in all, and when each stage began.
_ROUNDS, SPENT, STAGES = "rounds", "spent", "stages"


@dataclass(frozen=True, eq=False)
class Batch:
    """Recipes on one split of a search: what is evaluated in one task.

    Which recipes stand together does not depend on who computes, nor on what is known already: where they share work
    their numbers agree to rounding only, and a search must take the same course again.

    Attributes
    ----------
    search : int
    name : str
        What the split is called in the store.
    split : Split
    recipes : tuple of str
    """

    search: int
    name: str
    split: Split
    recipes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Progress:
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


class Runner:
    """Has searches computed.

    Parameters
    ----------
    store : Store
    driver : Driver
    pace : Pace
    report : callable, optional
        Called with a :class:`Progress` whenever something was computed.
    """

    def __init__(
        self, store: Store, driver: Driver, pace: Pace, *, report: Callable[[Progress], None] | None = None
    ) -> None:
        self._store, self._driver, self._pace, self._report = store, driver, pace, report
        self._models: dict[str, Any] = {}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._rounds = 0
        self._stages: list[dict[str, Any]] = store.noted(STAGES, [])

    def model(self, text: str) -> Any:
        """The estimator of a recipe, which is read once."""
        if text not in self._models:
            self._models[text] = recipe(text)
        return self._models[text]

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

    def compute(self, batches: Sequence[Batch], searches: Sequence[Search]) -> list[dict[str, Finding]]:
        """What came of recipes that must be evaluated, whatever the time."""
        return self._found(batches, "judge", searches, None, compute=True)

    def _fulfil(self, asks: Mapping[int, Ask], searches: Mapping[int, Search], journal: "_Journal") -> None:
        stage = next(iter(asks.values())).stage
        batches, places = [], []
        for number, ask in asks.items():
            board = searches[number].board
            for split in ask.splits:
                wanted = tuple(
                    r for r in ask.recipes if split not in board.tried[r].values and not board.tried[r].error
                )
                for turn, members in enumerate(self._plan(wanted).batches(_BATCH)):
                    recipes = tuple(wanted[i] for i in members)
                    batches.append(Batch(number, board.inner.name(split), board.inner.splits[split], recipes))
                    places.append((turn, split, number))
        # By turns, all splits of a batch after one another, so that when time runs out every search has come equally
        # far and what was begun is of use.
        order = sorted(range(len(batches)), key=lambda i: places[i])
        if not journal.reading:
            self._pace.pretend(None)
        ends = [self._pace.end_of(ask.stage, ask.share) for ask in asks.values()]
        until = max((end for end in ends if end is not None), default=None)
        ordered = [batches[i] for i in order]
        found = journal.settled(
            ordered, self._found(ordered, stage, list(searches.values()), until, compute=not journal.reading)
        )
        self._plans.clear()
        for i, findings in zip(order, found, strict=True):
            _, split, number = places[i]
            for text, finding in findings.items():
                searches[number].board.learn(text, split, finding)

    def _plan(self, recipes: tuple[str, ...]) -> Plan:
        """The plan of recipes, made once in a round: most of the time they are the same on every split."""
        if recipes not in self._plans:
            self._plans[recipes] = plan([self.model(text) for text in recipes])
        return self._plans[recipes]

    def _found(
        self, batches: Sequence[Batch], stage: str, searches: Sequence[Search], until: float | None, *, compute: bool
    ) -> list[dict[str, Finding]]:
        self._rounds += 1
        found = [self._store.find(batch.search, batch.name, batch.recipes) for batch in batches]
        missing = [i for i, batch in enumerate(batches) if len(found[i]) < len(batch.recipes)]
        if not compute or not missing:
            return found
        hard = None if until is None else self._pace.end_of("last")
        done = len(batches) - len(missing)
        self._begin(stage)
        self._tell(stage, done, len(batches), searches)
        tasks = [self._driver.task(self._plan(batches[i].recipes), batches[i].split) for i in missing]
        for number, results in self._driver.execute(tasks, until=until, hard=hard):
            place = missing[number]
            batch = batches[place]
            # An error as text alone: its cause may hold the rows that it was met on.
            findings = {
                batch.recipes[model]: TamisError(str(one)) if isinstance(one, TamisError) else one
                for model, one in sorted(results.items())
            }
            self._store.put(batch.search, batch.name, findings)
            self._store.note(SPENT, self._pace.spent)
            # What was kept before stays: the store has the last word.
            found[place] = {**findings, **found[place]}
            done += 1
            self._tell(stage, done, len(batches), searches)
        return found

    def _begin(self, stage: str) -> None:
        """Write down when a stage begins, unless it goes on."""
        if not self._stages or self._stages[-1]["stage"] != stage:
            self._stages.append({"stage": stage, "begin": self._pace.spent})
            self._store.note(STAGES, self._stages)

    def _tell(self, stage: str, done: int, total: int, searches: Sequence[Search]) -> None:
        if self._report is not None:
            self._report(Progress(stage, self._rounds, done, total, searches, self._pace))


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

    def settled(self, batches: Sequence[Batch], found: list[dict[str, Finding]]) -> list[dict[str, Finding]]:
        """What the round came to: what was cut off then is left out, though it may have been computed since."""
        if self.reading:
            cut = {(search, name, text) for search, name, text in self._kept["cut"].get(str(self._round), [])}
            return [
                {text: one for text, one in findings.items() if (batch.search, batch.name, text) not in cut}
                for batch, findings in zip(batches, found, strict=True)
            ]
        missing = [
            (batch.search, batch.name, text)
            for batch, findings in zip(batches, found, strict=True)
            for text in batch.recipes
            if text not in findings
        ]
        if missing:
            self._kept["cut"][str(self._round)] = missing
            self._write()
        return found

    def _write(self) -> None:
        if self._limited:
            self._store.note(_ROUNDS, self._kept)
