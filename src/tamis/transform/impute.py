"""Impute: typical values in place of missing ones."""

from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin

from tamis.base._sklearn import StrOptions, _get_output_config
from tamis.base.mixed_columns import MixedTable
from tamis.base.moments import ClassMoments
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.transformer import MixedTransformer
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import canonical

#: Fills a nominal column without any known value.
_NOTHING_KNOWN = "missing"


class Impute(OneToOneFeatureMixin, MixedTransformer):
    """Fill missing values: numbers with the median or mean of their column, names with the most frequent one.

    The statistics are those of the known values of the training rows. Of equally frequent names the first in sorted
    order is used. Without any known value a numeric column is filled with 0 and a nominal one with "missing".

    The output has the type of the input: array, CSR matrix, polars or pandas data frame. In data frames the numeric
    columns become floats and the nominal ones text. In a sparse matrix an entry that is not stored is a known zero,
    and a stored NaN is missing.

    Parameters
    ----------
    strategy : {"median", "mean"}, default="median"
        The value for a missing number. The median is robust against outliers, and it is zero where most of a column
        is, so that sparse data stays sparse; the mean does not change the column's mean.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns are text.
    fill_numbers_ : float array of shape (n_numeric,)
        The fill value of each numeric column.
    fill_text_ : list of str
        The fill value of each nominal column.

    See Also
    --------
    Encode : Turns nominal columns into numbers.

    References
    ----------
    Little and Rubin (1987), "Statistical analysis with missing data".

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.transform import Impute
    >>> X = pl.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "red", None]})
    >>> Impute().fit_transform(X).rows()
    [(1.0, 'red'), (2.0, 'red'), (3.0, 'red')]
    """

    part: ClassVar[Part] = Part(
        "impute",
        positional=("strategy",),
        search={"strategy": choice("median", "mean")},
        paper="Little and Rubin 1987",
        phrase="fills missing values with the {strategy}",
        role="imputation",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"strategy": [StrOptions({"median", "mean"})]}

    def __init__(self, strategy: str = "median") -> None:
        self.strategy = strategy

    def _learn(self, X: MixedTable) -> None:
        numbers = canonical(X.numbers) if sp.issparse(X.numbers) else X.numbers
        if numbers.shape[1] == 0:
            self.fill_numbers_ = np.zeros(0)
        elif self.strategy == "mean":
            self.fill_numbers_ = ClassMoments.of(numbers, np.zeros(numbers.shape[0], dtype=np.intp)).grand_mean
        else:
            self.fill_numbers_ = _sparse_median(numbers) if sp.issparse(numbers) else _median(numbers)
        self.fill_text_ = [_most_frequent(column) for column in X.text]

    def _apply(self, X: MixedTable) -> Any:
        fill = self.fill_numbers_.astype(X.numbers.dtype)
        if sp.issparse(X.numbers):
            out = canonical(X.numbers).copy()
            missing = np.isnan(out.data)
            out.data[missing] = fill[out.indices[missing]]
            out.eliminate_zeros()
            return out
        numbers = np.where(np.isnan(X.numbers), fill, X.numbers)
        text = [column.fill_null(value) for column, value in zip(X.text, self.fill_text_, strict=True)]
        container = _get_output_config("transform", self)["dense"]
        kind = X.kind if container == "default" else container
        if not text and (container != "default" or kind == "array"):
            return numbers
        return _joined(X, numbers, text, kind)


def _median(X: FloatArray) -> FloatArray:
    """Median of the known values of each column; 0 where there are none."""
    ordered = np.sort(X, axis=0)  # puts NaN last
    known = np.count_nonzero(~np.isnan(X), axis=0)
    columns = np.arange(X.shape[1])
    low = ordered[np.maximum(known - 1, 0) // 2, columns].astype(np.float64)
    high = ordered[np.minimum(known // 2, X.shape[0] - 1), columns].astype(np.float64)
    return np.where(known > 0, (low + high) / 2, 0.0)


def _sparse_median(X: Matrix) -> FloatArray:
    """Like :func:`_median` for a CSR matrix without duplicates, whose zeros are known."""
    missing, n_columns = np.isnan(X.data), X.shape[1]
    values, columns = X.data[~missing].astype(np.float64), X.indices[~missing]
    known = X.shape[0] - np.bincount(X.indices[missing], minlength=n_columns)
    stored = np.bincount(columns, minlength=n_columns)
    below = np.bincount(columns[values < 0], minlength=n_columns)
    unstored = known - stored
    first = np.cumsum(stored) - stored
    ordered = np.append(values[np.lexsort((values, columns))], 0.0)

    def at(place: np.ndarray) -> FloatArray:
        """The value at a position of each sorted column; its zeros follow the negative values."""
        zero = (known == 0) | ((place >= below) & (place < below + unstored))
        return ordered[np.where(zero, -1, first + np.where(place < below, place, place - unstored))]

    return (at((known - 1) // 2) + at(known // 2)) / 2


def _most_frequent(column: pl.Series) -> str:
    known = column.drop_nulls()
    return str(known.mode().sort()[0]) if len(known) else _NOTHING_KNOWN


def _joined(table: MixedTable, numbers: FloatArray, text: list[pl.Series], kind: str) -> Any:
    """The columns in their order, as an array, polars or pandas data frame."""
    left, right = iter(numbers.T), iter(text)
    columns = [next(right) if nominal else next(left) for nominal in table.nominal]
    if kind == "array":
        out = np.empty((numbers.shape[0], len(columns)), dtype=object)
        for j, column in enumerate(columns):
            out[:, j] = column.to_list() if isinstance(column, pl.Series) else column
        return out
    names = list(getattr(table.source, "columns", range(len(columns))))
    if kind == "polars":
        return pl.DataFrame([pl.Series(str(name), column) for name, column in zip(names, columns, strict=True)])
    # From lists pandas makes its own type of text column.
    plain = [column.to_list() if isinstance(column, pl.Series) else column for column in columns]
    index = table.source.index if table.kind == "pandas" else None
    return import_module("pandas").DataFrame(dict(zip(names, plain, strict=True)), index=index)
