"""Sparse matrices as kernels take them."""

from typing import Any

import numpy as np


def stored_arrays(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The data, the indices and the starts of a CSR or CSC matrix, of the integer types that kernels are compiled for.

    SciPy gives both of the latter one type, wide or not. Rows and columns are always few enough for int32, stored
    values are not: with one type for each no kernel needs two versions.
    """
    return X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)
