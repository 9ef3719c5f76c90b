"""Draws of trees from their posterior: rows come one by one, then subtrees move, and the rates are drawn in between."""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tamis.base.types import FloatArray
from tamis.classify.diffusion_tree.slice_sampling import slice_draw
from tamis.classify.diffusion_tree.tree import Messages, Rates, Rows, Tree

Divergence: TypeAlias = Literal["inverse", "inverse_square"]

#: Mean and deviation of the normal priors of the logs; columns have variance 1.
_SPREAD, _NOISE, _FLIP, _SLIP = (-0.5, 1.0), (-1.5, 1.5), (0.0, 1.5), (-2.0, 1.5)

#: The coefficients of a(t) in use, and the same of their logs.
_RATES: dict[Divergence, tuple[list[int], tuple[float, float]]] = {
    "inverse": ([1], (0.0, 1.0)),
    "inverse_square": ([0, 2], (-1.5, 1.5)),
}

#: New u that a row tries when it comes, and a subtree when it moves.
_COMING, _MOVING = 3, 1


class Draw(NamedTuple):
    """A tree, what was drawn with it, and the log of their joint density with the rows."""

    tree: Tree
    rates: Rates
    log_density: float


def chain(rows: Rows, divergence: Divergence, rng: np.random.Generator) -> Iterator[Draw]:
    """The state after each sweep, in place: every subtree is moved once, then every rate."""
    n, n_columns = rows.values.shape
    used, _ = _RATES[divergence]
    rate = np.zeros(3)
    rate[used] = np.exp(_RATES[divergence][1][0])
    rates = Rates(rate, np.full(n_columns, 0.7), np.full(n_columns, 0.3), 1.0, 0.1)
    order = rng.permutation(n)
    tree, messages = Tree.loose(n, order), Messages(rows)
    messages.of_noise(rates.noise)
    messages.of_slip(rates.slip)
    for coming in np.array_split(order[1:], max(1, round(np.log2(n)))):
        messages.regraft(tree, rates, coming, rng.random((coming.size, 1 + _COMING)))
        if coming.size:
            rates = _rates(tree, messages, rates, divergence, rng)
    nodes = np.arange(2 * n - 1)
    while True:
        moved = rng.permutation(nodes)
        messages.regraft(tree, rates, moved, rng.random((moved.size, 1 + _MOVING)))
        rates = _rates(tree, messages, rates, divergence, rng)
        yield Draw(tree, rates, _log_density(tree, messages, rates, divergence))


def _rates(tree: Tree, messages: Messages, now: Rates, divergence: Divergence, rng: np.random.Generator) -> Rates:
    """Draw all rates anew, each given the tree and the others; the messages are those of the new ones."""

    def columns(rates: Rates) -> FloatArray:
        return messages.send_up(tree, rates).columns

    def classes(rates: Rates) -> FloatArray:
        return np.array([messages.send_up(tree, rates).classes])

    def by_rate(log: FloatArray, place: int) -> FloatArray:
        rate = now.rate.copy()
        rate[place] = np.exp(log[0])
        return np.array([tree.log_prior(rate)]) + _log_normal(log, coefficients)

    used, coefficients = _RATES[divergence]
    for place in used:
        log = slice_draw(np.log(now.rate[[place]]), lambda log, place=place: by_rate(log, place), rng)  # type: ignore[misc]
        rate = now.rate.copy()
        rate[place] = np.exp(log[0])
        now = now._replace(rate=rate)
    log = slice_draw(
        np.log(now.spread), lambda log: columns(now._replace(spread=np.exp(log))) + _log_normal(log, _SPREAD), rng
    )
    now = now._replace(spread=np.exp(log))
    log = slice_draw(
        np.log(now.noise), lambda log: columns(now._replace(noise=np.exp(log))) + _log_normal(log, _NOISE), rng
    )
    now = now._replace(noise=np.exp(log))
    log = slice_draw(
        np.log([now.flip]),
        lambda log: classes(now._replace(flip=float(np.exp(log[0])))) + _log_normal(log, _FLIP),
        rng,
    )
    now = now._replace(flip=float(np.exp(log[0])))
    log = slice_draw(
        np.log([now.slip]),
        lambda log: classes(now._replace(slip=float(np.exp(log[0])))) + _log_normal(log, _SLIP),
        rng,
    )
    now = now._replace(slip=float(np.exp(log[0])))
    messages.send_up(tree, now)
    return now


def _log_density(tree: Tree, messages: Messages, rates: Rates, divergence: Divergence) -> float:
    """The log of the joint density of the tree, the logs of its rates, and the rows."""
    used, coefficients = _RATES[divergence]
    found = messages.send_up(tree, rates)
    priors = (
        (rates.rate[used], coefficients),
        (rates.spread, _SPREAD),
        (rates.noise, _NOISE),
        (np.array([rates.flip]), _FLIP),
        (np.array([rates.slip]), _SLIP),
    )
    prior = sum(float(_log_normal(np.log(value), law).sum()) for value, law in priors)
    return tree.log_prior(rates.rate) + float(found.columns.sum()) + found.classes + prior


def _log_normal(log: FloatArray, law: tuple[float, float]) -> FloatArray:
    mean, deviation = law
    found: FloatArray = -0.5 * ((log - mean) / deviation) ** 2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
    return found
