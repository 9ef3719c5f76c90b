"""The SVM that chooses kernel, width and cost, against an explicit search with scikit-learn's; its invariances."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_circles, make_classification
from sklearn.metrics import balanced_accuracy_score, pairwise_distances
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

import tamis
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.classify import SVM
from tamis.classify.svm import cost_path as margin_path
from tamis.classify.svm.cost_path import COSTS
from tamis.classify.svm.svm import NotSettled
from tamis.compose.recipe import to_text
from tamis.margins import kernel_width
from tamis.margins import pairs as margin_pairs
from tamis.margins.kernel_width import MULTIPLES, class_distance
from tamis.margins.solve import solve_gram
from tamis.testing import checks


def planted(n_classes=2, n_rows=90, seed=0):
    weights = [0.5, 0.25, 0.25] if n_classes == 3 else [0.6, 0.4]
    return make_classification(
        n_rows, 6, n_informative=4, n_redundant=0, n_classes=n_classes, weights=weights, flip_y=0.1, random_state=seed
    )


def rings(n_rows=120, seed=0):
    return make_circles(n_rows, noise=0.08, factor=0.4, random_state=seed)


def centred_spread(gram, ridge):
    return KernelCenterer().fit_transform(gram.copy()).diagonal().mean() + ridge.mean()


def searched(X, y, grams, costs, *, folds, seed, class_weight=None, ridge=0.0):
    """Mean accuracy over the folds for every gram and cost, by scikit-learn on one training part after the other."""
    order = np.argsort((X**2).sum(axis=1))
    found = []
    for gram in grams:
        spread = centred_spread(gram, ridge * np.bincount(y)[y] / y.size)
        for C in costs / spread:
            accuracy = []
            for train, test in inner_folds(y[order], folds, seed, "test"):
                train, test = order[train], order[test]
                share = np.bincount(y[train])[y[train]] / train.size
                model = SVC(C=C, kernel="precomputed", tol=1e-6, break_ties=True, class_weight=class_weight)
                model.fit(gram[np.ix_(train, train)] + np.diag(ridge * share), y[train])
                guess = model.predict(gram[np.ix_(test, train)])
                accuracy.append(balanced_accuracy_score(y[test], guess) if class_weight else np.mean(guess == y[test]))
            found.append((C, np.mean(accuracy)))
    return found


@pytest.fixture
def few_costs(monkeypatch):
    """Costs at which scikit-learn alone comes to the optimum, and the optimum is a single one."""
    costs = np.geomspace(0.3, 30.0, 4)
    monkeypatch.setattr(margin_path, "COSTS", costs)
    return costs


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"ridge": 1.0}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_cost_equals_an_explicit_search(n_classes, options, few_costs) -> None:
    X, y = planted(n_classes)
    expected = searched(X, y, [X @ X.T], few_costs, folds=4, seed=3, **options)
    model = SVM(C="auto", cv=4, random_state=3, **options).fit(X, y)
    np.testing.assert_allclose([c.C for c in model.candidates_], [C for C, _ in expected], rtol=1e-9)
    np.testing.assert_allclose(model.cv_accuracy_, [mean for _, mean in expected], atol=1e-12)
    best = max(mean for _, mean in expected)
    np.testing.assert_allclose(model.C_, next(C for C, mean in expected if mean > best - 1e-12))
    assert model.kernel_ == "linear"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_width_and_cost_equal_an_explicit_search(n_classes, few_costs) -> None:
    X, y = planted(n_classes)
    squared = pairwise_distances(X, metric="sqeuclidean")
    sigmas = 6 * X.var() * 4.0 ** np.arange(2, -5, -1)
    expected = searched(X, y, [np.exp(-squared / s) for s in sigmas], few_costs, folds=3, seed=0)
    model = SVM("gaussian", "auto", sigma="auto", cv=3, random_state=0).fit(X, y)
    # The search lists widths within costs, the oracle costs within widths.
    table = np.array(expected).reshape(len(sigmas), len(few_costs), 2)
    np.testing.assert_allclose([c.C for c in model.candidates_], table[:, :, 0].T.ravel(), rtol=1e-6)
    np.testing.assert_allclose([c.sigma for c in model.candidates_], np.tile(sigmas, len(few_costs)), rtol=1e-9)
    np.testing.assert_allclose(model.cv_accuracy_, table[:, :, 1].T.ravel(), atol=1e-12)
    place = int(np.flatnonzero(table[:, :, 1].T.ravel() > table[:, :, 1].max() - 1e-12)[0])
    assert model.sigma_ == pytest.approx(sigmas[place % len(sigmas)])
    fixed = SVM("gaussian", model.C_, sigma=model.sigma_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fixed.decision_function(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_width_by_classes_is_the_mean_distance_to_the_nearest_other(n_classes, form) -> None:
    X, y = planted(n_classes)
    nearest = [min(np.linalg.norm(x - z) for z in X[y != label]) for x, label in zip(X, y, strict=True)]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    for kernel, expected in (("gaussian", 2 * np.mean(nearest) ** 2), ("exponential", np.mean(nearest))):
        model = SVM(kernel, sigma="classes").fit(form(X), y)
        assert model.sigma_ == pytest.approx(expected, rel=1e-9)
        assert model.C_ == 1.0
    weighted = SVM("exponential", sigma="classes").fit(form(X), y, sample_weight=weight)
    assert weighted.sigma_ == pytest.approx(np.average(nearest, weights=weight), rel=1e-9)


def test_width_by_classes_of_equal_rows_is_the_scale() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)) + 100, 2, axis=0)
    y = np.tile([0, 1], 10)
    model, scale = (SVM("gaussian", sigma=sigma).fit(X, y) for sigma in ("classes", "scale"))
    assert model.sigma_ == scale.sigma_
    assert class_distance(X, pairwise_distances(X, metric="sqeuclidean"), y, np.ones(20)) == 0.0


def test_auto_is_linear_on_what_a_line_parts() -> None:
    X, y = make_blobs(80, 5, centers=3, cluster_std=1.0, random_state=0)
    model = SVM("auto", cv=3, random_state=0).fit(X, y)
    assert model.kernel_ == "linear"
    assert model.coef_.shape == (3, 5)
    assert not hasattr(model, "sigma_")
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("data", ["rings", "xor", "four points"])
def test_auto_is_gaussian_on_what_no_line_parts(data) -> None:
    if data == "rings":
        X, y = rings()
    else:
        X = np.random.default_rng(0).uniform(-1, 1, (120, 2))
        X = np.sign(X) if data == "four points" else X
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = SVM("auto", cv=3, random_state=0).fit(X, y)
    assert model.kernel_ == "gaussian"
    assert model.score(X, y) > 0.95
    assert model.cv_accuracy_.max() > 0.9


def test_what_is_given_stays() -> None:
    X, y = rings(60)
    model = SVM("auto", 3.0, sigma=2.0, cv=3, random_state=0).fit(X, y)
    assert [tuple(c) for c in model.candidates_] == [("linear", None, 3.0), ("gaussian", 2.0, 3.0)]
    assert (model.kernel_, model.C_, model.sigma_) == ("gaussian", 3.0, 2.0)
    hard = SVM("gaussian", np.inf, sigma="auto", cv=3, random_state=0).fit(X, y)
    assert len(hard.candidates_) == len(MULTIPLES)
    assert {c.C for c in hard.candidates_} == {hard.C_} == {np.inf}
    by_classes = SVM("auto", sigma="classes", cv=3, random_state=0).fit(X, y)
    assert {c.sigma for c in by_classes.candidates_} == {None, SVM("gaussian", sigma="classes").fit(X, y).sigma_}
    plain = SVM().fit(X, y)
    assert (plain.kernel_, plain.C_) == ("linear", 1.0)
    assert not hasattr(plain, "candidates_")


def test_of_equals_the_simplest() -> None:
    X, y = make_blobs(40, 2, centers=[[0, 0], [20, 20]], random_state=0)
    model = SVM("auto", cv=3, random_state=0).fit(X, y)
    tied = [c for c, mean in zip(model.candidates_, model.cv_accuracy_, strict=True) if mean == 1.0]
    assert {c.kernel for c in tied} == {"linear", "gaussian"}
    assert (model.kernel_, model.C_) == ("linear", min(c.C for c in tied if c.kernel == "linear"))
    narrow = SVM("gaussian", 1.0, sigma="auto", cv=3, random_state=0).fit(X, y)
    tied = [c for c, mean in zip(narrow.candidates_, narrow.cv_accuracy_, strict=True) if mean == 1.0]
    assert len(tied) > 1
    assert narrow.sigma_ == max(c.sigma for c in tied)


def test_caution_prefers_the_steady() -> None:
    X, y = planted(seed=1)
    models = [SVM(C="auto", caution=caution, cv=3, random_state=1).fit(X, y) for caution in (0.0, 5.0)]
    np.testing.assert_array_equal(models[0].cv_accuracy_, models[1].cv_accuracy_)
    assert models[0].C_ != models[1].C_


@pytest.mark.parametrize("size", [1e-4, 1e3])
def test_size_of_the_data_does_not_matter(size) -> None:
    X, y = rings(60)
    one, other = (SVM("auto", cv=2, random_state=0).fit(c * X, y) for c in (1.0, size))
    assert one.kernel_ == other.kernel_
    assert other.sigma_ == pytest.approx(one.sigma_ * size**2)
    np.testing.assert_allclose(other.C_, one.C_)  # the gaussian kernel's own scale is free of the data's
    np.testing.assert_array_equal(one.predict(X), other.predict(size * X))
    one, other = (SVM(C="auto", cv=3, random_state=0).fit(c * X, y) for c in (1.0, size))
    assert other.C_ * size**2 == pytest.approx(one.C_)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5)
def test_order_of_rows_and_form_do_not_matter(seed) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.7), np.arange(40) % 2
    X[:, 0] += y
    order = rng.permutation(40)
    expected = SVM("gaussian", "auto", sigma=3.0, cv=3, random_state=seed).fit(X, y)
    for rows in (X[order], sp.csr_array(X[order]), X[order][:, ::-1]):
        found = SVM("gaussian", "auto", sigma=3.0, cv=3, random_state=seed).fit(rows, y[order])
        np.testing.assert_allclose(found.C_, expected.C_)
        np.testing.assert_allclose(found.decision_function(rows), expected.decision_function(X[order]), atol=1e-7)


def test_one_seed_one_result() -> None:
    X, y = planted(n_rows=40)
    results = [SVM(C="auto", cv=3, random_state=seed).fit(X, y).cv_accuracy_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(results[0], results[1])
    assert (results[0] != results[2]).any()
    generators = [SVM(C="auto", cv=3, random_state=np.random.default_rng(5)).fit(X, y).C_ for _ in range(2)]
    assert generators[0] == generators[1]


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"ridge": 1.0}])
def test_weights_count_rows(options) -> None:
    X, y = planted(3, n_rows=60)
    weight = np.random.default_rng(1).integers(0, 4, y.size)
    settings = {"C": "auto", "cv": 3, "random_state": 0, **options}
    counted = SVM(**settings).fit(X, y, sample_weight=weight)
    repeated = SVM(**settings).fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_allclose(counted.cv_accuracy_, repeated.cv_accuracy_, atol=1e-12)
    np.testing.assert_allclose(counted.decision_function(X), repeated.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("n_columns", [4, 300])
def test_solutions_carried_over_are_those_solved(kernel, n_columns, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(45, n_columns)), np.arange(45) % 3
    X[:, 0] += y
    counts = []

    def counting(*args, **options):
        counts[-1] += 1
        return solve_gram(*args, **options)

    monkeypatch.setattr(margin_pairs, "solve_gram", counting)
    models = []
    for carried in (True, False):
        if not carried:
            monkeypatch.setattr(margin_pairs, "_next", lambda *args: None)
        counts.append(0)
        sigma = "auto" if kernel == "gaussian" else "scale"
        models.append(SVM(kernel, "auto", sigma=sigma, cv=2, random_state=0).fit(X, y))
    np.testing.assert_array_equal(models[0].cv_accuracy_, models[1].cv_accuracy_)
    assert (models[0].C_, getattr(models[0], "sigma_", 0)) == (models[1].C_, getattr(models[1], "sigma_", 0))
    assert counts[0] < (0.5 if n_columns > 60 else 0.9) * counts[1]


def test_carried_solutions_hold_at_the_next_cost() -> None:
    X, y = planted(2, 40)
    gram = X @ X.T
    costs = [C * np.ones(40) for C in np.geomspace(1e-6, 1e4, 12)]
    path = margin_pairs.gram_path(gram.copy(), y, costs, np.zeros(40), tol=1e-3, max_iter=None)
    assert sum(pairs[0].steps == 0 for pairs in path) >= 2
    for cost, (found,) in zip(costs, path, strict=True):
        alone = margin_pairs.gram_path(gram.copy(), y, [cost], np.zeros(40), tol=1e-3, max_iter=None)[0][0]
        expected = gram @ alone.weights + alone.intercept
        np.testing.assert_allclose(gram @ found.weights + found.intercept, expected, atol=1e-6 * np.abs(expected).max())


def test_a_small_cost_puts_the_border_midway_between_balanced_classes() -> None:
    X, y = planted(n_rows=31)
    model = SVM(C=1e-9, class_weight="balanced").fit(X, y)
    output = X @ (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    # Every row lies within its margin, which leaves the intercept free between the rows that come nearest to theirs.
    border = (output[y == 1].max() + output[y == 0].min()) / 2
    np.testing.assert_array_equal(model.predict(X), (output > border).astype(int))


def test_cost_on_the_columns() -> None:
    X, y = planted(3, n_rows=150)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gram, columns = (SVM(C="auto", solver=solver, cv=3, random_state=0).fit(X, y) for solver in ("gram", "liblinear"))
    assert not hasattr(columns, "support_")
    np.testing.assert_allclose([c.C for c in columns.candidates_], [c.C for c in gram.candidates_], rtol=1e-9)
    np.testing.assert_allclose(columns.cv_accuracy_[:6], gram.cv_accuracy_[:6], atol=0.03)
    sparse = SVM(C="auto", solver="liblinear", cv=3, random_state=0).fit(sp.csr_array(X), y)
    assert sparse.coef_.shape == (3, 6)


def test_auto_is_linear_for_many_light_rows() -> None:
    rng = np.random.default_rng(0)
    X = sp.random(4100, 400, 0.01, format="csr", random_state=0)
    y = (X @ rng.normal(size=400) > 0).astype(int)
    model = SVM("auto", cv=2, random_state=0).fit(X, y)
    assert model.kernel_ == "linear"
    assert len(model.candidates_) == len(COSTS)
    assert model.score(X, y) > 0.9


def test_a_class_that_a_training_part_lacks() -> None:
    X, y = make_blobs([20, 20, 1], 2, centers=[[0, 0], [8, 8], [0, 8]], random_state=0)
    model = SVM("auto", cv=3, random_state=0).fit(X, y)
    assert model.cv_accuracy_.max() == pytest.approx(40 / 41, abs=0.01)
    alone = SVM(C="auto", random_state=0).fit(X[y != 1], y[y != 1])
    assert alone.cv_accuracy_.max() == pytest.approx(0.96)


def test_only_the_fit_warns() -> None:
    X, y = planted(n_rows=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVM("auto", cv=2, random_state=0).fit(X, y)
    with pytest.warns(NotSettled) as told:
        SVM("sigmoid", "auto", sigma=1.0, coef0=-1.0, max_iter=1, cv=3, random_state=0).fit(X, y)
    assert len(told) == 1


@pytest.mark.parametrize("text", ["svm(auto)", "svm(gaussian, C=auto, sigma=auto)", "svm(gaussian, sigma=classes)"])
def test_recipes(text) -> None:
    X, y = rings(40)
    model = tamis.recipe(text)
    assert to_text(model) == text
    assert model.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"C": "best"}, "'C'"),
        ({"sigma": "best"}, "'sigma'"),
        ({"cv": 1}, "'cv'"),
        ({"caution": -1.0}, "'caution'"),
        ({"sigma": "auto"}, "'sigma' of SVM takes a number or 'scale' with the linear kernel"),
        ({"kernel": "cosine", "sigma": "classes"}, "with the cosine kernel, which has no width to choose"),
        ({"kernel": "polynomial", "sigma": "classes"}, "takes 'classes' with the gaussian and exponential kernels"),
        ({"kernel": "sigmoid", "sigma": "classes"}, "got it with kernel='sigmoid'"),
        ({"kernel": "auto", "solver": "liblinear"}, 'solver="liblinear" takes the linear kernel'),
    ],
)
def test_wrong_parameters(parameters, match) -> None:
    with pytest.raises(ValueError, match=match):
        SVM(**parameters).fit(np.eye(4), [0, 0, 1, 1])


def test_classes_of_one_row_cannot_be_cross_validated() -> None:
    for what, model in (("C", SVM("auto")), ("sigma", SVM("gaussian", 1.0, sigma="auto"))):
        with pytest.raises(TamisError, match=f'SVM: {what}="auto" needs a class with at least two rows'):
            model.fit(np.eye(2), [0, 1])


def test_rows_that_say_nothing() -> None:
    model = SVM("auto", random_state=0).fit(np.ones((6, 1)), [0, 0, 0, 0, 1, 1])
    assert model.predict([[1.0]]).tolist() == [0]


MODELS = [
    SVM("auto", cv=2),
    SVM("gaussian", "auto", sigma="auto", cv=2),
    SVM(C="auto", class_weight="balanced", ridge=1.0),
]


def conformance():
    for number, model in enumerate(MODELS):
        for name, run in checks(model):
            # scikit-learn's checks fit some hundred models, each of which is a search.
            marks = [pytest.mark.slow] if name == "scikit_learn" else []
            yield pytest.param(run, id=f"{number}-{name}", marks=marks)


@pytest.mark.parametrize("run", list(conformance()))
def test_conforms(run, monkeypatch) -> None:
    # Coarser grids, for the sake of time.
    monkeypatch.setattr(margin_path, "COSTS", np.geomspace(1e-3, 1e4, 4))
    monkeypatch.setattr(kernel_width, "MULTIPLES", np.array([4.0, 0.5]))
    run()
