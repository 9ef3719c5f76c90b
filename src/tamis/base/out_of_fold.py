"""What a transform makes of its training rows, learned from the rows of the other folds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Target

#: Training and test rows of folds.
Folds = Sequence[tuple[np.ndarray, np.ndarray]]


def transform_folds(y: Target, cv: int, random_state: Any, who: str) -> Folds:
    """The folds of a transform with the parameter `cv`; `who` names it in the error message."""
    largest = y.size if is_numeric(y) else np.bincount(y).max()
    if largest < 2:
        rows = "at least two rows, got 1 sample" if is_numeric(y) else "a class with at least two rows"
        raise TamisError(f"{who}: cv needs {rows}; set cv=none to give the training rows what new ones get")
    return inner_folds(y, cv, random_state, f"{who}: cv")


def target_vectors(y: Target, classes: range) -> FloatArray:
    """The numbers of each row whose means a transform puts in place of values: indicators of classes, or the target."""
    if is_numeric(y):
        numbers: FloatArray = y[:, None]
        return numbers
    return (y[:, None] == np.asarray(classes)) * 1.0


def out_of_fold(
    values: Callable[[np.ndarray, np.ndarray], Any],
    vectors: FloatArray,
    folds: Folds,
    weight: FloatArray | None = None,
) -> Any:
    """The values of all rows, those of each fold from ``values(train, test)``.

    Each input column becomes means of the `vectors` of training rows. A fold with many rows of a class, or large
    numbers, leaves fewer of them elsewhere, which means of the other folds would reveal: dense ones are shifted so that
    the means of all rows agree. In sparse rows the subtracted value of zero removes it.
    """
    made = [values(train, test) for train, test in folds]
    sparse = sp.issparse(made[0])
    if not sparse:
        whole = _mean(vectors, weight)
        for out, (train, _) in zip(made, folds, strict=True):
            shift = whole - _mean(vectors[train], None if weight is None else weight[train])
            out += np.tile(shift, out.shape[1] // shift.size).astype(out.dtype)
    order = np.argsort(np.concatenate([test for _, test in folds]))
    return sp.vstack(made, format="csr")[order] if sparse else np.concatenate(made)[order]


def _mean(vectors: FloatArray, weight: FloatArray | None) -> FloatArray:
    found: FloatArray = vectors.mean(axis=0) if weight is None else np.average(vectors, axis=0, weights=weight)
    return found
