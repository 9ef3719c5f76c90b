"""Outlying rows of a data set explained: their subspaces, the values there and those of their neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.engines.progress import Wanted
from tamis.outliers.highdod import HighDOD
from tamis.outliers.outlying_row import OutlyingRow

#: Subspaces of a row whose values are shown.
SHOWN = 5

#: Levels of a nominal column that are named.
_LEVELS = 3


@dataclass(frozen=True)
class ColumnValues:
    """A column of a subspace.

    Attributes
    ----------
    name : str
    value : str
        The row's own.
    nearest : str
        Those of its neighbours in the subspace: one, the lowest and the highest, or the levels.
    """

    name: str
    value: str
    nearest: str


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """A row, and the values in the first of its subspaces.

    Attributes
    ----------
    found : OutlyingRow
    neighbours : list of int array
        For each of the first subspaces the nearest rows there, by their numbers from 0.
    values : list of list of ColumnValues
        For each of the first subspaces its columns.
    """

    found: OutlyingRow
    neighbours: list[np.ndarray]
    values: list[list[ColumnValues]]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; rows are counted from 1."""
        facts = self.found.to_dict()
        for one, near, columns in zip(facts["subspaces"], self.neighbours, self.values, strict=False):
            one["neighbours"] = (near + 1).tolist()
            one["values"] = {each.name: {"row": each.value, "nearest": each.nearest} for each in columns}
        return {**facts, "row": None if self.found.row is None else self.found.row + 1}


@dataclass(frozen=True, eq=False)
class Explained:
    """Rows of a data set with the subspaces in which they are outlying.

    Attributes
    ----------
    data : Dataset
    model : HighDOD
    rows : list of ExplainedRow
    by_degree : bool
        Whether the rows are those with the highest degrees in all columns.
    """

    data: Dataset
    model: HighDOD
    rows: list[ExplainedRow]
    by_degree: bool

    def sentences(self) -> list[str]:
        """How rows were compared, and which they are."""
        model, d = self.model, self.data.n_features
        size = model.max_features_
        reach = f"T = {model.threshold_:.4g}"
        if model.threshold == "auto":
            share = f"at most {100 * model.contamination:g} % of a sample of the rows reach it"
            reach += f": {share}"
        elif model.threshold == "level":
            reach += f": {model.factor:g} times the average level of single columns"
        first = f"outlying: the distances to the {model.n_neighbors} nearest rows sum up to T or more; {reach}"
        cap = f"up to {size} of {d} columns" if size < d else f"all {d} columns" if d > 1 else "the one column"
        second = f"every minimal outlying subspace of {cap} is found"
        if size < d:
            second += "; larger ones are not searched"
        lines = [first, second]
        if self.by_degree:
            few = "the row" if len(self.rows) == 1 else f"the {len(self.rows)} rows"
            lines.append(f"no rows were named: these are {few} with the highest degree in all columns")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; rows are counted from 1."""
        return {
            "data": self.data.name,
            "rows": self.data.n_rows,
            "features": self.data.n_features,
            "n_neighbors": self.model.n_neighbors,
            "metric": self.model.metric,
            "threshold": self.model.threshold_,
            "max_features": self.model.max_features_,
            "chosen_by": "degree" if self.by_degree else "number",
            "found": [one.to_dict() for one in self.rows],
        }


def explain(
    data: Dataset,
    rows: Sequence[int] | None = None,
    *,
    model: HighDOD | None = None,
    top: int = 5,
    progress: Wanted = None,
) -> Explained:
    """Find the subspaces in which rows of a data set are outlying; the target has no part in it.

    Parameters
    ----------
    data : Dataset
        Dense, with nominal columns or missing values if need be.
    rows : sequence of int, optional
        Numbers of rows from 1; by default the `top` ones with the highest degrees in all columns.
    model : HighDOD, optional
        With the parameters of the search; it is fitted here.
    top : int, default=5
    progress : callable or bool, optional

    Examples
    --------
    >>> import numpy as np
    >>> values = np.column_stack([np.arange(40.0), np.arange(40.0), np.arange(40) % 3])
    >>> values[6, 1] = 30.0
    >>> data = Dataset(values, np.zeros(40, dtype=int), np.array(["age", "income", "shift"]))
    >>> explain(data, model=HighDOD(3, random_state=0), top=1).rows[0].found.sentence()
    'row 7 is unlike its neighbours in age and income'
    """
    if data.is_sparse:
        raise TamisError(f"{data.name}: is sparse, and outlying subspaces are searched in dense tables only")
    n = data.n_rows
    for row in rows if rows is not None else ():
        if not isinstance(row, Integral) or isinstance(row, bool) or not 1 <= int(row) <= n:
            raise TamisError(f"rows takes numbers from 1 to {n}; got {row!r}")
    model = HighDOD(random_state=0) if model is None else model
    model.fit(data.X, progress=progress)
    if rows is None:
        numbers = model.most_outlying(min(top, n), progress=progress).tolist()
    else:
        numbers = [int(row) - 1 for row in rows]
    names = [str(name) if data.has_names else f"column {name}" for name in data.feature_names.tolist()]
    explained = []
    for number, found in zip(numbers, model.outlying_subspaces(numbers, progress=progress), strict=True):
        first = found.subspaces[:SHOWN]
        near = [model.neighbours(number, one.columns) for one in first]
        renamed = _renamed(found, names)
        values = [
            [
                ColumnValues(name, _text(column[number]), _texts(column.gather(rows_near)))
                for name, column in zip(one.names, (column_of(data, j) for j in one.columns), strict=True)
            ]
            for one, rows_near in zip(renamed.subspaces, near, strict=False)
        ]
        explained.append(ExplainedRow(replace(renamed, name=_row_name(data, number)), near, values))
    return Explained(data, model, explained, rows is None)


def column_of(data: Dataset, j: int) -> pl.Series:
    """A column of a data set, null where missing."""
    if hasattr(data.X, "schema"):
        column: pl.Series = data.X.to_series(j)
        return column.fill_nan(None) if column.dtype.is_float() else column
    return pl.Series(np.asarray(data.X[:, j], dtype=np.float64)).fill_nan(None)


def _renamed(found: OutlyingRow, names: list[str]) -> OutlyingRow:
    """The same with the names of the data set, which the model does not know of an array."""
    subspaces = [replace(one, names=tuple(names[j] for j in one.columns)) for one in found.subspaces]
    return replace(found, subspaces=subspaces, unknown=tuple(names[j] for j in found.unknown_columns))


def _row_name(data: Dataset, row: int) -> str:
    number = f"row {row + 1}"
    return number if data.row_names is None else f"{number} ({data.row_names[row]})"


def _text(value: Any) -> str:
    return "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _texts(values: Any) -> str:
    """The lowest and the highest number, or the most frequent levels."""
    known = values.drop_nulls()
    if known.len() == 0:
        return "missing"
    if known.dtype.is_numeric():
        low, high = _text(known.min()), _text(known.max())
        return low if low == high else f"{low} to {high}"
    counts = known.value_counts(sort=True, name="n").sort(["n", known.name], descending=[True, False])
    levels = [str(level) for level in counts[known.name].to_list()]
    return ", ".join(levels[:_LEVELS]) + (", ..." if len(levels) > _LEVELS else "")
