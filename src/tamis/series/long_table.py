"""Long tables: a row for each time point of each item; columns for item, time, variables and class."""

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.series.series import Series

#: Names that the columns have where none is given.
_ITEM, _TIME = ("item", "item_id", "id", "series", "case", "sample"), ("time", "timestamp", "t", "step")


def from_rows(table: Dataset, item: str | None, time: str | None) -> Series:
    """The items of a table whose rows are their time points.

    Rows of an item need not stand together; they are put in order by the column of times, where there is one, else they
    stay in the order of the file.
    """
    names = [str(name) for name in table.feature_names]
    item = _column(names, item, _ITEM, table.name, "item")
    if item is None:
        raise DataError(f"{table.name}: no column is called {', '.join(_ITEM[:-1])} or {_ITEM[-1]}; name it by --item")
    time = _column([name for name in names if name != item], time, _TIME, table.name, "time")
    variables = [name for name in names if name not in (item, time)]
    X = table.X if table.n_rows else next(iter(table.unlabelled.values()))
    if not variables:
        raise DataError(
            f"{table.name}: has no columns of variables beside {item!r}" + (f" and {time!r}" if time else "")
        )
    frame = X if isinstance(X, pl.DataFrame) else pl.DataFrame(np.asarray(X), schema=names)
    words = [name for name in variables if not frame[name].dtype.is_numeric()]
    if words:
        raise DataError(
            f"{table.name}, column {words[0]!r}: holds words, and a variable of a time series holds numbers"
        )
    if (lost := frame[item].is_null() | (frame[item] != frame[item])).any():
        raise DataError(f"{table.name}, column {item!r}: row {int(lost.arg_true()[0]) + 1} names no item")
    order = np.arange(frame.height)
    codes, first = _numbered(frame[item])
    if time is not None:
        if frame[time].null_count() or (frame[time] != frame[time]).any():
            raise DataError(f"{table.name}, column {time!r}: there are rows without a time")
        order = np.argsort(frame[time].rank("ordinal").to_numpy(), kind="stable")
        twice = frame.select(item, time).is_duplicated()
        if twice.any():
            row = int(twice.arg_true()[0])
            raise DataError(
                f"{table.name}: item {frame[item][row]!s} has two rows of the same time, {frame[time][row]!s}, in "
                f"column {time!r}"
            )
    order = order[np.argsort(codes[order], kind="stable")]
    values = frame.select(pl.col(variables).cast(pl.Float64)).to_numpy()[order]
    items = np.split(values, np.flatnonzero(np.diff(codes[order])) + 1)
    y = None
    if table.n_rows:
        y = table.y[first]
        if (odd := np.flatnonzero(table.y != y[codes])).size:
            name = frame[item][int(odd[0])]
            raise DataError(f"{table.name}: item {name!s} has more than one value in the column {table.target!r}")
    return Series.of(items, y, variables=variables, name=table.name, target=table.target)


def _column(names: list[str], wanted: str | None, usual: tuple[str, ...], where: str, what: str) -> str | None:
    """The column of that name, or the first with a usual one."""
    if wanted is not None:
        if wanted not in names:
            raise DataError(f"{where}: there is no column called {wanted!r} for --{what}; there are {names[:8]}")
        return wanted
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in usual if name in lower), None)


def _numbered(column: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of distinct values in order of first occurrence, and the rows where they occur first."""
    _, first, codes = np.unique(column.to_numpy(), return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    return places[codes], first[order]
