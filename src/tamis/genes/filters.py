"""The four filters that remove genes which tell nothing, each with its parameter and the number of genes removed."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask
from tamis.base.validation import check_number, check_whole


class Removed(NamedTuple):
    """A filter that was applied.

    Attributes
    ----------
    name : str
        Its condition, with the parameter: "standard deviation >= 2".
    removed : int
        Genes that the filters before it had left and that do not meet the condition.
    """

    name: str
    removed: int


class Cleaned(NamedTuple):
    """What the filters left.

    Attributes
    ----------
    mask : boolean array of shape (n_genes,)
    filters : tuple of Removed
        In the order of their application.
    """

    mask: Mask
    filters: tuple[Removed, ...]


def clean(
    values: FloatArray,
    *,
    min_present: float = 90.0,
    min_sd: float = 2.0,
    min_observations: int | None = None,
    min_value: float = 2.0,
    min_range: float = 2.0,
) -> Cleaned:
    """Keep the genes that are measured, vary, are large enough, and change.

    The filters of Raman and Domeniconi (2005), section 3.2, in order: at least `min_present` percent of the values are
    known; their standard deviation is at least `min_sd`; at least `min_observations` of them have an absolute value
    greater than `min_value`; maximum minus minimum is at least `min_range`. The standard deviation is that of a sample
    (n - 1), of known values; a gene with one known value has none and is removed. No labels are used.

    Parameters
    ----------
    values : array of shape (n_genes, n_columns)
        Intensities, NaN where missing.
    min_present : float, default=90
        In percent.
    min_sd, min_value, min_range : float, default=2
        In the unit of the values. 0 switches `min_sd` and `min_range` off.
    min_observations : int, optional
        By default the number of columns: the paper requires 8 of 8 time points.

    Returns
    -------
    Cleaned

    Examples
    --------
    >>> X = np.array([[9.0, 1.0, 5.0], [5.0, 5.1, 5.2], [9.0, np.nan, 1.0], [9.0, 3.0, 5.0]])
    >>> found = clean(X)
    >>> found.mask.tolist(), [one.removed for one in found.filters]
    ([False, False, False, True], [1, 1, 1, 0])
    """
    check_number("min_present", min_present, 0.0, np.nextafter(100.0, 200.0))
    for name, value in (("min_sd", min_sd), ("min_value", min_value), ("min_range", min_range)):
        check_number(name, value, 0.0, np.inf)
    if min_observations is None:
        min_observations = values.shape[1]
    check_whole("min_observations", min_observations, 0)
    if min_observations > values.shape[1]:
        raise TamisError(f"min_observations must be at most the {values.shape[1]} columns; got {min_observations}")
    known = ~np.isnan(values)
    # Multiplied, since shares such as 9 of 10 are no exact fractions.
    conditions: dict[str, Callable[[], Mask]] = {
        f"known values >= {min_present:g} %": lambda: 100 * known.sum(axis=1) >= min_present * values.shape[1],
        f"standard deviation >= {min_sd:g}": lambda: _sd(values, known) >= min_sd,
        f"absolute value > {min_value:g} at least {min_observations} times": lambda: (
            (np.abs(values) > min_value).sum(axis=1) >= min_observations
        ),
        f"maximum - minimum >= {min_range:g}": lambda: _range(values, known) >= min_range,
    }
    mask, filters = np.ones(values.shape[0], dtype=bool), []
    for name, condition in conditions.items():
        left = mask & condition()
        filters.append(Removed(name, int(mask.sum() - left.sum())))
        mask = left
    return Cleaned(mask, tuple(filters))


def _sd(values: FloatArray, known: Mask) -> FloatArray:
    """Standard deviations of known values; NaN, which meets no condition, where there are fewer than two."""
    count = known.sum(axis=1)
    mean = np.where(known, values, 0.0).sum(axis=1) / np.maximum(count, 1)
    squares = (np.where(known, values - mean[:, None], 0.0) ** 2).sum(axis=1)
    return np.sqrt(np.divide(squares, count - 1, out=np.full(count.size, np.nan), where=count > 1))


def _range(values: FloatArray, known: Mask) -> FloatArray:
    """Maximum minus minimum; minus infinity where nothing is known."""
    high, low = (np.where(known, values, end) for end in (-np.inf, np.inf))
    found: FloatArray = high.max(axis=1) - low.min(axis=1)
    return found
