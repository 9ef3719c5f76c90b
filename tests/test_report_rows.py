"""The rows panel against scikit-learn: projection, confusion, ROC, thresholds and calibration; and equal rows."""

import json
from time import perf_counter

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.calibration import calibration_curve
from sklearn.decomposition import PCA
from sklearn.metrics import auc, balanced_accuracy_score, confusion_matrix, roc_auc_score
from sklearn.preprocessing import StandardScaler

from tamis.data.dataset import Dataset
from tamis.data.duplicates import equal_rows
from tamis.reporting.rows import rows
from tamis.validation.result import Predictions


def named(X, y, **known) -> Dataset:
    return Dataset(X, np.asarray(y), np.array([f"f{j}" for j in range(X.shape[1])]), **known)


def said(truth, label, scores=None, probabilities=None) -> Predictions:
    n = len(truth)
    zero = np.zeros(n, dtype=int)
    return Predictions(zero, zero, np.arange(n), np.asarray(truth), np.asarray(label), scores, probabilities)


def told(facts) -> dict:
    """The facts after a journey through JSON, which must not change them."""
    back = json.loads(json.dumps(facts, allow_nan=False))
    assert back == facts
    return back


def judged(answers: Predictions) -> dict:
    """What is found of answers, whatever the rows are."""
    classes = np.unique(answers.truth)
    data = named(np.zeros((answers.truth.size, 1)), answers.truth)
    return told(rows(data, answers, classes, used=None))


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 90)
    X = rng.normal(size=(90, 12)) @ rng.normal(size=(12, 12)) + 3.0
    X[rng.random(X.shape) < 0.4] = 0.0
    return X, y


@pytest.fixture(scope="module")
def answers() -> Predictions:
    """Two classes, many rows, no two of the same score."""
    rng = np.random.default_rng(1)
    truth = rng.choice(["no", "yes"], 3000, p=[0.8, 0.2])
    scores = rng.normal(size=3000) + 1.2 * (truth == "yes")
    second = 1 / (1 + np.exp(-scores))
    return said(truth, np.where(scores > 0.9, "yes", "no"), scores, np.column_stack([1 - second, second]))


# The projection


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_projection_is_scikit_learns_pca(form, problem) -> None:
    X, y = problem
    used = np.array([0, 3, 4, 8, 11])
    found = told(rows(named(form(X), y), None, np.unique(y), used=used))
    pca = PCA(2).fit(Z := StandardScaler().fit_transform(X[:, used]))
    place = pca.transform(Z)
    projection = found["projection"]
    np.testing.assert_allclose(projection["explained"], pca.explained_variance_ratio_, atol=1e-6)
    for axis, theirs in zip("xy", place.T, strict=True):
        sign = np.sign(theirs @ projection[axis])
        np.testing.assert_allclose(projection[axis], sign * theirs, atol=1e-4)
    assert projection["class"] == np.searchsorted(["a", "b", "c"], y).tolist()
    assert (projection["shown"], projection["of"]) == (90, 90)
    assert projection["row"][16] == "row 17"
    assert found["classes"] == ["a", "b", "c"]
    assert found["confusion"] is found["roc"] is found["threshold"] is found["calibration"] is None


def test_projection_fills_gaps_with_the_mean_and_leaves_out_names(problem) -> None:
    X, y = problem[0].copy(), problem[1]
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    expected = rows(named(filled, y), None, np.unique(y), used=None)["projection"]
    frame = pl.DataFrame({f"f{j}": pl.Series(column, nan_to_null=True) for j, column in enumerate(X.T)})
    frame = frame.insert_column(5, pl.Series("word", y))
    table = Dataset(frame, y, np.array(frame.columns))
    for data in (named(X, y), named(sp.csr_array(X), y), table):
        found = rows(data, None, np.unique(y), used=None)["projection"]
        for key in ("x", "y", "explained"):
            np.testing.assert_allclose(found[key], expected[key], atol=2e-4)
    assert rows(table, None, np.unique(y), used=np.array([5]))["projection"] is None


def test_projection_of_one_column_and_of_constants(problem) -> None:
    X, y = problem
    one = told(rows(named(X, y), None, np.unique(y), used=np.array([2])))["projection"]
    assert (one["explained"], set(one["y"])) == ([1.0, 0.0], {0.0})
    np.testing.assert_allclose(np.abs(one["x"]), np.abs(X[:, 2] - X[:, 2].mean()) / X[:, 2].std(), atol=1e-4)
    flat = told(rows(named(np.full((5, 3), 7.0), list("aabbb")), None, ["a", "b"], used=None))["projection"]
    assert set(flat["x"]) == set(flat["y"]) == {0.0}
    assert flat["explained"] == [0.0, 0.0]


def test_nothing_to_project() -> None:
    assert rows(named(np.ones((1, 3)), ["a"]), None, ["a"], used=None)["projection"] is None
    assert rows(named(np.ones((0, 3)), []), None, [], used=None)["projection"] is None
    assert rows(named(np.ones((4, 3)), list("aabb")), None, ["a", "b"], used=np.array([], int))["projection"] is None


def test_columns_that_validation_added_are_left_out(problem) -> None:
    X, y = problem
    expected = rows(named(X, y), None, np.unique(y), used=np.array([1, 2]))
    assert rows(named(X, y), None, np.unique(y), used=np.array([1, 2, 12, 40])) == expected


def test_many_rows_are_drawn_by_class_and_always_the_same() -> None:
    rng = np.random.default_rng(3)
    y = np.array(["big"] * 8000 + ["small"] * 1999 + ["one"])[rng.permutation(10_000)]
    data = named(rng.normal(size=(10_000, 3)), y)
    found = rows(data, None, data.classes, used=None)["projection"]
    assert (found["shown"], found["of"]) == (3000, 10_000)
    assert found == rows(data, None, data.classes, used=None)["projection"]
    drawn = np.array([int(name.split()[1]) - 1 for name in found["row"]])
    assert np.unique(drawn).size == 3000
    assert y[drawn].tolist() == [["big", "one", "small"][c] for c in found["class"]]
    counts = np.bincount(found["class"])
    assert counts[1] == 1
    assert abs(counts[0] - 2400) <= 1


@pytest.mark.parametrize(("values", "shown"), [(1000, 300), (3500, 350), (9999, 400)])
def test_wide_dense_rows_are_fewer(values, shown, monkeypatch) -> None:
    monkeypatch.setattr("tamis.reporting.projection._VALUES", values)
    X = np.random.default_rng(0).normal(size=(400, 10)).astype(np.float32)
    for form, expected in ((np.asarray, shown), (sp.csr_array, 400)):
        projection = rows(named(form(X), [0, 1] * 200), None, [0, 1], used=None)["projection"]
        assert projection["shown"] == expected


def test_a_hundred_thousand_sparse_columns_are_quick() -> None:
    rng = np.random.default_rng(0)
    places = rng.integers(0, 800, 800_000), rng.integers(0, 100_000, 800_000)
    X = sp.csr_array((rng.normal(size=800_000), places), shape=(800, 100_000))
    data = named(X, rng.integers(0, 2, 800))
    rows(data, None, data.classes, used=np.arange(9))  # the kernels may have to be compiled
    start = perf_counter()
    whole = rows(data, None, data.classes, used=np.arange(100_000))["projection"]
    best = rows(data, None, data.classes, used=None)["projection"]
    assert perf_counter() - start < 6
    assert whole["shown"] == best["shown"] == 800
    # The 200 best columns hold a larger share of their variance in two directions than all of them do.
    assert sum(best["explained"]) > sum(whole["explained"]) > 0


# The answers


def test_confusion_is_scikit_learns() -> None:
    rng = np.random.default_rng(4)
    truth, label = rng.choice(list("abcd"), 200), rng.choice(list("abc"), 200)
    found = judged(said(truth, label))
    np.testing.assert_array_equal(found["confusion"], confusion_matrix(truth, label, labels=list("abcd")))
    assert found["roc"] is found["threshold"] is found["calibration"] is None


def test_roc_has_scikit_learns_area(answers) -> None:
    curves = judged(answers)["roc"]["curves"]
    assert [one["class"] for one in curves] == ["yes"]
    expected = roc_auc_score(answers.truth == "yes", answers.scores)
    assert curves[0]["auc"] == pytest.approx(expected, abs=1e-12)
    assert len(curves[0]["fpr"]) == len(curves[0]["tpr"]) <= 200
    assert auc(curves[0]["fpr"], curves[0]["tpr"]) == pytest.approx(expected, abs=0.005)
    assert (curves[0]["fpr"][0], curves[0]["tpr"][0], curves[0]["fpr"][-1], curves[0]["tpr"][-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0, 9.0])
def test_thinned_roc_keeps_the_area(shift) -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 20_000)
    scores = rng.normal(size=20_000) + shift * truth
    curve = judged(said(truth, truth, scores))["roc"]["curves"][0]
    assert auc(curve["fpr"], curve["tpr"]) == pytest.approx(roc_auc_score(truth, scores), abs=0.005)


def test_roc_of_many_classes_is_one_against_the_rest() -> None:
    rng = np.random.default_rng(6)
    sizes = np.arange(15) + 20
    truth = np.repeat(np.arange(15), sizes)
    evidence = rng.normal(size=(truth.size, 15)) + np.eye(15)[truth]
    shares = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    found = judged(said(truth, truth, shares, shares))
    assert [one["class"] for one in found["roc"]["curves"]] == [str(c) for c in range(3, 15)]
    for one in found["roc"]["curves"]:
        c = int(one["class"])
        assert one["auc"] == pytest.approx(roc_auc_score(truth == c, shares[:, c]), abs=1e-12)
    assert [one["class"] for one in found["calibration"]["curves"]] == [str(c) for c in range(3, 15)]
    assert found["threshold"] is None


def test_evidence_that_cannot_be_ranked_gives_no_curve(answers) -> None:
    broken = answers.scores.copy()
    broken[7] = np.nan
    found = judged(said(answers.truth, answers.label, broken))
    assert found["roc"] is found["threshold"] is None
    broken[7] = np.inf
    assert judged(said(answers.truth, answers.label, broken))["roc"] is not None


def test_one_class_alone_has_no_curve() -> None:
    data = named(np.arange(8.0).reshape(4, 2), list("aabb"))
    alone = said(list("aa"), list("ab"), np.array([0.0, 1.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    found = told(rows(data, alone, data.classes, used=None))
    assert found["roc"] is found["threshold"] is None
    assert found["calibration"]["curves"] == []
    assert found["confusion"] == [[1, 1], [0, 0]]


def brute_ber(truth, scores, cut) -> float:
    return 1 - balanced_accuracy_score(truth, scores >= cut)


def test_threshold_curve_is_brute_force(answers) -> None:
    positive = answers.truth == "yes"
    found = judged(answers)["threshold"]
    assert len(found["score"]) == len(found["ber"]) == len(found["share"]) <= 200
    for score, share, ber in list(zip(found["score"], found["share"], found["ber"], strict=True))[::7]:
        assert ber == pytest.approx(brute_ber(positive, answers.scores, score), abs=1e-6)
        assert share == pytest.approx((answers.scores >= score).mean(), abs=1e-6)
    called = answers.scores >= answers.scores[:, None]
    lowest = ((called[:, ~positive].mean(axis=1) + 1 - called[:, positive].mean(axis=1)) / 2).min()
    assert found["best"]["ber"] == pytest.approx(lowest, abs=1e-12)
    assert brute_ber(positive, answers.scores, found["best"]["score"]) == pytest.approx(lowest, abs=1e-12)
    assert found["best"]["score"] in found["score"]
    assert min(found["ber"]) == pytest.approx(lowest, abs=1e-6)
    used = found["used"]
    assert used["ber"] == pytest.approx(1 - balanced_accuracy_score(positive, answers.label == "yes"), abs=1e-12)
    assert used["share"] == pytest.approx((answers.label == "yes").mean())
    assert ((answers.scores >= used["score"]) == (answers.label == "yes")).all()


def test_threshold_used_lies_where_the_labels_change() -> None:
    # Between rows of one class, where the ROC curve has no corner.
    found = judged(said([1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 0], np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])))["threshold"]
    assert found["used"]["score"] == 5.0
    assert found["used"]["ber"] == pytest.approx((0.5 + 0.25) / 2)
    assert found["score"][1:] == [6, 5, 4, 3, 2, 1]


def test_threshold_of_one_score_for_all() -> None:
    found = judged(said([0, 0, 1, 1], [1, 1, 1, 1], np.zeros(4)))["threshold"]
    assert found["ber"] == [0.5, 0.5]
    assert found["share"] == [0.0, 1.0]
    assert found["used"] == {"score": 0.0, "share": 1.0, "ber": 0.5}
    assert found["best"]["share"] == 1.0


def test_calibration_is_scikit_learns(answers) -> None:
    curve = judged(answers)["calibration"]["curves"][0]
    observed, predicted = calibration_curve(
        answers.truth == "yes", answers.probabilities[:, 1], n_bins=10, strategy="quantile"
    )
    np.testing.assert_allclose(curve["predicted"], predicted, atol=1e-6)
    np.testing.assert_allclose(curve["observed"], observed, atol=1e-6)
    assert curve["count"] == [300] * 10
    assert curve["class"] == "yes"


def test_equal_probabilities_share_a_bin() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 100)
    second = rng.choice([0.1, 0.5, 0.9], 100)
    curve = judged(said(truth, truth, second, np.column_stack([1 - second, second])))["calibration"]["curves"][0]
    assert curve["predicted"] == [0.1, 0.5, 0.9]
    assert curve["count"] == [int((second == p).sum()) for p in (0.1, 0.5, 0.9)]
    np.testing.assert_allclose(curve["observed"], [truth[second == p].mean() for p in (0.1, 0.5, 0.9)], atol=1e-6)


def test_hostile_class_names_are_passed_through() -> None:
    classes = np.array(sorted(["<script>alert(1)</script>", "\U0001f600", "\u202e\u05d0", "x" * 300]))
    y = np.tile(classes, 5)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(4), 20)
    data = named(rng.normal(size=(20, 3)), y)
    found = told(rows(data, said(y, y, shares, shares), classes, used=None))
    assert found["classes"] == classes.tolist()
    assert [one["class"] for one in found["roc"]["curves"]] == classes.tolist()


# Equal rows


@given(arrays(np.float64, (12, 2), elements=st.sampled_from([0.0, -0.0, 1.0, np.nan])))
def test_equal_rows_are_found_in_every_form(X) -> None:
    text = [str([None if np.isnan(v) else v + 0.0 for v in row]) for row in X.tolist()]
    expected = np.equal.outer(text, text)
    forms = [named(X, np.zeros(12)), named(np.asfortranarray(X), np.zeros(12)), named(sp.csr_array(X), np.zeros(12))]
    words = pl.DataFrame({"a": pl.Series(X[:, 0], nan_to_null=True), "b": [f"w{v + 0.0}" for v in X[:, 1]]})
    forms.append(Dataset(words, np.zeros(12), np.array(["a", "b"])))
    for data in forms:
        group = equal_rows(data.X)
        np.testing.assert_array_equal(np.equal.outer(group, group), expected)


def test_equal_sparse_rows_may_be_stored_otherwise() -> None:
    # The same row in another order, with a stored zero, and as two summands.
    values, columns = [1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.5, 0.5], [0, 3, 3, 0, 0, 3, 1, 0, 3, 3]
    X = sp.csr_array((values, columns, [0, 2, 4, 7, 10]), shape=(4, 5))
    before = X.indices.copy(), X.data.copy()
    assert equal_rows(named(X, [0, 0, 1, 1]).X).tolist() == [0, 0, 0, 0]
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])
