"""Nogueira's stability index against its definition, Kuncheva's index, the jackknife and chance."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.validation.stability import stability


def indices(masks: np.ndarray) -> list[np.ndarray]:
    return [np.flatnonzero(mask) for mask in masks]


def by_definition(masks: np.ndarray) -> float:
    """One minus the mean sample variance of a feature's membership over that of a random set of the same size."""
    m, d = masks.shape
    variances = [np.var([float(masks[i, f]) for i in range(m)], ddof=1) for f in range(d)]
    filling = masks.sum() / (m * d)
    return 1 - np.mean(variances) / (filling * (1 - filling))


@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(2, 15))
def test_index_by_definition(seed: int, m: int, d: int) -> None:
    masks = np.random.default_rng(seed).random((m, d)) < 0.4
    masks[0, 0], masks[1, 1] = True, False
    assert stability(indices(masks), d).index == pytest.approx(by_definition(masks))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 9))
def test_equals_kunchevas_index_when_sets_have_one_size(seed: int, m: int, k: int) -> None:
    d = 10
    rng = np.random.default_rng(seed)
    sets = [rng.choice(d, k, replace=False) for _ in range(m)]
    pairs = [(np.intersect1d(a, b).size - k * k / d) / (k - k * k / d) for a, b in combinations(sets, 2)]
    assert stability(sets, d).index == pytest.approx(np.mean(pairs))


def test_random_sets_are_worth_zero_on_average() -> None:
    rng = np.random.default_rng(0)
    found = [stability([rng.choice(50, 5, replace=False) for _ in range(10)], 50).index for _ in range(400)]
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(400)


def test_standard_error_agrees_with_the_jackknife() -> None:
    rng = np.random.default_rng(1)
    share = rng.uniform(0, 1, 40) ** 3
    masks = rng.random((300, 40)) < share
    found = stability(indices(masks), 40)
    without = [stability(indices(np.delete(masks, i, axis=0)), 40).index for i in range(300)]
    jackknife = np.sqrt(299 / 300 * ((without - np.mean(without)) ** 2).sum())
    assert found.standard_error == pytest.approx(jackknife, rel=0.03)


def test_the_interval_of_many_sets_covers_the_truth() -> None:
    rng = np.random.default_rng(2)
    share = np.array([0.9] * 5 + [0.1] * 20)
    filling = share.mean()
    truth = 1 - (share * (1 - share)).mean() / (filling * (1 - filling))
    covered = 0
    for _ in range(300):
        low, high = stability(indices(rng.random((200, 25)) < share), 25).interval
        covered += low < truth < high
    assert 0.91 < covered / 300 < 0.99


def test_equal_sets_are_perfectly_stable() -> None:
    found = stability([np.array([1, 4])] * 5, 6)
    assert (found.index, found.standard_error) == (1.0, 0.0)
    assert found.interval == (1.0, 1.0)


@pytest.mark.parametrize("masks", [[*[[1, 1, 0, 0, 0, 0]] * 4, [1, 0, 1, 0, 0, 0]], [[1, 0], [0, 1], [0, 1]]])
def test_the_interval_stays_within_the_values_of_the_index(masks: list[list[int]]) -> None:
    found = stability(indices(np.array(masks, dtype=bool)), len(masks[0]))
    low, high = found.interval
    reach = 1.96 * found.standard_error
    assert found.index - reach < -1 or found.index + reach > 1
    assert -1 <= low < found.index < high <= 1


@pytest.mark.parametrize("sets", [[], [[0, 1]], [[], []], [[0, 1, 2], [0, 1, 2]]])
def test_undefined_cases_are_nan(sets: list[list[int]]) -> None:
    found = stability([np.array(s, dtype=int) for s in sets], 3)
    assert np.isnan(found.index)
    assert np.isnan(found.standard_error)
