"""Chains of networks: Hamiltonian Monte Carlo for the weights, Gibbs draws for the precisions, by BlackJAX on JAX."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.bayes.density import Data, Precisions, log_density, log_likelihood
from tamis.bayes.network import Network
from tamis.bayes.precisions import at_prior, draw
from tamis.bayes.priors import Priors
from tamis.bayes.step_sizes import squared_scales

Sampler: TypeAlias = Literal["hmc", "nuts"]

#: The share of accepted proposals that warm-up aims at.
_ACCEPTED = 0.8

#: A step is up to this share longer or shorter than the adapted one.
_JITTER = 0.2

#: The longest trajectory of NUTS, as a power of 2.
_DOUBLINGS = 9

#: The share of warm-up with precisions at the means of their priors, so that small weights do not make them large.
_FIXED = 0.1

#: Chains begin at weights of the prior times this.
_START = 0.1

#: Outputs for this many rows, evenly spaced, are followed along the chains.
_FOLLOWED = 10


class Settings(NamedTuple):
    """How long to sample, and by what."""

    chains: int
    draws: int
    warmup: int
    thin: int
    sampler: Sampler
    leapfrog: int


class Sampled(NamedTuple):
    """What chains have found.

    `weights` and `scales` (1 / sqrt of the precision of each group of inputs) have every thinned draw of every chain,
    of shape (n_chains, n_draws, n_values). `followed` has all draws of the quantities of `names`. `divergent` counts
    trajectories after warm-up that left the true path; `leapfrogs` all leapfrog steps of all chains.
    """

    weights: FloatArray
    scales: FloatArray
    followed: FloatArray
    names: tuple[str, ...]
    divergent: int
    accepted: float
    leapfrogs: int


class _Chain(NamedTuple):
    """Where a chain is: weights, precisions, the adaptation of its step size and its random key."""

    weights: Any
    precisions: Precisions
    adaptation: Any
    key: Any


def require() -> None:
    """Refuse to begin without JAX and BlackJAX."""
    try:
        import blackjax  # noqa: F401
        import jax  # noqa: F401
    except ImportError:
        raise TamisError('bayes_net needs JAX and BlackJAX to fit: pip install "tamis[bayes]"') from None


def sample(network: Network, priors: Priors, data: Data, settings: Settings, seed: int) -> Sampled:
    """Draw networks from the posterior, all chains side by side.

    Parameters
    ----------
    network : Network
    priors : Priors
    data : Data
        NumPy arrays.
    settings : Settings
    seed : int

    Returns
    -------
    Sampled

    Notes
    -----
    Each round draws all precisions given the weights, and then weights by one trajectory given the precisions. Numbers
    have 64 bits on a CPU, 32 on a GPU. Python is back after every `thin` rounds, so that Ctrl-C ends it.
    """
    require()
    import jax

    precise = jax.default_backend() == "cpu"
    with jax.enable_x64(precise):
        kind = np.float64 if precise else np.float32
        whole = np.int64 if precise else np.int32
        y = data.y.astype(whole if network.kind == "softmax" else kind)
        on_device = Data(
            *map(jax.device_put, (data.X.astype(kind), y, data.weight.astype(kind), data.groups, data.in_use))
        )
        begin, advance = _compiled(network, settings.sampler)
        priors = Priors(*(kind(value) for value in priors))  # type: ignore[arg-type]
        state = begin(jax.random.split(jax.random.key(seed), settings.chains), priors)
        lengths = generator(seed, 1)
        shortest = max(1, settings.leapfrog // 2)

        def block(state: Any, learn: bool, adapt: bool) -> tuple[Any, Any]:
            steps = lengths.integers(shortest, settings.leapfrog + 1, settings.thin)
            return advance(state, on_device, priors, steps, learn, adapt)

        warmup = -(-settings.warmup // settings.thin)
        leapfrogs = 0
        for number in range(warmup):
            state, trace = block(state, number >= _FIXED * warmup, True)
            leapfrogs += int(np.asarray(trace.leapfrogs).sum())
        weights, scales, traces = [], [], []
        for _ in range(settings.draws // settings.thin):
            state, trace = block(state, True, False)
            weights.append(np.asarray(state.weights, dtype=np.float64))
            scales.append(np.asarray(state.precisions.inputs, dtype=np.float64) ** -0.5)
            traces.append(jax.tree.map(np.asarray, trace))
    return Sampled(
        np.stack(weights, axis=1),
        np.stack(scales, axis=1),
        np.concatenate([one.followed for one in traces], axis=1).astype(np.float64),
        _names(network),
        int(sum(one.divergent.sum() for one in traces)),
        float(np.mean([one.accepted.mean() for one in traces])),
        leapfrogs + int(sum(one.leapfrogs.sum() for one in traces)),
    )


class _Trace(NamedTuple):
    """What is noted of each round of a chain."""

    followed: Any
    accepted: Any
    divergent: Any
    leapfrogs: Any


@cache
def _compiled(network: Network, sampler: Sampler) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Functions that begin all chains and that take them some rounds on.

    They are compiled once for each set of sizes, and serve warm-up and sampling under any prior.
    """
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.adaptation.step_size import dual_averaging_adaptation

    first, adapted, settled = dual_averaging_adaptation(_ACCEPTED)
    hmc, nuts = blackjax.hmc.build_kernel(), blackjax.nuts.build_kernel()

    def begin(key: Any, priors: Priors) -> _Chain:
        key, own = jax.random.split(key)
        precisions = at_prior(network, priors)
        spread = jnp.concatenate(
            [
                jnp.full(
                    below * above + above, (priors.input_scale if number == 0 else priors.later_scale / below**0.5)
                )
                for number, (below, above) in enumerate(network.shapes)
            ]
        )
        weights = _START * spread * jax.random.normal(own, spread.shape)
        return _Chain(weights, precisions, first(jnp.asarray(0.1, weights.dtype)), key)

    def advance(chain: _Chain, data: Data, priors: Priors, steps: Any, learn: Any, adapt: Any) -> tuple[_Chain, _Trace]:
        return jax.lax.scan(partial(one_round, data=data, priors=priors, learn=learn, adapt=adapt), chain, steps)

    def one_round(
        chain: _Chain, steps: Any, *, data: Data, priors: Priors, learn: Any, adapt: Any
    ) -> tuple[_Chain, _Trace]:
        key, for_precisions, for_step, for_weights = jax.random.split(chain.key, 4)
        drawn = draw(for_precisions, network, priors, data, chain.precisions.common, chain.weights)
        precisions = jax.tree.map(lambda new, old: jnp.where(learn, new, old), drawn, chain.precisions)
        density = partial(log_density, network, priors, data, precisions)
        step = jnp.where(adapt, jnp.exp(chain.adaptation.log_step_size), settled(chain.adaptation))
        step = step * jax.random.uniform(for_step, (), step.dtype, 1.0 - _JITTER, 1.0 + _JITTER)
        squares = squared_scales(network, priors, data, precisions)
        state = blackjax.hmc.init(chain.weights, density)
        if sampler == "hmc":
            state, info = hmc(for_weights, state, density, step, squares, steps)
        else:
            state, info = nuts(for_weights, state, density, step, squares, _DOUBLINGS)
        adaptation = jax.tree.map(
            lambda new, old: jnp.where(adapt, new, old).astype(old.dtype),
            adapted(chain.adaptation, info.acceptance_rate),
            chain.adaptation,
        )
        trace = _Trace(
            followed(data, precisions, state.position),
            info.acceptance_rate,
            info.is_divergent,
            info.num_integration_steps,
        )
        return _Chain(state.position, precisions, adaptation, key), trace

    def followed(data: Data, precisions: Precisions, weights: Any) -> Any:
        places = (jnp.arange(_FOLLOWED) * data.weight.sum() / _FOLLOWED).astype(int)
        outputs = network.evaluate(weights, data.X[places], jnp.tanh)
        outputs = outputs[:, 0] - (jax.nn.logsumexp(outputs, axis=1) if network.kind == "softmax" else 0.0)
        one = [log_likelihood(network, data, precisions.noise, weights)[None], jnp.log(precisions.common)[None]]
        one += [jnp.log(precisions.biases), jnp.log(precisions.later), outputs]
        one += [jnp.log(precisions.noise)[None]] if network.kind == "gaussian" else []
        return jnp.concatenate(one)

    along = (0, None, None, None, None, None)
    return jax.jit(jax.vmap(begin, in_axes=(0, None))), jax.jit(jax.vmap(advance, in_axes=along))


def _names(network: Network) -> tuple[str, ...]:
    """The quantities that are followed along the chains."""
    layers = range(1, len(network.hidden) + 1)
    return (
        "log likelihood",
        "log common precision of the inputs",
        *(f"log precision of the biases of hidden layer {number}" for number in layers),
        *(f"log precision of the weights above hidden layer {number}" for number in layers),
        *(f"output for row {number + 1} of {_FOLLOWED}" for number in range(_FOLLOWED)),
        *(["log precision of the noise"] if network.kind == "gaussian" else []),
    )
