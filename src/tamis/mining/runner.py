"""Runs several searches side by side: collects their requests, has them computed, and stores the results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from tamis.base.errors import TamisError
from tamis.compose.needed_kernels import needed_kernels
from tamis.compose.recipe import recipe
from tamis.engines.ready import ready
from tamis.mining.budget import Clock
from tamis.mining.run.store import Store
from tamis.mining.search_state import Request, SearchState
from tamis.mining.stages import stages
from tamis.validation.execute.driver import Driver
from tamis.validation.fold_result import Finding
from tamis.validation.folds import Split
from tamis.validation.plan import Plan, plan

#: Most recipes of one task, unless one fit serves more.
_BATCH = 24

#: Names of the notes in the store: the journal of each phase, the seconds spent in all, and the start of each stage.
_ROUNDS, SPENT, STAGES = "rounds of", "spent", "stages"

#: The phases of a run.
Phase = Literal["search", "estimate"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Recipes on one split of a search, named as in the store: the work of one task.

    The engine and the stored results do not decide which recipes stand together: where recipes share work their numbers
    agree to rounding only, and a search must go the same way again.
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
    phase : {"search", "estimate"}
        The search for the model, or the searches within the outer folds.
    stage : str
        "compile" while kernels are compiled, before the first round.
    number : int
        Of the round; the trials of the searches change from round to round.
    done, total : int
        Tasks of the round, or kernels.
    searches : sequence of SearchState
        The last one is the search on all rows.
    clock : Clock
    """

    phase: Phase
    stage: str
    number: int
    done: int
    total: int
    searches: Sequence[SearchState]
    clock: Clock


class Runner:
    """Runs searches, of which the last is that on all rows.

    `progress` is called with a :class:`Progress` whenever something was computed.
    """

    def __init__(
        self,
        searches: Sequence[SearchState],
        store: Store,
        driver: Driver,
        clock: Clock,
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._store, self._driver, self._clock, self._progress = store, driver, clock, progress
        self._searches = {search.trials.number: search for search in searches}
        self._task = searches[0].space.traits.task
        self._phase: Phase = "search"
        self._models: dict[str, Any] = {}
        self._plans: dict[tuple[str, ...], Plan] = {}
        self._rounds = 0
        self._stages: list[dict[str, Any]] = store.noted(STAGES, [])

    def model(self, text: str) -> Any:
        """The estimator of a recipe, which is parsed once."""
        if text not in self._models:
            self._models[text] = recipe(text, task=self._task)
        return self._models[text]

    def prepare(self, *, single: bool) -> None:
        """Compile the kernels that the searches may need and that are not on disk; the clock stands still."""
        parts = set().union(*(search.space.parts for search in self._searches.values()))
        with self._clock.paused():
            ready(
                needed_kernels(parts),
                single=single,
                progress=None if self._progress is None else partial(self._notify, "compile"),
            )

    def run(self, phase: Phase, searches: Sequence[SearchState], share: float = 1.0, keep: float = 0.0) -> None:
        """Run some of the searches through all their stages, one request of each at a time.

        They may take a share of the time that is left, less `keep` seconds.

        Under a limit of time the requests depend on the clock. So the journal keeps the seconds spent at the start of
        every round, and what was cut off at its end. A run that is resumed repeats the finished rounds with that clock
        and without what was cut off, and so goes the same way. The clock is left at the start of the last round: the
        final choice can be repeated too.
        """
        self._clock.freeze(None)
        self._phase = phase
        journal = _Journal(self._store, phase, self._clock)
        self._clock.enter(journal.entered, share, keep)
        active = {search.trials.number: stages(search) for search in searches}
        while active:
            self._clock.freeze(None)
            # The clock stands still while the searches decide, so that a repetition sees the same time.
            self._clock.freeze(journal.begin(self._clock.spent))
            if self._clock.left is not None:
                self._clock.reserve(
                    max(search.confirm_seconds() for search in searches),
                    max(search.final_seconds() for search in searches),
                )
            requests = {number: one for number, stage in active.items() if (one := next(stage, None)) is not None}
            active = {number: active[number] for number in requests}
            if requests:
                self._fulfil(requests, journal)

    def evaluate(self, batches: Sequence[Batch]) -> list[dict[str, Finding]]:
        """The results of recipes that must be evaluated, whatever the time."""
        return self._results(batches, "evaluate", None, compute=True)

    def _fulfil(self, requests: Mapping[int, Request], journal: "_Journal") -> None:
        stage = next(iter(requests.values())).stage
        batches, places = [], []
        for number, request in requests.items():
            trials = self._searches[number].trials
            inner, known = trials.inner, trials.by_recipe
            for split in request.splits:
                wanted = tuple(r for r in request.recipes if split not in known[r].values and not known[r].error)
                for turn, members in enumerate(self._plan(wanted).batches(_BATCH)):
                    recipes = tuple(wanted[i] for i in members)
                    batches.append(Batch(number, inner.name(split), inner.splits[split], recipes))
                    places.append((turn, split, number))
        # The searches take turns, all splits of a batch after one another: if time runs out, all searches are equally
        # far and a started batch is of use.
        order = sorted(range(len(batches)), key=lambda i: places[i])
        if not journal.replaying:
            self._clock.freeze(None)
        ends = [request.until(self._clock) for request in requests.values()]
        until = max((end for end in ends if end is not None), default=None)
        ordered = [batches[i] for i in order]
        found = self._results(ordered, stage, until, compute=not journal.replaying)
        self._plans.clear()
        for i, findings in zip(order, journal.end(ordered, found), strict=True):
            _, split, number = places[i]
            for text, finding in findings.items():
                self._searches[number].trials.record(text, split, finding)

    def _plan(self, recipes: tuple[str, ...]) -> Plan:
        """The plan of recipes, made once in a round: mostly they are the same on every split."""
        if recipes not in self._plans:
            self._plans[recipes] = plan([self.model(text) for text in recipes])
        return self._plans[recipes]

    def _results(
        self, batches: Sequence[Batch], stage: str, until: float | None, *, compute: bool
    ) -> list[dict[str, Finding]]:
        self._rounds += 1
        found = [self._store.find(batch.search, batch.name, batch.recipes) for batch in batches]
        missing = [i for i, batch in enumerate(batches) if len(found[i]) < len(batch.recipes)]
        if not compute or not missing:
            return found
        hard = None if until is None else self._clock.end_of("last")
        done = len(batches) - len(missing)
        told = stage if self._phase == "search" or stage == "evaluate" else self._phase
        if not self._stages or self._stages[-1]["stage"] != told:
            self._stages.append({"stage": told, "begin": self._clock.spent})
            self._store.note(STAGES, self._stages)
        self._notify(stage, done, len(batches))
        tasks = [self._driver.task(self._plan(batches[i].recipes), batches[i].split) for i in missing]
        for number, results in self._driver.execute(tasks, until=until, hard=hard):
            place = missing[number]
            batch = batches[place]
            # An error as text alone: its cause may hold rows of the data.
            findings = {
                batch.recipes[model]: TamisError(str(one)) if isinstance(one, TamisError) else one
                for model, one in sorted(results.items())
            }
            self._store.put(batch.search, batch.name, findings)
            self._store.note(SPENT, self._clock.spent)
            # Stored results take precedence.
            found[place] = {**findings, **found[place]}
            done += 1
            self._notify(stage, done, len(batches))
        return found

    def _notify(self, stage: str, done: int, total: int) -> None:
        if self._progress is not None:
            searches = tuple(self._searches.values())
            self._progress(Progress(self._phase, stage, self._rounds, done, total, searches, self._clock))


class _Journal:
    """When a phase of a run and each of its rounds began, in seconds spent, and what the limit of time cut off.

    It holds for one budget: a run with another budget starts a new journal.
    """

    def __init__(self, store: Store, phase: Phase, clock: Clock) -> None:
        self._store, self._name = store, f"{_ROUNDS} {phase}"
        budget = clock.budget
        self._limited = budget.seconds is not None
        limit = [budget.seconds, budget.trials]
        noted = store.noted(self._name) or {}
        same = self._limited and noted.get("budget") == limit
        new: dict[str, Any] = {"budget": limit, "entered": clock.spent, "spent": [], "cut": {}}
        self._noted = noted if same else new
        self._finished = len(self._noted["spent"]) - 1
        self._round = -1

    @property
    def entered(self) -> float:
        """Seconds spent when the phase began."""
        return float(self._noted["entered"])

    @property
    def replaying(self) -> bool:
        """Whether the present round was finished in an earlier session."""
        return self._round < self._finished

    def begin(self, spent: float) -> float:
        """Begin a round; returns the seconds spent when it first began."""
        self._round += 1
        if self._round == len(self._noted["spent"]):
            self._noted["spent"].append(spent)
            self._write()
        return float(self._noted["spent"][self._round])

    def end(self, batches: Sequence[Batch], found: list[dict[str, Finding]]) -> list[dict[str, Finding]]:
        """The results of the round; what was cut off at first is left out, even if it has been computed since."""
        if self.replaying:
            cut = set(map(tuple, self._noted["cut"].get(str(self._round), [])))
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
            self._noted["cut"][str(self._round)] = missing
            self._write()
        return found

    def _write(self) -> None:
        if self._limited:
            self._store.note(self._name, self._noted)
