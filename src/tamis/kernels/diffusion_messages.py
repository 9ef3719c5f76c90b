"""What the rows below a node of a diffusion tree say of the node: normal densities of its location, and its class.

`links` has the parent (-1: the origin) and the two children (-1: a row) of each node. Along a branch from time s to t
a column moves by a normal step of variance `spread` (t - s), and the class is drawn anew from the `frequency` of the
classes with probability 1 - exp(-flip (t - s)). Messages about a location are its mean and precision; a missing value
has precision 0.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel


@helper
def merge(links, times, spread, flip, frequency, up_mean, up_precision, up_class, u):
    """Make the messages of a node from those of its children."""
    a, b = links[u, 1], links[u, 2]
    to_a, to_b = times[a] - times[u], times[b] - times[u]
    for j in range(spread.shape[0]):
        p = up_precision[a, j] / (1.0 + up_precision[a, j] * spread[j] * to_a)
        q = up_precision[b, j] / (1.0 + up_precision[b, j] * spread[j] * to_b)
        up_precision[u, j] = p + q
        up_mean[u, j] = (p * up_mean[a, j] + q * up_mean[b, j]) / (p + q) if p + q > 0.0 else 0.0
    stay_a, stay_b = np.exp(-flip * to_a), np.exp(-flip * to_b)
    all_a, all_b = 0.0, 0.0
    for c in range(frequency.shape[0]):
        all_a += frequency[c] * up_class[a, c]
        all_b += frequency[c] * up_class[b, c]
    largest = 0.0
    for c in range(frequency.shape[0]):
        from_a = stay_a * up_class[a, c] + (1.0 - stay_a) * all_a
        up_class[u, c] = from_a * (stay_b * up_class[b, c] + (1.0 - stay_b) * all_b)
        largest = max(largest, up_class[u, c])
    for c in range(frequency.shape[0]):
        up_class[u, c] /= largest
    return np.log(largest)


@kernel(
    "float64(int64[::1], int64[:, ::1], float64[::1], float64[::1], float64, float64[::1], "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1])",
    reads=4,
)
def send_up(order, links, times, spread, flip, frequency, up_mean, up_precision, up_class, densities):
    """Make the messages of all inner nodes, which `order` lists from the last to the first; those of rows are given.

    Writes the log density of each column; returns the log probability of the classes.
    """
    densities[:] = 0.0
    classes = 0.0
    for u in order:
        classes += merge(links, times, spread, flip, frequency, up_mean, up_precision, up_class, u)
        a, b = links[u, 1], links[u, 2]
        for j in range(spread.shape[0]):
            if up_precision[a, j] > 0.0 and up_precision[b, j] > 0.0:
                variance = 1.0 / up_precision[a, j] + 1.0 / up_precision[b, j]
                variance += spread[j] * (times[a] + times[b] - 2.0 * times[u])
                densities[j] += _log_normal(up_mean[a, j] - up_mean[b, j], variance)
    top = order[-1]
    for j in range(spread.shape[0]):
        if up_precision[top, j] > 0.0:
            densities[j] += _log_normal(up_mean[top, j], 1.0 / up_precision[top, j] + spread[j] * times[top])
    total = 0.0
    for c in range(frequency.shape[0]):
        total += frequency[c] * up_class[top, c]
    return classes + np.log(total)


@helper
def _log_normal(x, variance):
    return -0.5 * (np.log(2.0 * np.pi * variance) + x * x / variance)
