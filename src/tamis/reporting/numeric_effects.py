"""The effect of a feature on a target of numbers: whether the target rises or falls with it, or at which level."""

from collections.abc import Sequence
from math import atanh, sqrt, tanh
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t as student

from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers

#: Features examined, and most levels of a nominal one.
_FEATURES, _LEVELS = 60, 200

#: Deviations below this are rounding errors.
_ROUNDING = 1e-14

#: Standard errors to each side of the mean that hold 95 % of a normal distribution.
_REACH = 1.959963984540054


def numeric_effects(data: Dataset, columns: Sequence[int] | np.ndarray) -> list[dict[str, Any] | None]:
    """The effect of each of the first 60 columns on the numbers of the target, on all rows.

    A numeric column has its correlation with the target, with Fisher's interval. A nominal column has the level at
    which the mean of the target differs most from that at all other levels by Welch's t, in standard deviations of the
    target, with Welch's interval. Missing and infinite values are left out.

    Returns
    -------
    list of (dict or None)
        ``class`` (None, as there are no classes), ``level`` (None if numeric), ``size`` (above zero where the target is
        higher), ``low`` and ``high``. None for a column with nothing to compare, such as a constant.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 2.0, 1.0, 3.5, 4.0])
    >>> (found,) = numeric_effects(Dataset(X, y, np.array(["u"]), task="regress"), [0])
    >>> round(found["size"], 3), found["level"]
    (0.898, None)
    """
    shown = np.asarray(columns, dtype=np.intp)[:_FEATURES]
    nominal, y = data.nominal, _scaled(np.asarray(data.y, dtype=np.float64))
    numeric = shown[~nominal[shown]]
    values = dict(zip(numeric.tolist(), numbers(data, numeric).T, strict=True))
    return [
        _nominal(data.X.to_series(column), y) if nominal[column] else _numeric(values[column], y)
        for column in shown.tolist()
    ]


def _scaled(values: FloatArray) -> FloatArray:
    """Values in units of their deviation from their mean; sums of large numbers would overflow. Zeros of a constant."""
    values = values / (np.abs(values).max(initial=0.0) or 1.0)
    values = values - (values.mean() if values.size else 0.0)
    widest = np.abs(values).max(initial=0.0)
    if widest <= _ROUNDING:
        return np.zeros(values.size)
    values = values / widest
    return values / values.std()


def _numeric(values: FloatArray, y: FloatArray) -> dict[str, Any] | None:
    known = np.isfinite(values)
    x, target = _scaled(values[known]), _scaled(y[known])
    if x.size < 4 or not x.any() or not target.any():
        return None
    r = float(np.clip(x @ target / x.size, -1.0, 1.0))
    reach = _REACH / sqrt(x.size - 3)
    low, high = (r, r) if abs(r) > 1.0 - 1e-12 else (tanh(atanh(r) - reach), tanh(atanh(r) + reach))
    return {"class": None, "level": None, "size": r, "low": low, "high": high}


def _nominal(column: pl.Series, y: FloatArray) -> dict[str, Any] | None:
    known = column.is_not_null().to_numpy()
    levels, places = np.unique(column.drop_nulls().cast(pl.String).to_numpy().astype(object), return_inverse=True)
    if not 2 <= levels.size <= _LEVELS:
        return None
    target = _scaled(y[known])
    n, total, square = (np.bincount(places, w, minlength=levels.size) for w in (None, target, target**2))
    rest = n.sum() - n
    compared = np.flatnonzero((n >= 2) & (rest >= 2))
    if not compared.size or not target.any():
        return None
    n, rest, total, square = n[compared], rest[compared], total[compared], square[compared]
    mean, other = total / n, (target.sum() - total) / rest
    variances = [
        np.maximum(squares - size * means**2, 0.0) / (size - 1) / size
        for squares, size, means in ((square, n, mean), ((target**2).sum() - square, rest, other))
    ]
    se = np.sqrt(variances[0] + variances[1])
    size = mean - other
    best = int(np.argmax(np.abs(size) / np.maximum(se, _ROUNDING)))
    own, others = float(variances[0][best]), float(variances[1][best])
    freedom = (own + others) ** 2 / max(own**2 / (n[best] - 1) + others**2 / (rest[best] - 1), _ROUNDING**2)
    reach = float(student.ppf(0.975, max(freedom, 1.0)) * se[best])
    found = float(size[best])
    level = str(levels[compared[best]])
    return {"class": None, "level": level, "size": found, "low": found - reach, "high": found + reach}
