"""Convex networks: the optimum against scipy and scikit-learn, the searches against solving every set, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import tamis
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.classify import ConvexNet
from tamis.classify.convex_net.basis_search import Candidates, Path, floating, forward, plus_minus
from tamis.kernels.convex import coordinate_sweep, line_minima, loss_terms
from tamis.margins.convex import LOSSES, Objective, minimise
from tamis.margins.kernel import kernel_values

# Independent twins: losses and their derivatives by the book, and scipy's minimisers.


def losses(m, loss):
    if loss == "logistic":
        return np.logaddexp(0.0, -m)
    return np.maximum(0.0, 1.0 - m) ** 2 if loss == "squared_hinge" else np.exp(-m)


def slopes(m, loss):
    if loss == "logistic":
        return -1.0 / (1.0 + np.exp(m))
    return -2.0 * np.maximum(0.0, 1.0 - m) if loss == "squared_hinge" else -np.exp(-m)


def matrix_of(objective):
    return np.diag(objective.penalty[0]) if objective.diagonal else objective.penalty


def by_scipy(objective, chosen=None):
    """Coefficients and value of the optimum by L-BFGS-B."""
    chosen = np.arange(objective.n_basis) if chosen is None else np.asarray(chosen)
    values, matrix = objective.values[chosen], matrix_of(objective)[np.ix_(chosen, chosen)]

    def both(a):
        m = a @ values
        value = objective.weight @ losses(m, objective.loss) + a @ matrix @ a
        return value, values @ (objective.weight * slopes(m, objective.loss)) + 2.0 * matrix @ a

    bounds = list(zip(objective.low[chosen], objective.high[chosen], strict=True))
    start = np.clip(np.zeros(chosen.size), objective.low[chosen], objective.high[chosen])
    options = {"maxiter": 50_000, "maxfun": 200_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 40}
    found = minimize(both, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return found.x, found.fun


def rows_of(seed, n=40, columns=4, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    evidence = X[:, 0] * X[:, 1] + 0.5 * X[:, -1] + 0.5 * rng.normal(size=n)
    return X, np.digitize(evidence, np.quantile(evidence, np.arange(1, n_classes) / n_classes))


def objective_of(seed, n=40, loss="logistic", kernel="cosine", low=-np.inf, high=np.inf, full=False, penalty=1.0):
    X, y = rows_of(seed, n)
    signs = np.where(y == 1, 1.0, -1.0)
    values = kernel_values(kernel, X, sigma=4.0, degree=3, coef0=1.0) * signs * signs[:, None]
    rng = np.random.default_rng(seed + 1)
    square = rng.normal(size=(n, n))
    matrix = square @ square.T / n + np.eye(n) if full else rng.uniform(0.5, 2.0, size=(1, n))
    weight = rng.uniform(0.5, 2.0, size=n)
    return Objective(loss, values, weight, penalty * matrix, np.full(n, float(low)), np.full(n, float(high)))


BOXES = [(-np.inf, np.inf), (0.0, np.inf), (-0.05, 0.1), (0.02, 0.3)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("low", "high"), BOXES)
@pytest.mark.parametrize("full", [False, True])
def test_the_optimum_is_scipys(loss, low, high, full):
    objective = objective_of(0, loss=loss, low=low, high=high, full=full)
    found = minimise(objective)
    coef, value = by_scipy(objective)
    assert found.settled
    assert found.rounds < 15
    np.testing.assert_allclose(found.coef, coef, atol=1e-6)
    assert found.value <= value + 1e-9
    np.testing.assert_allclose(found.margins, coef @ objective.values, atol=1e-5)
    assert ((found.coef >= low) & (found.coef <= high)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_on_some_basis_functions_from_any_start(loss):
    objective = objective_of(1, loss=loss, low=-0.2, high=0.2)
    chosen = np.array([7, 3, 22, 11])
    coef, value = by_scipy(objective, chosen)
    start = np.zeros(objective.n_basis)
    start[chosen] = [0.2, -0.1, 0.0, 0.15]
    for given_start in (None, start):
        found = minimise(objective, chosen, given_start)
        np.testing.assert_allclose(found.coef[chosen], coef, atol=1e-6)
        assert found.value == pytest.approx(value, abs=1e-9)
        assert np.flatnonzero(found.coef).size <= 4
    assert start[3] == -0.1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(list(LOSSES)), st.booleans(), st.sampled_from(BOXES), st.floats(1e-3, 1e3))
def test_at_the_optimum_no_coefficient_wants_to_move(seed, loss, full, box, penalty):
    objective = objective_of(seed, 15, loss, "polynomial", *box, full=full, penalty=penalty)
    found = minimise(objective)
    assert found.settled
    first = objective.weight * slopes(found.coef @ objective.values, loss)
    gradient = objective.values @ first + 2.0 * matrix_of(objective) @ found.coef
    slack = 1e-6 * max(1.0, np.abs(objective.values).sum(axis=1).max())
    assert (gradient[found.coef < objective.high] > -slack).all()
    assert (gradient[found.coef > objective.low] < slack).all()


def test_basis_functions_that_repeat_each_other_in_a_box():
    """A matrix that is not positive definite, and more basis functions than it can tell apart."""
    X, y = rows_of(2, 60, 2)
    signs = np.where(y == 1, 1.0, -1.0)
    values = (X @ X.T) * signs * signs[:, None]
    for loss in LOSSES:
        objective = Objective(loss, values, np.ones(60), values, np.zeros(60), np.full(60, 0.05))
        found = minimise(objective)
        assert found.settled
        assert found.value == pytest.approx(by_scipy(objective)[1], rel=1e-7)


# Kernels


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(LOSSES)))
def test_losses_equal_their_twin(seed, loss):
    rng = np.random.default_rng(seed)
    margins = rng.normal(size=(3, 7)) * rng.choice([0.1, 1.0, 30.0])
    weight = rng.uniform(0.0, 2.0, 7)
    value, first, second = np.empty(3), np.empty((3, 7)), np.empty((3, 7))
    loss_terms(margins, weight, LOSSES[loss], value, first, second)
    np.testing.assert_allclose(value, losses(margins, loss) @ weight, rtol=1e-12)
    np.testing.assert_allclose(first, weight * slopes(margins, loss), rtol=1e-9, atol=1e-300)
    step = 1e-6
    bend = (slopes(margins + step, loss) - slopes(margins - step, loss)) / (2 * step)
    away = np.abs(margins - 1.0) > 2 * step
    np.testing.assert_allclose(second[away], (weight * bend)[away], rtol=1e-4, atol=1e-8 + 1e-8 * np.abs(first).max())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(LOSSES)))
def test_minima_along_lines_equal_their_twin(seed, loss):
    rng = np.random.default_rng(seed)
    n, lines = 9, 4
    margins, weight = rng.normal(size=n), rng.uniform(0.1, 2.0, n)
    directions = rng.normal(size=(lines, n)) * rng.choice([0.1, 1.0, 10.0])
    terms = np.stack([rng.normal(size=lines), rng.uniform(0.01, 2.0, lines), -rng.random(lines), rng.random(lines)])
    terms[2:, rng.random(lines) < 0.5] *= np.inf
    first, second = np.empty((1, n)), np.empty((1, n))
    loss_terms(margins[None], weight, LOSSES[loss], np.empty(1), first, second)
    step, value = np.empty(lines), np.empty(lines)
    line_minima(directions, margins, weight, first[0], second[0], LOSSES[loss], terms, 1e-6, step, value)
    for line, (linear, quadratic, low, high) in enumerate(terms.T):

        def along(t, d=directions[line], linear=linear, quadratic=quadratic):
            return weight @ losses(margins + t * d, loss) + linear * t + quadratic * t * t

        # Where a bound of 1 or less is open, the minimum is so near that no loss overflows on the way.
        ends = max(low, -10.0), min(high, 10.0)
        twin = min(minimize_scalar(along, bounds=ends, options={"xatol": 1e-10}).fun, along(ends[0]), along(ends[1]))
        assert low <= step[line] <= high
        assert value[line] == pytest.approx(along(step[line]), rel=1e-10)
        assert value[line] <= twin + 1e-7 * max(1.0, abs(twin))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("full", [False, True])
def test_coordinate_rounds_alone_come_to_the_optimum(loss, full):
    """The rounds of the paper, without the steps of all coefficients together."""
    objective = objective_of(3, 12, loss, "gaussian", -0.1, 0.3, full=full)
    chosen = np.array([1, 2, 5, 7, 8, 11])
    coef, margins = np.zeros(12), np.zeros(12)
    first, second = np.empty((1, 12)), np.empty((1, 12))
    loss_terms(margins[None], objective.weight, objective.kind, np.empty(1), first, second)
    fixed = objective.values, objective.weight, objective.penalty, objective.low, objective.high
    before = np.inf
    for _ in range(200):
        coordinate_sweep(*fixed, chosen, objective.kind, 0.0, coef, margins, first[0], second[0])
        value = objective.weight @ losses(margins, loss) + coef @ matrix_of(objective) @ coef
        assert value <= before + 1e-12
        before = value
    np.testing.assert_allclose(margins, coef @ objective.values, atol=1e-9)
    np.testing.assert_allclose(first[0], objective.weight * slopes(margins, loss), atol=1e-9)
    np.testing.assert_allclose(coef[chosen], by_scipy(objective, chosen)[0], atol=1e-6)
    assert np.flatnonzero(coef).size <= 6


# The searches, against solving every set by scipy


def optimum(objective, chosen, known):
    key = tuple(sorted(chosen))
    if key not in known:
        known[key] = minimise(objective, np.array(key, dtype=np.intp), tol=1e-11).value
    return known[key]


def best_with(objective, chosen, known):
    rest = [j for j in range(objective.n_basis) if j not in chosen]
    return [*chosen, min(rest, key=lambda j: optimum(objective, [*chosen, j], known))]


def best_without(objective, chosen, known):
    gone = min(chosen, key=lambda j: optimum(objective, [i for i in chosen if i != j], known))
    return [i for i in chosen if i != gone]


def plain_sfs(objective, size, known):
    chosen = []
    while len(chosen) < size:
        chosen = best_with(objective, chosen, known)
    return chosen


def plain_pta(objective, size, known, plus=3, minus=1):
    chosen, subset = [], {}
    while len(chosen) < size:
        for step in range(plus + minus):
            chosen = (best_with if step < plus else best_without)(objective, chosen, known)
            if len(chosen) == size:
                subset[optimum(objective, chosen, known)] = chosen
    return subset[min(subset)]


def plain_sffs(objective, size, known):
    """As printed, step by step."""
    sets = {0: []}
    i = 0
    while True:
        sets[i + 1] = best_with(objective, sets[i], known)
        i += 1
        if i == size:
            return sets[i]
        while i > 1:
            fewer = best_without(objective, sets[i], known)
            if not optimum(objective, fewer, known) < optimum(objective, sets[i - 1], known) - 1e-8:
                break
            i -= 1
            sets[i] = fewer


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("search", "plain"), [("sfs", plain_sfs), ("pta", plain_pta), ("sffs", plain_sffs)])
def test_searches_find_what_solving_every_set_finds(loss, search, plain):
    objective = objective_of(13, 24, loss)
    steps = {"sfs": forward, "pta": lambda c: plus_minus(c, 3, 1), "sffs": floating}[search]
    path = Path(steps(Candidates(objective, tol=1e-10, max_iter=100)))
    known = {}
    for size in (2, 5, 8):
        found = path.at(size)
        solved = plain(objective, size, known)
        # Second derivatives of the squared hinge jump, so that its estimates may miss the best set for one close to it.
        assert sorted(found.chosen) == sorted(solved) or loss == "squared_hinge"
        assert found.at.value == pytest.approx(optimum(objective, solved, known), rel=0.01)
        assert found.at.value == pytest.approx(by_scipy(objective, found.chosen)[1], abs=1e-7)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize(("search", "plain"), [("sfs", plain_sfs), ("pta", plain_pta), ("sffs", plain_sffs)])
def test_an_exhaustive_search_finds_what_solving_every_set_finds(loss, search, plain):
    objective = objective_of(4, 24, loss, penalty=0.01)
    steps = {"sfs": forward, "pta": lambda c: plus_minus(c, 3, 1), "sffs": floating}[search]
    path = Path(steps(Candidates(objective, tol=1e-11, max_iter=100, exhaustive=True)))
    known = {}
    for size in (2, 5):
        solved = plain(objective, size, known)
        assert sorted(path.at(size).chosen) == sorted(solved)
        assert path.at(size).at.value == pytest.approx(optimum(objective, solved, known), rel=1e-6)


def test_a_small_penalty_needs_every_candidate_solved():
    objective = objective_of(4, 40, "squared_hinge", penalty=0.01)
    found = [
        Path(forward(Candidates(objective, tol=1e-10, max_iter=100, exhaustive=exhaustive))).at(8).at.value
        for exhaustive in (False, True)
    ]
    known = {}
    assert found[1] == pytest.approx(optimum(objective, plain_sfs(objective, 8, known), known), rel=1e-6)
    assert found[0] > 1.5 * found[1]


def test_the_option_of_the_classifier():
    X, y = rows_of(4)
    options = {"kernel": "gaussian", "penalty": 0.01, "search": "sfs"}
    quick, exhaustive = (ConvexNet(4, exhaustive=one, **options).fit(X, y) for one in (False, True))
    assert exhaustive.path_[0, 0] <= quick.path_[0, 0] + 1e-9
    assert str(tamis.recipe("convex_net(4, exhaustive=true)").exhaustive) == "True"


def test_the_three_searches_differ():
    objective = objective_of(13, 24)
    known = {}
    found = [optimum(objective, plain(objective, 8, known), known) for plain in (plain_sfs, plain_pta, plain_sffs)]
    assert found[0] > found[1] + 0.05 > found[2] + 0.1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(list(LOSSES)), st.booleans(), st.sampled_from(["cosine", "gaussian"]))
def test_what_is_only_tried_is_no_better_than_its_optimum(seed, loss, full, kernel):
    objective = objective_of(seed, 20, loss, kernel, full=full, penalty=0.3)
    candidates = Candidates(objective, tol=1e-10, max_iter=100)
    subset = candidates.empty()
    for _ in range(5):
        subset = candidates.best_addition(subset)
    for tried, of in ((candidates.additions(subset), np.append), (candidates.removals(subset), lambda c, j: c[c != j])):
        exact = np.array([minimise(objective, of(subset.chosen, j)).value for j in tried.columns])
        assert (tried.values >= exact - 1e-8).all()
        if loss != "squared_hinge":
            change = np.abs(exact - subset.at.value)
            assert exact[tried.values.argmin()] <= exact.min() + 0.1 * change.max()
        start = tried.coef(0)
        assert (start[np.setdiff1d(np.arange(20), of(subset.chosen, tried.columns[0]))] == 0).all()


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.1), (-0.02, 0.02), (0.0, np.inf)])
def test_searches_within_a_box(low, high):
    objective = objective_of(6, 24, low=low, high=high)
    path = Path(forward(Candidates(objective, tol=1e-10, max_iter=100)))
    known = {}
    for size in (3, 6):
        found = path.at(size)
        plain = optimum(objective, plain_sfs(objective, size, known), known)
        assert found.at.value == pytest.approx(plain, rel=1e-3)
        assert found.at.value == pytest.approx(by_scipy(objective, found.chosen)[1], abs=1e-7)
        assert ((found.at.coef >= low) & (found.at.coef <= high)).all()


# The classifier


def test_two_classes_equal_scipys_optimum():
    X, y = rows_of(10)
    model = ConvexNet(penalty=0.5).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    K = (X @ X.T / np.linalg.norm(X, axis=1) / np.linalg.norm(X, axis=1)[:, None] + 1.0) ** 3
    free = np.full(40, np.inf)
    coef, value = by_scipy(
        Objective("logistic", K * signs * signs[:, None], np.ones(40), np.full((1, 40), 0.5), -free, free)
    )
    np.testing.assert_allclose(model.decision_function(X), K @ (signs * coef), atol=1e-5)
    np.testing.assert_allclose(model.coef_[0], (signs * coef)[model.support_], atol=1e-6)
    assert model.objective_ == pytest.approx([value])
    assert not hasattr(model, "path_")


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_with_the_kernels_matrix_it_is_a_linear_model(loss, class_weight):
    """a'Aa = |w|^2 for w = sum_j a_j s_j x_j: liblinear minimises the same without a kernel."""
    X, y = rows_of(11, 60, 5)
    y[:15] = 0
    options = {"fit_intercept": False, "C": 1.0 / (2 * 0.25), "tol": 1e-10, "max_iter": 100_000}
    peer = LogisticRegression if loss == "logistic" else LinearSVC
    peer = peer(**options, class_weight=class_weight).fit(X, y)
    model = ConvexNet(kernel="linear", loss=loss, shape="gram", penalty=0.25, class_weight=class_weight).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=2e-4)


def columns_of(X):
    return X.toarray() if sp.issparse(X) else X


def test_a_basis_of_ones_own():
    X, y = rows_of(12, 80, 6)
    peer = LogisticRegression(fit_intercept=False, C=0.5, tol=1e-10, max_iter=10_000).fit(X, y)
    model = ConvexNet(basis=columns_of).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0])
    assert not hasattr(model, "support_vectors_")
    few = ConvexNet(2, basis=columns_of, low=[-1, -1, 0, 0, -1, -1], high=1.0).fit(X, y)
    assert few.coef_.shape == (1, 2)
    assert set(few.chosen_[0]) == set(few.support_)
    np.testing.assert_allclose(few.decision_function(X), X[:, few.support_] @ few.coef_[0])
    matrix = np.diag([1e6, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert abs(ConvexNet(basis=columns_of, shape=matrix).fit(X, y).coef_[0, 0]) < 1e-3
    sparse = ConvexNet(2, basis=columns_of).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, ConvexNet(2, basis=columns_of).fit(X, y).coef_)


@pytest.mark.parametrize("search", ["sfs", "pta", "sffs"])
@pytest.mark.parametrize(("kernel", "columns"), [("linear", 2), ("linear", 5), ("cosine", 2), ("polynomial", 1)])
def test_a_search_among_basis_functions_that_repeat_each_other(search, kernel, columns):
    # A kernel of few dimensions: a few basis functions span all, and the matrix of the penalty is singular.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, columns))
    y = X[:, 0] + 0.5 * rng.normal(size=40) > 0
    whole = ConvexNet(kernel=kernel, shape="gram").fit(X, y)
    few = ConvexNet(24, kernel=kernel, shape="gram", search=search).fit(X, y)
    assert few.objective_[0] == pytest.approx(whole.objective_[0], rel=1e-6)
    assert (np.diff(few.path_[0]) <= 1e-9 * few.path_[0, 0]).all()


def test_nothing_but_zeros():
    model = ConvexNet(2, kernel="linear", shape="gram", search="pta").fit(np.zeros((3, 2)), [0, 1, 2])
    assert model.objective_ == pytest.approx(3 * np.log(2))


@pytest.mark.parametrize("penalty", [1.0, 1e-12, 1e-24])
@pytest.mark.parametrize(("shape", "power"), [("identity", 4), ("gram", 2)])
def test_the_unit_of_small_columns_does_not_hide_them(penalty, shape, power):
    # With the linear kernel coefficients are c^-2 times as large for columns c times as large.
    X, y = rows_of(0)
    tiny = ConvexNet(kernel="linear", penalty=penalty, shape=shape).fit(1e-6 * X, y)
    whole = ConvexNet(kernel="linear", penalty=penalty * 1e6**power, shape=shape).fit(X, y)
    expected = whole.decision_function(X)
    scale = np.abs(expected).max()
    assert scale > 0
    np.testing.assert_allclose(tiny.decision_function(1e-6 * X) / scale, expected / scale, atol=1e-6)


def test_losses_that_overflow_are_gone_back_from_or_refused():
    rng = np.random.default_rng(30)
    X = 1000 * rng.normal(size=(30, 2))
    y, weight = rng.integers(0, 2, 30), rng.choice([1.0, 2.0, 1000.0], 30)
    options = {"kernel": "linear", "loss": "exponential", "penalty": 0.01, "search": "pta", "low": 0.0}
    assert np.isfinite(ConvexNet(0.3, **options).fit(X, y, weight).objective_).all()
    with pytest.raises(TamisError, match="too large to be held; scale the columns, or move 'low'"):
        ConvexNet(kernel="linear", loss="exponential", low=100.0).fit(X, y)
    for bad in ({"penalty": 1e308}, {"shape": 1e308 * np.eye(30)}):
        with pytest.raises(TamisError, match="'penalty' times 'shape' of convex_net"):
            ConvexNet(**bad).fit(X, y)
    with pytest.raises(TamisError, match="weights, reaches inf"):
        ConvexNet().fit(X, y, np.append(np.ones(29), 1e-310))


def test_numbers_of_other_types_ask_for_the_same():
    X, y = rows_of(0)
    nets = [ConvexNet(penalty=1.0), ConvexNet(penalty=1), ConvexNet(5), ConvexNet(np.int64(5))]
    for one, other in zip(nets, Together(nets, X, y), strict=True):
        np.testing.assert_allclose(other.decision_function(X), one.fit(X, y).decision_function(X))


def test_several_classes_are_one_against_all():
    X, y = rows_of(13, 60, n_classes=3)
    model = ConvexNet(6, kernel="gaussian", penalty=0.1).fit(X, y)
    assert model.coef_.shape[0] == len(model.chosen_) == 3
    for c in range(3):
        alone = ConvexNet(6, kernel="gaussian", penalty=0.1).fit(X, y == c)
        np.testing.assert_allclose(model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-7)
        np.testing.assert_array_equal(model.chosen_[c], alone.chosen_[0])
    assert set(model.support_) == set(np.concatenate(model.chosen_))
    assert (model.predict(X) == model.decision_function(X).argmax(axis=1)).all()


@pytest.mark.parametrize("search", ["sfs", "pta", "sffs"])
def test_sparsity_is_a_number_or_a_share(search):
    X, y = rows_of(14, 50)
    few = ConvexNet(10, search=search).fit(X, y)
    np.testing.assert_array_equal(ConvexNet(0.2, search=search).fit(X, y).coef_, few.coef_)
    assert few.support_.size == few.chosen_[0].size == 10
    assert few.path_.shape == (1, 10)
    assert (np.diff(few.path_[0]) < 0).all()
    assert few.path_[0, -1] == few.objective_[0] > ConvexNet().fit(X, y).objective_[0]
    np.testing.assert_array_equal(few.support_vectors_, X[few.support_])
    whole = ConvexNet().fit(X, y)
    for size in (50, 999):
        np.testing.assert_array_equal(ConvexNet(size, search=search).fit(X, y).coef_, whole.coef_)
    assert ConvexNet(1e-9).fit(X, y).support_.size == 1


def test_one_search_answers_for_every_sparsity():
    X, y = rows_of(15, 40, n_classes=3)
    nets = [
        ConvexNet(sparsity, search=search, penalty=penalty)
        for search in ("pta", "sffs")
        for sparsity in (0.2, 3, None)
        for penalty in (1.0, 0.1)
    ]
    for together, alone in zip(Together(nets, X, y), nets, strict=True):
        np.testing.assert_array_equal(together.decision_function(X), alone.fit(X, y).decision_function(X))


def test_equal_rows_count_as_one_with_more_weight():
    """Full nets do not notice: k copies share a coefficient, and k (a/k)^2 = a^2 / k."""
    X, y = rows_of(16, 20)
    times = np.arange(20) % 3 + 1
    again, labels = np.repeat(X, times, axis=0), np.repeat(y, times)
    signs = np.where(labels == 1, 1.0, -1.0)
    K = kernel_values("cosine", again, degree=3, coef0=1.0)
    for low, high in ((-np.inf, np.inf), (0.0, 0.05)):
        ends = np.full(labels.size, low), np.full(labels.size, high)
        values = K * signs * signs[:, None]
        coef, _ = by_scipy(Objective("logistic", values, np.ones(labels.size), np.ones((1, labels.size)), *ends))
        model = ConvexNet(low=low, high=high).fit(again, labels)
        np.testing.assert_allclose(model.decision_function(again), K @ (signs * coef), atol=1e-5)
        weighted = ConvexNet(low=low, high=high).fit(X, y, sample_weight=times)
        np.testing.assert_allclose(weighted.decision_function(X), model.decision_function(X), atol=1e-9)
    mixed = ConvexNet(4).fit(np.vstack([X, X]), np.concatenate([y, 1 - y]))
    assert np.abs(mixed.decision_function(X)).max() < 1e-6


def test_few_basis_functions_keep_the_accuracy():
    """The paper's claim, on rings that no line parts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (np.hypot(*X.T) > 1.2).astype(int)
    train, test = slice(0, 200), slice(200, 300)
    whole = ConvexNet(kernel="gaussian", penalty=0.1).fit(X[train], y[train]).score(X[test], y[test])
    few = ConvexNet(0.05, kernel="gaussian", penalty=0.1).fit(X[train], y[train])
    assert few.support_.size == 10
    assert few.score(X[test], y[test]) > whole - 0.05 > 0.9


def test_recipes_write_it_as_users_do():
    X, y = rows_of(17, 40)
    model = tamis.recipe("standardize | convex_net(0.2, kernel=gaussian, search=pta, loss=squared_hinge, low=0.0)")
    assert model.fit(X, y)[-1].support_.size <= 8


# Bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sparsity": 0}, "'sparsity'"),
        ({"sparsity": 1.5}, "'sparsity'"),
        ({"penalty": 0.0}, "'penalty'"),
        ({"loss": "hinge"}, "'loss'"),
        ({"low": 1.0, "high": 0.5}, "'low' of convex_net must not lie above 'high'"),
        ({"low": np.inf}, "must not lie above"),
        ({"low": [0.0, 1.0]}, "'low' of convex_net takes a number or 40 numbers"),
        ({"sparsity": 3, "low": 0.5, "high": 1.0}, "must enclose 0"),
        ({"sparsity": 3, "search": "pta", "plus": 1}, "'plus' of convex_net must be larger than 'minus'"),
        ({"shape": np.eye(3)}, "each of 40 basis functions; got shape \\(3, 3\\)"),
        ({"shape": np.tri(40)}, "symmetric"),
        ({"shape": -np.eye(40)}, "eigenvalues below zero"),
        ({"shape": "gram", "kernel": "sigmoid"}, "positive definite"),
        ({"shape": "gram", "coef0": -1.0}, "positive definite"),
        ({"shape": "gram", "basis": columns_of}, "takes the basis functions of a kernel"),
        ({"basis": lambda X: X[:5]}, "returned shape \\(5, 4\\) for 40 rows"),
        ({"basis": lambda X: X[:, 0]}, "returned shape \\(40,\\)"),
        ({"basis": lambda X: X * np.nan}, "not finite"),
        ({"basis": sp.csr_array}, "sparse"),
        ({"kernel": "polynomial", "degree": 2000}, "overflows"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ConvexNet(**options).fit(*rows_of(20))


def test_other_bad_input():
    X, y = rows_of(21)
    with pytest.raises(TamisError, match="one class"):
        ConvexNet().fit(X, np.zeros(40))
    with pytest.raises(TamisError, match="no row of class 1 has a sample weight above zero"):
        ConvexNet().fit(X, y, sample_weight=1.0 - y)
    widths = iter([X, X[:, :2]])
    with pytest.raises(TamisError, match="returned 2 columns; in the fit it returned 4"):
        ConvexNet(basis=lambda rows: next(widths)).fit(X, y).predict(X)
    with pytest.raises(TamisError, match="'low' of convex_net must not hold NaN"):
        ConvexNet(low=np.full(40, np.nan)).fit(X, y)
    with pytest.raises(TamisError, match=r"reach \S+; scale the columns first"):
        ConvexNet(kernel="linear").fit(1e60 * X, y)
    with pytest.warns(ConvergenceWarning, match="not settled to tol=1e-09"):
        ConvexNet(max_iter=1, penalty=1e-6).fit(X, y)


def test_data_with_little_in_it():
    X = np.zeros((4, 1))
    y = [0, 1, 0, 1]
    assert np.isfinite(ConvexNet().fit(X, y).decision_function(X)).all()
    assert ConvexNet(1, kernel="linear").fit(X, y).predict(X).tolist() == [0] * 4
    one = ConvexNet(1, kernel="gaussian").fit([[0.0], [5.0]], ["a", "b"])
    assert one.predict([[0.0], [5.0]]).tolist() in (["a", "b"], ["a", "a"], ["b", "b"])
    held = ConvexNet(low=0.0, high=0.0).fit(*rows_of(22))
    assert held.support_.size == 0
    assert (held.decision_function(rows_of(22)[0]) == 0).all()
