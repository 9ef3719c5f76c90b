"""The plan beside GridSearchCV over a pipeline: the same fold scores, and what more values of k, C and workers cost."""

import subprocess
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.timing import seconds
from tamis.classify import SVM
from tamis.select import Ranking
from tamis.validation.folds import StratifiedFolds
from tamis.validation.many import Validations, validate_many

COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)

#: Two hundred recipes on the widest data set of the challenge, in a process of its own.
DOROTHEA = """
from pathlib import Path
from tamis.data.load import load
from tamis.validation.many import validate_many
first = ", ".join(f"{score}(geom(20, 20000, 8))" for score in ("cc", "chi2", "fisher", "count", "f"))
found = validate_many("{%s} | {knn({1, 3, 5}), svm(linear, C={0.01, 1})}" % first, load("dorothea"), folds=3)
# What getrusage tells begins with the peak of the process that started this one.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(found), int(peak.split()[1]) / 1024)
"""


def _problem() -> tuple[sp.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    # No two columns score the same: of equal ones SelectKBest takes the last, Ranking the first.
    X = sp.random(800, 100_000, 0.01, format="csr", random_state=0)
    return X, rng.integers(0, 2, 800)


def _sizes(count: int) -> list[int]:
    return [int(k) for k in np.unique(np.geomspace(50, 5000, count).round())]


def _ours(X: Any, y: np.ndarray, sizes: list[int], lasts: list[Any], n_jobs: int = 1, first: Any = None) -> Validations:
    first = Ranking("chi2") if first is None else first
    models = [make_pipeline(clone(first).set_params(k=k), last) for k in sizes for last in lasts]
    return validate_many(models, X, y, folds=10, metrics="accuracy", n_jobs=n_jobs)


def _theirs(X: Any, y: np.ndarray, first: Any, last: Any, sizes: list[int], costs: tuple[float, ...]) -> np.ndarray:
    cv = [(s.train, s.test) for s in StratifiedFolds(10).splits(y)]
    grid = {"first__k": sizes, "last__C": list(costs)}
    search = GridSearchCV(Pipeline([("first", first), ("last", last)]), grid, cv=cv, scoring="accuracy", refit=False)
    table = search.fit(X, y).cv_results_
    return np.array([table[f"split{i}_test_score"] for i in range(10)])


def _compare(what: str, X: Any, y: np.ndarray, own: Any, first: Any, last: Any, costs: tuple[float, ...]) -> None:
    sizes = _sizes(10)
    lasts = [clone(last).set_params(C=C) for C in costs]
    mine = seconds(lambda: _ours(X, y, sizes, lasts, first=own), at_most=3)
    found = [one.values["accuracy"] for one in _ours(X, y, sizes, lasts, first=own)]
    theirs: list[np.ndarray] = []
    other = seconds(lambda: theirs.append(_theirs(X, y, first, last, sizes, costs)), at_most=1)
    same = int((theirs[0] == np.array(found).T).sum())
    note = f"{same} of {theirs[0].size} fold scores identical"
    print(f"{what:<52} {mine:9.4f} s   {'GridSearchCV':<34} {other:9.4f} s   {other / mine:8.1f}x  {note}", flush=True)


def main() -> None:
    X, y = _problem()
    liblinear = LinearSVC(random_state=0)
    ours, best = Ranking("chi2"), SelectKBest(chi2)
    _compare("chi2 -> LinearSVC, 10 k, 10 folds, sparse", X, y, ours, best, liblinear, (1.0,))
    _compare("chi2 -> LinearSVC, 10 k x 5 C", X, y, ours, best, liblinear, COSTS)
    _compare("SelectKBest -> LinearSVC itself, 10 k", X, y, best, best, liblinear, (1.0,))
    _compare("SelectKBest -> LinearSVC itself, 10 k x 5 C", X, y, best, best, liblinear, COSTS)
    _compare("chi2 -> svm(linear), 10 k", X, y, ours, ours, SVM("linear"), (1.0,))
    _compare("chi2 -> svm(linear), 10 k x 5 C", X, y, ours, ours, SVM("linear"), COSTS)
    for name, first, last in (
        ("chi2 -> LinearSVC", ours, liblinear),
        ("SelectKBest -> LinearSVC", best, liblinear),
        ("chi2 -> svm(linear)", ours, SVM("linear")),
    ):
        ten, twenty = (
            seconds(lambda n=n, first=first, last=last: _ours(X, y, _sizes(n), [last], first=first), at_most=3)
            for n in (10, 20)
        )
        print(f"{name}: 10 k {ten:.3f} s, 20 k {twenty:.3f} s: {100 * (twenty / ten - 1):.0f} % more")
    lasts = [SVM("gaussian", C=C, sigma=s) for C in COSTS for s in (1e1, 1e2, 1e3, 1e4)]
    one, two = (seconds(lambda n=n: _ours(X, y, _sizes(10), lasts, n), at_most=1) for n in (1, 2))
    print(f"chi2 -> svm(gaussian), 10 k x 20: one worker {one:.1f} s, two workers {two:.1f} s: {one / two:.2f}x")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", DOROTHEA], capture_output=True, text=True, check=False)
    said = done.stdout.split() if done.returncode == 0 else ["0", "nan"]
    note = "" if done.returncode == 0 else "  (the data set is not at hand)"
    print(f"{said[0]} recipes on dorothea: peak memory {float(said[1]):.0f} MB{note}")


if __name__ == "__main__":
    main()
