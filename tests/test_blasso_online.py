"""Updates of the boosted lasso for rows that arrive: sums, solutions and objective against those of all rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from tamis.base.errors import TamisError
from tamis.classify import BLasso
from tamis.compose.model_file import card_of, load_model, save_model
from tamis.margins.boosted_lasso import growing
from tamis.margins.boosted_lasso.boosting import start_path
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.growing import GrowingColumns
from tamis.margins.boosted_lasso.losses import LOSSES, Squared
from tamis.margins.boosted_lasso.penalties import MixedPenalty
from tamis.regress import BLassoRegressor

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}


def problem(rows=150, columns=12, seed=0):
    """Correlated columns of several scales and offsets, a third of the cells 0, and a target of the first two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    X = (X + rng.normal(size=columns)) * (rng.random((rows, columns)) < 0.67) * 10.0 ** rng.integers(-2, 3, columns)
    Z = X[:, :2] / X[:, :2].std(axis=0)
    return X, 7.0 + Z @ [1.0, -1.0] + rng.normal(size=rows)


def batches(rows, rng, most=6):
    """The places of rows in batches of any size."""
    cuts = np.sort(rng.choice(np.arange(1, rows), rng.integers(1, most), replace=False))
    return np.split(np.arange(rows), cuts)


def updated(model, X, y, parts, weight=None, **more):
    for part in parts:
        model.partial_fit(X[part], y[part], sample_weight=None if weight is None else weight[part], **more)
        more = {}
    return model


def steps_apart(model, other, X, unit=1.0, step=0.01):
    """The largest difference of a weight for standardised columns, in steps."""
    return np.abs((model.coef_ - other.coef_) * X.std(axis=0)).max() / unit / step


@given(st.integers(0, 10_000), st.sampled_from(sorted(FORMS)), st.sampled_from([0.05, 0.2, 0.6]), st.booleans())
def test_any_batches_lead_to_the_solution_for_all_rows(seed, form, alpha, shuffled):
    """No step at the penalty would help, and `fit` on all rows is at most two steps away."""
    rng = np.random.default_rng(seed)
    X, y = problem(seed=seed)
    order = rng.permutation(len(y)) if shuffled else np.arange(len(y))
    model = updated(BLassoRegressor(alpha=alpha), FORMS[form](X), y, [order[part] for part in batches(len(y), rng)])
    fit = BLassoRegressor(alpha=alpha).fit(X, y)
    assert steps_apart(model, fit, X, y.std()) <= 2.001
    # The conditions of the lasso's solution hold within half a step.
    Z, z = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    highest = np.abs(Z.T @ z).max() / len(y)
    pull = Z.T @ (y - model.predict(X)) / y.std() / len(y)
    active = model.coef_ != 0
    np.testing.assert_array_less(np.abs(pull), alpha * highest + 0.00501)
    np.testing.assert_array_less(alpha * highest - 0.00501, (pull * np.sign(model.coef_))[active])
    np.testing.assert_array_equal(active, model.get_support())
    np.testing.assert_allclose(model.predict(X).mean(), y.mean())


def test_as_the_step_shrinks_the_updates_lead_to_the_lasso():
    X, y = problem()
    Z, z = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    exact = Lasso(0.1 * np.abs(Z.T @ z).max() / len(y), tol=1e-10).fit(Z, z).coef_ * y.std() / X.std(axis=0)
    gaps = []
    for step in (0.02, 0.005, 0.00125):
        model = updated(BLassoRegressor(alpha=0.1, step=step), X, y, np.split(np.arange(150), 3))
        gaps.append(np.abs((model.coef_ - exact) * X.std(axis=0) / y.std()).max())
        assert gaps[-1] < 2 * step
    assert gaps[-1] < gaps[0] / 4


@given(st.integers(0, 10_000), st.sampled_from(sorted(FORMS)), st.booleans())
def test_sums_are_those_of_all_rows(seed, form, forget):
    rng = np.random.default_rng(seed)
    X, y = problem(seed=seed)
    X[:, 4], X[:50, 5] = 3.0, -2.0
    targets = np.column_stack([y, rng.normal(size=len(y))])
    weight = rng.random(len(y)) + 0.1
    grown = GrowingColumns(X.shape[1], 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "_ROOM", 0 if forget else 1 << 28)
        for part in batches(len(y), rng):
            grown.add(FORMS[form](X[part]), targets[part], weight[part])
            grown.gram(rng.choice(X.shape[1], 2, replace=False))
    # With as many rows as here all products take less room than the rows.
    assert grown.keeps_rows != forget
    whole = Columns(FORMS[form](X), weight / weight.sum())
    assert grown.n_rows == len(y)
    np.testing.assert_allclose(grown.total, weight.sum(), rtol=1e-12)
    np.testing.assert_allclose(grown.means, whole.means, rtol=1e-9)
    np.testing.assert_allclose(grown.scales, whole.scales, rtol=1e-9)
    assert grown.scales[4] == 0
    every = np.arange(X.shape[1])
    np.testing.assert_allclose(grown.gram(every), whole.gram(every), rtol=1e-9, atol=1e-9)
    for place in range(2):
        ours, theirs = grown.target(place, 0.0, 1.0), whole.target(targets[:, place])
        np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-9)
        np.testing.assert_allclose(ours.pull, theirs.pull, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-9)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_forgotten_rows_change_nothing(form, monkeypatch):
    X, y = problem()
    parts = np.split(np.arange(150), 5)
    kept = updated(BLassoRegressor(alpha=0.1), FORMS[form](X), y, parts)
    monkeypatch.setattr(growing, "_ROOM", 0)
    forgot = updated(BLassoRegressor(alpha=0.1), FORMS[form](X), y, parts)
    assert kept.rows_.keeps_rows
    assert not forgot.rows_.keeps_rows
    np.testing.assert_allclose(forgot.coef_, kept.coef_)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_every_step_of_an_update_lowers_the_penalised_loss(loss):
    X, y = problem(120, 8)
    labels = (y > 7).astype(int)
    model, before, steps = BLasso(alpha=0.1, loss=loss), np.zeros(8), 0
    for end in range(20, 121, 20):
        model.partial_fit(X[end - 20 : end], labels[end - 20 : end], classes=[0, 1])
        path, rows, scale = model.path_, X[:end], X[:end].std(axis=0)
        own = LOSSES[loss](2.0 * labels[:end] - 1, np.full(end, 1 / end))
        pull = rows.T @ own.pull(np.zeros(end), own.optimum(np.zeros((end, 1)), 0.0)[0][0]) / scale
        penalty = 0.1 * np.abs(pull).max()
        np.testing.assert_allclose(path.penalties, penalty)
        # It begins with the weights that were there, in whole steps of the columns as they are now.
        np.testing.assert_array_equal(path.coef(0), 0.05 * np.rint(before * scale / 0.05))
        weights = path.coefs(np.arange(len(path) + 1))
        values = own.optimum(rows / scale @ weights.T, 0.0)[1] + penalty * np.abs(weights).sum(axis=1)
        assert (np.diff(values) < 0).all()
        before, steps = model.coef_[0].copy(), steps + len(path)
    assert steps > 10


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_exact_differences_take_the_steps_that_sums_take(ratio):
    X, y = problem(100, 90)
    share = np.full(100, 0.01)
    columns = Columns(X, share)
    y = (y - y.mean()) / y.std()
    given = {"step": 0.02, "tolerance": 1e-6, "backward": True, "max_steps": 1000}
    exact = ConvexPath(columns, Squared(y, share), penalty=MixedPenalty(ratio), **given)
    quick = start_path(columns, y, l1_ratio=ratio, step=0.02)
    counts = np.random.default_rng(0).integers(-5, 6, 90)
    for run in (exact, quick):
        run.settle(counts, 0.1 * quick.highest)
    assert len(quick.path) > 100
    np.testing.assert_array_equal(exact.path.columns, quick.path.columns)
    np.testing.assert_allclose(exact.path.losses, quick.path.losses)
    np.testing.assert_allclose(exact.path.coef(len(exact.path)), quick.path.coef(len(quick.path)))
    after = np.abs(quick.path.coefs(np.arange(len(quick.path) + 1))).sum(axis=1)
    np.testing.assert_array_equal(quick.path.backward, np.diff(after) < 0)


@pytest.mark.parametrize("options", [{}, {"k": 3}, {"k": 2, "alpha": 0.05}, {"alpha": 0.1, "backward": False}], ids=str)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_other_ends_than_a_penalty_are_those_of_a_fit(options, loss):
    X, y = problem()
    weight = np.random.default_rng(1).random(150)
    model = updated(BLassoRegressor(loss=loss, **options), X, y, np.split(np.arange(150), 5), weight)
    fit = BLassoRegressor(loss=loss, **options).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, fit.coef_, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, fit.intercept_)
    np.testing.assert_array_equal(model.order_, fit.order_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_classes_may_arrive_one_after_the_other(loss, classes):
    X, y = problem()
    names = np.array(["a", "b", "c"])[:classes]
    labels = names[np.digitize(y, [6.5, 8.0][: classes - 1])]
    parts = np.array_split(np.argsort(labels, kind="stable"), 4)
    model = updated(BLasso(alpha=0.2, loss=loss), X, labels, parts, classes=names)
    fit = BLasso(alpha=0.2, loss=loss).fit(X, labels)
    # The steps of the hinge loss may end elsewhere: it is not differentiable (Zhao and Yu, section 3).
    assert loss == "hinge" or steps_apart(model, fit, X, step=0.05) <= 2.001
    assert model.score(X, labels) > fit.score(X, labels) - 0.05
    if loss == "logistic":
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_one_row_at_a_time_with_weights():
    X, y = problem(40, 5)
    weight = np.random.default_rng(0).integers(1, 3, 40)
    single = updated(BLassoRegressor(alpha=0.1), X, y, np.arange(40)[:, None], weight)
    twice = np.repeat(np.arange(40), weight)
    doubled = updated(BLassoRegressor(alpha=0.1), X[twice], y[twice], np.split(np.arange(twice.size), [7]))
    assert steps_apart(single, doubled, X, y.std()) <= 2.001
    np.testing.assert_allclose(single.rows_.means, doubled.rows_.means)
    np.testing.assert_allclose(single.rows_.total, doubled.rows_.total)
    # After one row, and after rows that all have one target, the mean is predicted.
    one = BLassoRegressor(alpha=0.1).partial_fit(X[:1], [5.0])
    np.testing.assert_array_equal(one.partial_fit(X[1:3], [5.0, 5.0]).predict(X[3:5]), 5.0)
    assert not one.get_support().any()


def test_constant_columns_may_change_later():
    X, y = problem(80, 4)
    X[:40, 0] = 2.0
    model = BLassoRegressor(alpha=0.05).partial_fit(X[:40], y[:40])
    assert model.coef_[0] == 0
    model.partial_fit(X[40:], y[40:])
    assert steps_apart(model, BLassoRegressor(alpha=0.05).fit(X, y), X, y.std()) <= 2.001


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_of_equal_columns_the_first_has_the_weight(loss):
    X, y = problem(120, 6)
    twice = np.column_stack([X, X[:, ::-1]])
    model = BLassoRegressor(alpha=0.1, loss=loss)
    for part, form in zip(np.split(np.arange(120), 4), sorted(FORMS) * 2, strict=True):
        model.partial_fit(FORMS[form](twice[part]), y[part])
    assert not model.get_support()[6:].any()
    single = updated(BLassoRegressor(alpha=0.1, loss=loss), X, y, np.split(np.arange(120), 4))
    np.testing.assert_allclose(model.coef_[:6], single.coef_)


def test_one_column_is_active_even_at_the_highest_penalty():
    X, y = problem()
    model = updated(BLassoRegressor(alpha=1.5), X, y, np.split(np.arange(150), 3))
    assert model.get_support().sum() == BLassoRegressor(alpha=1.5).fit(X, y).get_support().sum() == 1


def test_the_penalty_may_change_between_updates():
    X, y = problem()
    model = BLassoRegressor(alpha=0.5).partial_fit(X[:100], y[:100])
    model.set_params(alpha=0.05, step=0.005).partial_fit(X[100:], y[100:])
    fit = BLassoRegressor(alpha=0.05, step=0.005).fit(X, y)
    assert steps_apart(model, fit, X, y.std(), 0.005) <= 2.001
    model.set_params(k=1, alpha=None).partial_fit(X[:1], y[:1])
    assert model.get_support().sum() == np.count_nonzero(model.scores_) == 1
    model.set_params(k=None, alpha=0.5).partial_fit(X[:1], y[:1])
    assert not hasattr(model, "scores_")


def test_what_does_not_fit_is_refused_and_changes_nothing():
    X, y = problem(30, 3)
    model = BLassoRegressor(alpha=0.1).partial_fit(X, y)
    before = model.coef_.copy()
    for rows, target, message in (
        (X[:, :2], y, "2 features"),
        (X * [1, np.nan, 1], y, "NaN"),
        (X[:5], y, "inconsistent numbers"),
        (X[:0], y[:0], "0 sample"),
        (X, ["one"] * 30, "needs numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, target)
    with pytest.raises(ValueError, match="non-zero"):
        model.partial_fit(X, y, np.zeros(30))
    with pytest.raises(TamisError, match="not kept for the loss huber"):
        model.set_params(loss="huber").partial_fit(X, y)
    assert model.rows_.n_rows == 30
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.warns(UserWarning, match="begins with these rows alone"):
        anew = BLassoRegressor(alpha=0.1).fit(X, y).partial_fit(X[:9], y[:9])
    assert anew.rows_.n_rows == 9
    with pytest.raises(TamisError, match='"cv" needs all rows'):
        BLassoRegressor(stop="cv").partial_fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_steps=2"):
        BLassoRegressor(alpha=0.01, max_steps=2).partial_fit(X, y)
    labels = np.repeat(["a", "b"], 15)
    with pytest.raises(TamisError, match="first call of partial_fit needs all classes"):
        BLasso(alpha=0.1).partial_fit(X, labels)
    labelled = BLasso(alpha=0.1).partial_fit(X, labels, classes=["b", "a"])
    with pytest.raises(TamisError, match="'c' is not one of"):
        labelled.partial_fit(X, np.full(30, "c"))
    with pytest.raises(TamisError, match="classes must stay"):
        labelled.partial_fit(X, labels, classes=["a", "c"])


@pytest.mark.parametrize("form", sorted(FORMS))
def test_a_saved_model_takes_more_rows(form, tmp_path):
    X, y = problem(60, 70)
    for number, (model, target, more) in enumerate(
        (
            (BLassoRegressor(alpha=0.2), y, {}),
            (BLassoRegressor(alpha=0.2, loss="huber"), y, {}),
            (BLasso(alpha=0.2), y > 7, {"classes": [False, True]}),
        )
    ):
        model.partial_fit(FORMS[form](X[:40]), target[:40], **more)
        file = tmp_path / f"{number}.tamis"
        save_model(file, model, card_of(model, X[:40], target[:40]))
        again, _ = load_model(file)
        for one in (model, again):
            one.partial_fit(FORMS[form](X[40:]), target[40:])
        np.testing.assert_array_equal(again.coef_, model.coef_)
