"""A draw from the generalised inverse Gaussian distribution, exact; it needs JAX."""

from typing import Any

import numpy as np


def draw(key: Any, order: float, a: Any, b: Any) -> Any:
    """A number x with density proportional to x^(order - 1) exp(-(a x + b / x) / 2).

    The logarithm has a log-concave density, which three pieces bound from above: constant around the mode, exponential
    on both sides. Few proposals are rejected, whatever the parameters.

    Parameters
    ----------
    key : JAX key
    order : float
    a, b : numbers above 0

    References
    ----------
    Devroye (2014), "Random variate generation for the generalized inverse Gaussian distribution".
    """
    import jax
    import jax.numpy as jnp

    # The reciprocal has the order with the other sign.
    power = jnp.abs(order).astype(a.dtype)
    omega = jnp.sqrt(a * b)
    root = jnp.sqrt(omega**2 + power**2)
    alpha = omega**2 / (root + power)

    def log_height(x: Any) -> Any:
        return -alpha * (jnp.cosh(x) - 1.0) - power * (jnp.expm1(x) - x)

    def slope(x: Any) -> Any:
        return -alpha * jnp.sinh(x) - power * jnp.expm1(x)

    fall = -log_height(1.0)
    right = jnp.where(
        fall > 2.0, jnp.sqrt(2.0 / root), jnp.where(fall < 0.5, jnp.log(4.0 / (alpha + 2.0 * power)), 1.0)
    )
    fall = -log_height(-1.0)
    spread = jnp.log1p(1.0 / alpha + jnp.sqrt(1.0 / alpha**2 + 2.0 / alpha))
    left = jnp.where(
        fall > 2.0,
        jnp.sqrt(4.0 / (alpha * jnp.cosh(1.0) + power)),
        jnp.where(fall < 0.5, jnp.minimum(1.0 / power, spread), 1.0),
    )
    eta, zeta = -log_height(right), -slope(right)
    theta, xi = -log_height(-left), slope(-left)
    reach_left, reach_right = 1.0 / xi, 1.0 / zeta
    flat_right, flat_left = right - reach_right * eta, left - reach_left * theta
    flat = flat_right + flat_left
    total = reach_left + flat + reach_right

    def propose(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        key, _, _ = state
        key, own = jax.random.split(key)
        u, v, w = jax.random.uniform(own, (3,), dtype=a.dtype, minval=np.finfo(a.dtype).tiny)
        x = jnp.where(
            u < flat / total,
            -flat_left + flat * v,
            jnp.where(
                u < (flat + reach_right) / total,
                flat_right - reach_right * jnp.log(v),
                -flat_left + reach_left * jnp.log(v),
            ),
        )
        bound = jnp.where(
            x > flat_right,
            -eta - zeta * (x - right),
            jnp.where(x < -flat_left, -theta + xi * (x + left), 0.0),
        )
        return key, x, jnp.log(w) + bound <= log_height(x)

    _, x, _ = jax.lax.while_loop(lambda state: ~state[2], propose, (key, jnp.zeros((), a.dtype), jnp.asarray(False)))
    ratio = jnp.exp(x) * (power + root) / omega
    return jnp.sqrt(b / a) * jnp.where(order < 0, 1.0 / ratio, ratio)
