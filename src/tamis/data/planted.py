"""What the generators share: checks of their parameters, and the last step from columns to a data set."""

from numbers import Integral
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset


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


def planted(
    name: str, X: FloatArray, y: np.ndarray, roles: np.ndarray, order: np.ndarray, *, target: str = "class"
) -> Dataset:
    """The data set with its columns in the given `order`, called f1, f2, ... from left to right.

    Names tell nothing of the roles, as in a real problem; `roles` of the data set does.
    """
    names = np.array([f"f{number}" for number in range(1, X.shape[1] + 1)])
    return Dataset(X=X[:, order], y=y, feature_names=names, name=name, target=target, roles=roles[order])
