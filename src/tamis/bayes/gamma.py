"""Draws from gamma distributions, exact; it needs JAX."""

from typing import Any

import numpy as np


def draw(key: Any, shape: Any) -> Any:
    """One number of the gamma distribution of rate 1 for each shape parameter of a vector.

    All numbers are proposed again until each has been accepted once. JAX's own draws are the same distribution, and
    take two seconds longer to compile.

    References
    ----------
    Marsaglia and Tsang (2000), "A simple method for generating gamma variables".
    """
    import jax
    import jax.numpy as jnp

    # A shape below 1 is raised by 1, and its number multiplied by a power of a uniform one.
    small = shape < 1.0
    d = jnp.where(small, shape + 1.0, shape) - 1.0 / 3.0
    tiny = np.finfo(d.dtype).tiny
    key, own = jax.random.split(key)
    factor = jnp.where(small, jnp.exp(jnp.log(jax.random.uniform(own, d.shape, d.dtype, tiny)) / shape), 1.0)

    def propose(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        key, found, done = state
        key, own, other = jax.random.split(key, 3)
        x = jax.random.normal(own, d.shape, d.dtype)
        v = (1.0 + x / jnp.sqrt(9.0 * d)) ** 3
        height = jnp.log(jax.random.uniform(other, d.shape, d.dtype, tiny))
        # Where v is not positive its logarithm is not a number, which accepts nothing.
        accepted = height < 0.5 * x**2 + d * (1.0 - v + jnp.log(v))
        return key, jnp.where(done, found, d * v), done | accepted

    start = (key, jnp.zeros_like(d), jnp.zeros(d.shape, bool))
    _, found, _ = jax.lax.while_loop(lambda state: ~state[2].all(), propose, start)
    return factor * found
