"""Floating search for basis functions on estimates of O(n), against the same search that solves every set it tries.

Also the optimum itself, against L-BFGS-B of scipy on the same objective; the same optimum in chunks and in memory; and
20,000 rows, whose matrix is beyond memory, beside SVC and a Nyström map with logistic regression.
"""

import time

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.timing import compare, extra_memory
from tamis.base.parallel import one_thread
from tamis.classify import ConvexNet
from tamis.classify.convex_net.basis_search import Path, floating
from tamis.margins.convex import Objective, minimise
from tamis.margins.convex_candidates import Candidates, Estimates, SolvedSubset
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
        _compare_chunks()
    _beyond_memory()


def planted(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose classes no plane parts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    return X, X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n) > 0


def _compare_chunks() -> None:
    X, y = planted(2000)
    for shape, low in (("identity", None), ("gram", None), ("identity", 0.0)):
        net = ConvexNet(kernel="gaussian", shape=shape, low=low, penalty=0.1)

        def in_chunks(net: ConvexNet = net) -> ConvexNet:
            with config_context(working_memory=8):
                return net.fit(X, y)

        gap = in_chunks().objective_[0] / net.fit(X, y).objective_[0] - 1.0
        what = f"convex_net({shape}, low={low}) of 2000 rows in chunks"
        compare(what, in_chunks, "in memory", lambda net=net: net.fit(X, y), f"relative gap {gap:.0e}")


_SETUP = """
from benchmarks.bench_convex_net import planted
from tamis.classify import ConvexNet
ConvexNet(kernel="gaussian", shape="gram").fit(*planted(200))
X, y = planted(20_000)
"""


def _beyond_memory() -> None:
    X, y = planted(22_000)
    train, test = slice(0, 20_000), slice(20_000, 22_000)
    net = ConvexNet(kernel="gaussian", shape="gram", penalty=0.1)
    width = net.fit(X[:500], y[:500]).sigma_
    peers = {
        "SVC": SVC(gamma=1.0 / width, C=5.0),
        "Nystroem(1000) and logistic regression": make_pipeline(
            Nystroem(gamma=1.0 / width, n_components=1000, random_state=0),
            LogisticRegression(C=5.0, fit_intercept=False, max_iter=1000),
        ),
    }
    for name, model in {"convex_net in chunks": net, **peers}.items():
        start = time.perf_counter()
        model.fit(X[train], y[train])
        error = 100 * (1 - model.score(X[test], y[test]))
        print(f"{name} on 20000 rows {time.perf_counter() - start:9.1f} s   error {error:.2f} %", flush=True)
    memory = extra_memory(_SETUP, 'ConvexNet(kernel="gaussian", shape="gram", penalty=0.1).fit(X, y)')
    print(f"convex_net in chunks on 20000 rows: {memory:.0f} MB more at the peak; the matrix has 3200 MB", flush=True)


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
