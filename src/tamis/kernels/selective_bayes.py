"""Evaluate naive Bayes with one more column, for many candidate columns.

The evidence for each class is a sum over columns, so a column joins by adding its own term. Columns are states: row i
of column j is at place ``base[j]`` of the table unless it is listed in ``places``, from ``indptr[j]`` up to
``indptr[j + 1]``. ``table[o, s, c]`` is the term of place s for class c in a row of class o (``o = 0`` for all rows
where the table has one layer). The table and `evidence` are multiples of a power of two, so that sums are exact.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: States up to which sorted rows are merged state by state rather than sorted again.
_MERGED = 12

_STATES = "int64[::1], int32[::1], int32[::1], int64[::1], float64[:, :, ::1]"
_ROWS = "float64[:, ::1], intp[::1], float64[::1], intp[::1], float64[::1]"


@kernel(f"void({_STATES}, {_ROWS})", reads=9)
def right_with(indptr, rows, places, base, table, evidence, classes, weight, candidates, right):
    """Weight of the rows classified correctly when each candidate alone joins; ties go to the first class."""
    n_rows, n_classes = evidence.shape
    layered = table.shape[0] > 1
    at = np.empty(n_rows, dtype=np.int64)
    for q in range(candidates.shape[0]):
        j = candidates[q]
        _put(at, indptr, rows, places, base, j)
        total = 0.0
        for i in range(n_rows):
            own = classes[i]
            term = table[own if layered else 0, at[i]]
            reached = evidence[i, own] + term[own]
            good = True
            for c in range(n_classes):
                other = evidence[i, c] + term[c]
                if other > reached or (other == reached and c < own):
                    good = False
                    break
            if good:
                total += weight[i]
        right[q] = total


@kernel(
    f"void({_STATES}, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], intp[::1], float64[::1], "
    "intp[::1], float64[::1])",
    reads=13,
)
def two_right_with(
    indptr, rows, places, base, table, odds, low, low_weight, high, high_weight, classes, weight, candidates, right
):
    """The same for two classes, from the listed rows alone.

    `odds` is the evidence for the second class over the first. `low` and `high` are the odds of the rows of the first
    and second class, ascending; `low_weight` and `high_weight` the weight of the rows before each, and of all. Rows
    that are not listed all move by the same amount, so a search in these lists counts the correct ones.
    """
    last = table.shape[0] - 1
    for q in range(candidates.shape[0]):
        j = candidates[q]
        for_low = table[0, base[j], 1] - table[0, base[j], 0]
        for_high = table[last, base[j], 1] - table[last, base[j], 0]
        total = low_weight[np.searchsorted(low, -for_low, side="right")]
        total += high_weight[-1] - high_weight[np.searchsorted(high, -for_high, side="right")]
        for t in range(indptr[j], indptr[j + 1]):
            i = rows[t]
            second = classes[i] == 1
            term = table[last if second else 0, places[t]]
            before = odds[i] + (for_high if second else for_low) > 0.0
            after = odds[i] + (term[1] - term[0]) > 0.0
            if before != after:
                total += weight[i] if after == second else -weight[i]
        right[q] = total


@kernel(f"void({_STATES}, {_ROWS})", reads=9)
def likelihood_with(indptr, rows, places, base, table, evidence, classes, weight, candidates, likelihood):
    """Weighted sum of the log-probabilities of the rows' own classes when each candidate alone joins."""
    n_rows, n_classes = evidence.shape
    layered = table.shape[0] > 1
    at = np.empty(n_rows, dtype=np.int64)
    for q in range(candidates.shape[0]):
        j = candidates[q]
        _put(at, indptr, rows, places, base, j)
        total = 0.0
        for i in range(n_rows):
            own = classes[i]
            term = table[own if layered else 0, at[i]]
            reached = evidence[i, own] + term[own]
            rest = 0.0
            for c in range(n_classes):
                rest += np.exp(min(evidence[i, c] + term[c] - reached, 700.0))
            total -= weight[i] * np.log(rest)
        likelihood[q] = total


@kernel(f"void({_STATES}, intp[::1], int64[::1], {_ROWS})", reads=11)
def areas_with(indptr, rows, places, base, table, order, first, evidence, classes, weight, candidates, pairs):
    """Weight of the pairs of rows in the right order when each candidate alone joins; ties count half.

    There are two classes; rows are ordered by the evidence for the second over the first. `order` lists the rows by the
    present evidence, ascending. Within a state of a joining column this order stays, so rows are merged state by state
    instead of sorted, unless there are many states. Column j has the places ``first[j]`` up to ``first[j + 1]``.
    """
    n_rows = evidence.shape[0]
    at = np.empty(n_rows, dtype=np.int64)
    heights = np.empty(n_rows)
    weights = np.empty(n_rows)
    # The rows of one class in one state lie side by side: first those of the first class, state by state.
    begin = np.empty(2 * _MERGED + 1, dtype=np.int64)
    end = np.empty(2 * _MERGED, dtype=np.int64)
    for q in range(candidates.shape[0]):
        j = candidates[q]
        _put(at, indptr, rows, places, base, j)
        n_states = first[j + 1] - first[j]
        total = 0.0
        if n_states <= _MERGED:
            begin[:] = 0
            for i in range(n_rows):
                s = at[i] - first[j]
                begin[classes[i] * n_states + s + 1] += 1
            for s in range(2 * n_states):
                end[s] = begin[s]
                begin[s + 1] += begin[s]
            for r in range(n_rows):
                i = order[r]
                s = at[i] - first[j]
                b = classes[i] * n_states + s
                more = table[0, first[j] + s, 1] - table[0, first[j] + s, 0]
                heights[end[b]] = evidence[i, 1] - evidence[i, 0] + more
                weights[end[b]] = weight[i]
                end[b] += 1
            for a in range(n_states, 2 * n_states):
                for b in range(n_states):
                    total += _in_order(heights, weights, begin[a], begin[a + 1], begin[b], begin[b + 1])
        else:
            for i in range(n_rows):
                s = at[i]
                heights[i] = evidence[i, 1] - evidence[i, 0] + (table[0, s, 1] - table[0, s, 0])
            total = _sorted_pairs(heights, classes, 1, weight, 0.0)
        pairs[q] = total


@kernel(f"void({_STATES}, float64[::1], float64, {_ROWS})", reads=11)
def rest_areas_with(indptr, rows, places, base, table, share, close, evidence, classes, weight, candidates, pairs):
    """The same for several classes, each against the rest by its probability: the sum of `share` times the pairs.

    The rest is a sum of probabilities, which rounding changes: rows that differ by less than `close` are tied.
    """
    n_rows, n_classes = evidence.shape
    at = np.empty(n_rows, dtype=np.int64)
    moved = np.empty((n_classes, n_rows))
    for q in range(candidates.shape[0]):
        j = candidates[q]
        _put(at, indptr, rows, places, base, j)
        for i in range(n_rows):
            term = table[0, at[i]]
            for c in range(n_classes):
                top = -np.inf
                for d in range(n_classes):
                    if d != c:
                        top = max(top, evidence[i, d] + term[d])
                rest = 0.0
                for d in range(n_classes):
                    if d != c:
                        rest += np.exp(evidence[i, d] + term[d] - top)
                moved[c, i] = evidence[i, c] + term[c] - top - np.log(rest)
        total = 0.0
        for c in range(n_classes):
            total += share[c] * _sorted_pairs(moved[c], classes, c, weight, close)
        pairs[q] = total


@helper
def _put(at, indptr, rows, places, base, j):
    """Fill the place of each row in column j."""
    at[:] = base[j]
    for t in range(indptr[j], indptr[j + 1]):
        at[rows[t]] = places[t]


@helper
def _in_order(heights, weights, high, high_end, low, low_end):
    """Weight of the pairs with the row of the first range above that of the second, both ascending; ties count half."""
    total, below = 0.0, 0.0
    while high < high_end:
        value = heights[high]
        while low < low_end and heights[low] < value:
            below += weights[low]
            low += 1
        tied = 0.0
        while low < low_end and heights[low] == value:
            tied += weights[low]
            low += 1
        while high < high_end and heights[high] == value:
            total += weights[high] * (below + 0.5 * tied)
            high += 1
        below += tied
    return total


@helper
def _sorted_pairs(heights, classes, positive, weight, close):
    """The same for one list of all rows, those of the class `positive` against the others; `close` ones are tied."""
    order = np.argsort(heights)
    total, below, r = 0.0, 0.0, 0
    while r < order.shape[0]:
        value = heights[order[r]]
        own, other = 0.0, 0.0
        while r < order.shape[0] and heights[order[r]] <= value + close:
            value = heights[order[r]]
            if classes[order[r]] == positive:
                own += weight[order[r]]
            else:
                other += weight[order[r]]
            r += 1
        total += own * (below + 0.5 * other)
        below += other
    return total
