"""Scales for the leapfrog steps of each weight, from the precisions alone; it needs JAX."""

from typing import Any

from tamis.bayes.density import Data, Precisions, precision_of_each
from tamis.bayes.network import Network
from tamis.bayes.priors import Priors


def squared_scales(network: Network, priors: Priors, data: Data, precisions: Precisions) -> Any:
    """Neal's heuristic: the inverse of a bound of the second derivative of minus the log density by each weight.

    The bound adds to the prior precision what the data can add: the sum over the rows of the squared value that the
    weight multiplies, times the curvature at the unit above. That of an output is at most 1/4, or the precision of the
    noise; that of a hidden unit is the sum over the units above it of their own curvature times the squared weight,
    for which its variance in the prior stands. Since they depend on the precisions only, which a trajectory leaves as
    they are, the scales may change from one trajectory to the next.

    References
    ----------
    Neal (1996), "Bayesian learning for neural networks", section 3.3.2 and appendix A.4.
    """
    import jax.numpy as jnp

    curvature = precisions.noise if network.kind == "gaussian" else 0.25
    rows = data.weight.sum()
    parts: list[Any] = []
    for number in reversed(range(len(network.shapes))):
        below, above = network.shapes[number]
        squares = (data.weight[:, None] * data.X**2).sum(axis=0) if number == 0 else jnp.full(below, rows)
        parts = [jnp.repeat(squares * curvature, above), jnp.full(above, rows * curvature), *parts]
        if number:
            curvature = curvature * above / (precisions.later[number - 1] * below)
    return 1.0 / (precision_of_each(network, priors, data, precisions) + jnp.concatenate(parts))
