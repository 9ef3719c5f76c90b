"""Nested validation: the choice is made within the training rows of each outer fold, and judged outside them."""

import json

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

from planted import dataset, planted
from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.classify import KNN
from tamis.select import Ranking
from tamis.validation.folds import StratifiedFolds
from tamis.validation.nested import choose, validate_nested
from tamis.validation.whole import validate


def test_it_is_a_grid_search_within_a_cross_validation() -> None:
    X, y = planted(columns=20)
    found = validate_nested("cc({1, 3, 10}) | knn({1, 5})", X, y, folds=4, inner_folds=3, metrics="accuracy", seed=2)
    model = Pipeline([("cc", Ranking("cc")), ("knn", KNN())])
    grid = {"cc__k": [1, 3, 10], "knn__n_neighbors": [1, 5]}
    for split, inner, value in zip(
        StratifiedFolds(4).splits(y, seed=2), found.inner, found.validation.values["accuracy"], strict=True
    ):
        dealt = StratifiedFolds(3).splits(y[split.train], seed=spawn(2, *split.task))
        search = GridSearchCV(model, grid, cv=[(s.train, s.test) for s in dealt], scoring="accuracy")
        search.fit(X[split.train], y[split.train])
        table = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(3)]).T
        np.testing.assert_allclose(inner.values, table)
        # Of equals ours takes the one with the fewest features.
        assert table.mean(axis=1)[inner.chosen] >= search.best_score_ - 1e-12
        own = model.set_params(**search.cv_results_["params"][inner.chosen]).fit(X[split.train], y[split.train])
        assert value == own.score(X[split.test], y[split.test])


def test_the_choice_is_part_of_what_is_judged() -> None:
    """On noise the best of many looks good in the folds that picked it, and is at chance in those that did not."""
    inner, honest = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 60)), np.tile([0, 1], 20)
        found = validate_nested("cc({1, 2, 3, 5, 10, 20, 60}) | knn({1, 3, 5, 9})", X, y, folds=5, metrics="accuracy")
        inner.append(found.inner_estimate)
        honest.append(found.validation.summary()["accuracy"].mean)
    assert np.mean(inner) > 0.58
    assert np.mean(honest) < 0.54


def test_rules() -> None:
    values = np.array([[0.84, 0.85, 0.86], [0.90, 0.76, 0.95], [0.86, 0.86, 0.86], [np.nan, np.nan, np.nan]])
    sizes = np.array([5.0, 50.0, 500.0, 1.0])
    assert [choose(values, sizes, 0.5, rule=rule) for rule in ("best", "cautious", "simplest")] == [1, 2, 0]
    assert choose(np.array([[0.8, 0.9], [0.9, 0.8]]), np.array([9.0, 2.0]), 1.0) == 1
    assert choose(np.array([[0.8, 0.9], [0.9, 0.8]]), np.array([2.0, 2.0]), 1.0) == 0
    assert choose(np.array([[0.5], [0.6]]), np.array([1.0, 2.0]), 1.0, rule="simplest") == 1
    equally_small = np.array([[0.70, 0.80], [0.78, 0.72], [0.76, 0.76]])
    assert choose(equally_small, np.array([2.0, 2.0, 2.0]), 0.5, rule="simplest") == 2
    # Within one standard error of the best: sd 0.1, J = 2, n_test / n_train = 0.5 gives 0.1.
    near = np.array([[0.8, 0.8 + 0.1 * np.sqrt(2)], [0.772, 0.772]])
    assert choose(near, np.array([10.0, 1.0]), 0.5, rule="simplest") == 1
    far = np.array([[0.8, 0.8 + 0.1 * np.sqrt(2)], [0.769, 0.769]])
    assert choose(far, np.array([10.0, 1.0]), 0.5, rule="simplest") == 0
    assert choose(far, np.array([10.0, 1.0]), 0.5, rule="cautious", caution=5.0) == 1


def test_the_simplest_rule_takes_fewer_features() -> None:
    X, y = planted()
    sizes = {}
    for rule in ("best", "simplest"):
        found = validate_nested("cc({2, 5, 20, 40}) | knn(5)", X, y, folds=5, rule=rule)
        sizes[rule] = np.mean([float(found.recipes[i.chosen].partition(")")[0][3:]) for i in found.inner])
    assert sizes["simplest"] < sizes["best"]


def test_one_model_leaves_nothing_to_choose() -> None:
    X, y = planted()
    found = validate_nested("cc(3) | knn(3)", X, y, folds=4)
    alone = validate("cc(3) | knn(3)", X, y, folds=4)
    assert found.choice == "cc(3) | knn(3)"
    for name, values in alone.values.items():
        np.testing.assert_array_equal(found.validation.values[name], values)


def test_the_same_for_any_number_of_workers_and_readable() -> None:
    X, y = planted()
    one, two = (validate_nested("cc({2, 9}) | {knn(1), tree}", X, y, folds=4, engine=e) for e in (None, "local(2)"))
    assert one == two
    assert one != validate_nested("cc({2, 9}) | {knn(1), tree}", X, y, folds=4, seed=1)
    plain = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert np.array(plain["inner"][0]["values"]).shape == (4, 5)
    assert plain["choice"] == one.choice
    assert sum(one.chosen().values()) == 4
    assert one.choice in str(one)


def test_groups_are_never_divided() -> None:
    X, y = planted()
    seen: list[np.ndarray] = []

    class Watching(KNN):
        def fit(self, X, y):
            seen.append(X[:, 0].astype(int))
            return super().fit(X, y)

    groups = np.arange(60) // 3
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(20) % 2)[groups]
    X[:, 0] = groups
    validate_nested([Watching(1), GaussianNB()], X, y, folds=4, inner_folds=3, groups=groups)
    assert len(seen) >= 15
    for rows in seen:
        assert set(np.unique(rows, return_counts=True)[1]) == {3}


def test_official_split_and_failures() -> None:
    X, y = planted()
    parts = np.where(np.arange(60) < 40, "train", "valid")
    found = validate_nested(["cc({2, 9}) | knn(3)", "chi2(3) | knn(3)"], dataset(X, y, split=parts), split="official")
    assert len(found.inner) == 1
    assert list(found.failed) == ["chi2(3) | knn(3)"]
    assert np.isnan(found.inner[0].values[2]).all()
    with pytest.raises(TamisError, match="repeat 1, fold 1"):
        validate_nested(["chi2(3) | knn(3)"], X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rule": "luckiest"}, "rule must be one of best, cautious, simplest; got 'luckiest'"),
        ({"inner_folds": 1}, "inner_folds must be a whole number of 2 or more; got 1"),
        ({"caution": -1}, "caution must be a finite number of 0 or more; got -1"),
        ({"split": "bootstrap"}, "nested validation takes folds"),
        ({"inner_folds": 40}, "no class has 40 rows"),
    ],
)
def test_bad_options(options, said) -> None:
    X, y = planted()
    with pytest.raises(TamisError, match=said):
        validate_nested("cc({2, 9}) | knn(3)", X, y, folds=4, **options)


def test_progress_counts_to_the_end() -> None:
    X, y = planted()
    calls: list[tuple[int, int]] = []
    validate_nested("cc({2, 9}) | knn(3)", X, y, folds=4, inner_folds=3, progress=lambda *c: calls.append(c))
    # Three inner folds of four outer ones and of all rows, for two models; and the outer folds.
    assert calls[-1] == (34, 34)
