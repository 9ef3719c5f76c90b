"""A classifier tuned before selection: against the same steps by hand, in recipes, folds and on bad input."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifierCV
from sklearn.pipeline import make_pipeline

import tamis
from planted import planted
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.shared_fit import Together
from tamis.classify import KNN, NRBF, SVM, SSVTree, TunedFirst
from tamis.compose.recipe import to_text
from tamis.select import Ranking
from tamis.transform import PCA, Standardize
from tamis.validation.many import validate_many


def three(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 8))
    X[:, 2] += 2 * (y == 1)
    X[:, 5] -= 2 * (y == 2)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize(
    ("model", "names"),
    [
        (SVM("gaussian", "auto", sigma="auto", random_state=0), ["C", "sigma"]),
        (SVM("gaussian", 10.0, sigma="classes", ridge=1.0), ["sigma"]),
        (NRBF("auto", random_state=0), ["sigma"]),
        (KNN("auto", random_state=0), ["n_neighbors"]),
    ],
    ids=["svm", "classes", "nrbf", "knn"],
)
def test_it_is_the_two_fits_one_after_the_other(model, names, form) -> None:
    for X, y in (planted(0, rows=60, columns=10), three()):
        rows = form(X)
        found = TunedFirst(model, Ranking("fisher" if len(set(y)) == 2 else "f", k=3)).fit(rows, y)
        whole = type(model)(**model.get_params()).fit(rows, y)
        values = {name: getattr(whole, f"{name}_") for name in names}
        assert found.tuned_ == values
        support = Ranking("fisher" if len(set(y)) == 2 else "f", k=3).fit(rows, y).get_support()
        few = type(model)(**(model.get_params() | values)).fit(rows[:, np.flatnonzero(support)], y)
        np.testing.assert_array_equal(found.used_, support)
        np.testing.assert_array_equal(found.predict(rows), few.predict(rows[:, np.flatnonzero(support)]))
        evidence = "predict_proba" if hasattr(few, "predict_proba") else "decision_function"
        assert hasattr(found, evidence)
        expected = getattr(few, evidence)(rows[:, np.flatnonzero(support)])
        np.testing.assert_allclose(getattr(found, evidence)(rows), expected)
        np.testing.assert_array_equal(used_features(found, X.shape[1]), support)


def test_the_parameters_are_not_those_found_behind_the_selection() -> None:
    X, y = planted(1, rows=80, columns=40)
    first = tamis.recipe("tuned_first(svm(gaussian, C=1, sigma=classes), fisher(2))").fit(X, y)
    chain = tamis.recipe("fisher(2) | svm(gaussian, C=1, sigma=classes)").fit(X, y)
    assert first.tuned_["sigma"] > 5 * chain[-1].sigma_


def test_parameters_of_all_steps_of_a_pipeline_are_found() -> None:
    X, y = three()
    model = make_pipeline(Standardize(), SVM("gaussian", "auto", random_state=0))
    found = TunedFirst(model, make_pipeline(Standardize(), Ranking("f", k=3))).fit(X, y)
    assert set(found.tuned_) == {"svm__C", "svm__sigma"}
    assert found.tuned_["svm__C"] == found.estimator_["svm"].C
    # What the selector's own pipeline does to the columns is not passed on.
    np.testing.assert_allclose(found.estimator_["standardize"].mean_, X[:, found.used_].mean(axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_a_kernel_without_width_is_fitted_without_one(seed) -> None:
    X, y = planted(seed, rows=60, columns=10)
    y = (X[:, 0] > 0).astype(int)
    found = TunedFirst(SVM("auto", sigma="auto", random_state=0), Ranking("cc", k=3)).fit(X, y)
    assert found.estimator_.kernel_ == found.tuned_["kernel"]
    assert found.tuned_["C"] == found.estimator_.C_


def test_the_columns_of_a_model_that_uses_a_few_of_those_selected() -> None:
    X, y = planted(0, rows=60, columns=10)
    found = TunedFirst(SSVTree(random_state=0), Ranking("cc", k=6)).fit(X, y)
    assert found.used_.sum() < 6
    assert not (found.used_ & ~found.selector_.get_support()).any()


def test_one_search_serves_several_selectors() -> None:
    X, y = planted(0, rows=60, columns=10)
    models = [TunedFirst(SVM("gaussian", "auto", random_state=0), Ranking("cc", k=k)) for k in (2, 5)]
    for together, alone in zip(Together(models, X, y), models, strict=True):
        alone.fit(X, y)
        assert together.tuned_ == alone.tuned_
        np.testing.assert_array_equal(together.decision_function(X), alone.decision_function(X))


def test_nominal_columns_reach_the_classifier() -> None:
    X, y = three()
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(8)}).with_columns(
        letter=pl.Series(np.where(y == "a", "left", "right"))
    )
    found = TunedFirst(KNN("auto", random_state=0), Ranking("ssv", k=2)).fit(frame, y)
    assert found.used_[8]
    assert found.score(frame, y) > 0.8


def test_a_parameter_found_by_a_classifier_of_another_library() -> None:
    X, y = planted(0, rows=60, columns=10)
    found = TunedFirst(RidgeClassifierCV(alphas=(0.1, 1.0)), Ranking("cc", k=3))
    # It keeps what it finds under a name of which there is no parameter.
    with pytest.raises(TamisError, match="finds none of its parameters"):
        found.fit(X, y)


def test_recipes_print_it_as_users_write_it() -> None:
    text = "rms_norm | tuned_first(svm(gaussian, C=auto, sigma=classes), fisher(20))"
    assert to_text(tamis.recipe(text)) == text
    assert (
        to_text(TunedFirst(SVM("gaussian", "auto"), Ranking("cc", k=3))) == "tuned_first(svm(gaussian, C=auto), cc(3))"
    )
    X, y = planted(0, rows=60, columns=10)
    several = validate_many(["tuned_first(svm(gaussian, C=auto), cc({2, 4}))"], X, y, folds=3, metrics="accuracy")
    assert not several.failed
    one = tamis.validate("tuned_first(svm(gaussian, C=auto), cc(4))", X, y, folds=3, metrics="accuracy")
    assert one.estimates["accuracy"].mean == list(several)[1].estimates["accuracy"].mean


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TunedFirst(LinearRegression()), "tuned_first: estimator must be a classifier"),
        (TunedFirst(KNN(3), Ranking("cc", k=3)), "finds none of its parameters"),
        (TunedFirst(SVM("linear", "auto"), PCA(2)), "tuned_first: selector must be a selector"),
        (TunedFirst(SVM("linear", "auto"), make_pipeline(PCA(2), Ranking("cc", k=1))), "cannot be traced back"),
        (TunedFirst(LogisticRegression(), Ranking("cc", k=3)), "finds none of its parameters"),
    ],
)
def test_bad_parameters(model, message) -> None:
    with pytest.raises((TamisError, ValueError), match=message):
        model.fit(*planted(0, rows=40, columns=9))


def test_bad_rows() -> None:
    X, y = planted(0, rows=40, columns=9)
    model = TunedFirst(SVM("linear", "auto"), Ranking("cc", k=3)).fit(X, y)
    with pytest.raises(ValueError, match="9 features"):
        model.predict(X[:, :8])
    with pytest.raises(ValueError, match="infinity"):
        TunedFirst().fit(np.where(X > 1, np.inf, X), y)
