"""What more workers bring: speed-up and efficiency of a search, as Souza, Japkowicz and Matwin (2005) define them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """The seconds of a search with some number of workers: in all, and in evaluations, which run in parallel."""

    workers: int
    total: float
    parallel: float

    @property
    def sequential(self) -> float:
        """Seconds outside of the evaluations."""
        return self.total - self.parallel


@dataclass(frozen=True)
class Efficiency:
    """A timing beside that of one worker.

    Attributes
    ----------
    timing : Timing
    speedup : float
        Total time of one worker over that of these (eq. 0.1).
    optimal_speedup : float
        The same if the evaluations were divided among the workers without any loss (eq. 0.2).
    parallel_efficiency : float
        Speed-up over optimal speed-up (eq. 0.3).
    total_efficiency : float
        Speed-up over the number of workers (eq. 0.4).
    """

    timing: Timing
    speedup: float
    optimal_speedup: float

    @property
    def parallel_efficiency(self) -> float:
        return self.speedup / self.optimal_speedup

    @property
    def total_efficiency(self) -> float:
        return self.speedup / self.timing.workers


def efficiencies(timings: Sequence[Timing]) -> list[Efficiency]:
    """The efficiency of each timing; the first is that of one worker.

    Eq. 0.2 of the paper divides the parallel time with p workers by p once more. Read so, no search could reach its
    optimum; here the parallel time with one worker is divided by p.

    Examples
    --------
    >>> one, two = efficiencies([Timing(1, 10.0, 8.0), Timing(2, 6.5, 4.4)])
    >>> round(two.speedup, 3), round(two.optimal_speedup, 3)
    (1.538, 1.667)
    >>> round(two.parallel_efficiency, 3), round(two.total_efficiency, 3)
    (0.923, 0.769)
    """
    first = timings[0]
    return [
        Efficiency(one, first.total / one.total, first.total / (first.sequential + first.parallel / one.workers))
        for one in timings
    ]
