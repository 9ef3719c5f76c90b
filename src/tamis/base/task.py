"""The task that a target sets: tell classes apart, or predict numbers.

Inside the library the type of the validated target tells the task: class codes are integers, numbers are float64
(:func:`is_numeric`).
"""

from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray

Task: TypeAlias = Literal["classify", "regress"]

#: The task of an estimator that serves both: by the target, or as its parameter says.
WantedTask: TypeAlias = Literal["auto", "classify", "regress"]

#: Both tasks.
BOTH: tuple[Task, ...] = get_args(Task)

#: What the target of a task holds.
HOLDS: dict[Task, str] = {"classify": "classes", "regress": "numbers"}


def task_of(y: Any) -> Task:
    """The task of a target by scikit-learn's rule: numbers with fractions are numbers, all else are classes.

    Whole numbers may be either, and count as classes here; an estimator that is to predict them has it in its
    parameter ``task``. A recipe gets the task of its data.

    Examples
    --------
    >>> task_of([0.5, 1.5, 2.25]), task_of([1.0, 2.0, 7.0]), task_of(["a", "b"])
    ('regress', 'classify', 'classify')
    """
    values = np.asarray(y)
    if values.dtype.kind != "f":
        return "classify"
    known = values[np.isfinite(values)]
    return "regress" if bool((known != np.rint(known)).any()) else "classify"


def is_numeric(y: Any) -> bool:
    """Whether a validated target holds numbers, and not class codes.

    Examples
    --------
    >>> is_numeric(np.array([1.0, 2.0])), is_numeric(np.array([1, 2])), is_numeric(None)
    (True, False, False)
    """
    return y is not None and y.dtype.kind == "f"


def numeric_target(y: Any, who: str) -> FloatArray:
    """A target of numbers as float64, all finite; `who` begins the error message.

    Examples
    --------
    >>> numeric_target([1, 2], "ridge")
    array([1., 2.])
    >>> numeric_target(["a", "b"], "ridge")
    Traceback (most recent call last):
        ...
    tamis.base.errors.TamisError: ridge needs numbers; the target holds 'a'
    """
    values = np.asarray(y)
    if values.dtype.kind not in "biuf":
        strange = next((one for one in values.tolist() if not isinstance(one, int | float)), None)
        if strange is not None:
            raise TamisError(f"{who} needs numbers; the target holds {strange!r}")
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise TamisError(f"{who} needs a finite number for every row; the target of row {row} is {numbers[row]}")
    return numbers
