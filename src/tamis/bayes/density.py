"""The log density of all weights, given their precisions and the data; it needs JAX."""

from typing import Any, NamedTuple

from tamis.bayes.network import Network


class Rows(NamedTuple):
    """Inputs of rows, their targets and weights."""

    X: Any
    y: Any
    weight: Any


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


class Found(NamedTuple):
    """The log likelihood at some weights, for numbers up to terms of the noise alone, and outputs for some rows."""

    likelihood: Any
    outputs: Any


def log_density(
    network: Network, rows: Rows, places: Any, noise: Any, precision: Any, weights: Any
) -> tuple[Any, Found]:
    """Log of the posterior density of the weights given all precisions, up to a constant, and what was found for it.

    `noise` is the precision of the noise of a number, `precision` the prior precision of each weight, `places` the rows
    whose outputs are wanted.
    """
    import jax.numpy as jnp

    outputs = network.evaluate(weights, rows.X, jnp.tanh)
    likelihood = (rows.weight * row_log_likelihood(network, rows.y, noise, outputs, jnp)).sum()
    return likelihood - 0.5 * (precision * weights**2).sum(), Found(likelihood, outputs[places])


def row_log_likelihood(network: Network, y: Any, noise: Any, outputs: Any, arrays: Any) -> Any:
    """Log probability of the target of each row; for numbers up to terms of the precision `noise` alone.

    `arrays` is the library that computes, NumPy or its twin in JAX.
    """
    if network.kind == "gaussian":
        return -0.5 * noise * (y - outputs[..., 0]) ** 2
    if network.kind == "logistic":
        return -arrays.logaddexp(0.0, (1.0 - 2.0 * y) * outputs[..., 0])
    own = arrays.arange(network.outputs) == y[..., None]
    top = outputs.max(axis=-1)
    total = top + arrays.log(arrays.exp(outputs - top[..., None]).sum(axis=-1))
    return arrays.where(own, outputs, 0.0).sum(axis=-1) - total
