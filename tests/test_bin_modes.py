"""The most frequent class of optimal bins: brute force by the paper's procedure, folds, ties, missing and sparse."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import tamis
from binning_oracle import mean_error, partitions
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.discretize import BinMeans
from tamis.reporting.sentence import sentence

NAN = float("nan")


def dense(found):
    return found.toarray() if sp.issparse(found) else found


def mode(labels, of_all):
    """The most frequent label; of equals the one with most rows among all, of these the lowest."""
    return max(sorted(set(labels)), key=lambda c: (labels.count(c), of_all.count(c)))


def problem(seed=0, n=150, k=3):
    """Classes in turn along the first column; the other columns are noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    y = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), (6 * X[:, 0]).astype(int) % k)
    y[:k] = np.arange(k)
    return X, y


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(2, 4), st.sampled_from([0.05, 0.3, 1.0]))
@settings(max_examples=60)
def test_values_are_the_modes_of_the_best_of_all_segments(seed, n, k, gain):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 7, n).astype(float)
    names = np.array(["d", "b", "c", "a"])[rng.integers(0, k, n)]
    if np.unique(names).size == 1:
        return
    vectors = (names[:, None] == np.unique(names)) * 1.0
    # The paper's residuals about mean vectors are halved, which makes them those of 0 and 1 for two classes.
    costs = sorted(
        (sum(mean_error(None, vectors[rows]) / 2 + gain for rows in bins), number)
        for number, bins in enumerate(partitions(x, 2, None))
    )
    if len(costs) > 1 and costs[1][0] - costs[0][0] < 1e-9:
        return
    best = list(partitions(x, 2, None))[costs[0][1]]
    model = BinMeans(2, min_gain=gain, output="mode", cv=None).fit(x[:, None], names)
    found = model.classes_[model.transform(x[:, None])[:, 0].astype(int)]
    assert model.cuts_[0].size == len(best) - 1
    for rows in best:
        assert set(found[rows]) == {mode(names[rows].tolist(), names.tolist())}


@given(st.integers(0, 10**6), st.integers(2, 5), st.booleans(), st.sampled_from([1, 3]))
@settings(max_examples=20)
def test_the_mode_is_the_class_with_the_largest_share(seed, k, smooth, samples):
    X, y = problem(seed, 70, k)
    X[seed % 70, 1] = NAN
    given = {"min_rows": 4, "smooth": smooth, "samples": samples, "random_state": 0}
    shares, modes = (BinMeans(**given, output=output).fit(X, y) for output in ("shares", "mode"))
    other = shares.transform(X).reshape(70, 3, k - 1)
    each = np.concatenate((1 - other.sum(axis=2, keepdims=True), other), axis=2)
    codes = modes.transform(X).astype(int)
    chosen = np.take_along_axis(each, codes[:, :, None], axis=2)[:, :, 0]
    np.testing.assert_allclose(chosen, each.max(axis=2), atol=1e-12)
    # Of ties the class with most rows.
    tied = each >= each.max(axis=2, keepdims=True) - 1e-12
    np.testing.assert_array_equal(codes, np.where(tied, np.bincount(y), -1).argmax(axis=2))


def test_new_names_for_the_classes_change_the_codes_alone():
    X, y = problem(1)
    plain = BinMeans(output="mode").fit(X, y)
    names = np.array(["z", "m", "a"])
    renamed = BinMeans(output="mode").fit(X, names[y])
    codes = plain.transform(X)
    assert set(codes[:, 0]) == {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(
        renamed.classes_[renamed.transform(X).astype(int)], names[plain.classes_[codes.astype(int)]]
    )
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert plain.origins_.tolist() == [0, 1, 2]
    assert [means.shape[1] for means in plain.means_] == [1, 1, 1]


def test_ties_go_to_the_class_with_most_rows_and_then_to_the_first():
    x = np.repeat([0.0, 1.0, 2.0], [4, 4, 2])[:, None]
    y = np.array(["b", "b", "c", "c", "a", "a", "b", "b", "c", "c"])
    model = BinMeans(2, min_gain=0, output="mode").fit(x, y)
    # Of b there are four rows, of c four and of a two: b and c tie in the first bin, a and b in the second.
    assert model.transform([[0.0], [1.0], [2.0]]).ravel().tolist() == [1.0, 1.0, 2.0]
    np.testing.assert_allclose(model.shares_, [0.2, 0.4, 0.4])


def test_few_missing_values_get_the_mode_of_all_rows_and_many_their_own():
    X, y = problem(2)
    y = np.where(np.arange(150) < 12, 2, np.minimum(y, 1))
    X[:12, 1], X[:3, 2] = NAN, NAN
    most = float(np.bincount(y).argmax())
    assert BinMeans(output="mode").fit(X, y).transform([[NAN] * 3]).tolist() == [[most, 2.0, most]]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_training_rows_get_the_modes_of_the_other_folds(form):
    X, y = problem(3)
    X[X < 0.3] = 0.0
    made = dense(BinMeans(5, output="mode", cv=4, random_state=7).fit_transform(form(X), y))
    full = BinMeans(5, output="mode", cv=None).fit(form(X), y)
    all_shares = np.bincount(y) / y.size
    zero = full.zero_[:, 0]
    assert (zero == (BinMeans(5, output="mode").fit(X, y).transform(np.zeros((1, 3)))[0] * sp.issparse(form(X)))).all()
    for train, test in inner_folds(y, 4, generator(7, 1), "folds"):
        other = BinMeans(5, cv=None).fit(X[train], y[train]).transform(X[test]).reshape(test.size, 3, 2)
        each = np.concatenate((1 - other.sum(axis=2, keepdims=True), other), axis=2)
        each += all_shares - np.bincount(y[train]) / train.size
        tied = each >= each.max(axis=2, keepdims=True) - 1e-9
        expected = np.where(tied, all_shares, -1).argmax(axis=2) - zero
        if sp.issparse(form(X)):
            expected[X[test] == 0] = 0
        np.testing.assert_array_equal(made[test], expected)
    assert (made[X != 0] != dense(full.transform(form(X)))[X != 0]).any()


def test_a_column_that_says_nothing_does_not_tell_the_fold():
    # The folds have different majorities, and so have the rows outside of each.
    for y in (np.arange(100) % 2, np.arange(31) % 3):
        for form in (np.asarray, sp.csr_array):
            X = form(np.ones((y.size, 1)))
            out = dense(BinMeans(output="mode", cv=7, random_state=0).fit_transform(X, y))
            assert np.unique(out).size == 1


def test_all_folds_of_sparse_rows_have_one_code_for_zero():
    # The zeros are as often of class 0 as of class 1 in all rows, and not in the rows of a fold.
    x = np.repeat([0.0, 1.0, 2.0, 3.0], [70, 20, 20, 40])
    y = np.where(x == 0, np.arange(150) % 2, x - 1).astype(int)
    X, modes = sp.csr_array(x[:, None]), set()
    for seed in range(5):
        model = BinMeans(output="mode", random_state=seed)
        made = model.fit_transform(X, y).toarray().ravel()
        np.testing.assert_array_equal(made[x > 0], y[x > 0] - model.zero_[0, 0])
        assert set(made[x == 0]) == {0.0}
        folds = inner_folds(y, 5, generator(seed, 1), "folds")
        modes |= {BinMeans(output="mode").fit(X[train], y[train]).zero_[0, 0] for train, _ in folds}
    assert modes == {0.0, 1.0}


def test_modes_out_of_fold_do_not_deceive_the_next_step():
    noise, labels = np.random.default_rng(1).normal(size=(300, 20)), np.arange(300) % 2
    own, inside = (BinMeans(4, output="mode", cv=cv, random_state=0).fit_transform(noise, labels) for cv in (None, 5))
    assert cross_val_score(LogisticRegression(), own, labels, cv=5).mean() > 0.85
    assert abs(cross_val_score(LogisticRegression(), inside, labels, cv=5).mean() - 0.5) < 0.1


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_sparse_codes_are_dense_ones_less_that_of_zero(seed):
    X, y = problem(seed, 60)
    X = np.where(X < 0.4, 0.0, X - 0.5).round(1)
    whole, thin = BinMeans(4, output="mode").fit(X, y), BinMeans(4, output="mode").fit(sp.csr_array(X), y)
    expected = whole.transform(X) - whole.transform(np.zeros((1, 3)))
    np.testing.assert_array_equal(thin.transform(sp.csr_array(X)).toarray(), expected)
    np.testing.assert_array_equal(thin.transform(X), expected)
    stored = sp.csr_array(X)
    stored.data[::3] = 0.0
    made = [BinMeans(4, output="mode", random_state=0).fit_transform(form, y) for form in (stored, stored.toarray())]
    same = stored.copy()
    same.eliminate_zeros()
    again = BinMeans(4, output="mode", random_state=0).fit_transform(same, y)
    np.testing.assert_array_equal(made[0].toarray(), again.toarray())
    assert made[0].nnz <= same.nnz
    assert made[1].shape == made[0].shape


def test_parts_that_count_states_take_modes_as_they_are():
    X, y = problem(4, 400, 4)
    codes = BinMeans(20, output="mode", random_state=0).fit_transform(X, y)
    information = tamis.scores.mi(codes, y, bins="values")
    np.testing.assert_allclose(tamis.scores.mi(codes, y), information)
    assert information.argmax() == 0
    for text in ("bin_means(20, output=mode) | nb(states)", "bin_means(20, output=mode) | tree"):
        assert cross_val_score(tamis.recipe(text), X, y, cv=5).mean() > 0.7


def test_numbers_are_refused():
    X, y = problem()
    words = r"bin_means\(output=mode\) is for classes, and the target holds numbers: take output=shares"
    for target, task in ((y + 0.5, "auto"), (y, "regress")):
        with pytest.raises(TamisError, match=words):
            BinMeans(output="mode", task=task).fit(X, target)
        with pytest.raises(TamisError, match=words):
            BinMeans(output="mode", task=task).fit_transform(X, target)
    assert BinMeans(output="mode", task="classify").fit(X, y).classes_.size == 3
    with pytest.raises(ValueError, match="'output' parameter"):
        BinMeans(output="median").fit(X, y)
    with pytest.raises(TamisError, match="one class"):
        BinMeans(output="mode").fit(X, np.zeros(150))
    with pytest.raises(TamisError, match="a class with at least two rows"):
        BinMeans(output="mode").fit_transform(X[:2], [0, 1])


def test_the_command_line_validates_and_refuses(tamis, tmp_path):
    X, y = problem(5, 120)
    columns = {f"c{j}": X[:, j] for j in range(3)}
    for name, target in (("classes", np.array(["red", "green", "blue"])[y]), ("numbers", y + 0.5)):
        pl.DataFrame({**columns, "target": target}).write_csv(tmp_path / f"{name}.csv")
    text = "bin_means(output=mode) | nb(states)"
    code, out, err = tamis("validate", tmp_path / "classes.csv", text, "--target", "target", "--json")
    assert code == 0, err
    assert json.loads(out)["metrics"]["accuracy"]["mean"] > 0.6
    code, _, err = tamis("validate", tmp_path / "numbers.csv", "bin_means(output=mode) | ridge", "--target", "target")
    assert code == 2
    assert "bin_means(output=mode) is for classes" in err


def test_a_recipe_says_it_in_words():
    assert "the most frequent class of optimal bins" in sentence("bin_means(output=mode) | tree")
