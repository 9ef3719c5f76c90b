"""Where a new row could join a diffusion tree, and what it would be there."""

import numpy as np

from tamis.kernels.compiler import kernel
from tamis.kernels.diffusion_moves import LAST
from tamis.kernels.diffusion_outside import class_there, log_odds, send_down
from tamis.kernels.divergence import quantile, share_leaving, time_of


@kernel(
    "void(int64, float64[::1], float64[:, ::1], float64[::1], float64, float64[::1], int64[:, ::1], float64[::1], "
    "int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])",
    reads=4,
)
def places(
    top, rate, tables, spread, flip, frequency, links, times, sizes, up_mean, up_precision, up_class,
    prior, mean, variance, classes,
):  # fmt: skip
    """Write log prior, means and variances of the columns at time 1, and class probabilities then, at each place.

    Each branch has as many places, at middle quantiles of the time at which a row leaves it.
    """
    n_nodes, n_columns = up_mean.shape
    each = prior.shape[0] // n_nodes
    out_mean, out_variance = np.empty((n_nodes, n_columns)), np.empty((n_nodes, n_columns))
    out_class, above = np.empty((n_nodes, frequency.shape[0])), np.empty(n_nodes)
    reached, visited = np.empty(n_nodes), np.empty(n_nodes, dtype=np.int64)
    count = send_down(
        links, times, sizes, top, 1.0, 1, rate, tables, spread, flip, frequency,
        up_mean, up_precision, up_class, out_mean, out_variance, out_class, above, reached, visited,
    )  # fmt: skip
    for i in range(count):
        b = visited[i]
        begin, since = (times[links[b, 0]], reached[links[b, 0]]) if links[b, 0] >= 0 else (0.0, 0.0)
        share = share_leaving(since, reached[b], sizes[b])
        for r in range(each):
            at = i * each + r
            left = quantile(since, share, sizes[b], (r + 0.5) / each)
            t = min(max(time_of(rate, left), begin), times[b], LAST)
            prior[at] = -np.inf
            if share > 0.0:
                prior[at] = log_odds(tables, above[b], since, left, np.inf, sizes[b], 1, share) - np.log(each)
            for j in range(n_columns):
                before = out_variance[b, j] + spread[j] * (t - begin)
                p = up_precision[b, j] * before / (1.0 + up_precision[b, j] * spread[j] * (times[b] - t))
                mean[at, j] = (out_mean[b, j] + p * up_mean[b, j]) / (1.0 + p)
                variance[at, j] = before / (1.0 + p) + spread[j] * (1.0 - t)
            class_there(flip, frequency, out_class[b], up_class[b], t - begin, times[b] - t, classes[at])
            stay = np.exp(-flip * (1.0 - t))
            for c in range(frequency.shape[0]):
                classes[at, c] = stay * classes[at, c] + (1.0 - stay) * frequency[c]


@kernel("void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])", reads=3)
def add_densities(X, mean, variance, found):
    """Add the log density of each row at each place. A missing value (NaN) says nothing."""
    n_places, n_columns = mean.shape
    precision, logs = np.empty_like(mean), np.empty_like(mean)
    total = np.zeros(n_places)
    for s in range(n_places):
        for j in range(n_columns):
            precision[s, j], logs[s, j] = 0.5 / variance[s, j], 0.5 * np.log(2.0 * np.pi * variance[s, j])
            total[s] += logs[s, j]
    for i in range(X.shape[0]):
        for s in range(n_places):
            log = -total[s]
            for j in range(n_columns):
                gap = X[i, j] - mean[s, j]
                if gap == gap:
                    log -= gap * gap * precision[s, j]
                else:
                    log += logs[s, j]
            found[i, s] += log
