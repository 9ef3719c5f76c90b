"""Stability selection against a plain loop over the same halves, its bounds against the papers', sweeps, bad input."""

import warnings
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import tamis
from drawn import Drawn
from planted import planted
from tamis.base.cut import NothingPasses
from tamis.base.errors import DataError, TamisError
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import Together
from tamis.compose.recipe import to_text
from tamis.select import RFE, Ranking, SSVTreeSelector, StabilitySelection
from tamis.select.stability_selection import error_bounds
from tamis.transform import Impute, Standardize


def clear(rows: int = 60, columns: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Noise in which columns 3 and 8 tell the classes apart in any half of the rows."""
    X, y = planted(rows=rows, columns=columns)
    X[:, [3, 8]] += 3 * y[:, None]
    return X, y


def halves(y, times: int, random_state: int):
    """The halves that a fit draws, with the seed of the selector on each: class by class, ascending."""
    seed = int(generator(random_state).integers(2**31))
    for number in range(times):
        own = spawn(seed, number)
        rng = generator(own)
        mixed = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
        for half in (0, 1):
            size = [len(rows) // 2 for rows in mixed]
            taken = [rows[half * n : half * n + n] for rows, n in zip(mixed, size, strict=True)]
            yield np.sort(np.concatenate(taken)), spawn(own, half)


@pytest.mark.parametrize(
    "selector",
    [Ranking("cc", k=4), Ranking("f", fdr=0.3), SSVTreeSelector(), Drawn(), SelectKBest(f_classif, k=3)],
    ids=repr,
)
def test_frequencies_are_those_of_a_plain_loop(selector) -> None:
    X, y = planted(rows=50, columns=12)
    y = np.where(np.arange(50) < 9, 2, y)
    model = StabilitySelection(selector, times=6, random_state=7)
    expected = np.zeros(12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        model.fit(X, y)
    for rows, seed in halves(y, 6, 7):
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            kept = seeded(clone(selector), seed).fit(X[rows], y[rows]).get_support()
        expected += 0 if warned else kept
    np.testing.assert_allclose(model.frequency_, expected / 12)
    np.testing.assert_array_equal(model.scores_, model.frequency_)
    assert model.mean_size_ == pytest.approx(expected.sum() / 12)
    if (expected >= 9).any():
        np.testing.assert_array_equal(model.support_, expected >= 9)


def test_halves_are_disjoint_and_hold_every_class() -> None:
    seen = []

    def looked(X, y):
        seen.append((X[:, 0].astype(int).tolist(), np.bincount(y).tolist()))
        return np.arange(X.shape[1])

    y = np.array([0] * 7 + [1] * 10 + [2] * 2)
    X = np.column_stack([np.arange(19.0), np.ones(19)])
    StabilitySelection(Ranking(looked, k=1), times=8, random_state=0).fit(X, y)
    assert len(seen) == 16
    assert all(counts == [3, 5, 1] for _, counts in seen)
    for (first, _), (second, _) in zip(seen[::2], seen[1::2], strict=True):
        assert not set(first) & set(second)
    assert len({tuple(rows) for rows, _ in seen}) == 16


@given(st.integers(1, 40), st.floats(0.1, 20), st.integers(20, 500))
def test_bounds_have_their_closed_form(times, q, n_features) -> None:
    found = error_bounds(q, n_features, times)
    share = [needed / (2 * times) for needed in range(times + 1, 2 * times + 1)]
    np.testing.assert_allclose(found, [q**2 / ((2 * t - 1) * n_features) for t in share])
    sharper = error_bounds(q, n_features, times, "unimodal")
    theta = q / n_features
    for t, value, plain in zip(share, sharper, found, strict=True):
        expected = plain
        if theta <= 3**-0.5 and t > 0.5 + min(theta**2, 1 / (2 * times) + 0.75 * theta**2) and t > 0.5 + 0.9 / times:
            if t <= 0.75:
                constant = 1 / (2 * (2 * t - 1 - 1 / (2 * times)))
            else:
                constant = 4 * (1 - t + 1 / (2 * times)) / (1 + 1 / times)
            expected = min(plain, constant * theta * q)
        assert value == pytest.approx(expected)
    assert (np.diff(found) < 0).all()
    assert (np.diff(sharper) <= 1e-12).all()


def test_the_unimodal_bound_is_that_of_the_paper() -> None:
    # Worked by hand for 50 pairs, q = 20 of 1000: 0.4 / (2 * 0.49) at 0.75 and 0.4 * 4 * 0.11 / 1.02 at 0.9.
    found = error_bounds(20, 1000, 50, "unimodal")
    assert found[75 - 51] == pytest.approx(0.4 / 0.98)
    assert found[90 - 51] == pytest.approx(0.4 * 0.44 / 1.02)
    np.testing.assert_array_equal(error_bounds(60, 100, 50, "unimodal"), error_bounds(60, 100, 50))


@pytest.mark.parametrize("bound", ["any", "unimodal"])
@pytest.mark.parametrize("max_false", [0.3, 1.0, 5.0, 100.0])
def test_the_threshold_is_the_lowest_that_keeps_the_bound(bound, max_false) -> None:
    X, y = clear()
    model = StabilitySelection(Ranking("cc", k=3), times=10, max_false=max_false, bound=bound, random_state=0).fit(X, y)
    values = error_bounds(3.0, 40, 10, bound)
    needed = next(11 + place for place, value in enumerate(values) if value <= max_false)
    assert model.threshold_ == needed / 20
    assert model.error_bound_ == values[needed - 11]
    assert model.mean_size_ == 3.0
    np.testing.assert_array_equal(model.support_, model.frequency_ >= model.threshold_)


@pytest.mark.parametrize(
    ("threshold", "expected"), [(None, 0.75), (0.55, 0.55), (0.551, 0.56), (0.501, 0.51), (1.0, 1.0), (0.9, 0.9)]
)
def test_thresholds_lie_where_frequencies_do(threshold, expected) -> None:
    X, y = clear()
    model = StabilitySelection(Ranking("cc", k=5), threshold=threshold, random_state=0).fit(X, y)
    assert model.threshold_ == pytest.approx(expected)
    assert model.error_bound_ == pytest.approx(25 / (2 * expected - 1) / 40)
    np.testing.assert_array_equal(model.support_, model.frequency_ >= expected - 1e-9)


def test_by_default_one_false_column_is_expected_at_most() -> None:
    X, y = clear(rows=100, columns=200)
    model = StabilitySelection(random_state=0).fit(X, y)
    assert model.mean_size_ == 10
    assert model.error_bound_ == pytest.approx(1.0)
    assert model.support_[[3, 8]].all()


def test_the_bound_holds_on_planted_data() -> None:
    false, found = [], []
    for seed in range(20):
        X, y = planted(seed, rows=100, columns=100)
        kept = StabilitySelection(Ranking("cc", k=7), times=20, random_state=seed).fit(X, y).support_
        found.append(kept[[3, 8]].mean())
        false.append(kept.sum() - kept[[3, 8]].sum())
    assert np.mean(false) < 49 / 50
    assert np.mean(found) > 0.95


def test_on_noise_hardly_anything_is_stable() -> None:
    kept = 0
    for seed in range(20):
        X, y = planted(seed, columns=50)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            shuffled = np.random.default_rng(seed).permutation(y)
            model = StabilitySelection(Ranking("cc", k=3), times=20, threshold=0.9, random_state=seed).fit(X, shuffled)
        kept += 0 if warned else model.support_.sum()
    # At most 9 / (0.8 * 50) = 0.225 are expected of each.
    assert kept / 20 < 0.225


def test_equal_frequencies_go_by_the_mean_place() -> None:
    X, y = planted(rows=100)
    model = StabilitySelection(Ranking("cc", k=40), times=4, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.frequency_, 1.0)
    places = np.zeros(40)
    for rows, _ in halves(y, 4, 0):
        places[Ranking("cc").fit(X[rows], y[rows]).order_] += np.arange(40)
    np.testing.assert_array_equal(model.order_, np.argsort(places, kind="stable"))


class Counted(Selector):
    """Keeps the columns of the largest means, and counts its fits."""

    _parameter_constraints: ClassVar[dict] = {}
    fits = 0

    def _select(self, X, y):
        type(self).fits += 1
        return Selection(X.mean(axis=0) >= np.median(X.mean(axis=0)), X.mean(axis=0))


def test_one_set_of_fits_serves_every_threshold() -> None:
    X, y = planted()
    settings = [{"threshold": 0.6}, {"threshold": 0.9}, {"max_false": 14.0}, {"bound": "unimodal"}, {}]
    models = [StabilitySelection(Counted(), times=5, random_state=2, **given_) for given_ in settings]
    Counted.fits = 0
    together = list(Together(models, X, y))
    assert Counted.fits == 10
    for one, other in zip(together, models, strict=True):
        alone = clone(other).fit(X, y)
        np.testing.assert_array_equal(one.support_, alone.support_)
        assert (one.threshold_, one.error_bound_) == (alone.threshold_, alone.error_bound_)


def test_without_a_stable_column_the_first_is_kept() -> None:
    X, y = planted()
    with pytest.warns(
        NothingPasses, match=r"no feature is selected in 20 of 20 fits; the best one, in \d+, selected instead"
    ):
        model = StabilitySelection(Drawn(), times=10, threshold=1.0, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [model.order_[0]]
    assert model.frequency_[model.order_[0]] == model.frequency_.max()


def test_what_is_kept_by_default_alone_does_not_count() -> None:
    X, y = planted()
    with pytest.warns(NothingPasses, match="the best one, in 0, selected instead") as warned:
        model = StabilitySelection(Ranking("cc", threshold=2.0), times=3, random_state=0).fit(X, y)
    assert len(warned) == 1
    np.testing.assert_array_equal(model.frequency_, 0.0)
    assert (model.mean_size_, model.error_bound_) == (0.0, 0.0)


class Doubtful(Ranking):
    """Says that it has not settled."""

    def _select(self, X, y, sample_weight=None):
        warnings.warn("not settled", ConvergenceWarning, stacklevel=2)
        return super()._select(X, y, sample_weight)


def test_other_warnings_of_the_selector_are_heard_once() -> None:
    X, y = planted()
    with pytest.warns(ConvergenceWarning, match="not settled") as warned:
        StabilitySelection(Doubtful(k=5), times=3, threshold=0.51, random_state=0).fit(X, y)
    assert len(warned) == 1


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("selector", [Ranking("f", k=5), SSVTreeSelector(), make_pipeline(Standardize(), RFE(4))])
def test_sparse_rows_give_what_dense_ones_do(form, selector) -> None:
    X, y = planted()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, sparse = (
        StabilitySelection(selector, times=4, threshold=0.51, random_state=0).fit(rows, y) for rows in (X, form(X))
    )
    np.testing.assert_array_equal(sparse.frequency_, dense.frequency_)
    np.testing.assert_array_equal(sparse.order_, dense.order_)


def test_pipelines_are_followed_to_their_selector() -> None:
    X, y = planted()
    plain = StabilitySelection(Ranking("cc", k=5), times=8, random_state=0).fit(X, y)
    chain = make_pipeline(Standardize(), Ranking("variance"), Ranking("cc", k=5))
    chained = StabilitySelection(chain, times=8, random_state=0).fit(np.column_stack([np.ones(60), X]), y)
    np.testing.assert_array_equal(chained.frequency_[1:], plain.frequency_)
    assert chained.frequency_[0] == 0.0
    assert chained.order_[-1] == 0


def test_one_seed_one_result_for_any_number_of_workers() -> None:
    X, y = planted()
    one, two, other = (
        StabilitySelection(Drawn(), times=4, threshold=0.51, random_state=seed, n_jobs=jobs).fit(X, y)
        for seed, jobs in ((3, 1), (3, 2), (4, 1))
    )
    np.testing.assert_array_equal(one.frequency_, two.frequency_)
    assert not np.array_equal(one.frequency_, other.frequency_)


def test_missing_values_and_classes_are_asked_for_as_the_selector_does() -> None:
    X, y = clear()
    unsupervised = StabilitySelection(Ranking("variance", k=9), times=3, threshold=0.51, random_state=0).fit(X)
    assert unsupervised.mean_size_ == 9
    with pytest.raises(ValueError, match="requires y"):
        StabilitySelection(Ranking("cc", k=3)).fit(X)
    X[::7, 3] = np.nan
    assert StabilitySelection(Ranking("cc", k=5), random_state=0).fit(X, y).support_.any()
    filled = StabilitySelection(make_pipeline(Impute(), RFE(5)), times=3, threshold=0.51, random_state=0)
    assert filled.fit(X, y).mean_size_ == 5
    with pytest.raises(ValueError, match="NaN"):
        StabilitySelection(RFE(5)).fit(X, y)


@pytest.mark.parametrize("form", ["polars", "objects", "lists"])
def test_text_goes_to_a_selector_that_takes_it(form) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    words = np.where(rng.random(60) < 0.9, np.array(["no", "yes"])[y], np.array(["yes", "no"])[y])
    frame = pl.DataFrame({"size": rng.normal(size=60), "word": words, "letter": rng.choice(["a", "b", "c"], 60)})
    given_as = {"polars": frame, "objects": frame.to_numpy(), "lists": [list(row) for row in frame.rows()]}
    model = StabilitySelection(Ranking("ssv", k=1), times=5, random_state=0).fit(given_as[form], y)
    assert model.frequency_.tolist() == [0.0, 1.0, 0.0]


def test_a_recipe_selects_what_is_stable() -> None:
    X, y = planted()
    for text in (
        "stability_selection(cc(30), threshold=0.9)",
        "stability_selection(standardize | f(5), times=10, max_false=2)",
        "stability_selection(ssv_tree, bound=unimodal)",
    ):
        assert to_text(tamis.recipe(text)) == text
    model = tamis.recipe("stability_selection(standardize | f(5), times=10, max_false=2)").set_params(random_state=1)
    expected = StabilitySelection(Ranking("f", k=5), times=10, max_false=2, random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).support_, expected.support_)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"estimator": GaussianNB()}, "'estimator' parameter"),
        (
            {"estimator": make_pipeline(Ranking("cc"), Standardize())},
            "stability_selection: estimator must be a selector",
        ),
        (
            {"estimator": make_pipeline(PCA(2), Ranking("cc"))},
            "stability_selection: the columns selected by .* be traced",
        ),
        ({"threshold": 0.9, "max_false": 1}, "takes one of threshold and max_false; got both"),
        (
            {"estimator": Ranking("cc", k=20), "max_false": 1},
            r"max_false=1 is out of reach: of 40 columns the selector selects 20 on average, and 10 false ones",
        ),
        ({"threshold": 0.5}, "'threshold'"),
        ({"threshold": 1.1}, "'threshold'"),
        ({"max_false": 0}, "'max_false'"),
        ({"times": 0}, "'times'"),
        ({"bound": "none"}, "'bound'"),
        ({"n_jobs": "all"}, "'n_jobs'"),
    ],
)
def test_bad_parameters(parameters, match) -> None:
    X, y = planted()
    with pytest.raises(ValueError, match=match):
        StabilitySelection(**{"times": 2, **parameters}).fit(X, y)


def test_classes_that_cannot_be_halved() -> None:
    X, y = planted()
    labels = np.array(["ill", "well"])[y].astype(object)
    labels[5] = "odd"
    with pytest.raises(DataError, match="two rows of each class at least; class 'odd' has one"):
        StabilitySelection().fit(X, labels)
    with pytest.raises(TamisError, match="one class"):
        StabilitySelection().fit(X, np.zeros(60))
    with pytest.raises(DataError, match="two rows at least; got n_samples = 1"):
        StabilitySelection(Ranking("variance", k=1)).fit(X[:1])
