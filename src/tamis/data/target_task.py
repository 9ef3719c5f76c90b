"""Whether a target holds classes or numbers: guessed from its values, or as the user says."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tamis.base.task import Task, WantedTask, numeric_target

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset

#: Whole numbers of at most this many different values are classes.
FEW = 20

#: Classes that are numbers, of which more are worth a note.
NOTED = 10

#: Whole numbers of at most this many different values are classes if each has on average at least this many rows.
MANY, ROWS = 50, 20


def guess_task(y: np.ndarray) -> tuple[Task, str]:
    """The task of a target, and the reason in words.

    Words are classes. Numbers with fractions are numbers, unless there are only two different ones. Whole numbers are
    classes where there are at most 20 different ones, or at most 50 of which each has 20 rows or more on average.

    Examples
    --------
    >>> guess_task(np.array([1, 2, 1, 2]))
    ('classify', '2 different values')
    >>> guess_task(np.array([0.3, 1.5, 2.0]))
    ('regress', '3 different values, with fractions')
    >>> guess_task(np.arange(30))
    ('regress', '30 different whole numbers in 30 rows')
    """
    if y.dtype.kind not in "iuf" or not y.size:
        return "classify", "words"
    values = np.unique(y[np.isfinite(y)] if y.dtype.kind == "f" else y)
    if values.size > 2 and values.dtype.kind == "f" and (values != np.rint(values)).any():
        return "regress", f"{values.size} different values, with fractions"
    if values.size <= FEW:
        return "classify", f"{values.size} different values"
    if values.size <= MANY and y.size >= ROWS * values.size:
        return "classify", f"{values.size} different whole numbers, each in many rows"
    return "regress", f"{values.size} different whole numbers in {y.size} rows"


def with_noted_task(data: "Dataset", task: WantedTask) -> "Dataset":
    """The data set with a task (:func:`with_task`), and a note on it where the values leave it open."""
    if task != "auto" or data.task == "regress":
        return with_task(data, data.task if task == "auto" else task)
    guess, why = guess_task(data.y)
    found = with_task(data, guess)
    # Formats that keep their labels apart have no name for them.
    name = "" if data.target == "class" else f" {data.target!r}"
    if guess == "regress":
        note = f"the target{name} holds numbers ({why}); --task classify takes them for classes"
    elif data.y.dtype.kind in "iuf" and found.classes.size > NOTED:
        note = f"the target{name} holds {found.classes.size} classes ({why}); --task regress predicts numbers"
    else:
        return found
    return replace(found, notes=(*found.notes, note))


def with_task(data: "Dataset", task: WantedTask) -> "Dataset":
    """The data set with a task: the one that is wanted, or for "auto" that of its target's values.

    Numbers with fractions that are to be classes become words, which every estimator takes for classes.
    """
    settled = guess_task(data.y)[0] if task == "auto" else task
    if settled == "regress":
        return replace(data, y=numeric_target(data.y, data.name), task=settled)
    y = data.y
    if y.dtype.kind == "f" and np.isfinite(y).all() and (y != np.rint(y)).any():
        y = np.array([f"{value:g}" for value in y])
    return replace(data, y=y, task=settled)
