"""``tamis.rank``: the features of a data set in order of a score."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of
from tamis.base.task import WantedTask
from tamis.compose.catalog import entry
from tamis.compose.chain import Chain
from tamis.compose.fit_by_columns import fit_by_columns
from tamis.compose.recipe import completed_for, parse
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
    if y is None and isinstance(data, str | PathLike):
        dataset = load(data, target, reading=Reading(text=tuple(text), task=task))
    else:
        dataset = sensed(data, y, text=text, task=task)
    chain = completed_for(dataset, chain)
    *front, selector = _fitted(chain.build(dataset.task), dataset)
    names: Any = dataset.feature_names
    for step in front:
        names = step.get_feature_names_out(names)
    order = selector.order_
    table: dict[str, Any] = {
        "rank": np.arange(1, order.size + 1),
        "feature": [str(names[column]) for column in order],
        "column": order,
        "score": selector.scores_[order],
        "selected": selector.support_[order],
    }
    if dataset.roles is not None and len(names) == dataset.n_features:
        table["role"] = [str(role) for role in dataset.roles[order]]
    return pl.DataFrame(table)


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
