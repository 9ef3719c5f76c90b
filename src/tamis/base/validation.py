"""Numbers given by the user, refused in one wording."""

from numbers import Integral
from typing import Any

import numpy as np

from tamis.base.errors import TamisError


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse anything but a whole number of `least` or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise TamisError(f"{name} must be a whole number of {least} or more; got {value!r}")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Refuse anything but a finite number from `low` up to, not including, `high`."""
    if (
        not isinstance(value, int | float | np.integer | np.floating)
        or isinstance(value, bool)
        or not low <= value < high
    ):
        below = "" if high == np.inf else f" and below {high:g}"
        raise TamisError(f"{name} must be a finite number of {low:g} or more{below}; got {value!r}")
