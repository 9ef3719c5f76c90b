"""Numeric targets through the whole spine: folds, validation, choice, comparison, prediction, search."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis
from tamis.base.errors import TamisError
from tamis.compose.catalog import entries, entry
from tamis.compose.model_card import card_of
from tamis.compose.model_file import save_model
from tamis.compose.recipe import recipe, to_text
from tamis.data.dataset import Dataset
from tamis.mining.library import NumberLibrary
from tamis.mining.mined import MinedRegressor
from tamis.mining.offers import NumberChooser
from tamis.mining.search import mine
from tamis.validation import compare, learning_curve, permutation_test, validate_many, validate_nested
from tamis.validation.folds import StratifiedFolds, stratify_by
from tamis.validation.metrics import metrics_for

#: Parts that take most of the time of a small search.
SLOW = ["committee", "mlp"]

LINEAR = make_pipeline(StandardScaler(), SklearnRidge())


def problem(n_rows: int = 120, n_columns: int = 20, seed: int = 0, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which the first two columns give the target, in units of hundreds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, 100 * (X[:, 0] - 2 * X[:, 1] + noise * rng.normal(size=n_rows)) + 1000


class TestFolds:
    def test_every_fold_has_every_quantile(self) -> None:
        y = np.random.default_rng(0).exponential(size=200)
        codes = stratify_by(y, "regress")
        assert np.bincount(codes).tolist() == [20] * 10
        for split in StratifiedFolds(5).splits(codes):
            assert np.bincount(codes[split.test]).tolist() == [4] * 10

    def test_ties_and_few_rows_leave_quantiles_of_enough_rows(self) -> None:
        y = np.r_[np.zeros(150), np.arange(1.0, 51.0)]
        sizes = np.bincount(stratify_by(y, "regress"))
        assert sizes.min() >= 20
        assert np.unique(stratify_by(np.arange(15.0), "regress")).tolist() == [0]

    def test_classes_stay_as_they_are(self) -> None:
        y = np.array(["a", "b"])
        assert stratify_by(y) is y


class TestValidation:
    def test_predictions_are_those_of_the_folds(self) -> None:
        X, y = problem()
        found = tamis.validate(LINEAR, X, y, folds=5)
        folds = [(s.train, s.test) for s in StratifiedFolds(5).splits(stratify_by(y, "regress"))]
        np.testing.assert_allclose(found.predictions.label, cross_val_predict(LINEAR, X, y, cv=folds))
        assert found.task == "regress"
        assert found.classes.size == 0
        assert list(found.estimates)[:4] == ["rmse", "mae", "r2", "spearman"]
        assert 45 < found.estimates["rmse"].mean < 65
        assert found.chance == pytest.approx(y.std())

    @pytest.mark.parametrize("split", ["leave-one-out", "bootstrap"])
    def test_other_splits(self, split: str) -> None:
        X, y = problem(60)
        found = tamis.validate(LINEAR, X, y, split=split, repeats=10 if split == "bootstrap" else None)
        assert found.estimates["r2"].mean > 0.8

    def test_it_prints_large_numbers_with_few_digits(self) -> None:
        X, y = problem()
        found = tamis.validate(LINEAR, X, 1000 * y, folds=3)
        assert f"RMSE      {found.estimates['rmse'].mean:.0f} +- " in str(found)
        assert json.loads(json.dumps(tamis.validate(LINEAR, X, y, folds=3).to_dict()))["task"] == "regress"

    def test_recipes_of_both_tasks_have_one_text(self) -> None:
        X, y = problem()
        found = tamis.validate("standardize | cc(2) | knn(3)", X, y, folds=3, leak_check=True)
        assert found.recipe == "standardize | cc(2) | knn(3)"
        assert [kept.tolist() for kept in found.selected or ()] == [[0, 1]] * 3
        assert found.estimates["r2"].mean > 0.8
        assert found.leak is not None

    def test_a_model_of_the_other_task_is_refused_by_name(self) -> None:
        X, y = problem()
        with pytest.raises(TamisError, match=r"^svm is for classes, and the target holds numbers: take svr$"):
            tamis.validate("cc(2) | svm", X, y)
        with pytest.raises(TamisError, match=r"^ridge is for numbers, and the target holds classes: take logistic$"):
            tamis.validate("ridge", X, (y > 1000).astype(int))
        with pytest.raises(TamisError, match=r"LogisticRegression.* is a classifier, and the target holds numbers"):
            tamis.validate(LogisticRegression(), X, y)
        with pytest.raises(TamisError, match=r"LinearRegression.* is a regressor, and the target holds classes"):
            tamis.validate(LinearRegression(), X, (y > 1000).astype(int))
        with pytest.raises(TamisError, match="end it with a regressor"):
            tamis.validate("cc(2)", X, y)

    def test_whole_numbers_are_predicted_when_the_user_says_so(self) -> None:
        X, y = problem()
        few = np.clip(np.round((y - 1000) / 100), -3, 3).astype(int)
        assert tamis.validate("ridge", X, few, task="regress", folds=3).estimates["r2"].mean > 0.5
        with pytest.raises(TamisError, match="ridge is for numbers"):
            tamis.validate("ridge", X, few)

    def test_the_same_for_any_number_of_workers(self) -> None:
        X, y = problem()
        one, two = (tamis.validate("cc(5) | forest(10)", X, y, folds=3, n_jobs=n) for n in (1, 2))
        assert one == two

    def test_noise_is_not_predicted(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(80, 200)), rng.normal(size=80)
        assert tamis.validate("cc(10) | ridge", X, y, repeats=3, leak_check=True).estimates["r2"].mean < 0.02


class TestManyModels:
    def test_one_fit_serves_many_penalties(self) -> None:
        X, y = problem()
        found = validate_many("standardize | cc({2, 10}) | ridge({0.01, 1.0, 100.0})", X, y, folds=3)
        for one in found:
            alone = tamis.validate(one.recipe, X, y, folds=3)
            np.testing.assert_allclose(one.predictions.label, alone.predictions.label, rtol=1e-6)

    def test_the_choice_is_nested(self) -> None:
        X, y = problem()
        found = validate_nested("cc({1, 2, 20}) | ridge", X, y, folds=3, inner_folds=3)
        assert found.choice == "cc(2) | ridge"
        assert found.validation.estimates["r2"].mean > 0.8

    def test_models_are_compared_by_their_errors(self) -> None:
        X, y = problem()
        good, bad = (tamis.validate(f"cc({k}) | ridge", X, y, folds=5) for k in (2, 1))
        found = compare([good, bad])
        assert found.best.name == "cc(2) | ridge"
        assert [rival.worse for rival in found.rivals] == [True]
        assert "Wilcoxon p < 0.001" in str(found)
        assert found.rope == pytest.approx(0.01 * good.estimates["rmse"].mean)
        single = [tamis.validate(f"cc({k}) | ridge", X, y, split="leave-one-out") for k in (2, 1)]
        assert compare(single).rivals[0].test == "Wilcoxon"

    def test_permuted_numbers_are_worse(self) -> None:
        X, y = problem(60)
        found = permutation_test("cc(2) | ridge", X, y, n=9, folds=3)
        assert (found.metric.name, found.at_least) == ("rmse", 0)

    def test_more_rows_help(self) -> None:
        X, y = problem()
        found = learning_curve("ridge", X, y, sizes=(0.2, 1.0), folds=3)
        few, many = (one.estimates["rmse"].mean for one in found.validations)
        assert many < few


class TestCatalog:
    def test_a_word_of_both_tasks_has_the_same_arguments(self) -> None:
        both = [part for part in entries() if part.kind == "regressor" and entry(part.name).kind == "classifier"]
        assert {"knn", "forest", "extra_trees", "boost", "tree", "committee", "blend"} <= {part.name for part in both}
        for part in both:
            classifier = entry(part.name)
            assert set(part.parameters) <= set(classifier.parameters), part.name
            assert classifier.card.positional[: len(part.card.positional)] == part.card.positional, part.name

    def test_the_words_settle_the_task_or_the_user_does(self) -> None:
        assert is_regressor(recipe("cc(5) | ridge"))
        assert is_regressor(recipe("committee(3, cc(5) | ridge)"))
        assert is_classifier(recipe("cc(5) | knn(3)"))
        assert is_regressor(recipe("cc(5) | knn(3)", task="regress"))

    def test_recipes_of_numbers_print_back(self) -> None:
        for text in ("cc(5) | knn(3)", "blend(cc(5) | ridge, forest(10), weights=[2, 1])", "sfs(ridge, k=3) | ridge"):
            assert to_text(recipe(text, task="regress")) == text

    def test_an_argument_that_only_the_classifier_has_is_refused(self) -> None:
        with pytest.raises(TamisError, match="forest has no parameter 'class_weight' where the target holds numbers"):
            recipe("forest(class_weight=balanced)", task="regress")


class TestPrediction:
    def test_a_saved_model_predicts_numbers(self, tmp_path: Path) -> None:
        X, y = problem()
        names = [f"gene{i}" for i in range(X.shape[1])]
        data = Dataset(X, y, np.array(names), target="dose", task="regress")
        fitted = recipe("standardize | cc(2) | ridge", task="regress").fit(X, y)
        path = tmp_path / "model"
        save_model(path, fitted, card_of(fitted, data))
        pl.DataFrame({**dict(zip(names, X.T, strict=True)), "dose": y}).write_csv(tmp_path / "new.csv")
        found = tamis.predict(path, tmp_path / "new.csv")
        assert found.card.task == "regress"
        np.testing.assert_allclose(found.table["prediction"].to_numpy(), fitted.predict(X))
        assert found.error is not None
        assert found.error["r2"] == pytest.approx(fitted.score(X, y))
        words = pl.DataFrame({**dict(zip(names, X.T, strict=True)), "dose": ["much"] * len(y)})
        words.write_csv(tmp_path / "words.csv")
        assert tamis.predict(path, tmp_path / "words.csv").error is None


@pytest.fixture(scope="module")
def found() -> MinedRegressor:
    """A small search."""
    X, y = problem()
    made = mine(X, y, trials=20, engine="serial", folds=2, inner_folds=3, without=SLOW, progress=False)
    assert isinstance(made, MinedRegressor)
    return made


class TestSearch:
    def test_it_finds_the_columns_and_an_honest_error(self, found) -> None:
        assert {0, 1} <= set(found.selected_features_.tolist())
        assert found.validation_.metrics[0].name == "rmse"
        assert 40 < found.validation_.estimates["rmse"].mean < 80

    def test_it_is_a_regressor(self, found) -> None:
        X, y = problem(seed=1)
        assert is_regressor(found)
        assert not hasattr(found, "classes_")
        assert found.score(X, y) > 0.9
        assert found.predict(X).dtype == np.float64

    def test_it_offers_three_models(self, found) -> None:
        assert set(found.models_) == {"best", "single", "small"}
        assert found.models_["small"].selected_features.size <= found.models_["single"].selected_features.size

    @pytest.mark.parametrize("engine", ["serial", "local(2)"])
    def test_the_engine_makes_no_difference_and_a_run_resumes(self, engine: str, tmp_path: Path) -> None:
        X, y = problem(60, 10)
        options = {"trials": 6, "only": ["cc | ridge", "knn"], "folds": 2, "inner_folds": 2, "progress": False}
        plain = mine(X, y, engine="serial", **options)
        run = tmp_path / "run"
        first, again = (mine(X, y, engine=engine, run=run, **options) for _ in range(2))
        for found in (first, again):
            assert found.leaderboard_.drop("seconds").equals(plain.leaderboard_.drop("seconds"))
            np.testing.assert_array_equal(found.predict(X), plain.predict(X))

    def test_noise_has_the_error_of_the_mean(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 30)), rng.normal(size=60)
        for estimate in ("nested", "bootstrap"):
            found = mine(X, y, trials=10, engine="serial", folds=3, estimate=estimate, without=SLOW, progress=False)
            assert found.validation_.estimates["rmse"].mean > 0.9 * y.std()


def library_of(values: np.ndarray, truth: np.ndarray, sizes: np.ndarray) -> NumberLibrary:
    """Models by their predictions, each of a family of its own."""
    n = truth.size
    return NumberLibrary(
        recipes=tuple(f"knn({i + 1})" for i in range(len(values))),
        families=tuple(range(len(values))),
        sizes=sizes.astype(float),
        seconds=np.ones(len(values)),
        columns=tuple((np.arange(size),) for size in sizes),
        n_features=100,
        truth=truth,
        split=np.zeros(n, dtype=int),
        repeat=np.zeros(n, dtype=int),
        unit=np.arange(n),
        stratum=np.zeros(n, dtype=int),
        values=values,
    )


RMSE = metrics_for("regress")["rmse"]


def test_one_member_is_no_blend() -> None:
    truth = np.arange(20.0)
    found = NumberChooser(library_of(np.array([truth, 0 * truth]), truth, np.array([3, 3])), RMSE).choose()
    assert [found.text(name) for name in ("best", "single", "small")] == ["knn(1)"] * 3


def test_of_models_that_do_as_well_the_one_with_fewer_columns_is_the_best_single_one() -> None:
    rng = np.random.default_rng(0)
    truth, noise = rng.normal(size=(2, 200))
    noise = (noise - noise.mean()) / noise.std()
    # Squared errors of 10, of 10.05 with a standard error of the difference of 0.07, and of 40.
    lucky, worse = truth + np.sqrt(10.0), truth + np.sqrt(40.0)
    small = truth + np.sqrt(10.05 + noise)
    found = NumberChooser(library_of(np.array([lucky, small, worse]), truth, np.array([70, 5, 1])), RMSE).choose()
    assert found.single == 1
    assert found.ensemble is None or found.library.union_size(found.ensemble.members) <= 1.25 * 5


def test_an_ensemble_of_numbers_is_limited_in_all_its_columns() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=200)
    values = truth + 0.5 * rng.normal(size=(6, 200))
    known = library_of(values, truth, np.full(6, 8))
    apart = tuple((np.arange(8 * i, 8 * i + 8),) for i in range(6))
    together = NumberChooser(known, RMSE).choose()
    alone = NumberChooser(replace(known, columns=apart), RMSE).choose()
    assert together.ensemble.members.size > 1
    assert alone.ensemble.members.size == 1


def test_many_folds_and_too_many() -> None:
    X, y = problem(120, 3)
    assert tamis.validate("ridge(1.0)", X, y, folds=50).n_test.size == 50
    with pytest.raises(TamisError, match="8 rows cannot be split into 10 folds; take at most 8"):
        tamis.validate("ridge(1.0)", X[:8], y[:8])
