"""The contract of an incremental evaluator: predictions for sets of columns that differ by one, without a refit.

A search over subsets needs the predictions of a model after one column joins or leaves the set. Distances and
log-likelihoods add up over columns, and least squares follow a column by an update. A classifier or regressor with such
a form has an evaluator; any other is refitted for each set, with the same result.
"""

from typing import Protocol

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Matrix, Target


class IncrementalEvaluator(Protocol):
    """Predictions within one fold, for the training rows, their target and the test rows it is made from.

    Classes equal those that the classifier predicts once it is fitted on the training rows of exactly these columns;
    numbers equal those of the regressor but for rounding, 1e-7 of the target's deviation at most. An evaluator may
    cache what it computed for the last `columns`: a search changes them one by one.
    """

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> Target:
        """Predictions, (n_candidates, n_test_rows), when each candidate alone joins `columns`, which may be empty."""

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> Target:
        """Predictions, (n_candidates, n_test_rows), when each candidate alone leaves `columns`, at least two."""


def dense_columns(X: Matrix, columns: np.ndarray) -> FloatArray:
    """Some columns as a dense float64 array, column by column in memory."""
    taken = X[:, columns]
    return np.asfortranarray(taken.toarray() if sp.issparse(taken) else taken, dtype=np.float64)
