"""The task that a target sets: tell classes apart, or predict numbers.

Inside the library the type of the validated target tells the task: class codes are integers, numbers are float64
(:func:`is_numeric`).
"""

from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.types import FloatArray
from tamis.base.validation import encode_labels

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
    if (strange := _no_number(y)) is not None:
        raise TamisError(f"{who} needs numbers; the target holds {strange!r}")
    numbers = np.asarray(y, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise TamisError(f"{who} needs a finite number for every row; the target of row {row} is {numbers[row]}")
    return numbers


def wrong_task(part: Part, serves: Task, held: Task) -> TamisError:
    """The refusal of a target whose task a part does not serve, with the part to take instead.

    Examples
    --------
    >>> print(wrong_task(Part("svm", counterpart="svr"), "classify", "regress"))
    svm is for classes, and the target holds numbers: take svr
    """
    other = f": take {part.counterpart}" if part.counterpart else ""
    return TamisError(f"{part.name} is for {HOLDS[serves]}, and the target holds {HOLDS[held]}{other}")


class TakesTarget:
    """Base of the selectors and transforms that learn from a target: what it holds decides the task.

    ``_target`` turns a target into class codes 0, 1, ..., whose labels it stores as ``classes_``, or into float64.
    """

    part: ClassVar[Part]
    #: The tasks it serves; one that serves both has a parameter `task` or knows the task by the estimators inside.
    tasks: ClassVar[tuple[Task, ...]] = ("classify",)
    classes_: np.ndarray

    def _supervised(self) -> bool:
        """Whether the target is needed; an estimator that can do without overrides this."""
        return True

    def _target(self, y: Any) -> Any:
        """Class codes, whose labels are kept, or numbers."""
        if self._task(y) == "regress":
            if self.tasks == ("regress",) and _no_number(y) is not None:
                raise wrong_task(self.part, "regress", "classify")
            return numeric_target(y, self.part.name)
        self.classes_, codes = encode_labels(y, type(self).__name__)
        return codes

    def _task(self, y: Any) -> Task:
        """The task at hand: that of the parameters, or else of the target."""
        settled = self._settled_task()
        return task_of(y) if settled == "auto" else settled

    def _settled_task(self) -> WantedTask:
        """The task that the parameters settle; "auto" where the target decides."""
        return getattr(self, "task", "auto") if self.tasks == BOTH else self.tasks[0]


def _no_number(y: Any) -> Any:
    """The first entry of a target that is no number; None if all are."""
    values = np.asarray(y)
    if values.dtype.kind in "biuf":
        return None
    return next((one for one in values.tolist() if not isinstance(one, int | float)), None)
