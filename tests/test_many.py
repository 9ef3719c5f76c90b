"""Many models: each as alone, in order, with what failed beside it; the models that recipes stand for."""

import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import tamis
from planted import chain, planted
from tamis.base.errors import TamisError
from tamis.classify import KNN
from tamis.select import Ranking
from tamis.validation.many import validate_many
from tamis.validation.models import as_estimator, as_estimators
from tamis.validation.whole import validate


def test_each_is_validated_as_alone() -> None:
    X, y = planted()
    texts = ["cc({2, 5, 20}) | knn(3)", "cc(2) | nrbf(1.0)", "knn(1)"]
    found = validate_many(texts, X, y, folds=4, repeats=2, seed=3, probes=0.2)
    assert [one.recipe for one in found] == [
        *("cc(2) | knn(3)", "cc(5) | knn(3)", "cc(20) | knn(3)"),
        *("cc(2) | nrbf(1.0)", "knn(1)"),
    ]
    assert not found.failed
    for one in found:
        assert one == validate(one.recipe, X, y, folds=4, repeats=2, seed=3, probes=0.2)
    assert found == validate_many(texts, X, y, folds=4, repeats=2, seed=3, probes=0.2, n_jobs=2, memory=100)


def test_order_and_best() -> None:
    X, y = planted()
    found = validate_many("cc({2, 5, 20}) | knn(3)", X, y, folds=4, metrics="accuracy")
    means = [one.summary()["accuracy"].mean for one in found.ordered()]
    assert means == sorted(means, reverse=True)
    assert found.best is found.ordered()[0]
    assert (len(found), found[0].recipe, len(found[1:])) == (3, "cc(2) | knn(3)", 2)
    errors = validate_many("cc({2, 5, 20}) | knn(3)", X, y, folds=4, metrics="ber")
    assert errors.best.recipe == found.best.recipe
    assert found != errors
    assert found != 3


def test_of_equals_the_one_with_fewer_features_is_first() -> None:
    X, y = planted()
    X[:, 0] = 10.0 * y
    found = validate_many("cc({20, 1, 5}) | knn(1)", X, y, folds=4)
    assert [one.mean_selected for one in found.ordered()] == [1, 5, 20]


def test_curves_are_of_models_that_differ_in_size_alone() -> None:
    X, y = planted()
    found = validate_many(
        ["cc({9, 3}) | knn({1, 3})", "t(fraction={0.1, 0.5}, welch=true) | knn(1)", "knn(5)", chain()], X, y, folds=3
    )
    curves = found.curves()
    assert list(curves) == ["cc(*) | knn(1)", "cc(*) | knn(3)", "t(*, welch=true) | knn(1)"]
    assert [[one.mean_selected for one in own] for own in curves.values()] == [[3, 9], [3, 9], [4, 20]]


def test_what_fails_is_told_and_stops_nothing() -> None:
    X, y = planted()
    found = validate_many(["cc(2) | knn(1)", "chi2(2) | knn(1)"], X, y, folds=3)
    assert [one.recipe for one in found] == ["cc(2) | knn(1)"]
    assert list(found.failed) == ["chi2(2) | knn(1)"]
    assert "repeat 1, fold 1" in found.failed["chi2(2) | knn(1)"]
    with pytest.raises(TamisError, match="repeat 1, fold 1"):
        validate_many(["chi2({2, 3}) | knn(1)"], X, y, folds=3)


def test_all_of_it_is_json_and_text() -> None:
    X, y = planted()
    found = validate_many(["cc({2, 5}) | knn(1)", "chi2(2) | knn(1)"], X, y, folds=3)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["recipe"] for one in plain["models"]] == ["cc(2) | knn(1)", "cc(5) | knn(1)"]
    assert plain["comparison"]["best"]["name"] == found.best.recipe
    assert "chi2" in str(found)
    assert f"{found.best.summary()['ber'].mean:.4f}" in str(found).splitlines()[1]
    one = validate_many("cc(2) | knn(1)", X, y, folds=3)
    assert one.to_dict()["comparison"] is None


def test_models_that_recipes_stand_for() -> None:
    assert len(as_estimators("cc({5, 9}) | {knn({1, 3}), svm}")) == 6
    assert len(as_estimators([GaussianNB(), GaussianNB(), "knn"])) == 2
    pipeline = make_pipeline(Ranking(k=2), KNN(1))
    assert as_estimators(pipeline) == [pipeline]
    assert as_estimators((pipeline, "knn"))[0] is pipeline
    for wrong, said in (
        ([], "models is empty"),
        ("cc(5)", "does not predict"),
        (3, "must be a scikit-learn estimator"),
    ):
        with pytest.raises(TamisError, match=said):
            as_estimators(wrong)
    with pytest.raises(TamisError, match="stands for 2 recipes"):
        as_estimator("cc({5, 9}) | knn")


def test_the_room_offers_its_verbs() -> None:
    assert tamis.validation.validate_many is validate_many
    assert "validate_nested" in dir(tamis.validation)
    assert all(hasattr(tamis.validation, verb) for verb in dir(tamis.validation))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tamis.validation.nothing  # noqa: B018


def test_bootstrap_goes_through_the_plan() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.tile([0, 1], 20)
    found = validate_many("knn({1, 9})", X, y, split="bootstrap", repeats=30, metrics=["ber", "accuracy"])
    estimate = found[0].summary()["ber"]
    assert estimate.apparent == 0.0
    # With the apparent error of 0 at its usual weight 0.632 of it would be left.
    assert estimate.mean > 0.8 * estimate.out
    assert found[0] == validate("knn(1)", X, y, split="bootstrap", repeats=30, metrics=["ber", "accuracy"])
    assert str(found[0].split) == "30 bootstrap samples"
