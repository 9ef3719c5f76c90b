"""Which families of models go on: those whose next improvement is expected soonest.

The cost of the next improvement is estimated as by Wang, Wu, Weimer and Zhu (2021, FLAML): a family that improved often
and cheaply will do so again, and one that is behind must first catch up, at the speed at which it improved so far.
Costs are in seconds where time is limited. Else they are in trials, so that nothing depends on the machine.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tamis.mining.search_state import SearchState
from tamis.mining.trials import Trial
from tamis.mining.variation import Candidate


@dataclass
class _Arm:
    """A family: what it has cost, and when it improved."""

    cost: float = 0.0
    #: The best values so far, rising, and the cost at which each was found.
    best: list[float] = field(default_factory=list)
    found: list[float] = field(default_factory=list)

    def add(self, value: float, cost: float) -> None:
        self.cost += cost
        if not self.best or value > self.best[-1] + 1e-12:
            self.best.append(value)
            self.found.append(self.cost)

    def cost_of_improvement(self, leader: float) -> float:
        """The expected cost until this family improves, and is ahead of the leader."""
        before = self.found[-2] if len(self.found) > 1 else 0.0
        own = max(self.cost - self.found[-1], self.found[-1] - before)
        gap = leader - self.best[-1]
        if gap <= 0:
            return own
        if len(self.best) < 2:
            # It has not improved yet: catching up takes at least as long as all so far.
            return max(own, 2 * self.cost)
        return max(own, gap * (self.cost - before) / (self.best[-1] - self.best[-2]))


def soonest(state: SearchState, candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """The candidates whose families are expected to improve soonest, at most `most`; of equal ones the first."""
    values = {one.recipe: value for one, value in state.trials.estimates()}
    arms = _arms(
        ((one, values[one.recipe]) for one in state.trials.by_recipe.values() if one.recipe in values),
        timed=state.clock.budget.seconds is not None,
    )
    leader = max((arm.best[-1] for arm in arms.values()), default=0.0)
    costs = [arms[one.closed.family].cost_of_improvement(leader) for one in candidates]
    return [candidates[i] for i in sorted(range(len(costs)), key=lambda i: costs[i])[:most]]


def _arms(trials: Iterable[tuple[Trial, float]], *, timed: bool) -> dict[tuple[str, str], _Arm]:
    """The families, of trials in the order in which they were added."""
    found: dict[tuple[str, str], _Arm] = {}
    for one, value in trials:
        if one.candidate is not None:
            cost = sum(one.seconds.values()) if timed else 1.0
            found.setdefault(one.candidate.closed.family, _Arm()).add(value, cost)
    return found
