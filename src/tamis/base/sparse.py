"""Sparse matrices brought into the form that kernels rely on."""

from tamis.base.types import Matrix


def canonical(X: Matrix) -> Matrix:
    """The same matrix with sorted indices and one stored value per place; the caller's matrix is left alone.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> canonical(sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))).data
    array([3.])
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
