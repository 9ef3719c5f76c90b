"""The minimum of a quadratic function over a box, by block pivoting."""

import numpy as np
import scipy.linalg

from tamis.base.types import Codes, FloatArray

#: Share of a slope that is rounding.
_SLIGHT = 1e-12

#: Rounds of pivoting, more where they are cheap, and rounds without progress before coefficients change one by one.
_PIVOTS, _CHEAP, _PATIENCE = 50, 20_000, 3


def box_minimum(
    system: FloatArray, linear: FloatArray, low: FloatArray, high: FloatArray, side: Codes
) -> FloatArray | None:
    """Minimum of x'Hx / 2 + c'x over a box, by block pivoting from a guess `side` (-1, 0, 1) of the active ends.

    All wrong sides change together; when that no longer reduces their number only the last one does, which terminates
    for any positive definite H (Júdice and Pires 1994). None if that takes too long or rounding makes H indefinite.
    """
    fewest, patience = linear.size + 1, _PATIENCE
    slight = _SLIGHT * float(np.abs(linear).max())
    for _ in range(max(_PIVOTS, _CHEAP // linear.size)):
        x = np.where(side < 0, low, np.where(side > 0, high, 0.0))
        free = side == 0
        right = linear[free] + system[np.ix_(free, ~free)] @ x[~free]
        try:
            factor = scipy.linalg.cho_factor(system[np.ix_(free, free)], lower=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return None
        x[free] = -scipy.linalg.cho_solve(factor, right, check_finite=False)
        slope = np.where(free, 0.0, system @ x + linear)
        wanted = np.where(free, (x > high).astype(np.intp) - (x < low), np.where(side * slope > slight, 0, side))
        wrong = np.flatnonzero(wanted != side)
        if wrong.size == 0:
            return np.clip(x, low, high)
        patience = _PATIENCE if wrong.size < fewest else patience - 1
        fewest = min(fewest, wrong.size)
        change = wrong if patience > 0 else wrong[-1:]
        side[change] = wanted[change]
    return None
