"""FR-SVM against the plain machine and an explicit loop over the pairs; elections; elimination; bad input."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import feature_selection
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from tamis.base.classifier import one_vs_one
from tamis.base.errors import TamisError
from tamis.base.shared_fit import Together
from tamis.classify import FRSVM, SVM
from tamis.classify.fr_svm import form, fr_svm
from tamis.classify.fr_svm.pairwise import Machine, PolynomialMachine, elected
from tamis.data import load
from tamis.incremental.elimination import eliminate
from tamis.margins.elimination import ByDistances, ByProducts, Machines


def classes(n_classes, n_rows=160, n_columns=12, seed=0):
    return make_classification(
        n_rows, n_columns, n_informative=6, n_redundant=2, n_classes=n_classes, flip_y=0.05, random_state=seed
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["gaussian", "linear", "polynomial"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_all_components_leave_the_answers_of_the_plain_machine(form, kernel, n_classes):
    X, y = classes(n_classes)
    X = X + 3.0  # the theorem is about rotations; what is shifted back must not matter
    train, test = form(X[:110]), form(X[110:])
    plain = SVM(kernel, 2.0, degree=2, coef0=1.0).fit(train, y[:110])
    found = FRSVM(None, None, kernel=kernel, C=2.0, degree=2, coef0=1.0).fit(train, y[:110])
    np.testing.assert_allclose(found.decision_function(test), plain.decision_function(test), atol=1e-6)
    np.testing.assert_array_equal(found.predict(test), plain.predict(test))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["gaussian", "linear", "polynomial"])
def test_what_lies_outside_the_training_rows_counts_too(form, kernel):
    # Fewer rows than columns, and a column that is constant in training alone.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)) + 0.5, np.arange(60) % 3
    X[:30, 7] = 0.0
    plain = SVM(kernel, sigma=30.0).fit(form(X[:30]), y[:30])
    found = FRSVM(None, None, kernel=kernel, sigma=30.0).fit(form(X[:30]), y[:30])
    assert found.n_components_ == 29
    np.testing.assert_allclose(found.decision_function(form(X[30:])), plain.decision_function(form(X[30:])), atol=1e-6)


def explicit(train, y, test, components, features, step, C, kernel, sigma):
    """Labels by the parts of scikit-learn: PCA, RFE with a linear SVC for every pair, an SVC on what it leaves."""
    Z, T = train, test
    if components != "columns":
        found = PCA(components).fit(train)
        Z, T = found.transform(train), found.transform(test)
    n_classes = int(y.max()) + 1
    if kernel == "poly" and components != "columns":
        # This kernel depends on the origin, and rows are projected about it.
        Z, T = train @ found.components_.T, test @ found.components_.T
    lighter = (Z**2).sum(axis=1).mean() if kernel != "linear" else 1.0
    decisions, chosen = [], []
    for a, b in combinations(range(n_classes), 2):
        rows = (y == a) | (y == b)
        linear = SVC(kernel="linear", C=C / lighter, tol=1e-8)
        rfe = feature_selection.RFE(linear, n_features_to_select=features, step=step).fit(Z[rows], y[rows])
        machine = SVC(C=C, kernel=kernel, gamma=1 / sigma, degree=3, tol=1e-8).fit(Z[rows][:, rfe.support_], y[rows])
        decisions.append(machine.decision_function(T[:, rfe.support_]))
        chosen.append(np.flatnonzero(rfe.support_))
    return np.column_stack(decisions), chosen


@pytest.mark.parametrize(("kernel", "theirs"), [("gaussian", "rbf"), ("linear", "linear"), ("polynomial", "poly")])
@pytest.mark.parametrize(("n_classes", "components"), [(2, 8), (4, 8), (4, "columns")])
def test_equals_an_explicit_loop_over_the_pairs(kernel, theirs, n_classes, components):
    X, y = classes(n_classes, n_rows=200)
    train, test, codes = X[:140], X[140:], y[:140]
    decisions, chosen = explicit(train, codes, test, components, 3, 2, 1.5, theirs, 20.0)
    found = FRSVM(components, 3, step=2, ranking="linear", kernel=kernel, C=1.5, sigma=20.0).fit(train, codes)
    for own, other in zip(found.features_, chosen, strict=True):
        np.testing.assert_array_equal(own, other)
    expected = decisions[:, 0] if n_classes == 2 else one_vs_one(decisions, n_classes)
    np.testing.assert_allclose(found.decision_function(test), expected, atol=1e-5)
    np.testing.assert_array_equal(found.predict(test), found.labels_from(expected))


def test_a_kernel_ranks_columns_by_what_leaving_them_out_changes():
    X, y = classes(2, n_rows=60, n_columns=8)
    sigma = 12.0
    lengths, (pair,) = ByDistances(X, y, np.full(60, 1.5), sigma).weigh()
    machine = SVC(C=1.5, gamma=1 / sigma, tol=1e-9).fit(X, y)
    a = np.zeros(60)
    a[machine.support_] = machine.dual_coef_[0]
    np.testing.assert_allclose(pair.weights, a, atol=1e-5)

    def squared_length(columns):
        gap = X[:, None, columns] - X[None, :, columns]
        return a @ np.exp(-(gap**2).sum(axis=2) / sigma) @ a

    every = np.arange(8)
    changes = [abs(squared_length(every) - squared_length(np.delete(every, place))) for place in every]
    np.testing.assert_allclose(lengths, np.sqrt(changes), atol=1e-4)
    found = eliminate(Machines(ByDistances(X, y, np.full(60, 1.5), sigma), 8), 8, 1, {7}).down_to(7)[1]
    assert set(range(8)) - set(found.columns[:7]) == {int(np.argmin(changes))}


def test_a_polynomial_kernel_ranks_columns_by_what_leaving_them_out_changes():
    X, y = classes(2, n_rows=60, n_columns=8)
    lengths, (pair,) = ByProducts(X, y, np.full(60, 1.5), 12.0, 2, 1.0).weigh()
    a = pair.weights
    machine = SVC(C=1.5, kernel="poly", gamma=1 / 12.0, degree=2, coef0=1.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(a[machine.support_], machine.dual_coef_[0], atol=1e-5)

    def squared_length(columns):
        return a @ (X[:, columns] @ X[:, columns].T / 12.0 + 1.0) ** 2 @ a

    every = np.arange(8)
    changes = [abs(squared_length(every) - squared_length(np.delete(every, place))) for place in every]
    np.testing.assert_allclose(lengths, np.sqrt(changes), atol=1e-6)


@pytest.mark.parametrize("kernel", ["gaussian", "polynomial", "linear"])
@pytest.mark.parametrize(("C", "sigma"), [("auto", "auto"), ("auto", 9.0), (2.0, "auto")])
def test_cost_and_width_are_those_that_a_machine_on_all_columns_selects(kernel, C, sigma):
    X, y = classes(3, n_rows=90)
    found = FRSVM(6, 3, kernel=kernel, C=C, sigma=sigma, degree=2, coef0=1.0, cv=3, random_state=0).fit(X, y)
    given = {} if kernel == "linear" else {"sigma": sigma}
    plain = SVM(kernel, C, degree=2, coef0=1.0, cv=3, random_state=0, **given).fit(X, y)
    assert found.C_ == plain.C_
    chosen = {} if kernel == "linear" else {"sigma": plain.sigma_}
    again = FRSVM(6, 3, kernel=kernel, C=plain.C_, degree=2, coef0=1.0, **chosen).fit(X, y)
    np.testing.assert_array_equal(found.decision_function(X), again.decision_function(X))


def test_a_kernel_sees_what_a_line_does_not():
    # The classes differ by their distance to the centre in columns 0 and 1, which a linear machine has no use for.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 6)) * [1.0, 1.0, 0.4, 0.4, 0.4, 0.4]
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    found = eliminate(Machines(ByDistances(X, y, np.full(200, 10.0), 2.0), 6), 6, 1, {2}).down_to(2)[1]
    assert set(found.columns[:2]) == {0, 1}
    assert FRSVM(None, 2, C=10.0, sigma=2.0).fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.9


@given(
    n_classes=st.integers(2, 7),
    seed=st.integers(0, 10_000),
    strength=st.sampled_from([0.0, 1.0, 5.0]),
    coarse=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_elections_in_few_duels_equal_the_count_of_votes(n_classes, seed, strength, coarse):
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(n_classes), 2))
    ability = strength * rng.normal(size=(30, n_classes))
    noise = rng.normal(size=(30, len(pairs)))
    decisions = np.column_stack([ability[:, b] - ability[:, a] for a, b in pairs]) + noise
    if coarse:
        decisions = np.round(decisions)  # zeros speak for the first class
    asked = np.zeros(decisions.shape, dtype=int)

    def duel(pair, rows):
        asked[rows, pair] += 1
        return decisions[rows, pair]

    found = elected(duel, rng.normal(size=(30, n_classes)), rng.normal(size=(n_classes, n_classes)))
    np.testing.assert_array_equal(found, one_vs_one(decisions, n_classes).argmax(axis=1))
    assert asked.max() == 1


def test_a_good_guess_saves_most_duels():
    n_classes, held = 10, []
    pairs = list(combinations(range(n_classes), 2))
    best = np.arange(100) % n_classes
    favour = np.eye(n_classes)[best]

    def duel(pair, rows):
        held.append(rows.size)
        a, b = pairs[pair]
        return np.where(best[rows] == a, -1.0, np.where(best[rows] == b, 1.0, 0.5))

    np.testing.assert_array_equal(elected(duel, favour, np.eye(n_classes)), best)
    assert sum(held) == 100 * (n_classes - 1)


@pytest.mark.parametrize("block", [1, 9, 100_000])
def test_a_polynomial_machine_decides_by_its_formula(block, monkeypatch):
    rng = np.random.default_rng(0)
    Z, columns, beyond = rng.normal(size=(7, 6)), np.array([1, 2, 5]), rng.random(7)
    machine = PolynomialMachine(columns, rng.normal(size=(4, 3)), rng.normal(size=4), 0.3, 2.0, 3, 0.5)
    monkeypatch.setattr("tamis.classify.fr_svm.pairwise._BLOCK", block)
    for extra in (np.zeros(7), beyond):
        expected = ((Z[:, columns] @ machine.vectors.T + extra[:, None]) / 2.0 + 0.5) ** 3 @ machine.weights + 0.3
        np.testing.assert_allclose(machine.decide(Z, extra), expected, atol=1e-12)


@given(seed=st.integers(0, 1000), n_rows=st.sampled_from([0, 1, 7]), block=st.sampled_from([1, 9, 100_000]))
@settings(max_examples=20, deadline=None)
def test_a_machine_decides_by_its_formula(seed, n_rows, block):
    rng = np.random.default_rng(seed)
    Z, columns, beyond = rng.normal(size=(n_rows, 6)), np.array([1, 2, 5]), rng.random(n_rows)
    machine = Machine(columns, rng.normal(size=(4, 3)), rng.normal(size=4), 0.3, 2.0)
    distances = ((Z[:, None, columns] - machine.vectors) ** 2).sum(axis=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tamis.classify.fr_svm.pairwise._BLOCK", block)
        for extra in (None, beyond):
            far = distances if extra is None else distances + extra[:, None]
            expected = np.exp(-far / 2.0) @ machine.weights + 0.3
            np.testing.assert_allclose(machine.decide(Z, extra), expected, atol=1e-12)


@pytest.mark.parametrize("ranking", ["kernel", "linear"])
def test_digits_are_told_apart_at_a_small_part_of_the_cost(ranking):
    X, y = load_digits(return_X_y=True)
    plain = SVM("gaussian", 5.0).fit(X[:900], y[:900])
    found = FRSVM(25, 16, ranking=ranking, C=5.0).fit(X[:900], y[:900])
    assert found.score(X[900:], y[900:]) > plain.score(X[900:], y[900:]) - 0.015
    assert found.evaluation_cost_ == 64 * 25 + 16 * found.n_support_.sum()
    assert all(len(columns) == 16 for columns in found.features_)
    # One answer, whether all pairs are asked or as few as it takes; one row or many.
    guess = found.predict(X[900:])
    np.testing.assert_array_equal(guess, found.labels_from(found.decision_function(X[900:])))
    np.testing.assert_array_equal(guess[:20], [found.predict(X[[row]])[0] for row in range(900, 920)])


def test_sizes():
    X, y = load_iris(return_X_y=True)
    found = FRSVM().fit(X, y)
    assert (found.n_components_, [len(columns) for columns in found.features_]) == (4, [4, 4, 4])
    assert FRSVM(0.95).fit(X, y).n_components_ == 2
    assert [len(columns) for columns in FRSVM(4, 0.6).fit(X, y).features_] == [3, 3, 3]
    linear = FRSVM(3, 2, kernel="linear").fit(X, y)
    assert ((linear.coef_ != 0).sum(axis=1) == 2).all()
    assert linear.evaluation_cost_ == 4 * 3 + 3 * 2
    constant = FRSVM().fit(np.ones((6, 3)), [0, 0, 0, 1, 1, 1])
    assert np.isfinite(constant.decision_function(np.zeros((2, 3)))).all()


def test_float32_rows_are_summed_in_float64():
    X, y = classes(4)
    X = X.astype(np.float32).astype(np.float64)
    expected = FRSVM(8, 5).fit(X, y).decision_function(X)
    narrow = X.astype(np.float32)
    np.testing.assert_allclose(FRSVM(8, 5).fit(narrow, y).decision_function(narrow), expected, atol=1e-6)


def test_many_rows_of_a_pair_go_through_liblinear(monkeypatch):
    X, y = classes(3, n_rows=240)
    expected = FRSVM(8, 4, ranking="linear").fit(X, y)
    monkeypatch.setattr(form, "_MANY_ROWS", 50)
    found = FRSVM(8, 4, ranking="linear").fit(X, y)
    for own, other in zip(found.features_, expected.features_, strict=True):
        np.testing.assert_array_equal(own, other)
    monkeypatch.setattr(fr_svm, "suits_columns", lambda X: True)
    plain = FRSVM(8, 4, kernel="linear").fit(X, y)
    assert not hasattr(plain, "n_support_")
    assert np.mean(plain.predict(X) == FRSVM(8, 4, kernel="linear").fit(X, y).predict(X)) > 0.97


def test_balance_moves_towards_the_small_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), (np.arange(200) % 10 == 0).astype(int)
    X[y == 1, 0] += 1.5
    plain, balanced = (FRSVM(class_weight=weight).fit(X, y).predict(X).sum() for weight in (None, "balanced"))
    assert balanced > plain


def test_what_does_not_settle_is_told(monkeypatch):
    X, y = classes(2)

    original = fr_svm.gram_path

    def stopped(*args, **kwargs):
        return [[replace(pair, settled=False) for pair in found] for found in original(*args, **kwargs)]

    monkeypatch.setattr(fr_svm, "gram_path", stopped)
    with pytest.warns(ConvergenceWarning, match="classes 0 and 1 is not settled"):
        FRSVM().fit(X, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_components": 0},
        {"n_components": 1.5},
        {"n_features": 0},
        {"step": 0},
        {"C": 0.0},
        {"C": np.inf},
        {"sigma": 0.0},
        {"kernel": "cosine"},
        {"ranking": "random"},
    ],
)
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FRSVM(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_bad_data_is_refused():
    with pytest.raises(ValueError, match="one class"):
        FRSVM().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="NaN"):
        FRSVM().fit([[0.0], [np.nan]], [0, 1])
    assert FRSVM().fit([[0.0], [1.0]], ["a", "b"]).predict([[0.9]]).tolist() == ["b"]


def test_mnist(shared_data, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(shared_data))
    digits = load("mnist")
    X, y = np.asarray(digits.X[:1500]) / 255.0, np.asarray(digits.y[:1500])
    plain = SVM("gaussian", 5.0).fit(X[:1000], y[:1000])
    found = FRSVM(50, 40, C=5.0).fit(X[:1000], y[:1000])
    assert found.score(X[1000:], y[1000:]) > plain.score(X[1000:], y[1000:]) - 0.015
    assert found.evaluation_cost_ < plain.support_vectors_.size / 4


def test_without_a_projection_only_the_columns_chosen_cost_anything():
    X, y = classes(4)
    found = FRSVM("columns", 5).fit(X, y)
    assert not hasattr(found, "components_")
    assert found.n_components_ == X.shape[1]
    assert found.evaluation_cost_ == 5 * found.n_support_.sum()
    plain = SVM("gaussian").fit(X, y)
    np.testing.assert_allclose(
        FRSVM("columns", None).fit(X, y).decision_function(X), plain.decision_function(X), atol=1e-6
    )
    with pytest.raises(TamisError, match='n_components="columns" takes an array'):
        FRSVM("columns", 5).fit(sp.csr_array(X), y)


def test_one_elimination_serves_every_number_of_components():
    X, y = classes(3)
    sizes = (2, 0.5, 9, None)
    together = list(Together([FRSVM(10, one, step=3) for one in sizes], X, y))
    for one, shared in zip(sizes, together, strict=True):
        alone = FRSVM(10, one, step=3).fit(X, y)
        for own, other in zip(shared.features_, alone.features_, strict=True):
            np.testing.assert_array_equal(own, other)
        np.testing.assert_array_equal(shared.decision_function(X), alone.decision_function(X))
    assert [len(one.features_[0]) for one in together] == [2, 5, 9, 10]
