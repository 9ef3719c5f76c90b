"""Values as JSON can hold them."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Convert a value, all the way down, to what ``json.dumps(..., allow_nan=False)`` takes.

    NaN and the infinities become None; arrays, tuples and polars columns become lists; anything else becomes text.

    Examples
    --------
    >>> plain({"mean": np.float64(0.25), "se": float("nan"), "columns": np.array([1, 2])})
    {'mean': 0.25, 'se': None, 'columns': [1, 2]}
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
        return [plain(inner) for inner in value]
    return str(value)
