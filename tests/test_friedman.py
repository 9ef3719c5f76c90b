"""Friedman's and Nemenyi's tests against scipy, an analysis of variance, enumeration and published tables."""

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tamis.base.errors import TamisError
from tamis.validation.comparison.friedman import friedman, nemenyi


def tables(least_models: int = 2) -> Any:
    """Tables with many ties."""
    shapes = st.tuples(st.integers(1, 8), st.integers(least_models, 6))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4).map(float)))


def spread(values: np.ndarray) -> bool:
    return bool((np.ptp(values, axis=1) > 0).any())


@given(tables(3).filter(spread))
@settings(deadline=None)
def test_statistic_is_scipys(values: np.ndarray) -> None:
    found, wanted = friedman(values), stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(wanted.statistic, abs=1e-9)
    assert found.chi2_pvalue == pytest.approx(wanted.pvalue, abs=1e-9)


@given(tables().filter(lambda v: v.shape[0] > 1 and spread(v)))
@settings(deadline=None)
def test_f_is_the_analysis_of_variance_of_the_ranks(values: np.ndarray) -> None:
    found = friedman(values, better="low")
    ranks = stats.rankdata(values, axis=1)
    n, k = ranks.shape
    mean = (k + 1) / 2
    between = n * ((ranks.mean(axis=0) - mean) ** 2).sum()
    within = ((ranks - mean) ** 2).sum() - between
    if within < 1e-9:
        assert np.isposinf(found.F)
    else:
        ratio = between / (k - 1) / (within / ((k - 1) * (n - 1)))
        wanted = (ratio, stats.f.sf(ratio, k - 1, (k - 1) * (n - 1)))
        assert (found.F, found.pvalue) == pytest.approx(wanted, abs=1e-9)


def test_demsars_example() -> None:
    """Four models on 14 data sets, mean ranks 3.143, 2.000, 2.893 and 1.964: chi2 = 9.28, F = 3.69 and CD = 1.25.

    The ranks below are others with the same means. The paper takes no account of ties; here two models tie once,
    which divides its statistic by 1 - (2^3 - 2) / (14 * 4 * (4^2 - 1)).
    """
    kinds = [(1, 2, 3, 4)] * 3 + [(1, 2, 4, 3), (4, 3, 1, 2), (4, 1, 2.5, 2.5)] + [(4, 2, 3, 1)] * 8
    found = friedman(np.array(kinds), better="low")
    assert found.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    plain = found.statistic * (1 - 6 / (14 * 4 * 15))
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=5e-3)
    assert found.critical_difference == pytest.approx(1.25, abs=5e-3)
    # 3.143 - 1.964 = 1.179 is below it: the test finds no two apart.
    assert found.groups == ((3, 1, 2, 0),)
    assert found.pairwise.min() > 0.05


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_published_critical_values(k: int, q: float) -> None:
    blocks = np.random.default_rng(k).normal(size=(6, k))
    found = friedman(blocks)
    assert found.critical_difference / np.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=1e-3)
    assert friedman(blocks, level=0.1).critical_difference < found.critical_difference


def test_nemenyi_of_two_models_is_a_normal_test() -> None:
    """The range of two normal values is |N(0, 2)|, so that p = 2 P(N(0, 1) > gap / se)."""
    gaps = np.array([0.0, 0.2, 0.7, 1.0])
    wanted = 2 * stats.norm.sf(gaps / np.sqrt(2 * 3 / (6 * 9)))
    assert nemenyi(gaps, 2, 9) == pytest.approx(wanted, abs=1e-9)


@given(tables())
@settings(deadline=None, max_examples=40)
def test_pairs_critical_difference_and_groups_agree(values: np.ndarray) -> None:
    found = friedman(values)
    p, k = found.pairwise, values.shape[1]
    assert p.shape == (k, k)
    assert np.array_equal(p, p.T)
    assert np.array_equal(np.diag(p), np.ones(k))
    gaps = np.abs(found.mean_ranks[:, None] - found.mean_ranks)
    wanted = stats.studentized_range.sf(gaps * np.sqrt(2) / np.sqrt(k * (k + 1) / (6 * found.n_blocks)), k, np.inf)
    assert p == pytest.approx(np.clip(wanted, 0, 1), abs=1e-9)
    together = gaps < found.critical_difference
    assert np.array_equal(together, p > 0.05)
    # The groups are the largest sets of which all members go together, and they cover every such pair.
    covered = np.zeros((k, k), dtype=bool)
    for group in found.groups:
        assert together[np.ix_(group, group)].all()
        others = [m for m in range(k) if m not in group]
        assert all(not together[m, list(group)].all() for m in others)
        covered[np.ix_(group, group)] = True
    assert np.array_equal(covered, together)
    assert len(set(found.groups)) == len(found.groups)


@given(tables(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_order_of_models_and_blocks_does_not_matter(values: np.ndarray, random: Any) -> None:
    models, blocks = list(range(values.shape[1])), list(range(values.shape[0]))
    random.shuffle(models)
    random.shuffle(blocks)
    one, two = friedman(values), friedman(values[np.ix_(blocks, models)])
    assert two.mean_ranks == pytest.approx(one.mean_ranks[models])
    for name in ("statistic", "chi2_pvalue", "F", "pvalue", "critical_difference"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), nan_ok=True)


@given(tables())
@settings(deadline=None, max_examples=40)
def test_only_the_order_within_a_block_counts(values: np.ndarray) -> None:
    lifted = np.exp(values) + np.arange(values.shape[0])[:, None]
    np.testing.assert_equal(friedman(lifted).to_dict(), friedman(values).to_dict())
    np.testing.assert_equal(friedman(-values, better="low").to_dict(), friedman(values).to_dict())


def test_when_all_blocks_agree_p_is_the_share_of_orders_that_do() -> None:
    """Enumeration: all orders of three models in three blocks, of which six have every block alike."""
    orders = list(product(permutations((1.0, 2.0, 3.0)), repeat=3))
    alike = sum(len(set(blocks)) == 1 for blocks in orders)
    found = friedman(np.array([[3.0, 1.0, 2.0]] * 3))
    assert found.pvalue == pytest.approx(alike / len(orders))
    assert np.isposinf(found.F)
    tied = [np.array(o) for o in sorted(set(permutations((1.0, 2.5, 2.5))))]
    assert friedman(np.array([tied[0]] * 4)).pvalue == pytest.approx(1 / len(tied) ** 3)


def test_one_block_and_ties_everywhere_prove_nothing() -> None:
    for values in (np.array([[0.9, 0.1, 0.5]]), np.full((5, 3), 0.5), np.full((1, 2), 0.5)):
        found = friedman(values)
        assert found.pvalue == 1.0
        assert np.isnan(found.F)
    same = friedman(np.full((5, 3), 0.5))
    assert (same.statistic, same.chi2_pvalue, same.groups) == (0.0, 1.0, ((0, 1, 2),))
    assert same.mean_ranks.tolist() == [2.0, 2.0, 2.0]


def test_two_models_by_hand() -> None:
    # Three wins and one loss: mean ranks 5/4 and 7/4, chi2 = (3 - 1)^2 / 4 = 1 and F = 3 * 1 / (4 - 1) = 1.
    found = friedman([[2, 1], [2, 1], [2, 1], [1, 2]])
    assert found.mean_ranks.tolist() == [1.25, 1.75]
    assert (found.statistic, found.F) == pytest.approx((1.0, 1.0))
    assert found.pvalue == pytest.approx(stats.f.sf(1, 1, 3))


def test_blocks_with_a_hole_are_left_out() -> None:
    values = np.random.default_rng(0).normal(size=(6, 3))
    holes = np.insert(values, 2, [[0.1, np.nan, 0.3]], axis=0)
    assert friedman(holes).to_dict() == friedman(values).to_dict()
    assert friedman(holes).n_blocks == 6


def test_equal_models_are_found_apart_as_often_as_the_level_allows() -> None:
    rng = np.random.default_rng(0)
    found = [friedman(table) for table in rng.normal(size=(400, 12, 4))]
    assert np.mean([f.pvalue < 0.05 for f in found]) == pytest.approx(0.05, abs=0.025)
    assert np.mean([len(f.groups) > 1 for f in found]) < 0.075


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman([0.1, 0.2]), r"values must be numbers, a row for each block .* got shape \(2,\)"),
        (lambda: friedman([[0.1], [0.2]]), r"two or more models; got shape \(2, 1\)"),
        (lambda: friedman([["a", "b"]]), "values must be numbers"),
        (lambda: friedman(np.empty((0, 3))), "no block in which every model has a value"),
        (lambda: friedman([[0.1, np.nan]]), "no block in which every model has a value"),
        (lambda: friedman([[0.1, 0.2]], better="more"), "better must be low or high; got 'more'"),
        (lambda: friedman([[0.1, 0.2]], level=1.0), "level must be a number above 0 and below 1; got 1.0"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(TamisError, match=message):
        call()
