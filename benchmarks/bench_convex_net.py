"""Floating search for basis functions on estimates of O(n), against the same search that solves every set it tries.

Also the optimum itself, against L-BFGS-B of scipy on the same objective.
"""

import time

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.timing import compare
from tamis.base.parallel import one_thread
from tamis.classify.convex_net.basis_search import Candidates, Estimates, Path, SolvedSubset, floating
from tamis.margins.convex import Objective, minimise
from tamis.margins.kernel import kernel_values


class Refitting(Candidates):
    """Candidates that are all solved, each from the coefficients of the set before, or from nothing."""

    def __init__(self, objective: Objective, *, warm: bool) -> None:
        super().__init__(objective, tol=1e-9, max_iter=100)
        self._warm = warm
        self.solved = 0

    def additions(self, subset: SolvedSubset) -> Estimates:
        rest = np.setdiff1d(np.arange(self.objective.n_basis), subset.chosen)
        return self._each(subset, rest, [np.append(subset.chosen, column) for column in rest])

    def removals(self, subset: SolvedSubset) -> Estimates:
        leaving = np.sort(subset.chosen)
        return self._each(subset, leaving, [subset.chosen[subset.chosen != column] for column in leaving])

    def _each(self, subset: SolvedSubset, columns: np.ndarray, sets: list[np.ndarray]) -> Estimates:
        self.solved += len(sets)
        found = []
        for chosen in sets:
            start = np.zeros(self.objective.n_basis)
            if self._warm:
                start[chosen] = subset.at.coef[chosen]
            found.append(minimise(self.objective, chosen, start, tol=1e-9))
        return Estimates(columns, np.array([one.value for one in found]), lambda place: found[place].coef)


def problem(n: int, loss: str = "logistic") -> Objective:
    """The paper's basis functions and penalty on rows whose classes no plane parts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    signs = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n) > 0, 1.0, -1.0)
    values = kernel_values("cosine", X, degree=3, coef0=1.0) * signs * signs[:, None]
    free = np.full(n, np.inf)
    return Objective(loss, values, np.ones(n), np.ones((1, n)), -free, free)


def by_scipy(objective: Objective) -> float:
    def both(a: np.ndarray) -> tuple[float, np.ndarray]:
        m = a @ objective.values
        return float(np.logaddexp(0.0, -m).sum() + a @ a), -objective.values @ expit(-m) + 2.0 * a

    options = {"maxiter": 100_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-6}
    return float(minimize(both, np.zeros(objective.n_basis), jac=True, method="L-BFGS-B", options=options).fun)


def searched(candidates: Candidates, size: int) -> tuple[float, SolvedSubset]:
    start = time.perf_counter()
    subset = Path(floating(candidates)).at(size)
    return time.perf_counter() - start, subset


def main() -> None:
    # As in the fit of ConvexNet; the searches, ours and the other, are several times slower with two.
    with one_thread():
        _compare()


def _compare() -> None:
    for n in (300, 1000):
        objective = problem(n)
        gap = minimise(objective).value - by_scipy(objective)
        note = f"ours less theirs: {gap:.1e}"
        compare(
            f"convex_net, all of {n}",
            lambda o=objective: minimise(o),
            "L-BFGS-B",
            lambda o=objective: by_scipy(o),
            note,
        )
    for n in (100, 300):
        objective, size = problem(n), round(0.3 * n)
        searched(Candidates(objective, tol=1e-9, max_iter=100), 5)
        mine, subset = searched(Candidates(objective, tol=1e-9, max_iter=100), size)
        for warm in (True, False):
            peer = Refitting(objective, warm=warm)
            theirs, other = searched(peer, size)
            same = set(subset.chosen) == set(other.chosen)
            print(
                f"sffs to {size} of {n} basis functions {mine:9.3f} s   every set solved, {'warm' if warm else 'cold'} "
                f"{theirs:9.2f} s   {theirs / mine:8.1f}x  ({peer.solved} solved; same set: {same}; "
                f"CN {subset.at.value:.4f} and {other.at.value:.4f})",
                flush=True,
            )
