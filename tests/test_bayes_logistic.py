"""Bayesian logistic regression against explicit formulas, integrals and optimisers; planted inputs; bad input."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import InvalidParameterError

import tamis
from tamis.base.errors import TamisError
from tamis.classify import BayesLogistic, bayes_logistic
from tamis.classify.bayes_logistic.design import Design
from tamis.classify.bayes_logistic.likelihood import Problem
from tamis.classify.bayes_logistic.marginal_likelihood import LARGEST, Posterior, Prior, _Climb
from tamis.kernels.quadratic_forms import csc_quadratic_forms
from tamis.kernels.sparse import stored_arrays
from tamis.select import FromModel

#: More rows than columns, where the columns are the unknowns, and fewer, where the rows are.
SHAPES = [(60, 5), (20, 35)]


def problem(rows=60, columns=5, seed=0, n_classes=2, strength=1.5, sparse=False):
    """Overlapping classes, told apart by the first two columns; row costs that are not all 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0.3, 1.0, (rows, columns))
    if sparse:
        X *= rng.random(X.shape) < 0.4
    scores = np.column_stack([np.zeros(rows), *[strength * (c + 1) * X[:, c % columns] for c in range(n_classes - 1)]])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def approximated(X, signs, cost, variances):
    """Laplace's log evidence, mode and covariance from the p x p formula, by a general optimiser."""
    A = np.column_stack([X - np.average(X, axis=0, weights=cost), np.ones(len(X))])
    prior = np.append(1 / variances, 1 / 100)

    def value(v):
        f = signs * (A @ v)
        return -cost @ log_expit(f) + v @ (prior * v) / 2, -A.T @ (cost * signs * expit(-f)) + prior * v

    def curvature(v):
        share = expit(A @ v)
        return A.T @ (A * (cost * share * (1 - share))[:, None]) + np.diag(prior)

    best = minimize(lambda v: value(v)[0], np.zeros(A.shape[1]), jac=lambda v: value(v)[1], hess=curvature,
                    method="trust-exact", options={"gtol": 1e-10}).x  # fmt: skip
    H = curvature(best)
    log_evidence = -value(best)[0] + (np.log(prior).sum() - np.linalg.slogdet(H)[1]) / 2
    return log_evidence, best, np.linalg.inv(H), A


def posterior_of(X, y, cost, variances):
    design, _ = Design.of(X, cost)
    return Posterior.at(design, np.arange(X.shape[1]), variances, [Problem.of(y == 1, cost)])


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_approximation_equals_the_explicit_formula(shape, form) -> None:
    X, y = problem(*shape, sparse=form is not np.asarray)
    rng = np.random.default_rng(1)
    cost, variances = rng.uniform(0.3, 2.0, len(y)), rng.uniform(0.05, 3.0, X.shape[1])
    found = posterior_of(form(X), y, cost, variances)
    assert found.dual == (shape[1] > shape[0])
    expected, best, covariance, A = approximated(X, np.where(y == 1, 1.0, -1.0), cost, variances)
    assert abs(found.log_evidence - expected) < 1e-8
    np.testing.assert_allclose(found.weights[0], best[:-1], atol=1e-7)
    np.testing.assert_allclose(found.intercepts, best[-1:], atol=1e-7)
    # What the data determine of each weight, and for columns that are not in use what they would.
    determined = found.terms()[1]
    np.testing.assert_allclose(determined, 1 - np.diagonal(covariance)[:-1] / variances, atol=1e-8)
    share = expit(A @ best)
    bend = cost * share * (1 - share)
    M = np.diag(bend) - bend[:, None] * (A @ covariance @ A.T) * bend
    Z = rng.normal(size=(len(y), 4))
    others, _ = Design.of(form(Z), cost)
    Z = Z - np.average(Z, axis=0, weights=cost)
    np.testing.assert_allclose(found.terms_of_others(others)[1], np.einsum("ij,ij->j", Z, M @ Z), rtol=1e-6)


def test_the_approximation_is_near_the_integral() -> None:
    X, y = problem(200, 1, seed=3)
    signs, x = np.where(y == 1, 1.0, -1.0), X[:, 0] - X[:, 0].mean()
    peak = posterior_of(X, y, np.ones(200), np.array([4.0])).log_evidence

    def density(b, w):
        prior = -(w**2) / 8 - b**2 / 200 - np.log(2 * np.pi * 2 * 10)
        return np.exp(log_expit(signs * (w * x + b)).sum() + prior - peak)

    whole = dblquad(density, 0.0, 4.0, -3.0, 3.0, epsrel=1e-6)[0]
    # The error of the approximation is of the order of 1 / rows.
    assert abs(np.log(whole)) < 0.02


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n_classes", "grouped", "prior"), [(2, False, Prior()), (3, True, Prior(1.5, 2.0))])
def test_the_slope_of_the_evidence_is_its_derivative(shape, n_classes, grouped, prior) -> None:
    X, y = problem(*shape, n_classes=n_classes)
    design, _ = Design.of(X, np.ones(len(y)))
    groups = np.arange(X.shape[1]) // (2 if grouped else 1)
    problems = [Problem.of(y == c, np.ones(len(y))) for c in range(1 if n_classes == 2 else 3)]
    variances = np.random.default_rng(2).uniform(0.2, 3.0, groups.max() + 1)
    # One group out of use: the slope there is from the side above 0.
    if prior.shape == 0:
        variances[1] = 0.0
    climb = _Climb(design, problems, groups, prior, variances)
    slope = climb._slope(climb.posterior, variances, np.arange(variances.size))
    for number in range(variances.size):
        step = np.zeros(variances.size)
        step[number] = 1e-5
        if variances[number] == 0:
            ends = [climb._evaluate(variances + k * step, None)[1] for k in range(3)]
            expected = (-3 * ends[0] + 4 * ends[1] - ends[2]) / 2e-5
        else:
            ends = [climb._evaluate(variances + k * step, None)[1] for k in (-1, 1)]
            expected = (ends[1] - ends[0]) / 2e-5
        assert abs(slope[number] - expected) < 1e-4 * max(1, abs(expected))


@pytest.mark.parametrize("shape", [(60, 5), (40, 60)])
def test_the_precisions_are_best_for_a_general_optimiser_too(shape) -> None:
    X, y = problem(*shape)
    model = BayesLogistic(tol=1e-6).fit(X, y)
    used = np.flatnonzero(model.used_)
    signs, cost, variances = np.where(y == 1, 1.0, -1.0), np.ones(len(y)), model.scale_[used] ** 2
    largest = LARGEST / X[:, used].var(axis=0)
    free = variances < 0.999 * largest
    assert free.any()
    assert (variances <= 1.001 * largest).all()

    def value(logs):
        moved = variances.copy()
        moved[free] = np.exp(logs)
        return -approximated(X[:, used], signs, cost, moved)[0]

    here = np.log(variances[free])
    assert abs(-value(here) - model.log_marginal_likelihood_) < 1e-7
    for step in 1e-3 * np.eye(here.size):
        assert abs(value(here + step) - value(here - step)) / 2e-3 < 1e-4
    # The maximum is a local one: the other optimiser starts nearby.
    found = minimize(value, here + 0.05, method="L-BFGS-B")
    assert -found.fun < model.log_marginal_likelihood_ + 1e-6
    assert -found.fun > model.log_marginal_likelihood_ - 0.01
    # No unused column would raise it, by any precision.
    for column in np.flatnonzero(~model.used_):
        for variance in (0.01, 1.0):
            more = approximated(X[:, [*used, column]], signs, cost, np.append(variances, variance))[0]
            assert more < model.log_marginal_likelihood_ + 1e-5


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(40, 6), (15, 40)]), st.integers(2, 3), st.sampled_from([0.0, 1.0]))
def test_the_marginal_likelihood_never_falls(seed, shape, n_classes, prior_shape) -> None:
    X, y = problem(*shape, seed=seed, n_classes=n_classes)
    model = BayesLogistic(prior_shape=prior_shape).fit(X, y)
    assert (np.diff(model.path_) >= 0).all()
    assert model.path_.size == model.n_iter_ + 1 > 1
    assert model.used_.all() == (prior_shape > 0) or prior_shape == 0


@pytest.mark.parametrize("prior_shape", [0.0, 1.0])
@pytest.mark.parametrize("shape", [(60, 6), (25, 60)])
def test_sparse_equals_dense(shape, prior_shape) -> None:
    X, y = problem(*shape, n_classes=3, sparse=True)
    X[:, 4] = 2.0
    dense = BayesLogistic(prior_shape=prior_shape).fit(X, y)
    for form in (sp.csr_array, sp.csc_array):
        sparse = BayesLogistic(prior_shape=prior_shape).fit(form(X), y)
        np.testing.assert_allclose(sparse.scale_, dense.scale_, rtol=1e-5)
        np.testing.assert_allclose(sparse.predict_proba(form(X)), dense.predict_proba(X), rtol=1e-7)
    assert not dense.used_[4]


@pytest.mark.parametrize("shape", [(60, 6), (25, 60)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_probabilities_are_averaged_by_mackays_formula(shape, form) -> None:
    X, y = problem(*shape, sparse=True)
    model = BayesLogistic(prior_shape=1.0, prior_precision=3.0).fit(form(X), y)
    assert hasattr(model, "covariance_") == (shape[0] > shape[1])
    signs = np.where(y == 1, 1.0, -1.0)
    _, best, covariance, _ = approximated(X, signs, np.ones(len(y)), 1 / model.precisions_)
    new = np.random.default_rng(5).normal(size=(30, shape[1]))
    about = np.column_stack([new - X.mean(axis=0), np.ones(30)])
    mean, variance = about @ best, np.einsum("ij,jk,ik->i", about, covariance, about)
    expected = expit(mean / np.sqrt(1 + np.pi * variance / 8))
    np.testing.assert_allclose(model.predict_proba(form(new))[:, 1], expected, atol=1e-7)


def test_planted_inputs_keep_larger_scales_than_probes() -> None:
    apart = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 15))
        y = X[:, :3] @ [2.0, -2.0, 2.0] + rng.logistic(size=150) > 0
        scale = BayesLogistic().fit(X, y).scale_
        apart += scale[:3].min() > scale[3:].max()
    assert apart >= 95


def test_few_columns_survive_permuted_labels_and_those_say_little() -> None:
    kept, moved, strong = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 20)), rng.permutation(np.arange(200) % 2)
        model = BayesLogistic().fit(X, y)
        kept.append(model.used_.mean())
        strong.append((model.scale_ > 0.5).mean())
        moved.append(np.abs(model.predict_proba(rng.normal(size=(200, 20)))[:, 1] - 0.5).mean())
    # A column without information stays when its squared slope exceeds the expected one: chi-squared above 1.
    assert 0.2 < np.mean(kept) < 0.45
    assert np.mean(strong) < 0.01
    assert np.mean(moved) < 0.1


#: Short chains need not meet.
FEW = {"method": "hmc", "draws": 60, "warmup": 60, "chains": 2, "leapfrog": 10, "random_state": 0}
quietly = pytest.mark.filterwarnings("ignore::tamis.bayes.drawn.NotMixedWarning")


@quietly
def test_draws_have_the_moments_of_the_integral() -> None:
    """One column: the precisions are integrated out on a grid, which leaves the weight and the intercept."""
    X, y = problem(60, 1, seed=3)
    signs, x = np.where(y == 1, 1.0, -1.0), X[:, 0] - X[:, 0].mean()
    logs, slopes, zeros = np.linspace(-12, 8, 400), np.linspace(-1, 6, 250), np.linspace(-2, 2, 120)
    # Shape 2 and mean 3 of the common precision, shape 1 of the column's about it.
    t = np.exp(logs)
    common = stats.gamma.pdf(t, 1.0, scale=3.0) * t
    own = (stats.gamma.pdf(t, 0.5, scale=2 * t[:, None]) * t * common[:, None]).sum(axis=0)
    prior = (stats.norm.pdf(slopes[:, None], scale=t**-0.5) * own).sum(axis=1)
    evidence = signs * (slopes[:, None, None] * x + zeros[:, None])
    log = log_expit(evidence).sum(axis=2) + np.log(prior)[:, None] - zeros**2 / 200
    share = np.exp(log - log.max())
    share /= share.sum()
    mean = (share.sum(axis=1) @ slopes, share.sum(axis=0) @ zeros)
    spread = np.sqrt(share.sum(axis=1) @ (slopes - mean[0]) ** 2)
    model = BayesLogistic("hmc", prior_precision=3.0, draws=1500, warmup=300, leapfrog=10, thin=5, random_state=0)
    model.fit(X, y)
    assert model.coef_draws_.shape == (600, 1, 1)
    assert abs(model.coef_[0, 0] - mean[0]) < 0.15 * spread
    assert abs(model.intercept_[0] + model.coef_[0, 0] * X.mean() - mean[1]) < 0.15 * spread
    assert abs(model.coef_draws_.std() - spread) < 0.15 * spread
    assert model.r_hat_.max() < 1.05


@quietly
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_averaged_over_the_draws(n_classes) -> None:
    X, y = problem(100, 6, n_classes=n_classes, strength=3.0)
    X[:, 4] = 7.0
    model = BayesLogistic(**FEW).fit(X, y)
    outputs = np.einsum("np,dkp->dnk", X, model.coef_draws_) + model.intercept_draws_[:, None]
    if n_classes == 2:
        outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=2)
    np.testing.assert_allclose(model.predict_proba(X), softmax(outputs, axis=2).mean(axis=0))
    np.testing.assert_allclose(model.coef_, model.coef_draws_.mean(axis=0))
    assert model.score(X, y) > 0.7
    assert model.scale_.argmax() in range(n_classes - 1)
    np.testing.assert_array_equal(model.used_, np.arange(6) != 4)
    np.testing.assert_array_equal(model.relevance_interval_[:, 4], 0.0)
    np.testing.assert_allclose(model.relevance_, model.scale_ * X.std(axis=0))
    low, high = model.relevance_interval_
    assert (low <= model.relevance_).all()
    assert (model.relevance_ <= high).all()
    # No scale is followed of the column that is constant.
    assert model.followed_[-5:] == [f"log scale of x{j}" for j in (0, 1, 2, 3, 5)]
    assert len(model.r_hat_) == len(model.ess_) == len(model.followed_)
    (points,) = model.plot(3).data
    np.testing.assert_allclose(points.x, np.sort(model.relevance_)[::-1][:3])
    assert not hasattr(BayesLogistic(), "plot")


@quietly
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_weight_is_so_many_rows_for_draws(form) -> None:
    X, y = problem(40, 6, n_classes=3)
    weight = np.random.default_rng(0).integers(0, 4, 40)
    model = BayesLogistic(**FEW, class_weight="balanced", groups=list("aabbcc"))
    weighted = model.fit(form(X), y, sample_weight=weight).predict_proba(form(X))
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)
    assert model.followed_[-3:] == [f"log scale of group {one}" for one in "abc"]


@quietly
def test_draws_without_a_column_that_varies_give_the_shares() -> None:
    model = BayesLogistic(**{**FEW, "draws": 300}).fit(np.ones((10, 3)), [0] * 7 + [1] * 3)
    assert not model.used_.any()
    assert abs(model.predict_proba(np.zeros((1, 3)))[0, 1] - 0.3) < 0.08


def test_draws_are_refused_where_there_are_none(monkeypatch) -> None:
    X, y = problem()
    for wrong, message in (
        ({"prior_shape": 0.0}, "prior_shape must be above 0"),
        ({"draws": 5}, "thin=10 leaves none of draws=5"),
    ):
        with pytest.raises(TamisError, match=f"bayes_logistic: .*{message}"):
            BayesLogistic("hmc", **wrong).fit(X, y)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(TamisError, match=r'bayes_logistic needs .* pip install "tamis\[bayes\]"'):
        BayesLogistic("hmc").fit(X, y)


def test_a_copy_of_a_column_changes_nothing() -> None:
    X, y = problem(80, 4)
    one, two = BayesLogistic().fit(X, y), BayesLogistic().fit(np.column_stack([X, X[:, 0]]), y)
    assert abs(one.log_marginal_likelihood_ - two.log_marginal_likelihood_) < 1e-3
    assert abs(one.coef_[0, 0] - two.coef_[0, [0, 4]].sum()) < 0.01
    np.testing.assert_allclose(two.predict_proba(np.column_stack([X, X[:, 0]])), one.predict_proba(X), atol=2e-3)


def test_a_group_shares_a_precision() -> None:
    X, y = problem(150, 9)
    labels = np.array(list("aabbbcccc"))
    model = BayesLogistic(groups=labels).fit(X, y)
    for label in "abc":
        assert np.unique(model.precisions_[labels == label]).size == 1
    assert model.scale_[0] > 2 * max(model.scale_[3], model.scale_[8])
    each = BayesLogistic(groups=np.arange(9)).fit(X, y)
    np.testing.assert_array_equal(each.scale_, BayesLogistic().fit(X, y).scale_)
    assert each.log_marginal_likelihood_ > model.log_marginal_likelihood_


def test_probabilities_are_those_of_the_simulated_model() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([1.5, -1.0, 0.5] + [0.0] * 17)
    gap, plain, moderated, bins = [], 0.0, 0.0, [[], [], [], []]
    for _ in range(20):
        X, new = rng.normal(size=(200, 20)), rng.normal(size=(1000, 20))
        model = BayesLogistic().fit(X, rng.random(200) < expit(X @ truth))
        right, found = expit(new @ truth), model.predict_proba(new)[:, 1]
        gap.append(((found - right) ** 2).mean())
        direct = new @ model.coef_[0] + model.intercept_[0]
        f = np.log(found / (1 - found))
        # Expected log loss under the true probabilities.
        moderated -= (right * log_expit(f) + (1 - right) * log_expit(-f)).mean()
        plain -= (right * log_expit(direct) + (1 - right) * log_expit(-direct)).mean()
        for number, some in enumerate(bins):
            inside = (found >= number / 4) & (found < (number + 1) / 4)
            some.extend((found - right)[inside])
    # The Brier score exceeds that of the truth by the mean squared gap; the shares alone leave one of 0.1.
    assert np.mean(gap) < 0.015
    assert moderated < plain
    assert all(abs(np.mean(some)) < 0.05 for some in bins)


def test_separable_rows_have_finite_weights_and_unsure_probabilities() -> None:
    X = np.linspace(-1, 1, 12)[:, None]
    model = BayesLogistic().fit(X, X[:, 0] > 0)
    # The likelihood grows with the scale without end: it stops at the largest.
    np.testing.assert_allclose(model.scale_, 10 / X.std())
    assert np.isfinite(model.coef_).all()
    assert 0.5 < model.predict_proba([[0.05]])[0, 1] < 0.9
    assert model.score(X, X[:, 0] > 0) == 1.0


def test_one_informative_column_among_many() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(200, 1000)), np.arange(200) % 2
    X[:, 77] += 3 * y
    model = BayesLogistic().fit(X, y)
    assert model.scale_.argmax() == 77
    assert model.used_.sum() <= 60
    np.testing.assert_array_equal(model.feature_importances_, model.scale_)


def test_data_without_information_give_the_shares() -> None:
    y = np.array([0] * 7 + [1] * 3)
    for X in (np.zeros((10, 3)), np.ones((10, 30)), sp.csr_array((10, 4)), sp.csr_array(np.ones((10, 4)))):
        model = BayesLogistic().fit(X, y)
        assert not model.used_.any()
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.32, atol=0.02)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_weight_is_so_many_rows(class_weight, form) -> None:
    X, y = problem(40, 50, n_classes=3)
    weight = np.random.default_rng(0).integers(0, 4, 40)
    weighted = BayesLogistic(class_weight=class_weight).fit(form(X), y, sample_weight=weight)
    repeated = BayesLogistic(class_weight=class_weight).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(form(X)), repeated.predict_proba(X), atol=1e-5)


def test_columns_in_other_units_with_another_zero_are_as_relevant() -> None:
    X, y = problem(60, 8)
    model, moved = BayesLogistic().fit(X, y), BayesLogistic().fit(1e-3 * X + 480, y)
    np.testing.assert_allclose(moved.scale_, 1e3 * model.scale_, rtol=1e-3)
    np.testing.assert_allclose(moved.predict_proba(1e-3 * X + 480), model.predict_proba(X), atol=1e-4)


def test_a_prior_on_the_precisions_keeps_all_columns() -> None:
    X, y = problem(60, 8)
    strict, broad = (BayesLogistic(prior_shape=a, prior_precision=5.0).fit(X, y) for a in (1e4, 0.01))
    np.testing.assert_allclose(strict.precisions_, 5.0, rtol=0.01)
    assert broad.used_.all()
    assert broad.scale_.max() > 10 * broad.scale_.min()


def test_the_relevance_ranks_in_a_selector() -> None:
    X, y = problem(120, 30, strength=3.0)
    found = FromModel(BayesLogistic(), 2).fit(X, y)
    assert found.order_[0] == 0
    np.testing.assert_array_equal(found.scores_, BayesLogistic().fit(X, y).scale_)


def test_a_recipe_with_it_is_validated() -> None:
    X, y = problem(90, 12, strength=3.0)
    for text in ("standardize | bayes_logistic", "from_model(bayes_logistic, k=2) | knn(3)"):
        assert tamis.validate(text, X, y, folds=3).summary()["ber"].mean < 0.35
    assert str(tamis.recipe("bayes_logistic(prior_shape=1.0)"))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_the_kernel_equals_numpy(seed, filled) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < filled)
    M = rng.normal(size=(7, 7))
    M = M + M.T
    found = np.empty(5)
    csc_quadratic_forms(*stored_arrays(sp.csc_array(X)), M, found)
    np.testing.assert_allclose(found, np.diagonal(X.T @ M @ X), atol=1e-12)


def test_what_is_not_settled_is_told() -> None:
    X, y = problem(40, 20)
    with pytest.warns(ConvergenceWarning, match="bayes_logistic is not settled after 1 steps; raise 'max_iter'"):
        BayesLogistic(max_iter=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesLogistic().fit(X, y)


def test_bad_input(monkeypatch) -> None:
    X, y = problem()
    bad = {"method": "hmm", "prior_shape": -1.0, "prior_precision": 0.0, "class_weight": "yes", "tol": 0.0}
    for name, value in bad.items():
        with pytest.raises(InvalidParameterError):
            BayesLogistic(**{name: value}).fit(X, y)
    with pytest.raises(TamisError, match="groups takes a label for each of the 5 columns; got an array of shape"):
        BayesLogistic(groups=[1, 2, 3]).fit(X, y)
    with pytest.raises(TamisError, match="no row of class 1 has a sample weight above zero"):
        BayesLogistic().fit(X, y, sample_weight=y == 0)
    with pytest.raises(ValueError, match="NaN"):
        BayesLogistic().fit(np.full((4, 2), np.nan), [0, 1, 0, 1])
    monkeypatch.setattr(bayes_logistic.bayes_logistic, "_MOST", 4)
    with pytest.raises(TamisError, match="takes at most 4 of one of them; got 60 rows and 5 columns that vary"):
        BayesLogistic().fit(X, y)
