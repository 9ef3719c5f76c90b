"""Which families of a search go on: the expected cost of their next improvement, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from tamis.compose.parser import parse
from tamis.mining.budget import Budget, Clock
from tamis.mining.racing import _Arm, soonest
from tamis.mining.search_state import RemainingWork, SearchState
from tamis.mining.stages import evaluate
from tamis.mining.template import Template
from tamis.mining.trials import Trial, Trials, inner_folds
from tamis.mining.variation import Candidate
from tamis.validation.metrics import all_metrics


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


class Timer:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def search_state(n_rows: int, seconds: float, looks: dict[str, tuple[float, float]]) -> tuple[SearchState, Timer]:
    """A search with some trials: error and seconds of each in a first look."""
    folds = inner_folds(np.arange(n_rows), np.arange(n_rows) % 2, None, search=0, folds=5, seed=0)
    trials, timer = Trials(0, folds, all_metrics["ber"]), Timer()
    for text, (error, each) in looks.items():
        trials.add(text, "portfolio", None)
        one = trials.by_recipe[text]
        for split in folds.first:
            one.values[split], one.sizes[split] = -error, 1
            one.seconds[split] = one.alone[split] = each
    nothing = RemainingWork(0.0, n_rows, n_rows)
    clock = Clock(Budget(seconds), timer=timer)
    known = {"space": None, "seed": 0, "codes": np.arange(n_rows) % 2, "stored": None, "store": None}
    return SearchState(trials, clock=clock, load=1.0, remaining=nothing, **known), timer  # type: ignore[arg-type]


def test_the_seconds_of_a_first_look_grow_with_the_rows() -> None:
    state, _ = search_state(12_500, 600.0, {"knn": (0.2, 1.0)})
    knn = state.trials.by_recipe["knn"]
    folds = state.trials.inner.folds
    assert len(folds) == 2
    # 10,000 training rows instead of 1,000.
    assert state.seconds_on(knn, folds) == pytest.approx(2 * 10**1.3)
    assert state.seconds_on(knn, state.trials.inner.first) == pytest.approx(2.0)
    # Once it was evaluated on all rows these seconds count alone.
    knn.seconds[folds[0]] = 5.0
    assert state.seconds_on(knn, folds) == pytest.approx(10.0)


def test_the_most_promising_model_may_take_longer_than_its_stage() -> None:
    """The time of the stage is over for the slow leader alone, which would take a quarter of what is left in all."""
    state, timer = search_state(12_500, 300.0, {"slow": (0.1, 1.0), "quick": (0.2, 0.01), "worse": (0.3, 0.01)})
    timer.now = 60.0
    requests = evaluate(state, "portfolio", state.trials.ranked(state.trials.inner.first), state.trials.inner.folds)
    first = next(requests)
    assert first.recipes == ("slow",)
    assert first.until(state.clock) == state.clock.end_of("tune")
    assert next(requests).recipes == ("quick", "worse")
    # A leader that would take half of all the time is not begun.
    state, timer = search_state(12_500, 60.0, {"slow": (0.1, 1.0), "quick": (0.2, 0.01)})
    requests = evaluate(state, "portfolio", state.trials.ranked(state.trials.inner.first), state.trials.inner.folds)
    assert [one.recipes for one in requests] == [("quick",)]


def test_models_are_evaluated_together_as_far_as_they_fit() -> None:
    """Six of two seconds each in a stage with seven seconds left: three, then again what fits."""
    state, timer = search_state(500, 30.0, {f"m{i}": (0.1 + 0.01 * i, 0.4) for i in range(6)})
    timer.now = 0.5
    trials = state.trials.ranked(state.trials.inner.first)
    state.trials.by_recipe["m0"].values.update(dict.fromkeys(state.trials.inner.folds, -0.1))
    requests = evaluate(state, "portfolio", trials, state.trials.inner.folds)
    left = state.clock.left_of("portfolio")
    assert left == pytest.approx(0.25 * 0.94 * 30.0 - 0.5)
    assert next(requests).recipes == ("m0", "m1", "m2")
    timer.now += left - 6.1
    assert next(requests).recipes == ("m3", "m4", "m5")
