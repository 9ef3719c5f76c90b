"""Kernel widths from the data: by the spread of the rows, or by the distance of the classes."""

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.margins.kernel import squared_norms

#: Kernels without a width.
_NO_WIDTH = ("linear", "cosine")

#: Widths to try, as multiples of the one by spread; the widest (simplest model) first.
MULTIPLES = 4.0 ** np.arange(2, -5, -1)

#: A mean distance below this share of the rows' length is rounding.
_ROUNDING = 1e-7


def spread_width(X: Matrix, weight: FloatArray) -> float:
    """Number of columns times the weighted variance of all values; 1 when all values are the same.

    This is the mean squared distance of a row to the point with the overall mean in every column.

    Examples
    --------
    >>> spread_width(np.array([[0.0, 2.0], [2.0, 4.0]]), np.ones(2))
    4.0
    """
    mean = np.average(np.asarray(X.mean(axis=1, dtype=np.float64)).ravel(), weights=weight)
    if sp.issparse(X):
        squares = X.astype(np.float64, copy=False).power(2).mean(axis=1)
        variance = np.average(np.asarray(squares).ravel(), weights=weight) - mean**2
    else:
        variance = np.average(((X - mean) ** 2).mean(axis=1), weights=weight)
    return float(X.shape[1] * variance) if variance > 0 else 1.0


def class_distance(X: Matrix, distances: FloatArray, y: Codes, weight: FloatArray) -> float:
    """Weighted mean of the rows' distance to the nearest row of another class, from their squared distances.

    The width of Lal, Chapelle and Schölkopf (2006, section 1). 0 when every row has an equal in another class.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [4.0]])
    >>> class_distance(X, (X - X.T) ** 2, np.array([0, 0, 1]), np.array([1.0, 1.0, 2.0]))
    3.25
    """
    nearest = np.empty(y.shape[0])
    for code in np.unique(y):
        own = y == code
        nearest[own] = distances[np.ix_(own, ~own)].min(axis=1)
    mean = float(np.average(np.sqrt(nearest), weights=weight))
    return mean if mean > _ROUNDING * np.sqrt(squared_norms(X).mean()) else 0.0


def check_width(kernel: str, sigma: float | str) -> None:
    """Refuse to choose a width for a kernel without one, or a distance for one whose width is none."""
    if kernel in _NO_WIDTH and sigma in ("auto", "classes"):
        raise TamisError(
            f"'sigma' of SVM takes a number or 'scale' with the {kernel} kernel, which has no width to choose; "
            f"got {sigma!r}"
        )
    if sigma == "classes" and kernel in ("polynomial", "sigmoid"):
        raise TamisError(
            "'sigma' of SVM takes 'classes' with the gaussian and exponential kernels, whose width is a distance; "
            f"got it with kernel={kernel!r}"
        )


def widths(
    kernel: str, sigma: float | str, X: Matrix, grounds: FloatArray, y: Codes, weight: FloatArray
) -> tuple[float | None, ...]:
    """The widths of a value of the parameter `sigma`, the widest first; `grounds` is from :func:`ground`."""
    if kernel in _NO_WIDTH:
        return (None,)
    if not isinstance(sigma, str):
        return (float(sigma),)
    if sigma == "classes":
        distance = class_distance(X, grounds, y, weight)
        if distance > 0:
            return (distance if kernel == "exponential" else 2.0 * distance**2,)
    squared = spread_width(X, weight) * (MULTIPLES if sigma == "auto" else np.ones(1))
    return tuple((np.sqrt(squared) if kernel == "exponential" else squared).tolist())
