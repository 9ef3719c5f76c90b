"""Encode: nominal columns as numbers."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, _check_feature_names_in, _get_output_config
from tamis.base.errors import DataError
from tamis.base.mixed_columns import MixedTable, MixedTransformer, level_codes, levels_of
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray, Matrix

#: One-hot output is sparse when it has more columns than this ...
_WIDE = 64
#: ... and a smaller share of its training entries than this is not zero.
_DENSE = 0.3


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

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which input columns are nominal.
    categories_ : list of (list of str, or None)
        The categories of each input column; None for a numeric one.
    origins_ : int array of shape (n_features_out,)
        The input column of each output column.
    sparse_output_ : bool
        Whether nominal columns make the output a CSR matrix rather than an array: when it is one-hot with more than
        64 columns and less than 0.3 of the training entries are not zero. With ``set_output`` data frames are dense.
        Without nominal columns an array stays an array and a sparse matrix a sparse matrix.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"how": [StrOptions({"onehot", "ordinal"})]}

    def __init__(self, how: str = "onehot") -> None:
        self.how = how

    def _learn(self, X: MixedTable) -> None:
        known = iter(X.text)
        self.categories_ = [levels_of(next(known)) if nominal else None for nominal in X.nominal]
        onehot = self.how == "onehot"
        widths = [len(categories) if onehot and categories is not None else 1 for categories in self.categories_]
        self.origins_ = np.repeat(np.arange(len(widths)), widths)
        if self.origins_.size == 0:
            raise DataError("encode: no column has any known value")
        self.sparse_output_ = self._mostly_zero(X)

    def _mostly_zero(self, X: MixedTable) -> bool:
        if self.how != "onehot" or not X.text or self.origins_.size <= _WIDE:
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
            return sp.csr_array((data, places), shape)
        out = np.zeros(shape)
        out[:, numeric] = X.numbers
        out[rows, columns] = 1.0
        return out

    def _coded(self, X: MixedTable) -> Iterator[tuple[int, FloatArray]]:
        """Number and level codes of each nominal column."""
        for j, column in zip(np.flatnonzero(self.nominal_), X.text, strict=True):
            yield int(j), level_codes(column, self.categories_[j] or [])

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
        for name, categories in zip(names, self.categories_, strict=True):
            out.extend([name] if categories is None else [_free(f"{name}={value}", taken) for value in categories])
        return np.asarray(out, dtype=object)


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number as suffix where it is taken; adds it to `taken`."""
    number, found = 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
