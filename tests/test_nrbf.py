"""Normalised radial basis functions against the printed formula, their limits and a plain search; bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification

from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds, weighted_folds
from tamis.classify import KNN, LVQ, NRBF
from tamis.compose.recipe import recipe, to_text
from tamis.data.synthetic.madelon import madelon
from tamis.reporting.sentence import sentence

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]


def formula(X, Z, y, sigma, weight=None) -> np.ndarray:
    """Eq. 17-18 as printed."""
    gauss = np.exp(-cdist(X, Z, "sqeuclidean") / sigma) * (1.0 if weight is None else weight)
    return np.column_stack([gauss[:, y == c].sum(axis=1) for c in np.unique(y)]) / gauss.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(400, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    X[np.abs(X) < 0.4] = 0.0
    return X[:250], y[:250], X[250:]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sigma", [0.3, 5.0, 100.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_the_printed_formula(form, sigma, n_classes, problem) -> None:
    Z, y, X = problem
    y = np.minimum(y, n_classes - 1)
    found = NRBF(sigma).fit(form(Z), y).predict_proba(form(X))
    np.testing.assert_allclose(found, formula(X, Z, y, sigma), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("form", FORMS)
def test_float32_is_widened(form, problem) -> None:
    Z, X = problem[0].astype(np.float32), problem[2].astype(np.float32)
    expected = formula(X.astype(float), Z.astype(float), problem[1], 2.0)
    np.testing.assert_allclose(NRBF(2.0).fit(form(Z), problem[1]).predict_proba(form(X)), expected, rtol=1e-9)


def test_dense_and_sparse_may_be_mixed(problem) -> None:
    Z, y, X = problem
    for sigma in (2.0, 1e-30):
        expected = NRBF(sigma).fit(Z, y).predict_proba(X)
        for train, test in ((np.asarray, sp.csr_matrix), (sp.csr_matrix, np.asarray), (sp.csr_array, sp.csc_matrix)):
            found = NRBF(sigma).fit(train(Z), y).predict_proba(test(X))
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_long_indices_may_meet_short_ones(problem) -> None:
    Z, y, X = problem
    long = sp.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for sigma in (2.0, 1e-30):
        model = NRBF(sigma).fit(sp.csr_matrix(Z), y)
        np.testing.assert_array_equal(model.predict_proba(long), model.predict_proba(sp.csr_matrix(X)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sigma", [5e-324, 1e-200, 1e-30, 1e-12, 1e-6, 1e-3])
def test_a_tiny_width_is_the_nearest_neighbour(form, sigma) -> None:
    rng = np.random.default_rng(1)
    # The second nearest row is further by 0.3 at least, in squared distance: no share is left to it.
    Z = rng.permutation(40)[:, None] + np.zeros((1, 3))
    X = rng.integers(0, 40, size=(30, 1)) + rng.uniform(-0.45, 0.45, size=(30, 1)) * np.ones((1, 3))
    y = rng.integers(0, 3, 40)
    nearest = y[cdist(X, Z).argmin(axis=1)]
    found = NRBF(sigma).fit(form(Z), y).predict_proba(form(X))
    np.testing.assert_allclose(found, np.eye(3)[nearest], atol=1e-4)


small = st.integers(-3, 3).map(lambda v: v / 10)


@given(st.data(), st.integers(1, 3), st.sampled_from([5e-324, 1e-100, 1e-20]), st.booleans())
def test_with_a_tiny_width_the_nearest_rows_share(data, n_columns, sigma, sparse) -> None:
    Z = data.draw(arrays(np.float64, (data.draw(st.integers(2, 30)), n_columns), elements=small))
    X = data.draw(arrays(np.float64, (4, n_columns), elements=small))
    y = np.arange(Z.shape[0]) % 2
    distances = np.rint(100 * cdist(X, Z, "sqeuclidean"))
    near = distances == distances.min(axis=1, keepdims=True)
    form = sp.csr_matrix if sparse else np.asarray
    found = NRBF(sigma).fit(form(Z), y).predict_proba(form(X))
    np.testing.assert_allclose(found[:, 1], near[:, y == 1].sum(axis=1) / near.sum(axis=1), rtol=1e-9, atol=1e-300)


def test_far_from_all_rows_the_probabilities_are_those_of_the_nearest(problem) -> None:
    Z, y, X = problem
    far = X * np.geomspace(1e2, 1e12, X.shape[0])[:, None]
    for form in FORMS[:2]:
        found = NRBF(1.0).fit(form(Z), y).predict_proba(form(far))
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        # Where distances of 1e24 hold digits enough, the sums relative to the nearest row are those of the formula.
        squares = cdist(far[:40], Z, "sqeuclidean")
        gauss = np.exp(squares.min(axis=1, keepdims=True) - squares)
        expected = np.column_stack([gauss[:, y == c].sum(axis=1) for c in range(3)]) / gauss.sum(axis=1)[:, None]
        np.testing.assert_allclose(found[:40], expected, rtol=1e-5, atol=1e-8)


def test_an_endless_width_gives_the_shares_of_the_classes(problem) -> None:
    Z, y, X = problem
    found = NRBF(1e12).fit(Z, y).predict_proba(X)
    np.testing.assert_allclose(found, np.tile(np.bincount(y) / y.size, (X.shape[0], 1)), rtol=1e-9)


values = st.floats(-10, 10, width=32)
widths = st.floats(0.5, 1e3)


@given(st.data(), widths)
def test_order_place_form_and_scale_change_nothing(data, sigma) -> None:
    n_rows, n_columns = data.draw(st.integers(2, 25)), data.draw(st.integers(1, 5))
    Z = data.draw(arrays(np.float64, (n_rows, n_columns), elements=values))
    X = data.draw(arrays(np.float64, (3, n_columns), elements=values))
    y = np.arange(n_rows) % 2
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows, columns = rng.permutation(n_rows), rng.permutation(n_columns)
    expected = NRBF(sigma).fit(Z, y).predict_proba(X)
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    changed = {
        "rows": (NRBF(sigma).fit(Z[rows], y[rows]), X),
        "columns": (NRBF(sigma).fit(Z[:, columns], y), X[:, columns]),
        "sparse": (NRBF(sigma).fit(sp.csr_matrix(Z), y), sp.csr_matrix(X)),
        "scaled": (NRBF(49 * sigma).fit(7 * Z, y), 7 * X),
        "moved": (NRBF(sigma).fit(Z + 1e5, y), X + 1e5),
    }
    for model, asked in changed.values():
        np.testing.assert_allclose(model.predict_proba(asked), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("sigma", [1e-30, 4.0, "auto"])
def test_weights_count_as_repeated_rows(sigma, problem) -> None:
    Z, y, X = problem
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, y.size)
    order = rng.permutation(weight.sum())
    repeated = NRBF(sigma, random_state=0).fit(np.repeat(Z, weight, axis=0)[order], np.repeat(y, weight)[order])
    weighted = NRBF(sigma, random_state=0).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.sigma_, repeated.sigma_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_weights_of_any_size_are_the_formula(problem) -> None:
    Z, y, X = problem
    weight = np.random.default_rng(3).uniform(0.1, 5.0, y.size)
    for factor in (1.0, 1e-200, 1e200):
        found = NRBF(4.0).fit(Z, y, sample_weight=factor * weight).predict_proba(X)
        np.testing.assert_allclose(found, formula(X, Z, y, 4.0, weight), rtol=1e-9)
        assert np.isfinite(NRBF(random_state=0).fit(Z, y, sample_weight=factor * weight).predict_proba(X)).all()


def plain_search(X, y, parts, sigmas) -> np.ndarray:
    """Accuracy of each width in each fold, by the printed formula."""
    return np.array([[np.mean(formula(X[b], X[a], y[a], s).argmax(axis=1) == y[b]) for s in sigmas] for a, b in parts])


@pytest.mark.parametrize("form", FORMS[:2])
@pytest.mark.parametrize(("seed", "caution"), [(0, 0.0), (1, 0.0), (0, 2.0)])
def test_auto_is_plain_cross_validation(form, seed, caution, problem) -> None:
    X, y, _ = problem
    model = NRBF(cv=5, n_sigmas=12, caution=caution, random_state=seed).fit(form(X), y)
    order = np.argsort(cdist(X, X.mean(axis=0)[None]).ravel())
    # Smaller widths leave the formula as printed at 0/0.
    told = model.sigmas_ > 0.05
    accuracy = plain_search(X[order], y[order], inner_folds(y[order], 5, seed, "sigma"), model.sigmas_[told])
    np.testing.assert_allclose(model.cv_accuracy_[told], accuracy.mean(axis=0), rtol=1e-12)
    worth = accuracy.mean(axis=0) - caution * accuracy.std(axis=0, ddof=1)
    assert model.sigma_ == model.sigmas_[told][worth >= worth.max() - 1e-12].max()
    assert told.sum() >= 9
    again = NRBF(model.sigma_).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(problem[2]), again.predict_proba(problem[2]), rtol=1e-9)


def test_widths_reach_from_the_nearest_row_to_all_rows(problem) -> None:
    X, y, _ = problem
    distances = cdist(X, X, "sqeuclidean")
    first, second = np.sort(distances, axis=1)[:, 1:3].T
    model = NRBF(n_sigmas=7, random_state=0).fit(X, y)
    expected = np.geomspace(np.exp(np.log(second - first).mean()) / 4, distances.mean(), 7)
    np.testing.assert_allclose(model.sigmas_, expected, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS[:2])
def test_the_search_follows_the_scale_and_not_the_order(form, problem) -> None:
    X, y, _ = problem
    model = NRBF(random_state=0).fit(form(X), y)
    rng = np.random.default_rng(4)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    for factor in (1e-60, 8.0, 1e60):
        other = NRBF(random_state=0).fit(form(factor * X[rows][:, columns]), y[rows])
        np.testing.assert_allclose(other.cv_accuracy_, model.cv_accuracy_, rtol=1e-12)
        np.testing.assert_allclose(other.sigma_, factor**2 * model.sigma_, rtol=1e-6)


def test_auto_takes_the_largest_of_equals() -> None:
    X = np.repeat([[0.0], [10.0]], 20, axis=0) + np.arange(40)[:, None] * 1e-3
    model = NRBF(random_state=0).fit(X, np.repeat([0, 1], 20))
    np.testing.assert_array_equal(model.cv_accuracy_, np.ones(25))
    assert model.sigma_ == model.sigmas_.max()


def test_auto_beats_the_nearest_neighbour_and_the_widest_gaussian_on_madelon() -> None:
    made = madelon(900, n_probes=0, seed=3)
    X, y = (made.X - made.X.mean(axis=0)) / made.X.std(axis=0), made.y
    model = NRBF(random_state=0).fit(X[:600], y[:600])
    tried = {sigma: NRBF(sigma).fit(X[:600], y[:600]).score(X[600:], y[600:]) for sigma in model.sigmas_}
    found = model.score(X[600:], y[600:])
    assert found >= max(tried.values()) - 0.02
    assert found > tried[model.sigmas_[-1]] + 0.1
    assert model.sigmas_[0] < model.sigma_ < model.sigmas_[-1]


@pytest.mark.parametrize("form", FORMS[:2])
def test_blocks_and_many_rows_change_little(form, monkeypatch, problem) -> None:
    Z, y, X = problem
    whole = NRBF(random_state=0).fit(form(Z), y)
    expected = whole.predict_proba(form(X))
    monkeypatch.setattr("tamis.classify.nrbf.nrbf.BLOCK", 2_000)
    monkeypatch.setattr("tamis.classify.nrbf.widths.BLOCK", 2_000)
    monkeypatch.setattr("tamis.classify.nrbf.nrbf._CACHED", 700)
    monkeypatch.setattr("tamis.classify.nrbf.widths._WHOLE", 10)
    np.testing.assert_allclose(NRBF(whole.sigma_).fit(form(Z), y).predict_proba(form(X)), expected, rtol=1e-9)
    # The widths now come from 24 of the rows.
    blockwise = NRBF(random_state=0).fit(form(Z), y)
    np.testing.assert_allclose(blockwise.sigmas_, whole.sigmas_, rtol=0.5)
    np.testing.assert_allclose(blockwise.cv_accuracy_, whole.cv_accuracy_, atol=0.06)
    monkeypatch.setattr("tamis.classify.nrbf.widths._EVALUATED", 100)
    some = NRBF(random_state=0).fit(form(Z), y)
    np.testing.assert_allclose(some.cv_accuracy_, whole.cv_accuracy_, atol=0.15)
    np.testing.assert_allclose(some.cv_accuracy_ * 100, np.rint(some.cv_accuracy_ * 100), atol=1e-9)


def test_rows_far_from_the_origin_are_told_apart() -> None:
    rng = np.random.default_rng(5)
    Z, X = rng.normal(size=(60, 3)), rng.normal(size=(10, 3))
    y = (Z[:, 0] > 0).astype(int)
    expected = NRBF(random_state=0).fit(Z, y)
    for form in FORMS[:2]:
        for offset in (1e3, 1e7):
            moved = NRBF(random_state=0).fit(form(Z + offset), y)
            np.testing.assert_allclose(moved.sigmas_, expected.sigmas_, rtol=1e-4)
            fixed = NRBF(0.5).fit(form(Z + offset), y).predict_proba(form(X + offset))
            np.testing.assert_allclose(fixed, formula(X, Z, y, 0.5), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_are_all_the_same(form) -> None:
    model = NRBF(random_state=0).fit(form(np.full((6, 2), 0.1)), [0, 0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.predict_proba(form(np.eye(2))), [[2 / 3, 1 / 3]] * 2)


def test_repeated_entries_of_a_sparse_matrix_are_added_in_a_copy() -> None:
    twice = sp.csr_matrix((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    for sigma in (1.0, 1e-30):
        assert NRBF(sigma).fit(twice, ["a", "b"]).predict(np.array([[0.0, 3.0], [5.0, 0.0]])).tolist() == ["a", "b"]
    assert twice.nnz == 3


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"sigma": 0}, "'sigma'"),
        ({"sigma": -1.0}, "'sigma'"),
        ({"sigma": "x"}, "'sigma'"),
        ({"sigma": np.inf}, "'sigma'"),
        ({"sigma": np.nan}, "'sigma'"),
        ({"cv": 1}, "'cv'"),
        ({"caution": -1}, "'caution'"),
        ({"n_sigmas": 1}, "'n_sigmas'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    with pytest.raises(ValueError, match=match):
        NRBF(**parameters).fit(np.eye(4), [0, 0, 1, 1])


def test_wrong_data() -> None:
    with pytest.raises(TamisError, match="at least 2 classes"):
        NRBF().fit(np.eye(3), [1, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        NRBF().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="infinity"):
        NRBF(1.0).fit([[0.0], [1.0]], [0, 1]).predict([[np.inf]])
    with pytest.raises(TamisError, match="at least two rows"):
        NRBF().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(TamisError, match="class 'b' has a sample weight above zero"):
        NRBF(1.0).fit(np.eye(3), ["a", "a", "b"], sample_weight=[1.0, 1.0, 0.0])


@pytest.mark.parametrize("form", FORMS[:2])
@pytest.mark.parametrize("value", [1e160, 1e200, 1.7e308])
def test_overflow_is_said_in_words(form, value) -> None:
    with pytest.raises(TamisError, match="overflow"):
        NRBF(1.0).fit(form(np.diag([value, -value, 1.0, 1.0])), [0, 1, 1, 0])
    with pytest.raises(TamisError, match="overflow"):
        NRBF(1.0).fit(form(np.eye(4)), [0, 1, 1, 0]).predict(form(np.diag([value, 1.0, 1.0, 1.0])))


@pytest.mark.parametrize("form", FORMS[:2])
def test_large_values_short_of_that_are_right(form) -> None:
    Z = np.diag([1e150, 1e150, 2e150, 3e150])
    for sigma in (1e-300, 1.0, 1e300):
        found = NRBF(sigma).fit(form(Z), [0, 1, 0, 1]).predict_proba(form(Z))
        expected = formula(Z / 1e150, Z / 1e150, np.array([0, 1, 0, 1]), max(sigma / 1e300, 1e-3))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-100)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_prototypes_vote_with_the_weight_of_the_rows_nearest_to_them(form, n_classes, problem) -> None:
    Z, y, X = problem
    y = np.minimum(y, n_classes - 1)
    model = NRBF(5.0, prototypes=LVQ(4, random_state=7), random_state=0).fit(form(Z), y)
    points, classes = (lambda one: (one.prototypes_, one.prototype_classes_))(LVQ(4, random_state=7).fit(form(Z), y))
    nearest = [cdist(Z[[i]], points[classes == c]).argmin() for i, c in enumerate(y)]
    weight = np.concatenate(
        [np.bincount([n for n, own in zip(nearest, y, strict=True) if own == c], minlength=4) for c in np.unique(y)]
    )
    expected = formula(X, points, classes, 5.0, np.maximum(weight, 1.0))
    np.testing.assert_allclose(model.predict_proba(form(X)), expected, rtol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_the_width_for_prototypes_is_chosen_by_prototypes_of_each_fold(form, problem) -> None:
    Z, y, _ = problem
    model = NRBF(prototypes=LVQ(4, random_state=7), n_sigmas=4, cv=3, random_state=0).fit(form(Z), y)
    moved = Z if sp.issparse(form(Z)) else Z - Z.mean(axis=0)
    mean = moved.mean(axis=0)
    key = np.maximum((moved**2).sum(axis=1) - 2 * moved @ mean + mean @ mean, 0.0)
    folds = weighted_folds(key, y, np.ones(y.size), 3, 0, "NRBF")
    expected = []
    for fold in folds:
        train, test = fold.train > 0, fold.test > 0
        one = [NRBF(s, prototypes=LVQ(4, random_state=7)).fit(form(Z[train]), y[train]) for s in model.sigmas_]
        expected.append([(fitted.predict(form(Z[test])) == y[test]).mean() for fitted in one])
    np.testing.assert_allclose(model.cv_accuracy_, np.mean(expected, axis=0))
    assert model.sigma_ in model.sigmas_


def test_prototypes_of_a_class_that_a_fold_lacks() -> None:
    X, y = np.array([[0.0], [0.1], [0.2], [0.3], [5.0]]), np.array([0, 0, 0, 0, 1])
    model = NRBF(prototypes=LVQ(1), cv=4, random_state=0).fit(X, y)
    assert model.predict([[0.0], [5.1]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("model", "fit", "says"),
    [
        (NRBF(prototypes=KNN(1)), {}, "such as lvq"),
        (NRBF(prototypes=LVQ(1)), {"sample_weight": np.arange(1.0, 5.0)}, "no sample weights"),
    ],
)
def test_prototypes_that_cannot_vote_are_refused(model, fit, says) -> None:
    with pytest.raises(TamisError, match=says):
        model.fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1], **fit)


def test_prototypes_in_a_recipe() -> None:
    text = "nrbf(prototypes=lvq(2))"
    assert to_text(recipe(text)) == text
    assert "on the prototypes of the nearest of 2 prototypes of each class" in sentence(text)
