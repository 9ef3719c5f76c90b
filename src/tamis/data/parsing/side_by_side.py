"""Sparse matrices side by side, one of which is too large for a second copy."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

#: Entries that are moved at a time.
_BLOCK = 1 << 20


def side_by_side(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    """The columns of all matrices in one of float32, in the memory of the largest, which is empty afterwards.

    From the last rows to the first: the entries of a row move towards the end, where no row is left to be moved.

    Examples
    --------
    >>> blocks = [sp.csr_array(np.array(rows, dtype=np.float32)) for rows in ([[1], [0]], [[2, 0], [0, 3]])]
    >>> side_by_side(blocks).toarray().tolist()
    [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
    """
    if len(blocks) == 1:
        return blocks[0]
    largest = max(blocks, key=lambda block: block.nnz)
    indptr = np.stack([block.indptr for block in blocks]).astype(np.int64).sum(axis=0)
    shape = (largest.shape[0], sum(block.shape[1] for block in blocks))
    if indptr[-1] > np.iinfo(np.int32).max or any(block.dtype != np.float32 for block in blocks):
        return sp.csr_array(sp.hstack(blocks, format="csr"), dtype=np.float32)
    data, indices, place, width = _owned(largest.data), _owned(largest.indices), largest.indptr, largest.shape[1]
    largest.data, largest.indices, largest.indptr = largest.data[:0].copy(), largest.indices[:0].copy(), place * 0
    for array in (data, indices):
        array.resize(int(indptr[-1]), refcheck=False)
    step = max(1, _BLOCK * shape[0] // max(1, int(indptr[-1])))
    for start in reversed(range(0, shape[0], step)):
        stop = min(start + step, shape[0])
        own = slice(int(place[start]), int(place[stop]))
        mine = sp.csr_array(
            (data[own].copy(), indices[own].copy(), place[start : stop + 1] - place[start]),
            shape=(stop - start, width),
        )
        rows = sp.hstack([mine if block is largest else block[start:stop] for block in blocks], format="csr")
        to = slice(int(indptr[start]), int(indptr[stop]))
        data[to], indices[to] = rows.data, rows.indices
    return sp.csr_array((data, indices, indptr.astype(np.int32)), shape=shape)


def _owned(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a view of its beginning, which can grow; a copy where there is none."""
    whole = array if array.base is None else array.base
    fits = isinstance(whole, np.ndarray) and whole.flags.owndata and whole.ndim == 1 and whole.dtype == array.dtype
    return whole if fits and whole.ctypes.data == array.ctypes.data else array.copy()
