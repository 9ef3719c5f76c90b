"""Tables of numeric and nominal columns, of any kind, taken apart into numbers and text."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.base.types import FloatArray, Mask, Matrix


@dataclass(frozen=True)
class MixedTable:
    """A table split into the matrix of its numeric columns and its nominal columns as text."""

    nominal: Mask  # which columns are text
    numbers: Matrix  # the numeric columns; NaN is missing
    text: list[pl.Series]  # the nominal columns, of dtype String; null is missing
    source: Any  # the input

    @property
    def kind(self) -> str:
        """Type of the input: "polars", "pandas" or "array"."""
        if isinstance(self.source, pl.DataFrame):
            return "polars"
        return "pandas" if _is_pandas(self.source) else "array"

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... where they have none."""
        if self.kind == "array":
            return [f"x{j}" for j in range(self.nominal.size)]
        return [str(name) for name in self.source.columns]


def assembled(X: Any, columns: list[pl.Series], who: str, *, nominal: Mask | None = None) -> MixedTable:
    """The table of the columns from :func:`columns_of`; `nominal` is the mask of `fit`."""
    if nominal is None:
        nominal = np.array([column.dtype == pl.String for column in columns])
    columns = [_as_in_fit(column, text, who) for column, text in zip(columns, nominal, strict=True)]
    text = [column for column in columns if column.dtype == pl.String]
    numbers = [column for column in columns if column.dtype != pl.String]
    return MixedTable(nominal, _matrix(numbers, len(columns[0]), who), text, X)


def levels_of(column: pl.Series) -> list[str]:
    """The distinct texts of a nominal column, sorted."""
    return column.drop_nulls().unique().sort().to_list()


def level_codes(column: pl.Series, levels: list[str]) -> FloatArray:
    """Position of each value of a nominal column among the levels: -1 where unknown, NaN where missing."""
    known = column.cast(pl.Enum(levels), strict=False)
    codes = known.to_physical().cast(pl.Float64).to_numpy(writable=True)
    if known.null_count() > column.null_count():
        codes[np.isnan(codes) & column.is_not_null().to_numpy()] = -1.0
    return codes


def free_name(name: str, taken: set[str]) -> str:
    """The name of a new column, with a number as suffix where it is taken; adds it to `taken`."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found


def _is_pandas(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")


def only_numbers(X: Any) -> bool:
    """Whether all values are numbers, which scikit-learn can validate."""
    if isinstance(X, pl.DataFrame):
        return all(dtype.is_numeric() for dtype in X.dtypes)
    if _is_pandas(X):
        return all(dtype.kind in "biuf" for dtype in X.dtypes)
    array = np.asarray(X, dtype=None if hasattr(X, "__array__") else object)
    return array.dtype.kind not in "OUS" or not any(isinstance(value, str | bytes) for value in array.flat)


def columns_of(X: Any, who: str) -> list[pl.Series]:
    """Every column as text (String) or numbers (Float64), null where missing."""
    if isinstance(X, pl.DataFrame):
        found = [_of_polars(column, who) for column in X.iter_columns()]
    elif _is_pandas(X):
        found = [_of_pandas(X.iloc[:, j], who) for j in range(X.shape[1])]
    else:
        array = np.asarray(X, dtype=object)
        if array.ndim != 2:
            raise DataError(f"{who} takes a table of rows and columns; got {array.ndim} dimension(s)")
        found = [_of_objects(column, f"x{j}", who) for j, column in enumerate(array.T)]
    if not found or not len(found[0]):
        raise DataError(f"{who} got a table without rows or columns")
    return found


def _of_polars(column: pl.Series, who: str) -> pl.Series:
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        numbers = column.cast(pl.Float64)
        # A query takes far longer than the look at the values, and a table that was read holds no NaN.
        is_known = np.isnan(numbers.to_numpy()).sum() == numbers.null_count()
        return numbers if is_known else numbers.fill_nan(None)
    raise DataError(f"{who} takes numbers and text; column {column.name!r} is of type {column.dtype}")


def _of_pandas(column: Any, who: str) -> pl.Series:
    if column.dtype.kind in "biuf":
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return pl.Series(str(column.name), numbers).fill_nan(None)
    text = column.dtype.name in ("category", "str", "string")
    return _of_objects(column.to_numpy(dtype=object), str(column.name), who, text=text)


def _of_objects(values: np.ndarray, name: str, who: str, *, text: bool = False) -> pl.Series:
    """Text when any value is text or `text` is set; else numbers."""
    if text or any(isinstance(value, str | bytes) for value in values):
        return pl.Series(name, [None if _is_missing(v) else _word(v) for v in values], dtype=pl.String)
    try:
        return pl.Series(name, [None if _is_missing(v) else float(v) for v in values], dtype=pl.Float64)
    except (TypeError, ValueError):
        raise DataError(f"{who} takes numbers and text; column {name!r} holds something else") from None


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and value != value) or type(value).__name__ == "NAType"


def _word(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _as_in_fit(column: pl.Series, nominal: bool, who: str) -> pl.Series:
    """The column, checked to have its type of fit; a column without known values fits both."""
    dtype = pl.String if nominal else pl.Float64
    if column.dtype == dtype or column.null_count() == len(column):
        return column.cast(dtype)
    now, then = ("numbers", "text") if nominal else ("text", "numbers")
    raise DataError(f"{who}: column {column.name!r} holds {now}, but held {then} in fit")


def _matrix(columns: list[pl.Series], n_rows: int, who: str) -> FloatArray:
    """The matrix of numeric columns, NaN where missing."""
    numbers = np.empty((n_rows, len(columns)))
    for j, column in enumerate(columns):
        numbers[:, j] = column.to_numpy()
        if np.isinf(numbers[:, j]).any():
            raise DataError(f"{who}: column {column.name!r} contains infinity")
    return numbers
