"""Cuts by separability (SSV), pruned."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from tamis.base.inner_cv import inner_folds, most_confident
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.bins.method import binning
from tamis.kernels.cuts import column_cuts, cuts_right
from tamis.trees.columns import SortedColumns, sorted_columns
from tamis.trees.prune import degrees_to_try

#: Rounding error of sums of fractional weights.
_CLOSE = 1e-9


@binning("ssv")
def ssv(
    X: Matrix,
    y: Codes,
    *,
    min_gain: float | Literal["auto"],
    max_bins: int | None,
    class_weight: str | None,
    cv: int,
    caution: float,
    random_state: Any,
) -> list[FloatArray]:
    """Split each column where that separates most, again on either side, until the parts are pure; then prune.

    The splits are those of :class:`tamis.classify.SSVTree` on the column alone. Splits that correct fewer than
    `min_gain` rows are removed, the last ones first.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> Discretize("ssv", min_gain=1).fit(X, ["a", "a", "b", "b", "a", "a"]).cuts_
    [array([2.5, 4.5])]
    """
    codes = y.astype(np.int64, copy=False)
    size = np.bincount(codes).astype(np.float64)
    priors = codes.shape[0] / (size.shape[0] * size) if class_weight == "balanced" else np.ones(size.shape[0])
    parts = inner_folds(y, cv, random_state, 'Discretize: min_gain="auto"') if min_gain == "auto" else []
    cuts: list[FloatArray] = []
    for columns in sorted_columns(X):
        cut, degree, count = _grown(columns, codes, priors, np.ones(codes.shape[0], dtype=bool))
        segments = [slice(start, start + size) for start, size in zip(columns.begin, count, strict=True)]
        found = [(cut[segment].copy(), degree[segment].copy()) for segment in segments]
        if min_gain == "auto":
            allowed = _chosen(columns, codes, priors, found, parts, caution)
        else:
            allowed = [float(min_gain) - _CLOSE] * len(found)
        for (cut, degree), least in zip(found, allowed, strict=True):
            if max_bins is not None and cut.size >= max_bins:
                least = max(least, float(np.sort(degree)[-max_bins]))
            cuts.append(cut[degree > least])
    return cuts


def _grown(
    columns: SortedColumns, codes: Codes, priors: FloatArray, used: Mask
) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """All cuts, the degrees of pruning that delete them, and the number of cuts of each column."""
    cut, degree = np.empty(columns.values.shape[0]), np.empty(columns.values.shape[0])
    count = np.zeros(columns.begin.shape[0], dtype=np.int64)
    column_cuts(
        *(columns.begin, columns.end, columns.rows, columns.values),
        *(codes, used, priors, cut, degree, count),
    )
    return cut, degree, count


def _chosen(
    columns: SortedColumns,
    codes: Codes,
    priors: FloatArray,
    found: list[tuple[FloatArray, FloatArray]],
    parts: list[tuple[np.ndarray, np.ndarray]],
    caution: float,
) -> list[float]:
    """The degree of pruning of each column with the most confident accuracy in the folds; of equals the largest."""
    candidates = [degrees_to_try(degree) for _, degree in found]
    first = np.concatenate(([0], np.cumsum([c.size for c in candidates]))).astype(np.int64)
    tried = np.concatenate(candidates)
    accuracy = np.zeros((len(parts), tried.shape[0]))
    for fold, (train, test) in enumerate(parts):
        used = np.zeros(codes.shape[0], dtype=bool)
        used[train] = True
        grown = _grown(columns, codes, priors, used)
        # The folds hold fewer rows: degrees scale with them.
        share = priors[codes[train]].sum() / priors[codes].sum()
        right = accuracy[fold]
        cuts_right(
            *(columns.begin, columns.end, columns.rows, columns.values),
            *(codes, used, priors, *grown, first, tried * share, right),
        )
        right /= priors[codes[test]].sum()
    return [float(tried[start + most_confident(accuracy[:, start:end], caution)]) for start, end in pairwise(first)]
