"""Rows that count more or less than others: sample weights and balanced classes."""

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix


def bearing_rows(
    X: Matrix, y: Codes, weight: FloatArray | None, classes: np.ndarray, who: str
) -> tuple[Matrix, Codes, FloatArray, np.ndarray]:
    """The rows with a weight above zero, their codes, weights and places; `who` refuses a class without any."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    places = np.flatnonzero(weight > 0)
    if places.size < X.shape[0]:
        X, y, weight = X[places], y[places], weight[places]
    size = np.bincount(y, minlength=classes.shape[0])
    if not size.all():
        empty = classes.tolist()[int(np.argmin(size))]
        raise TamisError(f"{who}: no row of class {empty!r} has a sample weight above zero")
    return X, y, weight, places


def row_terms(y: Codes, weight: FloatArray, *, balance: bool, ridge: float) -> tuple[FloatArray, FloatArray]:
    """What a row's slack costs when C is 1, and what is added to its kernel with itself.

    Parameters
    ----------
    y : array of class codes 0, 1, ..., all of them present
    weight : array of shape (n_rows,)
        Above zero. A row of weight 2 costs twice as much and gets half the ridge: it counts like the row twice.
    balance : bool
        Multiply the cost by n / (k n_c) for the n_c of n rows in a class, of k classes.
    ridge : float
        Multiplied by the class's share of the rows.

    Examples
    --------
    >>> row_terms(np.array([0, 1, 1, 1]), np.ones(4), balance=True, ridge=1.0)[0].round(2)
    array([2.  , 0.67, 0.67, 0.67])
    """
    size = np.bincount(y, weights=weight)
    factor = size.sum() / (size.shape[0] * size) if balance else np.ones(size.shape[0])
    return weight * factor[y], ridge * size[y] / size.sum() / weight


def class_prior(y: Codes, weight: FloatArray, *, balance: bool) -> FloatArray:
    """Share of each class of the weight, or the same for all."""
    size = np.bincount(y, weights=weight).astype(np.float64, copy=False)
    return np.full(size.size, 1.0 / size.size) if balance else size / size.sum()
