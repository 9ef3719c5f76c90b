"""The log density of all weights, given their precisions and the data; it needs JAX."""

from typing import Any, NamedTuple

from tamis.bayes.network import Network
from tamis.bayes.priors import Priors


class Data(NamedTuple):
    """Rows, their targets and weights, the group of each input, and which groups are in use.

    Rows of weight 0 and inputs of zeros fill the arrays up to common sizes, for which the sampler is compiled once.
    Padded inputs belong to a group that is not in use.
    """

    X: Any
    y: Any
    weight: Any
    groups: Any
    in_use: Any


class Precisions(NamedTuple):
    """The precision of each group of inputs, their common one, those of biases and weights above, that of the noise."""

    inputs: Any
    common: Any
    biases: Any
    later: Any
    noise: Any


def log_density(network: Network, priors: Priors, data: Data, precisions: Precisions, weights: Any) -> Any:
    """Log of the posterior density of the weights given all precisions, up to a constant."""
    return log_likelihood(network, data, precisions.noise, weights) + log_prior(
        network, priors, data, precisions, weights
    )


def log_prior(network: Network, priors: Priors, data: Data, precisions: Precisions, weights: Any) -> Any:
    """Log density of the weights before any data, up to terms of the precisions alone."""
    return -0.5 * (precision_of_each(network, priors, data, precisions) * weights**2).sum()


def log_likelihood(network: Network, data: Data, noise: Any, weights: Any) -> Any:
    """Log probability of the targets; for numbers up to terms of the precision `noise` alone."""
    return (data.weight * row_log_likelihood(network, data, noise, weights)).sum()


def row_log_likelihood(network: Network, data: Data, noise: Any, weights: Any) -> Any:
    """The same for each row."""
    import jax
    import jax.numpy as jnp

    found = network.evaluate(weights, data.X, jnp.tanh)
    if network.kind == "gaussian":
        return -0.5 * noise * (data.y - found[:, 0]) ** 2
    if network.kind == "logistic":
        return -jax.nn.softplus((1.0 - 2.0 * data.y) * found[:, 0])
    own = jnp.arange(network.outputs) == data.y[:, None]
    return jnp.where(own, found, 0.0).sum(axis=1) - jax.nn.logsumexp(found, axis=1)


def precision_of_each(network: Network, priors: Priors, data: Data, precisions: Precisions) -> Any:
    """The prior precision of each weight, in the order of the vector."""
    import jax.numpy as jnp

    parts = []
    last = len(network.shapes) - 1
    for number, (below, above) in enumerate(network.shapes):
        own = precisions.inputs[data.groups] if number == 0 else jnp.full(below, precisions.later[number - 1] * below)
        bias = priors.output_bias_scale**-2 if number == last else precisions.biases[number]
        parts += [jnp.repeat(own, above), jnp.full(above, bias)]
    return jnp.concatenate(parts)
