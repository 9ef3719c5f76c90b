"""Squared errors of ridge regression on rows left out one at a time, for many sets of columns and penalties."""

import numpy as np

from tamis.kernels.compiler import kernel

#: Penalties are processed in groups of this number, which the vector instructions of all processors divide.
_GROUP = 16

_CUBE, _TABLE = "float64[:, :, ::1]", "float64[:, ::1]"


# The arrays are never a user's, so they need not be passed read-only.
@kernel(f"void({_CUBE}, float64[::1], {_CUBE}, {_CUBE}, float64, {_TABLE}, {_TABLE})")
def left_out_squares(places, target, inverse, weights, least, squares, free):
    """Sum of the squared errors on rows left out, and the smallest share of a row that the others leave free.

    For each set `places` holds the centred rows in the axes of the set, (sets, axes, rows), `inverse` the reciprocals
    of eigenvalue plus penalty and `weights` the solution in the axes, (sets, axes, penalties). The residual of a row is
    divided by the free share, or by `least` where it is smaller. Fills `squares` and `free`, (sets, penalties).
    """
    n_sets, n_axes, n_rows = places.shape
    n_penalties = inverse.shape[2]
    width = (n_penalties + _GROUP - 1) // _GROUP * _GROUP
    residual, share = np.empty(width), np.empty(width)
    total, smallest = np.empty(width), np.empty(width)
    # Zeros beyond the last penalty.
    solution, spread = np.zeros((n_axes, width)), np.zeros((n_axes, width))
    for c in range(n_sets):
        for j in range(n_axes):
            for a in range(n_penalties):
                solution[j, a], spread[j, a] = weights[c, j, a], inverse[c, j, a]
        for a in range(width):
            total[a], smallest[a] = 0.0, 1.0
        for i in range(n_rows):
            for a in range(width):
                residual[a], share[a] = target[i], 1.0 - 1.0 / n_rows
            for j in range(n_axes):
                place = places[c, j, i]
                square = place * place
                for a in range(width):
                    residual[a] -= place * solution[j, a]
                    share[a] -= square * spread[j, a]
            for a in range(width):
                smallest[a] = min(smallest[a], share[a])
                # Unlike `/` it does not look for zeros first, which would keep the loop from vector instructions.
                error = np.divide(residual[a], max(share[a], least))
                total[a] += error * error
        for a in range(n_penalties):
            squares[c, a], free[c, a] = total[a], smallest[a]
