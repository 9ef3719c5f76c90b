"""One fold of many models: their plan is run depth first, and each shared step is fitted once."""

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha1
from time import monotonic, perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track
from tamis.base.predictions import Predicted, predict_rows, predict_together
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

#: Selecting columns once for several selectors pays when their union is at most this share of the columns.
_NARROW = 0.5

#: Fitted models held at a time: each may hold its own rows.
_AT_ONCE = 32

#: Called with the number of results so far of a fold in this process; other processes report when they end.
listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


@dataclass(frozen=True, eq=False)
class FoldTask:
    """One fold of the `wanted` models of a plan, which are whole units of it.

    `metrics` None means all that the predictions allow; `seed` is that of the run; `memory` is in bytes, for rows.
    """

    plan: Plan
    wanted: frozenset[int]
    split: Split
    metrics: Sequence[Metric] | None
    seed: int
    memory: float = np.inf


def run_fold(task: FoldTask, data: Dataset, cache: PreparationCache | None = None) -> dict[int, Finding]:
    """The result of each wanted model, or the error that it met.

    Open ``random_state`` parameters are set from the seed of the run, the split and the place of the step, so that the
    result is the same in any process (an engine runs it on one thread). Preparations are taken from the `cache` of
    tasks on the same data, and added to it.
    """
    run = _FoldRun(task, data, PreparationCache(0) if cache is None else cache)
    train, test = task.split.train, task.split.test
    root = Rows(lambda _: Pair(_safe_indexing(data.X, train), _safe_indexing(data.X, test)), None, run.ledger)
    trail = (sha1(train.tobytes()).digest(),)
    run.descend(task.plan.root, root, _Path(Track(np.arange(data.n_features)), trail=trail))
    return run.results


@dataclass(frozen=True, eq=False)
class _Path:
    """The steps behind a branch: the columns that are left, the warnings and the time.

    In `seconds` shared time is divided equally among the models; `alone` is the time of one model without the others.
    `trail` is the key of the rows and the steps that transformed them.
    """

    track: Track
    warned: Warned = ()
    seconds: float = 0.0
    alone: float = 0.0
    trail: tuple[Hashable, ...] = ()

    def plus(self, clock: "_Clock", n_models: int, fitted: Any = None) -> "_Path":
        """The path after work that `n_models` share, and after a fitted step if there is one."""
        return replace(
            self,
            track=self.track if fitted is None else self.track.after(fitted),
            warned=self.warned + clock.warned,
            seconds=self.seconds + clock.seconds / n_models,
            alone=self.alone + clock.seconds,
        )

    def through(self, step: Hashable) -> "_Path":
        """The path with one more step on its trail."""
        return replace(self, trail=(*self.trail, step))


@dataclass(eq=False)
class _Clock:
    """Time and warnings of a block."""

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
    """The state of one fold."""

    def __init__(self, task: FoldTask, data: Dataset, cache: PreparationCache) -> None:
        self.task = task
        self._cache = cache
        self.ledger = Ledger(task.memory)
        self.results: dict[int, Finding] = {}
        self._data = data
        self._labels = data.y[task.split.train]
        self._seed = spawn(task.seed, *task.split.task)

    def descend(self, branch: Branch, rows: Rows, path: _Path) -> None:
        """Evaluate the wanted models below a branch."""
        for step in branch.steps:
            if step.models & self.task.wanted and not _late():
                self._run_step(step, rows, path)

    def _run_step(self, step: Step, rows: Rows, path: _Path) -> None:
        wanted = [i for i, b in enumerate(step.branches) if b.models & self.task.wanted]
        fits = Fits(step, step.copies(self._seed))
        key = (path.trail, fits.key) if fits.lasts else None
        known = None if key is None else self._cache.get(key)
        try:
            with _clocked() as clock:
                fits.prepare(rows.get().train, self._labels, None if known is None else known.state)
        except Exception as error:
            self._fail(step.models, error)
            return
        path = path.plus(clock, len(step.models))
        if known is not None:
            path = replace(path, warned=path.warned + known.warned, alone=path.alone + known.seconds)
        elif fits.prepared is not None:
            self._cache.put(key, Preparation(fits.prepared, clock.warned, clock.seconds))
        ending = [place for place in wanted if step.branches[place].ends]
        for first in range(0, len(ending), _AT_ONCE):
            if _late():
                return
            self._evaluate(step, fits, ending[first : first + _AT_ONCE], rows, path)
        going = [place for place in wanted if step.branches[place].steps]
        if len(going) > 1 and fits.selects:
            self._narrow(step, fits, going, rows, path)
        else:
            for place in going:
                self._go_on(step, fits, place, rows, path)

    def _go_on(self, step: Step, fits: Fits, place: int, rows: Rows, path: _Path) -> None:
        """Run the steps after one estimator of a step."""
        if _late():
            return
        branch = step.branches[place]
        try:
            with _clocked() as clock:
                fitted = fits.fitted(place, rows.get().train, self._labels)
                after = Rows(fits.transform(place, self._labels), rows, self.ledger)
                after.get()
        except Exception as error:
            self._fail(branch.models, error)
            return
        self.descend(branch, after, path.plus(clock, len(branch.models), fitted).through(fits.key_at(place)))
        after.release()

    def _narrow(self, step: Step, fits: Fits, places: list[int], rows: Rows, path: _Path) -> None:
        """Run the steps after several selectors: columns that none of them selects are removed once."""
        chosen: dict[int, tuple[Any, _Path]] = {}
        for place in places:
            if _late():
                return
            branch = step.branches[place]
            try:
                with _clocked() as clock:
                    fitted = fits.fitted(place, rows.get().train, self._labels)
                chosen[place] = (fitted, path.plus(clock, len(branch.models)))
            except Exception as error:
                self._fail(branch.models, error)
        supports = {place: fitted.get_support() for place, (fitted, _) in chosen.items()}
        if not _worth_narrowing(list(supports.values()), rows.get()):
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
            behind = behind.plus(clock, len(branch.models)).through(fits.key_at(place))
            self.descend(branch, after, replace(behind, track=behind.track.narrowed(supports[place])))
            after.release()
        narrowed.release()

    def _evaluate(self, step: Step, fits: Fits, ending: list[int], rows: Rows, path: _Path) -> None:
        """Evaluate some of the models that end in a step."""
        fitted: dict[int, tuple[Any, _Path]] = {}
        for place in ending:
            branch = step.branches[place]
            try:
                with _clocked() as clock:
                    model = fits.fitted(place, rows.get().train, self._labels)
                fitted[place] = (model, path.plus(clock, len(branch.ends), model))
            except Exception as error:
                self._fail(frozenset(branch.ends), error)
        for place, (output, clock, together) in self._predict(fits, fitted, rows).items():
            ends = step.branches[place].ends
            try:
                result = self._result(output, fitted[place][1], clock, together * len(ends))
            except Exception as error:
                self._fail(frozenset(ends), error)
                continue
            for model in ends:
                self.results[model] = result
        fits.forget(ending)
        if (report := listener.get()) is not None:
            report(len(self.results))

    def _predict(
        self, fits: Fits, fitted: dict[int, tuple[Any, _Path]], rows: Rows
    ) -> dict[int, tuple[Predicted, _Clock, int]]:
        """The output of fitted models for the test rows, the time it took, and the number of models in that time."""
        test = rows.get().test
        models = {place: model for place, (model, _) in fitted.items()}
        if fits.together and len(models) > 1:
            try:
                with _clocked() as clock:
                    outputs = predict_together(list(models.values()), test)
            except Exception:
                clock = None  # one of them fails: they predict one by one below
            if clock is not None:
                return {place: (one, clock, len(models)) for place, one in zip(models, outputs, strict=True)}
        found = {}
        for place, model in models.items():
            try:
                with _clocked() as clock:
                    found[place] = (predict_rows(model, test), clock, 1)
            except Exception as error:
                self._fail(frozenset(fits.step.branches[place].ends), error)
        return found

    def _result(self, output: Predicted, path: _Path, predicting: _Clock, n_models: int) -> FoldResult:
        split = self.task.split
        with _clocked() as clock:
            predictions = fold_predictions(output, self._data, split)
            metrics = measured(predictions, self.task.metrics)
        used = path.track.origins
        return FoldResult(
            repeat=split.repeat,
            fold=split.fold,
            rows=split.test,
            n_train=split.train.size,
            predictions=predictions,
            metrics=metrics,
            selected=None if used is None else np.unique(used),
            n_features=self._data.n_features,
            fit_seconds=path.seconds,
            predict_seconds=predicting.seconds / n_models,
            alone_seconds=path.alone + predicting.seconds,
            warnings=tuple(dict.fromkeys(path.warned + predicting.warned + clock.warned)),
        )

    def _fail(self, models: frozenset[int], error: Exception) -> None:
        message = str(error).strip().partition("\n")[0] or type(error).__name__
        split = self.task.split
        refusal = TamisError(f"repeat {split.repeat + 1}, fold {split.fold + 1}: {message}")
        refusal.__cause__ = error
        self.results.update(dict.fromkeys(models & self.task.wanted, refusal))


def _late() -> bool:
    end = deadline.get()
    return end is not None and monotonic() > end


def _worth_narrowing(supports: list[np.ndarray], rows: Pair) -> bool:
    """Whether it pays to remove the columns that no selector selects; not for tables."""
    plain = all(isinstance(part, np.ndarray) or sp.issparse(part) for part in rows)
    if not plain or not supports or not all(support.any() for support in supports):
        return False
    return bool(np.logical_or.reduce(supports).mean() <= _NARROW)


def _columns(mask: np.ndarray) -> Callable[[Pair], Pair]:
    return lambda before: Pair(before.train[:, mask], before.test[:, mask])
