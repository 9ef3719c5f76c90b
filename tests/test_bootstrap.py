"""The bootstrap and .632+: held to the formulas written out row by row, and to problems with a known answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from alone import evaluate_all
from planted import planted
from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.validation.bootstrap import Bootstrap, err632plus, estimate_632plus, no_information
from tamis.validation.metrics import FoldPredictions, Metric, accuracy, all_metrics

RATE = Metric("rate", "errors", "low", "labels", lambda a: 1.0 - accuracy(a))


def estimates(model, X, y, *metrics, repeats=30, seed=0):
    """The .632+ estimate of each metric, and the answers it rests on."""
    rows = Dataset.of(X, y)
    way = Bootstrap(repeats)
    splits = [way.apparent_split(rows.y), *way.splits(rows.y, seed=seed)]
    ((whole, *samples),) = evaluate_all([model], rows, splits, metrics=(), seed=seed)
    out, left = [r.predictions for r in samples], [r.rows for r in samples]
    return [estimate_632plus(m, whole.predictions, out, left) for m in metrics], whole.predictions, out, left


def random_answers(seed: int, n: int, n_classes: int) -> FoldPredictions:
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)])
    probabilities = rng.dirichlet(np.ones(n_classes), size=n)
    scores = probabilities[:, 1] if n_classes == 2 else probabilities
    return FoldPredictions(truth, rng.integers(n_classes, size=n), n_classes, scores, probabilities)


def row(a: FoldPredictions, i: int) -> FoldPredictions:
    return a.rows(np.array([i]))


@given(st.lists(st.integers(1, 12), min_size=2, max_size=4).filter(lambda s: max(s) > 1), st.integers(0, 99))
def test_classes_keep_their_size_and_the_rest_is_tested(sizes: list[int], seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    splits = Bootstrap(5).splits(y, seed=seed)
    assert [(s.repeat, s.fold) for s in splits] == [(b, 0) for b in range(5)]
    for s in splits:
        assert np.bincount(y[s.train]).tolist() == sizes
        assert s.test.size > 0
        assert np.array_equal(s.test, np.setdiff1d(np.arange(y.size), s.train))


def test_near_632_in_a_thousand_rows_are_drawn() -> None:
    y = np.repeat([0, 1], [100, 300])
    distinct = [np.unique(s.train).size / 400 for s in Bootstrap(400).splits(y)]
    expected = (100 * (1 - 0.99**100) + 300 * (1 - (1 - 1 / 300) ** 300)) / 400
    # The share of one sample deviates by near 0.0156 (an occupancy problem), the mean of 400 by 0.0008.
    assert np.mean(distinct) == pytest.approx(expected, abs=0.003)
    assert expected == pytest.approx(0.632, abs=0.002)
    times = sum(np.bincount(s.train, minlength=400) for s in Bootstrap(400).splits(y))
    assert times.min() > 300
    assert times.max() < 500


def test_the_seed_decides_and_samples_do_not_depend_on_their_number() -> None:
    y = np.repeat([0, 1], 20)
    few, many, other = (Bootstrap(b).splits(y, seed=seed) for b, seed in ((2, 3), (5, 3), (2, 4)))
    for a, b in zip(few, many[:2], strict=True):
        assert np.array_equal(a.train, b.train)
    assert not np.array_equal(few[0].train, few[1].train)
    assert not np.array_equal(few[0].train, other[0].train)


@given(st.integers(0, 60))
def test_groups_are_drawn_whole_and_no_class_is_lost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(8), rng.integers(1, 5, size=8)))
    y = (groups >= 5).astype(int) if seed % 2 else rng.permutation(np.arange(groups.size) % 3)
    for s in Bootstrap(4).splits(y, groups=groups, seed=seed):
        times = np.bincount(s.train, minlength=y.size)
        for group in np.unique(groups):
            assert np.unique(times[groups == group]).size == 1
        assert np.array_equal(s.test, np.flatnonzero(times == 0))
        assert s.test.size > 0
        assert set(y[s.train]) == set(y)
        if seed % 2:
            drawn = [np.unique(groups[y == c]).size for c in (0, 1)]
            first = np.unique(groups, return_index=True)[1]
            assert [times[first][y[first] == c].sum() for c in (0, 1)] == drawn


def test_a_class_that_hides_in_few_groups_is_drawn_for() -> None:
    y, groups = np.array([0, 0, 1] + [0] * 12), np.arange(15) // 3
    lost = [not np.isin(2, s.train) for s in Bootstrap(50).splits(y, groups=groups)]
    assert not any(lost)
    assert any(0 not in s.train for s in Bootstrap(50).splits(y))


def test_the_apparent_split_is_all_rows_twice() -> None:
    y = np.array([0, 1, 0])
    s = Bootstrap(5).apparent_split(y)
    assert s.train.tolist() == s.test.tolist() == [0, 1, 2]
    assert s.task not in {one.task for one in Bootstrap(5).splits(y)}
    assert [str(Bootstrap(b)) for b in (1, 100)] == ["1 bootstrap sample", "100 bootstrap samples"]


unit = st.floats(0, 1)


@given(unit, unit, unit)
def test_the_formula_written_out(err: float, err1: float, gamma: float) -> None:
    value, r = err632plus(err, err1, gamma)
    if err < err1 <= gamma:
        w = 0.632 / (1 - 0.368 * (err1 - err) / (gamma - err))
        assert value == pytest.approx((1 - w) * err + w * err1, abs=1e-12)
        assert r == pytest.approx((err1 - err) / (gamma - err))
    elif err < gamma < err1:
        assert value == pytest.approx(0.368 * gamma + 0.632 * err1, abs=1e-12)
        assert r == 1
    else:
        assert value == pytest.approx(0.368 * err + 0.632 * err1, abs=1e-12)
        assert r == 0
    assert min(err, err1) - 1e-12 <= value <= max(err, err1) + 1e-12
    # Accuracy in place of error is the mirror image.
    high, same = err632plus(1 - err, 1 - err1, 1 - gamma, better="high")
    if min(abs(err - err1), abs(err - gamma)) > 1e-9:
        assert high == pytest.approx(1 - value, abs=1e-6)
        assert same == pytest.approx(r, abs=1e-6)


def test_what_does_not_exist_stays_so() -> None:
    nan = float("nan")
    for three in ((nan, 0.2, 0.5), (0.1, nan, 0.5), (0.1, 0.2, nan)):
        assert np.isnan(err632plus(*three)[0])


@given(st.integers(0, 99), st.integers(2, 4))
def test_no_information_is_over_all_pairs(seed: int, n_classes: int) -> None:
    a = random_answers(seed, 12, n_classes)
    p, q = (np.bincount(codes, minlength=n_classes) / 12 for codes in (a.truth, a.labels))
    assert no_information(all_metrics["ber"], a) == pytest.approx(1 - 1 / n_classes)
    assert no_information(all_metrics["accuracy"], a) == pytest.approx(p @ q)
    assert no_information(all_metrics["auc"], a) == pytest.approx(0.5)
    loss = [-np.log(a.probabilities[j, a.truth[i]]) for i in range(12) for j in range(12)]
    assert no_information(all_metrics["log_loss"], a) == pytest.approx(np.mean(loss))


@pytest.mark.parametrize("order", ["sorted", "mixed"])
def test_no_information_of_many_rows(order: str) -> None:
    n = 3000
    truth = np.repeat([0, 1], [1000, 2000])
    # Perfect answers: a row that met its own answer too often would show.
    a = FoldPredictions(truth, truth, 2).rows(
        np.arange(n) if order == "sorted" else np.random.default_rng(0).permutation(n)
    )
    assert no_information(all_metrics["accuracy"], a) == pytest.approx(5 / 9, abs=0.005)
    assert no_information(all_metrics["ber"], a) == pytest.approx(0.5, abs=0.005)


@pytest.mark.parametrize("name", ["accuracy", "log_loss", "ber", "balanced_accuracy", "f1_micro"])
def test_each_row_is_averaged_over_the_samples_that_left_it_out(name: str) -> None:
    X, y = planted(rows=30, columns=10)
    y[:4] = 2
    metric = all_metrics[name]
    (found,), whole, out, left = estimates(GaussianNB(), X, y, metric)
    of_row: dict[int, list[float]] = {}
    for answers, rows in zip(out, left, strict=True):
        for i, r in enumerate(rows.tolist()):
            of_row.setdefault(r, []).append(metric(row(answers, i)))
    if name in ("ber", "balanced_accuracy"):
        err1 = np.mean([np.mean([np.mean(of_row[i]) for i in np.flatnonzero(y == c)]) for c in range(3)])
    else:
        err1 = np.mean([np.mean(of_row[i]) for i in range(30)])
    assert found.out == pytest.approx(err1)
    assert found.apparent == metric(whole)
    assert found.no_information == no_information(metric, whole)
    expected = err632plus(found.apparent, err1, found.no_information, better=metric.better)
    assert (found.mean, found.overfitting) == pytest.approx(expected)
    values = np.array([metric(a) for a in out])
    tested = np.mean([r.size for r in left])
    assert found.sd == pytest.approx(values.std(ddof=1))
    assert found.se == pytest.approx(found.sd * np.sqrt(1 / 30 + tested / (30 - tested)))


def test_other_measures_are_averaged_over_samples() -> None:
    X, y = planted(rows=30)
    (auc, macro, own), _, out, _ = estimates(
        LogisticRegression(), X, y, all_metrics["auc"], all_metrics["f1_macro"], RATE
    )
    assert auc.out == pytest.approx(np.mean([all_metrics["auc"](a) for a in out]))
    assert macro.out == pytest.approx(np.mean([all_metrics["f1_macro"](a) for a in out]))
    assert own.out == pytest.approx(np.mean([RATE(a) for a in out]))
    assert auc.no_information == 0.5
    assert auc.out < auc.mean < auc.apparent


def test_samples_without_a_value_are_passed_over() -> None:
    whole = random_answers(0, 6, 2)
    out = [whole.rows(np.flatnonzero(whole.truth == 0)), whole, whole]
    left = [np.flatnonzero(whole.truth == 0), np.arange(3), np.arange(3)]
    auc = all_metrics["auc"]
    assert estimate_632plus(auc, whole, out, left).out == pytest.approx(auc(whole))
    none = estimate_632plus(auc, whole, out[:1], left[:1])
    assert np.isnan([none.mean, none.sd, none.se]).all()


def test_a_model_that_remembers_noise_is_not_believed() -> None:
    """The paper's example: nearest neighbour, classes without meaning; the truth is 1/2."""
    plus, plain = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 5)), rng.permutation(np.repeat([0, 1], 30))
        (ber, right), *_ = estimates(KNeighborsClassifier(1), X, y, all_metrics["ber"], all_metrics["accuracy"])
        assert ber.apparent == 0
        assert right.mean == pytest.approx(1 - ber.mean)
        plus.append(ber.mean)
        plain.append(0.632 * ber.out)
    assert np.mean(plus) == pytest.approx(0.5, abs=0.06)
    assert np.mean(plain) == pytest.approx(0.316, abs=0.04)


def test_estimate_and_standard_error_against_the_truth() -> None:
    """Two normal clouds 2 apart in one direction: the best rule errs with chance 0.159, a learned one a bit more."""
    found, true = [], []
    fresh = np.random.default_rng(99)
    T, t = fresh.normal(size=(4000, 3)), np.repeat([0, 1], 2000)
    T[:, 0] += 2 * t
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
        X[:, 0] += 2 * y
        found.append(estimates(GaussianNB(), X, y, all_metrics["ber"], repeats=25)[0][0])
        true.append(np.mean(GaussianNB().fit(X, y).predict(T) != t))
    means = np.array([f.mean for f in found])
    assert means.mean() == pytest.approx(np.mean(true), abs=0.03)
    assert 0.6 < np.mean([f.se for f in found]) / means.std(ddof=1) < 1.7


def test_bad_input_in_one_sentence() -> None:
    with pytest.raises(TamisError, match="repeats must be a whole number of 1 or more; got 0"):
        Bootstrap(0)
    with pytest.raises(TamisError, match="no bootstrap sample of the rows had every class and left a row out"):
        Bootstrap(2).splits(np.array([0, 1, 2]))
    with pytest.raises(TamisError, match="no bootstrap sample of the groups had every class and left a row out"):
        Bootstrap(2).splits(np.array([0, 0, 1, 1]), groups=np.array([3, 3, 4, 4]))
