"""Contrasts: planted problems, residual rounds, redundancy, batches, bad input."""

import warnings
from itertools import product

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import rankdata

import tamis
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.data.synthetic import friedman, madelon
from tamis.select import Contrasts
from tamis.select.contrasts.columns import Columns
from tamis.select.contrasts.contrast_tests import ContrastTest
from tamis.select.contrasts.rankers import ENGINES, Engine
from tamis.select.contrasts.rounds import RoundResults, contrasts_of


def contrast_test(**changed) -> ContrastTest:
    engine = Engine(changed.pop("engine", "extra_trees"), changed.pop("n_estimators", None))
    settings = {"n_repeats": 6, "quantile": 1.0, "alpha": 0.05, "own": False, "batch": 5000}
    return ContrastTest(engine, **(settings | changed))


def problem(n_rows: int = 200, n_columns: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns 2 and 5 decide, the others are noise."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return X, (X[:, 2] + X[:, 5] > 0).astype(int)


def selected(model: Contrasts) -> list[int]:
    return model.get_support(indices=True).tolist()


@pytest.fixture
def widths(monkeypatch) -> list[int]:
    """Numbers of the columns that each ensemble has learnt from."""
    seen: list[int] = []
    importances = Engine.importances

    def watched(self, X, target, seed):
        seen.append(X.shape[1])
        return importances(self, X, target, seed)

    monkeypatch.setattr(Engine, "importances", watched)
    return seen


# Planted problems.


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_planted_columns_are_found_by_every_engine(engine) -> None:
    X, y = problem()
    model = Contrasts(engine, at_least=0, rounds=1, random_state=0).fit(X, np.array(["no", "yes"])[y])
    assert {2, 5} <= set(selected(model))
    assert len(selected(model)) <= 4
    assert set(model.order_[:2]) == {2, 5}
    assert (model.importances_ > model.contrast_importance_)[[2, 5]].all()
    assert model.round_[[2, 5]].tolist() == [1, 1]
    assert model.pvalues_[[2, 5]].tolist() == [2**-6, 2**-6]


def test_madelon_in_small() -> None:
    real = false = 0
    for seed in range(2):
        data = madelon(600, n_probes=40, seed=seed)
        model = Contrasts(random_state=seed, n_jobs=2).fit(data.X, data.y)
        real += int((data.roles != "probe")[model.support_].sum())
        false += int((data.roles == "probe")[model.support_].sum())
    assert real >= 38
    assert false <= 1


def test_three_classes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 15))
    y = np.where(X[:, 4] > 0.6, "a", np.where(X[:, 9] > 0, "b", "c"))
    found = selected(Contrasts(random_state=0, at_least=0).fit(X, y))
    assert {4, 9} <= set(found)
    assert len(found) <= 3


def test_permuted_labels_keep_next_to_nothing() -> None:
    passed = []
    for seed in range(8):
        X, y = problem(80, 60, seed)
        y = np.random.default_rng(seed + 100).permutation(y)
        passed.append(Contrasts(random_state=seed, at_least=0).fit(X, y).support_.sum())
    assert np.sum(passed) <= 3


def test_a_numeric_target() -> None:
    data = friedman(400, task="regress", seed=1)
    found = contrasts_of(data.X, np.asarray(data.y, dtype=float), contrast_test(), seed=1)
    informative = data.roles == "informative"
    assert found.selected[informative].mean() >= 0.6
    assert found.selected[~informative].sum() <= 1


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix])
def test_sparse_rows_give_what_dense_ones_give(form) -> None:
    X, y = problem(150, 12)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = Contrasts(random_state=3, rounds=1).fit(X, y)
    sparse = Contrasts(random_state=3, rounds=1).fit(form(X), y)
    np.testing.assert_array_equal(dense.support_, sparse.support_)
    np.testing.assert_allclose(dense.importances_, sparse.importances_, rtol=1e-6)
    assert {2, 5} <= set(selected(sparse))


def test_one_seed_one_answer_for_any_number_of_threads() -> None:
    X, y = problem(120, 30)
    one = Contrasts(random_state=5, n_jobs=1).fit(X, y)
    two = Contrasts(random_state=5, n_jobs=2).fit(X, y)
    other = Contrasts(random_state=6, n_jobs=1).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.importances_, two.importances_)
    assert (one.importances_ != other.importances_).any()


# Rounds, redundancy, modes.


def test_the_residual_shows_a_column_that_strong_ones_hide() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 25))
    target = 10 * X[:, 0] + 10 * X[:, 1] + 1.0 * X[:, 2]
    first = contrasts_of(X, target, contrast_test(), rounds=1, seed=0)
    found = contrasts_of(X, target, contrast_test(), seed=0)
    assert np.flatnonzero(first.selected).tolist() == [0, 1]
    assert found.selected[:3].all()
    assert found.round[:3].tolist() == [1, 1, 2]
    assert found.selected[3:].sum() <= 1


def test_copies_are_reported_or_skipped() -> None:
    X, y = problem(300, 8)
    X = np.column_stack([X, X[:, 2] + 0.01 * X[:, 0], X[:, 5], X[:, 5]])
    report = Contrasts(random_state=0, rounds=1).fit(X, y)
    assert set(selected(report)) >= {2, 5, 8, 9, 10}
    skip = Contrasts(random_state=0, rounds=1, redundant="skip").fit(X, y)
    assert len({2, 8} & set(selected(skip))) == 1
    assert len({5, 9, 10} & set(selected(skip))) == 1
    assert set(skip.order_[: len(selected(skip))]) == set(selected(skip))
    skipped = [j for j in (2, 5, 8, 9, 10) if not skip.support_[j]]
    assert (skip.scores_[skipped] == 0).all()
    assert (skip.round_[skipped] == 1).all()


def test_columns_that_tell_only_together_are_not_skipped() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = X[:, 1] * X[:, 4] > 0
    assert selected(Contrasts(random_state=0, rounds=1, redundant="skip").fit(X, y)) == [1, 4]


def test_own_contrasts_put_columns_of_many_and_of_few_values_on_one_footing() -> None:
    rng = np.random.default_rng(4)
    n = 400
    switches = (rng.random((n, 5)) < 0.5).astype(float)
    X = np.column_stack([switches, rng.normal(size=(n, 20))])
    y = (switches[:, 0] + 1.2 * rng.normal(size=n) > 0.5).astype(int)
    own = Contrasts(own=True, rounds=1, random_state=0, min_samples_leaf=1).fit(X, y)
    everyone = Contrasts(rounds=1, random_state=0, min_samples_leaf=1).fit(X, y)
    # A switch has one split to give: against the contrasts of continuous columns it looks small.
    lead_own = own.importances_[0] / own.contrast_importance_[0]
    lead_all = everyone.importances_[0] / everyone.contrast_importance_[0]
    assert lead_own > 1.3 * lead_all
    assert selected(own) == [0]


def test_batches_find_what_one_search_finds() -> None:
    X, y = problem(200, 60)
    model = Contrasts(batch=15, rounds=1, random_state=0).fit(X, y)
    assert {2, 5} <= set(selected(model))
    assert len(selected(model)) <= 3
    sparse = Contrasts(batch=15, rounds=1, random_state=0).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.support_, model.support_)
    assert np.isfinite(model.scores_).all()


def test_the_best_contrasts_of_all_batches_meet_what_passed_in_any(widths) -> None:
    X, y = problem(200, 150)
    model = Contrasts(batch=75, rounds=1, random_state=0).fit(X, y)
    assert widths[0] == 150
    # The last search: columns that passed in their batch, as many contrasts of them, and two of each batch.
    assert min(widths) - 4 in (4, 5, 6, 7, 8)
    assert {2, 5} <= set(selected(model))
    widths.clear()
    Contrasts(batch=75, rounds=1, random_state=0, quantile=0.99, at_least=0).fit(X, y)
    assert min(widths) in range(4, 17)


def test_scores_put_selected_columns_first() -> None:
    found = RoundResults(
        selected=np.array([False, True, False, True, True]),
        round=np.array([0, 1, 1, 2, 1]),
        pvalues=np.array([1.0, 1 / 64, 1 / 64, 1 / 64, 2 / 64]),
        importances=np.array([0.9, 0.1, 0.2, 0.5, 0.3]),
        thresholds=np.ones(5),
    )
    scores = found.scores(6)
    assert scores[2] == 0
    assert np.argsort(-scores, kind="stable")[:3].tolist() == [1, 3, 4]
    np.testing.assert_allclose(scores[[1, 3, 4]], -np.log10(found.pvalues[[1, 3, 4]]), atol=0.004)


def test_columns_that_cannot_pass_any_more_leave(widths) -> None:
    X, y = problem(200, 20)
    Contrasts(random_state=0, rounds=1).fit(X, y)
    assert widths[0] == 40
    assert len(widths) == 6
    assert widths[1] < 36
    assert widths[-1] <= 24
    widths.clear()
    with pytest.warns(NothingPasses):
        Contrasts(random_state=0).fit(X, np.random.default_rng(1).permutation(y))
    assert len(widths) < 6


# Input of other kinds.


def test_the_fixed_set_of_the_paper_changes_between_rounds_only(widths) -> None:
    X, y = problem(n_columns=12)
    model = Contrasts(fixed=True, rounds=2, at_least=0, random_state=0).fit(X, y)
    assert selected(model) == [2, 5]
    # F and the contrasts of all columns: 12 + 12 six times, then those that are left and all contrasts.
    assert widths == [24] * 6 + [22] * 6
    assert (model.pvalues_ * 2**6 % 1 == 0).all()
    widths.clear()
    Contrasts(fixed=True, rounds=2, batch=6, at_least=0, random_state=0).fit(X, y)
    # Two batches of six, those that passed again together with the best contrast of either, and the rest.
    assert widths[:12] == [12] * 12
    assert widths[-6:] == [10 // 2 * 2 + 2] * 6


def test_a_fixed_round_is_algorithm_1_step_by_step() -> None:
    X, y = problem(n_rows=80, n_columns=8, seed=3)
    test, seed = contrast_test(fixed=True), 7
    columns, every = Columns(X), np.arange(8)
    ahead = np.empty((6, 8))
    for i in range(6):
        contrasts = columns.contrasts(every, generator(spawn(seed, i)))
        importances = test.engine.importances(np.hstack([columns.take(every), contrasts]), y, spawn(seed, i, 1))
        ranks = rankdata(-importances, method="min")
        ahead[i] = ranks[8:].min() - ranks[:8]
    found = test.run(columns, every, y, seed)
    # Of all patterns of signs, the share whose negative ranks sum to as little.
    sums = [int(np.ceil((rankdata(np.abs(one)) * (one <= 0)).sum())) for one in ahead.T]
    patterns = np.array(list(product((0, 1), repeat=6))) @ np.arange(1, 7)
    np.testing.assert_allclose(found.pvalues, [(patterns <= one).mean() for one in sums])
    assert np.flatnonzero(found.passed).tolist() == [2, 5]
    assert (found.passed == (found.pvalues <= 0.05)).all()


def test_missing_values_and_words() -> None:
    X, y = problem(200, 6)
    X[::7, 2] = np.nan
    frame = pl.DataFrame(X, schema=list("abcdef")).with_columns(
        word=pl.Series(np.where(y == 1, "yes", "no")), idle=pl.Series(np.tile(["p", "q"], 100))
    )
    model = Contrasts(random_state=0, rounds=1).fit(frame, y)
    assert model.support_[6]
    assert not model.support_[7]
    for engine, form in (("boost", np.asarray), ("extra_trees", sp.csr_array), ("forest", sp.csr_array)):
        with pytest.raises(ValueError, match=r"missing|NaN"):
            Contrasts(engine, random_state=0).fit(form(X), y)
    assert 5 in selected(Contrasts("lightgbm", random_state=0).fit(sp.csr_array(X), y))


def test_nothing_passes() -> None:
    X, y = problem(40, 6)
    y = np.random.default_rng(3).permutation(y)
    with pytest.warns(NothingPasses, match="the best 1 selected"):
        assert Contrasts(random_state=0).fit(X, y).support_.sum() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not Contrasts(random_state=0, at_least=0).fit(np.ones((20, 3)), np.arange(20) % 2).support_.any()


@pytest.mark.parametrize("p", [1, 2])
def test_few_columns_and_a_perfect_one(p) -> None:
    y = np.arange(60) % 2
    X = np.column_stack([y, np.zeros(60)])[:, :p].astype(float)
    assert selected(Contrasts(random_state=0).fit(X, y)) == [0]


def test_too_few_repeats_are_refused() -> None:
    X, y = problem(30, 6)
    with pytest.raises(TamisError, match=r"n_repeats=4 cannot reach alpha=0\.05.*take n_repeats=5 or more"):
        Contrasts(n_repeats=4).fit(X, y)
    Contrasts(n_repeats=4, alpha=0.1, at_least=0).fit(X, y)


@pytest.mark.parametrize(
    "wrong",
    [{"engine": "oak"}, {"quantile": 1.5}, {"alpha": 0.0}, {"redundant": "drop"}, {"n_estimators": 0}, {"batch": 0}],
)
def test_wrong_parameters_are_named(wrong) -> None:
    X, y = problem(30, 6)
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of Contrasts"):
        Contrasts(**wrong).fit(X, y)


def test_values_beyond_single_precision_are_refused() -> None:
    X, y = problem(30, 6)
    X[0, 0] = 1e300
    with pytest.raises(TamisError, match="single precision"):
        Contrasts().fit(X, y)


def test_recipes() -> None:
    model = tamis.recipe('contrasts("forest", redundant="skip")')
    assert isinstance(model, Contrasts)
    assert (model.engine, model.redundant) == ("forest", "skip")


def test_the_picture_shows_the_best_columns_and_what_they_were_held_against() -> None:
    X, y = problem(100, 12)
    names = [f"g{j}" for j in range(11)] + ["<b>" + "long" * 10]
    found = Contrasts(random_state=0, rounds=1).fit(pl.DataFrame(X, schema=names), y)
    bars, others, marks = found.plot(most=5).data
    assert len(bars.y) == min(5, found.support_.sum())
    assert len(bars.y) + len(others.y) == len(marks.y) == 5
    assert (np.diff(bars.x) <= 0).all()
    best = selected(found)[np.argmax(found.importances_[selected(found)])]
    assert bars.hovertext[0].startswith(f"g{best}<br>importance")
    assert marks.x[0] == found.contrast_importance_[best]
    ticks = found.plot(most=12).layout.yaxis.ticktext
    assert sum(text.startswith("&lt;b&gt;long") and text.endswith("…") for text in ticks) == 1
