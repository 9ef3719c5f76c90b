"""The best split of each column by itself, for rankings by SSV and by balanced error."""

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.kernels.ssv import nominal_split
from tamis.trees.columns import level_codes, sorted_columns
from tamis.trees.rows import counted
from tamis.trees.split import best_splits


def stumps(
    X: Matrix, codes: Codes, weight: FloatArray | None, *, criterion: str, nominal: Mask | None = None
) -> FloatArray:
    """Criterion of the best split of every column on all rows; 0 for a column that cannot be split.

    NaN is missing and left out, column by column. `nominal` marks columns of level codes 0, 1, ... (dense only).
    """
    X, codes, weight = counted(X, codes, weight)
    if X.shape[0] == 0:
        return np.zeros(X.shape[1])
    codes = codes.astype(np.int64, copy=False)
    total = np.bincount(codes, weights=weight).astype(np.float64)
    score = np.zeros(X.shape[1])
    nominal = np.zeros(X.shape[1], dtype=bool) if nominal is None else nominal
    for columns in sorted_columns(X, np.flatnonzero(~nominal)):
        score[columns.features] = best_splits(columns, codes, weight, total, X.shape[0], criterion).score
    rows = np.arange(X.shape[0])
    for j in np.flatnonzero(nominal):
        levels, n_levels = level_codes(X[:, j])
        subset = np.zeros(n_levels, dtype=bool)
        score[j], _ = nominal_split(levels, rows, codes, weight, total.size, criterion == "balanced_error", subset)
    return np.maximum(score, 0.0)
