"""The sampler of Bayesian networks: gradients, conditional draws, stationarity, calibration, diagnostics."""

from functools import partial

import jax
import numpy as np
import pytest
from scipy import integrate, stats

from tamis.bayes import inverse_gaussian
from tamis.bayes.density import Data, Rows, log_density, row_log_likelihood
from tamis.bayes.diagnostics import effective_draws, split_r_hat
from tamis.bayes.network import Network
from tamis.bayes.padding import padded
from tamis.bayes.precisions import Precisions, draw, log_prior, of_each_weight, terms
from tamis.bayes.priors import Priors
from tamis.bayes.rescaling import Rescaling
from tamis.bayes.rows import merged
from tamis.bayes.sampler import Settings, sample

#: Narrow priors, from which parameters can be drawn without overflow.
NARROW = Priors(input_scale=1.0, later_scale=1.5, bias_scale=0.5, output_bias_scale=1.0, shape=6.0, ard_shape=4.0)


def all_used(X: np.ndarray, y: np.ndarray) -> Data:
    """Rows and columns without padding, a group for each column."""
    return Data(X, y, np.ones(X.shape[0]), np.arange(X.shape[1]), np.ones(X.shape[1], dtype=bool))


def small(kind: str, hidden: tuple[int, ...], rows: int = 12, inputs: int = 3) -> tuple[Network, Data, Precisions]:
    rng = np.random.default_rng(0)
    outputs = 3 if kind == "softmax" else 1
    X = rng.normal(size=(rows, inputs))
    y = {"logistic": rng.integers(0, 2, rows) * 1.0, "softmax": rng.integers(0, 3, rows), "gaussian": X[:, 0]}[kind]
    weight = np.ones(rows)
    weight[-2:] = 0.0
    data = Data(X, y, weight, np.array([0, 1, 1]), np.array([True, True, False]))
    own = rng.gamma(2.0, size=3), 1.3, rng.gamma(2.0, size=len(hidden)), rng.gamma(2.0, size=len(hidden)), 2.0
    return Network(inputs, hidden, outputs, kind), data, Precisions(*(np.asarray(one)[None] for one in own))


def density(network: Network, data: Data, own: Precisions, weights: np.ndarray):
    """The log density under the usual priors."""
    prior = of_each_weight(network, Priors(), data, own)[0]
    return log_density(network, Rows(data.X, data.y, data.weight), np.arange(1), own.noise[0], prior, weights)[0]


@pytest.mark.parametrize("hidden", [(), (2,), (3, 2)])
@pytest.mark.parametrize("kind", ["logistic", "softmax", "gaussian"])
def test_gradients_are_those_of_central_differences(kind, hidden) -> None:
    network, data, own = small(kind, hidden)
    weights = np.random.default_rng(1).normal(size=network.n_weights)
    with jax.enable_x64(True):
        both = jax.jit(jax.value_and_grad(partial(density, network, data, own)))
        gradient = np.asarray(both(weights)[1])
        steps = 1e-5 * np.eye(network.n_weights)
        ahead, behind = (np.array([float(both(weights + sign * one)[0]) for one in steps]) for sign in (1, -1))
    np.testing.assert_allclose(gradient, (ahead - behind) / 2e-5, rtol=1e-6, atol=1e-6)


def test_the_density_is_that_of_the_model() -> None:
    """Written out by scipy for the network of one layer; differences leave out what depends on precisions alone."""
    network, data, own = small("softmax", (2,))

    def direct(weights: np.ndarray) -> float:
        A, a, B, b = weights[:6].reshape(3, 2), weights[6:8], weights[8:14].reshape(2, 3), weights[14:]
        outputs = np.tanh(data.X @ A + a) @ B + b
        log_shares = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        total = log_shares[np.arange(10), data.y[:10]].sum()
        total += stats.norm.logpdf(A, scale=own.inputs[0, [0, 1, 1]][:, None] ** -0.5).sum()
        total += stats.norm.logpdf(a, scale=own.biases[0, 0] ** -0.5).sum() + stats.norm.logpdf(b, scale=10.0).sum()
        return float(total + stats.norm.logpdf(B, scale=(2 * own.later[0, 0]) ** -0.5).sum())

    here, there = np.random.default_rng(2).normal(size=(2, network.n_weights))
    with jax.enable_x64(True):
        found = [float(density(network, data, own, one)) for one in (here, there)]
    np.testing.assert_allclose(found[0] - found[1], direct(here) - direct(there))


@pytest.mark.parametrize("kind", ["logistic", "softmax", "gaussian"])
def test_a_weight_is_so_many_rows(kind) -> None:
    """The density and its gradient are those of the rows repeated."""
    network, data, own = small(kind, (2,))
    times = np.array([2, 1, 3] * 4) * (data.weight > 0)
    repeated = all_used(np.repeat(data.X, times, axis=0), np.repeat(data.y, times))._replace(groups=data.groups)
    weights = np.random.default_rng(1).normal(size=network.n_weights)
    with jax.enable_x64(True):
        both = jax.value_and_grad(partial(density, network, data._replace(weight=times * 1.0), own))
        (found, slope), (expected, right) = (
            both(weights),
            jax.value_and_grad(partial(density, network, repeated, own))(weights),
        )
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(slope, right, atol=1e-12)


def test_rows_are_sorted_and_equal_ones_merged() -> None:
    rng = np.random.default_rng(0)
    X, y, weight = rng.integers(-1, 2, (60, 2)) * 0.5, rng.integers(0, 2, 60), rng.random(60)
    expected: dict[tuple, float] = {}
    for row, target, one in zip((X + 0.0).tolist(), y.tolist(), weight, strict=True):
        expected[(*row, target)] = expected.get((*row, target), 0.0) + one
    order = rng.permutation(60)
    found, again = merged(X, y, weight), merged(-0.0 + X[order], y[order], weight[order])
    np.testing.assert_array_equal(found[0], again[0])
    np.testing.assert_array_equal(found[1], again[1])
    sums = {
        (*row, target): one for row, target, one in zip(found[0].tolist(), found[1].tolist(), found[2], strict=True)
    }
    assert sums == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "hidden"), [("logistic", ()), ("softmax", (2,)), ("gaussian", (3, 2))])
def test_moves_of_scales_keep_account_of_what_they_change(kind, hidden) -> None:
    """After a sweep likelihood, outputs and what each weight is in units of its deviation are as if computed anew."""
    network, data, own = small(kind, hidden)
    own = Precisions(*(np.repeat(one, 50, axis=0) for one in own))
    weights = 0.3 * np.random.default_rng(1).normal(size=(50, network.n_weights))
    moved = Rescaling(network, data, own, weights)
    moved.sweep(np.random.default_rng(2), NARROW)
    for chain in range(50):
        outputs = network.evaluate(moved.weights[chain], data.X)
        np.testing.assert_allclose(moved.outputs[chain], outputs, atol=1e-12)
        each = row_log_likelihood(network, data.y, own.noise[chain], outputs, np)
        np.testing.assert_allclose(moved.likelihood[chain], data.weight @ each)
    before, after = (of_each_weight(network, NARROW, data, one) for one in (own, moved.precisions))
    np.testing.assert_allclose(moved.weights * after**0.5, weights * before**0.5)
    changed = [(new != old).any(axis=0) for new, old in zip(moved.precisions, own, strict=True)]
    assert all(one.all() for one in (changed[0][:2], *changed[1:4]))
    assert not changed[4].any()
    assert not changed[0][2]


def test_the_log_prior_is_that_of_scipy() -> None:
    network, data, own = small("gaussian", (2,))
    rng = np.random.default_rng(3)

    def direct(own: Precisions, weights: np.ndarray) -> float:
        scale = of_each_weight(network, NARROW, data, own)[0] ** -0.5
        total = stats.norm.logpdf(weights[0], scale=scale).sum()
        # Of log precisions: times the precision itself.
        for values, mean, shape in (
            (own.inputs[0, :2], own.common[0], 4.0),
            (own.common, 1.0, 6.0),
            (own.biases, 0.5**-2, 6.0),
            (own.later, 1.5**-2, 6.0),
            (own.noise, 0.3**-2, 6.0),
        ):
            total += (gamma_logpdf(values, mean, shape) + np.log(values)).sum()
        return float(total)

    points = []
    for _ in range(2):
        other = Precisions(*(one * rng.gamma(5.0, 0.2, one.shape) for one in own))
        points.append((other, rng.normal(size=(1, network.n_weights))))
    found = [log_prior(network, NARROW, data, *one)[0] for one in points]
    np.testing.assert_allclose(found[0] - found[1], direct(*points[0]) - direct(*points[1]))


def test_padding_adds_nothing_but_the_prior_of_weights_that_do_nothing() -> None:
    network, data, own = small("gaussian", (2,))
    wide = padded(data.X[:10], data.y[:10], np.array([0, 1, 1]))
    wider = Network(wide.X.shape[1], (2,), 1, "gaussian")
    weights = np.random.default_rng(3).normal(size=wider.n_weights)
    inputs = np.concatenate([own.inputs[:, :2], np.ones((1, 14))], axis=1)
    with jax.enable_x64(True):
        narrow = float(density(network, data, own, wider.without_padding(weights, 3)))
        found = float(density(wider, wide, own._replace(inputs=inputs), weights))
    np.testing.assert_allclose(found, narrow - 0.5 * (weights[6:32] ** 2).sum())


@pytest.mark.parametrize("rows", [1, 128, 129, 300, 600, 1000, 1024, 6000])
def test_padded_sizes_are_few_and_little_larger(rows) -> None:
    found = padded(np.zeros((rows, 1)), np.zeros(rows), np.zeros(1, dtype=int)).X.shape[0]
    assert max(rows, 128) <= found <= max(128, 1.125 * rows)
    assert found % 16 == 0


@pytest.mark.parametrize(("order", "a", "b"), [(-9.5, 0.3, 40.0), (0.0, 2.0, 3.0), (1.5, 0.01, 0.01), (-300, 0.1, 900)])
def test_common_precisions_are_draws_of_the_generalised_inverse_gaussian(order, a, b) -> None:
    rng = np.random.default_rng(0)
    found = [inverse_gaussian.draw(rng, order, a, b) for _ in range(2000)]
    logs = np.linspace(-25, 25, 200_001)
    height = order * logs - (a * np.exp(logs) + b * np.exp(-logs)) / 2
    below = integrate.cumulative_trapezoid(np.exp(height - height.max()), logs, initial=0.0)
    assert stats.kstest(np.interp(np.log(found), logs, below / below[-1]), "uniform").pvalue > 0.01


def gamma_logpdf(value, mean, shape):
    """Neal's parameters: the density is proportional to t^(shape / 2 - 1) exp(-t shape / (2 mean))."""
    return stats.gamma.logpdf(value, shape / 2, scale=2 * mean / shape)


def test_precisions_are_drawn_from_their_conditional_densities() -> None:
    """Each term is proportional to prior times likelihood, by scipy's densities."""
    network, data, own = small("gaussian", (2,))
    weights = np.random.default_rng(4).normal(size=network.n_weights)
    errors = (data.y - network.evaluate(weights, data.X)[:, 0])[:10]
    shape, (rate,) = terms(network, NARROW, data, own.common, weights[None], (errors**2).sum()[None])
    A, a, B, _ = weights[:6].reshape(3, 2), weights[6:8], weights[8:10], weights[10:]
    grid = np.linspace(0.2, 5.0, 7)[:, None]

    def normal(values, precision):
        return stats.norm.logpdf(np.ravel(values), scale=precision**-0.5).sum(axis=1, keepdims=True)

    direct = {
        0: gamma_logpdf(grid, own.common, 4.0) + normal(A[0], grid),
        1: gamma_logpdf(grid, own.common, 4.0) + normal(A[1:], grid),
        3: gamma_logpdf(grid, 0.5**-2, 6.0) + normal(a, grid),
        4: gamma_logpdf(grid, 1.5**-2, 6.0) + normal(B, 2 * grid),
        5: gamma_logpdf(grid, 0.3**-2, 6.0) + normal(errors, grid),
    }
    for place, expected in direct.items():
        found = stats.gamma.logpdf(grid, shape[place], scale=1 / rate[place])
        np.testing.assert_allclose(np.diff(found, axis=0), np.diff(expected, axis=0))


def test_the_common_precision_is_drawn_given_those_of_the_groups() -> None:
    """The share of the conditional density below each draw, by quadrature, is uniform."""
    network, data, _ = small("gaussian", (2,))
    weights = np.random.default_rng(4).normal(size=network.n_weights)
    alike = np.broadcast_to(weights, (300, weights.size))
    found = draw(np.random.default_rng(2), network, NARROW, data, np.full(300, 1.3), alike, np.ones(300))
    grid = np.exp(np.linspace(-8, 8, 4001))
    prior = gamma_logpdf(grid, 1.0, 6.0)
    shares = []
    for inputs, common in zip(found.inputs, found.common, strict=True):
        log = prior + gamma_logpdf(inputs[0], grid, 4.0) + gamma_logpdf(inputs[1], grid, 4.0)
        below = integrate.cumulative_trapezoid(np.exp(log - log.max()), grid, initial=0.0)
        shares.append(np.interp(common, grid, below / below[-1]))
    assert stats.kstest(shares, "uniform").pvalue > 0.01
    assert (found.inputs[:, 2] == 1).all()


@pytest.mark.parametrize("sampler", ["hmc", pytest.param("nuts", marks=pytest.mark.slow)])
def test_without_data_the_draws_are_those_of_the_prior(sampler) -> None:
    data = all_used(np.zeros((1, 3)), np.zeros(1))._replace(weight=np.zeros(1))
    network = Network(3, (2,), 1, "gaussian")
    found = sample(network, NARROW, data, Settings(40, 300, 500, 20, sampler, 20), 0)
    followed = found.followed[:, ::20].reshape(-1, found.followed.shape[2])
    for name, scale in (("common", 1.0), ("biases", 0.5), ("weights above", 1.5), ("noise", 0.3)):
        (place,) = (number for number, one in enumerate(found.names) if name in one)
        exact = stats.gamma(3.0, scale=scale**-2 / 3.0)
        assert stats.kstest(np.exp(followed[:, place]), exact.cdf).pvalue > 0.01


def toy(rng: np.random.Generator, network: Network, X: np.ndarray) -> tuple[np.ndarray, float, float, float]:
    """Targets of a network drawn from the narrow prior, its output for the first row, its common precision, a scale."""
    common = rng.gamma(3.0, 1 / 3.0)
    inputs = rng.gamma(2.0, common / 2.0, X.shape[1])
    biases, later = rng.gamma(3.0, 4.0 / 3.0), rng.gamma(3.0, 1.5**-2 / 3.0)
    drawn = inputs, common, [biases], [later], 1.0
    data = Data(X, None, None, np.arange(X.shape[1]), None)
    (precision,) = of_each_weight(network, NARROW, data, Precisions(*(np.asarray(one)[None] for one in drawn)))
    outputs = network.evaluate(rng.normal(size=precision.size) * precision**-0.5, X)[:, 0]
    return (
        (rng.random(outputs.size) < 1 / (1 + np.exp(-outputs))).astype(float),
        float(outputs[0]),
        float(np.log(common)),
        float(-0.5 * np.log(inputs[0])),
    )


@pytest.mark.parametrize("times", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_ranks_of_what_was_drawn_from_the_prior_are_uniform(times) -> None:
    """Simulation-based calibration (Talts et al. 2018): the truth is as one more draw of the posterior."""
    rng = np.random.default_rng(5)
    network = Network(3, (2,), 1, "logistic")
    X = rng.normal(size=(times, 20, 3))
    y, *truth = map(np.array, zip(*(toy(rng, network, one) for one in X), strict=True))
    data = all_used(X[0], y)._replace(X=X)
    found = sample(network, NARROW, data, Settings(times, 1000, 120, 40, "hmc", 20), 0)
    places = [found.names.index("output for row 1 of 10"), found.names.index("log common precision of the inputs")]
    places.append(len(found.names))
    for place, values in zip(places, truth, strict=True):
        ranks = (found.followed[:, ::40, place] < values[:, None]).sum(axis=1)
        assert stats.kstest((ranks + rng.random(times)) / 26, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("times", "probes", "draws"), [(20, 3, 100), pytest.param(100, 9, 200, marks=pytest.mark.slow)]
)
def test_planted_inputs_have_larger_scales_than_probes(times, probes, draws) -> None:
    """In 95 of 100 data sets the median scale of each of three inputs is above that of each probe."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(times, 200, 3 + probes))
    y = X[..., 0] + 2 * X[..., 1] * X[..., 2] + 0.3 * rng.normal(size=(times, 200)) > 0
    data = all_used(X[0], y.astype(float))._replace(X=X)
    network, settings = Network(3 + probes, (6,), 1, "logistic"), Settings(times, draws, draws, 10, "hmc", 20)
    scales = np.median(sample(network, Priors(), data, settings, 0).scales, axis=1)
    assert (scales[:, :3].min(axis=1) > scales[:, 3:].max(axis=1)).mean() >= 0.95


def test_draws_depend_on_the_seed_alone_and_leave_jax_as_it_was() -> None:
    X = np.random.default_rng(6).normal(size=(20, 3))
    data = all_used(X, (X[:, 0] > 0).astype(float))
    network, settings = Network(3, (2,), 1, "logistic"), Settings(1, 80, 40, 40, "hmc", 20)
    runs = [sample(network, Priors(), data, settings, seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    assert (runs[0].weights != runs[2].weights).any()
    assert runs[0].weights.shape == (1, 2, network.n_weights)
    assert not jax.config.jax_enable_x64


@pytest.mark.slow
def test_moments_are_those_of_numpyro() -> None:
    """The same hierarchy, logistic without a hidden layer, by NumPyro's NUTS on weights and log precisions together."""
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    y = (rng.random(60) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1]))).astype(float)
    found = sample(
        Network(16, (), 1, "logistic"), NARROW, padded(X, y, np.arange(3)), Settings(4, 5000, 500, 5, "hmc", 20), 0
    )
    ours = np.concatenate([found.weights[..., :3], found.weights[..., 16:], -2 * np.log(found.scales[..., :3])], axis=2)

    def model() -> None:
        common = numpyro.sample("common", dist.Gamma(3.0, 3.0))
        own = numpyro.sample("own", dist.Gamma(2.0, 2.0 / common).expand([3]))
        weights = numpyro.sample("weights", dist.Normal(0.0, own**-0.5))
        bias = numpyro.sample("bias", dist.Normal(0.0, 1.0))
        numpyro.sample("y", dist.Bernoulli(logits=X @ weights + bias), obs=y)

    with jax.enable_x64(True):
        chain = MCMC(NUTS(model, target_accept_prob=0.95), num_warmup=1000, num_samples=10000, progress_bar=False)
        chain.run(jax.random.key(0))
        drawn = {name: np.asarray(values) for name, values in chain.get_samples().items()}
    theirs = np.column_stack([drawn["weights"], drawn["bias"], np.log(drawn["own"])])
    error = theirs.std(axis=0) / np.sqrt(np.minimum(effective_draws(ours), effective_draws(theirs[None])))
    assert (np.abs(ours.mean(axis=(0, 1)) - theirs.mean(axis=0)) < 5 * error).all()
    np.testing.assert_allclose(ours.std(axis=(0, 1)), theirs.std(axis=0), rtol=0.1)


def walks(seed: int, memory: float) -> np.ndarray:
    """Three chains of four quantities that remember their last value."""
    noise = np.random.default_rng(seed).normal(size=(3, 200, 4))
    found = np.zeros_like(noise)
    for place in range(1, 200):
        found[:, place] = memory * found[:, place - 1] + noise[:, place]
    return found + 0.3 * np.arange(3)[:, None, None]


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.95])
def test_diagnostics_are_those_of_numpyro(memory) -> None:
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    chains = walks(8, memory)
    np.testing.assert_allclose(split_r_hat(chains), split_gelman_rubin(chains))
    halves = np.concatenate([chains[:, :100], chains[:, 100:]])
    np.testing.assert_allclose(effective_draws(chains), effective_sample_size(halves), rtol=1e-6)


def test_diagnostics_of_constants() -> None:
    same = np.ones((2, 20, 1))
    apart = same * np.array([1.0, 2.0])[:, None, None]
    assert (split_r_hat(same), split_r_hat(apart), effective_draws(same)) == (1.0, np.inf, 40.0)
