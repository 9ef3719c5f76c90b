"""Numeric columns of a data set as one dense matrix."""

import numpy as np
import polars as pl

from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset


def numbers(data: Dataset, columns: np.ndarray) -> FloatArray:
    """A few numeric columns as a dense matrix, NaN where missing.

    Examples
    --------
    >>> data = Dataset(np.array([[0, 1], [2, 3]]), np.array([0, 1]), np.array(["u", "v"]))
    >>> numbers(data, np.array([1]))
    array([[1.],
           [3.]])
    """
    if not columns.size:
        return np.empty((data.n_rows, 0))
    if data.is_sparse:
        return np.asarray(data.X[:, columns].toarray(), dtype=np.float64)
    if isinstance(data.X, pl.DataFrame):
        return np.column_stack([data.X.to_series(j).cast(pl.Float64).to_numpy() for j in columns.tolist()])
    return np.asarray(data.X[:, columns], dtype=np.float64)
