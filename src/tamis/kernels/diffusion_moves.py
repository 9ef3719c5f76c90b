"""Moves of a diffusion tree: take a subtree off, and put it where its posterior says, exactly."""

import numpy as np

from tamis.kernels.compiler import helper, kernel
from tamis.kernels.diffusion_messages import merge
from tamis.kernels.diffusion_outside import class_there, log_odds, send_down
from tamis.kernels.divergence import cumulative, level, quantile, share_leaving, time_of

#: The parent of a node that is not yet in the tree.
LOOSE = -2

#: No branch ends or begins later: beyond, times could not be told from 1.
LAST = 1.0 - 1e-12

#: A candidate whose log is less by this is beyond the rounding of the others.
NEGLIGIBLE = 50.0

#: For the share of rows that leave a branch of no length but rounding.
TINY = 1e-300


@kernel(
    "int64(int64[::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1], float64, float64[::1], int64, "
    "int64[:, ::1], float64[::1], int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])",
    reads=5,
)
def regraft(
    nodes, uniform, rate, tables, spread, flip, frequency, top, links, times, sizes, up_mean, up_precision, up_class
):
    """Draw the places of subtrees anew, one after the other, given all others; returns the node below the origin.

    A place is a branch and u, the share of single rows that would leave the branch sooner. Candidates are all branches
    with the u at hand and with some new ones; one is drawn by posterior density over the density of its u, which is 1.
    So the posterior is left as it is, and no move is refused. `uniform` has a line for each node: a number that
    chooses, and new u. A node whose parent is loose comes into the tree.
    """
    n_nodes, n_columns = up_mean.shape
    tries = uniform.shape[1]
    out_mean, out_variance = np.empty((n_nodes, n_columns)), np.empty((n_nodes, n_columns))
    out_class, above = np.empty((n_nodes, frequency.shape[0])), np.empty(n_nodes)
    visited, logs, when = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes * tries), np.empty(n_nodes * tries)
    there, reached, noise = np.empty(frequency.shape[0]), np.empty(n_nodes), np.empty(n_columns)
    for number in range(nodes.shape[0]):
        v = nodes[number]
        p = links[v, 0]
        if p < 0:
            continue
        k, latest, old, old_u, old_time = sizes[v], cumulative(rate, times[v]), -1, -1.0, -1.0
        if links[p, 0] != LOOSE:
            old = links[p, 1] + links[p, 2] - v
            since, old_time = cumulative(rate, times[links[p, 0]]) if links[p, 0] >= 0 else 0.0, times[p]
            top = _detached(links, sizes, top, v, p, old)
            u = links[old, 0]
            while u >= 0:
                sizes[u] -= k
                merge(links, times, spread, flip, frequency, up_mean, up_precision, up_class, u)
                u = links[u, 0]
            old_left = cumulative(rate, old_time)
            share = max(share_leaving(since, min(cumulative(rate, times[old]), latest), sizes[old]), TINY)
            old_u = level(since, share, sizes[old], old_left)
        count = send_down(
            links, times, sizes, top, times[v], k, rate, tables, spread, flip, frequency,
            up_mean, up_precision, up_class, out_mean, out_variance, out_class, above, reached, visited,
        )  # fmt: skip
        for j in range(n_columns):
            noise[j] = 1.0 / up_precision[v, j] if up_precision[v, j] > 0.0 else -1.0
        largest = -np.inf
        # The last branches first: likely ones are among them, and the others are then told quickly.
        for i in range(count - 1, -1, -1):
            b = visited[i]
            begin, since = (times[links[b, 0]], reached[links[b, 0]]) if links[b, 0] >= 0 else (0.0, 0.0)
            end = min(times[b], times[v], LAST)
            share = share_leaving(since, min(reached[b], latest), sizes[b])
            for r in range(tries):
                at = i * tries + r
                logs[at] = -np.inf
                u = old_u if r == 0 else uniform[number, r]
                if u < 0.0:
                    continue
                if r == 0 and b == old:
                    t, left, share = old_time, old_left, max(share, TINY)
                elif share > 0.0:
                    left = quantile(since, share, sizes[b], u)
                    t = time_of(rate, left)
                    if not begin < t < end:
                        continue
                else:
                    continue
                when[at] = t
                logs[at] = log_odds(tables, above[b], since, left, latest, sizes[b], k, share)
                logs[at] += _log_density(
                    spread, times[v] - t, t - begin, times[b] - t,
                    out_mean[b], out_variance[b], up_mean[b], up_precision[b], up_mean[v], noise,
                )  # fmt: skip
                # The probability of the classes, at most 1, cannot mend that.
                if logs[at] < largest - NEGLIGIBLE:
                    logs[at] = -np.inf
                    continue
                class_there(flip, frequency, out_class[b], up_class[b], t - begin, times[b] - t, there)
                logs[at] += _log_chance(flip, frequency, times[v] - t, there, up_class[v])
                largest = max(largest, logs[at])
        chosen = _drawn(logs, count * tries, largest, uniform[number, 0])
        if chosen >= 0:
            b, times[p] = visited[chosen // tries], when[chosen]
        else:
            # A row that comes, and no time could be told from the ends of its branch: any place is a beginning.
            b, times[p] = top, 0.5 * min(times[top], times[v])
        top = _attached(links, top, v, p, b)
        u = p
        while u >= 0:
            sizes[u] = sizes[links[u, 1]] + sizes[links[u, 2]]
            merge(links, times, spread, flip, frequency, up_mean, up_precision, up_class, u)
            u = links[u, 0]
    return top


@helper
def _log_density(spread, own, since, until, out_mean, out_variance, up_mean, up_precision, own_mean, noise):
    """Log density of the locations of a subtree, up to what does not depend on where it joins.

    `noise` is the variance of what its rows say of its top; negative where they say nothing.
    """
    found, product = 0.0, 1.0
    for j in range(spread.shape[0]):
        if noise[j] >= 0.0:
            before = out_variance[j] + spread[j] * since
            p = up_precision[j] * before / (1.0 + up_precision[j] * spread[j] * until)
            both = 1.0 / (1.0 + p)
            gap = own_mean[j] - (out_mean[j] + p * up_mean[j]) * both
            variance = before * both + spread[j] * own + noise[j]
            found += gap * gap / variance
            product *= variance
            if not 1e-150 < product < 1e150:
                found += np.log(product)
                product = 1.0
    return -0.5 * (found + np.log(product))


@helper
def _log_chance(flip, frequency, own, there, own_class):
    """Log probability of the classes of a subtree, up to what does not depend on where it joins."""
    stay, drawn, found = np.exp(-flip * own), 0.0, 0.0
    for c in range(frequency.shape[0]):
        drawn += frequency[c] * own_class[c]
        found += there[c] * own_class[c]
    return np.log(stay * found + (1.0 - stay) * drawn)


@helper
def _drawn(logs, count, largest, u):
    """The number of a candidate, drawn by the exponentials of the logs; -1 where all are zero."""
    total = 0.0
    for i in range(count):
        if logs[i] > largest - NEGLIGIBLE:
            total += np.exp(logs[i] - largest)
    rest, last = u * total, -1
    for i in range(count):
        if logs[i] > largest - NEGLIGIBLE:
            rest -= np.exp(logs[i] - largest)
            last = i
            if rest < 0.0:
                break
    return last


@helper
def _detached(links, sizes, top, v, p, sibling):
    """Take a subtree and its parent off; returns the node below the origin."""
    above = links[p, 0]
    links[sibling, 0], links[p, 0] = above, LOOSE
    if above < 0:
        return sibling
    links[above, 1 if links[above, 1] == p else 2] = sibling
    return top


@helper
def _attached(links, top, v, p, b):
    """Put a subtree and its parent on the branch that ends in b; returns the node below the origin."""
    above = links[b, 0]
    links[p, 0], links[p, 1], links[p, 2], links[b, 0] = above, b, v, p
    if above < 0:
        return p
    links[above, 1 if links[above, 1] == b else 2] = p
    return top
