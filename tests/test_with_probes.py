"""Columns among probes: the cut against brute force and Benjamini-Hochberg, the rate on planted data, ties, input."""

import warnings
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pandas as pd
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
from tamis.base.cut import NothingPasses, benjamini_hochberg
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import Together
from tamis.compose.recipe import to_text
from tamis.select import RFE, Ranking, SSVTreeSelector, WithProbes
from tamis.select.with_probes import _Ranked
from tamis.transform import Impute, Standardize

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]


def planted(seed: int, rows: int = 120, columns: int = 100, real: int = 10) -> Problem:
    """Noise, columns that tell the classes apart in random places, and which ones these are."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % 2)
    X = rng.normal(size=(rows, columns))
    places = rng.permutation(columns)[:real]
    X[:, places] += np.linspace(0.8, 1.5, real) * y[:, None]
    true = np.zeros(columns, dtype=bool)
    true[places] = True
    return X, y, true


def correlations(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(np.corrcoef(X.T, y)[-1, :-1])


@pytest.mark.parametrize("fdr", [0.1, 0.15, 0.3])
@pytest.mark.parametrize("repeats", [1, 4])
def test_the_cut_is_that_of_a_plain_loop(fdr, repeats) -> None:
    X, y, _ = planted(3)
    n = X.shape[1]
    found = WithProbes(Ranking("cc", k=7), fdr=fdr, n_repeats=repeats, random_state=5).fit(X, y)
    seed = int(generator(5).integers(2**31))
    real = correlations(X, y)
    ahead = np.zeros(n)
    for number in range(repeats):
        probes = correlations(X[generator(spawn(seed, number)).permutation(len(y))], y)
        ahead += [sum(probe >= value for probe in probes) for value in real]
    expected = [0.0] * n
    for place, count in enumerate(sorted(ahead), 1):
        expected[place - 1] = min(1.0, n * (1 + count) / (1 + repeats * n) / place)
    size = max(place for place in range(1, n + 1) if expected[place - 1] <= fdr)
    np.testing.assert_allclose(found.curve_, expected)
    assert set(found.get_support(indices=True)) == set(np.lexsort((-real, ahead))[:size])
    assert found.probe_share_ == pytest.approx(expected[size - 1])
    assert found.n_probes_ == repeats * n
    np.testing.assert_allclose(found.scores_, 1 - ahead / (repeats * n))
    np.testing.assert_array_equal(found.order_, np.lexsort((-real, ahead)))


@given(st.lists(st.integers(0, 60), min_size=1, max_size=30), st.floats(0.01, 0.6))
def test_the_cut_is_benjamini_and_hochbergs(ahead, fdr) -> None:
    counts = np.array(ahead)
    model = WithProbes(fdr=fdr)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = model._finish(_Ranked(counts, counts, np.array(60)))
    expected = benjamini_hochberg((1 + counts) / 61, fdr)
    assert bool(warned) == (not expected.any())
    if expected.any():
        np.testing.assert_array_equal(found.support, expected)
        assert model.probe_share_ <= fdr
    else:
        assert found.support.sum() == 1
        assert counts[found.support][0] == counts.min()
        assert model.probe_share_ > fdr


def false_share(text: str, seed: int) -> tuple[float, float]:
    """Share of false ones among the kept columns, and share of the true ones that are kept."""
    X, y, true = planted(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        kept = tamis.recipe(text).set_params(random_state=seed).fit(X, y).support_
    return (kept & ~true).sum() / kept.sum(), kept[true].mean()


@pytest.mark.parametrize(
    ("text", "power"), [("with_probes(cc)", 0.95), ("with_probes(from_model(svm(C=0.01)), n_repeats=5)", 0.8)]
)
def test_few_of_the_kept_columns_are_false(text, power) -> None:
    shares = np.array([false_share(text, seed) for seed in range(12)])
    assert shares[:, 0].mean() < 0.13
    assert shares[:, 1].mean() > power


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "power"),
    [
        ("with_probes(cc)", 0.95),
        ("with_probes(ssv)", 0.85),
        ("with_probes(from_model(extra_trees(50)), n_repeats=5)", 0.85),
        ("with_probes(from_model(svm(C=0.01)))", 0.85),
        ("with_probes(rfe(10, C=0.01))", 0.75),
        ("with_probes(mrmr(20))", 0.85),
        ("with_probes(vote(cc(20), ssv(20), from_model(svm(C=0.01), 20)))", 0.85),
    ],
)
def test_the_rate_is_kept_over_50_seeds(text, power) -> None:
    shares = np.array([false_share(text, seed) for seed in range(50)])
    false, found = shares.mean(axis=0)
    assert false < 0.13
    assert found > power


def test_on_noise_something_passes_about_as_often_as_the_rate_says() -> None:
    passed = 0
    for seed in range(60):
        X, y, _ = planted(seed, rows=60, columns=40)
        shuffled = np.random.default_rng(seed).permutation(y)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = WithProbes(fdr=0.1, random_state=seed).fit(X, shuffled)
        passed += not any(issubclass(one.category, NothingPasses) for one in warned)
        assert model.support_.any()
    # Binomial(60, 0.1) is above 13 once in a thousand times.
    assert passed <= 13


class Equal(Selector):
    """Thinks the same of every column."""

    _parameter_constraints: ClassVar[dict] = {}

    def _select(self, X, y):
        return Selection(np.ones(X.shape[1], dtype=bool), np.ones(X.shape[1]))


class ByValue(Selector):
    """Ranks by the first value of a column, rounded: many are equal."""

    _parameter_constraints: ClassVar[dict] = {}
    fits = 0

    def _select(self, X, y):
        type(self).fits += 1
        scores = np.round(X[0])
        return Selection(scores > 0, scores)


def test_equal_probes_count_as_better() -> None:
    X, y, _ = planted(0, columns=20)
    with pytest.warns(
        NothingPasses, match=r"share of false ones of 0\.1 or less; the best one selected instead, at 1$"
    ):
        found = WithProbes(Equal(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.scores_, 0.0)
    assert found.get_support(indices=True).tolist() == [0]
    found = WithProbes(ByValue(), n_repeats=2, fdr=0.99, random_state=1).fit(X, y)
    seed = int(generator(1).integers(2**31))
    draws = [X[generator(spawn(seed, number)).permutation(len(y))][0] for number in range(2)]
    ahead = [sum(np.round(probe) >= np.round(value) for draw in draws for probe in draw) for value in X[0]]
    np.testing.assert_allclose(found.scores_, 1 - np.array(ahead) / 40)


def test_a_selector_that_only_says_yes_or_no_ranks_what_it_keeps_first() -> None:
    X, y, true = planted(1)
    found = WithProbes(SelectKBest(f_classif, k=9), n_repeats=3, fdr=0.2, random_state=0).fit(X, y)
    assert found.support_.sum() >= 8
    assert true[found.support_].mean() > 0.8
    seed = int(generator(0).integers(2**31))
    ahead = np.zeros(100)
    for number in range(3):
        joint = np.hstack([X[generator(spawn(seed, number)).permutation(len(y))], X])
        kept = SelectKBest(f_classif, k=9).fit(joint, y).get_support()
        ahead += np.where(kept[100:], kept[:100].sum(), 100)
    np.testing.assert_allclose(found.scores_, 1 - ahead / 300)


def test_one_set_of_fits_serves_every_rate() -> None:
    X, y, _ = planted(2)
    models = [WithProbes(ByValue(), fdr=fdr, n_repeats=3, random_state=4) for fdr in (0.2, 0.5, 0.9)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        ByValue.fits = 0
        together = list(Together(models, X, y))
        assert ByValue.fits == 3
        for one, other in zip(together, models, strict=True):
            alone = clone(other).fit(X, y)
            np.testing.assert_array_equal(one.support_, alone.support_)
            assert (one.probe_share_, one.fdr) == (alone.probe_share_, other.fdr)


def test_a_higher_rate_keeps_no_less() -> None:
    X, y, _ = planted(5)
    rates = (0.02, 0.05, 0.1, 0.3, 0.7)
    kept = [one.support_ for one in Together([WithProbes(fdr=fdr, random_state=0) for fdr in rates], X, y)]
    assert all((fewer <= more).all() for fewer, more in pairwise(kept))
    assert kept[0].sum() < kept[-1].sum()


def test_the_cut_of_the_selector_is_set_aside_without_a_word() -> None:
    X, y, _ = planted(0)
    plain = WithProbes(Ranking("cc", k=3), random_state=0).fit(X, y)
    assert plain.support_.sum() > 3
    for other in (Ranking("cc", fraction=0.9), Ranking("cc", threshold=5.0)):
        np.testing.assert_array_equal(WithProbes(other, random_state=0).fit(X, y).support_, plain.support_)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.7, 0.75])
@pytest.mark.parametrize("selector", [Ranking("f"), SSVTreeSelector(), RFE(2)])
def test_sparse_rows_give_what_dense_ones_do(form, share, selector) -> None:
    X, y, _ = planted(0, rows=60, columns=30)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense, sparse = (
        WithProbes(selector, share=share, n_repeats=2, fdr=0.99, random_state=0).fit(rows, y) for rows in (X, form(X))
    )
    np.testing.assert_array_equal(sparse.scores_, dense.scores_)
    np.testing.assert_array_equal(sparse.order_, dense.order_)
    assert dense.n_probes_ == 2 * round(30 * share / (1 - share))


def test_pipelines_are_followed_to_their_selector() -> None:
    X, y, _ = planted(0)
    plain = WithProbes(Ranking("cc"), random_state=0).fit(X, y)
    scaled = WithProbes(make_pipeline(Standardize(), Ranking("cc", k=2)), random_state=0).fit(1e3 * X, y)
    np.testing.assert_array_equal(scaled.support_, plain.support_)
    # What the first filter drops is behind everything: all probes are ahead of it.
    X[:, 7] = 0.0
    chain = make_pipeline(Ranking("variance"), Ranking("cc"))
    dropped = WithProbes(chain, random_state=0).fit(X, y)
    assert dropped.scores_[7] == 0.0
    assert dropped.order_[-1] == 7


def test_one_seed_one_result_for_any_number_of_workers() -> None:
    X, y, _ = planted(0, columns=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        one, two, other = (
            WithProbes(Drawn(), n_repeats=3, random_state=seed, n_jobs=jobs).fit(X, y)
            for seed, jobs in ((3, 1), (3, 2), (4, 1))
        )
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert not np.array_equal(one.scores_, other.scores_)
    seed = int(generator(3).integers(2**31))
    drawn = [seeded(Drawn(), spawn(spawn(seed, t), 0)).fit(np.hstack([X, X]), y).scores_ for t in range(3)]
    ahead = sum((scores[:30, None] > scores[30:]).sum(axis=0) for scores in drawn)
    np.testing.assert_allclose(one.scores_, 1 - ahead / 90)


class Doubtful(Ranking):
    """Says that it has not settled."""

    def _select(self, X, y, sample_weight=None):
        warnings.warn("not settled", ConvergenceWarning, stacklevel=2)
        return super()._select(X, y, sample_weight)


def test_other_warnings_of_the_selector_are_heard() -> None:
    X, y, _ = planted(0)
    with pytest.warns(ConvergenceWarning, match="not settled"):
        WithProbes(Doubtful(), random_state=0).fit(X, y)


def test_missing_values_pass_as_far_as_the_selector_takes_them() -> None:
    X, y, true = planted(0)
    X[::7, 3] = np.nan
    assert true[WithProbes(Ranking("cc"), random_state=0).fit(X, y).support_].mean() > 0.7
    assert WithProbes(make_pipeline(Impute(), RFE(2)), n_repeats=2, fdr=0.5, random_state=0).fit(X, y).support_.any()
    with pytest.raises(ValueError, match="NaN"):
        WithProbes(RFE(2)).fit(X, y)


@pytest.mark.parametrize("form", ["polars", "pandas", "objects", "lists"])
def test_text_goes_to_a_selector_that_takes_it(form) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    noise = {f"n{j}": rng.choice(["a", "b", "c"], 80) for j in range(12)}
    words = np.where(rng.random(80) < 0.9, np.array(["no", "yes"])[y], np.array(["yes", "no"])[y])
    size = rng.normal(size=80) + 2 * y
    size[3] = np.nan
    frame = pl.DataFrame({"word": words, "size": size, **noise, "other": rng.normal(size=80)})
    frame = frame.with_columns(pl.when(pl.int_range(80) == 5).then(None).otherwise("word").alias("word"))
    given_as = {
        "polars": frame,
        "pandas": pd.DataFrame(frame.to_dict(as_series=False)),
        "objects": frame.to_numpy(),
        "lists": [list(row) for row in frame.rows()],
    }
    found = WithProbes(Ranking("ssv"), n_repeats=4, fdr=0.4, random_state=0).fit(given_as[form], y)
    assert found.support_[:2].all()
    seed = int(generator(0).integers(2**31))
    draws = [frame[generator(spawn(seed, number)).permutation(80)] for number in range(4)]
    probes = np.concatenate([Ranking("ssv").fit(draw, y).scores_ for draw in draws])
    real = Ranking("ssv").fit(frame, y).scores_
    np.testing.assert_allclose(found.scores_, (probes[:, None] < real).mean(axis=0))
    assert WithProbes(Ranking("ssv"), share=0.7, random_state=0).fit(given_as[form], y).support_[:2].all()
    with pytest.raises(ValueError, match="could not convert"):
        WithProbes(Ranking("cc"), random_state=0).fit(given_as[form], y)


def test_a_recipe_has_probes() -> None:
    X, y, _ = planted(0)
    for text in (
        "with_probes(cc(50), fdr=0.2)",
        "with_probes(standardize | f(30), share=0.25, n_repeats=3)",
        "with_probes(from_model(extra_trees(20), k=5))",
    ):
        assert to_text(tamis.recipe(text)) == text
    model = tamis.recipe("with_probes(cc(50), fdr=0.2)").set_params(random_state=1).fit(X, y)
    expected = WithProbes(Ranking("cc", k=50), fdr=0.2, random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.support_, expected.support_)


@pytest.mark.parametrize(
    ("selector", "match"),
    [
        (GaussianNB(), "'estimator' parameter"),
        (make_pipeline(Ranking("cc", k=3), Standardize()), "with_probes: estimator must be a selector or a pipeline"),
        (make_pipeline(PCA(2), Ranking("cc", k=1)), "with_probes: the columns selected by .* cannot be traced"),
        (Ranking("variance"), "a selector that uses the classes; to Ranking.* a column and its permuted copy"),
    ],
)
def test_bad_selectors(selector, match) -> None:
    X, y, _ = planted(0, columns=10)
    with pytest.raises(ValueError, match=match):
        WithProbes(selector).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [{"fdr": 0}, {"fdr": 1.0}, {"fdr": "low"}, {"share": 1.0}, {"share": 0.0}, {"n_repeats": 0}, {"n_jobs": "all"}],
)
def test_wrong_parameters(parameters) -> None:
    X, y, _ = planted(0, columns=10)
    with pytest.raises(ValueError, match=f"'{next(iter(parameters))}'"):
        WithProbes(**parameters).fit(X, y)


@pytest.mark.parametrize("columns", [1, 2])
def test_few_columns_and_one_class(columns) -> None:
    X, y, _ = planted(0, columns=10)
    X[:, 0] += 5 * y
    assert WithProbes(random_state=0).fit(X[:, :columns], y).support_[0]
    with pytest.raises(TamisError, match="one class"):
        WithProbes().fit(X, np.zeros(len(y)))
