"""Steps of the boosted lasso for squared error."""

import numpy as np

from tamis.kernels.compiler import kernel

#: Sizes that differ by this share differ by rounding: the first column counts as the larger one.
_EQUAL = 1e-12

#: What the kernel returns when there is no more room for steps, when it stops as wished, and at the end of the path.
FULL, STOPPED, ENDED = -1, -2, -3

_V, _P = "float64[::1]", "intp[::1]"


@kernel(
    f"intp(float64[:,::1], {_P}, float64, float64, float64, boolean, boolean, intp, float64,"
    f" {_V}, {_P}, {_P}, {_P}, {_V}, int32[::1], int8[::1], {_V}, {_V}, int32[::1])",
    reads=9,
)
def quadratic_steps(
    gram, slot, ratio, step, slack, backward, held, most, floor,
    pull, counts, active, place, state, columns, signs, penalties, losses, sizes,
):  # fmt: skip
    """Take steps until `most` columns are active or the penalty is below `floor`.

    With the penalty `held` each step lowers the penalised loss most at it, until none does.

    `gram[slot[j]]` holds the products of column j with all columns, which have a mean square of 1; `pull` the products
    with the residuals, `counts` the weights in steps. `place` is the number of steps and of active columns, `state` the
    penalty and the loss. Steps are written to the last five arrays. Returns a column whose products are needed, or why
    it stops.
    """
    n_columns = pull.shape[0]
    bend = 0.5 * step * step
    while True:
        done = place[0]
        penalty = state[0]
        if done > 0 and (place[1] >= most or penalty < floor):
            return STOPPED
        if done == columns.shape[0]:
            return FULL
        take, sign, change = -1, 0, 0.0
        if backward and done > 0 and ratio == 1.0 and not held:
            least = np.inf
            for a in range(place[1]):
                j = active[a]
                own = pull[j] if counts[j] > 0 else -pull[j]
                if take < 0 or own < least - _EQUAL * abs(least):
                    least, take = own, j
            change = step * least + bend
            if take >= 0 and change - penalty * step < -slack:
                sign = -1 if counts[take] > 0 else 1
            else:
                take = -1
        elif held or (backward and done > 0):
            least = -slack
            for j in range(n_columns):
                weight = counts[j] * step
                for s in (-1, 1):
                    if counts[j] == 0 and s * pull[j] <= 0.0:
                        continue
                    loss = bend - s * step * pull[j]
                    grows = ratio * (abs(weight + s * step) - abs(weight)) + (1.0 - ratio) * (s * step * weight + bend)
                    if loss + penalty * grows < least - _EQUAL * step * penalty:
                        least, take, sign, change = loss + penalty * grows, j, s, loss
        if take < 0 and held:
            return STOPPED
        if take < 0:
            largest = 0.0
            for j in range(n_columns):
                if abs(pull[j]) > largest * (1.0 + _EQUAL):
                    largest, take = abs(pull[j]), j
            if take < 0:
                return ENDED
            sign = 1 if pull[take] > 0.0 else -1
            change = bend - step * largest
            grows = step
            if ratio < 1.0:
                weight = counts[take] * step
                grows = ratio * (abs(weight + sign * step) - abs(weight)) + (1.0 - ratio) * (
                    sign * step * weight + bend
                )
            if grows <= 0.0 or -change - slack <= 0.0:
                return ENDED
            penalty = min(penalty, (-change - slack) / grows)
        if slot[take] < 0:
            return take
        before = counts[take]
        counts[take] += sign
        if before == 0:
            active[place[1]] = take
            place[1] += 1
        elif counts[take] == 0:
            for a in range(place[1]):
                if active[a] == take:
                    place[1] -= 1
                    active[a] = active[place[1]]
                    break
        products = gram[slot[take]]
        moved = sign * step
        for j in range(n_columns):
            pull[j] -= moved * products[j]
        state[0] = penalty
        state[1] += change
        columns[done], signs[done], penalties[done], losses[done], sizes[done] = take, sign, penalty, state[1], place[1]
        place[0] = done + 1
