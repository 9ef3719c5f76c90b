"""Nominal columns as codes, for classifiers, selectors and scores that take them directly."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, get_tags
from sklearn.utils.validation import validate_data

from tamis.base.errors import DataError
from tamis.base.mixed_columns import MixedTable, assembled, columns_of, level_codes, levels_of, only_numbers
from tamis.base.part import Part
from tamis.base.transformer import all_numbers, take_apart
from tamis.base.types import FloatArray, Mask, Matrix

#: The sorted distinct texts of each nominal column, by column number; a code is a position among them.
Levels = dict[int, np.ndarray]


class Coded(NamedTuple):
    """Rows as numbers."""

    matrix: Matrix  # a nominal column holds the codes 0, 1, ... of its levels; NaN is missing
    nominal: Mask  # which columns hold codes
    levels: Levels


def coded(X: Any, who: str = "this method") -> Coded:
    """Replace the texts of a table by codes; a table of numbers alone is validated by scikit-learn.

    float32 and sparse matrices stay what they are. Infinity is refused beside nominal columns only, because the
    compiled scores refuse it themselves. `who` names the caller in messages.

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


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows whose nominal columns hold codes already: parts that take nominal columns read no texts again.

    Attributes
    ----------
    matrix : float array of shape (n_rows, n_columns)
        NaN is missing.
    nominal : bool array of shape (n_columns,)
    levels : dict of int to array of str
        The levels of each nominal column, by its number.

    Examples
    --------
    >>> rows = CodedRows(np.array([[1.5, 1.0], [2.5, 0.0]]), np.array([False, True]), {1: np.array(["blue", "red"])})
    >>> some = rows[[0], [1]]
    >>> some.shape, some.levels, some.frame().rows()
    ((1, 1), {0: array(['blue', 'red'], dtype='<U4')}, [('red',)])
    """

    matrix: FloatArray
    nominal: Mask
    levels: Levels

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape[0], self.matrix.shape[1]

    def __getitem__(self, key: Any) -> "CodedRows":
        """Some rows, or some rows and columns, by their numbers; a slice of all is free."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(columns, slice):
            return CodedRows(self.matrix[rows], self.nominal, self.levels)
        matrix = self.matrix[rows][:, columns]
        levels = {place: self.levels[int(j)] for place, j in enumerate(columns) if int(j) in self.levels}
        return CodedRows(matrix, self.nominal[columns], levels)

    def frame(self) -> Any:
        """The rows with texts in place of codes, as a data frame."""
        return as_table(self.matrix, self.nominal, self.levels)


class TakesNominal:
    """First base of a classifier or selector that takes nominal columns.

    Data frames and arrays of objects are validated as in :class:`~tamis.base.transformer.MixedTransformer`. `X` then
    arrives as a float64 array in which a nominal column holds the codes 0, 1, ... of its levels, -1 for an unknown
    level, and NaN for a missing value. Rows of numbers alone arrive as without this base. An error names a column with
    missing values where the class does not accept them.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns hold codes.
    levels_ : dict of int to array of str
        The levels of each nominal column, by its number: the sorted distinct texts of the training rows, so that
        ``levels_[j][code]`` is the text.
    """

    #: Whether nominal columns are accepted.
    takes_nominal: ClassVar[bool] = True
    part: ClassVar[Part]
    accepts_missing: ClassVar[bool]
    nominal_: Mask
    levels_: Levels

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        if isinstance(X, CodedRows):
            return self._read_coded(X, y, reset=reset)
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

    def _read_coded(self, X: CodedRows, y: Any, *, reset: bool) -> Any:
        if not reset:
            return X.matrix
        self.n_features_in_ = X.shape[1]
        self.nominal_, self.levels_ = X.nominal, X.levels
        if np.isnan(X.matrix).any() and not self.accepts_missing:
            raise DataError(f"{self.part.name} takes no missing values; put impute in front")
        return X.matrix, validate_data(self, y=y)


def _checked(estimator: TakesNominal, table: MixedTable) -> FloatArray:
    """The coded matrix; missing values are refused unless the estimator accepts them."""
    matrix = _with_codes(table, estimator.levels_)
    holes = np.flatnonzero(np.isnan(matrix).any(axis=0))
    if holes.size and not estimator.accepts_missing:
        who = estimator.part.name
        raise DataError(f"{who}: column {table.names[holes[0]]!r} has missing values; put impute in front of {who}")
    return matrix


def _levels(table: MixedTable) -> Levels:
    numbered = zip(np.flatnonzero(table.nominal), table.text, strict=True)
    return {int(j): np.array(levels_of(column), dtype=object) for j, column in numbered}


def _with_codes(table: MixedTable, levels: Levels) -> FloatArray:
    """All columns in their order, the nominal ones as codes."""
    matrix = np.empty((table.numbers.shape[0], table.nominal.size))
    matrix[:, ~table.nominal] = table.numbers
    for (j, known), column in zip(levels.items(), table.text, strict=True):
        matrix[:, j] = level_codes(column, known.tolist())
    return matrix


def as_table(matrix: Matrix, nominal: Mask, levels: Levels) -> Any:
    """Rows with the texts in place of the codes, as a data frame; without nominal columns the matrix itself.

    >>> as_table(np.array([[1.5, 1.0], [2.5, np.nan]]), np.array([False, True]), {1: np.array(["blue", "red"])}).rows()
    [(1.5, 'red'), (2.5, None)]
    """
    if not nominal.any():
        return matrix
    columns = []
    for j, values in enumerate(np.asarray(matrix, dtype=np.float64).T):
        known = ~np.isnan(values)
        if nominal[j]:
            texts = np.full(values.size, None, dtype=object)
            texts[known] = np.asarray(levels[j], dtype=object)[values[known].astype(np.intp)]
            columns.append(pl.Series(f"x{j}", texts.tolist(), dtype=pl.String))
        else:
            columns.append(pl.Series(f"x{j}", values).fill_nan(None))
    return pl.DataFrame(columns)
