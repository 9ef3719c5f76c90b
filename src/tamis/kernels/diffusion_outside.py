"""What all other rows say of the place where a branch of a diffusion tree begins, and the prior odds of joining it."""

import numpy as np

from tamis.kernels.compiler import helper
from tamis.kernels.divergence import cumulative


@helper
def send_down(
    links, times, sizes, top, latest, k, rate, tables, spread, flip, frequency,
    up_mean, up_precision, up_class, out_mean, out_variance, out_class, above, reached, visited,
):  # fmt: skip
    """Visit the branches that begin before `latest`, parents first; returns their number.

    A branch has the number of its lower node. Written for each: mean and variance of the location where it begins,
    and the class probabilities there, given all rows but those below it; `above`, the log ratio of the prior of the
    splits on the way there with k rows more to that without; and `reached`, A at its end. `tables` has log((i - 1)!)
    and 1 + 1/2 + ... + 1/i.
    """
    visited[0], found, at = top, 1, 0
    above[top], reached[top] = 0.0, cumulative(rate, times[top])
    out_mean[top], out_variance[top], out_class[top] = 0.0, 0.0, frequency
    while at < found:
        u = visited[at]
        at += 1
        if links[u, 1] < 0 or times[u] >= latest:
            continue
        parent, n = links[u, 0], sizes[u]
        begin = times[parent] if parent >= 0 else 0.0
        since = reached[parent] if parent >= 0 else 0.0
        passed = (since - reached[u]) * (tables[1, n + k - 1] - tables[1, n - 1])
        passed -= tables[0, n + k] - tables[0, n]
        here = np.exp(-flip * (times[u] - begin))
        for side in range(1, 3):
            c, w = links[u, side], links[u, 3 - side]
            reached[c] = cumulative(rate, times[c])
            above[c] = above[u] + passed + tables[0, sizes[c] + k] - tables[0, sizes[c]]
            for j in range(spread.shape[0]):
                variance = out_variance[u, j] + spread[j] * (times[u] - begin)
                p = up_precision[w, j] * variance / (1.0 + up_precision[w, j] * spread[j] * (times[w] - times[u]))
                out_variance[c, j] = variance / (1.0 + p)
                out_mean[c, j] = (out_mean[u, j] + p * up_mean[w, j]) / (1.0 + p)
            stay, drawn, total = np.exp(-flip * (times[w] - times[u])), 0.0, 0.0
            for i in range(frequency.shape[0]):
                drawn += frequency[i] * up_class[w, i]
            for i in range(frequency.shape[0]):
                before = here * out_class[u, i] + (1.0 - here) * frequency[i]
                out_class[c, i] = before * (stay * up_class[w, i] + (1.0 - stay) * drawn)
                total += out_class[c, i]
            for i in range(frequency.shape[0]):
                out_class[c, i] /= total
            visited[found] = c
            found += 1
    return found


@helper
def log_odds(tables, above, since, at, latest, n, k, share):
    """Log prior of k rows that join a branch of n rows, over the density of the time at which one row does.

    A is `since` where the branch begins, `at` where they join it, and `latest` where the k rows split; `share` of
    single rows that come to the branch leave it before its end and before that.
    """
    found = above + tables[0, n] + tables[0, k] - tables[0, n + k] + np.log(n * share)
    if k > 1:
        found += (at - since) * (1.0 / n + tables[1, n - 1] - tables[1, n + k - 1])
        found -= (latest - at) * tables[1, k - 1]
    return found


@helper
def class_there(flip, frequency, out_class, up_class, since, until, found):
    """Write the class probabilities at a point of a branch, between its two ends."""
    before, after = np.exp(-flip * since), np.exp(-flip * until)
    drawn, total = 0.0, 0.0
    for c in range(frequency.shape[0]):
        drawn += frequency[c] * up_class[c]
    for c in range(frequency.shape[0]):
        found[c] = (before * out_class[c] + (1.0 - before) * frequency[c]) * (
            after * up_class[c] + (1.0 - after) * drawn
        )
        total += found[c]
    for c in range(frequency.shape[0]):
        found[c] /= total
