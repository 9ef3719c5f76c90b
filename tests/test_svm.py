"""The SVM against scikit-learn's, quadratic programming and closed forms; its limits; bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_blobs, make_classification
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from tamis.base.classifier import one_vs_one
from tamis.base.errors import TamisError
from tamis.base.shared_fit import fit_together
from tamis.classify import SVM
from tamis.classify.svm.svm import NotSettled
from tamis.margins.kernel import kernel_values
from tamis.scores import fisher

FORMS = [np.asarray, sp.csr_matrix, sp.csr_array]
S = 4.0
KERNELS = {
    "linear": ({}, {"kernel": "linear"}),
    "gaussian": ({"sigma": S}, {"kernel": "rbf", "gamma": 1 / S}),
    "exponential": ({"sigma": S}, {"kernel": lambda A, B: kernel_values("exponential", A, B, sigma=S)}),
    "polynomial": (
        {"sigma": S, "degree": 2, "coef0": 1.0},
        {"kernel": "poly", "gamma": 1 / S, "degree": 2, "coef0": 1.0},
    ),
    "cosine": (
        {"degree": 2, "coef0": 1.0},
        {"kernel": lambda A, B: kernel_values("cosine", A, B, degree=2, coef0=1)},
    ),
    "sigmoid": ({"sigma": 50.0, "coef0": 0.2}, {"kernel": "sigmoid", "gamma": 1 / 50, "coef0": 0.2}),
}


def two_classes(n_rows=120, n_columns=8, seed=0):
    return make_classification(
        n_rows, n_columns, n_informative=4, n_redundant=0, flip_y=0.1, weights=[0.7], random_state=seed
    )


def three_classes(seed=0):
    return make_classification(150, 8, n_informative=5, n_classes=3, weights=[0.5, 0.3], flip_y=0.1, random_state=seed)


def four_classes(seed=0):
    return make_classification(
        160, 8, n_informative=5, n_classes=4, weights=[0.4, 0.3, 0.2], flip_y=0.1, random_state=seed
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", sorted(KERNELS))
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_two_classes_equal_scikit_learn(name, C, form) -> None:
    X, y = two_classes()
    ours, theirs = KERNELS[name]
    expected = SVC(C=C, tol=1e-6, **theirs).fit(X[:80], y[:80]).decision_function(X)
    model = SVM(name, C, **ours).fit(form(X[:80]), y[:80])
    found = model.decision_function(form(X))
    assert found.shape == (120,)
    np.testing.assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("name", ["linear", "gaussian"])
def test_many_classes_vote_like_scikit_learn(name, class_weight) -> None:
    X, y = three_classes()
    names = np.array(["c", "a", "b"])[y]
    ours, theirs = KERNELS[name]
    oracle = SVC(tol=1e-6, break_ties=True, class_weight=class_weight, **theirs).fit(X[:100], names[:100])
    model = SVM(name, class_weight=class_weight, **ours).fit(X[:100], names[:100])
    np.testing.assert_allclose(model.decision_function(X), oracle.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X))


@pytest.mark.parametrize("name", ["linear", "gaussian"])
def test_weights_and_balance_multiply_the_cost(name) -> None:
    X, y = two_classes()
    ours, theirs = KERNELS[name]
    weight = np.random.default_rng(0).uniform(0.1, 3.0, 120)
    share = np.bincount(y, weights=weight) / weight.sum()
    cost = weight / (2 * share[y])
    expected = SVC(tol=1e-6, **theirs).fit(X, y, sample_weight=cost).decision_function(X)
    found = SVM(name, class_weight="balanced", **ours).fit(X, y, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("ridge", [0.3, 1.0])
def test_ridge_is_added_to_the_diagonal(ridge, C) -> None:
    X, y = two_classes()
    gram = X @ X.T
    share = np.bincount(y) / y.size
    padded = gram + np.diag(ridge * share[y])
    oracle = SVC(kernel="precomputed", tol=1e-6, C=min(C, 1e6)).fit(padded, y)
    expected = gram[:, oracle.support_] @ oracle.dual_coef_[0] + oracle.intercept_
    model = SVM(C=C, ridge=ridge).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["gaussian", "exponential", "polynomial"])
@pytest.mark.parametrize("form", FORMS)
def test_width_is_scikit_learns_scale(name, form) -> None:
    X, y = two_classes()
    model = SVM(name).fit(form(X), y)
    squared = model.sigma_**2 if name == "exponential" else model.sigma_
    assert squared == pytest.approx(8 * X.var(), rel=1e-12)
    assert SVM(name).fit(form(np.ones((4, 2))), [0, 1, 0, 1]).sigma_ == 1.0


def test_hard_margin_in_closed_form() -> None:
    two = SVM(C=np.inf).fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    np.testing.assert_allclose(two.coef_, [[0.24, 0.32]], rtol=1e-9)
    np.testing.assert_allclose(two.intercept_, [-1.0], rtol=1e-9)
    # The fourth row lies behind the third and bears no weight.
    four = SVM(C=np.inf).fit([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0], [9.0, 1.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(four.coef_, [[0.5, 0.0]], atol=1e-9)
    assert four.support_.tolist() == [0, 1, 2]


def hard_margin_by_programming(X, y):
    """The weights of the widest margin, from its definition."""
    s = np.where(y == y.max(), 1.0, -1.0)
    found = minimize(
        lambda v: v[:-1] @ v[:-1] / 2,
        np.zeros(X.shape[1] + 1),
        jac=lambda v: np.append(v[:-1], 0.0),
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda v: s * (X @ v[:-1] + v[-1]) - 1,
            "jac": lambda v: s[:, None] * np.column_stack((X, np.ones(len(s)))),
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    return found.x[:-1], found.x[-1]


@pytest.mark.parametrize("seed", range(4))
def test_hard_margin_equals_quadratic_programming(seed) -> None:
    X, y = make_blobs(30, 3, centers=[[0, 0, 0], [6, 2, 1]], random_state=seed)
    weights, intercept = hard_margin_by_programming(X, y)
    model = SVM(C=np.inf).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], weights, atol=1e-6)
    np.testing.assert_allclose(model.intercept_[0], intercept, atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", ["linear", "gaussian", "exponential"])
def test_hard_margin_leaves_every_row_outside(name, form) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), rng.integers(0, 3, 60)
    model = SVM(name, np.inf).fit(form(X), y)
    codes = model.classes_.searchsorted(y)
    for pair, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.flatnonzero((codes == a) | (codes == b))
        gram = kernel_values(name, X, sigma=getattr(model, "sigma_", 1.0))
        output = gram[:, model.support_] @ model.dual_coef_[:, pair] + model.intercept_[pair]
        assert (np.where(codes == b, output, -output)[rows]).min() > 1 - 1e-8


@pytest.mark.parametrize(("shift", "size"), [(0.0, 1e-6), (1e4, 1.0), (-1e3, 1e5)])
def test_hard_margin_is_free_of_place_and_size(shift, size) -> None:
    X, y = make_blobs(40, 5, centers=2, random_state=1)
    expected = SVM(C=np.inf).fit(X, y).decision_function(X)
    moved = shift * size + X * size
    np.testing.assert_allclose(SVM(C=np.inf).fit(moved, y).decision_function(moved), expected, atol=1e-6)


def test_hard_margin_between_classes_that_overlap_ends_with_a_warning() -> None:
    X, y = two_classes(60, 4)
    with pytest.warns(NotSettled, match="no hard margin found between classes 0 and 1"):
        model = SVM(C=np.inf, max_iter=20_000).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_hard_margin_between_equal_rows_ends_with_a_warning() -> None:
    with pytest.warns(NotSettled, match="they overlap"):
        model = SVM(C=np.inf).fit([[1.0], [1.0], [1.0]], ["x", "y", "y"])
    assert np.isfinite(model.decision_function([[1.0]])).all()


def test_the_order_of_rows_does_not_matter() -> None:
    X, y = three_classes()
    order = np.random.default_rng(0).permutation(y.size)
    for name in ("linear", "gaussian"):
        one, other = (SVM(name).fit(X[i], y[i]).decision_function(X) for i in (np.arange(y.size), order))
        np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize("name", ["linear", "gaussian", "exponential"])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"ridge": 1.0}, {"C": np.inf, "ridge": 0.5}])
def test_weights_count_rows_and_zero_is_absent(name, options) -> None:
    X, y = three_classes()
    weight = np.random.default_rng(1).integers(0, 4, y.size)
    counted = SVM(name, **options).fit(X, y, sample_weight=weight)
    repeated = SVM(name, **options).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(counted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    assert (weight[counted.support_] > 0).all()


def test_a_class_without_weight_is_refused() -> None:
    with pytest.raises(TamisError, match=r"no row of class 'b' has a sample weight above zero"):
        SVM().fit(np.eye(3), ["a", "b", "c"], sample_weight=[1.0, 0.0, 1.0])


def test_auto_takes_liblinear_for_many_light_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4100, 3))
    y = (X[:, 0] > 0).astype(int)
    light = SVM(C=0.1).fit(X, y)
    assert not hasattr(light, "support_")
    assert light.score(X, y) > 0.98
    wide = sp.random(4100, 6000, 0.001, format="csr", random_state=0)
    assert not hasattr(SVM(C=0.1).fit(wide, y), "support_")
    assert hasattr(SVM(C=0.1).fit(X[:500], y[:500]), "support_")


@pytest.mark.parametrize("options", [{"kernel": "gaussian"}, {"C": np.inf}, {"ridge": 1.0}])
def test_liblinear_has_its_limits(options) -> None:
    with pytest.raises(TamisError, match='solver="liblinear" takes the linear kernel, a finite C and no ridge'):
        SVM(solver="liblinear", **options).fit(np.eye(2), [0, 1])


def test_a_solver_stopped_short_says_so() -> None:
    X, y = two_classes()
    with pytest.warns(NotSettled, match="not settled to tol"):
        SVM(solver="liblinear", max_iter=1).fit(X, y)
    # The sigmoid kernel is not positive definite, so that refining does not make up for libsvm's missing steps.
    with pytest.warns(NotSettled, match="between classes 0 and 1"):
        SVM("sigmoid", 100.0, sigma=1.0, coef0=-1.0, max_iter=1).fit(X, y)


def test_columns_are_never_multiplied_out_for_wide_rows() -> None:
    X = sp.random(40, 100_000, 0.001, format="csr", random_state=0, dtype=np.float32)
    y = np.arange(40) % 2
    model = SVM(C=np.inf).fit(X, y)
    assert model.coef_.shape == (1, 100_000)
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() > 1 - 1e-6
    dense = SVM(C=np.inf).fit(X[:, :5000].toarray(), y)
    np.testing.assert_allclose(SVM(C=np.inf).fit(X[:, :5000], y).coef_, dense.coef_, atol=1e-7)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_dense_and_sparse_may_be_mixed(name) -> None:
    X, y = three_classes()
    expected = SVM(name).fit(X, y).decision_function(X)
    np.testing.assert_allclose(SVM(name).fit(sp.csr_matrix(X), y).decision_function(X), expected, atol=1e-6)
    np.testing.assert_allclose(SVM(name).fit(X, y).decision_function(sp.csc_matrix(X)), expected, atol=1e-6)


def test_predicting_in_blocks_changes_nothing(monkeypatch) -> None:
    X, y = three_classes()
    model = SVM("gaussian").fit(X, y)
    expected = model.decision_function(X)
    monkeypatch.setattr("tamis.classify.svm.predictions._BLOCK", 1000)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)


def test_votes_of_pairs() -> None:
    X, y = three_classes()
    model = SVM().fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X), one_vs_one(X @ model.coef_.T + model.intercept_, 3), rtol=1e-12
    )
    assert model.n_iter_.shape == (3,)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_one_against_the_rest_is_a_fit_for_each_class(kernel, class_weight) -> None:
    X, y = four_classes()
    model = SVM(kernel, 2.0, sigma=S, multiclass="ovr", class_weight=class_weight).fit(X, np.array(list("dbca"))[y])
    weight = (y.size / (4 * np.bincount(y)))[y] if class_weight else np.ones(y.size)
    each = [SVM(kernel, 2.0, sigma=S).fit(X, y == c, sample_weight=weight) for c in (3, 1, 2, 0)]
    expected = np.column_stack([one.decision_function(X) for one in each])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)
    decided = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), np.array(list("abcd"))[decided.argmax(axis=1)])
    assert model.intercept_.shape == model.n_iter_.shape == (4,)
    assert model.dual_coef_.shape == (model.support_.size, 4)


def test_one_against_the_rest_equals_scikit_learn() -> None:
    X, y = four_classes()
    peer = OneVsRestClassifier(SVC(gamma=1 / S, tol=1e-6)).fit(X, y)
    found = SVM("gaussian", sigma=S, multiclass="ovr").fit(X, y).decision_function(X)
    np.testing.assert_allclose(found, peer.decision_function(X), atol=1e-4)


def test_one_against_the_rest_on_the_columns() -> None:
    X, y = four_classes()
    columns = SVM(multiclass="ovr", solver="liblinear").fit(sp.csr_array(X), y)
    gram = SVM(multiclass="ovr", solver="gram").fit(X, y)
    assert columns.coef_.shape == (4, 8)
    assert np.mean(columns.predict(X) == gram.predict(X)) > 0.95
    np.testing.assert_allclose(columns.coef_, gram.coef_, atol=0.02 * np.abs(gram.coef_).max())


def test_two_classes_are_one_problem_either_way() -> None:
    X, y = two_classes()
    pair, rest = SVM().fit(X, y), SVM(multiclass="ovr").fit(X, y)
    np.testing.assert_array_equal(rest.coef_, pair.coef_)
    assert rest.decision_function(X).shape == (120,)


@pytest.mark.parametrize("solver", ["gram", "liblinear"])
def test_one_against_the_rest_chooses_its_own_cost(solver) -> None:
    X, y = four_classes()
    options = {"C": "auto", "solver": solver, "cv": 3, "random_state": 0}
    rest, pairs = SVM(multiclass="ovr", **options).fit(X, y), SVM(**options).fit(X, y)
    assert rest.cv_accuracy_.max() > 0.5
    assert (rest.cv_accuracy_ != pairs.cv_accuracy_).any()
    alone = SVM(C=rest.C_, solver=solver, multiclass="ovr").fit(X, y)
    np.testing.assert_allclose(alone.decision_function(X), rest.decision_function(X), atol=1e-8)


def test_machines_fitted_together_may_differ_in_how_they_tell_classes_apart() -> None:
    X, y = four_classes()
    models = [SVM(kernel, multiclass=how) for kernel in ("linear", "gaussian") for how in ("ovo", "ovr")]
    together = fit_together(models, X, y)
    fitted = [together.fitted(place) for place in range(4)]
    for model, decided in zip(models, SVM._decide_all(fitted, X), strict=True):
        np.testing.assert_allclose(decided, model.fit(X, y).decision_function(X), atol=1e-8)


def test_a_class_that_is_not_settled_against_the_rest_is_named() -> None:
    # On a line the class in the middle overlaps the rest, the others do not.
    X, y = np.arange(9.0)[:, None], np.repeat(["a", "b", "c"], 3)
    with pytest.warns(NotSettled, match="no hard margin found between class 'b' and the rest: they overlap"):
        SVM(C=np.inf, multiclass="ovr").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVM(C=np.inf).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"kernel": "rbf"}, "'kernel'"),
        ({"C": 0.0}, "'C'"),
        ({"multiclass": "crammer_singer"}, "'multiclass'"),
        ({"C": -1.0}, "'C'"),
        ({"C": np.nan}, "'C'"),
        ({"sigma": "auto"}, "'sigma'"),
        ({"sigma": 0.0}, "'sigma'"),
        ({"degree": 0}, "'degree'"),
        ({"ridge": -1.0}, "'ridge'"),
        ({"solver": "smo"}, "'solver'"),
        ({"max_iter": 0}, "'max_iter'"),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    with pytest.raises(ValueError, match=match):
        SVM(**parameters).fit(np.eye(2), [0, 1])


def test_rows_that_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVM().fit(np.ones((6, 1)), [0, 0, 0, 0, 1, 1])
    assert model.predict([[1.0], [5.0]]).tolist() == [0, 0]


def ber(truth, guess) -> float:
    return float(np.mean([np.mean(guess[truth == label] != label) for label in np.unique(truth)]))


def test_arcene_as_published(shared_data) -> None:
    """Lal, Chapelle and Schoelkopf's model on the official split: 19.9 % balanced error."""
    with np.load(shared_data / "arcene" / "arcene.npz") as data:
        X, y, X_valid, y_valid = (data[k].astype(float) for k in ("X_train", "y_train", "X_valid", "y_valid"))
    norm = np.sqrt((X**2).sum(axis=1).mean())
    kept = np.argsort(-fisher(X, y), kind="stable")[:4700]
    model = SVM(C=np.inf).fit(X[:, kept] / norm, y)
    assert ber(y_valid, model.predict(X_valid[:, kept] / norm)) == pytest.approx(0.199, abs=0.005)
    assert (y * model.decision_function(X[:, kept] / norm)).min() > 1 - 1e-6


def test_dexter_hard_margin(shared_data) -> None:
    with np.load(shared_data / "dexter" / "dexter.npz") as data:
        X, X_valid = (
            sp.csr_matrix(
                (data[f"{p}_data"].astype(float), data[f"{p}_indices"], data[f"{p}_indptr"]), shape=data[f"{p}_shape"]
            )
            for p in ("train", "valid")
        )
        y, y_valid = data["y_train"], data["y_valid"]
    norm = np.sqrt(X.multiply(X).sum(axis=1).mean())
    model = SVM(C=np.inf).fit(X / norm, y)
    assert (y * model.decision_function(X / norm)).min() > 1 - 1e-6
    assert ber(y_valid, model.predict(X_valid / norm)) < 0.09


def test_a_second_fit_leaves_nothing_of_the_first() -> None:
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), [0, 0, 1, 1]
    model = SVM("linear").fit(X, y)
    assert model.coef_.shape == (1, 1)
    model.set_params(kernel="gaussian").fit(X, y)
    assert not hasattr(model, "coef_")
    assert model.predict(X).tolist() == y
