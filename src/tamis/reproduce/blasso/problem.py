"""The problems of Zhao and Yu (2005): diabetes with an eleventh variable, and two circles.

Their columns have unit length and their target its own units. Ours have unit mean square and the target unit deviation:
a step of 0.5 there is 0.5 / (sqrt(442) 77.0) = 0.00031 here.
"""

import math
from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

from tamis.base.types import FloatArray
from tamis.margins.boosted_lasso.path import Path

#: Steps of the paper's figures, in its units; 0.5 is that of the coefficient paths.
STEP = 0.5
STEPS = (50.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.05)

#: Penalties below this share of the highest are left out of differences: the paths end at different ones.
LEAST = 0.005

#: Most steps of a path.
MOST = 200_000

#: Basis functions of the circles.
BASIS = ("x1 sqrt(2)", "x2 sqrt(2)", "x1 x2 sqrt(2)", "x1^2", "x2^2")


def with_x11(data: Any) -> tuple[FloatArray, FloatArray]:
    """Standardised columns of the diabetes data with x11 = -x7 + x8 + 5 x9, and the target in deviations."""
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    X = np.column_stack([X, -X[:, 6] + X[:, 7] + 5 * X[:, 8]])
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def paper_unit(data: Any) -> float:
    """By how much a step of ours is smaller than one of the paper."""
    y = np.asarray(data.y, dtype=np.float64)
    return math.sqrt(y.size) * float(y.std())


def circles(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Two classes of 50 rows, the second on a ring around the first, in the five basis functions of the paper."""
    first = rng.normal(size=(50, 2))
    # One normal row in twelve lies on the ring.
    second = rng.normal(size=(5_000, 2))
    radius = (second**2).sum(axis=1)
    second = second[(radius >= 4.5) & (radius <= 8)][:50]
    a, b = np.concatenate([first, second]).T
    root = math.sqrt(2)
    return np.column_stack([root * a, root * b, root * a * b, a**2, b**2]), np.repeat([-1.0, 1.0], 50)


def gaps(path: Path, X: FloatArray, y: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """Knots of a path above the least penalty, and the largest difference of a weight from the lasso's at each."""
    knots = path.knots[path.penalties[path.knots - 1] >= LEAST * path.highest]
    _, exact, _ = lasso_path(X, y, alphas=path.penalties[knots - 1], tol=1e-9, max_iter=100_000)
    return knots, np.abs(path.coefs(knots) - exact.T).max(axis=1)
