"""The rows from which a measure is made."""

from typing import Any

import numpy as np

from tamis.base.errors import DataError, TamisError
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import check_weights
from tamis.trees.rows import counted


def usable_rows(
    X: Matrix, y: Any, sample_weight: Any, nominal: Any, who: str
) -> tuple[Matrix, Codes, FloatArray, Mask]:
    """The rows of positive weight: columns, class codes 0, 1, ..., weights, and which columns are nominal.

    `who` names the measure in messages.

    Examples
    --------
    >>> X, y, weight, nominal = usable_rows(np.eye(3), [0, 1, 1], [1, 0, 2], None, "CFS")
    >>> X.shape, y, weight
    ((2, 3), array([0, 1]), array([1., 2.]))
    """
    codes = np.asarray(y)
    if codes.shape != (X.shape[0],) or codes.dtype.kind not in "iu" or codes.min(initial=0) < 0:
        raise TamisError(f"{who} takes a class code 0, 1, ... for each of {X.shape[0]} rows; got {_described(codes)}")
    named = np.zeros(X.shape[1], dtype=bool) if nominal is None else np.asarray(nominal)
    if named.shape != (X.shape[1],) or named.dtype != bool:
        raise TamisError(
            f"'nominal' of {who} takes True or False for each of {X.shape[1]} columns; got {_described(named)}"
        )
    X, codes, weight = counted(X, codes.astype(np.intp, copy=False), check_weights(sample_weight, X))
    if codes.size == 0:
        raise TamisError(f"{who} needs at least one row with a sample weight above zero")
    return X, codes, np.asarray(weight, dtype=np.float64), named


def refuse_nominal(nominal: Mask, what: str) -> None:
    """Refuse nominal columns where numbers are needed; `what` names the measure."""
    if nominal.any():
        raise DataError(f"{what} takes numbers, and column {int(nominal.argmax())} (counted from 0) is nominal")


def _described(given: np.ndarray) -> str:
    return f"shape {given.shape} of {given.dtype}"
