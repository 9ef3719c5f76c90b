"""Values as JSON can hold them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Convert a value to what ``json.dumps(..., allow_nan=False)`` takes, all the way down.

    NaN and the infinities become None; arrays, tuples and polars columns become lists; keys of a dict, and all other
    objects, become text.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"mean": np.float64(0.25), "se": float("nan"), "selected": np.array([1, 2])})
    {'mean': 0.25, 'se': None, 'selected': [1, 2]}
    """
    if value is None or isinstance(value, (bool, str)):
        # numpy.str_ is a str that not every reader takes.
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
