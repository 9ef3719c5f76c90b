"""Columns as states in which a missing value is a state of its own."""

from dataclasses import replace

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.states import METHODS, States, states


def complete_states(
    X: Matrix, y: Codes, weight: FloatArray, nominal: Mask, *, bins: str, n_bins: int | None, who: str
) -> States:
    """The states of :func:`tamis.contingency.states.states`, with a last one for missing values; `who` is for messages.

    Examples
    --------
    >>> X, y = np.array([[5.0, 1.0], [np.nan, 2.0], [7.0, 1.0]]), np.array([0, 1, 1])
    >>> found = complete_states(X, y, np.ones(3), np.array([False, True]), bins="auto", n_bins=None, who="CFS")
    >>> found.codes, found.sizes
    (array([[0, 2, 1],
           [0, 1, 0]], dtype=int8), array([3, 2]))
    """
    if bins not in METHODS:
        raise TamisError(f"'bins' of {who} must be one of {', '.join(METHODS)}; got {bins!r}")
    weights = None if (weight == 1.0).all() else weight
    found = states(X, y, bins, n_bins, nominal if nominal.any() else None, weights)
    if found.codes is not None:
        missing = found.codes < 0
        if not missing.any():
            return found
        # The highest state of one byte is left free for this.
        codes = np.where(missing, found.sizes[:, None].astype(found.codes.dtype), found.codes)
        return replace(found, codes=codes, sizes=found.sizes + missing.any(axis=1))
    assert found.stored is not None
    assert found.indptr is not None
    missing = found.stored < 0
    if not missing.any():
        return found
    owner = np.repeat(np.arange(found.sizes.size), np.diff(found.indptr))
    stored = np.where(missing, found.sizes[owner], found.stored).astype(np.int32)
    some = np.zeros(found.sizes.size, dtype=bool)
    some[owner[missing]] = True
    return replace(found, stored=stored, sizes=found.sizes + some)


def dense_states(found: States, columns: np.ndarray) -> np.ndarray:
    """The states of some columns, one in each row, whatever the form of the others.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> rows = sp.csc_array(np.array([[5.0, 0.0], [0.0, 2.0], [7.0, 0.0]])), np.array([0, 1, 1]), np.ones(3)
    >>> found = complete_states(*rows, np.zeros(2, dtype=bool), bins="auto", n_bins=None, who="CFS")
    >>> dense_states(found, np.array([0, 1]))
    array([[1, 0, 2],
           [0, 1, 0]], dtype=int32)
    """
    if found.codes is not None:
        return found.codes[columns]
    assert found.indptr is not None
    assert found.rows is not None
    assert found.stored is not None
    assert found.zero is not None
    out = np.repeat(found.zero[columns, None].astype(np.int32), found.n_rows, axis=1)
    for row, j in zip(out, columns, strict=True):
        entries = slice(found.indptr[j], found.indptr[j + 1])
        row[found.rows[entries]] = found.stored[entries]
    return out
