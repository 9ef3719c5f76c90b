"""Stepwise least squares: the column with the best partial F test enters, one that is no longer needed leaves."""

from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from tamis.base.moments import divide
from tamis.base.types import FloatArray, Matrix
from tamis.subsets.correlations import Pearson
from tamis.subsets.least_squares import PERFECT, LeastSquares
from tamis.trees.rows import counted

#: A singular value of the scaled targets below this one is rounding.
_DEPENDENT = 1e-10

#: Statistics whose relative difference is smaller are equal: the number of the column decides, and not rounding.
_EQUAL = 1e-9


class Step(NamedTuple):
    """A step of the search: a column, whether it enters or leaves, its partial F and the p-value."""

    column: int
    enters: bool
    f: float
    p: float


class StepwiseModel(NamedTuple):
    """The end of a search: the columns as they entered, all steps, and the partial F and p-value of every column."""

    columns: np.ndarray
    steps: list[Step]
    f: FloatArray
    p: FloatArray


def stepwise_search(
    X: Matrix,
    targets: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    p_enter: float,
    p_remove: float,
    k: int | None = None,
) -> StepwiseModel:
    """Search for a linear model of one target or several, numbers or indicators of classes.

    Parameters
    ----------
    X : array or CSR/CSC matrix of shape (n_rows, n_features)
        Numbers without missing values.
    targets : array of shape (n_rows, n_targets)
        A target that is constant, or a combination of others, does not count: indicators of all classes may be given.
    sample_weight : array of shape (n_rows,), optional
        A row of weight 2 counts as two rows.
    p_enter, p_remove : float
        Largest p-value at which a column enters, and above which it leaves.
    k : int, optional
        The most columns.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> found = stepwise_search(X, X[:, [2]] - 2 * X[:, [0]], p_enter=0.05, p_remove=0.1)
    >>> found.columns, found.p.round(2)
    (array([0, 2]), array([0., 1., 0., 1.]))
    """
    X, rows, weight = counted(X, np.arange(X.shape[0]), sample_weight)
    numbers, independent = Pearson(X, weight, "stepwise"), _independent(targets[rows], weight)
    fit = LeastSquares(numbers, numbers.with_targets(independent))
    columns: list[int] = []
    steps: list[Step] = []
    seen: set[frozenset[int]] = set()
    while True:
        f, p, new = _tests(fit, float(weight.sum()))
        enters = False
        column = None if not columns else _first(np.sort(columns), -f)
        if column is not None and p[column] > p_remove:
            columns.remove(column)
        else:
            enters = True
            column = None if len(columns) == k else _first(new, f)
            # Each set fits better than the last one of its size, so that none comes twice unless rounding decides.
            if column is None or p[column] > p_enter or frozenset([*columns, column]) in seen:
                return StepwiseModel(np.array(columns, dtype=np.intp), steps, f, p)
            columns.append(column)
            seen.add(frozenset(columns))
        steps.append(Step(column, enters, float(f[column]), float(p[column])))
        fit.move(np.array(columns, dtype=np.intp))


def _independent(targets: FloatArray, weight: FloatArray) -> FloatArray:
    """Orthonormal combinations of the centred targets; Wilks' lambda is the same for all of them."""
    root = np.sqrt(weight)[:, None]
    centred = (targets - weight @ targets / weight.sum()) * root
    # A constant leaves rounding, which must not become a target.
    length, size = np.sqrt((centred**2).sum(axis=0)), np.sqrt(((targets * root) ** 2).sum(axis=0))
    unit = centred * divide(1.0, np.where(length > _DEPENDENT * size, length, 0.0))
    basis, values, _ = np.linalg.svd(unit, full_matrices=False)
    found: FloatArray = basis[:, values > _DEPENDENT] / root
    return found


def _tests(fit: LeastSquares, n: float) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Partial F of every column, of leaving or of entering the model, its p-value, and the columns that may enter."""
    m, n_features = fit.targets.shape
    f, p = np.zeros(n_features), np.ones(n_features)
    # The residuals of the targets; a target that is fitted without error counts as left by the smallest share.
    values, vectors = np.linalg.eigh(np.eye(m) - fit.solved @ fit.solved.T)
    root = np.sqrt(np.maximum(values, PERFECT))[:, None]
    half = vectors.T / root
    outside = np.delete(np.arange(n_features), fit.used)
    new = outside[fit.adds(outside)]
    freedom = n - fit.used.size - m
    if m and fit.used.size:
        coef, inverse = fit.coefficients()
        f[fit.used] = ((half @ coef) ** 2).sum(axis=0) / inverse * freedom / m
        p[fit.used] = fdtrc(m, freedom, f[fit.used])
    if not m or freedom <= 1:
        return f, p, new[:0]
    gain = (half @ fit.rest(new)) ** 2 / fit.left[new]
    # Wilks' lambda, not below that of the smallest share: rounding must not rank the columns that make a fit perfect.
    ratio = np.clip(np.maximum(1.0 - gain.sum(axis=0), PERFECT * (gain / root**2).sum(axis=0)), None, 1.0)
    f[new] = (1.0 - ratio) / ratio * (freedom - 1) / m
    p[new] = fdtrc(m, freedom - 1, f[new])
    return f, p, new


def _first(columns: np.ndarray, values: FloatArray) -> int | None:
    """The column with the largest value; of equals the first."""
    if not columns.size:
        return None
    most = values[columns].max()
    return int(columns[values[columns] >= most - _EQUAL * abs(most)][0])
