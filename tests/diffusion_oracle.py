"""Dirichlet diffusion trees written plainly: dense covariances, priors of a tree as printed, rows that walk."""

import math

import numpy as np
from scipy.stats import multivariate_normal

from tamis.classify.diffusion_tree.tree import Messages, Rates, Rows, Tree


def paths(tree):
    """The nodes from each row up to the top."""
    found = []
    for row in range(tree.n_rows):
        nodes, at = [], row
        while at >= 0:
            nodes.append(at)
            at = tree.links[at, 0]
        found.append(nodes)
    return found


def shared_times(tree):
    """Until when each two rows share their path."""
    up = paths(tree)
    n = tree.n_rows
    found = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                found[i, j] = tree.times[next(node for node in up[i] if node in set(up[j]))]
    return found


def covariance(tree, spread, noise):
    """Of the values of one column."""
    return spread * shared_times(tree) + noise * np.eye(tree.n_rows)


def column_density(tree, spread, noise, x):
    """Log density of one column, missing values left out."""
    known = ~np.isnan(x)
    whole = covariance(tree, spread, noise)[np.ix_(known, known)]
    return multivariate_normal.logpdf(x[known], np.zeros(known.sum()), whole) if known.any() else 0.0


def class_probability(tree, rates, codes, frequency):
    """Of the classes of all rows: the sum over the classes of all inner nodes and all ends of paths."""
    k = frequency.size

    def step(length):
        stay = math.exp(-length)
        return stay * np.eye(k) + (1 - stay) * np.ones((k, 1)) * frequency

    def below(node):
        children = tree.links[node, 1:]
        if children[0] < 0:
            return step(rates.slip)[:, codes[node]]
        return np.prod([step(rates.flip * (tree.times[c] - tree.times[node])) @ below(c) for c in children], axis=0)

    return float(frequency @ step(rates.flip * tree.times[tree.top]) @ below(tree.top))


def big_a(rate, t):
    return rate[0] * t - rate[1] * math.log1p(-t) + rate[2] * t / (1 - t)


def small_a(rate, t):
    return rate[0] + rate[1] / (1 - t) + rate[2] / (1 - t) ** 2


def log_prior_by_order(tree, rate, order):
    """Log density of a tree whose rows come in an order, as they are told to walk."""
    up = paths(tree)
    found, come = 0.0, [order[0]]
    for row in order[1:]:
        begin, before = 0.0, 0
        for node in reversed(up[row]):
            others = sum(node in up[one] for one in come)
            if others == 0:
                t = tree.times[tree.links[node, 0]]
                found += math.log(small_a(rate, t) / before)
                break
            before = others
            end = tree.times[node] if node != row else 1.0
            # A node is a parting only where rows have come to both sides already.
            sides = [sum(c in up[one] for one in come) for c in tree.links[node, 1:]]
            found -= (big_a(rate, end) - big_a(rate, begin)) / others
            begin = end
            mine = next(c for c in tree.links[node, 1:] if c in up[row])
            if min(sides) > 0:
                taken = sides[list(tree.links[node, 1:]).index(mine)]
                found += math.log(taken / others)
        come.append(row)
    return found


def random_tree(rng, n, rate=(0.0, 1.0, 0.0), values=None, codes=None, classes=2):
    """A tree into which rows without values came: a draw from the prior; with its messages and rates."""
    values = np.full((n, 1), np.nan) if values is None else values
    codes = rng.integers(0, classes, n) if codes is None else codes
    frequency = np.full(classes, 1 / classes)
    d = values.shape[1]
    rates = Rates(np.array(rate), rng.uniform(0.3, 2.0, d), rng.uniform(0.1, 1.0, d), 0.0, 0.3)
    messages = Messages(Rows(np.full((n, d), np.nan), codes, frequency))
    messages.of_noise(rates.noise)
    messages.of_slip(rates.slip)
    order = rng.permutation(n)
    tree = Tree.loose(n, order)
    messages.regraft(tree, rates, order[1:], rng.random((n - 1, 2)))
    rates = rates._replace(flip=float(rng.uniform(0.2, 2.0)), slip=float(rng.uniform(0.05, 0.5)))
    messages = Messages(Rows(values, codes, frequency))
    messages.send_up(tree, rates)
    return tree, messages, rates


def shape(tree):
    """The shape of a tree, without its times: the sets of rows below its inner nodes."""
    up = paths(tree)
    return frozenset(
        frozenset(row for row in range(tree.n_rows) if node in up[row]) for node in range(tree.n_rows, tree.times.size)
    )


def walking_classes(rng, tree, rates, frequency):
    """The classes of all rows, as they walk down a tree."""
    found = np.zeros(tree.n_rows, dtype=int)

    def anew(code, length):
        return rng.choice(frequency.size, p=frequency) if rng.random() < -math.expm1(-length) else code

    def walk(node, code, begin):
        code = anew(code, rates.flip * (tree.times[node] - begin))
        if node < tree.n_rows:
            found[node] = anew(code, rates.slip)
        else:
            for child in tree.links[node, 1:]:
                walk(child, code, tree.times[node])

    walk(tree.top, rng.choice(frequency.size, p=frequency), 0.0)
    return found
