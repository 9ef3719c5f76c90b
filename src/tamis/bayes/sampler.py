"""Chains of networks: Hamiltonian Monte Carlo for the weights on JAX, Gibbs draws for the precisions in between."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import logsumexp

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray
from tamis.bayes.density import Data, Rows, log_density
from tamis.bayes.hamiltonian import FAR, End, trajectory
from tamis.bayes.network import Network
from tamis.bayes.precisions import at_prior, draw, log_prior, of_each_weight
from tamis.bayes.priors import Priors
from tamis.bayes.rescaling import Rescaling
from tamis.bayes.step_sizes import StepSize, squared_scales

Sampler: TypeAlias = Literal["hmc", "nuts"]

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

#: Their names.
OUTPUTS = tuple(f"output for row {number + 1} of {_FOLLOWED}" for number in range(_FOLLOWED))

#: Scales of at most this many groups of inputs are followed; of more, evenly spaced ones.
_SCALES = 1000


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
    of shape (n_chains, n_draws, n_values). `followed` has all draws of the quantities of `names`, and after these those
    of the log scales of the groups of inputs numbered in `groups`. `divergent` counts trajectories after warm-up that
    left the true path; `leapfrogs` all leapfrog steps of all chains.
    """

    weights: FloatArray
    scales: FloatArray
    followed: FloatArray
    names: tuple[str, ...]
    groups: Codes
    divergent: int
    accepted: float
    leapfrogs: int


def require(sampler: Sampler = "hmc", part: str = "bayes_net") -> None:
    """Refuse to begin without JAX, and for NUTS without BlackJAX."""
    try:
        import jax  # noqa: F401

        if sampler == "nuts":
            import blackjax  # noqa: F401
    except ImportError:
        raise TamisError(f'{part} needs JAX and BlackJAX to sample: pip install "tamis[bayes]"') from None


def sample(network: Network, priors: Priors, data: Data, settings: Settings, seed: int) -> Sampled:
    """Draw networks from the posterior, all chains side by side.

    Parameters
    ----------
    network : Network
    priors : Priors
    data : Data
        NumPy arrays. Inputs of shape (n_chains, n_rows, n_inputs) and targets of shape (n_chains, n_rows) are a data
        set for each chain: so many small ones are sampled at once.
    settings : Settings
    seed : int

    Returns
    -------
    Sampled

    Notes
    -----
    Each round draws all precisions given the weights, then weights by one trajectory given the precisions, and then
    moves precisions and weights together. The trajectory alone is compiled, and all random numbers are NumPy's: random
    numbers of JAX would take most of the time to compile. Trajectories have 64 bits on a CPU, 32 on a GPU. Python is
    back after every round, so that Ctrl-C ends it.
    """
    require(settings.sampler)
    chains = _Chains(network, priors, data, settings, seed)
    for number in range(settings.warmup):
        chains.advance(learn=number >= _FIXED * settings.warmup, adapt=True)
    weights, scales, followed, divergent, accepted = [], [], [], 0, 0.0
    for number in range(1, settings.draws // settings.thin * settings.thin + 1):
        end = chains.advance(learn=True, adapt=False)
        followed.append(chains.followed())
        divergent += int(end.divergent.sum())
        accepted += float(end.accepted.mean())
        if number % settings.thin == 0:
            weights.append(chains.weights)
            scales.append(chains.precisions.inputs**-0.5)
    return Sampled(
        np.stack(weights, axis=1),
        np.stack(scales, axis=1),
        np.stack(followed, axis=1),
        _names(network),
        chains.groups,
        divergent,
        accepted / len(followed),
        chains.leapfrogs,
    )


class _Chains:
    """The state of all chains."""

    def __init__(self, network: Network, priors: Priors, data: Data, settings: Settings, seed: int) -> None:
        import jax

        self.network, self.priors, self.data, self.settings = network, priors, data, settings
        self.rng = generator(seed, 1)
        self.precise = jax.default_backend() == "cpu"
        self.kind = np.float64 if self.precise else np.float32
        whole = np.int64 if self.precise else np.int32
        y = data.y.astype(whole if network.kind == "softmax" else self.kind)
        with jax.enable_x64(self.precise):
            self.rows = jax.device_put(Rows(data.X.astype(self.kind), y, data.weight.astype(self.kind)))
        self.move = _compiled(network, settings.sampler, data.X.ndim == 3)
        self.squares = data.weight @ data.X**2
        self.places = np.arange(_FOLLOWED) * np.count_nonzero(data.weight) // _FOLLOWED
        in_use = np.flatnonzero(data.in_use)
        self.groups = in_use[np.arange(0, in_use.size, -(-in_use.size // _SCALES))]
        self.steps = StepSize(settings.chains)
        self.leapfrogs = 0
        self.precisions = at_prior(network, priors, settings.chains)
        spread = np.concatenate(
            [
                np.full(below * above + above, priors.input_scale if number == 0 else priors.later_scale / below**0.5)
                for number, (below, above) in enumerate(network.shapes)
            ]
        )
        self.weights = _START * spread * self.rng.standard_normal((settings.chains, spread.size))
        self.likelihood = np.zeros(settings.chains)
        self.outputs = np.zeros((settings.chains, _FOLLOWED, network.outputs))

    def advance(self, *, learn: bool, adapt: bool) -> End:
        """One round of all chains."""
        import jax

        network, rng, settings = self.network, self.rng, self.settings
        if learn:
            errors = -2.0 * self.likelihood / self.precisions.noise
            common = self.precisions.common
            self.precisions = draw(rng, network, self.priors, self.data, common, self.weights, errors)
        precisions = self.precisions
        scales = squared_scales(network, self.priors, self.data, self.squares, precisions) ** 0.5
        factor = self.steps.now if adapt else self.steps.settled
        scales *= (factor * rng.uniform(1.0 - _JITTER, 1.0 + _JITTER, settings.chains))[:, None]
        prior = of_each_weight(network, self.priors, self.data, precisions)
        momenta, uniform = rng.standard_normal(scales.shape), rng.random(settings.chains)
        steps = int(rng.integers(max(1, settings.leapfrog // 2), settings.leapfrog + 1))
        with jax.enable_x64(self.precise):
            given = [one.astype(self.kind) for one in (precisions.noise, prior, self.weights, scales)]
            if settings.sampler == "hmc":
                chance: tuple[Any, ...] = momenta.astype(self.kind), uniform.astype(self.kind), np.int32(steps)
            else:
                chance = (rng.integers(2**32, size=(settings.chains, 2), dtype=np.uint32),)
            end: End = jax.tree.map(np.asarray, self.move(self.rows, self.places, *given, *chance))
        self.weights = end.weights.astype(np.float64)
        self.likelihood, self.outputs = (one.astype(np.float64) for one in end.found)
        self.leapfrogs += int(end.leapfrogs.sum())
        if learn:
            moved = Rescaling(network, self.data, precisions, self.weights)
            moved.sweep(rng, self.priors)
            self.weights, self.precisions = moved.weights, moved.precisions
            self.likelihood, self.outputs = moved.likelihood, moved.outputs[:, self.places]
        if adapt:
            self.steps.adapt(end.accepted.astype(np.float64))
        return end

    def followed(self) -> FloatArray:
        """The quantities that mean the same in every chain; a line for each chain."""
        network, p = self.network, self.precisions
        first = self.outputs[..., 0]
        if network.kind == "softmax":
            first = first - logsumexp(self.outputs, axis=-1)
        posterior = self.likelihood + log_prior(network, self.priors, self.data, p, self.weights)
        last = []
        if network.kind == "gaussian":
            posterior += 0.5 * self.data.weight.sum() * np.log(p.noise)
            last = [np.log(p.noise[:, None])]
        logs = [np.log(one) for one in (p.common[:, None], p.biases, p.later)]
        scales = -0.5 * np.log(p.inputs[:, self.groups])
        return np.concatenate([posterior[:, None], self.likelihood[:, None], *logs, first, *last, scales], axis=1)


@cache
def _compiled(network: Network, sampler: Sampler, own_rows: bool) -> Callable[..., End]:
    """A trajectory of each chain, compiled once for each set of sizes and for any prior."""
    import jax

    def by_hmc(rows: Rows, places: Any, noise: Any, prior: Any, weights: Any, *rest: Any) -> End:
        return trajectory(partial(log_density, network, rows, places, noise, prior), weights, *rest)

    def by_nuts(rows: Rows, places: Any, noise: Any, prior: Any, weights: Any, scales: Any, key: Any) -> End:
        import blackjax

        density = partial(log_density, network, rows, places, noise, prior)
        state = blackjax.hmc.init(weights, lambda at: density(at)[0])
        step = blackjax.nuts.build_kernel(divergence_threshold=FAR)
        key = jax.random.wrap_key_data(key)
        state, info = step(key, state, lambda at: density(at)[0], 1.0, scales**2, _DOUBLINGS)
        found = density(state.position)[1]
        return End(state.position, found, info.acceptance_rate, info.is_divergent, info.num_integration_steps)

    rows = Rows(0, 0, None) if own_rows else None
    if sampler == "hmc":
        return jax.jit(jax.vmap(by_hmc, in_axes=(rows, None, 0, 0, 0, 0, 0, 0, None)))
    return jax.jit(jax.vmap(by_nuts, in_axes=(rows, None, 0, 0, 0, 0, 0)))


def _names(network: Network) -> tuple[str, ...]:
    """The quantities that are followed along the chains."""
    layers = range(1, len(network.hidden) + 1)
    return (
        "log posterior",
        "log likelihood",
        "log common precision of the inputs",
        *(f"log precision of the biases of hidden layer {number}" for number in layers),
        *(f"log precision of the weights above hidden layer {number}" for number in layers),
        *OUTPUTS,
        *(["log precision of the noise"] if network.kind == "gaussian" else []),
    )
