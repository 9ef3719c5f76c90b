"""Scores against scikit-learn's, on the sizes of a wide dense and a wide sparse problem."""

from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import chi2, f_classif

from benchmarks.timing import compare, extra_memory
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
        if not score.columnwise:
            # Those that compare rows with rows have a benchmark of their own.
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


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((6000, 5000), dtype=np.float32)
    _beside("dense 6000 x 5000 float32", X, rng.integers(0, 2, 6000), memory=True)
    S = sp.random_array((800, 100_000), density=0.01, rng=0, format="csr")
    classes = rng.integers(0, 2, 800)
    _beside("CSR 800 x 100000, 1 %", S, classes)
    _beside("CSC 800 x 100000, 1 %", S.tocsc(), classes)
