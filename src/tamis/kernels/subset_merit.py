"""The merit of many sets of columns, from the correlations of columns with the classes and with each other."""

import math

import numpy as np

from tamis.kernels.compiler import kernel


@kernel("void(boolean[:, ::1], float64[::1], float64[:, ::1], int64[::1], float64[::1])", reads=4)
def subset_merits(sets, relevance, table, place, out):
    """Merit of each row of `sets`; column j is the row ``place[j]`` of the symmetric `table`.

    Correlations are multiples of 2^-30, so that sums are exact in any order. Pairs of columns are taken two by two,
    into four sums that do not wait for each other.
    """
    n_columns = sets.shape[1]
    chosen = np.empty(n_columns + 1, dtype=np.int64)
    for s in range(sets.shape[0]):
        size = 0
        # Without a branch, which would be guessed wrong half of the time.
        for j in range(n_columns):
            chosen[size] = j
            size += np.int64(sets[s, j])
        if size == 0:
            out[s] = 0.0
            continue
        shared, aa, ab, ba, bb = 0.0, 0.0, 0.0, 0.0, 0.0
        # Unsigned, or the compiler adds a branch for negative indices.
        for i in range(size):
            shared += relevance[np.uint64(chosen[i])]
        i = 0
        while i + 2 <= size:
            a = table[np.uint64(place[np.uint64(chosen[i])])]
            b = table[np.uint64(place[np.uint64(chosen[i + 1])])]
            aa += b[np.uint64(chosen[i])]
            k = 0
            while k + 2 <= i:
                c, d = np.uint64(chosen[k]), np.uint64(chosen[k + 1])
                aa += a[c]
                ab += a[d]
                ba += b[c]
                bb += b[d]
                k += 2
            i += 2
        if i < size:
            a = table[np.uint64(place[np.uint64(chosen[i])])]
            for k in range(i):
                aa += a[np.uint64(chosen[k])]
        out[s] = shared / math.sqrt(size + 2.0 * ((aa + ab) + (ba + bb)))
