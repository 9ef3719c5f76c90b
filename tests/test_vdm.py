"""Levels as class shares: hand-worked counts, the distance of knn, folds, weights, and codes that do not deceive."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.preprocessing import TargetEncoder

import tamis
from tamis.base.errors import DataError, TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.classify import KNN
from tamis.compose.recipe import completed, parse
from tamis.data import load
from tamis.neighbours.level_means import level_means
from tamis.neighbours.mixed_space import MixedSpace
from tamis.transform import VDM


def nominal(n, n_classes, seed=0, n_columns=3, n_levels=4):
    """Rows of letters that go with the classes, more or less."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    codes = np.where(rng.random((n, n_columns)) < 0.4, y[:, None], rng.integers(0, n_levels, (n, n_columns)))
    return np.array(list("abcdefgh"), dtype=object)[codes], y


FRAME = pl.DataFrame(
    {
        "height": [1.5, None, 2.5, 0.0, 1.0, 2.0],
        "colour": ["red", "red", "red", "blue", None, "blue"],
        "weight": [10, 20, 30, 40, 50, 60],
    }
)


def forms():
    """The same rows as polars, pandas of three dtypes, object array, and lists."""
    plain = FRAME.to_dict(as_series=False)
    yield FRAME
    yield FRAME.with_columns(pl.col("colour").cast(pl.Categorical))
    for dtype in (object, "string", "category"):
        yield pd.DataFrame(plain).astype({"colour": dtype})
    yield np.array(FRAME.rows(), dtype=object)
    yield [list(row) for row in FRAME.rows()]


# Against counts


@pytest.mark.parametrize("form", range(7))
@pytest.mark.parametrize("smoothing", [0.0, 2.0])
def test_two_classes_give_the_share_of_the_second(form, smoothing):
    X, y = list(forms())[form], ["n", "y", "y", "n", "y", "n"]
    # red has 2 of 3 rows of class y, blue 0 of 2; of all rows it is half.
    red, blue = (2 + smoothing / 2) / (3 + smoothing), (smoothing / 2) / (2 + smoothing)
    model = VDM(smoothing).fit(X, y)
    out = model.transform(X)
    np.testing.assert_allclose(out[:, 1], [red, red, red, blue, 0.5, blue], rtol=1e-15)
    np.testing.assert_array_equal(out[:, [0, 2]], FRAME.select("height", "weight").to_numpy())
    assert model.origins_.tolist() == [0, 1, 2]
    assert model.levels_[1].tolist() == ["blue", "red"]
    np.testing.assert_allclose(model.values_[1], [[blue], [red], [0.5]])
    names = ["height", "colour", "weight"] if hasattr(X, "columns") else ["x0", "x1", "x2"]
    assert model.get_feature_names_out().tolist() == names


def test_three_classes_give_all_shares_and_names():
    X = pl.DataFrame({"c": ["r", "r", "b", "b", "b", "g"], "c=hi": [0.0, 1, 2, 3, 4, 5]})
    y = np.array(["lo", "hi", "hi", "hi", "mid", "mid"])
    model = VDM(1.0).fit(X, y)
    prior = np.array([3, 1, 2]) / 6
    r, b, g = ((np.array(counts) + prior) / (sum(counts) + 1) for counts in ([1, 1, 0], [2, 0, 1], [0, 0, 1]))
    np.testing.assert_allclose(model.transform(X)[:, :3], [r, r, b, b, b, g], rtol=1e-15)
    assert model.origins_.tolist() == [0, 0, 0, 1]
    # A name that a column has already gets a number.
    assert model.get_feature_names_out().tolist() == ["c=hi_2", "c=lo", "c=mid", "c=hi"]
    assert model.set_output(transform="polars").fit_transform(X, y).columns == ["c=hi_2", "c=lo", "c=mid", "c=hi"]
    new = pl.DataFrame({"c": ["w", None], "c=hi": [0.0, 0.0]})
    np.testing.assert_allclose(model.transform(new).to_numpy()[:, :3], [prior, prior])


@pytest.mark.parametrize("target", ["binary", "multiclass", "continuous"])
@pytest.mark.parametrize("smooth", [0.0, 3.0])
def test_codes_are_those_of_target_encoder(target, smooth):
    X, y = nominal(80, 3)
    y = {"binary": y > 0, "multiclass": y, "continuous": y + 0.25}[target]
    theirs = TargetEncoder(smooth=smooth, target_type=target).fit(X, y)
    new = np.vstack([X, [["z", "a", "b"]]])
    np.testing.assert_allclose(VDM(smooth).fit(X, y).transform(new), theirs.transform(new), rtol=1e-13)


@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from([0.0, 0.5, 4.0]))
def test_shares_are_plain_counts(seed, n_classes, smoothing):
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(-1, 4, 30), np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 30)])[:30]
    weight = rng.integers(0, 3, 30).astype(float)
    weight[:n_classes] += 1
    got = level_means(codes, y, 4, n_classes=n_classes, weight=weight, smoothing=smoothing)
    assert got.shape == (5, n_classes)
    for v in range(5):
        for c in range(n_classes):
            share = weight[y == c].sum() / weight.sum()
            here, size = weight[(codes == v) & (y == c)].sum(), weight[codes == v].sum()
            expected = (here + smoothing * share) / (size + smoothing) if v < 4 and size else share
            assert got[v, c] == pytest.approx(expected, rel=1e-13)


# The distance


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_distances_are_the_value_difference_metric_of_knn(n_classes):
    X, y = nominal(90, n_classes, n_columns=4)
    knn = KNN(3).fit(X[:60], y[:60])
    codes = np.array([[knn.levels_[j].tolist().index(v) for j, v in enumerate(row)] for row in X], dtype=float)
    sizes = {j: levels.size for j, levels in knn.levels_.items()}
    points = MixedSpace.of(codes[:60], y[:60], sizes, symbols="vdm", alpha=2.0).points(codes)
    out = VDM(0.0).fit(X[:60], y[:60]).transform(X)
    factor = 1.0 if n_classes == 2 else np.sqrt(2.0)
    np.testing.assert_allclose(cdist(out, out), factor * cdist(points, points), rtol=1e-12, atol=1e-14)
    behind = tamis.recipe("vdm(0, cv=none) | knn(3)").fit(X[:60], y[:60])
    assert (behind.predict(X) == knn.predict(X)).mean() > 0.95  # rounding may settle a tie the other way

    # By definition, column by column.
    def share(j, v, c):
        rows = X[:60, j] == v
        return np.mean(y[:60][rows] == c)

    far = sum((share(j, X[61, j], c) - share(j, X[3, j], c)) ** 2 for j in range(4) for c in range(n_classes))
    assert cdist(out[[61]], out[[3]]).item() == pytest.approx(np.sqrt(far) / (np.sqrt(2) / factor))


# Out of fold


@pytest.mark.parametrize("n_classes", [2, 3, 0])
def test_training_rows_get_what_the_other_folds_tell(n_classes):
    X, y = nominal(50, n_classes or 3)
    y = y if n_classes else y + np.random.default_rng(1).normal(size=50)
    out = VDM(cv=4, random_state=7).fit_transform(X, y)

    def means(rows):
        if not n_classes:
            return y[rows].mean()
        shares = np.bincount(y[rows], minlength=n_classes) / len(y[rows])
        return shares[1:] if n_classes == 2 else shares

    for train, test in inner_folds(y, 4, generator(7, 1), "folds"):
        alone = VDM(cv=None).fit(X[train], y[train]).transform(X[test])
        moved = means(np.arange(50)) - means(train)
        np.testing.assert_allclose(out[test], alone + np.tile(moved, 3), rtol=1e-12)
    model = VDM(cv=4, random_state=7)
    model.fit_transform(X, y)
    np.testing.assert_array_equal(model.transform(X), VDM().fit(X, y).transform(X))
    assert not np.allclose(out, model.transform(X))


def test_without_folds_fit_transform_is_fit_and_transform():
    X, y = nominal(40, 3)
    model = VDM(cv=None)
    np.testing.assert_array_equal(model.fit_transform(X, y), model.transform(X))
    assert not model.__sklearn_tags__().non_deterministic
    assert VDM().__sklearn_tags__().non_deterministic


def test_a_column_of_one_level_does_not_tell_the_fold():
    X, y = np.full((100, 1), "a", dtype=object), np.arange(100) < 3
    out = VDM(random_state=0).fit_transform(X, y)
    np.testing.assert_allclose(out, out[0, 0])


def test_codes_of_noise_deceive_a_classifier_only_within_their_own_rows():
    fooled, taught, new, whole = [], [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, Z = (np.array([[f"level {i}"] for i in rng.integers(0, 40, n)], dtype=object) for n in (100, 1000))
        y, z = rng.permutation(np.arange(100) % 2), rng.integers(0, 2, 1000)
        naive = tamis.recipe("vdm(cv=none) | logistic").fit(X, y)
        fooled.append(naive.score(X, y))
        new.append(naive.score(Z, z))
        inside = tamis.recipe("vdm(random_state=0)").fit_transform(X, y)
        taught.append(tamis.recipe("logistic").fit(inside, y).score(inside, y))
        whole.append(tamis.validate("vdm | logistic", X, y, folds=5).summary()["accuracy"].mean)
    assert np.mean(fooled) > 0.68
    assert abs(np.mean(taught) - 0.5) < 0.12
    assert abs(np.mean(new) - 0.5) < 0.05
    assert abs(np.mean(whole) - 0.5) < 0.08


# Weights


@pytest.mark.parametrize("n_classes", [2, 3, 0])
def test_weights_count_as_repeated_rows(n_classes):
    X, y = nominal(60, n_classes or 3)
    y = y if n_classes else y + 0.25
    weight = np.random.default_rng(3).integers(0, 3, 60)
    weight[:3] = 1
    weighted = VDM().fit(X, y, weight)
    repeated = VDM().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-12)
    inside = VDM(random_state=0).fit_transform(X, y, weight)
    np.testing.assert_array_equal(inside[weight == 0], weighted.transform(X)[weight == 0])
    # Equal weights change no value, in the folds either.
    even = VDM(random_state=0).fit_transform(X, y, np.full(60, 2.0))
    np.testing.assert_allclose(even, VDM(random_state=0, smoothing=0.5).fit_transform(X, y), rtol=1e-12)


# In use


def test_it_stands_in_place_of_encode():
    chain = parse("vdm | svm(linear)")
    assert completed(chain, nominal=True, missing=False) == chain
    assert str(completed(chain, nominal=True, missing=True)) == "impute | vdm | svm(linear)"
    assert parse("vdm | ridge").task == "regress"
    X, y = nominal(60, 3)
    assert tamis.validate("vdm | standardize | svm(linear)", X, y, folds=3).recipe == "vdm | standardize | svm(linear)"


def test_whole_numbers_are_numbers_when_told():
    X, y = nominal(40, 3)
    assert VDM().fit(X, y).transform(X).shape == (40, 9)
    told = VDM(task="regress").fit(X, y)
    np.testing.assert_allclose(told.transform(X), VDM().fit(X, y + 0.25).transform(X) - 0.25)


def test_columns_without_known_values_and_rows_of_numbers():
    X = pl.DataFrame({"a": pl.Series([None, None, None], dtype=pl.String), "b": [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(VDM().fit(X, [0, 1, 1]).transform(X), [[2 / 3, 1], [2 / 3, 2], [2 / 3, 3]])
    numbers = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    for form in (np.asarray, sp.csr_array):
        out = VDM().fit_transform(form(numbers), np.arange(20) % 2)
        assert out.dtype == np.float32
        np.testing.assert_array_equal(out.toarray() if sp.issparse(out) else out, numbers)


def test_bad_input_is_refused():
    X, y = nominal(20, 2)
    with pytest.raises(ValueError, match="smoothing"):
        VDM(-1.0).fit(X, y)
    with pytest.raises(TamisError, match="one class"):
        VDM().fit(X, np.zeros(20))
    with pytest.raises(TamisError, match="class with at least two rows; set cv=none"):
        VDM().fit_transform(X[:2], [0, 1])
    assert VDM(cv=None).fit_transform(X[:2], [0, 1]).shape == (2, 3)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        VDM().fit(X, y[:5])
    with pytest.raises(ValueError, match="requires y"):
        VDM().fit(X)
    with pytest.raises(TamisError, match="no row of class 1 has a sample weight above zero"):
        VDM().fit(X, y, y == 0)
    with pytest.raises(DataError, match="a sparse matrix cannot hold"):
        VDM().fit(X, y).transform(sp.csr_array((2, 3)))
    with pytest.raises(TamisError, match="vdm needs numbers"):
        VDM(task="regress").fit(X, np.array(list("ab" * 10)))


def test_knn_behind_it_is_knn_on_real_names(shared_data):
    data = load(str(shared_data / "uci" / "splice.arff.gz"))
    rows = np.random.default_rng(0).permutation(data.n_rows)[:600]
    X, y = data.X[rows], data.y[rows]
    behind, direct = tamis.recipe("vdm(0, cv=none) | knn(7)").fit(X[:400], y[:400]), KNN(7).fit(X[:400], y[:400])
    assert (behind.predict(X[400:]) == direct.predict(X[400:])).all()
