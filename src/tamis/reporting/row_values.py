"""The values of the best features in the rows: as a heat map, and two features against each other."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import average, leaves_list
from scipy.spatial.distance import pdist

from tamis.base.types import Codes, FloatArray
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.sampled_rows import sampled
from tamis.validation.json_values import plain

#: Rows and features of the heat map, and deviations beyond which all values look the same.
_ROWS, _FEATURES, _DEVIATIONS = 200, 40, 3.0

#: Features that are drawn against each other, and rows drawn.
_PAIRED, _POINTS = 4, 500


def heat(data: Dataset, codes: Codes, columns: np.ndarray) -> dict[str, Any] | None:
    """The first 40 numeric columns of at most 200 rows, each in units of its deviations from its mean.

    Rows of a class stand together, ordered within it as the leaves of a tree of average linkage; so are the columns.
    Values beyond three deviations are cut; missing and infinite ones are None.

    Returns
    -------
    dict or None
        ``names``, ``values`` (a list for each name), ``class`` (its code) and ``row`` (its number from 1) for each
        value in the list, ``shown`` rows ``of`` all. None for fewer than two features or rows.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [9.0, 1.0], [1.0, 4.0], [8.0, 0.0]])
    >>> data = Dataset(X, np.array(["a", "b", "a", "b"]), np.array(["u", "v"]))
    >>> heat(data, np.array([0, 1, 0, 1]), np.array([0, 1]))["class"]
    [0, 0, 1, 1]
    """
    shown = sampled(codes, _ROWS)

    def order(filled: FloatArray) -> np.ndarray:
        return np.concatenate([own[_leaves(filled[own])] for own in _members(codes[shown])])

    return _heat(data, columns, shown, order, **{"class": codes})


def value_heat(data: Dataset, strata: Codes, columns: np.ndarray) -> dict[str, Any] | None:
    """The same by the target, the lowest first: ``value`` takes the place of ``class``."""
    shown = sampled(strata, _ROWS)
    return _heat(data, columns, shown, lambda _: np.argsort(data.y[shown], kind="stable"), value=data.y)


def _heat(
    data: Dataset, columns: np.ndarray, shown: np.ndarray, order: Callable[[FloatArray], np.ndarray], **of_rows: Any
) -> dict[str, Any] | None:
    columns = _numeric(data, columns)[:_FEATURES]
    if columns.size < 2 or shown.size < 2:
        return None
    values = _standardised(numbers(data, columns)[shown])
    filled = np.nan_to_num(values)
    across, down = _leaves(filled.T), order(filled)
    return {
        "names": [str(name) for name in data.feature_names[columns[across]].tolist()],
        "values": plain(values[np.ix_(down, across)].T.round(2)),
        **{name: plain(known[shown][down]) for name, known in of_rows.items()},
        "row": plain(shown[down] + 1),
        "shown": int(shown.size),
        "of": data.n_rows,
    }


def pairs(data: Dataset, strata: Codes, columns: np.ndarray, **of_rows: np.ndarray) -> dict[str, Any] | None:
    """The values of the first four numeric columns in at most 500 rows; None for fewer than two columns.

    `strata` are codes of the rows, of each of which rows are drawn in its proportion; `of_rows` is what else is known
    of the rows.

    Returns
    -------
    dict or None
        ``names``, ``values`` (a list for each name), what is known of the rows under its name, ``row``, ``shown``,
        ``of``, as for :func:`heat`.
    """
    columns = _numeric(data, columns)[:_PAIRED]
    shown = sampled(strata, _POINTS)
    if columns.size < 2 or shown.size < 2:
        return None
    values = numbers(data, columns)[shown]
    values[~np.isfinite(values)] = np.nan
    return {
        "names": [str(name) for name in data.feature_names[columns].tolist()],
        "values": [[None if np.isnan(one) else float(f"{one:.5g}") for one in own] for own in values.T.tolist()],
        **{name: plain(known[shown]) for name, known in of_rows.items()},
        "row": plain(shown + 1),
        "shown": int(shown.size),
        "of": data.n_rows,
    }


def _numeric(data: Dataset, columns: np.ndarray) -> np.ndarray:
    own = np.asarray(columns, dtype=np.intp)
    own = own[own < data.n_features]
    return own[~data.nominal[own]]


def _standardised(values: FloatArray) -> FloatArray:
    """Deviations from the mean of the known values, cut at three; zero for a constant."""
    known = np.isfinite(values)
    # Squares of large numbers would overflow.
    largest = np.abs(values).max(axis=0, initial=0.0, where=known)
    scaled = np.where(known, values / np.where(largest > 0, largest, 1.0), 0.0)
    n = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, scaled - scaled.sum(axis=0) / n, 0.0)
    sd = np.sqrt((centred**2).sum(axis=0) / n)
    found = np.where(sd > 1e-14, centred / np.where(sd > 1e-14, sd, 1.0), 0.0).clip(-_DEVIATIONS, _DEVIATIONS)
    return np.where(known, found, np.nan)


def _members(codes: Codes) -> list[np.ndarray]:
    return [np.flatnonzero(codes == c) for c in np.unique(codes).tolist()]


def _leaves(points: FloatArray) -> np.ndarray:
    """The order of the leaves when rows of a matrix are clustered by average linkage."""
    if points.shape[0] < 3:
        return np.arange(points.shape[0])
    return np.asarray(leaves_list(average(pdist(points))))
