"""A numeric target as a few states of equal frequency."""

import numpy as np

from tamis.base.types import Codes, FloatArray

#: The most states by default.
_MOST = 10


def target_states(y: FloatArray, n_bins: int | None = None, sample_weight: FloatArray | None = None) -> Codes:
    """The state of each row, 0, 1, ..., in the order of the target.

    The numbers are cut into at most `n_bins` states of as nearly the same number of rows as they allow. The default is
    the cube root of twice the number of rows, between 2 and 10: 4 states of 50 rows, 10 of 500 and more. Equal numbers
    stay together: their middle rank decides, so that a number which most rows share is a state of its own. Weights
    count as repeated rows.

    Examples
    --------
    >>> target_states(np.array([0.1, 7.5, 0.2, 0.3, 2.5, 2.0])), target_states(np.array([0.0, 0.0, 0.0, 0.0, 2.5]))
    (array([0, 1, 0, 0, 1, 1]), array([0, 0, 0, 0, 1]))
    """
    values, place = np.unique(y, return_inverse=True)
    weight = np.bincount(place, weights=sample_weight, minlength=values.size).astype(np.float64)
    reached = np.cumsum(weight)
    if n_bins is None:
        # The cube root of 1000 is slightly below 10.
        n_bins = int(np.clip(np.cbrt(2.0 * reached[-1]) + 1e-9, 2, _MOST))
    middle = reached - 0.5 * weight
    _, state = np.unique(np.floor(n_bins * middle / max(reached[-1], 1e-300)), return_inverse=True)
    return state[place].astype(np.intp, copy=False)
