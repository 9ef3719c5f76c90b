"""Columns that tell the class alone: a value that is known only after the outcome is the usual cause."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from tamis.base.types import Codes, FloatArray, Mask

#: What is said of such a column.
WARNING = "tells the class alone; was it known before the outcome?"
#: Fewer rows, in all or in the smallest class, are told apart by chance too easily.
_FEWEST_ROWS, _FEWEST_IN_CLASS = 30, 5
#: More classes than this are numbers to predict.
_MOST_CLASSES = 30
#: More columns than this tell the class where it is easy to predict, as from genes.
_MOST_COLUMNS = 3
#: Rows for each level that make levels few.
_ROWS_PER_LEVEL = 10
#: Rows of each class that are read of every column before any column is read in full.
_HEAD = 8


def suspected_leaks(X: FloatArray, names: list[str], words: Mapping[str, pl.Series], y: np.ndarray) -> list[str]:
    """The columns of numbers (`X` and `names`) and of words that tell the class without error.

    Numbers do when the values of each class are apart from those of all others. Words do when each has rows of one
    class only, at least two, and there are ten times as many rows as words. Missing values count as one more value.
    Where more than three columns do so the class is easy to predict, and none is suspected.

    Examples
    --------
    >>> y = np.repeat(["ill", "well"], 20)
    >>> after = np.repeat([3.0, 0.0], 20) + np.arange(40) % 3
    >>> suspected_leaks(np.column_stack([after, np.arange(40) % 7]), ["treatments", "day"], {}, y)
    ['treatments']
    """
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if len(y) < _FEWEST_ROWS or not 2 <= len(classes) <= _MOST_CLASSES or sizes.min() < _FEWEST_IN_CLASS:
        return []
    found = [names[j] for j in np.flatnonzero(_apart(X, codes)).tolist()]
    found += [name for name, column in words.items() if _levels_tell(column, codes)]
    return found if len(found) <= _MOST_COLUMNS else []


def _apart(X: FloatArray, codes: Codes) -> Mask:
    """Mask of the columns in which every class has a range of its own, and missing values one class."""
    rows_of = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    found = _apart_in(X, [rows[:_HEAD] for rows in rows_of])
    found[found] = _apart_in(X[:, found], rows_of)
    return found


def _apart_in(X: FloatArray, rows_of: list[np.ndarray]) -> Mask:
    values = [X[rows] for rows in rows_of]
    low = np.array([np.fmin.reduce(one, axis=0) for one in values])
    high = np.array([np.fmax.reduce(one, axis=0) for one in values])
    # A class without known values comes last, and no range overlaps it.
    low, high = np.where(np.isnan(low), np.inf, low), np.where(np.isnan(high), np.inf, high)
    order = np.argsort(low, axis=0, kind="stable")
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    missing = np.array([np.isnan(one).any(axis=0) for one in values]).sum(axis=0)
    return np.asarray((high[:-1] < low[1:]).all(axis=0) & (missing <= 1))


def _levels_tell(column: pl.Series, codes: Codes) -> bool:
    levels, places = np.unique(column.fill_null("").to_numpy().astype(str), return_inverse=True)
    if len(levels) < 2 or len(levels) * _ROWS_PER_LEVEL > len(codes):
        return False
    counts = np.zeros((len(levels), int(codes.max()) + 1), dtype=np.intp)
    np.add.at(counts, (places, codes), 1)
    return bool((np.count_nonzero(counts, axis=1) == 1).all() and (counts.sum(axis=1) >= 2).all())
