"""The rows from which a measure is made."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, TamisError
from tamis.base.task import is_numeric, numeric_target
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.base.validation import check_weights
from tamis.trees.rows import counted


def usable_rows(
    X: Matrix, y: Any, sample_weight: Any, nominal: Any, who: str, *, numbers: bool = False
) -> tuple[Matrix, Target, FloatArray, Mask]:
    """The rows of positive weight: columns, class codes 0, 1, ..., weights, and which columns are nominal.

    `who` names the measure in messages. With `numbers` the target may also hold these, as floats.

    Examples
    --------
    >>> X, y, weight, nominal = usable_rows(np.eye(3), [0, 1, 1], [1, 0, 2], None, "CFS")
    >>> X.shape, y, weight
    ((2, 3), array([0, 1]), array([1., 2.]))
    """
    codes: Target = np.asarray(y)
    if codes.dtype.kind == "f" and not numbers:
        raise TamisError(f"{who} is for classes, and the target holds numbers")
    if codes.shape != (X.shape[0],) or codes.dtype.kind not in "iuf" or (not is_numeric(codes) and (codes < 0).any()):
        raise TamisError(f"{who} takes a class code 0, 1, ... for each of {X.shape[0]} rows; got {_described(codes)}")
    named = np.zeros(X.shape[1], dtype=bool) if nominal is None else np.asarray(nominal)
    if named.shape != (X.shape[1],) or named.dtype != bool:
        raise TamisError(
            f"'nominal' of {who} takes True or False for each of {X.shape[1]} columns; got {_described(named)}"
        )
    codes = numeric_target(codes, who) if is_numeric(codes) else codes.astype(np.intp, copy=False)
    X, codes, weight = counted(X, codes, check_weights(sample_weight, X))
    if codes.size == 0:
        raise TamisError(f"{who} needs at least one row with a sample weight above zero")
    return X, codes, np.asarray(weight, dtype=np.float64), named


def means_for_missing(X: Matrix) -> Matrix:
    """The rows with the mean of its column in place of each missing value; 0 where a column has no other.

    Examples
    --------
    >>> means_for_missing(np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]]))
    array([[1., 0.],
           [2., 0.],
           [3., 0.]])
    """
    found: Matrix = X.tocsc().copy() if sp.issparse(X) else np.array(X, dtype=np.float64)
    values = found.data if sp.issparse(X) else found
    missing = np.isnan(values)
    if not missing.any():
        return X
    values[missing] = 0.0
    if sp.issparse(X):
        columns = np.repeat(np.arange(X.shape[1]), np.diff(found.indptr))[missing]
    else:
        columns = missing.nonzero()[1]
    known = X.shape[0] - np.bincount(columns, minlength=X.shape[1])
    means = np.asarray(found.sum(axis=0)).ravel() / np.maximum(known, 1)
    values[missing] = means[columns]
    return found


def refuse_nominal(nominal: Mask, what: str) -> None:
    """Refuse nominal columns where numbers are needed; `what` names the measure."""
    if nominal.any():
        raise DataError(f"{what} takes numbers, and column {int(nominal.argmax())} (counted from 0) is nominal")


def _described(given: np.ndarray) -> str:
    return f"shape {given.shape} of {given.dtype}"
