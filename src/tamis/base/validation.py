"""Checks of what a fit gets: parameters, labels, weights, names of columns."""

import math
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix

#: Parts of a unit that numbers with few digits are multiples of.
_GRID = 2.0**22


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse anything but a whole number of `least` or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise TamisError(f"{name} must be a whole number of {least} or more; got {value!r}")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Refuse anything but a finite number from `low` up to, not including, `high`."""
    if (
        not isinstance(value, int | float | np.integer | np.floating)
        or isinstance(value, bool)
        or not low <= value < high
    ):
        below = "" if high == np.inf else f" and below {high:g}"
        raise TamisError(f"{name} must be a finite number of {low:g} or more{below}; got {value!r}")


def encode_labels(y: Any, who: str, *, at_least: int = 2) -> tuple[np.ndarray, Codes]:
    """The sorted distinct labels of `y`, and the code of each row; `who` names the method in messages."""
    # Late, as below: tables are read and described without scikit-learn.
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    if type_of_target(y, input_name="y") == "continuous":
        raise TamisError(f"{who} tells classes apart, and the target holds numbers (Unknown label type: continuous)")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.shape[0] < at_least:
        raise TamisError(f"{who} needs at least {at_least} classes; y has one class: {classes.tolist()[0]!r}")
    return classes, codes.astype(np.intp, copy=False)


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes (a, b), a < b, in one-against-one order."""
    return list(combinations(range(n_classes), 2))


def check_weights(sample_weight: Any, X: Matrix) -> FloatArray | None:
    """Non-negative sample weights as an array, one for each row of `X`; None stays None."""
    if sample_weight is None:
        return None
    from tamis.base._sklearn import _check_sample_weight

    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def forget(estimator: Any) -> None:
    """Delete the fitted attributes of an earlier fit, which other parameters may not set again."""
    for name in [n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")]:
        delattr(estimator, name)


def bearing_rows(
    X: Matrix, y: Codes, weight: FloatArray | None, classes: np.ndarray, who: str
) -> tuple[Matrix, Codes, FloatArray, np.ndarray]:
    """The rows with a weight above zero, their codes, weights and positions; every class must have one."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    places = np.flatnonzero(weight > 0)
    if places.size < X.shape[0]:
        X, y, weight = X[places], y[places], weight[places]
    size = np.bincount(y, minlength=classes.shape[0])
    if not size.all():
        empty = classes.tolist()[int(np.argmin(size))]
        raise TamisError(f"{who}: no row of class {empty!r} has a sample weight above zero")
    return X, y, weight, places


def weighted_numbers(
    X: Matrix, y: FloatArray, weight: FloatArray | None, who: str
) -> tuple[Matrix, FloatArray, FloatArray, np.ndarray]:
    """The rows with a weight above zero, their numbers, weights and positions; there must be one."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    places = np.flatnonzero(weight > 0)
    if places.size == 0:
        raise TamisError(f"{who}: no row has a sample weight above zero")
    if places.size < X.shape[0]:
        X, y, weight = X[places], y[places], weight[places]
    return X, y, weight, places


def centre_and_scale(y: FloatArray, weight: FloatArray | None = None) -> tuple[float, float]:
    """Mean and standard deviation of a target; 1 in place of a deviation of 0.

    Examples
    --------
    >>> centre_and_scale(np.array([1.0, 3.0])), centre_and_scale(np.array([0.1, 0.1, 0.1]))
    ((2.0, 1.0), (0.1, 1.0))
    """
    if np.ptp(y) == 0:
        return float(y[0]), 1.0
    mean = float(np.average(y, weights=weight))
    # In units of the largest, whose square could overflow or vanish.
    largest = float(np.abs(y - mean).max())
    return mean, largest * math.sqrt(float(np.average(((y - mean) / largest) ** 2, weights=weight)))


def few_digits(y: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, float, float]:
    """A target as numbers near 1 in size with seven digits, and the zero and the unit of these numbers.

    Their squares and sums are exact: splits of a tree that are equally good stay so in any order of the rows, and rows
    with one target leave an error of exactly 0. The unit is the
    power of 2 next to the deviation, and the zero an eighth of it or a multiple next to the mean.

    Examples
    --------
    >>> few_digits(np.array([105.0, 109.0]), None)
    (array([-1.,  1.]), 107.0, 2.0)
    """
    mean, deviation = centre_and_scale(y, weight)
    unit = 2.0 ** round(math.log2(deviation))
    zero = round(8 * mean / unit) / 8 * unit
    return np.rint((y - zero) / unit * _GRID) / _GRID, zero, unit


def row_terms(y: Codes, weight: FloatArray, *, class_weight: str | None, ridge: float) -> tuple[FloatArray, FloatArray]:
    """Cost of each row's slack for C = 1, and the ridge added to its kernel with itself.

    A row of weight 2 costs twice as much and gets half the ridge, like the row twice. The class weight "balanced"
    multiplies the cost by n / (k n_c), with n_c of n rows in a class and k classes. The class's share of the rows
    multiplies `ridge`.

    >>> row_terms(np.array([0, 1, 1, 1]), np.ones(4), class_weight="balanced", ridge=1.0)[0].round(2)
    array([2.  , 0.67, 0.67, 0.67])
    """
    size = np.bincount(y, weights=weight)
    factor = size.sum() / (size.shape[0] * size) if class_weight == "balanced" else np.ones(size.shape[0])
    return weight * factor[y], ridge * size[y] / size.sum() / weight


def class_prior(y: Codes, weight: FloatArray, *, class_weight: str | None) -> FloatArray:
    """Share of each class in the total weight, or equal shares."""
    size = np.bincount(y, weights=weight).astype(np.float64, copy=False)
    return np.full(size.size, 1.0 / size.size) if class_weight == "balanced" else size / size.sum()


def canonical(X: Matrix) -> Matrix:
    """The matrix with sorted indices and without duplicates; the input is not changed.

    >>> import scipy.sparse as sp
    >>> canonical(sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))).data
    array([3.])
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def dense_rows(X: Matrix, who: str, most: int = 100_000_000) -> FloatArray:
    """Rows as a dense float64 array, for a method that has no sparse form; refused beyond `most` values.

    >>> import scipy.sparse as sp
    >>> dense_rows(sp.eye_array(2, format="csr"), "incnet")
    array([[1., 0.],
           [0., 1.]])
    """
    if not hasattr(X, "toarray"):
        return np.ascontiguousarray(X, dtype=np.float64)
    if X.shape[0] * X.shape[1] > most:
        size = f"{X.shape[0]} x {X.shape[1]}"
        raise TamisError(f"{who} makes sparse rows dense, which is too much for {size} values; select columns first")
    return np.ascontiguousarray(X.toarray(), dtype=np.float64)


def named_columns(given: Any, n_features: int, names: list[str], what: str) -> list[int]:
    """The numbers of columns that are given by name or by number from 0; `what` names the parameter in messages.

    >>> named_columns(["size", 0], 3, ["age", "weight", "size"], "wrapper: base")
    [2, 0]
    """
    if given is None:
        return []
    columns = [given] if isinstance(given, str | Integral) else list(given)
    found = []
    for one in columns:
        if isinstance(one, str) and one in names:
            found.append(names.index(one))
        elif isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) < n_features:
            found.append(int(one))
        else:
            raise TamisError(f"{what} takes names of columns or numbers from 0 to {n_features - 1}; got {one!r}")
    if len(set(found)) < len(found):
        raise TamisError(f"{what} names a column twice: {columns}")
    return found


def column_names(fitted: Any) -> list[str]:
    """The column names of a fitted estimator, x0, x1, ... where it has none."""
    named = getattr(fitted, "feature_names_in_", None)
    return [f"x{j}" for j in range(fitted.n_features_in_)] if named is None else [str(name) for name in named]
