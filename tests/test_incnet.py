"""IncNet: the filter against recursive least squares in closed form and a plain twin, growing, pruning and merging."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.base.errors import TamisError
from tamis.classify import IncNet
from tamis.classify.incnet.network import GrowingNetwork, Rules, neuron_size, output
from tamis.kernels import growing_network as kernel
from tamis.kernels.growing_network import BIRADIAL, DIAGONAL, FULL, GAUSSIAN, NEURON, filter_pass

FUNCTIONS = {"gaussian": GAUSSIAN, "biradial": BIRADIAL}
HELD = {"full": FULL, "neuron": NEURON, "diagonal": DIAGONAL}


def rules(**given) -> Rules:
    usual = {
        "function": "gaussian", "filter": "full", "max_neurons": 8, "noise": 0.2, "grow": 0.9, "prune": 0.3,
        "merge": 0.0, "width": 1.0, "prior": 1.0, "process": 1e-4,
    }  # fmt: skip
    return Rules(**{**usual, **given})


def problem(n=60, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) / math.sqrt(p)
    y = np.where(X[:, 0] * X[:, -1] > 0, 1.0, -1.0) + 0.1 * rng.normal(size=n)
    return X, y, rng.uniform(0.5, 2.0, n), rng.permutation(n)


class Twin:
    """The filter with one whole matrix, in which covariances that are not held are set to zero."""

    def __init__(self, rules: Rules, p: int) -> None:
        self.rules, self.p, self.size = rules, p, neuron_size(rules.function, p)
        self.theta, self.P = np.zeros(1), np.array([[rules.prior]])
        self.added = self.pruned = 0

    def held(self):
        place = np.concatenate([[-1], np.repeat(np.arange(self.theta.size // self.size), self.size)])
        if self.rules.filter == "full":
            return np.ones(self.P.shape)
        return np.eye(place.size) if self.rules.filter == "diagonal" else (place == place[:, None]) * 1.0

    def gradient(self, x):
        """Derivatives by the parameters, each factor written out."""
        p, found, total = self.p, [1.0], self.theta[0]
        for neuron in self.theta[1:].reshape(-1, self.size):
            w, t, rest = neuron[0], neuron[1 : 1 + p], neuron[1 + p :]
            if self.rules.function == "gaussian":
                square = np.sum((x - t) ** 2) / np.exp(rest[0]) ** 2
                G = np.exp(-square)
                found += [G, *(w * G * 2 * (x - t) / np.exp(rest[0]) ** 2), w * G * 2 * square]
            else:
                b, e = np.exp(rest[:p]), np.exp(rest[p:])
                s = lambda z: 1 / (1 + np.exp(-z))  # noqa: E731
                u, v, k = e * (x - t + b), e * (x - t - b), e * b
                G = np.prod(s(u) * (1 - s(v)) / s(k) ** 2)
                by_t = e * (s(v) - (1 - s(u)))
                by_b = k * ((1 - s(u)) + s(v) - 2 * (1 - s(k)))
                by_e = (1 - s(u)) * u - s(v) * v - 2 * (1 - s(k)) * k
                found += [G, *(w * G * np.concatenate([by_t, by_b, by_e]))]
            total += w * G
        return total, np.array(found)

    def step(self, x, y, noise):
        r, settings_ = self.rules, self.rules.settings()
        value, d = self.gradient(x)
        error, g = y - value, self.P @ d
        R = noise + d @ g
        n = self.theta.size // self.size
        if n == 0 or (error**2 > settings_[kernel.GROW] * R and n < r.max_neurons):
            shapes = np.repeat(settings_[[kernel.WIDTH, kernel.SLOPE]], self.p)[: self.size - 1 - self.p]
            self.theta = np.concatenate([self.theta, [error], x, shapes])
            P = np.eye(self.theta.size) * r.prior
            P[: len(self.P), : len(self.P)] = self.P
            self.P, self.added = P, self.added + 1
            return
        self.theta = self.theta + g * error / R
        self.P = (self.P - np.outer(g, g) / R) * self.held() + r.process * np.eye(g.size)
        shapes = np.repeat(settings_[[kernel.WIDTH, kernel.SLOPE]], self.p)[: self.size - 1 - self.p]
        neurons = self.theta[1:].reshape(-1, self.size)
        neurons[:, 1 + self.p :] = np.clip(neurons[:, 1 + self.p :], shapes - kernel.REACH, shapes + kernel.REACH)
        own = np.diag(self.P)[1 :: self.size]
        saliency = neurons[:, 0] ** 2 / own
        weakest = int(saliency.argmin())
        if saliency[weakest] < settings_[kernel.PRUNE] * R:
            i = 1 + weakest * self.size
            if r.filter == "full":
                column = self.P[:, i].copy()
                self.theta = self.theta - column * self.theta[i] / column[i]
                self.P = self.P - np.outer(column, column) / column[i]
            keep = np.delete(np.arange(self.theta.size), np.arange(i, i + self.size))
            self.theta, self.P, self.pruned = self.theta[keep], self.P[np.ix_(keep, keep)], self.pruned + 1


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("filter", HELD)
@pytest.mark.parametrize("p", [1, 3])
def test_the_kernel_is_its_plain_twin(function, filter, p) -> None:
    events = np.zeros(2)
    for seed in range(3):
        X, y, weight, order = problem(p=p, seed=seed)
        own = rules(function=function, filter=filter, prune=0.6)
        network, twin = GrowingNetwork(own, p), Twin(own, p)
        for _ in range(2):
            network.train(X, y, weight, order)
            for i in order:
                twin.step(X[i], y[i], own.noise / weight[i])
        np.testing.assert_allclose(network.parameters, twin.theta, rtol=1e-9, atol=1e-9)
        assert network.counts.tolist() == [twin.theta.size // twin.size, twin.added, twin.pruned]
        np.testing.assert_allclose(output(network.parameters, X, function)[5], twin.gradient(X[5])[0], rtol=1e-9)
        events += network.counts[1:]
    # Neurons came and went, or little was compared.
    assert events.min() > 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_are_central_differences(function) -> None:
    rng = np.random.default_rng(1)
    p, size = 3, neuron_size(function, 3)
    state = rng.normal(size=1 + 2 * size) / 2
    x, slope, free = rng.normal(size=p), np.empty(state.size), np.empty(state.size)

    def value(parameters):
        return kernel._output(x, parameters, 2, size, FUNCTIONS[function], free)

    assert value(state) == pytest.approx(output(state, x[None], function)[0])
    kernel._output(x, state, 2, size, FUNCTIONS[function], slope)
    for q in range(state.size):
        step = 1e-6 * (np.arange(state.size) == q)
        assert slope[q] == pytest.approx((value(state + step) - value(state - step)) / 2e-6, rel=1e-5, abs=1e-8)


@given(st.integers(0, 10**6), st.integers(1, 5), st.booleans())
@settings(max_examples=30)
def test_with_fixed_functions_the_filter_is_least_squares_in_closed_form(seed, n_neurons, biradial) -> None:
    """Weights alone may move: the state is the ridge solution on the functions' values, P its inverse."""
    X, y, weight, order = problem(n=40, p=2, seed=seed)
    own = rules(max_neurons=n_neurons, prune=0.0, process=0.0, function="biradial" if biradial else "gaussian")
    network = GrowingNetwork(own, 2)
    size, total = network.size, 1 + n_neurons * network.size
    weights = np.concatenate([[0], 1 + size * np.arange(n_neurons)])
    network.counts[0] = n_neurons
    shapes = np.repeat(network.settings[[kernel.WIDTH, kernel.SLOPE]], 2)[: size - 3]
    rng = np.random.default_rng(seed)
    for k in range(n_neurons):
        shape = shapes + rng.uniform(-1, 1, size - 3)
        network.state[1 + k * size : 1 + (k + 1) * size] = [0.0, *X[k], *shape]
    network.covariance[weights, weights] = own.prior
    values = np.column_stack([np.ones(40), *(_values(network, k, X) for k in range(n_neurons))])
    network.train(X, y, weight, order)
    precision = (values * weight[:, None] / own.noise).T @ values + np.eye(weights.size) / own.prior
    expected = np.linalg.solve(precision, values.T @ (weight * y / own.noise))
    np.testing.assert_allclose(network.state[weights], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        network.covariance[np.ix_(weights, weights)], np.linalg.inv(precision), rtol=1e-6, atol=1e-9
    )
    assert network.counts.tolist() == [n_neurons, 0, 0]
    assert not np.delete(network.covariance[:total, :total], weights, axis=0).any()


def _values(network, k, X):
    alone = network.state[1 + k * network.size : 1 + (k + 1) * network.size].copy()
    alone[0] = 1.0
    return output(np.concatenate([[0.0], alone]), X, network.rules.function)


def test_a_pruned_weight_is_zero_as_least_squares_without_it() -> None:
    """Conditioned on a weight of zero, the others are the ridge solution without that neuron."""
    X, y, weight, order = problem(n=50)
    own = rules(max_neurons=3, process=0.0, prune=0.0)
    network = GrowingNetwork(own, 2)
    size = network.size
    network.counts[0] = 3
    for k in range(3):
        network.state[1 + k * size : 1 + (k + 1) * size] = [0.0, *X[k], 0.0]
    at = np.array([0, 1, 1 + size, 1 + 2 * size])
    network.covariance[at, at] = 1.0
    values = np.column_stack([np.ones(50), *(_values(network, k, X) for k in (0, 2))])
    network.train(X, y, weight, order)
    state, P = network.state.copy(), network.covariance.copy()
    kernel._prune(state, P, np.empty(state.size), 1 + size, 1 + 3 * size, size, FULL)
    precision = (values * weight[:, None] / own.noise).T @ values + np.eye(3)
    left = [0, 1, 1 + size]
    np.testing.assert_allclose(state[left], np.linalg.solve(precision, values.T @ (weight * y / own.noise)), rtol=1e-6)
    np.testing.assert_allclose(P[np.ix_(left, left)], np.linalg.inv(precision), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("filter", HELD)
def test_equal_neurons_are_merged_into_one_that_does_the_same(filter) -> None:
    X, _, weight, _ = problem()
    network = GrowingNetwork(rules(filter=filter, merge=0.01, max_neurons=4), 2)
    size = network.size
    neurons = np.array([[1.0, 0.3, 0.2, 0.0], [-1.0, -0.5, 0.1, 0.1], [3.0, 0.3, 0.2, 0.0], [0.5, 1.0, -1.0, 0.0]])
    network.counts[0] = 4
    network.state[1:] = neurons.ravel()
    rng = np.random.default_rng(0)
    network.covariance += 0.1
    network.covariance[:] += rng.random(network.covariance.shape[0])[:, None] if filter == "diagonal" else 0.0
    before = output(network.parameters, X, "gaussian")
    variance = network.covariance[1, 0 if filter != "full" else 1], network.covariance[1 + 2 * size, 0]
    assert network._merge(X, weight)
    assert not network._merge(X, weight)
    assert network.counts[0] == 3
    np.testing.assert_allclose(output(network.parameters, X, "gaussian"), before, rtol=1e-12)
    found = network.parameters[1:].reshape(-1, size)
    np.testing.assert_allclose(found, [[4.0, 0.3, 0.2, 0.0], neurons[1], neurons[3]])
    if filter == "diagonal":
        assert network.covariance[1, 0] == pytest.approx(sum(variance))


def test_two_classes_have_one_network_and_their_names_do_not_matter() -> None:
    X, y, _, _ = problem(200)
    one = IncNet(1.0, random_state=0).fit(X, y > 0)
    other = IncNet(1.0, random_state=0).fit(X, y < 0)
    assert one.n_neurons_.shape == (1,)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X)[:, ::-1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_checkers_are_told_apart(function) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(900, 2))
    y = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
    for target, classes in ((y, 4), ((y == 0) | (y == 3), 2)):
        model = IncNet(1.0, function=function, random_state=0).fit(X[:500], target[:500])
        assert model.score(X[500:], target[500:]) > 0.93
        assert model.n_neurons_.shape == (classes if classes > 2 else 1,)
        assert (model.n_neurons_ == model.added_ - model.pruned_ - model.merged_).all()
        assert (model.n_neurons_ <= 50).all()


def test_noise_above_every_error_leaves_the_first_neuron() -> None:
    X, y, _, _ = problem(100)
    model = IncNet(noise=0.99, grow=0.999, prune=0.0, random_state=0).fit(X, y > 0)
    assert model.added_.tolist() == [1]


def test_the_filter_follows_the_number_of_covariances() -> None:
    rng = np.random.default_rng(0)
    for p, expected in ((5, "full"), (40, "neuron"), (3_000, "diagonal")):
        X = rng.normal(size=(12, p))
        assert IncNet(random_state=0).fit(X, np.arange(12) % 2).filter_ == expected
    with pytest.raises(TamisError, match="covariances for 3000 columns"):
        IncNet(filter="full").fit(X, np.arange(12) % 2)


def test_values_too_large_are_refused() -> None:
    X = np.array([[-1.7e308], [1.7e308], [1.7e308], [1.6e308]])
    with pytest.raises(TamisError, match="scale the columns"):
        IncNet().fit(X, [0, 1, 0, 1])


def test_sparse_rows_beyond_memory_are_refused() -> None:
    X = sp.csr_array((2_000, 60_000))
    with pytest.raises(TamisError, match="select columns"):
        IncNet().fit(X, np.arange(2_000) % 2)


def test_a_common_scale_of_the_columns_does_not_matter() -> None:
    X, y, _, _ = problem(150)
    expected = IncNet(random_state=0).fit(X, y > 0).predict_proba(X)
    for scale in (2.0**-500, 2.0**300):
        found = IncNet(random_state=0).fit(X * scale, y > 0).predict_proba(X * scale)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_the_kernel_is_declared_for_what_it_gets() -> None:
    network = GrowingNetwork(rules(), 2)
    X, y, weight, order = problem()
    network.train(X, y, weight, order)
    assert len(filter_pass._dispatcher.overloads) == 1
