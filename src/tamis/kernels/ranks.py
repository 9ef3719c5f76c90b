"""Rank correlation of columns with a numeric target."""

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: Scatter of ranks, over the cube of the weight, below which all values are equal.
_FLAT = 1e-24


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], float64[::1], intp[::1], float64[::1], float64[:, ::1])"
        for real in ("float32", "float64")
    ),
    reads=7,
)
def rank_correlations(begin, end, rows, values, y, order, weight, out):
    """Spearman's correlation of each column with `y` and the weight of its known rows, the two rows of `out`.

    Columns are sorted, zeros not listed, NaN last; `order` sorts `y`. Every row has a weight above zero. Equal values
    share their middle rank, and a row of weight 2 has two ranks.
    """
    n_rows = y.shape[0]
    known = np.ones(n_rows, dtype=np.bool_)
    ranks, some_ranks = np.empty(n_rows), np.empty(n_rows)
    everything = _rank_target(y, order, known, weight, ranks)
    for j in range(begin.shape[0]):
        stop = end[j]
        while stop > begin[j] and np.isnan(values[stop - 1]):
            stop -= 1
            known[rows[stop]] = False
        own, total = ranks, everything
        if stop < end[j]:
            own = some_ranks
            total = _rank_target(y, order, known, weight, own)
            for t in range(stop, end[j]):
                known[rows[t]] = True
        target_scatter = 0.0
        for i in range(n_rows):
            target_scatter += weight[i] * own[i] * own[i]
        zeros, zeros_ranks = total, 0.0
        for t in range(begin[j], stop):
            w = weight[rows[t]]
            zeros -= w
            # Centred ranks sum to zero.
            zeros_ranks -= w * own[rows[t]]
        some_zeros = end[j] - begin[j] < n_rows
        scatter, both, before, t = 0.0, 0.0, 0.0, begin[j]
        while t < stop or some_zeros:
            if some_zeros and (t == stop or values[t] > 0.0):
                tied, their_ranks, some_zeros = zeros, zeros_ranks, False
            else:
                v, tied, their_ranks = values[t], 0.0, 0.0
                while t < stop and values[t] == v:
                    tied += weight[rows[t]]
                    their_ranks += weight[rows[t]] * own[rows[t]]
                    t += 1
            middle = before + 0.5 * tied - 0.5 * total
            scatter += tied * middle * middle
            both += middle * their_ranks
            before += tied
        flat = _FLAT * total**3
        out[0, j] = both / np.sqrt(scatter * target_scatter) if scatter > flat and target_scatter > flat else 0.0
        out[1, j] = total


@helper
def _rank_target(y, order, known, weight, ranks):
    """Set the ranks of the known rows, less their mean; 0 for the others. Returns the weight of the known rows."""
    total, begin = 0.0, 0
    for i in order:
        if known[i]:
            total += weight[i]
    before = 0.0
    while begin < order.shape[0]:
        stop, tied = begin, 0.0
        while stop < order.shape[0] and y[order[stop]] == y[order[begin]]:
            if known[order[stop]]:
                tied += weight[order[stop]]
            stop += 1
        for t in range(begin, stop):
            ranks[order[t]] = before + 0.5 * tied - 0.5 * total if known[order[t]] else 0.0
        before += tied
        begin = stop
    return total
