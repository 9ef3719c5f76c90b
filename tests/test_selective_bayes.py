"""Selective naive Bayes and ESNB against refits for every candidate and scikit-learn's AUC; kernels; bad input."""

from fractions import Fraction
from math import prod

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, logsumexp
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from tamis.base.shared_fit import Together
from tamis.classify import ESNB, SNB, NaiveBayes
from tamis.classify.esnb.lift import lift_curve
from tamis.data import named
from tamis.kernels.selective_bayes import (
    areas_with,
    likelihood_with,
    rest_areas_with,
    right_with,
    two_right_with,
)

FORMS = [np.asarray, sp.csr_matrix, sp.csc_array]


def problem(n_classes=2, rows=90, columns=9, seed=0):
    """Small whole numbers, of which the first columns hang on the class, the second being the first again."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.integers(0, 3, size=(rows, columns)).astype(float)
    for j in range(4):
        told = rng.random(rows) < 0.45
        X[told, j] = (y[told] + j) % 3
    X[:, 1] = X[:, 0]
    return X, y


def auc(y, odds, weight=None):
    return roc_auc_score(y, np.round(odds * 2**24), sample_weight=weight)


def lift_area(y, evidence, weight):
    """The measure of ESNB, from scikit-learn's AUC."""
    share = np.bincount(y, weights=weight) / weight.sum()
    if share.size == 2:
        return share[1] ** 2 / 2 + share[1] * share[0] * auc(y, evidence[:, 1] - evidence[:, 0], weight)
    total = 0.0
    for c, p in enumerate(share):
        odds = evidence[:, c] - logsumexp(np.delete(evidence, c, axis=1), axis=1)
        total += p * (p**2 / 2 + p * (1 - p) * auc(y == c, odds, weight))
    return total


def right_share(y, evidence, weight):
    return np.average(np.round(evidence * 2**24).argmax(axis=1) == y, weights=weight)


def by_refits(X, y, weight, measure, most=99):
    """Forward search that fits naive Bayes anew on every set of columns."""

    def reached(columns):
        model = NaiveBayes("states", bins="values").fit(X[:, columns], y, sample_weight=weight)
        evidence = np.log(model.predict_proba(X[:, columns]))
        return measure(y, evidence, weight), weight @ evidence[np.arange(y.size), y]

    prior = np.log(np.bincount(y, weights=weight) / weight.sum())
    chosen, path = [], [measure(y, np.tile(prior, (y.size, 1)), weight)]
    while len(chosen) < min(most, X.shape[1]):
        tried = {j: reached([*chosen, j]) for j in range(X.shape[1]) if j not in chosen}
        best = max(tried, key=lambda j: (round(tried[j][0], 9), round(tried[j][1], 6), -j))
        if tried[best][0] <= path[-1] + 1e-9:
            break
        chosen.append(best)
        path.append(tried[best][0])
    return chosen, path


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("make", "measure"), [(SNB, right_share), (ESNB, lift_area)], ids=["snb", "esnb"])
def test_equals_a_search_by_refits(make, measure, n_classes, weighted) -> None:
    X, y = problem(n_classes, seed=n_classes)
    weight = np.random.default_rng(0).integers(1, 4, y.size) / 2 if weighted else np.ones(y.size)
    chosen, path = by_refits(X, y, weight, measure)
    for form in FORMS:
        model = make(bins="values").fit(form(X), y, sample_weight=weight)
        assert model.chosen_.tolist() == chosen
        np.testing.assert_allclose(model.path_, path, atol=1e-9)
        assert 0 < len(chosen) < 9
        assert not (model.used_[0] and model.used_[1]) or make is ESNB
        np.testing.assert_array_equal(np.flatnonzero(model.used_), np.sort(chosen))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_are_those_of_naive_bayes_on_the_chosen_columns(n_classes) -> None:
    X, y = problem(n_classes)
    for model in (SNB(bins="values").fit(X, y), ESNB(bins="values", threshold=0.5).fit(X, y)):
        alone = NaiveBayes("states", bins="values").fit(X[:, model.chosen_], y)
        np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X[:, model.chosen_]), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_a_refit_without_the_row(n_classes, weighted) -> None:
    X, y = problem(n_classes, rows=40, columns=4)
    weight = np.random.default_rng(0).integers(1, 3, y.size) if weighted else np.ones(y.size, dtype=int)
    X, y = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    expected = []
    for j in range(4):
        right = 0
        for i in range(y.size):
            rest = np.delete(np.arange(y.size), i)
            model = NaiveBayes("states", bins="values").fit(X[rest][:, [j]], y[rest])
            right += model.predict(X[[i]][:, [j]])[0] == y[i]
        expected.append(right / y.size)
    model = SNB(1, bins="values", loo=True).fit(X, y)
    assert model.path_[1] == pytest.approx(max(expected))
    assert expected[model.chosen_[0]] == max(expected)
    assert SNB(1, bins="values").fit(X, y).path_[1] >= model.path_[1]


def test_a_class_of_one_row_is_never_right_when_left_out() -> None:
    X, y = np.array([[0.0], [0.0], [1.0], [0.0]]), np.array([0, 0, 1, 0])
    assert SNB(bins="values").fit(X, y).path_.tolist() == [0.75, 1.0]
    assert SNB(bins="values", loo=True).fit(X, y).path_.tolist() == [0.75]


def test_balance_counts_the_classes_alike() -> None:
    X, y = problem(2)
    rare = np.flatnonzero((y == 0) | (np.arange(y.size) % 5 == 0))
    X, y = X[rare], y[rare]
    model = SNB(bins="values", class_weight="balanced").fit(X, y)
    assert model.path_[0] == pytest.approx(0.5)
    assert model.path_[-1] == pytest.approx(balanced_accuracy_score(y, model.predict(X)))


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(2, 3), st.sampled_from([3, 15]), st.booleans())
def test_kernels_equal_their_twins(data, n_classes, n_states, layered) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    n, p = data.draw(st.integers(2, 25)), 3
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n)]
    n = y.size
    weight = rng.choice([0.5, 1.0, 2.0], n)
    codes = rng.integers(0, n_states, (p, n))
    first = np.arange(p + 1) * n_states
    base = first[:-1] + rng.integers(0, n_states, p)
    other = codes + first[:-1, None] != base[:, None]
    listed = (
        np.append(0, np.cumsum(other.sum(axis=1))),
        np.nonzero(other)[1].astype(np.int32),
        (codes + first[:-1, None])[other].astype(np.int32),
        base,
    )
    # Coarse numbers, so that there are many draws.
    table = rng.integers(-4, 4, (n_classes if layered else 1, p * n_states, n_classes)) / 4.0
    evidence = rng.integers(-3, 3, (n, n_classes)) / 4.0
    candidates = rng.permutation(p)[:2]
    asked = evidence, y, weight, candidates
    right, likely = np.empty(2), np.empty(2)
    right_with(*listed, table, *asked, right)
    likelihood_with(*listed, table, *asked, likely)
    for q, j in enumerate(candidates):
        after = evidence + table[y if layered else 0, first[j] + codes[j]]
        assert right[q] == pytest.approx(weight[after.argmax(axis=1) == y].sum())
        assert likely[q] == pytest.approx(weight @ (after[np.arange(n), y] - logsumexp(after, axis=1)))
    if n_classes == 2:
        odds = evidence[:, 1] - evidence[:, 0]
        lists = []
        for c in (0, 1):
            order = np.argsort(odds[y == c])
            lists += [odds[y == c][order], np.append(0.0, np.cumsum(weight[y == c][order]))]
        again = np.empty(2)
        two_right_with(*listed, table, odds, *lists, y, weight, candidates, again)
        np.testing.assert_allclose(again, right)
    pairs = np.empty(2)
    if n_classes == 2:
        order = np.argsort(odds, kind="stable")
        areas_with(*listed, table[:1], order, first, *asked, pairs)
    else:
        share = rng.random(n_classes)
        rest_areas_with(*listed, table[:1], share, 2.0**-30, *asked, pairs)
    for q, j in enumerate(candidates):
        after = evidence + table[0, first[j] + codes[j]]
        if n_classes == 2:
            expected = in_order(after[:, 1] - after[:, 0], y == 1, weight)
        else:
            odds = [after[:, c] - logsumexp(np.delete(after, c, axis=1), axis=1) for c in range(n_classes)]
            expected = sum(
                s * in_order(np.round(o, 8), y == c, weight) for c, (s, o) in enumerate(zip(share, odds, strict=True))
            )
        assert pairs[q] == pytest.approx(expected)


def in_order(heights, positive, weight):
    """Weight of pairs in the right order, by comparing each with each."""
    above = (heights[positive][:, None] > heights[~positive]) + 0.5 * (heights[positive][:, None] == heights[~positive])
    return weight[positive] @ above @ weight[~positive]


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_lift_curve_by_its_definition(data) -> None:
    n = data.draw(st.integers(2, 20))
    heights = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))) / 2
    positive = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    positive[:2] = True, False
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    curve = lift_curve(heights, positive, weight)
    cuts = [np.inf, *np.unique(heights)[::-1]]
    taken = [weight[heights >= c].sum() / weight.sum() for c in cuts]
    found = [weight[(heights >= c) & positive].sum() / weight.sum() for c in cuts]
    np.testing.assert_allclose(curve.taken, taken)
    np.testing.assert_allclose(curve.found, found)
    p = weight[positive].sum() / weight.sum()
    rank = roc_auc_score(positive, heights, sample_weight=weight)
    assert curve.area == pytest.approx(p**2 / 2 + p * (1 - p) * rank)

    def balanced(cut):
        return balanced_accuracy_score(positive, heights > cut, sample_weight=weight)

    most = max(balanced(c) for c in [-np.inf, *heights])
    assert (curve.best is None) == (most <= 0.5 + 1e-12)
    if curve.best is not None:
        assert balanced(curve.best) == pytest.approx(most)


def test_the_threshold_has_the_smallest_balanced_error_and_agrees_with_the_probabilities() -> None:
    X, y = problem(2)
    X, y = X[(y == 0) | (np.arange(y.size) % 4 == 0)], y[(y == 0) | (np.arange(y.size) % 4 == 0)]
    model = ESNB(bins="values").fit(X, y)
    plain = ESNB(bins="values", threshold=0.5).fit(X, y).predict_proba(X)[:, 1]
    most = max(balanced_accuracy_score(y, plain > t) for t in plain)
    assert balanced_accuracy_score(y, model.predict(X)) == pytest.approx(most)
    np.testing.assert_array_equal(model.predict(X), (plain > model.threshold_).astype(int))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    fixed = ESNB(bins="values", threshold=0.2).fit(X, y)
    assert fixed.threshold_ == pytest.approx(0.2)
    np.testing.assert_array_equal(fixed.predict(X), (plain > 0.2).astype(int))
    assert ESNB(bins="values").fit(*problem(3)).threshold_ is None


def test_averaged_weights_are_those_of_the_formula() -> None:
    X, y = problem(2)
    model = ESNB(bins="values", average=True).fit(X, y)
    cost = []
    for size in range(model.chosen_.size + 1):
        columns = model.chosen_[:size]
        if size:
            shares = NaiveBayes("states", bins="values").fit(X[:, columns], y).predict_proba(X[:, columns])
        else:
            shares = np.tile(np.bincount(y) / y.size, (y.size, 1))
        own = np.log(shares[np.arange(y.size), y]).sum()
        cost.append(np.log(10) + gammaln(9 + size) - gammaln(size + 1) - gammaln(9) - own)
    saved = np.maximum(0, 1 - np.array(cost[1:]) / cost[0])
    expected = [saved[j:].sum() / saved.sum() for j in range(saved.size)]
    np.testing.assert_allclose(model.weights_, expected, rtol=1e-6)
    assert model.weights_[0] == pytest.approx(1.0)
    assert model.weights_[-1] < 1
    # A row that says nothing but in the last column differs from the prior by the weight of that column alone.
    plain = ESNB(bins="values", threshold=0.5).fit(X, y)
    row = np.full((1, 9), np.nan)
    row[0, model.chosen_[-1]] = 2.0
    averaged = ESNB(bins="values", average=True, threshold=0.5).fit(X, y)
    odds = [np.log(p[0, 1] / p[0, 0]) for p in (plain.predict_proba(row), averaged.predict_proba(row))]
    assert odds[1] == pytest.approx(model.weights_[-1] * odds[0])


@pytest.mark.parametrize("model", [SNB(bins="values"), ESNB(bins="values"), ESNB(bins="values", average=True)])
def test_fewer_columns_are_the_first_of_more(model) -> None:
    X, y = problem(2)
    whole = model.fit(X, y)
    sizes = [1, 2, None]
    for k, one in zip(
        sizes, Together([type(model)(**(model.get_params() | {"k": k})) for k in sizes], X, y), strict=True
    ):
        alone = type(model)(**(model.get_params() | {"k": k})).fit(X, y)
        assert one.chosen_.tolist() == whole.chosen_[:k].tolist() == alone.chosen_.tolist()
        np.testing.assert_array_equal(one.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("make", [SNB, ESNB])
def test_missing_values_add_nothing(make) -> None:
    X, y = problem(2)
    holes = np.where(np.random.default_rng(5).random(X.shape) < 0.2, np.nan, X)
    dense = make(bins="values").fit(holes, y)
    alone = NaiveBayes("states", bins="values").fit(holes[:, dense.chosen_], y)
    odds = [
        np.log(p[:, 1] / p[:, 0]) for p in (dense.predict_proba(holes), alone.predict_proba(holes[:, dense.chosen_]))
    ]
    np.testing.assert_allclose(odds[0] - odds[1], odds[0][0] - odds[1][0], atol=1e-6)
    sparse = make(bins="values").fit(sp.csr_matrix(holes), y)
    assert sparse.chosen_.tolist() == dense.chosen_.tolist()
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_matrix(holes)), dense.predict_proba(holes), rtol=1e-9)


@pytest.mark.parametrize("make", [SNB, ESNB])
def test_nominal_columns_join_as_they_are(make) -> None:
    X, y = problem(2)
    words = np.array(["low", "mid", "top"], dtype=object)[X.astype(int)]
    model = make(bins="values").fit(words, y)
    assert model.chosen_.tolist() == make(bins="values").fit(X, y).chosen_.tolist()
    unseen = words.copy()
    unseen[:, :] = "other"
    odds = model.predict_proba(unseen)
    np.testing.assert_allclose(odds, np.tile(odds[0], (y.size, 1)))


def test_an_identifier_is_no_candidate_for_modl() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = x + 0.3 * rng.normal(size=200) > 0
    rows = np.column_stack([np.array([f"r{i}" for i in range(200)], dtype=object), x.astype(object)])
    model = ESNB().fit(rows, y)
    assert model.chosen_.tolist() == [1]
    assert model.level_states_[0].tolist() == [0] * 200


def test_leave_one_out_takes_no_more_than_a_row_weighs() -> None:
    X, y = problem(2)
    small = SNB(loo=True, alpha=1e-6).fit(X, y, np.full(y.size, 1e-6))
    assert small.chosen_.tolist() == SNB(loo=True).fit(X, y).chosen_.tolist()
    np.testing.assert_allclose(small.path_, SNB(loo=True).fit(X, y).path_)


def test_modl_leaves_noise_out() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 30)), np.arange(200) % 2
    model = ESNB().fit(X, y)
    assert model.chosen_.size == 0
    np.testing.assert_allclose(model.predict_proba(X[:3]), 0.5)
    X[:, 7] += 2 * y
    found = ESNB().fit(X, y)
    assert found.chosen_.tolist() == [7]
    assert balanced_accuracy_score(y, found.predict(X)) > 0.8


@pytest.mark.parametrize("make", [SNB, ESNB])
def test_columns_without_any_state_are_no_candidates(make) -> None:
    for X in (np.ones((6, 3)), np.full((6, 3), np.nan), sp.csr_matrix((6, 3))):
        model = make().fit(X, [0, 0, 0, 0, 1, 1])
        assert model.chosen_.size == 0
        assert not model.used_.any()
        assert model.predict(X).tolist() == [0] * 6


def test_log_probabilities_are_on_a_grid_so_that_draws_are_draws() -> None:
    model = SNB(bins="values").fit(*problem(2))
    table = model._terms[2] * 2.0**44
    np.testing.assert_array_equal(table, np.rint(table))


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (SNB(0), "'k'"),
        (SNB(bins="pairs"), "'bins'"),
        (SNB(alpha=0), "'alpha'"),
        (SNB(tol=-0.1), "'tol'"),
        (ESNB(threshold=1.0), "'threshold'"),
        (ESNB(threshold="roc"), "'threshold'"),
        (ESNB(k=1.5), "'k'"),
    ],
)
def test_wrong_parameters(model, match) -> None:
    with pytest.raises(ValueError, match=match):
        model.fit(*problem())


def exactly(X, y, alpha=Fraction(1)):
    """The columns and areas of ESNB on values as bins, in exact rational arithmetic."""
    n, classes = y.size, range(int(y.max()) + 1)
    share = [Fraction(int((y == c).sum()), n) for c in classes]

    def term(i, j, c):
        n_states = len(set(X[:, j]))
        return (int(((X[:, j] == X[i, j]) & (y == c)).sum()) + alpha) / (int((y == c).sum()) + alpha * n_states)

    terms = {
        j: [[term(i, j, c) for c in classes] for i in range(n)] for j in range(X.shape[1]) if len(set(X[:, j])) > 1
    }

    def area(likely, c):
        odds = [p[c] / (sum(p) - p[c]) for p in likely]
        rank = {one: place for place, one in enumerate(sorted(set(odds)))}
        own, rest = (np.array([rank[one] for one in odds])[mask] for mask in (y == c, y != c))
        twice = int(np.sign(own[:, None] - rest).sum()) + own.size * rest.size
        return share[c] ** 2 / 2 + Fraction(twice, 2 * n**2)

    def measure(likely):
        return area(likely, 1) if len(classes) == 2 else sum(share[c] * area(likely, c) for c in classes)

    likely = [share] * n
    chosen, path = [], [measure(likely)]
    while len(chosen) < len(terms):
        tried = {}
        for j in terms:
            if j not in chosen:
                after = [[p * t for p, t in zip(a, b, strict=True)] for a, b in zip(likely, terms[j], strict=True)]
                own = prod(row[c] / sum(row) for row, c in zip(after, y, strict=True))
                tried[j] = measure(after), own, -j, after
        best = max(tried, key=lambda j: tried[j][:3])
        if tried[best][0] <= path[-1]:
            break
        chosen.append(best)
        path.append(tried[best][0])
        likely = tried[best][3]
    return chosen, [float(one) for one in path]


def tiny(seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(6, 13)), 2 if seed % 4 else 3
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    return rng.integers(0, 3, size=(n, int(rng.integers(2, 6)))).astype(float), y


def test_equal_products_of_different_factors_are_equal() -> None:
    X = np.array([[2, 0], [1, 1], [1, 0], [2, 1], [2, 0], [1, 0], [2, 1], [1, 2], [1, 2], [2, 1]], dtype=float)
    y = np.array([1, 0, 1, 1, 1, 0, 0, 1, 0, 1])
    chosen, path = exactly(X, y)
    model = ESNB(bins="values").fit(X, y)
    assert model.chosen_.tolist() == chosen
    np.testing.assert_allclose(model.path_, path, rtol=1e-12)
    assert model.path_[-1] == pytest.approx(0.365)


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_tiny_fits_equal_exact_arithmetic(count) -> None:
    for seed in range(count):
        X, y = tiny(seed)
        alpha = (Fraction(1), Fraction(1, 2), Fraction(1, 10))[seed % 3]
        chosen, path = exactly(X, y, alpha)
        model = ESNB(bins="values", alpha=float(alpha)).fit(FORMS[seed // 3 % 3](X), y)
        assert model.chosen_.tolist() == chosen, seed
        np.testing.assert_allclose(model.path_, path, rtol=1e-12, err_msg=str(seed))


@pytest.mark.slow
def test_dorothea_is_searched_whole(shared_data, monkeypatch) -> None:
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    data = named.find("dorothea")
    model = ESNB().fit(data.X, data.y)
    assert model.path_[-1] > 1.5 * model.path_[0]
    assert 0 < model.threshold_ < 1
