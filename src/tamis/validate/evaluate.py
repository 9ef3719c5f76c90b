"""Many models on the same splits: every model is fitted on the training rows and judged on the test rows of each."""

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from tamis.validate.cases import Cases
from tamis.validate.fold import FoldResult, evaluate_fold
from tamis.validate.folds import Split
from tamis.validate.metrics import Metric


def evaluate_all(
    models: Sequence[Any],
    given: Cases,
    splits: Sequence[Split],
    *,
    metrics: Sequence[Metric] | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[list[FoldResult]]:
    """The results of every model, in the order of the models; of each model in the order of the splits.

    Parameters
    ----------
    models : sequence of estimators
    given : Cases
    splits : sequence of Split
    metrics : sequence of Metric, optional
        By default all that the model's answers allow; an empty one computes none.
    seed : int, default=0
        The seed of the run.
    n_jobs : int, default=1
        Processes; the result does not depend on it.
    progress : callable, optional
        Called with the number of results that are there and the number in all.
    """
    tasks = [(model, split) for model in models for split in splits]
    found: list[FoldResult] = []
    work = (
        delayed(evaluate_fold)(model, given.X, given.y, split, classes=given.classes, metrics=metrics, seed=seed)
        for model, split in tasks
    )
    for result in Parallel(n_jobs=n_jobs, return_as="generator")(work):
        found.append(result)
        if progress is not None:
            progress(len(found), len(tasks))
    return [found[i * len(splits) : (i + 1) * len(splits)] for i in range(len(models))]
