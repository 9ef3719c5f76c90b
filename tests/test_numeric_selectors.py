"""Rankings and selectors around other ones, on numeric targets."""

import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectFdr, SelectKBest, f_regression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis import scores
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.shared_fit import grouped
from tamis.compose.chain import to_text
from tamis.compose.recipe import parse
from tamis.select import Ranking, Repeat, SSVTreeSelector, StabilitySelection, Vote, WithProbes
from tamis.select.stability_selection import _halves, _parts

AROUND = [Vote, Repeat, StabilitySelection, WithProbes]


def planted(n_rows=150, n_columns=40, seed=0):
    """Noise, and a target that depends on the first four columns."""
    rng = generator(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :4] @ np.array([2.0, -2.0, 1.5, 1.5]) + rng.normal(size=n_rows)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_ranking_equals_scikit_learn(form):
    X, y = planted()
    for ours, theirs in (
        (Ranking("f", k=7), SelectKBest(f_regression, k=7)),
        (Ranking("cc", k=7), SelectKBest(f_regression, k=7)),
        (Ranking("f", fdr=0.05), SelectFdr(f_regression, alpha=0.05)),
    ):
        np.testing.assert_array_equal(ours.fit(form(X), y).get_support(), theirs.fit(X, y).get_support())


def test_every_cut():
    X, y = planted()
    values = scores.spearman(X, y)
    order = np.argsort(-values)
    assert set(Ranking("spearman", fraction=0.1).fit(X, y).get_support(indices=True)) == set(order[:4])
    assert Ranking("spearman", threshold=0.2).fit(X, y).get_support().sum() == (values > 0.2).sum()
    assert set(Ranking("spearman", fdr=0.01).fit(X, y).get_support(indices=True)) == {0, 1, 2, 3}
    with pytest.warns(NothingPasses):
        assert Ranking("f", fdr=1e-300, at_least=2).fit(X, y).get_support().sum() == 2
    with pytest.raises(TamisError, match="fdr needs a score with p-values"):
        Ranking("mi", fdr=0.1).fit(X, y)


@pytest.mark.parametrize("by", ["cc", "f", "spearman", "mi"])
def test_columns_in_blocks(by):
    X, y = planted()
    for more in ({"k": 5}, {"fdr": 0.05} if by in ("f", "spearman") else {"fraction": 0.2}):
        whole, blocks = Ranking(by, **more).fit(X, y), Ranking(by, **more).fit_by_columns([X[:, :9], X[:, 9:]], y)
        np.testing.assert_array_equal(whole.get_support(), blocks.get_support())
    whole = np.rint(y)
    told = Ranking(by, k=5, task="regress")
    np.testing.assert_array_equal(told.fit_by_columns([X[:, :9], X[:, 9:]], whole).scores_, told.fit(X, whole).scores_)


def test_a_function_of_the_users_own_gets_the_numbers():
    X, y = planted()
    found = Ranking(lambda rows, target: np.abs(target @ rows), k=3).fit(X, y)
    np.testing.assert_allclose(found.scores_, np.abs(y @ X))
    whole = Ranking(lambda rows, target: np.full(rows.shape[1], float(target.dtype.kind == "f")), task="regress")
    assert whole.fit(X, np.rint(y)).scores_.all()


def test_unsupervised_rankings_serve_any_target():
    X, y = planted()
    np.testing.assert_array_equal(Ranking("variance", k=3).fit(X, y).scores_, Ranking("variance", k=3).fit(X).scores_)


@pytest.mark.parametrize(
    ("by", "target", "task", "message"),
    [
        ("fisher", "numbers", "auto", "fisher is for classes, and the target holds numbers: take cc"),
        ("relieff", "numbers", "auto", "relieff is for classes, and the target holds numbers: take rrelieff"),
        ("t", "whole", "regress", "t is for classes, and the target holds numbers: take f"),
        ("chi2", "whole", "regress", "chi2 is for classes, and the target holds numbers"),
        ("spearman", "whole", "classify", "spearman is for numbers, and the target holds classes: take cc"),
        ("spearman", "words", "auto", "the target holds 'a'"),
        ("cc", "words", "regress", "the target holds 'a'"),
        ("cc", "numbers", "classify", "tells classes apart, and the target holds numbers"),
    ],
)
def test_the_wrong_target_is_refused(by, target, task, message):
    X, y = planted(20)
    y = {"numbers": y, "whole": np.rint(y), "words": np.array(["a", "b"] * 10)}[target]
    with pytest.raises(TamisError, match=message):
        Ranking(by, k=2, task=task).fit(np.abs(X), y)


@pytest.mark.parametrize("value", [0.5, 7.0])
def test_a_constant_target_selects_by_default_alone(value):
    X, _ = planted()
    with pytest.warns(NothingPasses):
        found = Ranking("cc", task="regress").fit(X, np.full(150, value))
    assert found.get_support(indices=True).tolist() == [0]


def test_vote_counts_the_members():
    X, y = planted()
    members = [Ranking("cc", k=6), Ranking("mi", k=6), make_pipeline(StandardScaler(), Ranking("spearman", k=6))]
    vote = Vote(members, at_least=2).fit(X, y)
    expected = [Ranking(by, k=6).fit(X, y).get_support() for by in ("cc", "mi", "spearman")]
    np.testing.assert_array_equal(vote.votes_, np.sum(expected, axis=0))
    assert not hasattr(vote, "classes_")


def test_the_default_members_are_those_of_the_task():
    X, y = planted()
    assert [member.by for member in Vote().fit(X, y).estimators_] == ["cc", "spearman", "mi"]
    assert [member.by for member in Vote().fit(X, y > 0).estimators_] == ["cc", "fisher", "s2n"]
    assert set(Vote().fit(X, y).get_support(indices=True)) == {0, 1, 2, 3}


def test_votes_share_a_fit_only_on_the_same_task():
    votes = [Vote([Ranking("cc", k=2)]), Vote([Ranking("spearman", k=2)]), Vote([Ranking("f", k=2)])]
    assert [group.members for group in grouped(votes)] == [((0,), (2,)), ((1,),)]


def test_repeat_takes_the_best_again_and_again():
    X, y = planted()
    found = Repeat(Ranking("cc", k=2), times=3).fit(X, y)
    np.testing.assert_array_equal(np.concatenate(found.rounds_), Ranking("cc").fit(X, y).order_[:6])


def test_halves_have_the_same_spread_of_targets():
    _, y = planted(203)
    parts = _parts(y)
    assert len(parts) == 10
    assert all(part.size % 2 == 0 for part in parts[:-1])
    assert sorted(np.concatenate(parts)) == list(range(203))
    assert all(y[low].max() <= y[high].min() for low, high in pairwise(parts))
    first, second = _halves(parts, generator(0))
    assert first.size == second.size == 101
    assert abs(y[first].mean() - y[second].mean()) < 0.15 * y.std()
    assert [part.size for part in _parts(np.arange(3.0))] == [3]
    assert [part.size for part in _parts(np.arange(9.0))] == [4, 5]


def test_stability_selection_finds_what_is_planted():
    X, y = planted(200, 60)
    found = StabilitySelection(Ranking("cc", k=6), times=20, random_state=0).fit(X, y)
    assert set(found.get_support(indices=True)) == {0, 1, 2, 3}
    assert found.error_bound_ < 2


def test_stability_selection_of_one_row():
    with pytest.raises(ValueError, match="two rows at least"):
        StabilitySelection().fit(np.ones((1, 3)), [0.5])


def test_with_probes_keeps_its_rate():
    false, true = [], []
    for seed in range(60):
        X, y = planted(120, 40, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NothingPasses)
            support = WithProbes(fdr=0.2, random_state=seed).fit(X, y).get_support()
        false.append(support[4:].sum() / support.sum())
        true.append(support[:4].mean())
    assert np.mean(true) > 0.95
    assert np.mean(false) < 0.2 + 2 * np.std(false) / np.sqrt(60)


def test_text_columns_reach_the_selector_inside():
    X, y = planted(80, 6)
    level = np.where(y > np.median(y), "high", "low")
    table = pl.DataFrame(X, schema=[f"x{j}" for j in range(6)]).with_columns(level=level)
    for model in (StabilitySelection(Ranking("mi", k=1), times=5), WithProbes(Ranking("mi"), n_repeats=3)):
        assert model.set_params(random_state=0).fit(table, y).order_[0] == 6


@pytest.mark.parametrize("around", AROUND, ids=lambda c: c.__name__)
def test_the_task_is_that_of_the_selectors_inside(around):
    X, y = planted()
    whole = np.rint(3 * y)

    def made(selector, **more):
        return around([selector] if around is Vote else selector, random_state=0, **more)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        expected = made(Ranking("cc", k=6)).fit(X, whole + 0.25)
        for model in (
            made(Ranking("cc", k=6, task="regress")),
            made(Ranking("cc", k=6), task="regress"),
            made(make_pipeline(StandardScaler(), Ranking("cc", k=6)), task="regress"),
        ):
            found = model.fit(X, whole)
            np.testing.assert_array_equal(found.order_, expected.order_)
            assert not hasattr(found, "classes_")
        # Of the score alone, which is for numbers.
        assert not hasattr(made(Ranking("spearman", k=6)).fit(X, whole), "classes_")
    with pytest.raises(TamisError, match="one of its estimators is for classes and another is for numbers"):
        made(Ranking("fisher", k=6), task="regress").fit(X, whole)
    with pytest.raises(TamisError, match="tells classes apart, and the target holds numbers"):
        made(SSVTreeSelector(3)).fit(X, y)


def test_votes_of_both_kinds_do_not_mix():
    X, y = planted()
    with pytest.raises(TamisError, match="vote: one of its estimators is for classes"):
        Vote([Ranking("fisher", k=2), Ranking("spearman", k=2)]).fit(X, y)


@pytest.mark.parametrize(
    "text",
    [
        "f(fdr=0.1)",
        "vote(cc(5), spearman(5))",
        "repeat(cc(2))",
        "repeat",
        "vote",
        "stability_selection(cc(5), times=3)",
        "with_probes(f, n_repeats=2)",
        "mrmr(5, criterion=fcq)",
    ],
)
def test_a_recipe_is_told_the_task_and_does_not_print_it(text):
    X, y = planted()
    model = parse(text).build("regress")
    assert to_text(model) == text
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NothingPasses)
        assert not hasattr(model.fit(X, np.rint(5 * y)), "classes_")
    assert to_text(model.set_params(**({"random_state": None} if "random_state" in model.get_params() else {}))) == text
