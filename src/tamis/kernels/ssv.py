"""Best split of every column by separability or by balanced error, on columns sorted by value.

A column is a segment of `rows` and `values`: its non-zero values in ascending order with their rows, the missing
values (NaN) behind them. All other rows of the node hold zero: they are one block, counted and never listed.

Moving one row of class c from right to left changes only the c-th terms of the sums of L_c R_c and of min(L_c, R_c),
so the time per split does not depend on the number of classes.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

#: Score of a column that cannot be split.
NO_SPLIT = -np.inf

#: Largest number of levels for which every subset is tried.
EXHAUSTIVE = 12

#: Levels, squared, times classes up to which pairs of levels change places; the work of all starts together.
_WORK = 40_000


@kernel(
    *(
        f"void(int64[::1], int64[::1], int32[::1], {real}[::1], int64[::1], float64[::1], float64[::1], int64, "
        "boolean, float64[::1], float64[::1], float64[::1], float64[::1])"
        for real in ("float32", "float64")
    ),
    reads=7,
)
def column_splits(begin, end, rows, values, codes, weight, total, n_rows, balanced, score, same, split, gap):
    """Fill `score`, `same` (pairs of one class that are separated), `split` and `gap` (around it) of each column."""
    n_classes = total.shape[0]
    two = n_classes == 2
    left = np.empty(n_classes)
    known = np.empty(n_classes)
    zero = np.empty(n_classes)
    for j in range(begin.shape[0]):
        score[j] = NO_SPLIT
        same[j] = 0.0
        first = begin[j]
        last, n_known = _leave_out_missing(first, end[j], rows, values, codes, weight, total, n_rows, known)
        n_zero = n_known - (last - first)
        if last == first or (n_zero == 0 and values[first] == values[last - 1]):
            continue
        if n_zero > 0:
            for c in range(n_classes):
                zero[c] = known[c]
            for t in range(first, last):
                zero[codes[rows[t]]] -= weight[rows[t]]
        all_weight = 0.0
        classes = 0
        for c in range(n_classes):
            left[c] = 0.0
            all_weight += known[c]
            classes += known[c] > 0.0
        if classes < 2:
            # Nothing to separate.
            continue
        close = 1e-13 * all_weight * all_weight
        near = 1e-12 if balanced else close

        weight_left = left_1 = separated = smaller = 0.0
        best, best_same = NO_SPLIT, 0.0
        run, run_sum, run_start, run_open = 0, 0.0, 0, False
        best_split = best_gap = 0.0
        number = 0
        started, pending = False, n_zero > 0
        t = first
        previous = 0.0
        while t < last or pending:
            block = pending and (t == last or values[t] > 0.0)
            value = 0.0 if block else np.float64(values[t])
            if started and value != previous:
                if two:
                    left_0 = weight_left - left_1
                    lean_0, lean_1 = known[0] - 2.0 * left_0, known[1] - 2.0 * left_1
                    separated = left_0 * (known[0] - left_0) + left_1 * (known[1] - left_1)
                    smaller = 0.5 * (all_weight - abs(lean_0) - abs(lean_1))
                if balanced:
                    if two:
                        left[0], left[1] = left_0, left_1
                    here = _balanced_score(left, known, classes)
                else:
                    here = 2.0 * (weight_left * (all_weight - weight_left) - separated) - smaller
                if here < best - near:
                    run_open = False
                else:
                    middle = halfway(previous, value)
                    if here > best + near or separated < best_same - close:
                        best, best_same = here, separated
                        run, run_sum, run_start, run_open = 1, middle, number, True
                        best_split, best_gap = middle, value - previous
                    elif run_open and separated <= best_same + close:
                        run += 1
                        run_sum += middle
                    else:
                        run_open = False
                number += 1
            if block:
                pending = False
                if two:
                    left_1 += zero[1]
                    weight_left += zero[0] + zero[1]
                else:
                    weight_left = separated = smaller = 0.0
                    for c in range(n_classes):
                        left[c] += zero[c]
                        weight_left += left[c]
                        separated += left[c] * (known[c] - left[c])
                        smaller += min(left[c], known[c] - left[c])
            else:
                c = codes[rows[t]]
                w = weight[rows[t]]
                weight_left += w
                if two:
                    left_1 += w * c
                else:
                    here_left = left[c]
                    here_right = known[c] - here_left
                    separated += w * (here_right - here_left - w)
                    smaller += min(here_left + w, here_right - w) - min(here_left, here_right)
                    left[c] = here_left + w
                t += 1
            previous = value
            started = True

        if run > 1:
            average = run_sum / run
            best_split, best_gap = _nearest(values, first, last, n_zero > 0, run_start, run_start + run, average)
        score[j], same[j], split[j], gap[j] = best, best_same, best_split, best_gap


@helper
def _leave_out_missing(first, last, rows, values, codes, weight, total, n_rows, known):
    """Fill the weight of each class among the rows with a known value; returns their end and number."""
    n_known = n_rows
    for c in range(total.shape[0]):
        known[c] = total[c]
    while last > first and np.isnan(values[last - 1]):
        last -= 1
        n_known -= 1
        known[codes[rows[last]]] -= weight[rows[last]]
    if n_known < n_rows:
        # Rounding may leave some weight for a class whose values are all missing.
        for c in range(total.shape[0]):
            if known[c] < 1e-12 * total[c]:
                known[c] = 0.0
    return last, n_known


@helper
def _balanced_score(left, known, classes):
    """1 - BER K/(K - 1) when each side predicts the class it holds the largest share of."""
    most_left = most_right = 0.0
    for c in range(known.shape[0]):
        if known[c] > 0.0:
            share = left[c] / known[c]
            most_left = max(most_left, share)
            most_right = max(most_right, 1.0 - share)
    return (most_left + most_right - 1.0) / (classes - 1)


@helper
def halfway(below, above):
    """The middle of two values; the upper one where no number lies between them, so that the lower one is below it."""
    middle = below / 2.0 + above / 2.0
    return middle if middle > below else above


@helper
def _nearest(values, first, last, pending, start, stop, average):
    """The split nearest to the average of splits number `start` up to `stop`, which tie, and its gap.

    `pending` is True if some rows hold zero.
    """
    nearest = np.inf
    split = gap = previous = 0.0
    number = -1
    t = first
    while t < last or pending:
        block = pending and (t == last or values[t] > 0.0)
        value = 0.0 if block else np.float64(values[t])
        if number < 0 or value != previous:
            # The first value has no split before it.
            if start <= number < stop:
                middle = halfway(previous, value)
                # The average of huge values may be infinite: the first is then taken.
                if number == start or abs(middle - average) < nearest:
                    nearest = abs(middle - average)
                    split, gap = middle, value - previous
            number += 1
        if block:
            pending = False
        else:
            t += 1
        previous = value
    return split, gap


@helper
def _sides_score(part, known, classes, balanced):
    """Score of the split between a part of the rows and the others, and the pairs of one class that it separates."""
    weight_part = all_weight = separated = smaller = 0.0
    for c in range(known.shape[0]):
        weight_part += part[c]
        all_weight += known[c]
        separated += part[c] * (known[c] - part[c])
        smaller += min(part[c], known[c] - part[c])
    if balanced:
        return _balanced_score(part, known, classes), separated
    return 2.0 * (weight_part * (all_weight - weight_part) - separated) - smaller, separated


@helper
def _add_chosen(table, chosen, part):
    """Fill the weight of each class in the chosen levels; returns how many levels these are."""
    count = 0
    part[:] = 0.0
    for k in range(chosen.shape[0]):
        if chosen[k]:
            count += 1
            for c in range(part.shape[0]):
                part[c] += table[k, c]
    return count


@helper
def _climb(table, chosen, known, part, moved, classes, balanced, near, close):
    """Make the best move, of one level or of two that change places, until none helps; returns score and pairs."""
    m, n_classes = table.shape
    exchange = m * m * n_classes <= _WORK
    count = _add_chosen(table, chosen, part)
    best, best_same = _sides_score(part, known, classes, balanced)
    # Each move improves, but for rounding.
    for _ in range(4 * m):
        first = second = -1
        for a in range(m):
            sign = -1.0 if chosen[a] else 1.0
            # Neither side may become empty.
            if 0 < count + sign < m:
                for c in range(n_classes):
                    moved[c] = part[c] + sign * table[a, c]
                here, separated = _sides_score(moved, known, classes, balanced)
                if here > best + near or (here >= best - near and separated < best_same - close):
                    best, best_same, first, second = here, separated, a, -1
            if exchange and chosen[a]:
                for b in range(m):
                    if not chosen[b]:
                        for c in range(n_classes):
                            moved[c] = part[c] - table[a, c] + table[b, c]
                        here, separated = _sides_score(moved, known, classes, balanced)
                        if here > best + near or (here >= best - near and separated < best_same - close):
                            best, best_same, first, second = here, separated, a, b
        if first < 0:
            break
        chosen[first] = not chosen[first]
        if second >= 0:
            chosen[second] = not chosen[second]
        # Added up anew, so that rounding does not grow.
        count = _add_chosen(table, chosen, part)
    return best, best_same


@kernel(
    "Tuple((float64, float64))(int32[::1], int64[::1], int64[::1], float64[::1], int64, boolean, boolean[::1])", reads=4
)
def nominal_split(levels, rows, codes, weight, n_classes, balanced, inside):
    """Best subset of levels for one nominal column: returns its score and the pairs of one class separated.

    `levels` holds a level for every row of the data, below 0 where it is missing; `inside` receives the subset. Up to
    EXHAUSTIVE levels every subset is tried. Beyond, levels are ordered by each class's share. From the best prefix of
    these orders, and from many others, single levels change sides and pairs of levels change places while that
    improves the score. The number of starts falls with the square of the number of levels; beyond
    sqrt(_WORK / n_classes) levels no pairs are tried.
    """
    n_levels = inside.shape[0]
    full = np.zeros((n_levels, n_classes))
    for i in rows:
        if levels[i] >= 0:
            full[levels[i], codes[i]] += weight[i]
    known = np.zeros(n_classes)
    size = np.zeros(n_levels)
    for level in range(n_levels):
        for c in range(n_classes):
            known[c] += full[level, c]
            size[level] += full[level, c]
    # Loops here and below: `flatnonzero` and `sum` compile for as long as all the rest.
    present = np.empty(n_levels, dtype=np.int64)
    m = 0
    for level in range(n_levels):
        inside[level] = False
        if size[level] > 0.0:
            present[m] = level
            m += 1
    if m < 2:
        return NO_SPLIT, 0.0
    table = np.empty((m, n_classes))
    for k in range(m):
        assign(table[k], full[present[k]])
    all_weight = 0.0
    classes = 0
    for c in range(n_classes):
        all_weight += known[c]
        classes += known[c] > 0.0
    if classes < 2:
        return NO_SPLIT, 0.0
    close = 1e-13 * all_weight * all_weight
    near = 1e-12 if balanced else close
    best, best_same = NO_SPLIT, 0.0
    chosen = np.zeros(m, dtype=np.bool_)
    tried = np.zeros(m, dtype=np.bool_)
    best_chosen = np.zeros(m, dtype=np.bool_)
    share = np.empty(m)
    part = np.zeros(n_classes)
    moved = np.zeros(n_classes)

    exhaustive = m <= EXHAUSTIVE
    n_orders = 1 if exhaustive or n_classes == 2 else n_classes
    starts = max(_WORK // (m * m * n_classes), 1)
    for order in range(n_orders + 1):
        # Last comes the best prefix alone.
        steps = 1
        if order == n_orders:
            if exhaustive:
                break
            assign(tried, best_chosen)
        else:
            steps = (1 << (m - 1)) - 1 if exhaustive else m - 1
            chosen[:] = False
            for k in range(m):
                share[k] = table[k, order] / size[present[k]]
            ranking = np.argsort(share)
        for step in range(1, steps + 1):
            climbs = order == n_orders
            if not climbs:
                flip = 0
                if exhaustive:
                    # Gray code: the level that changes sides is the number of trailing zeros of the step.
                    while (step >> flip) & 1 == 0:
                        flip += 1
                else:
                    flip = ranking[step - 1]
                    climbs = step * starts // m != (step - 1) * starts // m
                chosen[flip] = not chosen[flip]
                _add_chosen(table, chosen, part)
                here, separated = _sides_score(part, known, classes, balanced)
                if here > best + near or (here >= best - near and separated < best_same - close):
                    best, best_same = here, separated
                    assign(best_chosen, chosen)
                assign(tried, chosen)
            if climbs:
                here, separated = _climb(table, tried, known, part, moved, classes, balanced, near, close)
                if here > best + near or (here >= best - near and separated < best_same - close):
                    best, best_same = here, separated
                    assign(best_chosen, tried)
    # The subset is the lighter side: unseen levels go with the heavier one.
    light = 0.0
    for k in range(m):
        if best_chosen[k]:
            light += size[present[k]]
    swap = light > all_weight - light
    for k in range(m):
        inside[present[k]] = best_chosen[k] != swap
    return best, best_same
