"""The coefficients of an autoregression of each variable of an item, as a row of a table."""

from collections.abc import Sequence
from itertools import combinations_with_replacement

import numpy as np

from tamis.base.types import FloatArray
from tamis.series.correlation import Table
from tamis.series.running import is_constant, known_means

#: Directions of the past in which it varies less than this share are rounding.
_NOISE = 1e-12

#: Ratio of the eigenvalues of the products of lags from which on they have enough digits.
_WELL = 1e-5


def autoregression_rows(items: Sequence[FloatArray], order: int) -> Table:
    """The coefficients of each variable on its own last `order` values, by forward-backward least squares.

    With z the deviations of a variable from its mean over the item, the coefficients a minimise

        sum_t (z_t - sum_k a_k z_{t-k})^2 + sum_t (z_t - sum_k a_k z_{t+k})^2,

    the modified covariance method. Of several solutions the shortest is taken. Equations with a missing value are left
    out; a constant variable, and one without any equation, gets zeros.

    Examples
    --------
    >>> waves = np.cos(np.outer(np.arange(40), [0.3, 0.7]))
    >>> autoregression_rows([waves - waves.mean(axis=0)], 2).rows.round(2)
    array([[ 1.91, -1.  ,  1.53, -1.  ]])
    """
    rows = np.zeros((len(items), items[0].shape[1], order))
    undefined = np.zeros(len(items), dtype=np.int64)
    for number, item in enumerate(items):
        values = np.asarray(item, dtype=np.float64, order="C")
        known = ~np.isnan(values)
        mean, count = known_means(values, known), known.sum(axis=0)
        z, known = np.ascontiguousarray((values - mean).T), known.T
        constant = is_constant((np.where(known, z, 0.0) ** 2).sum(axis=1), mean, count)
        undefined[number] = constant.sum() if z.shape[1] > order else z.shape[0]
        if z.shape[1] > order:
            rows[number] = np.where(constant[:, None], 0.0, _coefficients(z, order))
    return Table(rows.reshape(len(items), -1), order * undefined)


def _coefficients(z: FloatArray, order: int) -> FloatArray:
    """Of series without their means, one a row."""
    products = _lagged_products(z, order)
    # Forward the value at lag 0 follows from lags 1 to p, backward that at lag p from lags p - 1 to 0.
    system = products[:, 1:, 1:] + products[:, -2::-1, -2::-1]
    right = products[:, 1:, 0] + products[:, -2::-1, -1]
    length = np.sqrt(np.maximum(system.diagonal(axis1=1, axis2=2), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(system / (length[:, :, None] * length[:, None, :]))
    # Of smooth series the products lose the digits that tell the lags apart: these need the equations themselves.
    well = values[:, 0] > _WELL * values[:, -1]
    inner = np.einsum("vij,vi->vj", vectors, right / length) / np.where(well[:, None], values, 1.0)
    found: FloatArray = np.einsum("vij,vj->vi", vectors, inner) / length
    if not well.all():
        found[~well] = _by_equations(z[~well], order)
    return found


def _lagged_products(z: FloatArray, order: int) -> FloatArray:
    """Sums over all windows without missing values of the products of two lags, of shape (series, lags, lags)."""
    n = z.shape[1] - order
    missing = np.isnan(z)
    lags = [z[:, order - lag : order - lag + n] for lag in range(order + 1)]
    if missing.any():
        whole = ~np.any([missing[:, order - lag : order - lag + n] for lag in range(order + 1)], axis=0)
        lags = [np.where(whole, one, 0.0) for one in lags]
    products = np.empty((z.shape[0], order + 1, order + 1))
    for i, j in combinations_with_replacement(range(order + 1), 2):
        products[:, i, j] = products[:, j, i] = np.einsum("vt,vt->v", lags[i], lags[j])
    return products


def _by_equations(z: FloatArray, order: int) -> FloatArray:
    """The coefficients by a QR decomposition of the equations, the shortest where there are several."""
    windows = np.lib.stride_tricks.sliding_window_view(z, order + 1, axis=1)
    both = np.concatenate([windows[:, :, ::-1], windows], axis=1)
    equations = np.where(np.isnan(both).any(axis=2, keepdims=True), 0.0, both)
    q, r = np.linalg.qr(equations[:, :, 1:])
    found: FloatArray = (np.linalg.pinv(r, rcond=_NOISE) @ (q.swapaxes(1, 2) @ equations[:, :, :1]))[:, :, 0]
    return found
