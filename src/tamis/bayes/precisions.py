"""The precisions of weights and of the noise, and their Gibbs draws given the weights."""

from typing import Any, NamedTuple

import numpy as np

from tamis.base.types import FloatArray
from tamis.bayes import inverse_gaussian
from tamis.bayes.density import Data
from tamis.bayes.network import Network
from tamis.bayes.priors import Priors


class Precisions(NamedTuple):
    """The precision of each group of inputs, their common one, those of biases and weights above, that of the noise.

    All have a line for each chain.
    """

    inputs: FloatArray
    common: FloatArray
    biases: FloatArray
    later: FloatArray
    noise: FloatArray


def at_prior(network: Network, priors: Priors, chains: int) -> Precisions:
    """All precisions at the means of their priors."""
    n_hidden = len(network.hidden)
    return Precisions(
        np.full((chains, network.inputs), priors.input_scale**-2),
        np.full(chains, priors.input_scale**-2),
        np.full((chains, n_hidden), priors.bias_scale**-2),
        np.full((chains, n_hidden), priors.later_scale**-2),
        np.full(chains, priors.noise_scale**-2),
    )


def of_each_weight(network: Network, priors: Priors, data: Data, precisions: Precisions) -> FloatArray:
    """The prior precision of each weight, in the order of the vector; a line for each chain."""
    parts = []
    last = len(network.shapes) - 1
    chains = precisions.common.size
    for number, (below, above) in enumerate(network.shapes):
        if number == 0:
            parts.append(np.repeat(precisions.inputs[:, data.groups], above, axis=1))
        else:
            parts.append(np.repeat(precisions.later[:, [number - 1]] * below, below * above, axis=1))
        if number == last:
            parts.append(np.full((chains, above), priors.output_bias_scale**-2))
        else:
            parts.append(np.repeat(precisions.biases[:, [number]], above, axis=1))
    return np.concatenate(parts, axis=1)


def log_prior(network: Network, priors: Priors, data: Data, precisions: Precisions, weights: FloatArray) -> FloatArray:
    """Log of the prior density of the weights and the log precisions in use, up to a constant; one for each chain."""
    each = of_each_weight(network, priors, data, precisions)
    # Without the weights of padded inputs, which come first.
    above = network.shapes[0][1]
    inside = np.concatenate(
        [np.repeat(data.in_use[data.groups], above), np.ones(each.shape[1] - network.inputs * above, dtype=bool)]
    )
    total = 0.5 * (np.log(each) - each * weights**2)[:, inside].sum(axis=1)
    terms: list[tuple[FloatArray, Any, float]] = [
        (precisions.inputs[:, data.in_use], precisions.common[:, None], priors.ard_shape),
        (precisions.common[:, None], priors.input_scale**-2, priors.shape),
        (precisions.biases, priors.bias_scale**-2, priors.shape),
        (precisions.later, priors.later_scale**-2, priors.shape),
    ]
    if network.kind == "gaussian":
        terms.append((precisions.noise[:, None], priors.noise_scale**-2, priors.shape))
    for precision, mean, shape in terms:
        ratio = precision / mean
        total += 0.5 * shape * (np.log(ratio) - ratio).sum(axis=1)
    return total


def draw(
    rng: np.random.Generator,
    network: Network,
    priors: Priors,
    data: Data,
    common: FloatArray,
    weights: FloatArray,
    squared_errors: FloatArray,
) -> Precisions:
    """Draw all precisions given the weights and the common precision of the inputs, and then this one given the others.

    A precision with a gamma prior of mean m and shape a, of n normal numbers with the sum of squares s, has a gamma
    distribution with the shape parameter (a + n) / 2 and the rate (a / m + s) / 2. The common precision t of G groups
    with precisions t_j has a density proportional to::

        t^((a_0 - G a_1) / 2 - 1) exp(-(a_0 t / m + a_1 sum_j t_j / t) / 2)
    """
    shape, rate = terms(network, priors, data, common, weights, squared_errors)
    found = np.maximum(rng.standard_gamma(shape, size=rate.shape) / rate, np.finfo(np.float64).tiny)
    n_hidden = len(network.hidden)
    inputs, biases, later, noise = np.split(found, np.cumsum([network.inputs, n_hidden, n_hidden]), axis=1)
    # Padded inputs have no part in anything; a precision of 1 keeps their weights in bounds.
    inputs = np.where(data.in_use, inputs, 1.0)
    order = (priors.shape - data.in_use.sum() * priors.ard_shape) / 2.0
    sums = priors.ard_shape * inputs[:, data.in_use].sum(axis=1)
    drawn = [inverse_gaussian.draw(rng, order, priors.shape * priors.input_scale**2, float(one)) for one in sums]
    return Precisions(inputs, np.array(drawn), biases, later, noise[:, 0])


def terms(
    network: Network,
    priors: Priors,
    data: Data,
    common: FloatArray,
    weights: FloatArray,
    squared_errors: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Shape parameters and rates of the gamma distributions: groups of inputs, biases, later weights, noise.

    Classes have no noise: its precision is then drawn from the prior, and nothing depends on it.
    """
    chains = len(weights)
    counts = np.bincount(data.groups, minlength=network.inputs) * float(network.shapes[0][1])
    squares = np.zeros((chains, network.inputs))
    biases, later = [], []
    start = 0
    for number, (below, above) in enumerate(network.shapes):
        middle = start + below * above
        own = weights[:, start:middle] ** 2
        if number == 0:
            each = own.reshape(chains, below, above).sum(axis=2)
            squares = np.stack([np.bincount(data.groups, one, minlength=network.inputs) for one in each])
        else:
            later.append((below * above, below * own.sum(axis=1)))
        start = middle + above
        biases.append((above, (weights[:, middle:start] ** 2).sum(axis=1)))
    noisy = network.kind == "gaussian"
    single = [
        *((priors.bias_scale, *one) for one in biases[:-1]),
        *((priors.later_scale, *one) for one in later),
        (priors.noise_scale, data.weight.sum() if noisy else 0.0, squared_errors if noisy else np.zeros(chains)),
    ]
    shape = np.concatenate([priors.ard_shape + counts, [priors.shape + count for _, count, _ in single]])
    rate = np.concatenate(
        [
            priors.ard_shape / common[:, None] + squares,
            *((priors.shape * scale**2 + own)[:, None] for scale, _, own in single),
        ],
        axis=1,
    )
    return shape / 2.0, rate / 2.0
