"""G-flip's evaluation: the nearest hit and miss of each row when a column joins or leaves."""

import numpy as np

from tamis.kernels.compiler import kernel

#: Rows of a tile, whose minima stay in the first cache.
_TILE = 1024


@kernel("void(float64[:, ::1], float64[::1], float64, intp[::1], float64[:, ::1])", reads=4)
def flipped_near(squares, x, sign, starts, near):
    """Write the squared distances of all rows to their nearest hit and nearest miss, after the flip of a column.

    `squares` are the squared distances without it, infinite from a row to itself; the column `x` adds its squared
    differences times `sign`. Class c is in the places ``starts[c]`` up to ``starts[c + 1]``. The innermost loop runs
    along rows whose minima change, so that it needs no reduction.
    """
    near[:] = np.inf
    for c in range(starts.shape[0] - 1):
        for left in range(starts[c], starts[c + 1], _TILE):
            right = min(left + _TILE, starts[c + 1])
            z = x[left:right]
            for kind in range(2):
                best = near[kind, left:right]
                for i in range(squares.shape[0]):
                    if (starts[c] <= i < starts[c + 1]) == (kind == 0):
                        row, own = squares[i, left:right], x[i]
                        for s in range(right - left):
                            apart = own - z[s]
                            found = row[s] + sign * (apart * apart)
                            best[s] = found if found < best[s] else best[s]


@kernel("void(float64[::1], float64, float64[:, ::1])", reads=2)
def flip(x, sign, squares):
    """Add the squared differences of a column times `sign` to `squares`."""
    n_rows = x.shape[0]
    for i in range(n_rows):
        own, row = x[i], squares[i]
        for s in range(n_rows):
            apart = own - x[s]
            row[s] += sign * (apart * apart)
