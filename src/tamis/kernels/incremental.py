"""Predictions of nearest neighbours and naive Bayes for many sets of columns that differ by one.

A kernel marks the sets in which rounding could decide a prediction, so that the caller can fall back to a refit.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

_TABLE = "float64[:, ::1]"

#: Relative change of a variance that is treated as rounding.
_LITTLE = 1e-7


@kernel(f"void({_TABLE}, {_TABLE}, {_TABLE})", reads=2)
def add_squares(test, train, squares):
    """Add the squared differences in every column to `squares` (test rows, training rows), column after column.

    `test` and `train` hold a column in each row.
    """
    for j in range(test.shape[0]):
        for t in range(test.shape[1]):
            x = test[j, t]
            for i in range(train.shape[1]):
                d = x - train[j, i]
                squares[t, i] += d * d


@helper
def _settle(squares, codes, votes, edge, near, many, first):
    """Count the votes when rows tie for the last of the `many` places; returns whether the vote is certain.

    Rows more than `near` below `edge` vote; those within `near` of it are tied. With `first` the earliest tied rows get
    the places that are left, and the vote is certain if they tie exactly; without it any of them may.
    """
    group = np.zeros(votes.shape[0], dtype=np.intp)
    votes[:] = 0
    seats = many
    low, high = edge, edge
    for i in range(squares.shape[0]):
        if squares[i] < edge - near:
            votes[codes[i]] += 1
            seats -= 1
        elif squares[i] <= edge + near:
            group[codes[i]] += 1
            low, high = min(low, squares[i]), max(high, squares[i])
    if first:
        # Ties are sought within 1e-11; below half of 1e-12 they are certain.
        for i in range(squares.shape[0]):
            if seats > 0 and squares[i] >= edge - near and squares[i] <= edge + near:
                votes[codes[i]] += 1
                seats -= 1
        return high - low <= near / 20
    best, members = 0, 0
    for c in range(votes.shape[0]):
        members += group[c]
    for c in range(votes.shape[0]):
        # `votes` becomes the fewest votes that each class can get, `group` the most.
        group[c], votes[c] = votes[c] + min(seats, group[c]), votes[c] + max(0, seats - members + group[c])
        if votes[c] > votes[best]:
            best = c
    for c in range(votes.shape[0]):
        if c != best and (group[c] > votes[best] or (group[c] == votes[best] and c < best)):
            return False
    return True


@helper
def _closest(squares, order, x, train, nearest, rows):
    """Fill `nearest` and `rows` with the smallest distances of a test row, in order, and their training rows.

    `squares` and `order` are those of the test row, `x` is its value of the candidate and `train` those of the training
    rows.
    """
    kept, filled = nearest.shape[0], 0
    for a in range(squares.shape[0]):
        if filled == kept and squares[a] >= nearest[kept - 1]:
            if order.shape[0] > 0:
                break
            continue
        i = order[a] if order.shape[0] > 0 else a
        d = x - train[i]
        d = squares[a] + d * d
        if filled < kept:
            filled += 1
        elif d >= nearest[kept - 1]:
            continue
        place = filled - 1
        while place > 0 and nearest[place - 1] > d:
            nearest[place], rows[place] = nearest[place - 1], rows[place - 1]
            place -= 1
        nearest[place], rows[place] = d, i


@helper
def _join(squares, order, x, train, joined):
    """Fill `joined` with the distances of a test row from all training rows, in their order."""
    for a in range(squares.shape[0]):
        i = order[a] if order.shape[0] > 0 else a
        d = x - train[i]
        joined[i] = squares[a] + d * d


@kernel(
    f"void({_TABLE}, intp[:, ::1], {_TABLE}, {_TABLE}, float64[::1], intp[::1], intp, intp, float64, float64, boolean, "
    "intp[:, ::1], boolean[::1])",
    reads=11,
)
def nearest_votes(squares, order, test, train, norms, codes, many, n_classes, rtol, atol, first, predicted, certain):
    """Class most common among the `many` nearest training rows when a candidate column joins; ties go to the first.

    `squares` (test rows, training rows) are the squared distances in the set, in increasing order where `order` lists
    their training rows, else (`order` is empty) in the order of the rows. `test` and `train` hold a candidate in each
    row; `norms` are the squared lengths of the test rows in the set. Distances tie when they differ by less than
    `rtol` of themselves plus `atol` of the row's squared length; with `first` the earlier row is then nearer.
    Fills ``predicted`` (candidates, test rows), and ``certain`` with False where rounding could decide.
    """
    n_train = squares.shape[1]
    kept = min(many + 1, n_train)
    nearest, rows = np.empty(kept), np.empty(kept, dtype=np.intp)
    votes = np.zeros(n_classes, dtype=np.intp)
    joined, unordered = np.empty(n_train), np.empty(0, dtype=np.intp)
    certain[:] = True
    for t in range(squares.shape[0]):
        listed = order[t] if order.shape[0] > 0 else unordered
        for c in range(test.shape[0]):
            if not certain[c]:
                continue
            x = test[c, t]
            _closest(squares[t], listed, x, train[c], nearest, rows)
            edge = nearest[many - 1]
            near = rtol * edge + atol * (norms[t] + x * x)
            if kept == many or nearest[many] - edge > near:
                votes[:] = 0
                for a in range(many):
                    votes[codes[rows[a]]] += 1
            else:
                _join(squares[t], listed, x, train[c], joined)
                certain[c] = _settle(joined, codes, votes, edge, near, many, first)
            predicted[c, t] = votes.argmax()


@helper
def _tied_mean(squares, numbers, edge, near, many, first):
    """Mean of the `many` nearest rows when some tie for the last places, as for `_settle`; and whether it is certain.

    Without `first` it is certain if the tied rows have the same number.
    """
    total, seats, tied = 0.0, many, 0
    low, high = edge, edge
    least, most = np.inf, -np.inf
    for i in range(squares.shape[0]):
        if squares[i] < edge - near:
            total += numbers[i]
            seats -= 1
    for i in range(squares.shape[0]):
        if squares[i] >= edge - near and squares[i] <= edge + near:
            low, high = min(low, squares[i]), max(high, squares[i])
            least, most = min(least, numbers[i]), max(most, numbers[i])
            if tied < seats:
                total += numbers[i]
                tied += 1
    # Ties are sought within 1e-11; below half of 1e-12 they are certain.
    return total / many, least == most or (first and high - low <= near / 20)


@kernel(
    f"void({_TABLE}, intp[:, ::1], {_TABLE}, {_TABLE}, float64[::1], float64[::1], intp, float64, float64, boolean, "
    "float64[:, ::1], boolean[::1])",
    reads=10,
)
def nearest_means(squares, order, test, train, norms, numbers, many, rtol, atol, first, predicted, certain):
    """Mean of the numbers of the `many` nearest training rows when a candidate column joins.

    The arguments are those of :func:`nearest_votes`, with the numbers of the training rows in place of codes.
    """
    n_train = squares.shape[1]
    kept = min(many + 1, n_train)
    nearest, rows = np.empty(kept), np.empty(kept, dtype=np.intp)
    joined, unordered = np.empty(n_train), np.empty(0, dtype=np.intp)
    certain[:] = True
    for t in range(squares.shape[0]):
        listed = order[t] if order.shape[0] > 0 else unordered
        for c in range(test.shape[0]):
            if not certain[c]:
                continue
            x = test[c, t]
            _closest(squares[t], listed, x, train[c], nearest, rows)
            edge = nearest[many - 1]
            near = rtol * edge + atol * (norms[t] + x * x)
            if kept == many or nearest[many] - edge > near:
                total = 0.0
                for a in range(many):
                    total += numbers[rows[a]]
                predicted[c, t] = total / many
            else:
                _join(squares[t], listed, x, train[c], joined)
                predicted[c, t], certain[c] = _tied_mean(joined, numbers, edge, near, many, first)


@helper
def _add_column(known, smoothing, sign, logs, size, extremes):
    """Add (`sign` 1) or subtract (-1) the log-likelihoods of a column, given as a row of `known`, in `logs`.

    Adds their atol constant terms to `size`, and keeps in `extremes` the smallest variance and the largest mean in
    standard deviations.
    """
    n_classes, n_rows = logs.shape
    for c in range(n_classes):
        mean, v = known[n_rows + c], known[n_rows + n_classes + c] + smoothing
        if not v > 0.0:
            v = np.nan
        base, half = 0.5 * np.log(2.0 * np.pi * v), 0.5 / v
        size[c] += abs(base)
        extremes[0] = min(extremes[0], v)
        extremes[1] = max(extremes[1], abs(mean) / np.sqrt(v))
        for t in range(n_rows):
            d = known[t] - mean
            logs[c, t] -= sign * (base + d * d * half)


@helper
def _tabulate(known, columns, smoothing, prior, logs, size, extremes):
    """Fill the joint log-likelihoods of a set."""
    extremes[0], extremes[1] = np.inf, 0.0
    for c in range(prior.shape[0]):
        logs[c] = prior[c]
        size[c] = abs(prior[c])
    for j in columns:
        _add_column(known[j], smoothing, 1.0, logs, size, extremes)


# The arrays are never a user's, so they need not be passed read-only, which takes longer than a small table.
@kernel(f"void({_TABLE}, intp[::1], intp, float64, float64[::1], float64[::1], float64, float64, intp[:, ::1])")
def bayes_votes(known, columns, n_own, smoothing, smoothings, prior, sign, rounding, predicted):
    """Class with the highest joint log-likelihood under Gaussian naive Bayes when a column joins or leaves the set.

    A row of `known` holds the values of a column in the test rows, then its means and variances in the classes.
    `columns` lists the `n_own` columns of the set, then those that join (`sign` 1) or leave (-1), one at a time.
    `smoothing` is added to the variances of the set, ``smoothings[i]`` to all once column i has moved; `prior` holds
    logarithms, and `rounding` is the relative error of a log-likelihood whose mean is 0. Fills ``predicted`` (moving
    columns, test rows), with -1 throughout where rounding could decide.
    """
    n_classes, n_rows = prior.shape[0], predicted.shape[1]
    tables, sizes, extremes = np.empty((2, n_classes, n_rows)), np.empty((2, n_classes)), np.empty((2, 2))
    now, size, reached = np.empty((n_classes, n_rows)), np.empty(n_classes), np.empty(2)
    best, lead, weight = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    _tabulate(known, columns[:n_own], smoothing, prior, tables[0], sizes[0], extremes[0])
    for i in range(smoothings.shape[0]):
        # Another smoothing changes the terms of the set by at most this share: rounding if small, else a new table.
        w, share = 0, abs(smoothings[i] - smoothing) / extremes[0, 0]
        if not share <= _LITTLE:
            w, share = 1, 0.0
            _tabulate(known, columns[:n_own], smoothings[i], prior, tables[1], sizes[1], extremes[1])
        for c in range(n_classes):
            assign(now[c], tables[w, c])
        assign(size, sizes[w])
        assign(reached, extremes[w])
        _add_column(known[columns[n_own + i]], smoothings[i], sign, now, size, reached)
        reach = 2.0 * rounding * (1.0 + reached[1]) + 4.0 * share
        slack = share * n_own
        largest = size[0]
        for c in range(1, n_classes):
            # NaN is the largest, and stays it.
            if size[c] > largest or np.isnan(size[c]):
                largest = size[c]
        for t in range(n_rows):
            predicted[i, t] = 0
            best[t] = now[0, t]
            lead[t] = np.inf
            weight[t] = max(largest, abs(now[0, t]), abs(tables[w, 0, t]))
        for c in range(1, n_classes):
            for t in range(n_rows):
                ahead = now[c, t] - best[t]
                weight[t] = max(weight[t], abs(now[c, t]), abs(tables[w, c, t]))
                if ahead > 0.0:
                    predicted[i, t] = c
                    best[t] = now[c, t]
                    lead[t] = ahead
                elif not -ahead >= lead[t]:
                    lead[t] = -ahead
        certain = True
        for t in range(n_rows):
            # False for NaN too.
            certain &= lead[t] > reach * weight[t] + slack
        if not certain:
            predicted[i] = -1
