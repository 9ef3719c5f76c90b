"""Rounds of the dual problem of a support vector machine without intercept, along one weight after another."""

from tamis.kernels.compiler import kernel


@kernel("float64(float64[:, ::1], float64[::1], float64[::1], int64, float64, float64[::1], float64[::1])", reads=3)
def hinge_rounds(gram, signs, cost, most, tol, alpha, output):
    """Move each weight to its best value between 0 and its cost, in rounds; returns the largest slope left.

    The rounds end, `most` of them at the latest, when no slope that a weight could follow was above `tol`. `output`,
    ``gram @ (signs * alpha)``, changes along with `alpha`.
    """
    worst = 0.0
    for _ in range(most):
        worst = 0.0
        for i in range(signs.shape[0]):
            slope = signs[i] * output[i] - 1.0
            if (slope > 0.0 and alpha[i] > 0.0) or (slope < 0.0 and alpha[i] < cost[i]):
                worst = max(worst, abs(slope))
                best = cost[i] if slope < 0.0 else 0.0
                if gram[i, i] > 0.0:
                    best = min(max(alpha[i] - slope / gram[i, i], 0.0), cost[i])
                change = signs[i] * (best - alpha[i])
                alpha[i] = best
                for k in range(signs.shape[0]):
                    output[k] += change * gram[i, k]
        if worst <= tol:
            break
    return worst
