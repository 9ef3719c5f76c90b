"""The walk through a plan: one fold of many models, depth first, each shared step fitted once."""

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha1
from time import perf_counter, time
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track
from tamis.base.predictions import Said, ask, ask_together
from tamis.base.seeds import spawn
from tamis.data.dataset import Dataset
from tamis.engines.engine import deadline
from tamis.validation.execute.fits import Fits
from tamis.validation.execute.preparations import Preparation, PreparationCache, Warned
from tamis.validation.execute.rows import Ledger, Pair, Rows
from tamis.validation.fold_result import Finding, FoldResult, fold_predictions, measured
from tamis.validation.folds import Split
from tamis.validation.metrics import Metric
from tamis.validation.plan import Branch, Plan, Step

#: Narrowing the rows once for several selections pays when these leave out more than this share of the columns.
_WORTHWHILE = 0.5

#: Fitted models that are held at a time: each may have rows of its own.
_AT_ONCE = 32

#: Hears how many results a walk in this process has so far; a walk in another one is heard when it is over.
listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


@dataclass(frozen=True, eq=False)
class FoldTask:
    """One fold of some models of a plan.

    Attributes
    ----------
    plan : Plan
    wanted : frozenset of int
        The models to evaluate; whole units of the plan.
    split : Split
    metrics : sequence of Metric, optional
        By default all that the model's answers allow.
    seed : int
        The seed of the run.
    memory : float
        Bytes that transformed rows may take.
    """

    plan: Plan
    wanted: frozenset[int]
    split: Split
    metrics: Sequence[Metric] | None
    seed: int
    memory: float = np.inf


def run_fold(task: FoldTask, data: Dataset, cache: PreparationCache | None = None) -> dict[int, Finding]:
    """The result of each wanted model, or the error that its steps met.

    Neither the models nor the data are changed. Open ``random_state`` parameters are set from the seed of the run, the
    split and the place of the step, so that the result is the same in any process (an engine runs it on one thread).

    Parameters
    ----------
    task : FoldTask
    data : Dataset
    cache : PreparationCache, optional
        What other walks prepared on this data; what this one prepares is added.
    """
    run = _FoldRun(task, data, PreparationCache(0) if cache is None else cache)
    train, test = task.split.train, task.split.test
    root = Rows(lambda _: Pair(_safe_indexing(data.X, train), _safe_indexing(data.X, test)), None, run.ledger)
    trail = (sha1(train.tobytes()).digest(),)
    run.descend(task.plan.root, root, _Path(Track(np.arange(data.n_features)), trail=trail))
    return run.results


@dataclass(frozen=True, eq=False)
class _Path:
    """What a branch has behind it: the columns that are left, what was warned of, and the seconds that it took.

    Of `seconds` each model bears what is shared in equal parts; `alone` is what it would bear without the others.
    `trail` names the rows and the steps that they went through.
    """

    track: Track
    warned: Warned = ()
    seconds: float = 0.0
    alone: float = 0.0
    trail: tuple[Hashable, ...] = ()

    def plus(self, clock: "_Clock", n_models: int, fitted: Any = None) -> "_Path":
        """The same after some work that so many models share, and behind a fitted step if there is one."""
        track = self.track if fitted is None else self.track.after(fitted)
        return replace(
            self,
            track=track,
            warned=self.warned + clock.warned,
            seconds=self.seconds + clock.seconds / n_models,
            alone=self.alone + clock.seconds,
        )

    def with_known(self, known: Preparation) -> "_Path":
        """The same after some work that was done before."""
        return replace(self, warned=self.warned + known.warned, alone=self.alone + known.seconds)

    def through(self, step: Hashable) -> "_Path":
        """The same with one step more on its trail."""
        return replace(self, trail=(*self.trail, step))

    def narrowed(self, support: np.ndarray) -> "_Path":
        """The same behind a selection."""
        return replace(self, track=self.track.narrowed(support))


@dataclass(eq=False)
class _Clock:
    """Seconds spent and warnings given inside a block."""

    seconds: float = 0.0
    warned: Warned = ()


@contextmanager
def _clocked() -> Iterator[_Clock]:
    clock = _Clock()
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield clock
        finally:
            clock.seconds = perf_counter() - start
            clock.warned = tuple((w.category, str(w.message)) for w in caught)


class _FoldRun:
    """Walks one fold."""

    def __init__(self, task: FoldTask, data: Dataset, cache: PreparationCache) -> None:
        self.task = task
        self._cache = cache
        self.ledger = Ledger(task.memory)
        self.results: dict[int, Finding] = {}
        self._data = data
        self._labels = data.y[task.split.train]
        self._seed = spawn(task.seed, *task.split.task)

    def descend(self, branch: Branch, rows: Rows, path: _Path) -> None:
        """Evaluate all that is wanted below a branch whose rows are there."""
        for step in branch.steps:
            if step.models & self.task.wanted and not _late():
                self._take(step, rows, path)

    def _take(self, step: Step, rows: Rows, path: _Path) -> None:
        wanted = [i for i, b in enumerate(step.branches) if b.models & self.task.wanted]
        fits = Fits(step, step.copies(self._seed))
        name = (path.trail, fits.name) if fits.lasts else None
        known = None if name is None else self._cache.get(name)
        try:
            with _clocked() as clock:
                fits.prepare(rows.get().train, self._labels, None if known is None else known.state)
        except Exception as error:
            self._fail(step.models, error)
            return
        path = path.plus(clock, len(step.models))
        if known is not None:
            path = path.with_known(known)
        elif fits.prepared is not None:
            self._cache.put(name, Preparation(fits.prepared, clock.warned, clock.seconds))
        ending = [place for place in wanted if step.branches[place].ends]
        for first in range(0, len(ending), _AT_ONCE):
            if _late():
                return
            self._judge(step, fits, ending[first : first + _AT_ONCE], rows, path)
        going = [place for place in wanted if step.branches[place].steps]
        if len(going) > 1 and fits.selects:
            self._narrow(step, fits, going, rows, path)
        else:
            for place in going:
                self._go_on(step, fits, place, rows, path)

    def _go_on(self, step: Step, fits: Fits, place: int, rows: Rows, path: _Path) -> None:
        """Through one answer of a step to what comes after it."""
        if _late():
            return
        branch = step.branches[place]
        try:
            with _clocked() as clock:
                fitted = fits.answer(place, rows.get().train, self._labels)
                after = Rows(fits.through(place, self._labels), rows, self.ledger)
                after.get()
        except Exception as error:
            self._fail(branch.models, error)
            return
        self.descend(branch, after, path.plus(clock, len(branch.models), fitted).through(fits.name_at(place)))
        after.give_up()

    def _narrow(self, step: Step, fits: Fits, places: list[int], rows: Rows, path: _Path) -> None:
        """Several selections among the same columns: what none of them keeps is left out of the rows once."""
        chosen: dict[int, tuple[Any, _Path]] = {}
        for place in places:
            if _late():
                return
            branch = step.branches[place]
            try:
                with _clocked() as clock:
                    fitted = fits.answer(place, rows.get().train, self._labels)
                chosen[place] = (fitted, path.plus(clock, len(branch.models)))
            except Exception as error:
                self._fail(branch.models, error)
        supports = {place: fitted.get_support() for place, (fitted, _) in chosen.items()}
        if not _narrows(list(supports.values()), rows.get()):
            for place, (_, behind) in chosen.items():
                self._go_on(step, fits, place, rows, behind)
            return
        union = np.logical_or.reduce(list(supports.values()))
        narrowed = Rows(_columns(union), rows, self.ledger)
        for place, (_, behind) in chosen.items():
            if _late():
                break
            branch = step.branches[place]
            after = Rows(_columns(supports[place][union]), narrowed, self.ledger)
            with _clocked() as clock:
                after.get()
            behind = behind.plus(clock, len(branch.models)).narrowed(supports[place])
            self.descend(branch, after, behind.through(fits.name_at(place)))
            after.give_up()
        narrowed.give_up()

    def _judge(self, step: Step, fits: Fits, ending: list[int], rows: Rows, path: _Path) -> None:
        """Some of the models that end in a step: their answers for the test rows."""
        fitted: dict[int, tuple[Any, _Path]] = {}
        for place in ending:
            branch = step.branches[place]
            try:
                with _clocked() as clock:
                    model = fits.answer(place, rows.get().train, self._labels)
                fitted[place] = (model, path.plus(clock, len(branch.ends), model))
            except Exception as error:
                self._fail(frozenset(branch.ends), error)
        for place, (said, clock, together) in self._said(fits, fitted, rows).items():
            ends = step.branches[place].ends
            try:
                result = self._result(said, fitted[place][1], clock, together * len(ends))
            except Exception as error:
                self._fail(frozenset(ends), error)
                continue
            for model in ends:
                self.results[model] = result
        fits.forget(ending)
        if (hear := listener.get()) is not None:
            hear(len(self.results))

    def _said(
        self, fits: Fits, fitted: dict[int, tuple[Any, _Path]], rows: Rows
    ) -> dict[int, tuple[Said, _Clock, int]]:
        """What fitted models say of the test rows, the time that it took and how many of them were asked in it."""
        test = rows.get().test
        models = {place: model for place, (model, _) in fitted.items()}
        if fits.together and len(models) > 1:
            try:
                with _clocked() as clock:
                    said = ask_together(list(models.values()), test)
            except Exception:
                clock = None  # one of them cannot answer: they are asked one by one below
            if clock is not None:
                return {place: (one, clock, len(models)) for place, one in zip(models, said, strict=True)}
        found = {}
        for place, model in models.items():
            try:
                with _clocked() as clock:
                    found[place] = (ask(model, test), clock, 1)
            except Exception as error:
                self._fail(frozenset(fits.step.branches[place].ends), error)
        return found

    def _result(self, said: Said, behind: _Path, asked: _Clock, n_models: int) -> FoldResult:
        split = self.task.split
        with _clocked() as clock:
            answers = fold_predictions(said, self._data.y, split, self._data.classes)
            metrics = measured(answers, self.task.metrics)
        used = behind.track.origins
        return FoldResult(
            repeat=split.repeat,
            fold=split.fold,
            rows=split.test,
            n_train=split.train.size,
            predictions=answers,
            metrics=metrics,
            selected=None if used is None else np.unique(used),
            n_features=self._data.n_features,
            fit_seconds=behind.seconds,
            predict_seconds=asked.seconds / n_models,
            alone_seconds=behind.alone + asked.seconds,
            warnings=tuple(dict.fromkeys(behind.warned + asked.warned + clock.warned)),
        )

    def _fail(self, models: frozenset[int], error: Exception) -> None:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        split = self.task.split
        refusal = TamisError(f"repeat {split.repeat + 1}, fold {split.fold + 1}: {said}")
        refusal.__cause__ = error
        self.results.update(dict.fromkeys(models & self.task.wanted, refusal))


def _late() -> bool:
    end = deadline.get()
    return end is not None and time() > end


def _narrows(supports: list[np.ndarray], rows: Pair) -> bool:
    """Whether it pays to leave out at once the columns that no selection keeps; rows of a table are left to it."""
    plain = all(isinstance(part, np.ndarray) or sp.issparse(part) for part in rows)
    if not plain or not supports or not all(support.any() for support in supports):
        return False
    return bool(np.logical_or.reduce(supports).mean() <= _WORTHWHILE)


def _columns(mask: np.ndarray) -> Callable[[Pair], Pair]:
    return lambda before: Pair(before.train[:, mask], before.test[:, mask])
