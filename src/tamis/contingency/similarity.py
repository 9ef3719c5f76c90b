"""How similar two columns are: absolute correlation of numbers, symmetrical uncertainty where one is nominal."""

import numpy as np
from scipy.special import xlogy

from tamis.base.nominal import coded
from tamis.base.types import Codes, FloatArray, Mask
from tamis.contingency.information import mutual_information
from tamis.contingency.states import states
from tamis.contingency.tables import tables
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers

#: Relative rounding error of a sum: a variance below it counts as zero.
_ROUNDING = 1e-12

#: Columns compared at a time.
_BLOCK = 500


def similarity(data: Dataset, columns: np.ndarray, others: np.ndarray) -> FloatArray:
    """Similarity of some columns and others, from 0 to 1: 1 where each tells all of the other.

    Two numeric columns have their absolute correlation, a nominal column and any other their symmetrical uncertainty
    (:func:`symmetrical_uncertainty`), both over rows in which both are known. A constant column has none.

    Parameters
    ----------
    data : Dataset
    columns, others : int arrays

    Returns
    -------
    array of shape (len(columns), len(others))

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 2.0], [2.0, 1.0, 4.0], [3.0, 1.0, 6.0], [4.0, 0.0, 8.0]])
    >>> similarity(Dataset.of(X, [0, 0, 1, 1]), np.array([0]), np.array([1, 2]))
    array([[0., 1.]])
    """
    found = np.zeros((columns.size, others.size))
    nominal = data.nominal
    own, numeric = ~nominal[columns], np.flatnonzero(~nominal[others])
    if own.any():
        matrix = numbers(data, columns[own])
        for block in np.array_split(numeric, -(-numeric.size // _BLOCK) or 1):
            found[np.ix_(own, block)] = correlation(matrix, numbers(data, others[block]))
    if nominal[columns].any() or nominal[others].any():
        which = np.unique(np.concatenate([columns, others]))
        matrix, text, _ = coded(data.X[:, which.tolist()])
        place = np.searchsorted(which, others)
        for i, column in enumerate(np.searchsorted(which, columns)):
            mixed = np.arange(others.size) if text[column] else np.flatnonzero(text[place])
            if mixed.size:
                codes = states(matrix[:, [column]], nominal=text[[column]]).codes
                assert codes is not None
                wanted = place[mixed]
                found[i, mixed] = symmetrical_uncertainty(codes[0], matrix[:, wanted], text[wanted])
    return found


def correlation(X: FloatArray, Z: FloatArray) -> FloatArray:
    """Absolute Pearson correlation of each column of X and each of Z, over rows in which both are finite.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    >>> correlation(X, np.array([[-1.0, 5.0], [-2.0, 5.0], [-3.0, 5.0], [7.0, 6.0]]))
    array([[1., 0.]])
    """
    (x, known_x), (z, known_z) = _standard(X), _standard(Z)
    pairs = np.maximum(known_x.T @ known_z, 1.0)
    total_x, total_z = x.T @ known_z, known_x.T @ z
    covariance = x.T @ z - total_x * total_z / pairs
    variance_x = (x**2).T @ known_z - total_x**2 / pairs
    variance_z = known_x.T @ z**2 - total_z**2 / pairs
    for variance in (variance_x, variance_z):
        variance[variance <= _ROUNDING * pairs] = np.inf
    found: FloatArray = np.minimum(np.abs(covariance) / np.sqrt(variance_x * variance_z), 1.0)
    return found


def _standard(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Each column with mean 0 and deviation 1, 0 where it is not finite, and 1 where it is."""
    known = np.isfinite(X)
    counted = known.astype(np.float64)
    own = np.maximum(counted.sum(axis=0), 1.0)
    X = np.where(known, X, 0.0)
    # Scaled first, as squares of very large numbers overflow.
    X = X / np.where((size := np.abs(X).max(axis=0, initial=0.0)) > 0, size, 1.0)
    X = np.where(known, X - X.sum(axis=0) / own, 0.0)
    deviation = np.sqrt((X**2).sum(axis=0) / own)
    return X / np.where(deviation > _ROUNDING, deviation, np.inf), counted


def symmetrical_uncertainty(codes: Codes, X: FloatArray, nominal: Mask) -> FloatArray:
    """Symmetrical uncertainty of a column of states and each column of X, over rows in which both are known.

    With the mutual information I of two columns and their entropies H it is

        2 I(f, g) / (H(f) + H(g)).

    Numeric columns are cut into states (:func:`tamis.contingency.states.states`).

    Parameters
    ----------
    codes : int array of shape (n_rows,)
        States 0, 1, ..., -1 where missing.
    X : array of shape (n_rows, n_columns)
        Nominal columns hold the codes of their levels; NaN is missing.
    nominal : bool array of shape (n_columns,)

    References
    ----------
    Press, Teukolsky, Vetterling and Flannery, "Numerical Recipes in C" (1988), section 14.4.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> symmetrical_uncertainty(np.array([1, 1, 0, 0]), X, np.array([True, True])).round(3)
    array([1., 0.])
    """
    known = codes >= 0
    values = np.zeros(X.shape[1])
    if not known.any():
        return values
    for columns, counts, first in tables(X[known], codes[known].astype(np.intp), nominal=nominal):
        starts = first[:-1]
        both = _entropy(np.add.reduceat(counts, starts, axis=1).T)
        states_of = counts.sum(axis=0)
        both += [_entropy(part[None])[0] for part in np.split(states_of, starts[1:])]
        values[columns] = np.divide(
            2.0 * mutual_information(counts, first), both, out=np.zeros(both.size), where=both > _ROUNDING
        )
    return np.minimum(values, 1.0)


def _entropy(counts: np.ndarray) -> FloatArray:
    """Entropy, in nats, of each row of counts."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    found: FloatArray = -xlogy(share, share).sum(axis=1)
    return found
