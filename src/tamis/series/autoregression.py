"""The coefficients of an autoregression of each variable of an item, as a row of a table."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray
from tamis.series.correlation import Table
from tamis.series.running import is_constant

#: Directions of the past in which it varies less than this share are rounding.
_NOISE = 1e-12


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
        values = np.asarray(item, dtype=np.float64, order="C").T
        known = ~np.isnan(values)
        count = known.sum(axis=1)
        mean = np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1)
        z = values - mean[:, None]
        constant = is_constant((np.where(known, z, 0.0) ** 2).sum(axis=1), mean, count)
        undefined[number] = constant.sum() if z.shape[1] > order else z.shape[0]
        if z.shape[1] > order:
            rows[number] = np.where(constant[:, None], 0.0, _coefficients(z, order))
    return Table(rows.reshape(len(items), -1), order * undefined)


def _coefficients(z: FloatArray, order: int) -> FloatArray:
    """Of series without their means, one a row."""
    windows = np.lib.stride_tricks.sliding_window_view(z, order + 1, axis=1)
    # Forward the last value of a window follows from those before it, backward the first from those behind it.
    both = np.concatenate([windows[:, :, ::-1], windows], axis=1)
    equations = np.where(np.isnan(both).any(axis=2, keepdims=True), 0.0, both)
    # The triangle of a QR decomposition has the accuracy of the equations themselves, unlike their products.
    q, r = np.linalg.qr(equations[:, :, 1:])
    found: FloatArray = (np.linalg.pinv(r, rcond=_NOISE) @ (q.swapaxes(1, 2) @ equations[:, :, :1]))[:, :, 0]
    return found
