"""One model a label, fitted in the folds: held against single fits, scikit-learn and the plain formulas."""

import json
import pickle
import warnings
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.compose.each_label import EachLabel, best_threshold
from tamis.compose.model_file import card_of, load_model, save_model
from tamis.data.dataset import Dataset
from tamis.data.label_sets import LabelSets
from tamis.scores import fisher
from tamis.select import Ranking
from tamis.validation import validate_labels
from tamis.validation.execute.driver import Driver
from tamis.validation.folds import StratifiedFolds
from tamis.validation.several.metrics import breakeven


def problem(n: int = 120, seed: int = 0) -> tuple[np.ndarray, LabelSets]:
    """Three labels of falling frequency, each with a column of its own and some noise, among twelve columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    cuts = np.array([0.0, 0.6, 1.1])
    indicator = X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > cuts
    return X, LabelSets.of(indicator, names=["common", "middle", "rare"])


@pytest.mark.parametrize("recipe", ["standardize | fisher(2) | lda", "fisher(2) | knn(3)", "forest(10)"])
@pytest.mark.parametrize("sparse", [False, True])
def test_each_label_is_what_validation_of_it_alone_gives(recipe: str, sparse: bool) -> None:
    X, labels = problem()
    X = sp.csr_array(np.maximum(X, 0)) if sparse else X
    if sparse and "lda" in recipe:
        recipe = "fisher(2) | svm(linear)"
    found = validate_labels(recipe, X, labels, folds=3, seed=4)
    splits = StratifiedFolds(3).splits(labels.strata(), seed=4)
    for j in range(labels.n_labels):
        data = Dataset.of(X, labels.has(j).astype(int))
        with Driver(data, seed=4) as driver:
            (alone,) = driver.outcomes([tamis.recipe(recipe)], splits)
        for result in alone:
            mine = found.predictions.rows(np.flatnonzero(found.fold == result.fold))
            rows = np.argsort(result.rows)
            assert np.array_equal(mine.labels[:, j], result.predictions.labels[rows] == 1)
            assert mine.scores[:, j] == pytest.approx(result.predictions.scores[rows])
            assert np.array_equal(found.selected[result.fold][j], result.selected)


def test_predictions_are_those_of_one_against_the_rest() -> None:
    X, labels = problem()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    mine = EachLabel(model).fit(X, labels)
    peer = OneVsRestClassifier(model).fit(X, labels.dense().astype(int))
    new = np.random.default_rng(1).normal(size=(50, 12))
    assert np.array_equal(mine.predict(new), peer.predict(new))
    assert mine.decision_function(new) == pytest.approx(peer.decision_function(new))
    assert len(mine.front_) == 1
    assert mine.score(new, peer.predict(new)) == 1.0
    assert clone(mine).get_params()["estimator__logisticregression__C"] == 1.0


def test_estimates_are_those_of_all_predictions_together() -> None:
    X, labels = problem()
    found = validate_labels("fisher(3) | lda", X, labels, folds=4, repeats=2)
    truth, predicted = found.predictions.truth, found.predictions.labels
    by_repeat = [f1_score(truth[found.repeat == r], predicted[found.repeat == r], average="macro") for r in range(2)]
    assert found.summary()["f1_macro"].mean == pytest.approx(np.mean(by_repeat))
    in_fold = [found.repeat * 4 + found.fold == number for number in range(8)]
    values = [f1_score(truth[rows], predicted[rows], average="micro") for rows in in_fold]
    assert found.values["f1_micro"] == pytest.approx(values)
    sd = np.std(values, ddof=1)
    assert found.summary()["f1_micro"].se == pytest.approx(
        sd * np.sqrt(1 / 8 + found.n_test.mean() / found.n_train.mean())
    )
    assert found.summary()["breakeven_micro"].mean == pytest.approx(found.values["breakeven_micro"].mean())
    assert sorted(found.row.tolist()) == sorted(list(range(120)) * 2)
    assert np.array_equal(truth, labels.dense()[found.row])


def test_the_table_and_the_text_show_each_label() -> None:
    X, labels = problem()
    found = validate_labels("fisher(2) | lda", X, labels, folds=4, threshold="f1")
    table = found.table()
    assert table["label"].to_list() == ["common", "middle", "rare"]
    assert table["rows"].to_list() == labels.sizes.tolist()
    assert table["features"].to_list() == [2.0] * 3
    f1 = f1_score(found.predictions.truth, found.predictions.labels, average=None)
    assert table["f1"].to_list() == pytest.approx(f1.tolist())
    folds = [found.predictions.rows(found.fold == fold) for fold in range(4)]
    rare = [breakeven(one.truth[:, 2], one.scores[:, 2]) for one in folds]
    assert table["breakeven"][2] == pytest.approx(np.mean(rare))
    assert table["threshold"].to_list() == pytest.approx(found.thresholds.mean(axis=0).tolist())
    text = repr(found)
    assert "F1 (micro)" in text
    assert all(name in text for name in labels.names)
    content = found.to_dict()
    json.dumps(content, allow_nan=False)
    assert content["predictions"]["truth"][0] == labels.names[labels.dense()[0]].tolist()
    assert "seconds" not in found.to_dict(seconds=False)
    assert found.features["rare"][0] == 2
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.source is None
    assert found != validate_labels("fisher(1) | lda", X, labels, folds=4)


class Spy(TransformerMixin, BaseEstimator):
    """Passes rows on, and remembers their numbers, which are in the first column, at each fit."""

    seen: ClassVar[list[set[int]]] = []

    def __init__(self, supervised: bool = False) -> None:
        self.supervised = supervised

    def fit(self, X, y=None):
        type(self).seen.append(set(X[:, 0].astype(int).tolist()))
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        return tags


@pytest.mark.parametrize(("threshold", "inner"), [(None, 0), ("f1", 5)])
def test_unsupervised_steps_are_fitted_once_a_fold_and_supervised_ones_once_a_label(threshold, inner) -> None:
    X, labels = problem()
    X[:, 0] = np.arange(len(X))
    splits = StratifiedFolds(3).splits(labels.strata(), seed=0)
    for supervised, times in ((False, 1), (True, 3)):
        Spy.seen.clear()
        model = make_pipeline(Spy(supervised), LogisticRegression(max_iter=3000))
        validate_labels(model, X, labels, folds=3, threshold=threshold)
        assert len(Spy.seen) == 3 * times * (1 + inner)
        each = len(Spy.seen) // 3
        for number, split in enumerate(splits):
            own = Spy.seen[number * each : (number + 1) * each]
            assert not set.union(*own) & set(split.test.tolist())
            # The fits of the fold itself come behind those of its inner folds.
            assert all(one == set(split.train.tolist()) for one in own[-times:])


def test_a_shared_selection_is_the_mean_of_the_scores_weighted_by_the_labels() -> None:
    X, labels = problem()
    model = EachLabel(tamis.recipe("standardize | fisher(4) | lda"), shared_selection=True).fit(X, labels)
    weights = labels.sizes / labels.sizes.sum()
    scaled = StandardScaler().fit_transform(X)
    expected = sum(w * fisher(scaled, labels.has(j)) for j, w in enumerate(weights))
    ranking = model.front_[1]
    assert isinstance(ranking, Ranking)
    assert ranking.scores_ == pytest.approx(expected)
    best = np.sort(np.argsort(-expected)[:4])
    assert ranking.get_support(indices=True).tolist() == best.tolist()
    assert [columns.tolist() for columns in model.selected_] == [best.tolist()] * 3
    assert np.flatnonzero(model.used_).tolist() == best.tolist()
    assert {type(one).__name__ for one in model.estimators_} == {"LDA"}


@pytest.mark.parametrize(("cut", "size"), [("fisher(fraction=0.25)", 3), ("fisher(threshold=-1)", 12)])
def test_a_shared_selection_takes_other_cuts(cut: str, size: int) -> None:
    X, labels = problem()
    found = validate_labels(f"{cut} | lda", X, labels, folds=3, shared_selection=True)
    assert {columns.size for fold in found.selected for columns in fold} == {size}
    assert all(np.array_equal(fold[0], columns) for fold in found.selected for columns in fold)
    assert found.mean_selected == size
    assert "one selection for all labels" in str(found)


def test_unsupervised_and_several_rankings_may_be_shared() -> None:
    X, labels = problem()
    found = validate_labels("variance(10) | fisher(6) | cc(2) | lda", X, labels, folds=3, shared_selection=True)
    assert found.mean_selected == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("standardize | lda", "takes a recipe with a ranking"),
        ("variance(4) | lda", "takes a recipe with a ranking"),
        ("fisher(5) | mrmr(2) | lda", "no other part that uses the labels"),
        ("t(fdr=0.1) | lda", "have no p-values"),
    ],
)
def test_a_recipe_without_a_ranking_cannot_share_its_selection(model: str, message: str) -> None:
    X, labels = problem()
    with pytest.raises(TamisError, match=message):
        validate_labels(model, X, labels, folds=3, shared_selection=True)
    if "variance" in model:
        foreign = make_pipeline(SelectKBest(k=2), LogisticRegression())
        with pytest.raises(TamisError, match=message):
            EachLabel(foreign, shared_selection=True).fit(X, labels)


def test_thresholds_are_those_of_scores_from_inner_folds() -> None:
    X, labels = problem()
    model = EachLabel(LogisticRegression(), threshold="f1", inner_folds=3, random_state=7).fit(X, labels)
    scores = np.empty((120, 3))
    strata = np.unique(labels.strata(), return_inverse=True)[1]
    for train, test in inner_folds(strata, 3, 7, "threshold"):
        for j in range(3):
            scores[test, j] = LogisticRegression().fit(X[train], labels.has(j)[train]).decision_function(X[test])
    assert model.thresholds_.tolist() == [best_threshold(labels.has(j), scores[:, j]) for j in range(3)]
    decided, evidence = model.decide(X)
    assert np.array_equal(decided, evidence >= model.thresholds_)
    assert not np.array_equal(decided, EachLabel(LogisticRegression()).fit(X, labels).predict(X) == 1)


def test_thresholds_find_a_rare_label_that_the_classifier_misses() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    rare = X[:, 0] + rng.normal(size=400) > 2.2
    indicator = np.column_stack([rare, X[:, 1] > 0])
    plain, chosen = (
        validate_labels(LogisticRegression(), X, indicator, folds=5, threshold=one).table().sort("label")["f1"][0]
        for one in (None, "f1")
    )
    assert chosen > plain + 0.05


def test_folds_have_equal_shares_of_the_rarest_label() -> None:
    rng = np.random.default_rng(3)
    labels = LabelSets.of(rng.random((200, 6)) < [0.6, 0.5, 0.3, 0.2, 0.1, 0.06])
    splits = StratifiedFolds(4).splits(labels.strata(), seed=0)
    counts = np.array([labels.rows(split.test).sizes for split in splits])
    rarest = int(labels.sizes.argmin())
    assert np.ptp(counts[:, rarest]) <= 1
    # Any label differs less than in unstratified folds of this size, by three deviations.
    shares = labels.sizes / 200
    assert (np.ptp(counts, axis=0) <= 3 * np.sqrt(50 * shares * (1 - shares))).all()


@pytest.mark.parametrize("split", ["official", "leave-one-out", "pooled"])
def test_other_splits(split: str) -> None:
    X, labels = problem(60)
    parts = np.repeat(["train", "valid"], [40, 20])
    data = Dataset(X, labels.joined(), np.array([f"x{i}" for i in range(12)]), split=parts)
    found = validate_labels("fisher(2) | lda", data, split=split, folds=3)
    rows = {"official": range(40, 60), "leave-one-out": range(60), "pooled": range(60)}[split]
    assert found.row.tolist() == list(rows)
    assert found.data == "data"
    if split != "pooled":
        assert len(found.values["f1_micro"]) == 1
        assert np.isnan(found.summary()["f1_micro"].sd)
        assert found.summary()["f1_micro"].se > 0


def test_rows_without_a_label_can_be_left_out() -> None:
    X, labels = problem()
    groups = np.arange(120) // 2
    found = validate_labels("fisher(2) | lda", X, labels, folds=3, groups=groups, labelled_only=True)
    there = np.flatnonzero(labels.labels_per_row)
    assert found.row.tolist() == there.tolist()
    assert 0 < there.size < 120
    assert (found.n_train + found.n_test).tolist() == [there.size] * 3
    alone = validate_labels("fisher(2) | lda", X[there], labels.rows(there), folds=3, groups=groups[there])
    assert np.array_equal(alone.predictions.scores, found.predictions.scores)


def test_frames_with_words_and_missing_values() -> None:
    X, labels = problem()
    word = np.where(labels.has(2), "yes", np.where(X[:, 5] > 0, "no", "maybe"))
    frame = pl.DataFrame({"word": word, "x": X[:, 0], "y": np.where(X[:, 3] > 1, np.nan, X[:, 1])})
    found = validate_labels("lda", frame.with_columns(pl.col("y").fill_nan(None)), labels, folds=3)
    assert found.recipe == "impute | encode | lda"
    assert found.table()["f1"][2] == 1.0


def test_groups_stay_together() -> None:
    X, labels = problem()
    groups = np.arange(120) // 4
    found = validate_labels("fisher(2) | lda", X, labels, folds=3, groups=groups)
    by_group = {group: set(found.fold[groups[found.row] == group].tolist()) for group in range(30)}
    assert all(len(folds) == 1 for folds in by_group.values())


def test_a_label_of_no_test_row_is_left_out_of_the_macro_mean_and_said_so() -> None:
    X, labels = problem(60)
    indicator = labels.dense().copy()
    indicator[40:, 2] = False
    parts = np.repeat(["train", "test"], [40, 20])
    sets = LabelSets.of(indicator, names=["a", "b", "lost"])
    data = Dataset(X, sets.joined(), np.arange(12), split=parts)
    found = validate_labels("fisher(2) | lda", data, split="official")
    assert found.untested == ["lost"]
    assert "no test row has the label lost: left out of the macro means" in str(found)
    truth, predicted = found.predictions.truth, found.predictions.labels
    assert found.summary()["f1_macro"].mean == pytest.approx(f1_score(truth[:, :2], predicted[:, :2], average="macro"))
    assert found.table().filter(pl.col("label") == "lost")["f1"].to_list() == [None]


def test_a_label_without_training_rows_and_one_of_all_rows_are_predicted_without_a_classifier() -> None:
    X, labels = problem(60)
    indicator = labels.dense().copy()
    indicator[:, 1], indicator[:, 2] = True, False
    model = EachLabel(LogisticRegression(), threshold="f1").fit(X, LabelSets.of(indicator))
    assert [one is None for one in model.estimators_] == [False, True, True]
    decided, scores = model.decide(X)
    assert decided[:, 1].all()
    assert not decided[:, 2].any()
    assert (scores[:, 1] == np.inf).all()
    assert (scores[:, 2] == -np.inf).all()
    assert model.selected_[1].size == 0


def test_a_label_of_one_row_can_be_validated_where_it_is_asked_for() -> None:
    X, labels = problem(60)
    indicator = labels.dense().copy()
    indicator[:, 2] = np.arange(60) == 5
    found = validate_labels("fisher(2) | lda", X, indicator, folds=3, min_rows=1)
    assert found.table()["rows"].to_list()[-1] == 1
    assert found.table()["recall"].to_list()[-1] == 0.0
    default = validate_labels("fisher(2) | lda", X, indicator, folds=3)
    assert default.left_out == {"2": 1}
    assert default.labels.tolist() == ["0", "1"]


def test_one_label_is_enough() -> None:
    X, labels = problem()
    found = validate_labels("fisher(1) | lda", X, labels.dense()[:, :1], folds=3)
    alone = f1_score(labels.has(0)[found.row], found.predictions.labels[:, 0])
    assert found.summary()["f1_micro"].mean == found.summary()["f1_macro"].mean == pytest.approx(alone)


def test_more_folds_than_a_stratum_has_rows() -> None:
    rng = np.random.default_rng(0)
    X, indicator = rng.normal(size=(24, 3)), np.eye(8, dtype=bool)[np.arange(24) % 8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = validate_labels(LogisticRegression(), X, indicator, folds=6, min_rows=2)
    assert found.n_test.tolist() == [4] * 6


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (None, {}, "labels is missing"),
        ([["a"], ["b"]], {}, "2 sets of labels for 60 rows"),
        ([["a"]] * 60, {}, "no label is left"),
        ([[]] * 60, {}, "no label is left"),
        (["a|b"] * 60, {}, "the mark ';' is in none"),
        (["a;b", "b"] * 30, {"split": "bootstrap"}, "split 'bootstrap' has neither"),
        (["a;b", "b"] * 30, {"threshold": "best"}, "threshold must be 'f1' or None"),
        (["a;b", "b"] * 30, {"inner_folds": 1}, "inner_folds must be a whole number of 2"),
        (["a;b", "b"] * 30, {"top": 0}, "top must be a whole number"),
        (["a;b", "b"] * 30, {"folds": 31}, "no label is left: each needs 31 rows"),
        (["a;b", "b"] * 30, {"split": "official"}, "no official split"),
    ],
)
def test_bad_input_is_refused(labels, options, message) -> None:
    X, _ = problem(60)
    with pytest.raises(TamisError, match=message):
        validate_labels("fisher(2) | lda", X, labels, **options)


def test_a_fold_that_fails_says_where() -> None:
    X, labels = problem(60)
    X[3, 3] = np.nan
    with pytest.raises(TamisError, match=r"repeat 1, fold 1: .*NaN"):
        validate_labels(LogisticRegression(), X, labels, folds=3)
    # A recipe gets what the data needs.
    assert validate_labels("lda", X, labels, folds=3).recipe == "impute | lda"


def test_bad_rows_of_a_model_are_refused() -> None:
    X, labels = problem(60)
    with pytest.raises(TamisError, match="60 sets of labels for 59 rows"):
        EachLabel(LogisticRegression()).fit(X[:59], labels)
    with pytest.raises(TamisError, match="none of the 60 rows has a label"):
        EachLabel(LogisticRegression()).fit(X, [[]] * 60)
    with pytest.raises(TamisError, match="takes 12 columns; got 5"):
        EachLabel(LogisticRegression()).fit(X, labels).predict(X[:, :5])


def test_the_result_does_not_depend_on_the_engine() -> None:
    X, labels = problem()
    options = {"folds": 3, "threshold": "f1", "seed": 2}
    one = validate_labels("fisher(3) | forest(5)", X, labels, **options)
    steps: list[tuple[float, float]] = []
    two = validate_labels(
        "fisher(3) | forest(5)",
        X,
        labels,
        engine="local(2)",
        progress=lambda done, total: steps.append((done, total)),
        **options,
    )
    assert one == two
    assert np.array_equal(one.predictions.scores, two.predictions.scores)
    assert steps[-1] == (3, 3)


@pytest.mark.parametrize("threshold", [None, "f1"])
def test_a_model_can_be_saved(tmp_path, threshold) -> None:
    X, labels = problem()
    data = Dataset.of(X, labels.joined())
    model = EachLabel(tamis.recipe("standardize | fisher(2) | svm(linear)"), threshold=threshold, random_state=0)
    model.fit(X, labels)
    save_model(tmp_path / "labels.tamis-model", model, card_of(model, data))
    again, card = load_model(tmp_path / "labels.tamis-model")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert card.classes == labels.names.tolist()
    assert card.uses == [f"{column}" for column in np.flatnonzero(model.used_)]
    found = tamis.predict(tmp_path / "labels.tamis-model", data)
    assert found.table["labels"].to_list() == model.predict_joined(X).tolist()
    assert found.table["score of rare"].to_list() == model.decision_function(X)[:, 2].tolist()
    expected = f1_score(labels.dense(), model.predict(X), average="micro")
    assert found.error["f1_micro"] == pytest.approx(expected)
    assert found.error["rows"] == 120
    assert any("fitted on" in note for note in found.notes)
    assert tamis.predict(tmp_path / "labels.tamis-model", X).error is None


def test_errors_of_predictions_leave_out_unknown_labels(tmp_path) -> None:
    X, labels = problem()
    model = EachLabel(LogisticRegression()).fit(X, labels)
    save_model(tmp_path / "m.tamis-model", model, card_of(model, Dataset.of(X, labels.joined())))

    def predicted(y: list[str]) -> tamis.validation.predict.Predicted:
        return tamis.predict(tmp_path / "m.tamis-model", Dataset.of(X[: len(y)], y))

    known = predicted(["common;new", "rare", "middle"])
    assert known.error["rows"] == 3
    assert known.notes == ["labels that the model does not know do not count: new"]
    # One label a row needs no mark.
    assert predicted(["common", "rare"]).error["rows"] == 2
    strange = predicted(["x;y", "z"])
    assert strange.error is None
    assert strange.notes == ["none of the labels in 'class' is one that the model knows, so no error is reported"]
