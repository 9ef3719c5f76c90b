"""Any value as plain data: only what JSON can hold."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Turn a value into text, whole numbers, fractions, booleans, None, lists and dicts.

    NaN and the infinities become None, which is what a reader of JSON understands; arrays, tuples and polars columns
    become lists; the keys of a dict become text; anything else is said as text.

    Parameters
    ----------
    value : object
        What to turn; dicts, lists and tuples are turned all the way down.

    Returns
    -------
    object
        What ``json.dumps(..., allow_nan=False)`` takes.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"mean": np.float64(0.25), "se": float("nan"), "kept": np.array([1, 2])})
    {'mean': 0.25, 'se': None, 'kept': [1, 2]}
    """
    if value is None or isinstance(value, (bool, str)):
        # A text of numpy is a str too, but not one that every reader takes.
        return str(value) if isinstance(value, str) else value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [plain(inner) for inner in value]
    return str(value)
