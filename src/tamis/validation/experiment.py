"""An experiment: a data set, a scheme of splits, metrics and a seed, and the estimates that follow."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.base.task import WantedTask
from tamis.base.validation import check_whole
from tamis.compose.recipe import to_text
from tamis.data.dataset import Dataset
from tamis.data.probes import add_probes
from tamis.validation.bootstrap import Bootstrap, estimate_632plus
from tamis.validation.estimates import over_folds, pooled
from tamis.validation.execute.driver import Driver, Outcome
from tamis.validation.fold_result import FoldResult, possible_metrics
from tamis.validation.folds import LeaveOneOut, OfficialSplit, Pooled, Scheme, Split, StratifiedFolds, stratify_by
from tamis.validation.metrics import Metric, chosen, standard_error
from tamis.validation.result import Estimate, Validation
from tamis.validation.stability import stability


@dataclass(frozen=True, eq=False)
class Experiment:
    """A data set and its splits, on which models are validated; `metrics` None means all that predictions allow.

    `given` is the data without probes, if some were added.
    """

    data: Dataset
    scheme: Scheme
    splits: tuple[Split, ...]
    metrics: tuple[Metric, ...] | None
    seed: int
    given: Dataset | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        *,
        split: str | None = None,
        folds: int = 10,
        repeats: int | None = None,
        groups: Any = None,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        probes: float = 0.0,
        seed: int = 0,
        task: WantedTask = "auto",
    ) -> "Experiment":
        """Check the input and split the rows; the parameters are those of :func:`tamis.validation.whole.validate`."""
        check_whole("seed", seed, 0)
        splitter = scheme(split, folds=folds, repeats=repeats)
        if probes < 0:
            raise TamisError(f"probes must be a share of 0 or more; got {probes}")
        data, given = Dataset.of(X, y, groups=groups, task=task), None
        checked = None if metrics is None else chosen(metrics, data.task)
        if probes:
            given = data
            data, _ = add_probes(data, probes, seed=seed)
        return cls(data, splitter, (), checked, seed, given)._split()

    def relabelled(self, labels: np.ndarray) -> "Experiment":
        """The same with other classes and new splits for them."""
        return replace(self, data=replace(self.data, y=labels))._split()

    def _split(self) -> "Experiment":
        data = self.data
        if data.task == "classify" and not isinstance(self.scheme, OfficialSplit):
            _check_two_left(data)
        labels = stratify_by(data.y, data.task, self.scheme.folds)
        splits = self.scheme.splits(labels, groups=data.groups, parts=data.split, seed=self.seed)
        return replace(self, splits=tuple(splits))

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows in any split, in order."""
        found = np.zeros(self.data.n_rows, dtype=bool)
        for split in self.splits:
            found[split.train] = found[split.test] = True
        return np.flatnonzero(found)

    @property
    def fold_metrics(self) -> tuple[Metric, ...] | None:
        """The metrics to compute in each split: none where they are computed on all predictions together."""
        return () if self.scheme.one_test else self.metrics

    def driver(self, *, engine: str | None = None, n_jobs: int = 1, memory: float | None = None) -> Driver:
        """The :class:`~tamis.validation.execute.driver.Driver` of this data."""
        return Driver(self.data, seed=self.seed, engine=engine, n_jobs=n_jobs, memory=memory)

    def outcomes(
        self, models: Sequence[Any], *, progress: Callable[[int, int], None] | None = None, **options: Any
    ) -> list[Outcome]:
        """The outcome of every model on all splits; the options are those of :meth:`driver`."""
        apparent = (self.scheme.apparent_split(self.data.y),) if isinstance(self.scheme, Bootstrap) else ()
        with self.driver(**options) as driver:
            return driver.outcomes(models, self.splits + apparent, metrics=self.fold_metrics, progress=progress)

    def validation(self, model: Any, results: Sequence[FoldResult]) -> Validation:
        """The estimate of a model from its results on all splits, in order."""
        folds = results[: len(self.splits)]
        codes, predictions = pooled(folds, self.data.classes)
        metrics = self.metrics
        if metrics is None:
            metrics = possible_metrics(codes)
        n_train, n_test = np.array([r.n_train for r in folds]), np.array([r.rows.size for r in folds])
        if self.scheme.one_test:
            values = {m.name: np.array([m(codes)]) for m in metrics}
            errors = {m.name: standard_error(m, codes, seed=spawn(self.seed)) for m in metrics}
            estimates = {name: Estimate(float(v[0]), float("nan"), errors[name]) for name, v in values.items()}
        else:
            values = {m.name: np.array([r.metrics[m.name] for r in folds]) for m in metrics}
            estimates = {name: over_folds(v, n_test.mean() / n_train.mean()) for name, v in values.items()}
        if len(folds) < len(results):
            out, rows, whole = [r.predictions for r in folds], [r.rows for r in folds], results[-1].predictions
            estimates = {m.name: estimate_632plus(m, whole, out, rows) for m in metrics}
        selected = tuple(r.selected for r in folds if r.selected is not None)
        known, n_features = len(selected) == len(folds), folds[0].n_features
        probe_share = None
        if known and (probes := self.data.probes) is not None:
            probe_share = float(np.mean([probes[s].mean() if s.size else 0.0 for s in selected]))
        return Validation(
            recipe=to_text(model),
            data=self.data.name,
            split=str(self.scheme),
            seed=self.seed,
            classes=self.data.classes,
            metrics=metrics,
            values=values,
            estimates=estimates,
            predictions=predictions,
            n_train=n_train,
            n_test=n_test,
            n_features=n_features,
            selected=selected if known else None,
            stability=stability(selected, n_features) if known else None,
            probe_share=probe_share,
            fit_seconds=np.array([r.fit_seconds for r in folds]),
            predict_seconds=np.array([r.predict_seconds for r in folds]),
            source=self.data if self.given is None else self.given,
        )


def _check_two_left(data: Dataset) -> None:
    """Refuse two classes of which one has a single row: without it there is nothing to learn from."""
    classes, counts = np.unique(data.y, return_counts=True)
    if classes.size == 2 and counts.min() == 1:
        raise TamisError(
            f"{data.name}: class {classes[counts.argmin()]!s} has one row; where it is a test row, the training rows "
            "are of one class, so that no model can be fitted"
        )


def scheme(split: str | None = None, *, folds: int = 10, repeats: int | None = None) -> Scheme:
    """The scheme called "folds" (the default), "pooled", "official", "leave-one-out" or "bootstrap".

    `repeats` is 1 for folds and 100 for the bootstrap by default.

    Examples
    --------
    >>> print(scheme("pooled", folds=5))
    5 stratified folds of the pooled rows
    """
    if split == "bootstrap":
        return Bootstrap() if repeats is None else Bootstrap(repeats)
    repeats = 1 if repeats is None else repeats
    if split in (None, "folds"):
        return StratifiedFolds(folds, repeats)
    if split == "pooled":
        return Pooled(StratifiedFolds(folds, repeats))
    single: dict[str | None, Scheme] = {"official": OfficialSplit(), "leave-one-out": LeaveOneOut()}
    if split not in single:
        raise TamisError(f"split must be folds, pooled, official, leave-one-out or bootstrap; got {split!r}")
    if repeats != 1:
        raise TamisError(f"split {split!r} is the same every time: repeats must be 1; got {repeats}")
    return single[split]
