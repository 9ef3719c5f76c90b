"""The contract of a judge: what a classifier would say on sets of columns that differ by one, without a fit for each.

A search over subsets asks the same question again and again: what would the classifier answer if this column joined
the set, or left it? Distances add up over columns, so do log-likelihoods, and least squares follow one column by an
update. A classifier for which this holds offers a judge; for any other each set is fitted anew, with the same result.
"""

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Matrix


class Judge(Protocol):
    """Answers for one fold: made from its training rows, their classes and its test rows, for all columns at once.

    The answers must be those of the classifier fitted on the training rows of just these columns; codes are those of
    the classes given with the training rows. A judge may keep what it computed for the `columns` it was last asked
    about: a search changes them one by one.
    """

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone joins `columns` (which may be empty).

        Parameters
        ----------
        columns : int array
            The set, in the order in which it came together.
        candidates : int array
            Columns that are not in it.

        Returns
        -------
        int array of shape (n_candidates, n_test_rows)
        """

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone leaves `columns` (at least two of them)."""


def dense_columns(X: Matrix, columns: np.ndarray) -> FloatArray:
    """Some columns as a dense float64 array, column by column in memory; a block at a time is the caller's affair."""
    taken = X[:, columns]
    return np.asfortranarray(taken.toarray() if sp.issparse(taken) else taken, dtype=np.float64)
