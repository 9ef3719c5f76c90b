"""The columns of a file that a selection keeps in the folds of a validation, read in one pass."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.compose.streamed import StreamedTable, check_prefilter
from tamis.data.dataset import Dataset
from tamis.data.prefilter import Prefilter
from tamis.data.reading import Reading
from tamis.engines.progress import Wanted
from tamis.streaming.scores import Folds
from tamis.validation.experiment import Experiment
from tamis.validation.folds import Split

#: Sets of training rows that need a pass of their own over the rows in memory, at most.
_MOST = 50


def prefiltered(
    path: "str | os.PathLike[str]",
    prefilter: str,
    splits: Callable[[Dataset], Sequence[Split]],
    *,
    target: str | None = None,
    reading: Reading | None = None,
    group: str | None = None,
    memory: float | None = None,
    engine: str | None = None,
    progress: Wanted = None,
) -> Dataset:
    """The data set of the columns that a selection keeps on the training rows of some split, or on all rows.

    The file is read piece by piece, and once for all splits. A recipe that begins with the selection selects among
    these columns what it would select among all, in each split: a score of one column does not depend on the others.

    Parameters
    ----------
    path : path
        A Parquet, CSV or svmlight file, or a folder of Parquet files.
    prefilter : str
        A score that is a sum over rows, with a number of columns: ``"ig(5000)"``.
    splits : callable
        ``splits(data) -> list of Split`` of the rows that have a target.
    target, reading, group, memory, engine, progress
        As in :meth:`tamis.compose.streamed.StreamedTable.open`.

    Returns
    -------
    Dataset
        Its `prefilter` keeps it to these splits, and to recipes that begin with the selection.

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.validation.folds import StratifiedFolds
    >>> path = getfixture("tmp_path") / "big.csv"
    >>> rng = np.random.default_rng(0)
    >>> frame = pl.DataFrame(rng.normal(size=(60, 30)), schema=[f"g{j}" for j in range(30)])
    >>> frame.with_columns(pl.Series("class", np.arange(60) % 2)).write_csv(path)
    >>> data = prefiltered(path, "f(3)", lambda data: StratifiedFolds(5).splits(data.y), engine="serial")
    >>> data.prefilter.recipe, 3 < data.n_features < 30
    ('f(3)', True)
    """
    check_prefilter(prefilter)
    source = StreamedTable.open(path, target, reading, group=group, memory=memory, engine=engine, progress=progress)
    rows = source.target.labelled
    found = splits(rows)
    data, chain = source.prefiltered(prefilter, divisions_of(found, source.target.rows, source.target.n_rows))
    made = Prefilter.of(str(chain), (split.train for split in found))
    return replace(data, prefilter=made)


def divisions_of(splits: Iterable[Split], known: np.ndarray, n_rows: int) -> list[Folds]:
    """How the rows of a table are divided, so that sums over the parts give those of all training rows.

    Splits whose training rows are all but their test rows share a division while their test rows differ; any other
    training rows are a part of their own.

    Parameters
    ----------
    splits : iterable of Split
        Of the rows with a target.
    known : array of shape (n_labelled,)
        The numbers of these rows in the table.
    n_rows : int
        Rows of the table.

    Examples
    --------
    >>> splits = [Split(np.array([1, 2]), np.array([0])), Split(np.array([0]), np.array([1, 2])),
    ...           Split(np.array([0, 1]), np.array([2]))]
    >>> [(one.part.tolist(), one.n_folds) for one in divisions_of(splits, np.arange(3), 3)]
    [([0, 1, 1], 2), ([-1, -1, 0], 1)]
    """
    shared: list[list[np.ndarray]] = []
    used: list[np.ndarray] = []
    single: list[np.ndarray] = []
    for split in splits:
        if np.unique(split.train).size != split.train.size:
            raise TamisError("a prefilter takes folds: bootstrap samples have rows several times")
        if split.train.size + split.test.size < known.size:
            single.append(split.train)
            continue
        place = next((i for i, taken in enumerate(used) if not taken[split.test].any()), len(used))
        if place == len(used):
            shared.append([])
            used.append(np.zeros(known.size, dtype=bool))
        shared[place].append(known[split.test])
        used[place][split.test] = True
    if len(shared) + len(single) > _MOST:
        raise TamisError(f"a prefilter takes at most {_MOST} repeats of folds; got {len(shared) + len(single)}")
    own = [Folds.inside(known[train], n_rows) for train in single]
    return [*(Folds.of(tests, n_rows) for tests in shared), *own]


def for_folds(
    path: Any,
    prefilter: str,
    *,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    seed: int = 0,
    **reading: Any,
) -> Dataset:
    """The data set for the folds of a validation; further arguments are those of :func:`prefiltered`."""
    if split not in (None, "folds"):
        raise TamisError(f"a prefilter takes split 'folds'; got {split!r}")
    if not isinstance(path, str | os.PathLike):
        raise TamisError(f"a prefilter takes the path of a file or a folder; got {type(path).__name__}")

    def splits(data: Dataset) -> Sequence[Split]:
        return Experiment.of(data, split=split, folds=folds, repeats=repeats, seed=seed).splits

    return prefiltered(path, prefilter, splits, **reading)
