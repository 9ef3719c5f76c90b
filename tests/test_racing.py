"""Which families of a search go on: the expected cost of their next improvement, by hand."""

from types import SimpleNamespace

import pytest

from tamis.compose.parser import parse
from tamis.mining.budget import Budget
from tamis.mining.racing import _Arm, soonest
from tamis.mining.template import Template
from tamis.mining.trials import Trial
from tamis.mining.variation import Candidate


def arm(*trials: tuple[float, float]) -> _Arm:
    found = _Arm()
    for value, cost in trials:
        found.add(value, cost)
    return found


def test_the_leader_improves_in_the_time_since_or_between_its_last_improvements() -> None:
    # Found after 2 and 5 seconds, then 1 second in vain.
    assert arm((0.6, 2.0), (0.8, 3.0), (0.7, 1.0)).cost_of_improvement(0.8) == pytest.approx(3.0)
    # Then 6 seconds in vain.
    assert arm((0.6, 2.0), (0.8, 3.0), (0.7, 6.0)).cost_of_improvement(0.8) == pytest.approx(6.0)


def test_who_is_behind_catches_up_at_its_own_speed() -> None:
    # 0.2 better in 4 seconds since the improvement before; 0.4 are missing.
    assert arm((0.3, 1.0), (0.5, 3.0), (0.4, 1.0)).cost_of_improvement(0.9) == pytest.approx(0.4 * 4.0 / 0.2)
    # However close it is, it has first to improve.
    assert arm((0.3, 1.0), (0.5, 3.0)).cost_of_improvement(0.501) == pytest.approx(3.0)
    # One that never improved: as long again and more.
    assert arm((0.5, 3.0), (0.5, 1.0)).cost_of_improvement(0.9) == pytest.approx(8.0)


@pytest.mark.parametrize(("seconds", "first"), [(60.0, "tree"), (None, "knn")])
def test_costs_are_seconds_only_where_time_is_limited(seconds: float | None, first: str) -> None:
    """The tree needs more trials than knn for its next improvement, but less time."""
    trials, candidates = [], []
    for name, values, each in (("knn", (0.5, 0.6), 9.0), ("tree", (0.4, 0.45, 0.45, 0.6), 0.1)):
        closed = Template.of(parse(name))
        candidates.append(Candidate(closed, closed))
        for number, value in enumerate(values):
            one = Trial(f"{name} {number}", "tune", candidates[-1], {0: value}, {0: 1}, {0: each}, {0: each})
            trials.append((one, value))
    state = SimpleNamespace(
        trials=SimpleNamespace(estimates=lambda: trials, by_recipe={one.recipe: one for one, _ in trials}),
        clock=SimpleNamespace(budget=Budget(seconds, None if seconds else 9)),
    )
    found = [str(one.closed) for one in soonest(state, candidates, 1)]  # type: ignore[arg-type]
    assert found == [first]
