"""The correlations of the variables within an item, as a row of a table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.base.types import FloatArray
from tamis.series.running import RunningCorrelations, is_constant


class Table(NamedTuple):
    """A row for each item, and how many of its values were undefined and are 0."""

    rows: FloatArray
    undefined: np.ndarray


def correlation_rows(items: Sequence[FloatArray]) -> Table:
    """The upper triangle of the correlation matrix of every item, pairs 1-2, 1-3, ..., 2-3, ...

    Each pair is correlated over the time points at which both variables are known; where one of them is constant there,
    or fewer than two points are known, the correlation is undefined and 0 stands for it.

    Examples
    --------
    >>> correlation_rows([np.array([[1.0, 2.0, 5.0], [2.0, 4.0, 5.0], [3.0, 5.0, 5.0]])])
    Table(rows=array([[0.98198051, 0.        , 0.        ]]), undefined=array([2]))
    """
    n_variables = items[0].shape[1]
    upper = np.triu_indices(n_variables, 1)
    rows, undefined = np.empty((len(items), upper[0].size)), np.empty(len(items), dtype=np.int64)
    for number, item in enumerate(items):
        # A constant variable has deviations of exactly 0 from its first value, and so from its mean.
        deviations = np.subtract(item, item[0], dtype=np.float64)
        mean = np.ones(len(item)) @ deviations / len(item)
        if np.isnan(mean).any():
            stream = RunningCorrelations(n_variables).update(item)
            rows[number], undefined[number] = stream.pairs(), stream.undefined
            continue
        deviations -= mean
        products = deviations.T @ deviations
        scatter = products.diagonal()
        constant = is_constant(scatter, item[0] + mean, float(len(item)))
        length = np.sqrt(np.where(constant, np.inf, scatter))
        rows[number] = np.clip(products / length / length[:, None], -1.0, 1.0)[upper]
        undefined[number] = (constant[upper[0]] | constant[upper[1]]).sum()
    return Table(rows, undefined)
