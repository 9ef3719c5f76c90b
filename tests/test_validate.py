"""Whole-model validation: held to scikit-learn, watched by a spy, and tried on data with a known answer."""

import json
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import tamis
from alone import alone
from planted import chain, dataset, planted
from tamis.base.errors import TamisError
from tamis.select import Ranking
from tamis.validation.folds import StratifiedFolds
from tamis.validation.metrics import FoldPredictions, Metric, all_metrics, standard_error
from tamis.validation.whole import validate

SCORERS = {
    "balanced_accuracy": "balanced_accuracy",
    "accuracy": "accuracy",
    "auc": "roc_auc",
    "f1_micro": "f1_micro",
    "f1_macro": "f1_macro",
    "log_loss": "neg_log_loss",
}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equal_to_scikit_learns_cross_validate(n_classes: int) -> None:
    X, y = planted() if n_classes == 2 else load_iris(return_X_y=True)
    model = chain()
    found = validate(model, X, y, folds=5, repeats=2, seed=3)
    cv = [(s.train, s.test) for s in StratifiedFolds(5, 2).splits(y, seed=3)]
    scorers = SCORERS if n_classes == 2 else SCORERS | {"auc": "roc_auc_ovr"}
    expected = cross_validate(model, X, y, cv=cv, scoring=scorers)
    for name in scorers:
        theirs = expected[f"test_{name}"] * (-1 if name == "log_loss" else 1)
        np.testing.assert_allclose(found.values[name], theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.values["ber"], 1 - expected["test_balanced_accuracy"], atol=1e-12)


def test_auc_from_decisions_is_scikit_learns() -> None:
    X, y = planted()
    model = chain(last=LinearSVC())
    found = validate(model, X, y, folds=5)
    cv = [(s.train, s.test) for s in StratifiedFolds(5).splits(y)]
    expected = cross_validate(model, X, y, cv=cv, scoring="roc_auc")["test_score"]
    np.testing.assert_allclose(found.values["auc"], expected)
    assert "log_loss" not in found.values


def test_standard_error_over_folds_is_the_corrected_one() -> None:
    X, y = planted()
    found = validate(chain(), X, y, folds=5, repeats=3)
    values = found.values["accuracy"]
    e = found.summary()["accuracy"]
    assert e.mean == pytest.approx(values.mean())
    assert e.sd == pytest.approx(values.std(ddof=1))
    assert e.se == pytest.approx(values.std(ddof=1) * np.sqrt(1 / 15 + 12 / 48))


class Spy(TransformerMixin, BaseEstimator):
    """Remembers the rows it was fitted on and shown, told by their first column."""

    fitted: ClassVar[list[set[float]]] = []
    shown: ClassVar[list[set[float]]] = []

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        Spy.fitted.append(set(X[:, 0]))
        return self

    def transform(self, X):
        Spy.shown.append(set(X[:, 0]))
        return X


def test_no_step_is_fitted_on_test_rows() -> None:
    X, y = planted()
    X[:, 0] = np.arange(60)
    Spy.fitted.clear()
    Spy.shown.clear()
    validate(make_pipeline(Spy(), Ranking("cc", k=3), GaussianNB()), X, y, folds=4, repeats=2)
    splits = StratifiedFolds(4, 2).splits(y)
    assert Spy.fitted == [set(s.train) for s in splits]
    # Test rows reach a fitted step once, however many answers are asked of the classifier.
    assert Spy.shown == [set(rows) for s in splits for rows in (s.train, s.test)]


def test_a_spy_sees_the_leak() -> None:
    X, y = planted()
    X[:, 0] = np.arange(60)
    Spy.fitted.clear()
    validate(make_pipeline(Spy(), GaussianNB()), X, y, folds=4, leak_check=True)
    assert set(range(60)) in Spy.fitted
    assert len(Spy.fitted) == 5


@pytest.mark.parametrize("sparse", [pytest.param(False, marks=pytest.mark.slow), True])
def test_any_engine_and_any_number_of_jobs_give_the_same_bits(sparse: bool) -> None:
    X, y = planted(columns=200)
    if sparse:
        X = sp.csr_array(np.where(X > 0.5, X, 0.0))
    front = Ranking("cc", k=20) if sparse else StandardScaler()
    model = make_pipeline(front, ExtraTreesClassifier(10))
    one = validate(model, X, y, folds=4, repeats=2, leak_check=True, seed=5)
    two = validate(model, X, y, folds=4, repeats=2, leak_check=True, seed=5, n_jobs=2)
    three = validate(model, X, y, folds=4, repeats=2, leak_check=True, seed=5, engine="local(2)")
    assert one == two == three
    assert one.to_dict()["predictions"] == two.to_dict()["predictions"] == three.to_dict()["predictions"]


def test_the_seed_decides() -> None:
    X, y = planted()
    model = ExtraTreesClassifier(5)
    first = validate(model, X, y, folds=3)
    assert first == validate(model, X, y, folds=3)
    assert first != validate(model, X, y, folds=3, seed=1)
    data = dataset(X, y, split=np.repeat(["train", "valid"], 30))
    for state, same in ((None, False), (1, True)):
        model = ExtraTreesClassifier(5, random_state=state)
        one, two = (validate(model, data, split="official", seed=seed).predictions.scores for seed in (0, 1))
        assert np.array_equal(one, two) is same


def test_the_model_is_left_as_it_was() -> None:
    X, y = planted()
    model = chain(last=ExtraTreesClassifier(3))
    before, data = repr(model), X.copy()
    validate(model, X, y, folds=3)
    assert repr(model) == before
    assert not hasattr(model[-1], "classes_")
    assert np.array_equal(X, data)


def test_predictions_hold_every_test_row() -> None:
    X, y = planted()
    found = validate(chain(), X, y, folds=4, repeats=2)
    p = found.predictions
    assert np.array_equal(p.row, np.tile(np.arange(60), 2))
    assert np.array_equal(p.repeat, np.repeat([0, 1], 60))
    assert np.array_equal(p.truth, np.tile(y, 2))
    assert p.probabilities.shape == (120, 2)
    assert np.array_equal(p.label, (p.scores > 0).astype(int))
    first = StratifiedFolds(4, 2).splits(y)[5]
    rows = (p.repeat == 1) & (p.fold == 1)
    assert np.array_equal(p.row[rows], first.test)
    fitted = chain().fit(X[first.train], y[first.train])
    assert np.array_equal(p.scores[rows], fitted.decision_function(X[first.test]))


def test_selected_features_and_stability() -> None:
    X, y = planted()
    found = validate(chain(2), X, y, folds=5)
    assert [k.size for k in found.selected] == [2] * 5
    assert sum({3, 8} == set(k) for k in found.selected) >= 3
    assert 0.3 < found.stability.index <= 1
    everything = validate(LogisticRegression(), X, y, folds=5)
    assert [k.size for k in everything.selected] == [40] * 5
    assert np.isnan(everything.stability.index)


def test_official_split_judges_on_valid() -> None:
    X, y = planted(rows=120)
    parts = np.repeat(["train", "test", "valid"], 40)
    found = validate(chain(last=LinearSVC()), dataset(X, y, split=parts), split="official")
    fitted = chain(last=LinearSVC(random_state=0)).fit(X[:40], y[:40])
    labels = fitted.predict(X[80:])
    assert np.array_equal(found.predictions.label, labels)
    assert found.predictions.row.tolist() == list(range(80, 120))
    judged = FoldPredictions(y[80:], labels, 2, fitted.decision_function(X[80:]))
    for name in ("ber", "accuracy", "auc"):
        assert found.summary()[name].mean == pytest.approx(all_metrics[name](judged))
    assert found.summary()["ber"].se == pytest.approx(standard_error(all_metrics["ber"], judged))
    assert found.summary()["auc"].se == pytest.approx(standard_error(all_metrics["auc"], judged), rel=0.2)
    assert np.isnan(found.summary()["ber"].sd)
    assert (found.n_train.tolist(), found.n_test.tolist()) == ([40], [40])


def test_pooled_split_never_touches_test_rows() -> None:
    X, y = planted(rows=120)
    parts = np.repeat(["train", "test", "valid"], 40)
    X[40:80] = np.nan
    found = validate(chain(), dataset(X, y, split=parts), split="pooled", folds=4, leak_check=True)
    assert sorted(found.predictions.row) == [*range(40), *range(80, 120)]


def test_leave_one_out_is_judged_as_one_test_set() -> None:
    X, y = planted(rows=30)
    found = validate(GaussianNB(), X, y, split="leave-one-out")
    p = found.predictions
    assert found.n_test.tolist() == [1] * 30
    judged = FoldPredictions(p.truth, p.label, 2, p.scores, p.probabilities)
    for name, metric in all_metrics.items():
        assert found.values[name].tolist() == [metric(judged)]
    assert found.summary()["ber"].se == pytest.approx(standard_error(all_metrics["ber"], judged))


def test_auc_of_folds_with_one_class_is_left_out() -> None:
    X, y = planted()
    y = np.repeat([0, 0, 1, 1, 0, 1], 10)
    groups = np.repeat(np.arange(6), 10)
    found = validate(GaussianNB(), X, y, folds=6, groups=groups)
    assert np.isnan(found.values["auc"]).all()
    assert np.isnan(found.summary()["auc"].mean)
    assert 0 < found.summary()["ber"].mean < 1
    assert found.to_dict()["metrics"]["auc"]["mean"] is None


def test_a_class_unseen_in_training_gets_no_evidence() -> None:
    X, y = planted(rows=30)
    y = y.astype(object)
    y[:] = np.where(y == 1, "b", "c")
    y[4] = "a"
    for model in (GaussianNB(), LinearSVC(), SVC(), KNeighborsClassifier(3)):
        found = validate(model, X, y, split="leave-one-out")
        p = found.predictions
        assert p.scores.shape == (30, 3)
        assert np.isfinite(found.summary()["auc"].mean)
        if p.probabilities is not None:
            assert p.probabilities[4, 0] == 0.0
        assert p.label[4] != "a"


def test_permuted_labels_score_at_chance() -> None:
    X, y = planted(columns=300)
    means = []
    for seed in range(8):
        shuffled = np.random.default_rng(seed).permutation(y)
        means.append(validate(chain(20), X, shuffled, folds=5, seed=seed).summary()["accuracy"].mean)
    assert abs(np.mean(means) - 0.5) < 0.08


def test_the_model_is_shown_as_a_recipe() -> None:
    X, y = planted()
    model = make_pipeline(Ranking("fisher", k=5), LinearSVC())
    assert validate(model, X, y, folds=3).recipe == "fisher(5) | LinearSVC()"


def test_metrics_are_chosen_in_order() -> None:
    X, y = planted()
    own = Metric("wrong", "wrong answers", "low", "labels", lambda a: float((a.truth != a.labels).sum()))
    found = validate(chain(), X, y, folds=4, metrics=["auc", own])
    assert list(found.values) == ["auc", "wrong"]
    assert found.values["wrong"].sum() == (found.predictions.truth != found.predictions.label).sum()
    assert [m.name for m in found.metrics] == ["auc", "wrong"]
    with pytest.raises(TamisError, match="log_loss needs class probabilities"):
        validate(LinearSVC(), X, y, folds=4, metrics="log_loss")
    with pytest.raises(TamisError, match="log_loss needs class probabilities"):
        validate(LinearSVC(), X, y, split="leave-one-out", metrics="log_loss")


def test_progress_counts_to_the_end() -> None:
    X, y = planted()
    calls: list[tuple[int, int]] = []
    validate(chain(), X, y, folds=3, leak_check=True, progress=lambda done, total: calls.append((done, total)))
    assert list(dict.fromkeys(calls)) == [(i, 6) for i in range(1, 7)]


def test_result_is_json_and_readable() -> None:
    X, y = planted()
    found = validate(chain(), X, y, folds=3, leak_check=True, probes=0.2)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["layout"] == 2
    assert plain["metrics"]["ber"]["mean"] == found.summary()["ber"].mean
    assert plain["leak"]["metrics"]["ber"]["mean"] == found.leak.summary()["ber"].mean
    text = str(found)
    assert text.splitlines()[0] == "StandardScaler() | cc(3) | LogisticRegression()"
    assert "3 stratified folds, 40 training rows and 20 test rows in each of 3 fits, seed 0" in text
    assert f"{found.summary()['ber'].mean:.4f} +- {found.summary()['ber'].se:.4f}" in text
    assert "selected features: 3 of 50" in text
    assert "probes among them:" in text
    assert repr(found) == text


def test_equality_looks_at_findings_not_at_time() -> None:
    X, y = planted()
    a, b = validate(chain(), X, y, folds=3), validate(chain(), X, y, folds=3)
    assert not np.array_equal(a.fit_seconds, b.fit_seconds)
    assert a == b
    assert a != validate(chain(2), X, y, folds=3)
    assert a != "something else"


def test_one_fold_by_itself() -> None:
    X, y = planted()
    split = StratifiedFolds(4).splits(y, seed=2)[1]
    whole = validate(chain(last=ExtraTreesClassifier(5)), X, y, folds=4, seed=2)
    one = alone(chain(last=ExtraTreesClassifier(5)), X, y, split, seed=2)
    assert one.metrics == {name: values[1] for name, values in whole.values.items()}
    assert (one.n_train, one.rows.tolist()) == (45, split.test.tolist())
    assert np.array_equal(one.selected, whole.selected[1])


def test_the_room_is_callable_and_a_package() -> None:
    X, y = planted()
    assert tamis.validate(chain(), X, y, folds=3) == validate(chain(), X, y, folds=3)
    assert tamis.validation.whole.validate is validate
