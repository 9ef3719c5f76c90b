"""The columns of a data set by kind: one matrix of the numbers, and text or dates by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.mixed_columns import columns_of
from tamis.base.types import FloatArray
from tamis.data.column_plan import ColumnPlan
from tamis.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class TableColumns:
    """Columns by kind. Those of a sparse matrix are not here: only their names are known.

    Attributes
    ----------
    names : list of str
        The columns of numbers.
    numbers : array of shape (n_rows, n_numbers)
        NaN is missing.
    words : dict of str to polars.Series
        The columns of text, and of dates of polars; null is missing.
    """

    names: list[str]
    numbers: FloatArray
    words: dict[str, pl.Series]

    @classmethod
    def of(cls, data: Dataset) -> "TableColumns":
        """The columns of a data set."""
        names = names_of(data)
        if data.is_sparse:
            return cls([], np.empty((data.n_rows, 0)), {})
        if isinstance(data.X, np.ndarray) and data.X.dtype.kind in "biuf":
            return cls(names, data.X if data.X.dtype.kind == "f" else data.X.astype(np.float64), {})
        return cls.of_frame(as_frame(data.X, names))

    @classmethod
    def of_frame(cls, frame: pl.DataFrame) -> "TableColumns":
        """The columns of a frame of numbers, text and dates."""
        of_numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
        words = {column.name: column for column in frame if not column.dtype.is_numeric()}
        numbers = frame.select(pl.col(of_numbers).cast(pl.Float64)).to_numpy() if of_numbers else None
        return cls(of_numbers, np.empty((frame.height, 0)) if numbers is None else numbers, words)

    def column(self, name: str) -> pl.Series:
        """One column by name."""
        if name in self.words:
            return self.words[name]
        return pl.Series(name, self.numbers[:, self.names.index(name)], nan_to_null=True)

    def planned(self, plan: ColumnPlan) -> "TableColumns":
        """The columns once the plan is applied."""
        if not (plan.left_out or plan.dates or plan.kinds):
            return self
        changed = [name for name in (*self.names, *self.words) if name in plan.dates or name in plan.kinds]
        new = TableColumns.of_frame(plan.apply(pl.DataFrame([self.column(name) for name in changed])))
        gone = {*changed, *plan.left_out}
        stay = [j for j, name in enumerate(self.names) if name not in gone]
        numbers = self.numbers if len(stay) == len(self.names) else self.numbers[:, stay]
        if new.names:
            numbers = np.hstack([numbers, new.numbers])
        words = {name: column for name, column in self.words.items() if name not in gone}
        return TableColumns([*(self.names[j] for j in stay), *new.names], numbers, words | new.words)


def names_of(data: Dataset) -> list[str]:
    """The names of the features as text."""
    return [str(name) for name in data.feature_names.tolist()]


def as_frame(X: Any, names: list[str]) -> pl.DataFrame:
    """Rows as a polars frame with these names: text, numbers, and dates of polars as they are."""
    if sp.issparse(X):
        raise DataError("the columns of a sparse matrix are numbers, and stay so")
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return pl.DataFrame([pl.Series(name, X[:, j], nan_to_null=True) for j, name in enumerate(names)])
    if isinstance(X, pl.DataFrame):
        columns = [column if column.dtype.is_temporal() else _plain(column) for column in X]
    else:
        dates = {j for j, dtype in enumerate(X.dtypes) if dtype.kind == "M"} if hasattr(X, "iloc") else set()
        plain = [j for j in range(X.shape[1]) if j not in dates]
        rest = iter(columns_of(X.iloc[:, plain] if dates else X, "a table") if plain else [])
        columns = [pl.Series(X.iloc[:, j].to_numpy()) if j in dates else next(rest) for j in range(X.shape[1])]
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _plain(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).fill_nan(None)
    return column.cast(pl.String)
