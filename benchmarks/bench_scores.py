"""Scores against scikit-learn's, on the sizes of a wide dense and a wide sparse problem."""

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


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((6000, 5000), dtype=np.float32)
    y = rng.integers(0, 2, 6000)
    for name, score in scores.all_scores.items():
        memory = extra_memory(_DENSE.format(name=name), f"scores.{name}(X, y)")
        compare(
            f"{name}, dense 6000 x 5000 float32",
            lambda score=score: score(X, y),
            "sklearn f_classif",
            lambda: f_classif(X, y),
            f"{memory:.0f} MB extra",
        )
    compare("chi2, dense 6000 x 5000 float32", lambda: scores.chi2(X, y), "sklearn chi2", lambda: chi2(X, y))
    for form in ("csr", "csc"):
        S = sp.random_array((800, 100_000), density=0.01, rng=0, format=form)
        classes = rng.integers(0, 2, 800)
        for name, score in scores.all_scores.items():
            compare(
                f"{name}, {form} 800 x 100000, 1 %",
                lambda score=score: score(S, classes),
                "sklearn f_classif",
                lambda: f_classif(S, classes),
            )
        compare(
            f"chi2, {form} 800 x 100000, 1 %",
            lambda: scores.chi2(S, classes),
            "sklearn chi2",
            lambda: chi2(S, classes),
        )
