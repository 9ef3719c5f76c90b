"""Numeric columns as states that are found once, for measures on samples of the rows."""

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, Mask, Matrix
from tamis.contingency.states import States
from tamis.subsets.complete_states import complete_states


def coded_states(X: Matrix, y: Codes, nominal: Mask, bins: str, who: str) -> Matrix:
    """The states of the columns as the codes of nominal ones, dense or CSR; a missing value is a state.

    Examples
    --------
    >>> X, y = np.array([[0.0, 7.0], [0.5, np.nan], [9.5, 8.0], [9.0, 8.0]]), np.array([0, 0, 1, 1])
    >>> coded_states(X, y, np.array([False, True]), "equal_width", "example").astype(int).T
    array([[0, 0, 9, 9],
           [0, 2, 1, 1]])
    """
    found = complete_states(X, y, np.ones(y.size), nominal, bins=bins, n_bins=None, who=who)
    return _sparse(found) if found.codes is None else np.ascontiguousarray(found.codes.T, dtype=np.float64)


def _sparse(found: States) -> Matrix:
    """The state of the value zero has the code 0, so that the columns stay sparse."""
    assert found.indptr is not None
    assert found.rows is not None
    assert found.stored is not None
    assert found.zero is not None
    owner = np.repeat(np.arange(found.sizes.size), np.diff(found.indptr))
    codes = (found.stored - found.zero[owner]) % found.sizes[owner]
    shape = (found.n_rows, found.sizes.size)
    return sp.csc_array((codes.astype(np.float64), found.rows, found.indptr), shape=shape).tocsr()
