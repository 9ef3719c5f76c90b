"""The answer of a report and what it is said with: intervals, false features, sentences, plain values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.base.feature_tracking import used_features
from tamis.compose.catalog import catalog
from tamis.compose.chain import Call
from tamis.data.dataset import Dataset
from tamis.mining.mined import Mined
from tamis.mining.search import mine
from tamis.reporting.answer import chance, interval, mined_answer, validated_answer
from tamis.reporting.sentence import sentence
from tamis.validation.json_values import plain
from tamis.validation.metrics import FoldPredictions, Metric, all_metrics
from tamis.validation.result import Estimate
from tamis.validation.whole import validate

COMMANDS = [{"what": "predict new rows", "command": "tamis predict model.skops new.csv"}]


def planted(n_classes: int = 2, probes: bool = False) -> Dataset:
    """Rows whose first three columns tell the class."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) % n_classes)
    X = rng.normal(size=(60, 30))
    X[:, :3] += 2.0 * y[:, None]
    roles = np.array(["informative"] * 3 + ["probe"] * 27) if probes else None
    return Dataset(X, y, np.array([f"gene {j}" for j in range(30)]), roles=roles)


@pytest.mark.parametrize("counts", [(30, 10), (5, 20, 25)])
@pytest.mark.parametrize("name", sorted(all_metrics))
def test_chance_is_what_the_largest_class_reaches(name: str, counts: tuple[int, ...]) -> None:
    truth = np.repeat(np.arange(len(counts)), counts)
    shares = np.tile(np.array(counts) / sum(counts), (truth.size, 1))
    labels = np.full(truth.size, int(np.argmax(counts)))
    scores = shares[:, 1] if len(counts) == 2 else shares
    known = chance(all_metrics[name], truth)
    if name == "f1_macro":
        assert known is None
    else:
        assert known == pytest.approx(all_metrics[name](FoldPredictions(truth, labels, len(counts), scores, shares)))


def test_the_chance_of_another_metric_is_not_known() -> None:
    assert chance(Metric("ber", "mine", "low", "labels", lambda _: 0.0), np.array([0, 1])) is None


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    path: Path = tmp_path_factory.mktemp("run") / "run.tamis"
    only = ("standardize | cc | knn(metric=minkowski)",)
    options: dict[str, Any] = {"trials": 12, "only": only, "without": ["committee"], "engine": "serial"}
    return mine(planted(probes=True), **options, folds=3, inner_folds=3, run=path)


def test_a_search_is_answered_by_its_outer_folds(found: Mined) -> None:
    mask = used_features(found.model, 30)
    assert mask is not None
    told = mined_answer(found, planted(probes=True), used=np.flatnonzero(mask), commands=COMMANDS)
    json.dumps(told, allow_nan=False)
    estimate = found.validation_.estimates["ber"]
    assert told["recipe"] == found.recipe_
    assert told["sentence"].startswith("an ensemble, the mean probability of")
    assert sum(one["share"] for one in told["members"]) == pytest.approx(1.0)
    assert all(one["sentence"] in sentence(found.recipe_) for one in told["members"])
    assert told["metric"] == {"name": "ber", "title": "BER", "better": "low"}
    assert (told["honest"]["mean"], told["honest"]["se"]) == (estimate.mean, estimate.se)
    assert told["honest"]["low"] == pytest.approx(max(0, estimate.mean - 1.96 * estimate.se))
    assert told["honest"]["high"] == pytest.approx(estimate.mean + 1.96 * estimate.se)
    assert told["inner_estimate"] == {"mean": found.inner_estimate_.mean, "se": found.inner_estimate_.se}
    assert told["optimism"] == found.optimism_
    assert (told["n_used"], told["n_features"]) == (mask.sum(), 30)
    assert told["commands"] == COMMANDS


def test_false_features_are_the_share_of_probes_in_the_honest_folds(found: Mined) -> None:
    told = mined_answer(found, planted(probes=True), used=np.arange(7), commands=[])
    assert found.validation_.probe_share is not None
    assert told["false_features"]["expected"] == pytest.approx(found.validation_.probe_share * told["n_used"])
    assert told["false_features"]["probes"] == 27
    assert f"{100 * found.validation_.probe_share:.3g} %" in told["false_features"]["how"]


def test_without_probes_nothing_is_known_of_false_features(found: Mined) -> None:
    assert mined_answer(found, planted(), used=np.arange(7), commands=[])["false_features"] is None
    assert mined_answer(found, planted(), used=None, commands=[])["n_used"] is None
    useful = Dataset(planted().X, planted().y, planted().feature_names, roles=np.array(["informative"] * 30))
    assert validated_answer(validate("cc(5) | knn", useful, folds=3), useful, commands=[])["false_features"] is None


@pytest.mark.parametrize("n_classes", [2, 6])
def test_a_validation_is_answered_too(n_classes: int) -> None:
    data = planted(n_classes, probes=True)
    validation = validate("cc(6) | knn(3)", data, folds=3)
    told = validated_answer(validation, data, commands=COMMANDS)
    json.dumps(told, allow_nan=False)
    assert (told["n_used"], told["n_features"]) == (6, 30)
    assert (told["inner_estimate"], told["optimism"]) == (None, None)
    assert validation.selected is not None
    probes = np.mean([np.mean(columns >= 3) for columns in validation.selected])
    assert told["false_features"]["expected"] == pytest.approx(6 * probes)


def test_added_probes_are_no_features_of_the_data() -> None:
    """Of 30 useless columns about as many pass as of 30 probes beside them, whatever the number of probes."""
    rng = np.random.default_rng(3)
    data = Dataset(rng.normal(size=(60, 30)), np.arange(60) % 2, np.array([f"x{j}" for j in range(30)]))
    validation = validate("cc(20) | knn(3)", data, folds=5, probes=0.75)
    told = validated_answer(validation, data, commands=[])
    assert validation.selected is not None
    own = np.mean([np.sum(columns < 30) for columns in validation.selected])
    assert (told["n_used"], told["n_features"]) == (round(own), 30)
    false = told["false_features"]
    assert false["probes"] == 90
    assert false["expected"] == pytest.approx(min(told["n_used"], (20 - own) / 90 * 30))
    assert false["expected"] == pytest.approx(own, abs=2.5)


def test_what_is_no_recipe_is_said_as_it_is() -> None:
    from sklearn.naive_bayes import GaussianNB

    data = planted()
    told = validated_answer(validate(GaussianNB(), data, folds=3), data, commands=[])
    assert told["sentence"] == told["recipe"] == "GaussianNB()"


@pytest.mark.parametrize(
    ("name", "mean", "se", "expected"),
    [
        ("ber", 0.02, 0.1, (0.0, 0.216)),
        ("auc", 0.95, 0.1, (0.754, 1.0)),
        ("log_loss", 0.9, 0.5, (0.0, 1.88)),
        ("ber", 0.5, 0.1, (0.304, 0.696)),
    ],
)
def test_intervals_end_where_the_measure_does(name: str, mean: float, se: float, expected: tuple[float, float]) -> None:
    assert interval(Estimate(mean, 0.1, se), all_metrics[name]) == pytest.approx(expected)


def test_of_a_measure_from_elsewhere_no_ends_are_known() -> None:
    profit = Metric("profit", "profit", "high", "labels", lambda answers: 7.0)
    assert interval(Estimate(7.0, 1.0, 5.0), profit) == pytest.approx((-2.8, 16.8))


def test_an_estimate_without_error_has_no_interval() -> None:
    assert plain(interval(Estimate(0.25, float("nan"), float("nan")), all_metrics["ber"])) == [None, None]


@pytest.mark.parametrize("name", sorted(catalog()))
def test_every_part_can_be_said(name: str) -> None:
    """By itself and with one value of every range that a search may try."""
    known = catalog()[name]
    values = {p: domain.values()[-1] for p, domain in known.card.search.items()}
    written = str(Call(name, tuple((p, values[p]) for p in known.parameters if p in values)))
    for text in (name, written):
        said = sentence(text)
        assert said
        assert said != text
        assert "\n" not in said
        assert "{" not in said
        longer = f"standardize | {text}" if known.kind in ("classifier", "regressor") else f"{text} | svm"
        assert said in sentence(longer)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ssv(20) | svm(gaussian)", ["SSV", "best 20, then a support vector machine with Gaussian kernel"]),
        ("t(fdr=0.05, welch=true) | knn(1)", ["false discovery rate of 5 % (welch = true)", "the nearest neighbour"]),
        ("cc(1) | svm(linear, C=10, class_weight=balanced)", ["the best one", "(C = 10, the classes weigh the same)"]),
        ("cc(threshold=0.3) | knn(auto)", ["those above 0.3", "cross-validation"]),
        ("pca(0.9) | centroid(0.5)", ["90 % of the variance", "shrunken by 0.5"]),
        ("rfe(fraction=0.1) | logistic(l1)", ["until 10 % are left", "L1 penalty"]),
        ("with_probes(ssv, fdr=0.2) | knn", ["best split (SSV)", "permuted copies", "20 % of it false"]),
        ("stability_selection(cc(9), times=25, threshold=0.6)", ["keeps the best 9", "60 % of 50 halves"]),
        ("stability_selection(max_false=2.0)", ["correlation with the target", "at most 2 are false"]),
        ("mrmr(20, criterion=fcq) | knn", ["selects 20 features", "F statistic and correlation"]),
        ("contrasts(forest) | knn", ["above permuted copies of all features (engine = forest)"]),
        ("normalize(max) | lda", ["its largest absolute value", "linear discriminant analysis"]),
        (
            "standardize | vote(ssv(30), ssv_tree, cc(30)) | nrbf(sigma=0.1)",
            ["at least 2 of 3 selections", "(3) ranks the features by correlation", "(sigma = 0.1)"],
        ),
        (
            "repeat(standardize | ssv_tree, times=5, k=3) | tree(balanced_error)",
            ["5 times over", "at most 3 at a time", "[standardizes every feature, then keeps", "by balanced error"],
        ),
        ("from_model(forest(50), 9) | knn", ["in a random forest of 50 trees and keeps the best 9"]),
        (
            "committee(9, cc(8) | svm, how=average)",
            ["mean probability of 9 copies", "[ranks", "keeps the best 8, then"],
        ),
        (
            "blend(committee(3, cc(5) | boost(40)), extra_trees, weights=[2, 1])",
            ["2 models", "weighted 2 to 1", "(1) the vote of 3 copies", "40 small trees", "(2) 200 extremely"],
        ),
        (
            "sfs(knn(3), k=2) | svm",
            ["selector sfs (estimator = the vote of the 3 nearest neighbours, k = 2) [forward selection"],
        ),
    ],
)
def test_sentences_say_what_matters(text: str, words: list[str]) -> None:
    said = sentence(text)
    for word in words:
        assert word in said
    assert said.count("[") == said.count("]")


@pytest.mark.parametrize("text", ["the choice of the search", "GaussianNB()", "cc({5, 50}) | knn", ""])
def test_a_text_that_is_no_single_recipe_is_given_back(text: str) -> None:
    assert sentence(text) == text


PARTS = ["standardize", "cc(5)", "ssv_tree", "pca(2)", "rfe(3)", "vote(cc(3), t(4))", "repeat(cc(2), times=2)"]
ENDS = ["svm(gaussian, C=2)", "knn(3)", "tree", "nrbf"]


@given(
    st.recursive(
        st.builds(
            lambda steps, end: " | ".join([*steps, end]), st.lists(st.sampled_from(PARTS)), st.sampled_from(ENDS)
        ),
        lambda inner: (
            st.builds("committee(5, {})".format, inner)
            | st.builds("blend({}, {})".format, inner, inner)
            | st.builds("from_model(svm, k=3) | committee(3, {})".format, inner)
        ),
        max_leaves=6,
    )
)
def test_nested_recipes_can_be_said(text: str) -> None:
    said = sentence(text)
    assert said != text
    assert said.count("[") == said.count("]")
    assert said.count("the vote of the 3 nearest neighbours") == text.count("knn(3)")


def test_plain_values() -> None:
    given_ = {
        1: np.float32(0.5),
        "whole": np.int64(3),
        "yes": np.True_,
        "text": np.str_("a"),
        "holes": [float("nan"), np.inf, -np.inf, None],
        "table": np.array([[1.0, np.nan], [2.0, 3.0]]),
        "column": pl.Series([1, None]),
        "pair": ("a", Path("b")),
        "set": {"c"},
    }
    assert plain(given_) == {
        "1": 0.5,
        "whole": 3,
        "yes": True,
        "text": "a",
        "holes": [None, None, None, None],
        "table": [[1.0, None], [2.0, 3.0]],
        "column": [1, None],
        "pair": ["a", "b"],
        "set": ["c"],
    }
    assert type(plain(np.str_("a"))) is str
    assert type(plain(np.True_)) is bool


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.floats(width=32).map(np.float32),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_plain_values_are_taken_by_json_and_stay_as_they_are(value: Any) -> None:
    once = plain(value)
    assert json.loads(json.dumps(once, allow_nan=False)) == once
    assert plain(once) == once
