"""Nominal columns as codes: what a classifier, selector or score needs to take them as they are."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, get_tags
from sklearn.utils.validation import validate_data

from tamis.base.errors import DataError
from tamis.base.mixed_columns import MixedTable, all_numbers, assembled, columns_of, only_numbers, take_apart
from tamis.base.part import Part
from tamis.base.types import FloatArray, Mask, Matrix

#: The distinct texts of each nominal column in sorted order, by column number; a code is a place among them.
Levels = dict[int, np.ndarray]


class Coded(NamedTuple):
    """Rows as numbers.

    Attributes
    ----------
    matrix : float array or CSR/CSC matrix of shape (n_rows, n_features)
        A nominal column holds the codes 0, 1, ... of its levels; NaN is missing.
    nominal : bool array of shape (n_features,)
        Which columns hold codes.
    levels : dict of int to array of str
        For each nominal column, by its number, the texts that the codes stand for.
    """

    matrix: Matrix
    nominal: Mask
    levels: Levels


def coded(X: Any, who: str = "this method") -> Coded:
    """Put codes for the texts of a table; a table of numbers alone is read as scikit-learn reads it.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        Numbers of float32 and sparse matrices stay what they are. Infinity is refused beside nominal columns only:
        the compiled scores refuse it themselves.
    who : str
        Named in the messages.

    Examples
    --------
    >>> import polars as pl
    >>> matrix, nominal, levels = coded(pl.DataFrame({"size": [1.5, 2.5, 0.5], "colour": ["red", None, "blue"]}))
    >>> matrix
    array([[1.5, 1. ],
           [2.5, nan],
           [0.5, 0. ]])
    >>> levels
    {1: array(['blue', 'red'], dtype=object)}
    """
    if sp.issparse(X) or only_numbers(X):
        X = check_array(X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_all_finite=False)
        return Coded(X, np.zeros(X.shape[1], dtype=bool), {})
    table = assembled(X, columns_of(X, who), who)
    levels = _levels(table)
    return Coded(_with_codes(table, levels), table.nominal, levels)


class TakesNominal:
    """First base of a classifier or selector that takes nominal columns as they are.

    Frames and arrays of objects with text columns are read as :class:`~tamis.base.mixed_columns.MixedTransformer` reads
    them. `X` then arrives as a float64 array in which a nominal column holds the codes 0, 1, ... of its levels, -1
    for a level not seen in `fit`, and NaN where the value is missing. Rows of numbers alone arrive as they would
    without this base. Where the class does not accept missing values they are refused by the name of the column.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns hold codes.
    levels_ : dict of int to array of str
        For each nominal column, by its number, its levels: the distinct texts of the training rows in sorted order,
        so that ``levels_[j][code]`` is the text. Empty when no column is nominal.
    """

    #: Whether nominal columns may come as they are.
    takes_nominal: ClassVar[bool] = True
    part: ClassVar[Part]
    accepts_missing: ClassVar[bool]
    nominal_: Mask
    levels_: Levels

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        if all_numbers(self, X, reset=reset):
            found = super()._read(X, y, reset=reset)  # type: ignore[misc]
            if reset:
                self.nominal_, self.levels_ = np.zeros(found[0].shape[1], dtype=bool), {}
            return found
        if not reset:
            return _checked(self, take_apart(self, X, reset=False))
        if y is not None or get_tags(self).target_tags.required:
            y = validate_data(self, y=y)
        table = take_apart(self, X, reset=True)
        if y is not None:
            check_consistent_length(table.numbers, y)
        self.nominal_, self.levels_ = table.nominal, _levels(table)
        return _checked(self, table), y


def _checked(estimator: TakesNominal, table: MixedTable) -> FloatArray:
    """The columns with their codes; missing values are refused unless the estimator accepts them."""
    matrix = _with_codes(table, estimator.levels_)
    holes = np.flatnonzero(np.isnan(matrix).any(axis=0))
    if holes.size and not estimator.accepts_missing:
        who = estimator.part.name
        raise DataError(f"{who}: column {table.names[holes[0]]!r} has missing values; put impute in front of {who}")
    return matrix


def _levels(table: MixedTable) -> Levels:
    """The levels of each nominal column."""
    return {
        int(j): np.array(column.drop_nulls().unique().sort().to_list(), dtype=object)
        for j, column in zip(np.flatnonzero(table.nominal), table.text, strict=True)
    }


def _with_codes(table: MixedTable, levels: Levels) -> FloatArray:
    """All columns in their place, the nominal ones as codes."""
    matrix = np.empty((table.numbers.shape[0], table.nominal.size))
    matrix[:, ~table.nominal] = table.numbers
    for (j, known), column in zip(levels.items(), table.text, strict=True):
        codes = column.cast(pl.Enum(known.tolist()), strict=False).to_physical().cast(pl.Int64).fill_null(-1)
        matrix[:, j] = np.where(column.is_null(), np.nan, codes)
    return matrix
