"""The portfolio: every recipe of it can be tried, and its order covers data sets that had no part in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.portfolio import candidates, gain, ordered, regrets

from tamis.base.errors import RecipeError
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.mining.data_traits import DataTraits, data_traits
from tamis.mining.edits import Edits
from tamis.mining.portfolio import portfolio, portfolio_candidates
from tamis.mining.space import Space, space
from tamis.mining.template import slots


def made(kind: str, *, n_columns: int = 400, edits: Edits | None = None) -> Space:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_columns))
    y = np.arange(60) % (3 if kind == "three classes" else 2)
    if kind == "uneven":
        y = (np.arange(60) % 5 == 0).astype(int)
    if kind == "sparse":
        return space(data_traits(Dataset.of(sp.csr_matrix(np.where(X > 1, X, 0)), y)), edits)
    return space(data_traits(Dataset.of(X, y)), edits)


def test_it_has_thirty_to_sixty_recipes_of_all_kinds() -> None:
    assert 30 <= len(portfolio()) <= 60
    assert len(set(portfolio())) == len(portfolio())
    for text in portfolio():
        recipe(text)
    kinds = {text.rpartition("| ")[2].partition("(")[0] for text in portfolio()[:20]}
    assert len(kinds) >= 6


@pytest.mark.parametrize("kind", ["dense", "sparse", "three classes", "uneven"])
def test_candidates_are_recipes_of_the_space_that_can_be_tuned(kind: str) -> None:
    where = made(kind)
    found = list(portfolio_candidates(where))
    assert len(found) >= 15
    assert len({one.closed for one in found}) == len(found)
    for one in found:
        assert not slots(one.closed)
        recipe(where.text(one.closed))
        assert one.open.classify in where.classifiers
        assert one.open.select == () or one.open.select in where.selections
    assert any(slots(one.open) for one in found)


def test_what_a_recipe_says_stays_and_the_rest_is_usual() -> None:
    where = made("dense")
    texts = [where.text(one.closed) for one in portfolio_candidates(where)]
    plain = [text for text in portfolio() if "svm(" in text and text.startswith("standardize | rms_norm")]
    for text in plain:
        assert any(found in text.replace(", class_weight=balanced", "") for found in texts)


def test_parts_that_the_user_does_not_want_and_sizes_that_do_not_fit_are_left_out() -> None:
    few = [str(one.closed) for one in portfolio_candidates(made("dense", n_columns=12))]
    assert few
    assert not any("(80)" in text or "(300)" in text for text in few)
    without = Edits(without=("svm", "relieff"))
    assert not any(
        "svm" in str(one.closed) or "relieff" in str(one.closed)
        for one in portfolio_candidates(made("dense", edits=without))
    )


def test_the_user_says_what_is_tried_first() -> None:
    edits = Edits(first=("standardize | knn(3)", "cc(20) | tree"))
    assert [str(one.closed) for one in portfolio_candidates(made("dense", edits=edits))] == [
        "standardize | knn(3, metric=minkowski)",
        "cc(20) | tree(ssv)",
    ]
    assert not list(portfolio_candidates(made("dense", edits=Edits(first=()))))
    with pytest.raises(RecipeError, match="nonsense"):
        Edits(first=("nonsense | tree",))


def test_the_order_is_greedy() -> None:
    """By hand: the best on average first, then what helps most where it does not."""
    table = np.array([[0.1, 0.0, 0.9], [0.2, 0.9, 0.9], [0.9, 0.9, 0.0]])
    assert ordered(table, 3) == [0, 2, 1]


def test_regrets_are_in_units_of_the_spread_and_failures_are_the_worst() -> None:
    known = {"one": {"a": (0.1, 1.0), "b": (0.3, 1.0), "c": (0.2, 1.0)}, "two": {"a": (0.5, 1.0), "b": (0.1, 1.0)}}
    recipes, table = regrets(known)
    assert recipes == ["a", "b", "c"]
    np.testing.assert_allclose(table, [[0.0, 1.5, 1.0], [1.5, 0.0, 1.5]])


def test_an_order_that_can_be_learned_is_better_than_one_at_random() -> None:
    rng = np.random.default_rng(0)
    table = rng.uniform(0.3, 1.5, size=(8, 30))
    table[:4, 3], table[4:, 17] = 0.0, 0.0
    curves = gain(table, 5)
    assert curves["portfolio"][3] < 0.1 < curves["random"][3]


def test_the_candidates_of_the_learner_can_all_be_built() -> None:
    texts = list(candidates())
    assert len(set(texts)) == len(texts)
    for text in texts[::7]:
        recipe(text)


@pytest.mark.parametrize(("n_classes", "many"), [(2, ""), (20, ", multiclass=ovr")])
def test_texts_begin_with_what_the_field_uses(n_classes: int, many: str) -> None:
    """All recipes for texts are tried as they are written; several classes are told apart one against the rest."""
    traits = DataTraits(2000, 30_000, n_classes, 40, 100, True, False, False, True, True, text=True)
    where = space(traits, None)
    found = [where.text(one.closed) for one in portfolio_candidates(where)]
    assert found[:6] == [
        f"words | tfidf(true) | rms_norm | svm(linear, C=1.0, class_weight=balanced{many})",
        "words | tfidf(true) | nb(multinomial, alpha=0.01, class_weight=balanced)",
        "words | nb(multinomial, alpha=1.0, class_weight=balanced)",
        "words | tfidf(true) | rms_norm | logistic(l2, C=10.0, class_weight=balanced)",
        "words | chi2(1000) | nb(multinomial, alpha=1.0, class_weight=balanced)",
        f"words | tfidf(true) | chi2(3000) | rms_norm | svm(linear, C=1.0, class_weight=balanced{many})",
    ]
