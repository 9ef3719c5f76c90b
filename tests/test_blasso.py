"""The boosted lasso against coordinate descent, and what its path must do."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

import tamis
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.classify import BLasso, Logistic
from tamis.compose.model_file import card_of, load_model, save_model
from tamis.compose.rank import rank
from tamis.compose.recipe import parse, recipe, to_text
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.losses import LOSSES, Squared
from tamis.margins.boosted_lasso.penalties import MixedPenalty
from tamis.margins.boosted_lasso.stopping import by_bic
from tamis.regress import BLassoRegressor
from tamis.reproduce.blasso.problem import circles, with_x11


def problem(rows=120, columns=12, seed=0):
    """Correlated columns, standardised, a target of three of them in units of its deviation, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = X[:, :3] @ [1.0, -1.0, 0.5]
    y = signal + rng.normal(size=rows)
    return X, (y - y.mean()) / y.std(), np.where(signal + rng.logistic(size=rows) > 0.3, 1.0, -1.0)


def lasso_gap(path, X, y, least=0.0, ratio=1.0):
    """Largest difference of a weight from the lasso's, at the penalties of the knots."""
    knots = path.knots[path.penalties[path.knots - 1] >= least * path.highest]
    penalties = path.penalties[knots - 1]
    _, exact, _ = enet_path(X, y, l1_ratio=ratio, alphas=penalties, tol=1e-10, max_iter=100_000)
    return np.abs(path.coefs(knots) - exact.T).max()


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_path_is_that_of_the_lasso_and_the_error_shrinks_with_the_step(ratio):
    X, y, _ = problem()
    gaps = [
        lasso_gap(boosted_lasso(X, y, step=step, l1_ratio=ratio, alpha=0.02), X, y, ratio=ratio)
        for step in (0.02, 0.01, 0.005, 0.0025)
    ]
    assert gaps[-1] < 5e-3
    np.testing.assert_array_less(gaps[1:], np.array(gaps[:-1]))
    # Linear: an eighth of the step leaves at most a third of the error.
    assert gaps[-1] < gaps[0] / 3


def test_more_columns_than_rows():
    X, y, _ = problem(40, 200)
    path = boosted_lasso(X, y, step=0.001, alpha=0.2)
    assert lasso_gap(path, X, y) < 1e-2
    assert path.sizes[-1] > 5


def test_forward_stagewise_leaves_the_lasso_on_diabetes_and_the_boosted_lasso_does_not(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    X, y = with_x11(tamis.load("diabetes_lars"))
    both = [boosted_lasso(X, y, step=0.0001, backward=backward, max_steps=100_000) for backward in (True, False)]
    boosted, stagewise = (lasso_gap(path, X, y, least=0.005) for path in both)
    assert boosted < 0.01
    assert stagewise > 0.05
    entered = both[0].entries()[0].tolist()
    assert entered.index(10) == 3
    assert both[0].coef(len(both[0]))[10] == 0.0
    assert both[1].coef(len(both[1]))[10] != 0.0


def test_logistic_loss_against_liblinear():
    X, _, y = problem()
    model = BLasso(alpha=0.1, step=0.005).fit(X, y)
    penalty = model.path_.penalties[model.n_steps_[0] - 1]
    peer = Logistic("l1", C=1 / (len(y) * penalty)).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=0.01)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=0.01)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=0.01)


def test_the_1_norm_svm_enters_the_squares_first():
    """Zhao and Yu, section 7.2."""
    for seed in range(5):
        H, y = circles(np.random.default_rng(seed))
        path = boosted_lasso(H, y, loss="hinge", step=0.02)
        assert set(path.entries()[0][:2]) == {3, 4}


def test_huber_ignores_outliers_that_squares_follow():
    X, y, _ = problem()
    y = y.copy()
    y[:6] += 100 * np.abs(X[:6, 5])
    true = np.linalg.lstsq(X[6:, :3], y[6:], rcond=None)[0]
    robust, plain = (BLassoRegressor(alpha=0.02, loss=loss).fit(X, y).coef_[:3] for loss in ("huber", "squared"))
    assert np.abs(robust - true).max() < 0.15 < np.abs(plain - true).max()


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_gradients_bound_the_loss_and_intercepts_are_optimal(loss):
    _, y, classes = problem()
    share = np.random.default_rng(1).random(len(y))
    share /= share.sum()
    own = LOSSES[loss](classes if loss in ("logistic", "hinge") else y, share)
    rng = np.random.default_rng(2)
    for _ in range(20):
        f, other = rng.normal(size=(2, len(y)))
        intercept, value = own.optimum(f[:, None], 0.0)
        for near in (-1e-3, 1e-3):
            assert share @ own.values((f + intercept + near)[:, None])[:, 0] >= value[0] - 1e-12
        pull = own.pull(f, intercept[0])
        assert abs(pull.sum()) < 1e-12
        # The loss with its best intercept is convex, and the pull is its negative gradient.
        assert own.optimum((f + other)[:, None], 0.0)[1][0] >= value[0] - pull @ other - 1e-12


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_exact_differences_take_the_steps_that_correlations_take(ratio):
    X, y, _ = problem()
    columns = Columns(X, np.full(len(y), 1 / len(y)))
    general = ConvexPath(
        columns, Squared(y, columns.share), penalty=MixedPenalty(ratio), step=0.01, tolerance=1e-6, backward=True,
        max_steps=10_000,
    )  # fmt: skip
    general.advance(floor=0.02 * general.highest)
    quick = boosted_lasso(X, y, step=0.01, l1_ratio=ratio, alpha=0.02)
    np.testing.assert_array_equal(general.path.columns, quick.columns)
    np.testing.assert_allclose(general.path.penalties, quick.penalties)
    np.testing.assert_allclose(general.path.losses, quick.losses)


def test_a_penalty_may_be_any_convex_function():
    X, y, _ = problem()
    given = boosted_lasso(X, y, step=0.01, alpha=0.05, penalty=lambda w: float(np.abs(w).sum()))
    assert lasso_gap(given, X, y) < 0.03
    # The group lasso: the first two columns enter together.
    grouped = boosted_lasso(
        X, y, step=0.01, alpha=0.5, penalty=lambda w: float(np.hypot(w[0], w[1]) + np.abs(w[2:]).sum())
    )
    assert set(grouped.columns[:4]) == {0, 1}


@given(st.integers(0, 1000), st.sampled_from(["squared", "logistic"]), st.booleans())
def test_sparse_columns_give_the_path_of_dense_ones(seed, loss, backward):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 90)) * (rng.random((30, 90)) < 0.3) + 5 * (np.arange(90) == 1)
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    weight = rng.random(30) + 0.1
    given = {"loss": loss, "step": 0.05, "alpha": 0.2, "backward": backward}
    dense, thin = (boosted_lasso(form(X), y, weight, **given) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(dense.columns, thin.columns)
    np.testing.assert_allclose(dense.penalties, thin.penalties)


def test_the_path_keeps_its_books():
    X, y, _ = problem()
    path = boosted_lasso(X, y, step=0.01, alpha=0.01)
    assert (np.diff(path.penalties) <= 0).all()
    done = np.arange(1, len(path) + 1)
    coefs = path.coefs(done)
    np.testing.assert_allclose(path.losses, 0.5 * ((y[:, None] - X @ coefs.T) ** 2).mean(axis=0))
    np.testing.assert_array_equal(path.sizes, (coefs != 0).sum(axis=1))
    np.testing.assert_array_equal(path.backward, np.diff(np.abs(coefs).sum(axis=1), prepend=0.0) < 0)
    np.testing.assert_allclose(path.coef(50), coefs[49])
    assert path.first_of_size(3) == np.flatnonzero(path.sizes >= 3)[0] + 1


def test_one_fit_has_every_size_and_stops():
    X, y, classes = problem()
    for k in (1, 3, 6):
        assert BLassoRegressor(k).fit(X, y).get_support().sum() == k
        assert BLasso(k).fit(X, classes).get_support().sum() == k
    small = BLassoRegressor(alpha=0.5).fit(X, y)
    assert small.path_.penalties[-1] >= 0.5 * small.path_.highest
    by_bic_ = BLassoRegressor().fit(X, y)
    assert by_bic_.n_steps_[0] == by_bic(by_bic_.path_, "squared", len(y))
    assert set(range(3)) <= set(np.flatnonzero(by_bic_.support_)) < set(range(12))
    tried = BLassoRegressor(stop="cv", random_state=0).fit(X, y)
    share = tried.shares_[np.argmin(tried.cv_loss_)]
    assert tried.n_steps_[0] == tried.path_.at_share(share)
    three = BLasso(4).fit(X, np.digitize(y, [-0.5, 0.5]))
    assert three.coef_.shape == (3, 12)
    assert three.get_support().sum() == 4


def test_noise_selects_hardly_anything():
    rng = np.random.default_rng(0)
    sizes = [BLassoRegressor().fit(rng.normal(size=(100, 300)), rng.normal(size=100)).support_.sum() for _ in range(10)]
    assert np.mean(sizes) < 3


def test_what_it_cannot_do_is_said():
    X, y, _ = problem()
    with pytest.raises(TamisError, match="hinge is for classes"):
        BLassoRegressor(loss="hinge").fit(X, y)
    with pytest.raises(TamisError, match="-1 and 1"):
        boosted_lasso(X, y, loss="hinge")
    with pytest.warns(ConvergenceWarning, match="max_steps=5"):
        BLassoRegressor(max_steps=5).fit(X, y)
    constant = BLassoRegressor().fit(np.ones((10, 2)), np.arange(10.0))
    np.testing.assert_allclose(constant.predict(np.ones((1, 2))), 4.5)


def test_a_recipe_selects_with_it_and_ends_in_it():
    X, y, classes = problem()
    for target, task in ((y, "regress"), (classes, "classify")):
        chain = recipe("standardize | blasso(4) | knn(5)", task=task).fit(X, target)
        assert used_features(chain, 12).sum() == 4
        assert to_text(chain) == "standardize | blasso(4) | knn(5)"
        assert recipe("standardize | blasso", task=task).fit(X, target).score(X, target) > 0.5
    with pytest.raises(TamisError, match="only come last"):
        parse("logistic | knn(5)")
    table = rank(X, y + 0.123, by="blasso(3)")
    assert sorted(table["column"][:3]) == [0, 1, 2]
    assert table["selected"].sum() == 3
    voted = recipe("vote(blasso(3), cc(3), at_least=1)", task="regress").fit(X, y)
    assert 3 <= voted.get_support().sum() <= 6


def test_a_saved_model_is_loaded_with_its_path(tmp_path):
    X, y, classes = problem()
    for number, (model, target) in enumerate(((BLassoRegressor(k=3), y), (BLasso(k=2), classes))):
        model.fit(X, target)
        file = tmp_path / f"{number}.tamis"
        save_model(file, model, card_of(model, X, target))
        again, _ = load_model(file)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.path_.columns, model.path_.columns)


def test_commands_take_it_for_numbers(tamis, tmp_path):
    X, y, _ = problem(60, 5)
    file = tmp_path / "numbers.csv"
    rows = "\n".join(",".join(f"{value:.4f}" for value in [*row, number]) for row, number in zip(X, y, strict=True))
    file.write_text(f"a,b,c,d,e,target\n{rows}\n")
    for arguments in (
        ("rank", file, "blasso(2)"),
        ("select", file, "blasso(2) | knn(3)"),
        ("validate", file, "blasso"),
    ):
        code, _, error = tamis(*arguments)
        assert code == 0, error
