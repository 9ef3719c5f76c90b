"""Groups of levels by MODL against all groupings, planted groups and noise."""

from math import log

import numpy as np
import polars as pl
import pytest

from modl_oracle import parts_cost
from tamis.bins.level_groups import level_groups, log_partitions
from tamis.scores import modl

NAN = float("nan")


def every_grouping(n):
    """All ways to part n things into groups, as the group of each."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*g, k] for g in found for k in range(max(g) + 2)]
    return found


def grouping_cost(counts, group, n_classes):
    ways = sum(max(g) <= max(group) for g in every_grouping(len(counts)))
    parts = [counts[np.array(group) == k].sum(axis=0).tolist() for k in range(max(group) + 1)]
    return log(ways) + sum(parts_cost(part, n_classes) for part in parts)


def test_groups_are_the_best_of_all():
    rng = np.random.default_rng(5)
    above, several = [], 0
    for _ in range(60):
        n_levels, n_classes = rng.integers(2, 7), rng.integers(2, 4)
        share = rng.dirichlet(np.full(n_classes, 0.5), 3)[rng.integers(0, 3, n_levels)]
        counts = np.array([rng.multinomial(rng.integers(1, 25), p) for p in share])
        counts[0] += 1
        levels, y = np.repeat(np.indices(counts.shape).reshape(2, -1), counts.ravel(), axis=1)
        group, gain = level_groups(levels, y)
        costs = {tuple(g): grouping_cost(counts, g, n_classes) for g in every_grouping(n_levels)}
        found = costs[tuple(group.tolist())]
        assert gain == pytest.approx(costs[(0,) * n_levels] - found, abs=1e-9)
        above.append(found / min(costs.values()) - 1)
        several += group.max() > 0
    assert several > 20
    assert np.mean(np.array(above) < 1e-9) >= 0.95
    assert max(above) < 0.01


def test_planted_groups_are_found_and_noise_is_one_group():
    rng = np.random.default_rng(6)
    for n_levels in (30, 600):
        levels = rng.integers(0, n_levels, 200 * n_levels // 3)
        y = (rng.random(levels.size) < np.array([0.1, 0.5, 0.9])[levels % 3]).astype(int)
        group, gain = level_groups(levels.astype(float), y)
        assert gain > 0
        kind = np.arange(n_levels) % 3
        # Each kind of level has a group that holds nearly all of its levels, and nearly no others.
        table = np.zeros((3, group.max() + 1))
        np.add.at(table, (kind, group), 1)
        assert table.max(axis=0).sum() >= 0.97 * n_levels
        assert group.max() + 1 == 3 if n_levels == 30 else group.max() + 1 <= 6
        assert level_groups(levels, rng.permutation(y)).gain == 0


def test_groups_of_weighted_missing_and_absent_levels():
    rng = np.random.default_rng(7)
    levels = rng.choice([0.0, 1.0, 3.0, 4.0, NAN], 150)
    y = np.where(rng.random(150) < 0.2, 1, np.nan_to_num(levels) > 2).astype(int)
    times = rng.integers(0, 3, 150)
    times[levels == 4.0] = 0
    found = level_groups(levels, y, sample_weight=times.astype(float))
    assert found.group.tolist() == [0, 0, -1, 1, -1]
    repeated = level_groups(np.repeat(levels, times), np.repeat(y, times))
    assert repeated.gain == pytest.approx(found.gain)
    assert level_groups(np.full(9, NAN), np.arange(9) % 2).gain == 0
    assert level_groups(np.zeros(9), np.arange(9) % 2).group.tolist() == [0]


@pytest.mark.parametrize("n", [1, 3, 6, 7])
def test_numbers_of_groupings(n):
    wanted = [sum(max(g) < most for g in every_grouping(n)) for most in range(1, n + 1)]
    np.testing.assert_allclose(np.exp(log_partitions(n, n)[1:]), wanted, rtol=1e-12)


def test_the_short_formula_for_groupings_meets_the_long_one():
    short, long = log_partitions(501, 10), log_partitions(501, 11)
    np.testing.assert_allclose(short[1:], long[1:-1], rtol=1e-13)


def test_nominal_columns_are_grouped():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 300)
    words = np.array(list("abcdef"))[2 * rng.integers(0, 3, 300) + y]
    noise = np.array(list("abcdef"))[rng.integers(0, 6, 300)]
    frame = pl.DataFrame({"noise": noise, "number": rng.normal(size=300) + 2 * y, "word": [None, *words[1:]]})
    found = modl(frame, y)
    assert found[0] == 0
    assert found[1] == modl(frame.select("number"), y)[0] > 0.1
    one, other = np.bincount(y[1:])
    wanted = parts_cost([one, other], 2) - parts_cost([one], 2) - parts_cost([other], 2) - log(32)
    assert found[2] == pytest.approx(wanted / 299)
