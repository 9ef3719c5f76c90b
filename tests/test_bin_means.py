"""Class shares of optimal bins: against brute force, out of fold, sparse as dense, and over samples."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import tamis
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.discretize import BinMeans, Discretize
from tamis.discretize.bin_means.found_bins import Method, found_bins
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.optimal import optimal_cuts
from tamis.kernels.windows import lowest_windows

NAN = float("nan")


def problem(seed=0, n=120, n_classes=2, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    if sparse:
        X *= rng.random(X.shape) < 0.4
    y = ((np.abs(X[:, 0]) > 0.7).astype(int) + (rng.random(n) < 0.15)) % n_classes
    y[:n_classes] = np.arange(n_classes)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_are_the_shares_of_the_bins(n_classes):
    X, y = problem(n_classes=n_classes)
    X[::9, 1] = NAN
    model = BinMeans(6).fit(X, y)
    cuts = optimal_cuts(X, y, min_rows=6).apart()
    out = model.transform(X)
    assert out.shape == (120, 4 * (n_classes - 1))
    for j in range(4):
        np.testing.assert_array_equal(model.cuts_[j], cuts[j])
        known = ~np.isnan(X[:, j])
        place = np.searchsorted(cuts[j], X[:, j], side="right")
        for i in range(120):
            same = known & (place == place[i]) if known[i] else ~known
            for c in range(1, n_classes):
                assert out[i, j * (n_classes - 1) + c - 1] == pytest.approx(np.mean(y[same] == c))
    assert sum(map(len, cuts)) > 0


def test_few_missing_values_get_the_shares_of_all_rows():
    X, y = problem()
    X[3, 2] = NAN
    out = BinMeans().fit(X, y).transform([[NAN] * 4])
    np.testing.assert_allclose(out, [[y.mean()] * 4])
    empty = np.column_stack((X, np.full(y.size, NAN)))
    assert BinMeans(200).fit(empty, y).transform(np.ones((1, 5)))[0, 4] == pytest.approx(y.mean())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_training_rows_get_what_the_other_folds_say(form):
    X, y = problem(sparse=True, n_classes=3)
    model = BinMeans(5, cv=4, random_state=7)
    out = model.fit_transform(form(X), y)
    rng = generator(7, 1)
    for train, test in inner_folds(y, 4, rng, "folds"):
        alone = BinMeans(5, cv=None).fit(form(X)[train], y[train])
        got, expected = out[test], alone.transform(form(X)[test])
        moved = np.bincount(y)[1:] / y.size - np.bincount(y[train])[1:] / train.size
        if sp.issparse(got):
            got, expected, moved = got.toarray(), expected.toarray(), np.zeros(2)
        np.testing.assert_allclose(got, expected + np.tile(moved, X.shape[1]), atol=1e-12)
    np.testing.assert_array_equal(model.cuts_[0], BinMeans(5).fit(X, y).cuts_[0])


def test_a_column_that_says_nothing_does_not_tell_the_fold():
    y = np.arange(100) < 3
    for form in (np.asarray, sp.csr_array):
        out = BinMeans(random_state=0).fit_transform(form(np.ones((100, 1))), y)
        out = out.toarray() if sp.issparse(out) else out
        np.testing.assert_allclose(out, out[0, 0])


def test_a_class_of_one_row_is_in_one_fold_alone():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    for rare in (2, -1):
        y[7] = rare
        out = BinMeans(random_state=0).fit_transform(X, y)
        assert out.shape == (60, 6)
        assert np.isfinite(out).all()


def test_values_out_of_fold_do_not_deceive_the_next_step():
    noise = np.random.default_rng(1).normal(size=(300, 20))
    labels = np.arange(300) % 2
    fooled = make_pipeline(BinMeans(4, cv=None), LogisticRegression()).fit(noise, labels)
    assert fooled.score(noise, labels) > 0.95
    inside, own = BinMeans(4, random_state=0).fit_transform(noise, labels), BinMeans(4).fit(noise, labels)
    assert abs(cross_val_score(LogisticRegression(), inside, labels, cv=5).mean() - 0.5) < 0.1
    assert cross_val_score(LogisticRegression(), own.transform(noise), labels, cv=5).mean() > 0.9


def test_without_folds_fit_transform_is_fit_and_transform():
    X, y = problem()
    model = BinMeans(cv=None)
    np.testing.assert_array_equal(model.fit_transform(X, y), model.transform(X))
    assert not model.__sklearn_tags__().non_deterministic
    assert BinMeans().__sklearn_tags__().non_deterministic


@given(st.integers(0, 10**6), st.sampled_from([2, 3]), st.booleans(), st.sampled_from([1, 3]))
@settings(max_examples=25)
def test_sparse_values_are_dense_ones_less_that_of_zero(seed, n_classes, smooth, samples):
    X, y = problem(seed, 60, n_classes, sparse=True)
    X[seed % 60, 1] = NAN
    parameters = {"min_rows": 4, "smooth": smooth, "samples": samples, "random_state": 0}
    dense, sparse = BinMeans(**parameters).fit(X, y), BinMeans(**parameters).fit(sp.csr_array(X), y)
    new = np.concatenate([X, X + 0.5, np.zeros((1, 4))])
    expected = dense.transform(new) - dense.transform(np.zeros((1, 4)))
    got = sparse.transform(sp.csc_matrix(new))
    assert got.format == "csr"
    np.testing.assert_allclose(got.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(sparse.transform(new), expected, atol=1e-12)
    if dense.transform(np.zeros((1, 4))).any():
        with pytest.raises(TamisError, match="fit it on a sparse matrix"):
            dense.transform(sp.csr_array(new))


# The smoothed variant


def plain_windows(sums, least):
    """For each value every run that holds it and is heavy enough, and the one of least error."""
    m = sums.shape[0]
    out = []
    for g in range(m):
        runs = [(0, m)]
        for a in range(g + 1):
            runs += [(a, b) for b in range(g + 1, m + 1) if sums[a:b, 0].sum() >= least]
        errors = []
        for a, b in runs:
            part = sums[a:b].sum(axis=0)
            errors.append(part[1] - (part[2:] ** 2).sum() / part[0])
        out.append(min(errors) if len(runs) > 1 else errors[0])
    return out


@given(st.integers(1, 14), st.integers(0, 10**6), st.sampled_from([1.0, 3.0, 6.0]))
def test_windows_err_least_of_all_that_hold_a_value(m, seed, least):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (m, 2)).astype(float)
    weights[:, 0] += 1
    total = weights.sum(axis=1)
    sums = np.column_stack((total, weights[:, 1], weights[:, 1]))
    made = []
    for find in (lowest_windows, lowest_windows.python):
        low, high = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
        find(np.array([0, m]), sums, least, low, high)
        made.append((low, high))
    np.testing.assert_array_equal(made[0], made[1])
    for g, (a, b, best) in enumerate(zip(*made[0], plain_windows(sums, least), strict=True)):
        assert a <= g < b
        assert total[a:b].sum() >= min(least, total.sum())
        part = sums[a:b].sum(axis=0)
        assert part[1] - part[2] ** 2 / part[0] == pytest.approx(best, abs=1e-8)


def test_the_smoothed_variant_follows_a_wave_and_breaks_at_a_step():
    x = np.arange(400.0)
    rng = np.random.default_rng(0)
    step = np.where(x < 200, 0.1, 0.9)
    y = (rng.random(400) < step).astype(int)
    out = BinMeans(40, smooth=True).fit(x[:, None], y).transform(x[:, None]).ravel()
    assert np.abs(out - step).mean() < 0.08
    assert np.abs(np.diff(out)).argmax() in range(190, 210)


# Samples


def test_the_solution_of_least_cost_over_all_samples_is_taken():
    X, y = problem(3, 200)
    rng = np.random.default_rng(0)
    parts = [rng.permutation(200)[:100] for _ in range(4)]
    way = Method("auto", BinLimits(min_rows=5), False, 2)
    found = found_bins(X, y, way, parts)
    for j in range(4):
        tried = [optimal_cuts(X[rows][:, [j]], y[rows], min_rows=5).values for rows in parts]
        costs = []
        for rows, cuts in zip(parts, tried, strict=True):
            place = np.searchsorted(cuts, X[rows, j], side="right")
            means = np.array([y[rows][place == b].mean() for b in range(cuts.size + 1)])
            cost = 0.0
            for other in parts:
                values = means[np.searchsorted(cuts, X[other, j], side="right")]
                labels = y[other]
                each = labels.size * labels.var() / (labels.size - 1)
                cost += ((labels - values) ** 2).sum() + each * (cuts.size + 1)
            costs.append(cost)
        expected = tried[int(np.argmin(costs))]
        np.testing.assert_array_equal(found.cuts.apart()[j], expected)
        place = np.searchsorted(expected, X[:, j], side="right")
        shares = [y[place == b].mean() for b in range(expected.size + 1)]
        np.testing.assert_allclose(found.means[found.first[j] : found.first[j + 1], 1], shares)


def test_samples_make_fewer_bins_of_noise():
    rng = np.random.default_rng(2)
    X, y = rng.random((600, 10)), np.arange(600) % 2
    plain, sampled = (BinMeans(samples=s, random_state=0).fit(X, y) for s in (1, 5))
    assert sum(c.size for c in sampled.cuts_) < 0.7 * sum(c.size for c in plain.cuts_)


# In use


def test_a_linear_model_follows_the_ups_and_downs():
    rng = np.random.default_rng(4)
    X = rng.random((600, 3)) * 2
    y = (rng.random(600) < np.cos(2 * np.pi * X[:, 0]) ** 2).astype(int)
    model = tamis.recipe("bin_means | logistic")
    plain = cross_val_score(LogisticRegression(), X, y, cv=5).mean()
    assert plain < 0.6
    assert cross_val_score(model, X, y, cv=5).mean() > plain + 0.1


def test_names_and_frames():
    X, y = problem(n_classes=3)
    frame = pl.DataFrame(X, schema=list("abcd"))
    labels = np.array(["lo", "mid", "up"])[y]
    model = BinMeans(cv=3, random_state=0).set_output(transform="polars")
    assert model.fit_transform(frame, labels).columns == [f"{n}={c}" for n in "abcd" for c in ("mid", "up")]
    assert BinMeans().fit(frame, y > 0).get_feature_names_out().tolist() == list("abcd")


def test_wide_sparse_rows_are_never_filled():
    X = sp.random_array((60, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(8))
    out = BinMeans(2, cv=2, random_state=0).fit_transform(X, np.arange(60) % 2)
    assert out.shape == X.shape
    assert out.nnz <= X.nnz


def test_bins_are_those_of_discretize():
    X, y = problem(6, 300)
    for one, other in zip(BinMeans().fit(X, y).cuts_, Discretize("optimal").fit(X, y).cuts_, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bad_input_is_refused():
    X, y = problem()
    with pytest.raises(TamisError, match="at least two rows"):
        BinMeans().fit_transform(X[:2], [0, 1])
    with pytest.raises(ValueError, match="min_rows"):
        BinMeans(0).fit(X, y)
    with pytest.raises(ValueError, match="cv"):
        BinMeans(cv=1).fit(X, y)
    with pytest.raises(TamisError, match="one class"):
        BinMeans().fit(X, np.zeros(120))
