"""Diffusion trees against dense normal densities, the walk of the prior, and all trees of four rows; bad input."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln
from scipy.stats import kstest

import diffusion_oracle as oracle
from tamis.base.errors import TamisError
from tamis.classify import DiffusionTree
from tamis.classify.diffusion_tree import chain as chains
from tamis.classify.diffusion_tree import tree as trees
from tamis.classify.diffusion_tree.slice_sampling import slice_draw
from tamis.classify.diffusion_tree.tree import Messages, Rates, Rows, Tree, tables
from tamis.compose.sound import UnsoundError, check_sound

RATES = [(0.0, 0.7, 0.0), (0.2, 0.0, 0.4), (0.0, 0.0, 0.3)]


def sweep(tree, messages, rates, rng, tries=1):
    """Move every subtree once."""
    nodes = rng.permutation(tree.times.size)
    messages.regraft(tree, rates, nodes, rng.random((nodes.size, 1 + tries)))


@pytest.mark.parametrize("seed", range(4))
def test_messages_give_the_dense_normal_density_and_all_classes(seed) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3))
    X[rng.random(X.shape) < 0.25] = np.nan
    X[:, 2] = np.nan if seed == 3 else X[:, 2]
    tree, messages, rates = oracle.random_tree(rng, 9, RATES[seed % 3], X, classes=3)
    found = messages.send_up(tree, rates)
    expected = [oracle.column_density(tree, rates.spread[j], rates.noise[j], X[:, j]) for j in range(3)]
    np.testing.assert_allclose(found.columns, expected, rtol=1e-9, atol=1e-12)
    chance = oracle.class_probability(tree, rates, messages.rows.codes, messages.rows.frequency)
    assert found.classes == pytest.approx(math.log(chance), rel=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_the_prior_of_a_tree_is_that_of_rows_that_come_in_any_order(rate) -> None:
    rng = np.random.default_rng(5)
    tree, _, _ = oracle.random_tree(rng, 5, rate)
    expected = [oracle.log_prior_by_order(tree, rate, order) for order in permutations(range(5))]
    np.testing.assert_allclose(expected, tree.log_prior(np.array(rate)), rtol=1e-9)


def test_two_rows_part_by_the_closed_form() -> None:
    """P(t > s) = (1 - s)^c with a(t) = c / (1 - t); values then correlate by E t = 1 / (1 + c)."""
    rng = np.random.default_rng(0)
    c = 1.5
    tree, messages, rates = oracle.random_tree(rng, 4, (0.0, c, 0.0))
    rates = rates._replace(flip=0.0)
    messages.send_up(tree, rates)
    found = []
    for _ in range(6000):
        sweep(tree, messages, rates, rng)
        found.append(oracle.shared_times(tree)[0, 1])
    # Sweeps are not independent: every fourth is nearly.
    assert kstest(found[::4], lambda s: 1 - (1 - s) ** c).pvalue > 1e-3
    assert np.mean(found) == pytest.approx(1 / (1 + c), abs=0.02)


@pytest.mark.parametrize("rate", RATES)
def test_moves_leave_states_that_fit_together(rate) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    tree, messages, rates = oracle.random_tree(rng, 30, rate, X)
    for _ in range(20):
        sweep(tree, messages, rates, rng, tries=2)
    sizes = np.zeros(59, dtype=int)
    for nodes in oracle.paths(tree):
        sizes[nodes] += 1
        assert (np.diff(tree.times[nodes]) < 0).all()
    np.testing.assert_array_equal(sizes, tree.sizes)
    assert tree.links[tree.top, 0] == -1
    moved = messages.mean.copy(), messages.precision.copy(), messages.classes.copy()
    messages.send_up(tree, rates)
    for mine, anew in zip(moved, (messages.mean, messages.precision, messages.classes), strict=True):
        np.testing.assert_allclose(mine, anew, rtol=1e-9, atol=1e-9)


def test_rows_come_where_no_time_can_be_told_from_the_end() -> None:
    rates = Rates(np.array([0.0, 1e-4, 0.0]), np.ones(1), np.ones(1), 1.0, 0.1)
    messages = Messages(Rows(np.zeros((4, 1)), np.array([0, 1, 0, 1]), np.array([0.5, 0.5])))
    tree = Tree.loose(4, np.arange(4))
    messages.of_noise(rates.noise)
    messages.of_slip(rates.slip)
    messages.regraft(tree, rates, np.arange(1, 4), np.full((3, 2), 0.999))
    assert tree.is_sound()


def enumerated(rate, x, codes, spread, noise, flip, slip, points=14):
    """The posterior of every shape of four rows, by quadrature over its three times."""
    u, w = np.polynomial.legendre.leggauss(points)
    u, w = (u + 1) / 2, w / 2
    frequency = np.array([0.5, 0.5])
    found = {}
    for inner in shapes():
        total = 0.0
        for i in range(points):
            for j in range(points):
                for k in range(points):
                    tree, size = placed(inner, (u[i], u[j], u[k]))
                    rates = Rates(np.array(rate), np.array([spread]), np.array([noise]), flip, slip)
                    messages = Messages(Rows(x[:, None], codes, frequency))
                    densities = messages.send_up(tree, rates)
                    log = tree.log_prior(rates.rate) + densities.columns[0] + densities.classes
                    total += w[i] * w[j] * w[k] * size * math.exp(log)
        found[oracle.shape(tree)] = total
    whole = sum(found.values())
    return {key: value / whole for key, value in found.items()}


def shapes():
    """Every shape of four rows: links of the inner nodes 6 (at the top), 5 and 4."""
    for a, b in ((0, 1), (0, 2), (0, 3)):
        others = [one for one in range(4) if one not in (a, b)]
        yield {4: (a, b), 5: tuple(others), 6: (4, 5)}
    for last in range(4):
        rest = [one for one in range(4) if one != last]
        for outer in rest:
            yield {4: tuple(one for one in rest if one != outer), 5: (4, outer), 6: (5, last)}


def placed(inner, u):
    """A tree of a shape with its times at shares of what its parents leave, and the volume of a unit of shares."""
    tree = Tree.loose(4, np.arange(4))
    tree.links[:] = -1
    tree.top, size = 6, 1.0
    for node, (a, b) in inner.items():
        tree.links[node, 1:] = a, b
        tree.links[[a, b], 0] = node
        tree.sizes[node] = tree.sizes[a] + tree.sizes[b]
    for node, share in zip((6, 5, 4), u, strict=True):
        begin = tree.times[tree.links[node, 0]] if node != 6 else 0.0
        tree.times[node] = begin + (1 - begin) * share
        size *= 1 - begin
    return tree, size


def test_four_rows_have_the_shapes_of_the_exact_posterior() -> None:
    rng = np.random.default_rng(2)
    x, codes = np.array([-1.0, -0.6, 0.5, 1.4]), np.array([0, 0, 1, 0])
    rate, rates = (0.0, 2.0, 0.0), (1.0, 0.1, 1.0, 0.2)
    expected = enumerated(rate, x, codes, *rates, points=8)
    assert len(expected) == 15
    messages = Messages(Rows(x[:, None], codes, np.array([0.5, 0.5])))
    drawn = Rates(np.array(rate), np.array([1.0]), np.array([0.1]), 1.0, 0.2)
    tree, _, _ = oracle.random_tree(rng, 4, rate)
    messages.send_up(tree, drawn)
    counts: Counter = Counter()
    n = 8000
    for _ in range(n):
        sweep(tree, messages, drawn, rng)
        counts[oracle.shape(tree)] += 1
    for key, share in expected.items():
        # Five deviations of independent draws, and half as much again: sweeps are nearly independent.
        assert abs(counts[key] / n - share) < 7.5 * math.sqrt(share * (1 - share) / n) + 1e-3


@pytest.mark.parametrize("rate", RATES)
def test_places_of_a_new_row_are_its_exact_density(rate, monkeypatch) -> None:
    """Averaged over many places, densities are those of the tree with the row over those of the tree without."""
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(5, 2)), np.array([[0.3, np.nan], [0.1, -0.4]])
    tree, messages, rates = oracle.random_tree(rng, 5, rate, X)
    assert np.exp(messages.places(tree, rates, 3).prior).sum() == pytest.approx(1.0, rel=1e-9)
    found, chances = messages.join(tree, rates, new, 3)
    monkeypatch.setattr(trees, "_TOGETHER", 1)  # column by column
    np.testing.assert_allclose(messages.join(tree, rates, new, 3)[0], found, rtol=1e-12)
    # The same by a tree with the row at every place.
    before = messages.send_up(tree, rates)
    for i, row in enumerate(new):
        total, by_class = 0.0, np.zeros(2)
        for weight, joined in joined_trees(tree, np.array(rate), 3):
            density = sum(
                oracle.column_density(joined, rates.spread[j], rates.noise[j], np.r_[X[:, j], row[j]]) for j in range(2)
            )
            each = [
                oracle.class_probability(joined, rates, np.r_[messages.rows.codes, c], messages.rows.frequency)
                for c in range(2)
            ]
            part = weight * math.exp(density - before.columns.sum())
            by_class += part * np.array(each) / math.exp(before.classes)
            total += part
        # The columns' density alone weighs the places; the classes of the others are in the class given the place.
        np.testing.assert_allclose(found[i], math.log(total), rtol=1e-8)
        np.testing.assert_allclose(chances[i], by_class / total, rtol=1e-8)


def joined_trees(tree, rate, each):
    """The tree with one more row at the middle quantiles of every branch, each with its prior probability."""
    for b in range(tree.times.size):
        parent = tree.links[b, 0]
        begin, end, m = tree.times[parent] if parent >= 0 else 0.0, tree.times[b], tree.sizes[b]
        since = oracle.big_a(rate, begin)
        share = 1.0 if end == 1.0 else 1 - math.exp(-(oracle.big_a(rate, end) - since) / m)
        reach, at = 1.0, parent
        below = b
        while at >= 0:
            up = tree.links[at, 0]
            first = oracle.big_a(rate, tree.times[up]) if up >= 0 else 0.0
            reach *= math.exp(-(oracle.big_a(rate, tree.times[at]) - first) / tree.sizes[at])
            reach *= tree.sizes[below] / tree.sizes[at]
            at, below = up, at
        for r in range(each):
            aim = since - m * math.log1p(-share * (r + 0.5) / each)
            low, high = begin, end
            for _ in range(200):
                t = (low + high) / 2
                low, high = (t, high) if oracle.big_a(rate, t) < aim else (low, t)
            yield reach * share / each, with_row(tree, b, t)


def with_row(tree, b, t):
    """The tree with row n on the branch that ends in b."""
    n = tree.n_rows

    def number(node):
        return np.where(node >= n, node + 1, node)

    found = Tree.loose(n + 1, np.arange(n + 1))
    found.links[:] = -1
    old = np.arange(2 * n - 1)
    found.links[number(old)] = number(tree.links)
    found.times[number(old)] = tree.times
    b, new, parent = int(number(b)), 2 * n, int(number(tree.links[b, 0]))
    found.top = int(number(tree.top)) if parent >= 0 else new
    found.links[new] = parent, b, n
    if parent >= 0:
        found.links[parent, 1:][found.links[parent, 1:] == b] = new
    found.links[[b, n], 0] = new
    found.times[new] = t
    return found


def test_slices_give_the_density() -> None:
    rng = np.random.default_rng(4)
    means, deviations = np.array([0.0, 3.0, -20.0]), np.array([1.0, 0.1, 5.0])
    x, drawn = means.copy(), []
    for _ in range(4000):
        x = slice_draw(x, lambda at: -0.5 * ((at - means) / deviations) ** 2, rng)
        drawn.append(x)
    found = np.array(drawn)[::8]
    for j in range(3):
        assert kstest((found[:, j] - means[j]) / deviations[j], "norm").pvalue > 1e-3


def test_tables() -> None:
    found = tables(6)
    np.testing.assert_allclose(found[0, 1:], gammaln(np.arange(1, 7)))
    np.testing.assert_allclose(found[1], [0, 1, 1.5, 11 / 6, 25 / 12, 137 / 60, 2.45])


@pytest.fixture(scope="module")
def corners():
    """Rows around the corners of a cube, whose parity is the class."""
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, (220, 3))
    return corner * 5.0 + rng.normal(size=corner.shape), corner.sum(axis=1) % 2


@pytest.mark.parametrize("divergence", ["inverse", "inverse_square"])
def test_parity_is_learnt_where_columns_alone_say_nothing(divergence, corners) -> None:
    X, y = corners
    model = DiffusionTree(draws=4, warmup=6, divergence=divergence, random_state=0).fit(X[:140], y[:140])
    assert model.score(X[140:], y[140:]) > 0.93
    chances = model.predict_proba(X[140:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert model.links_.shape == (4, 279, 3)
    assert model.log_density_.shape == (10,)
    assert ((model.rates_ > 0) == ([0, 1, 0] if divergence == "inverse" else [1, 0, 1])).all()


def test_shuffled_classes_are_at_chance(corners) -> None:
    X, y = corners
    y = np.random.default_rng(7).permutation(y)
    model = DiffusionTree(draws=3, warmup=5, random_state=0).fit(X[:120], y[:120])
    assert 0.3 < model.score(X[120:], y[120:]) < 0.7


def test_scales_missing_values_constants_and_layout(corners) -> None:
    X, y = corners
    X = X[:80].copy()
    y = y[:80]
    options = {"draws": 2, "warmup": 2, "random_state": 3}
    expected = DiffusionTree(**options).fit(X[:60], y[:60]).predict_proba(X[60:])
    moved = np.column_stack([X[:, 0] * 8 - 3, np.full(80, 0.1), X[:, 1] * 0.5, X[:, 2]])
    np.testing.assert_allclose(
        DiffusionTree(**options).fit(moved[:60], y[:60]).predict_proba(moved[60:]), expected, rtol=1e-6
    )
    Z = sp.csr_matrix(np.where(np.abs(X) < 1, 0, X))
    np.testing.assert_array_equal(
        DiffusionTree(**options).fit(Z[:60], y[:60]).predict_proba(Z[60:]),
        DiffusionTree(**options).fit(Z[:60].toarray(), y[:60]).predict_proba(Z[60:].toarray()),
    )
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = DiffusionTree(**options).fit(X[:60], y[:60])
    assert model.score(X[60:], y[60:]) > 0.8
    assert np.isfinite(model.predict_proba(np.full((1, 3), np.nan))).all()


def test_equal_rows_few_rows_and_no_column() -> None:
    X, y = np.repeat([[0.0, 1.0], [4.0, 5.0]], 10, axis=0), np.repeat([0, 1], 10)
    model = DiffusionTree(draws=3, warmup=3, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    far = model.predict_proba([[1e9, -1e9]])
    assert np.isfinite(far).all()
    two = DiffusionTree(draws=2, warmup=1, random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    assert two.predict_proba([[0.5]]).shape == (1, 2)
    none = DiffusionTree(draws=5, warmup=5, random_state=0).fit(np.ones((12, 1)), [0] * 9 + [1] * 3)
    assert none.predict([[1.0]]) == [0]


def test_three_classes_and_the_same_seed(corners) -> None:
    X, _ = corners
    y = np.digitize(X[:, 0] + X[:, 1], [3.0, 8.0])
    first, again = (
        DiffusionTree(draws=2, warmup=3, random_state=1).fit(X[:100], y[:100]).predict_proba(X[100:]) for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first.argmax(axis=1) == y[100:]).mean() > 0.85


def test_too_large_a_table_is_refused() -> None:
    with pytest.raises(TamisError, match="diffusion_tree: 2000 rows of 5001 columns are too many"):
        DiffusionTree().fit(np.zeros((2000, 5001)), np.arange(2000) % 2)


@pytest.mark.parametrize("rounds", [700, pytest.param(8000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("divergence", ["inverse", "inverse_square"])
def test_rows_drawn_anew_in_each_round_leave_all_rates_at_their_priors(divergence, rounds) -> None:
    """Geweke (2004): rows given tree and rates, tree and rates given rows, in turn; so a wrong move anywhere shows."""
    rng = np.random.default_rng(0)
    n, d, frequency = 6, 2, np.array([0.5, 0.5])
    used, law = chains._RATES[divergence]
    rate = np.zeros(3)
    rate[used] = np.exp(law[0])
    tree, _, _ = oracle.random_tree(rng, n, rate)
    rates = Rates(rate, np.full(d, 0.6), np.full(d, 0.2), 1.0, 0.1)
    drawn = []
    for _ in range(rounds):
        X = np.column_stack(
            [
                np.linalg.cholesky(oracle.covariance(tree, rates.spread[j], rates.noise[j] + 1e-12))
                @ rng.normal(size=n)
                for j in range(d)
            ]
        )
        messages = Messages(Rows(X, oracle.walking_classes(rng, tree, rates, frequency), frequency))
        messages.send_up(tree, rates)
        sweep(tree, messages, rates, rng)
        rates = chains._rates(tree, messages, rates, divergence, rng)
        parts = [
            (rates.rate[used], law),
            (rates.spread, chains._SPREAD),
            (rates.noise, chains._NOISE),
            ([rates.flip], chains._FLIP),
            ([rates.slip], chains._SLIP),
        ]
        drawn.append(np.concatenate([(np.log(value) - mean) / deviation for value, (mean, deviation) in parts]))
    found = np.array(drawn)
    # Autocorrelation leaves at least one independent draw in twenty.
    limit = 4 / math.sqrt(rounds / 20)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=limit)
    np.testing.assert_allclose(found.std(axis=0), 1.0, atol=limit)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.links_[0].__setitem__((25, 1), 99),
        lambda model: model.links_[0].__setitem__((25, 1), model.links_[0, 26, 1]),
        lambda model: model._sizes[0].__setitem__(0, 7),
        lambda model: model._tops.__setitem__(0, -5),
        lambda model: model._codes.__setitem__(0, 2),
        lambda model: setattr(model, "spread_", model.spread_[:, :1]),
        lambda model: setattr(model, "times_", model.times_[:, :-1]),
    ],
)
def test_a_model_file_cannot_point_outside_the_tree(spoil, corners) -> None:
    X, y = corners
    model = DiffusionTree(draws=2, warmup=1, random_state=0).fit(X[:20], y[:20])
    check_sound(model)
    spoil(model)
    with pytest.raises(UnsoundError):
        check_sound(model)
