"""A trajectory of Hamiltonian dynamics, accepted or refused at its end; it needs JAX."""

from collections.abc import Callable
from typing import Any, NamedTuple

#: A trajectory that ends this much higher in energy has left the true path.
FAR = 1000.0


class End(NamedTuple):
    """The weights after a trajectory and what the density found there.

    `accepted` is the probability of acceptance, `divergent` whether the end was far from the true path.
    """

    weights: Any
    found: Any
    accepted: Any
    divergent: Any
    leapfrogs: Any


def trajectory(density: Callable[[Any], Any], weights: Any, scales: Any, momenta: Any, uniform: Any, steps: Any) -> End:
    """Leapfrog steps from `weights`, each weight with a step of its own from `scales`.

    Parameters
    ----------
    density : callable
        The log density, up to a constant, and what else it finds.
    weights, scales, momenta : arrays of shape (n_weights,)
        Momenta of variance 1.
    uniform : float
        A number between 0 and 1 that decides whether the end is accepted.
    steps : int

    Notes
    -----
    The first turn of the loop stands still and finds the gradient at the start: so the gradient is compiled once.
    """
    import jax
    import jax.numpy as jnp

    both = jax.value_and_grad(density, has_aux=True)

    def turn(number: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        place, moment, gradient, _, _, first = state
        step = jnp.where(number == 0, 0.0, scales)
        moment = moment + 0.5 * step * gradient
        place = place + step * moment
        (value, found), gradient = both(place)
        moment = moment + 0.5 * step * gradient
        energy = 0.5 * (moment**2).sum() - value
        begin = jax.tree.map(lambda now, then: jnp.where(number == 0, now, then), (energy, found), first)
        return place, moment, gradient, energy, found, begin

    empty = jax.tree.map(lambda one: jnp.zeros(one.shape, one.dtype), jax.eval_shape(density, weights))
    state = weights, momenta, jnp.zeros_like(weights), *empty, empty
    place, _, _, energy, found, (start, known) = jax.lax.fori_loop(0, steps + 1, turn, state)
    rise = energy - start
    # What is not a number is refused as well.
    probability = jnp.where(jnp.isnan(rise), 0.0, jnp.minimum(1.0, jnp.exp(-rise)))
    taken = uniform < probability
    place, found = jax.tree.map(lambda new, old: jnp.where(taken, new, old), (place, found), (weights, known))
    return End(place, found, probability, ~(rise < FAR), steps)
