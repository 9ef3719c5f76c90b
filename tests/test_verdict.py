"""The verdict on several models: each part against the test it comes from, and the words against the numbers."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from planted import chain, dataset, planted
from tamis.base.errors import TamisError
from tamis.validation.comparison.friedman import friedman
from tamis.validation.comparison.mcnemar import mcnemar
from tamis.validation.comparison.paired import bayesian_t, corrected_t, holm
from tamis.validation.comparison.verdict import Comparison, compare
from tamis.validation.metrics import Metric, all_metrics
from tamis.validation.result import Estimate, Predictions, Validation
from tamis.validation.whole import validate

#: Ten folds of a good model.
GOOD = np.array([0.10, 0.12, 0.14, 0.11, 0.13, 0.12, 0.10, 0.13, 0.12, 0.11])
#: What others have beside it: nothing systematic, and a little of everything.
NOISE = np.array([0.01, -0.02, 0.03, -0.01, 0.02, -0.03, 0.01, 0.00, 0.02, -0.01])


def judged(
    recipe: str,
    values: Sequence[float],
    *,
    features: int | None = 10,
    wrong: Sequence[int] = (),
    metric: str = "ber",
) -> Validation:
    """A validation with these values in the folds, these rows answered wrongly and this number of features."""
    values = np.asarray(values, dtype=float)
    folds, rows = values.size, 100
    row = np.arange(rows)
    truth = row % 2
    label = truth.copy()
    label[list(wrong)] = 1 - label[list(wrong)]
    n_test = rows // max(folds, 2)
    known = values[~np.isnan(values)]
    return Validation(
        recipe=recipe,
        data="made up",
        split="official split" if folds == 1 else f"{folds} stratified folds",
        seed=0,
        classes=np.array([0, 1]),
        metrics=(all_metrics[metric],),
        values={metric: values},
        estimates={metric: Estimate(float(known.mean()) if known.size else np.nan, np.nan, np.nan)},
        predictions=Predictions(np.zeros(rows, int), row % folds, row, truth, label, None, None),
        n_train=np.full(folds, rows - n_test),
        n_test=np.full(folds, n_test),
        n_features=10000,
        selected=None if features is None else (np.arange(features),) * folds,
        stability=None,
        probe_share=None,
        fit_seconds=np.zeros(folds),
        predict_seconds=np.zeros(folds),
    )


def test_every_part_is_the_test_it_comes_from() -> None:
    X, y = planted(rows=90)
    models = [chain(1), chain(2), chain(10), GaussianNB()]
    given = [validate(model, X, y, folds=5, repeats=2) for model in models]
    found = compare(given, "accuracy", level=0.1, rope=0.02)
    means = [v.summary()["accuracy"].mean for v in given]
    order = [found.best.position, *(r.model.position for r in found.rivals)]
    assert [means[i] for i in order] == pytest.approx(sorted(means, reverse=True))
    assert [c.features for c in (found.best, *(r.model for r in found.rivals))] == [
        given[i].mean_selected for i in order
    ]
    best = given[order[0]]
    once = best.predictions.repeat == 0
    assert once.sum() == 90
    errors = []
    for rival in found.rivals:
        own = given[rival.model.position]
        gap = own.values["accuracy"] - best.values["accuracy"]
        assert rival.difference.pvalue == pytest.approx(corrected_t(gap, 18 / 72).pvalue)
        assert rival.difference.interval == pytest.approx(corrected_t(gap, 18 / 72, level=0.1).interval)
        bayes = bayesian_t(gap, 18 / 72, 0.02)
        assert (rival.bayes.left, rival.bayes.rope) == pytest.approx((bayes.left, bayes.rope))
        wrong = [(v.predictions.label != v.predictions.truth)[once] for v in (best, own)]
        errors.append(mcnemar(*wrong))
        assert rival.errors == errors[-1]
        assert rival.fewer == pytest.approx(best.mean_selected / own.mean_selected)
        assert rival.test == "corrected t"
        assert rival.worse == (rival.pvalue < 0.1)
    assert [r.pvalue for r in found.rivals] == pytest.approx(holm([r.difference.pvalue for r in found.rivals]))
    assert [r.errors_pvalue for r in found.rivals] == pytest.approx(holm([e.pvalue for e in errors]))
    ranks = friedman(np.array([given[i].values["accuracy"] for i in order]).T, level=0.1)
    assert found.friedman.to_dict() == ranks.to_dict()


def test_low_is_better_turns_the_probabilities() -> None:
    found = compare([judged("a", GOOD), judged("b", GOOD + 0.05 + NOISE / 10)])
    (b,) = found.rivals
    assert (found.best.name, b.model.name, b.worse) == ("a", "b", True)
    assert b.difference.mean == pytest.approx(0.0502)
    assert b.bayes.left > 0.99
    high = compare([judged("a", GOOD, metric="auc"), judged("b", GOOD + 0.05 + NOISE / 10, metric="auc")])
    assert high.best.name == "b"
    assert high.rivals[0].bayes.left == pytest.approx(b.bayes.left)
    assert high.rivals[0].difference.mean == pytest.approx(-0.0502)


def test_the_order_given_does_not_matter() -> None:
    kinds = (("a", 0, 100), ("b", 1, 10), ("c", 2, 5), ("d", 3, 1))
    given = [judged(name, GOOD + shift * NOISE + shift / 50, features=k) for name, shift, k in kinds]
    one = compare(given)
    for turned in ([3, 1, 0, 2], [1, 0, 3, 2]):
        two = compare([given[i] for i in turned])
        assert two.sentences() == one.sentences()
        assert [turned[r.model.position] for r in two.rivals] == [r.model.position for r in one.rivals]
        assert [r.pvalue for r in two.rivals] == [r.pvalue for r in one.rivals]


def test_equal_models_tie_whatever_the_rounding() -> None:
    """The one with fewer features goes first, and the differences and ranks of the last binary digit are none."""
    shaken = np.nextafter(GOOD, 1)
    found = compare([judged("many", GOOD, features=50), judged("few", shaken, features=5), judged("more", GOOD)])
    assert [found.best.name, *(r.model.name for r in found.rivals)] == ["few", "more", "many"]
    assert all(r.difference.pvalue == 1.0 and r.difference.mean == 0.0 and not r.worse for r in found.rivals)
    assert found.friedman.mean_ranks.tolist() == [2.0, 2.0, 2.0]


def test_one_test_set_is_judged_by_mcnemar_alone() -> None:
    best = judged("a", [0.05], wrong=range(5))
    near = judged("b", [0.08], wrong=range(8))
    far = judged("c", [0.25], wrong=range(25))
    found = compare([best, near, far])
    assert [r.test for r in found.rivals] == ["McNemar"] * 2
    assert [r.worse for r in found.rivals] == [False, True]
    assert [r.pvalue for r in found.rivals] == pytest.approx([2 * 0.5**3, 2 * 2 * 0.5**20])
    assert np.isnan(found.rivals[0].difference.pvalue)
    assert found.friedman is None
    text = str(found)
    assert "b is not distinguishable from a (BER 0.080 against 0.050, McNemar p = 0.25) and uses about as" in text
    assert "c is worse than a by 0.200 (BER 0.250 against 0.050, McNemar p < 0.001)" in text
    assert "The McNemar test of the errors decides at the level 0.05" in text
    assert "corrected t" not in text


def test_fewer_errors_never_make_a_model_worse() -> None:
    """The BER weighs errors by class: a model may have the higher BER and fewer errors."""
    given = [judged("a", [0.10], wrong=range(30)), judged("b", [0.12], wrong=[0])]
    (b,) = compare(given).rivals
    assert b.pvalue < 0.05
    assert not b.worse
    assert "not distinguishable from a (BER 0.120 against 0.100, McNemar p < 0.001 for fewer errors)" in str(
        compare(given)
    )


def test_more_errors_at_an_equal_measure_are_not_worse() -> None:
    (b,) = compare([judged("a", [0.1], wrong=[0]), judged("b", [0.1], wrong=range(30))]).rivals
    assert b.model.name == "b"
    assert b.pvalue < 0.05
    assert not b.worse


def test_real_splits_that_give_one_value() -> None:
    X, y = planted(rows=30)
    data = dataset(X, y, split=np.repeat(["train", "valid"], 15))
    for split in ("official", "leave-one-out"):
        found = compare([validate(chain(k), data, split=split) for k in (2, 40)])
        assert {r.test for r in found.rivals} == {"McNemar"}
        json.dumps(found.to_dict(), allow_nan=False)
        assert str(found)


def test_friedman_needs_three_models_and_three_folds() -> None:
    assert compare([judged("a", GOOD), judged("b", GOOD + NOISE)]).friedman is None
    assert compare([judged(name, [0.1, 0.2]) for name in "abc"]).friedman is None
    assert compare([judged(name, [0.1, 0.2, np.nan]) for name in "abc"]).friedman is None
    assert compare([judged(name, [0.1, 0.2, 0.3]) for name in "abc"]).friedman is not None


def test_undefined_folds_are_left_out() -> None:
    a, b = np.append(GOOD, np.nan), np.append(GOOD + NOISE, np.nan)
    (rival,) = compare([judged("a", a), judged("b", b)]).rivals
    assert rival.difference.n_folds == 10
    assert rival.difference.mean == pytest.approx(NOISE.mean())


def test_holm_keeps_a_crowd_from_being_called_worse() -> None:
    """A difference that is significant alone is not when it is the largest of thirty."""
    odd = judged("odd", GOOD + 0.022 + NOISE)
    assert compare([judged("a", GOOD), odd]).rivals[0].worse
    crowd = [judged(f"m{i}", GOOD + np.roll(NOISE, i) + 0.002) for i in range(29)]
    found = compare([judged("a", GOOD), odd, *crowd])
    (again,) = (r for r in found.rivals if r.model.name == "odd")
    assert again.difference.pvalue < 0.05 < again.pvalue
    assert not again.worse


def test_the_sentence_of_the_brief() -> None:
    given = [
        judged("cc(5000) | svm(linear)", GOOD, features=5000, wrong=range(12)),
        judged("cc(50) | svm(linear)", GOOD + NOISE + 0.001, features=50, wrong=range(2, 16)),
    ]
    found = compare(given)
    (rival,) = found.rivals
    best, line, *rest = found.sentences()
    assert best == (
        "The best of 2 models by BER (made up, 10 stratified folds) is cc(5000) | svm(linear): 0.118 with 5000 features"
    )
    assert line == (
        "cc(50) | svm(linear) is not distinguishable from cc(5000) | svm(linear) (BER 0.121 against 0.118, "
        f"corrected t p = {rival.difference.pvalue:.2f}, McNemar p = {rival.errors.pvalue:.2f}) "
        "and uses 100x fewer features (50 against 5000)"
    )
    assert rest == [
        "The corrected t-test decides at the level 0.05",
        "Not distinguishable means that these data cannot tell the two apart, not that they are equal",
    ]
    assert found.simplest == rival.model


@pytest.mark.parametrize(
    ("best", "other", "words"),
    [
        (10, 40, "but uses 4x more features (40 against 10)"),
        (10, 4, "and uses 2.5x fewer features (4 against 10)"),
        (100, 98, "and uses about as many features (98 against 100)"),
        (10, None, ")"),
        (None, 10, ")"),
        (10, 0, ")"),
        (0, 10, ")"),
    ],
)
def test_words_for_the_features(best: int | None, other: int | None, words: str) -> None:
    line = compare([judged("a", GOOD, features=best), judged("b", GOOD + NOISE + 0.001, features=other)]).sentences()[1]
    assert line.endswith(words)
    if words == ")":
        assert "features" not in line


def test_words_for_worse_models() -> None:
    worse = judged("b", GOOD + 0.045 + NOISE / 5, features=2, wrong=range(3, 20))
    line = compare([judged("a", GOOD, features=20), worse]).sentences()[1]
    assert line == (
        "b is worse than a by 0.045 (BER 0.163 against 0.118, corrected t p < 0.001, McNemar p < 0.001) "
        "but uses 10x fewer features (2 against 20)"
    )


def test_words_for_models_that_are_practically_the_same() -> None:
    near = judged("b", GOOD + NOISE / 10 + 0.0001)
    found = compare([judged("a", GOOD), near])
    p = found.rivals[0].bayes.rope
    assert p > 0.99
    assert f"b is practically the same as a (probability {p:.2f} that they differ by less than 0.01; BER" in str(found)
    # Nothing is left to caution against: this is a statement that they are equal.
    assert "Not distinguishable" not in str(found)
    steady = compare([judged("a", GOOD), judged("b", GOOD + NOISE / 20 + 0.003)])
    words = "b is worse than a by 0.003 (too little to matter: probability 1.00 that they differ by less than 0.01; "
    assert words in str(steady)


def test_a_small_p_value_says_what_it_speaks_for() -> None:
    given = [judged("a", GOOD), judged("b", GOOD + NOISE + 0.001, wrong=range(9))]
    assert "McNemar p = 0.004 for more errors) and" in compare(given).sentences()[1]


def crowd(n: int, worse: int) -> list[Validation]:
    rng = np.random.default_rng(0)
    # The best is best in the mean, and all others swing around it or lie far behind.
    swings = [0.001 + 0.02 * (d - d.mean()) for d in rng.normal(size=(n - 1, 10))]
    return [judged("cc(999) | knn", GOOD, features=999)] + [
        judged(f"cc({i}) | knn", GOOD + d + (0.2 if i <= worse else 0.0), features=i) for i, d in enumerate(swings, 1)
    ]


def test_a_hundred_models_in_a_few_lines_and_little_time() -> None:
    given = crowd(100, worse=30)
    compare(given[:3])
    start = time.perf_counter()
    found = compare(given)
    lines = found.sentences()
    assert time.perf_counter() - start < 1.0
    assert len(lines) == 7
    assert lines[0].startswith("The best of 100 models by BER (made up, 10 stratified folds) is cc(999) | knn: 0.118")
    assert lines[1] == "Of the other 99 models 69 are not distinguishable from it and 30 are worse"
    assert lines[2].startswith("The simplest of those not distinguishable: cc(31) | knn is not distinguishable from")
    assert lines[2].endswith("and uses 32x fewer features (31 against 999)")
    assert lines[3].startswith("Ranked in each fold the models differ (Friedman p < 0.001; Nemenyi finds ")
    assert found.simplest.name == "cc(31) | knn"
    assert "p-values adjusted for 99 comparisons (Holm)" in lines[4]
    assert lines[-1].startswith("The best was chosen on its test rows: its own figure is optimistic")
    assert len(found.sentences(most=99)) == 104


def test_a_crowd_of_which_the_best_is_the_simplest_or_all_others_are_worse() -> None:
    first, *others = crowd(20, worse=0)
    found = compare([replace(first, selected=(np.arange(1),) * 10), *others[1:]])
    assert found.simplest == found.best
    assert found.sentences()[1] == (
        "Of the other 18 models 18 are not distinguishable from it and 0 are worse; "
        "none of the former is known to be simpler"
    )
    lines = compare(crowd(20, worse=19)).sentences()
    assert lines[1] == "Of the other 19 models 0 are not distinguishable from it and 19 are worse"
    assert not any("Not distinguishable" in line for line in lines)


def test_models_of_one_recipe_are_told_apart() -> None:
    found = compare([judged("a", GOOD + 0.01), judged("b", GOOD), judged("a", GOOD + NOISE + 0.02)])
    assert [found.best.name, *(r.model.name for r in found.rivals)] == ["b", "a (model 1)", "a (model 3)"]


def test_it_is_json() -> None:
    found = compare([judged("a", GOOD, features=None), judged("b", GOOD + NOISE), judged("c", GOOD + 0.1)])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["layout"] == 2
    assert plain["metric"] == {"name": "ber", "title": "BER", "better": "low"}
    assert plain["best"] == {"position": 0, "name": "a", "mean": pytest.approx(0.118), "features": None}
    assert [r["worse"] for r in plain["rivals"]] == [False, True]
    assert plain["rivals"][0]["difference"]["interval"] == list(found.rivals[0].difference.interval)
    # The third is behind by the same in every fold: its statistic is infinite.
    assert plain["rivals"][1]["difference"]["t"] is None
    assert plain["friedman"]["groups"] == [list(group) for group in found.friedman.groups]
    assert repr(found) == str(found)


def test_how_often_equal_models_are_called_worse() -> None:
    """Normal folds with the correlation that the correction assumes, and no model better than another.

    Of two models one is called worse at the level. Of ten, one or more is called worse too often, because the best was
    picked by the same folds; Holm's correction takes away most of that, not all.
    """
    rng = np.random.default_rng(0)

    def crowds(n: int) -> list[Comparison]:
        folds = np.sqrt(0.1) * rng.normal(size=(200, n, 1)) + np.sqrt(0.9) * rng.normal(size=(200, n, 10))
        return [compare([judged(f"m{i}", d) for i, d in enumerate(models)]) for models in folds]

    assert np.mean([found.rivals[0].worse for found in crowds(2)]) == pytest.approx(0.05, abs=0.04)
    many = crowds(10)
    called = np.mean([any(r.worse for r in found.rivals) for found in many])
    uncorrected = np.mean([any(r.difference.pvalue < 0.05 for r in found.rivals) for found in many])
    assert called < 0.22 < 0.4 < uncorrected


def same_but(**changes: Any) -> list[Validation]:
    return [judged("a", GOOD), replace(judged("b", GOOD), **changes)]


A = judged("a", GOOD)
OTHER_ROWS = replace(A.predictions, row=A.predictions.row + 1)
OTHER_TRUTH = replace(A.predictions, truth=1 - A.predictions.truth)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "validations must hold two models or more; got 0"),
        ([A], {}, "validations must hold two models or more; got 1"),
        (same_but(data="else"), {}, r"same rows and folds; a and b differ in data \(made up and else\)"),
        (same_but(split="2 folds"), {}, r"a and b differ in split \(10 stratified folds and 2 folds\)"),
        (same_but(seed=1), {}, r"a and b differ in seed \(0 and 1\)"),
        (same_but(n_train=A.n_train - 1), {}, "a and b differ in the rows of the folds or their classes"),
        (same_but(classes=np.array(["x", "y"])), {}, "differ in the rows of the folds or their classes"),
        (same_but(predictions=OTHER_ROWS), {}, "differ in the rows of the folds or their classes"),
        (same_but(predictions=OTHER_TRUTH), {}, "differ in the rows of the folds or their classes"),
        ([A, A], {"metric": "auc"}, "metric: a has ber; got 'auc'"),
        ([A, judged("b", GOOD, metric="auc")], {}, "metric: b has auc; got 'ber'"),
        ([judged("a", [np.nan] * 3)] * 2, {}, "metric: 'ber' is undefined in every fold of a; take another"),
        ([A, A], {"level": 1.5}, "level must be a number above 0 and below 1; got 1.5"),
        ([A, A], {"rope": -0.1}, "rope must be a finite number of 0 or more; got -0.1"),
    ],
)
def test_refusals(given: list[Validation], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TamisError, match=message):
        compare(given, **options)


def test_a_measure_of_ones_own() -> None:
    X, y = planted()
    own = Metric("wrong", "wrong answers", "low", "labels", lambda a: float((a.truth != a.labels).sum()))
    given = [validate(chain(k), X, y, folds=4, metrics=["ber", own]) for k in (2, 20)]
    found = compare(given, own)
    assert found.metric == own
    assert found.best.mean == min(v.summary()["wrong"].mean for v in given)
    assert "by wrong answers" in str(found)
