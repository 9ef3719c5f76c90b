"""The columns of a file that a selection keeps in the folds of a search."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.mining.trials import inner_folds as split_rows
from tamis.validation.folds import Split, stratify_by
from tamis.validation.prefilter import prefiltered


def for_search(
    path: Any,
    prefilter: str,
    *,
    inner_folds: int,
    split: str | None,
    estimate: str,
    seed: int,
    **reading: Any,
) -> Dataset:
    """The data set for a search whose honest estimate is that of the bootstrap.

    Further arguments are those of :func:`tamis.validation.prefilter.prefiltered`.
    """
    if split not in (None, "folds"):
        raise TamisError(f"a prefilter takes split 'folds'; got {split!r}")
    if estimate == "nested":
        raise TamisError("a prefilter takes the estimate by the bootstrap; got estimate 'nested'")
    if not isinstance(path, str | os.PathLike):
        raise TamisError(f"a prefilter takes the path of a file or a folder; got {type(path).__name__}")

    def splits(data: Dataset) -> Sequence[Split]:
        labels = stratify_by(data.y, data.task, inner_folds)
        found = split_rows(
            np.arange(data.n_rows), labels, data.groups, search=0, folds=inner_folds, seed=seed, task=data.task
        )
        return found.splits

    return prefiltered(path, prefilter, splits, **reading)
