"""The learning curve: how well a whole model does with fewer training rows, and whether more would help."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.task import WantedTask
from tamis.base.types import Codes
from tamis.data.dataset import Dataset
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.bootstrap import strata
from tamis.validation.estimates import over_folds
from tamis.validation.execute.driver import expect_results, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split, stratify_by
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric
from tamis.validation.models import as_estimators
from tamis.validation.result import Result, Validation, figure

#: Key of the order of the training rows among the seeds of a split.
_ORDER = 2**31

#: Standard errors beyond which a gain is clear.
_CLEAR = 2.0


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result):
    """The estimate of a model for each number of training rows.

    Attributes
    ----------
    recipe, data, split : str
    sizes : tuple of float or int
        The sizes given, in order of rows.
    validations : tuple of Validation
        One a size; its ``n_train`` holds the numbers of training rows.
    """

    recipe: str
    data: str
    split: str
    sizes: tuple[float | int, ...]
    validations: tuple[Validation, ...]

    @property
    def metric(self) -> Metric:
        """The main metric."""
        return self.validations[0].metrics[0]

    @property
    def rows(self) -> np.ndarray:
        """Mean number of training rows for each size."""
        return np.array([v.n_train.mean() for v in self.validations])

    @property
    def last_gain(self) -> tuple[float, float]:
        """Improvement of the main metric from the last size but one to the last, and its standard error.

        Over folds it is the mean of the paired differences, with the corrected standard error of
        :func:`tamis.validation.whole.validate`. Where metrics are computed on all predictions together, the two
        estimates are taken as independent, which makes the standard error too large. NaN for a single size.
        """
        if len(self.validations) < 2:
            return float("nan"), float("nan")
        name, sign = self.metric.name, 1.0 if self.metric.better == "high" else -1.0
        before, after = self.validations[-2:]
        first, second = before.estimates[name], after.estimates[name]
        paired = over_folds(after.values[name] - before.values[name], after.n_test.mean() / after.n_train.mean())
        if np.isnan(paired.sd):
            return sign * (second.mean - first.mean), float(np.hypot(first.se, second.se))
        return sign * paired.mean, paired.se

    def sentence(self) -> str:
        """Whether more rows would help, by the last gain."""
        gain, se = self.last_gain
        if np.isnan(gain) or np.isnan(se):
            return "whether more rows would help is unknown: it takes two sizes with a value and an error"
        rows, change = self.rows[-2:], f"{'improves' if gain >= 0 else 'worsens'} by {abs(gain):.4f}"
        step = f"from {rows[0]:g} to {rows[1]:g} training rows {self.metric.title} {change} +- {se:.4f}"
        if gain > _CLEAR * se:
            return f"more rows would probably help: {step}"
        if gain < -_CLEAR * se:
            return f"more rows do not help: {step}"
        return f"no clear sign that more rows would help: {step}"

    def table(self) -> list[dict[str, Any]]:
        """One row a size: the size, the mean number of training rows, and each metric's mean and standard error."""
        rows = []
        for size, n_train, found in zip(self.sizes, self.rows, self.validations, strict=True):
            row = {"size": size, "rows": n_train}
            for name, e in found.estimates.items():
                row |= {name: e.mean, f"{name}_se": e.se}
            rows.append(plain(row))
        return rows

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        gain, se = self.last_gain
        content = {
            **{name: getattr(self, name) for name in ("recipe", "data", "split")},
            "metric": self.metric.name,
            "table": self.table(),
            "last_gain": gain,
            "last_gain_se": se,
            "sentence": self.sentence(),
        }
        return {**plain(content), "validations": [v.to_dict(seconds=seconds) for v in self.validations]}

    def __str__(self) -> str:
        lines = [self.recipe, f"{self.data}: {self.split}", f"  {'size':>6}  {'rows':>8}  {self.metric.title}"]
        for size, rows, found in zip(self.sizes, self.rows, self.validations, strict=True):
            e = found.estimates[self.metric.name]
            lines.append(f"  {size!s:>6}  {rows:>8g}  {figure(e.mean)} +- {figure(e.se)}")
        return "\n".join([*lines, self.sentence()])


def learning_curve(
    models: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Iterable[float | int] = (0.1, 0.25, 0.5, 0.75, 1.0),
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    groups: Any = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    task: WantedTask = "auto",
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    memory: float | None = None,
    progress: Wanted = None,
) -> LearningCurve | list[LearningCurve]:
    """Estimate how well whole models do with fewer training rows.

    In every split the training rows get a random stratified order, and each size takes the first of them: a smaller
    training set is part of every larger one, and all have the same test rows. Groups stay whole: a size takes the
    fewest groups that hold its rows.

    Parameters
    ----------
    models : estimator, str or list of them
        Models or recipes; a recipe may stand for many.
    X, y, split, folds, repeats, groups, metrics, task, seed, n_jobs, engine
        As in :func:`tamis.validation.whole.validate`, but without "bootstrap".
    sizes : sequence of float or int
        Shares of the training rows (0.5, 1.0) or numbers of rows (20).
    memory : float, optional
        Most bytes of rows that models share; see :class:`tamis.validation.execute.driver.Driver`.
    progress : callable or bool, optional
        Called with the number of fits done and their total; see :func:`tamis.validation.whole.validate`.

    Returns
    -------
    LearningCurve or list of LearningCurve
        A list when `models` is a list or stands for many.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.tile([0, 1], 50)
    >>> X = rng.normal(size=(100, 20)) + 0.5 * y[:, None]
    >>> curve = learning_curve(GaussianNB(), X, y, sizes=(0.1, 1.0), folds=5, metrics="accuracy")
    >>> curve.rows.tolist(), [round(v.summary()["accuracy"].mean, 2) for v in curve.validations]
    ([8.0, 80.0], [0.51, 0.79])
    """
    wanted = _sizes(sizes)
    if split == "bootstrap":
        raise TamisError("split must be folds, pooled, official or leave-one-out for a learning curve; got 'bootstrap'")
    experiment = Experiment.of(
        X, y, split=split, folds=folds, repeats=repeats, groups=groups, metrics=metrics, seed=seed, task=task
    )
    estimators = as_estimators(models, experiment.data)
    steps = _steps(wanted, experiment)
    done, total = 0, len(steps) * len(experiment.splits) * len(estimators)
    all_results: list[FoldResult] = []
    curves: list[list[Validation]] = [[] for _ in estimators]

    def tick(own: int, _: int) -> None:
        if step is not None:
            step(done + own, total)

    with (
        progress_bar("fitting on fewer rows", progress) as step,
        experiment.driver(engine=engine, n_jobs=n_jobs, memory=memory) as driver,
    ):
        for size, smaller in steps:
            try:
                results = expect_results(
                    driver.outcomes(estimators, smaller, metrics=experiment.fold_metrics, progress=tick)
                )
            except TamisError as error:
                raise TamisError(f"size {size}: {error}") from error
            done += len(smaller) * len(estimators)
            part = replace(experiment, splits=tuple(smaller))
            for curve, model, own in zip(curves, estimators, results, strict=True):
                all_results.extend(own)
                curve.append(replace(part.validation(model, own), split=f"{experiment.scheme}{_share(size)}"))
    warn_again(all_results)
    taken = tuple(size for size, _ in steps)
    found = [LearningCurve(v[0].recipe, v[0].data, str(experiment.scheme), taken, tuple(v)) for v in curves]
    return found if len(found) > 1 or isinstance(models, list | tuple) else found[0]


def _sizes(sizes: Iterable[float | int]) -> list[float | int]:
    wanted: list[Any] = [sizes] if isinstance(sizes, Real) else list(sizes)
    if not wanted:
        raise TamisError("sizes is empty; it takes shares of the training rows, or numbers of rows")
    for size in wanted:
        whole = isinstance(size, Integral) and not isinstance(size, bool) and int(size) >= 1
        share = isinstance(size, Real) and not isinstance(size, Integral) and 0 < float(size) <= 1
        if not whole and not share:
            raise TamisError(f"sizes must be shares above 0 and up to 1.0, or whole numbers of 1 or more; got {size!r}")
    return [int(size) if isinstance(size, Integral) else float(size) for size in wanted]


def _share(size: float | int) -> str:
    if isinstance(size, int):
        return f", {size} of the training rows"
    return "" if size == 1.0 else f", {size:.4g} of the training rows"


def _steps(wanted: Sequence[float | int], experiment: Experiment) -> list[tuple[float | int, list[Split]]]:
    """Every size with its splits, in order of rows."""
    data = experiment.data
    ordered = [(s, _order(data, s, experiment.seed)) for s in experiment.splits]
    steps = [(size, [_smaller(size, data, s, place) for s, place in ordered]) for size in wanted]
    steps.sort(key=lambda step: sum(s.train.size for s in step[1]))
    for (one, small), (other, large) in pairwise(steps):
        if all(a.train.size == b.train.size for a, b in zip(small, large, strict=True)):
            raise TamisError(f"sizes: {one} and {other} give the same training rows; leave one out")
    return steps


def _order(data: Dataset, split: Split, seed: int) -> Codes:
    """The place of each training row in a random stratified order of units (rows or groups), from 1."""
    labels = stratify_by(data.y[split.train], data.task)
    units, stratum = strata(labels, None if data.groups is None else data.groups[split.train])
    rng = generator(seed, *split.task, _ORDER)
    due = np.empty(stratum.size)
    for one in np.unique(stratum):
        members = np.flatnonzero(stratum == one)
        due[rng.permutation(members)] = np.arange(members.size) / members.size
    place = np.empty(stratum.size, dtype=np.intp)
    place[np.lexsort((stratum, due))] = np.arange(1, stratum.size + 1)
    return place[units]


def _smaller(size: float | int, data: Dataset, split: Split, place: Codes) -> Split:
    n = split.train.size
    rows = size if isinstance(size, int) else max(round(size * n), 1)
    where = f"repeat {split.repeat + 1}, fold {split.fold + 1}"
    if rows > n:
        raise TamisError(f"sizes: {where} has {n} training rows; got {size}")
    last = int(np.searchsorted(np.cumsum(np.bincount(place)), rows))
    train = split.train[place <= last]
    found, total = np.unique(data.y[train]).size, np.unique(data.y[split.train]).size
    if found < total and data.task == "classify":
        raise TamisError(
            f"sizes: {size} gives {train.size} training rows in {where}, with {found} of {total} classes; "
            "take a larger size"
        )
    return Split(train, split.test, split.repeat, split.fold, split.within)
