"""One split for each column by itself: what rankings by SSV and by balanced error need."""

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.kernels.ssv import nominal_split
from tamis.trees.columns import level_codes, sorted_columns
from tamis.trees.rows import counted
from tamis.trees.split import best_splits


def stumps(
    X: Matrix, codes: Codes, weight: FloatArray | None, *, criterion: str, nominal: Mask | None = None
) -> FloatArray:
    """Worth of the best split of every column on all rows; 0 for a column that cannot be split.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        NaN is missing and left out, column by column.
    codes : int array of shape (n_rows,)
    weight : float array of shape (n_rows,), optional
        Weights of zero and above.
    criterion : {"ssv", "balanced_error"}
    nominal : bool array of shape (n_features,), optional
        Columns of level codes 0, 1, ...; dense only.
    """
    X, codes, weight = counted(X, codes, weight)
    if X.shape[0] == 0:
        return np.zeros(X.shape[1])
    codes = codes.astype(np.int64, copy=False)
    total = np.bincount(codes, weights=weight).astype(np.float64)
    worth = np.zeros(X.shape[1])
    names = np.flatnonzero(nominal) if nominal is not None else np.zeros(0, dtype=np.intp)
    numeric = None if nominal is None else np.flatnonzero(~nominal)
    for columns in sorted_columns(X, numeric):
        worth[columns.features] = best_splits(columns, codes, weight, total, X.shape[0], criterion).worth
    rows = np.arange(X.shape[0])
    for name in names:
        levels, n_levels = level_codes(X[:, name])
        subset = np.zeros(n_levels, dtype=bool)
        balanced = criterion == "balanced_error"
        worth[name], _ = nominal_split(levels, rows, codes, weight, total.shape[0], balanced, subset)
    return np.maximum(worth, 0.0)
