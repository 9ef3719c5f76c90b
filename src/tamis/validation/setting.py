"""What validations of several models have in common: the rows, the splits, the measures and the seed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tamis.base.validation import check_whole
from tamis.compose.recipe import to_text
from tamis.validation.bootstrap import Bootstrap, estimate_632plus
from tamis.validation.cases import Cases, cases
from tamis.validation.estimates import gather
from tamis.validation.execute.driver import Outcome, try_all
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Scheme, Split
from tamis.validation.metrics import Metric, chosen
from tamis.validation.result import Validation
from tamis.validation.scheme import scheme


@dataclass(frozen=True, eq=False)
class Setting:
    """Rows and splits, ready for models.

    Attributes
    ----------
    given : Cases
    way : Scheme
        How the rows are split.
    splits : tuple of Split
    measures : tuple of Metric, or None for all that the answers allow
    seed : int
    """

    given: Cases
    way: Scheme
    splits: tuple[Split, ...]
    measures: tuple[Metric, ...] | None
    seed: int

    @property
    def rows(self) -> np.ndarray:
        """The rows that take part in any split, in order."""
        return np.unique(np.concatenate([rows for s in self.splits for rows in (s.train, s.test)]))

    def outcomes(
        self,
        models: Sequence[Any],
        *,
        n_jobs: int = 1,
        memory: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Outcome]:
        """What came of every model on all splits."""
        apparent = (self.way.apparent_split(self.given.y),) if isinstance(self.way, Bootstrap) else ()
        return try_all(
            models,
            self.given,
            self.splits + apparent,
            metrics=() if self.way.one_test else self.measures,
            seed=self.seed,
            n_jobs=n_jobs,
            memory=memory,
            progress=progress,
        )

    def validation(self, model: Any, results: Sequence[FoldResult]) -> Validation:
        """The estimate of a model from its results on all splits."""
        samples = results[: len(self.splits)]
        found = gather(
            samples,
            self.given,
            self.measures,
            recipe=to_text(model),
            split=str(self.way),
            seed=self.seed,
            together=self.way.one_test,
        )
        if len(samples) == len(results):
            return found
        out, rows = [r.answers for r in samples], [r.rows for r in samples]
        whole = results[-1].answers
        return replace(found, estimates={m.name: estimate_632plus(m, whole, out, rows) for m in found.metrics})


def setting(
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
) -> Setting:
    """Check what was given and split the rows; the parameters are those of :func:`tamis.validation.whole.validate`."""
    check_whole("seed", seed, 0)
    measures = None if metrics is None else chosen(metrics)
    way = scheme(split, folds=folds, repeats=repeats)
    given = cases(X, y, groups=groups, probes=probes, seed=seed)
    splits = way.splits(given.y, groups=given.groups, parts=given.parts, seed=seed)
    return Setting(given, way, tuple(splits), measures, seed)
