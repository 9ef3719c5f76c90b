"""Folds inside a fit: the choice of a best candidate, and values of rows that other folds tell."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold

from tamis.base._sklearn import real
from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.task import is_numeric
from tamis.base.types import Codes, FloatArray, Target

#: The constraints of the parameter `caution` of an estimator.
CAUTION: list[Any] = [real(0, None, "left")]

#: Whole-number weights are counts up to this sum.
_COPIES = 1_000_000

#: Training and test rows of folds.
Folds = Sequence[tuple[np.ndarray, np.ndarray]]


class Fold(NamedTuple):
    """Weight of every row in the training part and in the test part of a fold; 0 for a row that is not in it."""

    train: FloatArray
    test: FloatArray


def most_confident(accuracy: FloatArray, caution: float = 0.0) -> int:
    """The candidate with the highest mean - caution * sd of its accuracy over folds; of equals the first.

    With `caution` near 1 this is the choice of Grabczewski and Jankowski (eq. 25), which prefers models that are both
    accurate and stable; with 0 it is the best mean. `accuracy` has shape (n_folds, n_candidates).

    Examples
    --------
    >>> accuracy = np.array([[0.9, 0.99], [0.9, 0.83]])
    >>> most_confident(accuracy), most_confident(accuracy, caution=1.0)
    (1, 0)
    """
    value = cautious_mean(accuracy, caution)
    # Values that differ by rounding alone are equal: the order of the folds must not decide.
    return int(np.flatnonzero(value >= value.max() - 1e-12)[0])


def cautious_mean(accuracy: FloatArray, caution: float = 0.0) -> FloatArray:
    """Mean over folds less `caution` deviations, for each candidate; one fold alone has no deviation."""
    mean: FloatArray = accuracy.mean(axis=0)
    return mean - caution * accuracy.std(axis=0, ddof=1) if caution and accuracy.shape[0] > 1 else mean


def inner_folds(y: Codes | FloatArray, folds: int, random_state: Any, what: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of stratified folds within the training rows of a fit.

    There are at most as many folds as the largest class has rows; `what` names the parameter in the error message.
    Numbers are stratified by size: of each `folds` rows that follow each other in order, every fold tests one.
    """
    if is_numeric(y):
        if y.size < 2:
            raise TamisError(f"{what} needs at least two rows to cross-validate, got 1 sample; give it as a number")
        y = size_strata(y, folds)
    largest = int(np.bincount(y).max())
    if largest < 2:
        raise TamisError(f"{what} needs a class with at least two rows to cross-validate; give it as a number")
    seed = int(generator(random_state).integers(2**31))
    splitter = StratifiedKFold(min(folds, largest), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is in as many folds as it has rows.
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(np.zeros(y.shape[0]), y))


def size_strata(y: Codes | FloatArray, rows: int) -> Codes:
    """The stratum of each number: `rows` of them that follow each other in order share one; the last may have fewer.

    Examples
    --------
    >>> size_strata(np.array([0.5, 9.0, 2.0, 7.0, 1.0]), 2)
    array([0, 2, 1, 1, 0])
    """
    strata = np.empty(y.size, dtype=np.intp)
    strata[np.argsort(y, kind="stable")] = np.arange(y.size) // rows
    return strata


def weighted_folds(
    key: FloatArray, y: Codes | FloatArray, weight: FloatArray, folds: int, random_state: Any, what: str
) -> list[Fold]:
    """Stratified folds that depend neither on the order of the rows nor on how copies of a row are written.

    When all weights (above zero) are whole numbers, a row counts as that many copies, which may lie in different folds;
    otherwise it lies in one. Rows are split in the order of `key`, of equals the earlier first: numbers from 0 up that
    do not depend on the order of the columns, such as a row's length. The rest is as for :func:`inner_folds`.

    Examples
    --------
    >>> parts = weighted_folds(np.arange(4.0), np.array([0, 0, 1, 1]), np.array([2.0, 1.0, 1.0, 2.0]), 3, 0, "k")
    >>> np.sum([part.test for part in parts], axis=0), (parts[0].train + parts[0].test)
    (array([2., 1., 1., 2.]), array([2., 1., 1., 2.]))
    """
    copies, each = row_copies(key, weight)
    return [
        Fold(*(each * np.bincount(copies[rows], minlength=y.shape[0]) for rows in fold))
        for fold in inner_folds(y[copies], folds, random_state, what)
    ]


def row_copies(key: FloatArray, weight: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """Rows in the order of `key`, each as often as its weight, and what a copy of each weighs.

    Weights (above zero) that are not all whole numbers leave one copy of each row, with its weight.

    Examples
    --------
    >>> row_copies(np.array([2.0, 1.0]), np.array([1.0, 2.0])), row_copies(np.array([2.0, 1.0]), np.array([0.5, 2.0]))
    ((array([1, 1, 0]), array([1., 1.])), (array([1, 0]), array([0.5, 2. ])))
    """
    # The square of a length may overflow.
    key = np.minimum(key, np.finfo(np.float64).max)
    largest = float(key.max())
    # Rounded, since a sum over the columns of a sparse matrix or of permuted ones differs in the last digits.
    order = np.argsort(np.round(key / largest, 9) if largest > 0 else key, kind="stable")
    counted = bool((weight == np.rint(weight)).all()) and weight.sum() <= _COPIES
    counts = weight.astype(np.intp) if counted else np.ones(weight.size, dtype=np.intp)
    return np.repeat(order, counts[order]), weight / counts


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
