"""Naive Bayes against scikit-learn's four kinds, scipy's Poisson and loops over columns; missing values; bad input."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import softmax
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from tamis.base.errors import DataError, TamisError
from tamis.bins.cuts import Cuts
from tamis.classify import NaiveBayes
from tamis.contingency.states import states
from tamis.naive_bayes.additive import Lookup

FORMS = [np.asarray, sp.csr_matrix, sp.csc_array]
#: An alpha that adds nothing to the variances of a Gaussian.
_NO_ROWS = 1e-12
MODELS = ["gaussian", "bernoulli", "multinomial", "poisson", "states"]


def problem(n_classes=2, rows=80, columns=12, seed=0):
    """Counts with many zeros, of which the first columns hang on the class."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), np.arange(n_classes), rng.integers(0, n_classes, rows - 2 * n_classes)]
    rate = np.full((n_classes, columns), 0.7)
    rate[:, :4] = rng.random((n_classes, 4))[:, :columns] * 3
    return rng.poisson(rate[y]).astype(float), y


ORACLES = {
    "gaussian": lambda a: GaussianNB(var_smoothing=0),
    "bernoulli": lambda a: BernoulliNB(alpha=a),
    "multinomial": lambda a: MultinomialNB(alpha=a),
    "states": lambda a: CategoricalNB(alpha=a),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_classes", "smoothing"), [(2, 1.0), (4, 0.3)])
@pytest.mark.parametrize("model", list(ORACLES))
def test_equals_scikit_learn(model, n_classes, smoothing, weighted, form) -> None:
    X, y = problem(n_classes)
    if model == "states":
        # Scikit-learn's states are 0, 1, ... without a gap, and new rows have no others.
        X = np.minimum(X, 3)
    weight = np.random.default_rng(1).integers(1, 4, y.size) if weighted else None
    theirs = ORACLES[model](smoothing).fit(X, y, sample_weight=weight)
    alpha = _NO_ROWS if model == "gaussian" else smoothing
    ours = NaiveBayes(model, bins="values", alpha=alpha).fit(form(X), y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(form(X)), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(form(X)), theirs.predict(X))


@pytest.mark.parametrize("form", FORMS)
def test_poisson_is_scipys(form) -> None:
    X, y = problem(3)
    size, total = np.bincount(y)[:, None], np.array([X[y == c].sum(axis=0) for c in range(3)])
    rate = (total + 0.5 * X.mean(axis=0)) / (size + 0.5)
    likely = stats.poisson.logpmf(X[:, None], rate).sum(axis=2) + np.log(np.bincount(y) / y.size)
    model = NaiveBayes("poisson", alpha=0.5).fit(form(X), y)
    np.testing.assert_allclose(model.rate_, rate)
    np.testing.assert_allclose(model.predict_proba(form(X)), softmax(likely, axis=1), rtol=1e-9)


def scatter(x, w):
    """Weighted sum of squares around the mean."""
    return (w * (x - np.average(x, weights=w)) ** 2).sum() if x.size else 0.0


def plain(model, X, y, Z, a, weight):
    """Probabilities by loops over classes, columns and rows; missing values are passed over."""
    evidence = np.log(np.tile(np.bincount(y, weights=weight) / weight.sum(), (len(Z), 1)))
    for j in range(X.shape[1]):
        known = ~np.isnan(X[:, j])
        x, w, c = X[known, j], weight[known], y[known]
        for k in range(y.max() + 1):
            own, n = x[c == k], w[c == k]
            for i, z in enumerate(Z[:, j]):
                if np.isnan(z):
                    continue
                if model == "bernoulli":
                    q = ((n * (own > 0)).sum() + a) / (n.sum() + 2 * a)
                    evidence[i, k] += np.log(q if z > 0 else 1 - q)
                elif model == "poisson" and (w * x).sum() > 0:
                    r = ((n * own).sum() + a * np.average(x, weights=w)) / (n.sum() + a)
                    evidence[i, k] += z * np.log(r) - r
                elif model == "multinomial":
                    total = np.nansum((X * weight[:, None])[y == k] + 0.0) + a * X.shape[1]
                    evidence[i, k] += z * np.log(((n * own).sum() + a) / total)
                elif model == "states" and x.size:
                    values = np.unique(x)
                    state = values[max(np.searchsorted(values, z, side="right") - 1, 0)]
                    evidence[i, k] += np.log(((n * (own == state)).sum() + a) / (n.sum() + a * values.size))
                elif model == "gaussian" and x.size:
                    mean = np.average(x, weights=w)
                    overall = np.average((x - mean) ** 2, weights=w)
                    if overall > 0:
                        m = np.average(own, weights=n) if own.size else mean
                        within = sum(scatter(x[c == one], w[c == one]) for one in range(y.max() + 1)) / w.sum()
                        v = ((scatter(own, n) + a * within) / (n.sum() + a) if own.size else overall) + a * overall
                        evidence[i, k] += -0.5 * np.log(v) - (z - m) ** 2 / (2 * v)
    return softmax(evidence, axis=1)


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(MODELS), st.integers(2, 3), st.booleans())
def test_equals_loops_with_missing_values_and_weights(data, model, n_classes, sparse) -> None:
    rows = data.draw(st.integers(n_classes, 9))
    lowest = 0.0 if model in ("multinomial", "poisson") else -2.0
    value = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, lowest, np.nan])
    X, Z = (np.array(data.draw(st.lists(value, min_size=3 * n, max_size=3 * n))).reshape(n, 3) for n in (rows, 4))
    y = np.r_[np.arange(n_classes), data.draw(st.lists(st.integers(0, n_classes - 1), min_size=9, max_size=9))][:rows]
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=rows, max_size=rows)))
    form = sp.csr_matrix if sparse else np.asarray
    ours = NaiveBayes(model, bins="values", alpha=0.5, var_smoothing=0.5).fit(form(X), y, sample_weight=weight)
    expected = plain(model, X, y, Z, 0.5, weight)
    np.testing.assert_allclose(ours.predict_proba(form(Z)), expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("bins", ["auto", "sigma", "equal_width", "equal_frequency", "ssv"])
def test_states_are_those_of_discretize(bins) -> None:
    X, y = problem()
    X = X + np.random.default_rng(3).normal(size=X.shape)
    codes = states(X, y, bins).codes.T
    # As many states as there are cuts, of which the highest may be empty in scikit-learn's eyes.
    model = NaiveBayes("states", bins=bins).fit(X, y)
    assert [len(c) + 1 for c in model.cuts_] == (codes.max(axis=0) + 1).tolist()
    theirs = CategoricalNB().fit(codes, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(codes), rtol=1e-9)
    for own, expected in zip(model.shares_, theirs.feature_log_prob_, strict=True):
        np.testing.assert_allclose(own, np.exp(expected))


def test_columns_that_modl_does_not_cut_are_not_used() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 8))
    X[:, 3] += 2 * y
    model = NaiveBayes("states", bins="modl").fit(X, y)
    assert np.flatnonzero(model.used_).tolist() == [3]
    alone = NaiveBayes("states", bins="modl").fit(X[:, [3]], y)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X[:, [3]]))
    assert not hasattr(NaiveBayes().fit(X, y), "used_")


def test_many_states_need_no_small_codes() -> None:
    X = np.arange(400.0)[:, None] % 200
    y = (X[:, 0] % 7 < 3).astype(int)
    dense = NaiveBayes("states", bins="values").fit(X, y)
    assert dense.shares_[0].shape == (2, 200)
    theirs = CategoricalNB().fit(X, y)
    np.testing.assert_allclose(dense.predict_proba(X), theirs.predict_proba(X))
    sparse = NaiveBayes("states", bins="values").fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(X)), theirs.predict_proba(X))


@pytest.mark.parametrize("model", MODELS)
def test_rows_come_in_blocks(model, monkeypatch) -> None:
    X, y = problem(3)
    whole = NaiveBayes(model).fit(X, y).predict_proba(X)
    monkeypatch.setattr("tamis.naive_bayes.additive._BLOCK", 50)
    np.testing.assert_allclose(NaiveBayes(model).fit(X, y).predict_proba(X), whole, rtol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_dense_and_sparse_may_be_mixed(model) -> None:
    X, y = problem(3)
    expected = NaiveBayes(model).fit(X, y).predict_proba(X)
    for train, test in ((np.asarray, sp.csr_matrix), (sp.csr_matrix, np.asarray)):
        found = NaiveBayes(model).fit(train(X), y).predict_proba(test(X))
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(1e-3, 1e3), st.floats(-1e6, 1e6))
def test_gaussian_knows_no_units(seed, factor, shift) -> None:
    X, y = problem(3, seed=seed)
    X += np.random.default_rng(seed).normal(size=X.shape)
    scale, offset = np.ones(12), np.zeros(12)
    scale[seed % 12], offset[seed % 12] = factor, shift
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    moved = X * scale + offset
    np.testing.assert_allclose(NaiveBayes().fit(moved, y).predict_proba(moved), expected, rtol=1e-4, atol=1e-6)


def test_gaussian_keeps_digits_far_from_zero() -> None:
    X, y = problem(2)
    X += np.random.default_rng(0).normal(size=X.shape)
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(NaiveBayes().fit(X + 1e8, y).predict_proba(X + 1e8), expected, rtol=1e-4)
    # The sparse rows have such a column beside others, a hole in it, and rows that are zero there.
    mixed = X + 1e8 * (np.arange(X.shape[1]) % 2)
    mixed[3, 1], mixed[5, 1] = np.nan, 0.0
    model = NaiveBayes().fit(X + 1e8 * (np.arange(X.shape[1]) % 2), y)
    np.testing.assert_allclose(model.predict_proba(sp.csr_array(mixed)), model.predict_proba(mixed), rtol=1e-6)


def test_columns_of_tiny_numbers() -> None:
    X, y = problem(2)
    X += np.random.default_rng(0).normal(size=X.shape)
    tiny = X * 1e-20
    for form in (np.asarray, sp.csr_array):
        found = NaiveBayes("states").fit(form(tiny), y)
        np.testing.assert_allclose(found.predict_proba(form(tiny)), NaiveBayes("states").fit(X, y).predict_proba(X))
    # Squares of these are too small to be told from zero: such columns say nothing.
    smaller = NaiveBayes().fit(X * 1e-160, y).predict_proba(X * 1e-160)
    np.testing.assert_allclose(smaller, np.tile(np.bincount(y) / y.size, (y.size, 1)))


def test_nothing_is_impossible_with_the_least_smoothing() -> None:
    y = problem(2)[1]
    X = np.tile(y[:, None], (1, 3))
    found = NaiveBayes("bernoulli", alpha=1e-16).fit(X, y)
    assert found.score(X, y) == 1.0
    assert found.score(1 - X, y) == 0.0
    # A class that weighs less than the last digit of another one has no fewer than no rows at zero.
    at = sp.csr_array(np.array([[1.0], [1], [1], [1], [0], [0], [1]]))
    heavy = NaiveBayes("states").fit(at, [0] * 5 + [1] * 2, [1e16, 1, 1, 1, 1, 1, 1])
    assert np.isfinite(heavy.predict_proba(at)).all()


def test_balance_takes_equal_priors() -> None:
    X, y = problem(3)
    theirs = GaussianNB(priors=np.full(3, 1 / 3), var_smoothing=0).fit(X, y)
    model = NaiveBayes(alpha=_NO_ROWS, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(model.prior_, 1 / 3)


def test_a_class_of_two_rows_borrows_the_variance_of_the_others() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 2])
    X, Z = rng.normal(size=(2, y.size, 30)) + 2 * y[:, None]
    # The two rows nearly agree in one column, which alone would decide.
    X[y == 1, 9] = 2.0, 2.0 + 1e-6
    assert NaiveBayes(alpha=_NO_ROWS).fit(X, y).predict(Z).tolist() == [0] * 42
    assert NaiveBayes().fit(X, y).predict(Z).tolist() == y.tolist()


@pytest.mark.parametrize("model", MODELS)
def test_nominal_columns_are_states_beside_numbers(model) -> None:
    X, y = problem(2, columns=3)
    colour = np.array(["red", "green", "blue"])[(X[:, 0] + y).astype(int) % 3]
    frame = pl.DataFrame({"a": X[:, 0], "colour": colour, "b": X[:, 1], "c": X[:, 2]})
    ours = NaiveBayes(model, bins="values").fit(frame, y)
    codes = np.searchsorted(np.unique(colour), colour)[:, None]
    apart = NaiveBayes(model, bins="values").fit(X, y).predict_proba(X)
    prior = np.bincount(y) / y.size
    expected = apart * CategoricalNB().fit(codes, y).predict_proba(codes) / prior
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(ours.predict_proba(frame), expected, rtol=1e-7)
    # A level never seen, and a missing one, add nothing.
    for unknown in ("violet", None):
        other = frame.with_columns(colour=pl.lit(unknown, dtype=pl.String))
        np.testing.assert_allclose(ours.predict_proba(other), apart, rtol=1e-7)


def test_levels_are_grouped_by_modl() -> None:
    rng = np.random.default_rng(0)
    letter = np.array(["a", "b", "c", "d"])[np.arange(200) % 4]
    y = np.isin(letter, ["a", "c"]) ^ (rng.random(200) < 0.1)
    frame = pl.DataFrame({"id": [f"r{i}" for i in range(200)], "letter": letter, "x": y + rng.normal(size=200)})
    found = NaiveBayes("states", bins="modl").fit(frame, y)
    assert found.used_.tolist() == [False, True, True]
    assert found.level_states_[1].tolist() == [0, 1, 0, 1]
    assert [one.shape for one in found.shares_] == [(2, 1), (2, 2), (2, 2)]
    same = frame.with_columns(letter=pl.Series(np.isin(letter, ["a", "c"]).astype(str)))
    other = NaiveBayes("states", bins="modl").fit(same, y)
    np.testing.assert_allclose(found.predict_proba(frame), other.predict_proba(same))


@pytest.mark.parametrize("model", MODELS)
def test_a_level_without_weight_is_not_known(model) -> None:
    frame = pl.DataFrame({"letter": ["a", "a", "b", "c", "c", "c"], "x": [1.0, 2, 1, 2, 3, 3]})
    y, new = np.array([0, 0, 0, 1, 1, 1]), pl.DataFrame({"letter": ["b", "c", None], "x": [1.0, 2, 1]})
    weighted = NaiveBayes(model).fit(frame, y, np.array([1.0, 1, 0, 1, 1, 1]))
    kept = np.array([0, 1, 3, 4, 5])
    without = NaiveBayes(model).fit(frame[kept], y[kept])
    np.testing.assert_allclose(weighted.predict_proba(new), without.predict_proba(new))
    np.testing.assert_array_equal(weighted.predict_proba(new)[0], weighted.predict_proba(new)[2])


@pytest.mark.parametrize(
    # Smoothing counts for more in a small class, so that the others do say something, as in scikit-learn.
    ("model", "value"),
    [(m, 0.0) for m in ("gaussian", "poisson", "states")] + [(m, np.nan) for m in MODELS if m != "multinomial"],
)
def test_constant_and_unknown_columns_say_nothing(model, value) -> None:
    X, y = problem(2)
    expected = NaiveBayes(model).fit(X, y).predict_proba(X)
    wide = np.column_stack([X, np.full(y.size, value)])
    np.testing.assert_allclose(NaiveBayes(model).fit(wide, y).predict_proba(wide), expected, rtol=1e-9)


def test_a_class_without_known_values_takes_those_of_all_rows() -> None:
    X = np.array([[1.0], [3.0], [np.nan], [np.nan]])
    model = NaiveBayes(var_smoothing=1e-12).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.mean_[1], 2.0)
    np.testing.assert_allclose(model.variance_[1], 1.0)


@pytest.mark.parametrize("model", ["multinomial", "poisson"])
@pytest.mark.parametrize("form", FORMS)
def test_negative_counts_are_refused(model, form) -> None:
    with pytest.raises(DataError, match=f"{model} distribution takes counts; the lowest is -3"):
        NaiveBayes(model).fit(form(np.array([[1.0], [-3.0]])), [0, 1])


def test_bad_input() -> None:
    X, y = problem()
    with pytest.raises(ValueError, match="'distribution'"):
        NaiveBayes("binomial").fit(X, y)
    with pytest.raises(ValueError, match="'alpha'"):
        NaiveBayes(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="'bins'"):
        NaiveBayes("states", bins="pairs").fit(X, y)
    with pytest.raises(TamisError, match="at least 2 classes"):
        NaiveBayes().fit(X, np.zeros(y.size))
    with pytest.raises(TamisError, match="class 1 has a sample weight"):
        NaiveBayes().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(DataError, match="infinity or values too large"):
        NaiveBayes().fit(X * 1e200, y)
    for form in (np.asarray, sp.csr_matrix):
        with pytest.raises(DataError, match="too large for the gaussian distribution"):
            NaiveBayes().fit(X, y).predict(form(X * 1e200))
    with pytest.raises(AttributeError, match="counted as states"):
        _ = NaiveBayes().fit(X, y).cuts_


def test_a_table_that_does_not_fit_its_cuts_is_refused() -> None:
    cuts = Cuts.counted(np.array([2, 1]), np.array([1.0, 2.0, 5.0]))
    Lookup(cuts, np.zeros((7, 2)))
    for bad, rows in (
        (cuts, 6),
        (Cuts(np.array([0, 5, 3]), cuts.values), 7),
        (Cuts(np.array([0, 2, 9]), cuts.values), 7),
    ):
        with pytest.raises(TamisError, match="do not fit"):
            Lookup(bad, np.zeros((rows, 2)))
