"""The contract of the transforms that take tables of numeric and nominal columns."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from tamis.base.errors import DataError
from tamis.base.mixed_table import MixedTable, assembled, columns_of, only_numbers
from tamis.base.transformer import Transformer
from tamis.base.types import Mask


class MixedTransformer(Transformer):
    """Base of the transforms that take nominal columns; ``_learn`` and ``_apply`` get a :class:`MixedTable`.

    In a polars data frame the nominal columns are those of dtype String, Categorical or Enum, in a pandas one
    those of its string and category dtypes. A column of Python objects (in a pandas data frame, or in an array of
    dtype object) is nominal when it holds any text, even text of digits. Booleans are the numbers 0 and 1; dates and
    other types are refused.

    Attributes
    ----------
    nominal_ : bool array of shape (n_features,)
        Which columns are text.
    """

    accepts_missing = True
    #: Whether nominal columns are accepted.
    takes_nominal: ClassVar[bool] = True
    nominal_: Mask

    def _checked(self, X: Any, *, reset: bool) -> MixedTable:
        if all_numbers(self, X, reset=reset):
            numbers = super()._checked(X, reset=reset)
            found = MixedTable(np.zeros(numbers.shape[1], dtype=bool), numbers, [], X)
        else:
            found = take_apart(self, X, reset=reset)
        if reset:
            self.nominal_ = found.nominal
        return found


def all_numbers(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Whether scikit-learn can validate the rows: they hold numbers alone, now and in `fit` (where `reset` is True)."""
    nominal = not reset and bool(estimator.nominal_.any())
    if not sp.issparse(X):
        return not nominal and only_numbers(X)
    if nominal:
        raise DataError(f"{estimator.part.name}: a sparse matrix cannot hold the nominal columns of fit")
    return True


def take_apart(estimator: Any, X: Any, *, reset: bool) -> MixedTable:
    """Split a data frame or an array of objects for an estimator with the mask ``nominal_``.

    In `fit` (`reset`) the number and the names of the columns are stored, later they are compared, as in
    scikit-learn, and so are the types of the columns.
    """
    who = estimator.part.name
    columns = columns_of(X, who)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return assembled(X, columns, who, nominal=None if reset else estimator.nominal_)
