"""Scores against scikit-learn's, on the sizes of a wide dense and a wide sparse problem."""

from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata
from sklearn.feature_selection import chi2, f_classif, f_regression

from benchmarks.timing import compare, extra_memory, seconds
from tamis import scores

_DENSE = """
import numpy as np
from tamis import scores
rng = np.random.default_rng(0)
X = rng.random((6000, 5000), dtype=np.float32)
y = rng.integers(0, 2, 6000)
scores.{name}(X[:100], y[:100])
"""


def _beside(what: str, X: object, y: np.ndarray, *, memory: bool = False) -> None:
    """Every score beside f_classif, and chi2 beside scikit-learn's own."""
    for name, score in scores.all_scores.items():
        if not score.columnwise or (score.supervised and "classify" not in score.tasks):
            # Those that compare rows with rows have a benchmark of their own; for numbers see below.
            continue
        extra = extra_memory(_DENSE.format(name=name), f"scores.{name}(X, y)") if memory else None
        compare(
            f"{name}, {what}",
            partial(score, X, y),
            "sklearn f_classif",
            partial(f_classif, X, y),
            "" if extra is None else f"{extra:.0f} MB extra",
        )
    for name in ("f", "t"):
        ours = partial(scores.get(name).pvalues, X, y)
        compare(f"{name} with p-values, {what}", ours, "sklearn f_classif", partial(f_classif, X, y))
    compare(f"chi2, {what}", partial(scores.chi2, X, y), "sklearn chi2", partial(chi2, X, y))
    compare(f"chi2 with p-values, {what}", partial(scores.chi2.pvalues, X, y), "sklearn chi2", partial(chi2, X, y))


def _numbers(what: str, X: object, y: np.ndarray) -> None:
    """The scores of numeric targets beside f_regression."""
    theirs = partial(f_regression, X, y)
    for name in ("cc", "f", "mi"):
        compare(f"{name} of numbers, {what}", partial(scores.get(name), X, y), "sklearn f_regression", theirs)
    rank = partial(scores.spearman, X, y)
    if sp.issparse(X):
        print(f"{f'spearman of numbers, {what}':<52} {seconds(rank):9.4f} s", flush=True)
    else:
        compare(f"spearman of numbers, {what}", rank, "scipy rankdata, f_regression", partial(_ranked, X, y))
    ours = partial(scores.f.pvalues, X, y)
    compare(f"f of numbers with p-values, {what}", ours, "sklearn f_regression", theirs)


def _ranked(X: np.ndarray, y: np.ndarray) -> object:
    """The ranks of all columns, and their regressions."""
    return f_regression(rankdata(X, axis=0), rankdata(y))


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((6000, 5000), dtype=np.float32)
    _beside("dense 6000 x 5000 float32", X, rng.integers(0, 2, 6000), memory=True)
    S = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    classes = rng.integers(0, 2, 800)
    _beside("CSR 800 x 100000, 1 %", S, classes)
    _beside("CSC 800 x 100000, 1 %", S.tocsc(), classes)
    numbers = rng.normal(size=6000)
    _numbers("dense 6000 x 5000 float32", X, numbers)
    _numbers("dense 6000 x 5000 float64", X.astype(np.float64), numbers)
    _numbers("CSR 800 x 100000, 1 %", S, numbers[:800])
    _numbers("CSC 800 x 100000, 1 %", S.tocsc(), numbers[:800])
