"""Gibbs draws of all precisions, each given the weights and the other precisions; it needs JAX."""

from typing import Any

from tamis.bayes import gamma, inverse_gaussian
from tamis.bayes.density import Data, Precisions
from tamis.bayes.network import Network
from tamis.bayes.priors import Priors


def at_prior(network: Network, priors: Priors) -> Precisions:
    """All precisions at the means of their priors."""
    import jax.numpy as jnp

    common = jnp.asarray(priors.input_scale**-2)
    n_hidden = len(network.hidden)
    return Precisions(
        jnp.full(network.inputs, common),
        common,
        jnp.full(n_hidden, priors.bias_scale**-2),
        jnp.full(n_hidden, priors.later_scale**-2),
        jnp.asarray(priors.noise_scale**-2),
    )


def draw(key: Any, network: Network, priors: Priors, data: Data, common: Any, weights: Any) -> Precisions:
    """Draw all precisions given the weights and the common precision of the inputs, and then this one given the others.

    A precision with a gamma prior of mean m and shape a, of n normal numbers with the sum of squares s, has a gamma
    distribution with the shape parameter (a + n) / 2 and the rate (a / m + s) / 2. The common precision t of G groups
    with precisions t_j has a density proportional to::

        t^((a_0 - G a_1) / 2 - 1) exp(-(a_0 t / m + a_1 sum_j t_j / t) / 2)
    """
    import jax
    import jax.numpy as jnp

    for_gamma, for_common = jax.random.split(key)
    shape, rate = terms(network, priors, data, common, weights)
    found = gamma.draw(for_gamma, shape) / rate
    n_hidden = len(network.hidden)
    inputs, biases, later, noise = jnp.split(found, [network.inputs, network.inputs + n_hidden, found.size - 1])
    # Padded inputs have no part in anything; a precision of 1 keeps their weights in bounds.
    inputs = jnp.where(data.in_use, inputs, 1.0)
    common = inverse_gaussian.draw(
        for_common,
        (priors.shape - data.in_use.sum() * priors.ard_shape) / 2.0,
        jnp.asarray(priors.shape * priors.input_scale**2, inputs.dtype),
        priors.ard_shape * jnp.where(data.in_use, inputs, 0.0).sum(),
    )
    return Precisions(inputs, common, biases, later, noise[0])


def terms(network: Network, priors: Priors, data: Data, common: Any, weights: Any) -> tuple[Any, Any]:
    """Shape parameters and rates of the gamma distributions: groups of inputs, biases, later weights, noise."""
    import jax.numpy as jnp

    layers = network.layers(weights)
    n_hidden = len(network.hidden)
    zeros = jnp.zeros(network.inputs, weights.dtype)
    counts = zeros.at[data.groups].add(float(network.shapes[0][1]))
    squares = zeros.at[data.groups].add((layers[0][0] ** 2).sum(axis=1))
    biases = [bias for _, bias in layers[:n_hidden]]
    later = [matrix for matrix, _ in layers[1:]]
    # Classes have no noise: its precision is then drawn from the prior, and nothing depends on it.
    noise_count = noise_squares = jnp.zeros((), weights.dtype)
    if network.kind == "gaussian":
        errors = data.y - network.evaluate(weights, data.X, jnp.tanh)[:, 0]
        noise_count, noise_squares = data.weight.sum(), (data.weight * errors**2).sum()
    shapes = [priors.ard_shape + counts, *((priors.shape + jnp.full(1, float(one.size))) for one in [*biases, *later])]
    rates = [
        priors.ard_shape / common + squares,
        *((priors.shape * priors.bias_scale**2 + (one**2).sum())[None] for one in biases),
        *((priors.shape * priors.later_scale**2 + one.shape[0] * (one**2).sum())[None] for one in later),
    ]
    shapes.append((priors.shape + noise_count)[None])
    rates.append((priors.shape * priors.noise_scale**2 + noise_squares)[None])
    return jnp.concatenate(shapes) / 2.0, jnp.concatenate(rates) / 2.0
