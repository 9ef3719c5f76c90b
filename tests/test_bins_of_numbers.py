"""Optimal bins by a target of numbers, for discretize and bin_means: brute force, ruptures, folds, sparse, weights."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import tamis
from binning_oracle import cost_of, mean_error, partitions
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.bins.number_tables import number_tables
from tamis.discretize import BinMeans, Discretize, LineBins, mean_bins
from tamis.discretize.bin_means.found_bins import Method, found_bins
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.optimal import optimal_cuts

NAN = float("nan")
VALUES = [0.0, 0.0, -0.0, 1.0, 2.0, 3.5, 5.0, 8.0, -1.0, -2.5, NAN]
gains = st.sampled_from(["auto", 0.0, 0.2, 1.0])


def problem(seed=0, n=120, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    if sparse:
        X *= rng.random(X.shape) < 0.4
    return X, 5.0 + np.abs(X[:, 0]) + 0.3 * rng.normal(size=n)


# Against brute force, the function of one column, and ruptures


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 2)), elements=st.sampled_from(VALUES)),
    st.integers(0, 10**6),
    gains,
    st.sampled_from([None, 2, 3]),
    st.sampled_from([1, 2, 4]),
)
@settings(max_examples=60)
def test_cuts_cost_as_little_as_the_best_of_all(X, seed, gain, max_bins, min_rows):
    y = np.random.default_rng(seed).normal(size=X.shape[0]) + 100.25
    options = {"min_gain": gain, "max_bins": max_bins, "min_rows": min_rows, "task": "regress"}
    model = BinMeans(cv=None, **options).fit(X, y)
    out = model.transform(X)
    for j, (cuts, same) in enumerate(zip(model.cuts_, Discretize("optimal", **options).fit(X, y).cuts_, strict=True)):
        np.testing.assert_array_equal(cuts, same)
        known = ~np.isnan(X[:, j])
        if not known.any():
            assert cuts.size == 0
            continue
        x, target = X[known, j], y[known]
        each = mean_error(x, target) / max(x.size - 1, 1) if gain == "auto" else gain
        best = min(sum(mean_error(x[r], target[r]) + each for r in b) for b in partitions(x, min_rows, max_bins))
        assert cost_of(cuts, x, lambda r, t=target: mean_error(r, t[r]), each) == pytest.approx(best, abs=1e-8)
        left = ((target - out[known, j]) ** 2).sum() + each * (cuts.size + 1)
        assert left == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("gain", ["auto", 0.5])
def test_bins_are_those_of_the_function_of_one_column(gain):
    X, y = problem(1, 300)
    X[::7, 2] = NAN
    model = BinMeans(5, min_gain=gain, max_bins=6).fit(X, y)
    for j in range(4):
        found = mean_bins(X[:, j], y, min_gain=None if gain == "auto" else gain, max_bins=6, min_rows=5)
        np.testing.assert_array_equal(model.cuts_[j], found.cuts)
        np.testing.assert_allclose(model.means_[j][:, 0], found.means, rtol=1e-12)
    assert sum(cuts.size for cuts in model.cuts_) > 0


def test_cuts_are_those_of_ruptures():
    ruptures = pytest.importorskip("ruptures")
    rng = np.random.default_rng(3)
    y = np.repeat(rng.normal(size=10), 100) + rng.normal(size=1000)
    x = np.arange(1000.0)[:, None]
    for gain in (2.0, 5.0):
        theirs = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(y).predict(pen=gain)
        for ours in (BinMeans(1, min_gain=gain), Discretize("optimal", min_rows=1, min_gain=gain)):
            assert (ours.fit(x, y).cuts_[0] + 0.5).tolist() == theirs[:-1]


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 15), st.integers(1, 3)), elements=st.sampled_from(VALUES)))
@settings(max_examples=25)
def test_tables_of_values_equal_their_twin(X):
    rng = np.random.default_rng(X.shape[0])
    y, weight = rng.normal(size=X.shape[0]), rng.integers(1, 4, X.shape[0]) / 2
    for layout in (X, X.astype(np.float32), sp.csr_array(X), sp.csc_matrix(X)):
        for table in number_tables(layout, y, weight):
            for place, j in enumerate(table.features):
                part = slice(table.first[place], table.first[place + 1])
                values = np.unique(X[~np.isnan(X[:, j]), j])
                np.testing.assert_array_equal(table.values[part], values)
                same = X[:, j] == values[:, None]
                expected = np.column_stack([same @ (weight * y**power) for power in (0, 2, 1)])
                np.testing.assert_allclose(table.totals[part], expected, atol=1e-12)


# Properties


@given(st.integers(0, 10**6), gains)
@settings(max_examples=20)
def test_weights_count_as_repeated_rows(seed, gain):
    X, y = problem(seed, 40)
    times = np.random.default_rng(seed).integers(0, 4, y.size)
    weighted = optimal_cuts(X, y, times.astype(float), min_gain=gain, min_rows=3)
    repeated = optimal_cuts(np.repeat(X, times, axis=0), np.repeat(y, times), min_gain=gain, min_rows=3)
    np.testing.assert_array_equal(weighted.first, repeated.first)
    np.testing.assert_array_equal(weighted.values, repeated.values)


@pytest.mark.parametrize("part", [BinMeans(5), BinMeans(5, smooth=True), LineBins(5)], ids=str)
def test_values_follow_the_unit_of_the_target_and_the_order_of_rows_does_not_matter(part):
    X, y = problem(2)
    expected = part.fit(X, y).transform(X)
    if "task" in part.get_params():
        # The largest numbers have no fractions.
        part.set_params(task="regress")
    for scale, zero in ((2.0**-100, 0.0), (1e200, 0.0), (3.0, 1e6)):
        got = part.fit(X, scale * y + zero).transform(X)
        np.testing.assert_allclose((got - zero) / scale, expected, rtol=1e-8)
    order = np.random.default_rng(0).permutation(y.size)
    np.testing.assert_allclose(part.fit(X[order], y[order]).transform(X), expected, rtol=1e-10)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 3]))
@settings(max_examples=20)
def test_sparse_values_are_dense_ones_less_that_of_zero(seed, smooth, samples):
    X, y = problem(seed, 60, sparse=True)
    X[seed % 60, 1] = NAN
    parameters = {"min_rows": 4, "smooth": smooth, "samples": samples, "random_state": 0}
    dense, sparse = BinMeans(**parameters).fit(X, y), BinMeans(**parameters).fit(sp.csr_array(X), y)
    new = np.concatenate([X, X + 0.5, np.zeros((1, 4))])
    expected = dense.transform(new) - dense.transform(np.zeros((1, 4)))
    np.testing.assert_allclose(sparse.transform(sp.csc_matrix(new)).toarray(), expected, atol=1e-9)
    np.testing.assert_allclose(sparse.transform(new), expected, atol=1e-9)
    with pytest.raises(TamisError, match=r"bin_means was fitted on an array .* fit it on a sparse matrix"):
        dense.transform(sp.csr_array(new))


def test_missing_values_get_the_mean_of_the_rows_that_lack_the_column():
    X, y = problem()
    X[::9, 1] = NAN
    X[3, 2] = NAN
    out = BinMeans(10).fit(X, y).transform([[NAN] * 4])
    np.testing.assert_allclose(out, [[y.mean(), y[::9].mean(), y.mean(), y.mean()]])
    empty = np.column_stack((X, np.full(y.size, NAN)))
    assert BinMeans().fit(empty, y).transform(np.ones((1, 5)))[0, 4] == pytest.approx(y.mean())


# Out of fold


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("part", [BinMeans(5), LineBins(5), LineBins(5, output="slope")], ids=str)
def test_training_rows_get_what_the_other_folds_say(part, form):
    X, y = problem(sparse=True)
    out = part.set_params(cv=4, random_state=7).fit_transform(form(X), y)
    shifted = form is np.asarray and part.output != "slope"
    for train, test in inner_folds(y, 4, generator(7, 1), "folds"):
        alone = type(part)(**{**part.get_params(), "cv": None}).fit(form(X)[train], y[train])
        got, expected = out[test], alone.transform(form(X)[test])
        if sp.issparse(got):
            got, expected = got.toarray(), expected.toarray()
        np.testing.assert_allclose(got, expected + shifted * (y.mean() - y[train].mean()), atol=1e-9)
    assert part.__sklearn_tags__().non_deterministic


@pytest.mark.parametrize("part", [BinMeans(random_state=0), LineBins(random_state=0)], ids=str)
def test_a_column_that_says_nothing_does_not_tell_the_fold(part):
    y = np.random.default_rng(0).exponential(size=100) ** 3
    for form in (np.asarray, sp.csr_array):
        out = part.fit_transform(form(np.ones((100, 1))), y)
        out = out.toarray() if sp.issparse(out) else out
        np.testing.assert_allclose(out, out[0, 0])


@pytest.mark.parametrize("word", ["bin_means(4)", "line_bins(4)", "line_bins(4, output=slope)"])
def test_permuted_targets_explain_nothing(word):
    rng = np.random.default_rng(1)
    explained = []
    for seed in range(3):
        X, y = rng.normal(size=(200, 8)), rng.permutation(problem(seed, 200)[1])
        model = tamis.recipe(f"{word} | ridge", task="regress")
        explained.append(cross_val_score(model, X, y, cv=5, scoring="r2").mean())
        first = model.steps[0][1].set_params(random_state=0)
        inside = cross_val_score(Ridge(), first.fit_transform(X, y), y, cv=5, scoring="r2").mean()
        assert inside < 0.05
        if "slope" not in word:
            fooled = cross_val_score(Ridge(), first.fit(X, y).transform(X), y, cv=5, scoring="r2").mean()
            assert fooled > 0.4
    assert -0.2 < np.mean(explained) < 0.03


# Smooth and samples


def test_smooth_values_are_means_of_the_runs_of_least_error():
    rng = np.random.default_rng(5)
    x, y = np.arange(12.0), rng.normal(size=12)
    out = BinMeans(3, smooth=True).fit(x[:, None], y).transform(x[:, None]).ravel()
    runs = [y[a:b] for a in range(12) for b in range(a + 3, 13)]
    held = [range(a, b) for a in range(12) for b in range(a + 3, 13)]
    for g in range(12):
        _, best = min((mean_error(None, run), k) for k, run in enumerate(runs) if g in held[k])
        assert out[g] == pytest.approx(runs[best].mean())


def test_the_bins_of_least_cost_over_all_samples_are_taken():
    X, y = problem(3, 200)
    rng = np.random.default_rng(0)
    parts = [rng.permutation(200)[:100] for _ in range(4)]
    found = found_bins(X, y, Method("auto", BinLimits(min_rows=5), False, 0), parts)
    for j in range(4):
        tried = [mean_bins(X[rows, j], y[rows], min_rows=5) for rows in parts]
        costs = [
            sum(
                ((y[rows] - one.values(X[rows, j])) ** 2).sum() + 100 * y[rows].var() / 99 * (one.cuts.size + 1)
                for rows in parts
            )
            for one in tried
        ]
        expected = tried[int(np.argmin(costs))].cuts
        np.testing.assert_array_equal(found.cuts.apart()[j], expected)
        place = np.searchsorted(expected, X[:, j], side="right")
        means = [y[place == b].mean() for b in range(expected.size + 1)]
        np.testing.assert_allclose(found.means[found.first[j] : found.first[j + 1], 0], means)


def test_samples_are_drawn_anew_and_make_fewer_bins_of_noise():
    rng = np.random.default_rng(2)
    X, y = rng.random((600, 10)), rng.normal(size=600)
    bins = [sum(c.size for c in BinMeans(samples=s, random_state=0).fit(X, y).cuts_) for s in (1, 5)]
    assert bins[1] < 0.7 * bins[0]


# In use


def test_a_linear_model_follows_the_ups_and_downs():
    rng = np.random.default_rng(4)
    X = rng.random((600, 3)) * 2
    y = np.cos(2 * np.pi * X[:, 0]) + 0.2 * rng.normal(size=600)
    found = [
        tamis.validate(text, X, y, folds=5).summary()["r2"].mean
        for text in ("standardize | ridge", "bin_means | ridge")
    ]
    assert found[0] < 0.1
    assert found[1] > 0.85


def test_whole_numbers_are_classes_unless_the_task_says_otherwise():
    X, y = problem()
    whole = np.rint(y).astype(int)
    assert BinMeans().fit(X, whole).classes_.size > 2
    numbers = BinMeans(task="regress").fit(X, whole)
    assert not hasattr(numbers, "classes_")
    np.testing.assert_allclose(numbers.transform(X), BinMeans().fit(X, whole + 0.5).transform(X) - 0.5)
    refitted = BinMeans().fit(X, whole).fit(X, y)
    assert refitted.set_output(transform="polars").transform(X).shape == X.shape
    assert refitted.get_feature_names_out().tolist() == [f"x{j}" for j in range(4)]


def test_columns_are_traced_through_the_bins():
    X, y = problem()
    model = make_pipeline(BinMeans(random_state=0), tamis.recipe("cc(1)", task="regress")).fit(X, y)
    assert tamis.base.feature_tracking.used_features(model, 4).tolist() == [True, False, False, False]


def test_discretize_serves_numbers_by_optimal_bins_or_without_the_target():
    X, y = problem(6, 300)
    for one, other in zip(BinMeans().fit(X, y).cuts_, Discretize("optimal").fit(X, y).cuts_, strict=True):
        np.testing.assert_array_equal(one, other)
    for by in ("sigma", "equal_width", "equal_frequency"):
        plain = Discretize(by).fit(X)
        model = tamis.recipe(f"discretize({by}) | ridge", task="regress").fit(X, y)
        np.testing.assert_array_equal(model[0].cuts_[0], plain.cuts_[0])
    for by in ("ssv", "modl"):
        with pytest.raises(TamisError, match=rf"discretize\({by}\) is for classes, .* holds numbers: take .*optimal"):
            Discretize(by).fit(X, y)
        with pytest.raises(TamisError, match="is for classes"):
            Discretize(by, task="regress").fit(X, np.rint(y))
        with pytest.raises(TamisError, match=rf"discretize\({by}\) is for classes"):
            tamis.validate(f"discretize({by}) | ridge", X, y)
    assert Discretize("optimal", task="classify").fit(X, np.rint(y)).classes_.size > 2


def test_bad_input_is_refused():
    X, y = problem()
    with pytest.raises(TamisError, match="at least two rows, got 1 sample; set cv=none"):
        BinMeans(task="regress").fit_transform(X[:1], y[:1])
    with pytest.raises(TamisError, match=r"bin_means needs numbers; the target holds 'a'"):
        BinMeans(task="regress").fit(X, ["a"] * 120)
    with pytest.raises(ValueError, match="NaN"):
        BinMeans(task="regress").fit(X, np.where(y > 6, NAN, y))
    assert BinMeans(task="regress").fit(X[:1], y[:1]).transform(X[:2]).tolist() == [[y[0]] * 4] * 2
    np.testing.assert_allclose(BinMeans(task="regress", random_state=0).fit_transform(X, np.full(120, 0.1)), 0.1)


@pytest.mark.parametrize("word", ["bin_means(5)", "line_bins(5)", "discretize(optimal, min_rows=5)"])
def test_the_command_line_validates_and_refuses(tamis, tmp_path, word):
    X, y = problem(3, 80)
    for name, target in (("numbers", y), ("classes", np.where(y > y.mean(), "high", "low"))):
        columns = {f"c{j}": X[:, j] for j in range(4)}
        pl.DataFrame({**columns, "target": target}).write_csv(tmp_path / f"{name}.csv")
    code, out, err = tamis("validate", tmp_path / "numbers.csv", f"{word} | knn(5)", "--target", "target", "--json")
    assert code == 0, err
    assert json.loads(out)["metrics"]["rmse"]["mean"] < 0.9 * np.std(y)
    code, _, err = tamis("validate", tmp_path / "classes.csv", f"{word} | knn(5)", "--target", "target")
    if word.startswith("line_bins"):
        assert code == 2
        assert "line_bins is for numbers, and the target holds classes: take bin_means" in err
    else:
        assert code == 0, err
