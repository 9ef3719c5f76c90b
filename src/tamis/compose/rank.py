"""``tamis.rank``: the features of a data set in order of a score."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray, Mask
from tamis.compose.catalog import entry
from tamis.compose.chain import Chain
from tamis.compose.fit_by_columns import fit_by_columns
from tamis.compose.recipe import completed_for, parse
from tamis.compose.streamed import RankingStep, StreamedTable, is_streamed
from tamis.data.column_sense import sensed
from tamis.data.dataset import Dataset
from tamis.data.load import load
from tamis.data.reading import Reading


def rank(
    data: "str | PathLike[str] | Dataset | Any",
    y: Any = None,
    *,
    by: str = "cc",
    target: str | None = None,
    text: Sequence[str] = (),
    task: WantedTask = "auto",
    memory: float | None = None,
    engine: str | None = None,
) -> pl.DataFrame:
    """Rank the features of a data set, on all its labelled rows.

    A ranking describes the rows it was made on. To know how well a model built on it predicts, validate the whole
    recipe, which ranks anew inside each fold.

    Parameters
    ----------
    data : str, path, Dataset, array, sparse matrix or data frame
        A file, the name of a data set, or rows.
    y : array of shape (n_rows,), optional
        Class labels or numbers, when `data` are rows.
    by : str, default="cc"
        A score, or any recipe that ends in a selector: ``"t(fdr=0.05)"``. Where the data needs it, ``impute`` and
        ``encode`` are put in front.
    target : str, optional
        The class column of a file, when its name does not tell.
    text : sequence of str
        Columns of a file or a data frame that are text, whose words become features.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default its values tell.

    memory : float, optional
        Bytes of memory for a file that is then read piece by piece. A folder of Parquet files, and a file that would
        take more than half of the free memory, are read so anyway (:mod:`tamis.compose.streamed`).
    engine : str, optional
        Who reads such a file: "serial", "local" (a process for each core, the default), "local(3)" or
        "dask://host:port", whose workers read it by its path.

    Returns
    -------
    polars.DataFrame
        One row a feature, the best first: "rank" (1 is best), "feature", "column" (counted from 0), "score",
        "selected", and "role" where it is known which features are real.

    See Also
    --------
    tamis.validate : The error of a whole recipe, of which a ranking is one step.

    Examples
    --------
    >>> import tamis
    >>> tamis.rank("madelon-like", by="ssv(20)")["selected"].sum()
    20
    """
    chain = check_selects(by)
    if y is None and isinstance(data, str | PathLike) and is_streamed(data, memory):
        found = StreamedTable.open(data, target, Reading(text=tuple(text), task=task), memory=memory, engine=engine)
        return streamed_rank(found, chain)[0]
    if engine is not None:
        raise TamisError("engine is for files that are read piece by piece: set memory too")
    if y is None and isinstance(data, str | PathLike):
        dataset = load(data, target, reading=Reading(text=tuple(text), task=task))
    else:
        dataset = sensed(data, y, text=text, task=task)
    return _ranked(dataset, completed_for(dataset, chain))


def streamed_rank(source: StreamedTable, chain: Chain) -> tuple[pl.DataFrame, list[str]]:
    """The table of :func:`rank` for a file that is read piece by piece, and notes on how it was read."""
    step = RankingStep.of(chain.parts[0])
    notes = [*source.table.notes, *source.target.labelled.notes]
    if len(chain.parts) == 1 and step is not None and source.can_read(step):
        found = source.ranking(step)
        table = _table(source.table.feature_names, found.order, found.values, found.support)
        return table, [*notes, *found.notes]
    data, rest = source.prepared(chain)
    ranked = _ranked(data, completed_for(data, rest))
    if data.n_features < len(source.table.feature_names):
        places = np.flatnonzero(np.isin(source.table.feature_names, data.feature_names))
        ranked = ranked.with_columns(column=places[ranked["column"].to_numpy()])
    return ranked, list(data.notes)


def _ranked(dataset: Dataset, chain: Chain) -> pl.DataFrame:
    *front, selector = _fitted(chain.build(dataset.task), dataset)
    names: Any = dataset.feature_names
    for step in front:
        names = step.get_feature_names_out(names)
    table = _table(names, selector.order_, selector.scores_, selector.support_)
    places = {name: place for place, name in enumerate(dataset.feature_names.tolist())}
    origins = [places.get(name) for name in np.asarray(names).tolist()]
    if None not in origins:
        # Behind a selection the columns have other positions than in the data.
        table = table.with_columns(column=np.array(origins)[selector.order_])
    if dataset.roles is not None and len(names) == dataset.n_features:
        table = table.with_columns(role=pl.Series([str(role) for role in dataset.roles[selector.order_]]))
    return table


def _table(names: Any, order: np.ndarray, values: FloatArray, support: Mask) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "rank": np.arange(1, order.size + 1),
            "feature": [str(names[column]) for column in order],
            "column": order,
            "score": values[order],
            "selected": support[order],
        }
    )


def _fitted(model: Any, data: Dataset) -> list[Any]:
    """The fitted steps of a model."""
    steps = steps_of(model)
    return steps if fit_by_columns(steps, data.X, data.y) else steps_of(model.fit(data.X, data.y))


def check_selects(text: str) -> Chain:
    """Read a recipe that must end in a selector."""
    chain = parse(text)
    chain.build()
    last = str(chain.parts[-1]).partition("(")[0]
    if not entry(last).selects:
        raise TamisError(f"{last} is not a selector: rank takes a recipe that ends in one")
    return chain
