"""Encode: nominal columns as numbers."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, _check_feature_names_in, _get_output_config, integer
from tamis.base.errors import DataError
from tamis.base.mixed_columns import MixedTable, free_name, level_codes, levels_of
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.transformer import MixedTransformer
from tamis.base.types import FloatArray, Matrix

#: One-hot output is sparse when it has more training entries than this ...
_LARGE = 4_000_000
#: ... and a smaller share of them than this is not zero.
_DENSE = 0.3

#: The category of the rare values.
_RARE = "(rare)"


class Encode(MixedTransformer):
    """Encode each nominal column as numbers; numeric columns pass unchanged.

    Columns keep their order. Missing numbers stay missing (NaN). Categories are those of the training rows, sorted.

    Parameters
    ----------
    how : {"onehot", "ordinal"}, default="onehot"
        "onehot" replaces a nominal column by one column per category, named ``colour=red``, 1 where the row has it
        and 0 elsewhere. A column of two categories gives two columns, so that either can be selected and interpreted.
        A missing value and an unknown category give zeros; a column without any known value disappears.
        "ordinal" replaces the categories by 0, 1, ..., an unknown one by -1, and a missing value by NaN.
    min_frequency : int, default=1
        Values of fewer training rows are one category, the last, named ``colour=(rare)``. Unknown values are in it too,
        if a column has it.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which input columns are nominal.
    categories_ : list of (list of str, or None)
        The categories of each input column, without that of the rare values; None for a numeric one.
    rare_ : bool array of shape (n_features,)
        Which input columns have a category of rare values.
    origins_ : int array of shape (n_features_out,)
        The input column of each output column.
    sparse_output_ : bool
        Whether nominal columns make the output a CSR matrix rather than an array: when it is one-hot with more than
        four million entries for the training rows, and less than 0.3 of them are not zero. With ``set_output`` data
        frames are dense. Without nominal columns an array stays an array and a sparse matrix a sparse matrix.

    See Also
    --------
    Impute : Fills missing values before encoding.

    References
    ----------
    Suits (1957), "Use of dummy variables in regression equations".

    Examples
    --------
    >>> import polars as pl
    >>> from tamis.transform import Encode
    >>> X = pl.DataFrame({"colour": ["red", "blue", None], "size": [1.0, 2.0, 3.0]})
    >>> encode = Encode().fit(X)
    >>> encode.get_feature_names_out().tolist()
    ['colour=blue', 'colour=red', 'size']
    >>> encode.transform(X)
    array([[0., 1., 1.],
           [1., 0., 2.],
           [0., 0., 3.]])
    >>> encode.origins_
    array([0, 0, 1])
    """

    part: ClassVar[Part] = Part(
        "encode",
        positional=("how",),
        search={"how": choice("onehot", "ordinal")},
        paper="Suits 1957",
        phrase="turns names into numbers",
        role="encoding",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "how": [StrOptions({"onehot", "ordinal"})],
        "min_frequency": [integer(1)],
    }

    def __init__(self, how: str = "onehot", *, min_frequency: int = 1) -> None:
        self.how = how
        self.min_frequency = min_frequency

    def _learn(self, X: MixedTable) -> None:
        known = iter(X.text)
        self.categories_ = [self._frequent(next(known)) if nominal else None for nominal in X.nominal]
        self.rare_ = np.zeros(X.nominal.size, dtype=bool)
        for j, column in zip(np.flatnonzero(X.nominal), X.text, strict=True):
            self.rare_[j] = len(levels_of(column)) > len(self.categories_[j] or [])
        onehot = self.how == "onehot"
        widths = [
            len(categories) + rare if onehot and categories is not None else 1
            for categories, rare in zip(self.categories_, self.rare_, strict=True)
        ]
        self.origins_ = np.repeat(np.arange(len(widths)), widths)
        if self.origins_.size == 0:
            raise DataError("encode: no column has any known value")
        self.sparse_output_ = self._mostly_zero(X)

    def _frequent(self, column: pl.Series) -> list[str]:
        """The levels of a nominal column that enough rows have, sorted."""
        if self.min_frequency == 1:
            return levels_of(column)
        counts = column.drop_nulls().value_counts(name="rows")
        return counts.filter(pl.col("rows") >= self.min_frequency)[column.name].sort().to_list()

    def _mostly_zero(self, X: MixedTable) -> bool:
        if self.how != "onehot" or not X.text or self.origins_.size * X.numbers.shape[0] <= _LARGE:
            return False
        filled = np.count_nonzero(X.numbers) + sum(len(column) - column.null_count() for column in X.text)
        return bool(filled < _DENSE * self.origins_.size * X.numbers.shape[0])

    def _apply(self, X: MixedTable) -> Matrix:
        if not X.text:
            return X.numbers.copy()
        shape = (X.numbers.shape[0], self.origins_.size)
        numeric = np.flatnonzero(~self.nominal_[self.origins_])
        out: FloatArray
        if self.how == "ordinal":
            out = np.empty(shape)
            out[:, numeric] = X.numbers
            for j, codes in self._coded(X):
                out[:, j] = codes
            return out
        rows, columns = self._indicators(X)
        if self.sparse_output_ and _get_output_config("transform", self)["dense"] == "default":
            filled, where = np.nonzero(X.numbers)
            data = np.concatenate((X.numbers[filled, where], np.ones(rows.size)))
            places = np.concatenate((filled, rows)), np.concatenate((numeric[where], columns))
            # Some libraries take no long indices.
            short = np.int32 if max(data.size, *shape) < np.iinfo(np.int32).max else np.int64
            return sp.csr_array((data, tuple(one.astype(short) for one in places)), shape)
        out = np.zeros(shape)
        out[:, numeric] = X.numbers
        out[rows, columns] = 1.0
        return out

    def _coded(self, X: MixedTable) -> Iterator[tuple[int, FloatArray]]:
        """Number and level codes of each nominal column."""
        for j, column in zip(np.flatnonzero(self.nominal_), X.text, strict=True):
            codes = level_codes(column, self.categories_[j] or [])
            yield int(j), np.where(codes == -1, len(self.categories_[j] or []), codes) if self.rare_[j] else codes

    def _indicators(self, X: MixedTable) -> tuple[np.ndarray, np.ndarray]:
        """Row and output column of every 1."""
        starts = np.searchsorted(self.origins_, np.arange(self.nominal_.size))
        coded = list(self._coded(X))
        rows = [np.flatnonzero(codes >= 0) for _, codes in coded]
        columns = [starts[j] + codes[known].astype(np.intp) for known, (j, codes) in zip(rows, coded, strict=True)]
        return np.concatenate(rows), np.concatenate(columns)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns; an indicator whose name exists already gets a number as suffix."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.how == "ordinal":
            return np.asarray(names, dtype=object)
        taken = {name for name, categories in zip(names, self.categories_, strict=True) if categories is None}
        out: list[str] = []
        for name, categories, rare in zip(names, self.categories_, self.rare_, strict=True):
            values = [] if categories is None else [*categories, *[_RARE] * int(rare)]
            out.extend([name] if categories is None else [free_name(f"{name}={value}", taken) for value in values])
        return np.asarray(out, dtype=object)
