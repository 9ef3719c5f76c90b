"""What nearest neighbours and naive Bayes say on many sets of columns that differ by one.

A kernel that judges says which of its answers hang on rounding, so that the caller can ask the classifier itself.
"""

import numpy as np
from numba.extending import register_jitable

from tamis.kernels.compiler import kernel

_TABLE = "float64[:, ::1]"

#: Share by which a variance may change and its log-likelihoods still be told apart as a rule.
_LITTLE = 1e-7


@kernel(f"void({_TABLE}, {_TABLE}, {_TABLE})", reads=2)
def add_squares(test, train, squares):
    """Add to `squares` (test rows, training rows) the squared differences in every column.

    `test` and `train` hold a column in each row. Sums run over the columns in their order.
    """
    for j in range(test.shape[0]):
        for t in range(test.shape[1]):
            x = test[j, t]
            for i in range(train.shape[1]):
                d = x - train[j, i]
                squares[t, i] += d * d


@register_jitable
def _settle(squares, codes, votes, edge, near, many, first):
    """Count the votes where a group of equals meets the end of the `many` nearest; whether they are certain.

    Rows farther than `near` below `edge` are in; those within it on both sides are the group. With `first` its
    earliest rows get the seats that are left, if the group are equals beyond doubt; without, any may.
    """
    votes[:] = 0
    group = np.zeros_like(votes)
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
        # A tenth of the distance within which equals are sought is 1e-12, and half of that is certain.
        for i in range(squares.shape[0]):
            if seats > 0 and squares[i] >= edge - near and squares[i] <= edge + near:
                votes[codes[i]] += 1
                seats -= 1
        return high - low <= near / 20
    members = group.sum()
    best = 0
    for c in range(votes.shape[0]):
        # The least that each class can get; what it can get at most is compared below.
        group[c], votes[c] = votes[c] + min(seats, group[c]), votes[c] + max(0, seats - members + group[c])
        if votes[c] > votes[best]:
            best = c
    for c in range(votes.shape[0]):
        if c != best and (group[c] > votes[best] or (group[c] == votes[best] and c < best)):
            return False
    return True


@kernel(
    f"void({_TABLE}, intp[:, ::1], {_TABLE}, {_TABLE}, float64[::1], intp[::1], intp, intp, float64, float64, boolean, "
    "intp[:, ::1], boolean[::1])",
    reads=11,
)
def nearest_votes(squares, order, test, train, norms, codes, many, n_classes, relative, absolute, first, said, sure):
    """Class most common among the `many` nearest training rows when a column joins the set, for each column.

    Parameters
    ----------
    squares : (test rows, training rows)
        Squared distances in the set; with `order`, in increasing order.
    order : (test rows, training rows) or (0, 0)
        The training rows that these belong to; without it they stand in their own order.
    test, train : (candidates, rows)
        The columns that may join.
    norms : (test rows,)
        Squared lengths of the test rows in the set.
    codes : (training rows,)
    relative, absolute : float
        Distances closer than this share of themselves and of the row's squared length are not told apart.
    first : bool
        Whether of equals the earlier rows are the nearer; if not, nothing is known of their order.
    said : (candidates, test rows)
        Written: the class named, of classes with as many votes the first.
    sure : (candidates,)
        Written: False where an answer could not be settled.
    """
    n_train = squares.shape[1]
    kept = min(many + 1, n_train)
    nearest, rows = np.empty(kept), np.empty(kept, dtype=np.intp)
    votes = np.zeros(n_classes, dtype=np.intp)
    joined = np.empty(n_train)
    sure[:] = True
    for t in range(squares.shape[0]):
        for c in range(test.shape[0]):
            if not sure[c]:
                continue
            x = test[c, t]
            filled = 0
            for a in range(n_train):
                if filled == kept and squares[t, a] >= nearest[kept - 1]:
                    if order.shape[0] > 0:
                        break
                    continue
                i = order[t, a] if order.shape[0] > 0 else a
                d = x - train[c, i]
                d = squares[t, a] + d * d
                if filled < kept:
                    filled += 1
                elif d >= nearest[kept - 1]:
                    continue
                place = filled - 1
                while place > 0 and nearest[place - 1] > d:
                    nearest[place], rows[place] = nearest[place - 1], rows[place - 1]
                    place -= 1
                nearest[place], rows[place] = d, i
            edge = nearest[many - 1]
            near = relative * edge + absolute * (norms[t] + x * x)
            if kept == many or nearest[many] - edge > near:
                votes[:] = 0
                for a in range(many):
                    votes[codes[rows[a]]] += 1
            else:
                for a in range(n_train):
                    i = order[t, a] if order.shape[0] > 0 else a
                    d = x - train[c, i]
                    joined[i] = squares[t, a] + d * d
                sure[c] = _settle(joined, codes, votes, edge, near, many, first)
            said[c, t] = votes.argmax()


@register_jitable
def _add_column(known, smoothing, sign, logs, size, extremes):
    """Add the log-likelihoods of a column (classes, rows), of which all that is known stands in one row.

    Also adds to `size` their constant terms without sign, and keeps in `extremes` the smallest variance met and how
    far from 0 a mean was, in deviations.
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


@register_jitable
def _tabulate(known, columns, smoothing, prior, logs, size, extremes):
    """Joint log-likelihoods of a set."""
    extremes[0], extremes[1] = np.inf, 0.0
    for c in range(prior.shape[0]):
        logs[c] = prior[c]
        size[c] = abs(prior[c])
    for j in columns:
        _add_column(known[j], smoothing, 1.0, logs, size, extremes)


# The arrays are never those of a user, so that they need not be handed over read-only; that and every array more
# take longer than a small table.
@kernel(f"void({_TABLE}, intp[::1], intp, float64, float64[::1], float64[::1], float64, float64, intp[:, ::1])")
def bayes_votes(known, columns, n_own, smoothing, smoothings, prior, sign, rounding, said):
    """Class with the highest joint log-likelihood under Gaussian naive Bayes when a column joins or leaves the set.

    Parameters
    ----------
    known : (columns, test rows + 2 * classes)
        Values in the test rows, then the means and the variances in the classes.
    columns : int
        Columns of the set, and after the first `n_own` those that join or leave it, one at a time.
    smoothing : float
        Added to the variances of the set as it is.
    smoothings : (moving columns,)
        Added to all variances once the column has joined or left.
    prior : (classes,)
        Logarithms.
    sign : float
        1 when columns join, -1 when they leave.
    rounding : float
        Relative error of a log-likelihood whose mean is 0.
    said : (moving columns, test rows)
        Written: the class named; throughout -1 where an answer could not be settled.
    """
    n_classes, n_rows = prior.shape[0], said.shape[1]
    tables, sizes, extremes = np.empty((2, n_classes, n_rows)), np.empty((2, n_classes)), np.empty((2, 2))
    now, size, reached = np.empty((n_classes, n_rows)), np.empty(n_classes), np.empty(2)
    best, lead, weight = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    _tabulate(known, columns[:n_own], smoothing, prior, tables[0], sizes[0], extremes[0])
    for i in range(smoothings.shape[0]):
        # Another smoothing changes the terms of the set by at most this share. If that is little it counts as
        # rounding; if not, there is a table for it.
        w, share = 0, abs(smoothings[i] - smoothing) / extremes[0, 0]
        if not share <= _LITTLE:
            w, share = 1, 0.0
            _tabulate(known, columns[:n_own], smoothings[i], prior, tables[1], sizes[1], extremes[1])
        now[:] = tables[w]
        size[:] = sizes[w]
        reached[:] = extremes[w]
        _add_column(known[columns[n_own + i]], smoothings[i], sign, now, size, reached)
        reach = 2.0 * rounding * (1.0 + reached[1]) + 4.0 * share
        slack = share * n_own
        largest = size.max()
        for t in range(n_rows):
            said[i, t] = 0
            best[t] = now[0, t]
            lead[t] = np.inf
            weight[t] = max(largest, abs(now[0, t]), abs(tables[w, 0, t]))
        for c in range(1, n_classes):
            for t in range(n_rows):
                ahead = now[c, t] - best[t]
                weight[t] = max(weight[t], abs(now[c, t]), abs(tables[w, c, t]))
                if ahead > 0.0:
                    said[i, t] = c
                    best[t] = now[c, t]
                    lead[t] = ahead
                elif not -ahead >= lead[t]:
                    lead[t] = -ahead
        certain = True
        for t in range(n_rows):
            # Written so that a NaN is in doubt too.
            certain &= lead[t] > reach * weight[t] + slack
        if not certain:
            said[i] = -1
