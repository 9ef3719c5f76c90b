"""Quick scores of all columns of a data set, by the score that suits it."""

import numpy as np

from tamis.base.errors import DataError
from tamis.base.types import FloatArray
from tamis.compose.catalog import score_for
from tamis.data.dataset import Dataset

#: Rows up to which any number of classes is accepted.
_FEW_ROWS = 20


def scores(data: Dataset) -> tuple[str, FloatArray]:
    """The name of a score and its value for every column, on all labelled rows.

    The score is another one for nominal columns and missing values. Without a target to score by, or with infinite
    values, the name is empty and the values are NaN.
    """
    nothing = "", np.full(data.n_features, np.nan)
    if data.task == "classify" and not has_classes(data):
        return nothing
    score = score_for("mixed_association" if data.nominal.any() or data.n_missing else "association", data.task)
    try:
        return score.name, score(data.X, data.y, task=data.task)
    except DataError:
        return nothing


def best(data: Dataset, most: int) -> np.ndarray:
    """The columns in order; where there are more than `most`, those with the best scores."""
    if data.n_features <= most:
        return np.arange(data.n_features)
    return np.sort(np.argsort(-scores(data)[1], kind="stable")[:most])


def has_classes(data: Dataset) -> bool:
    """Whether the labels are two classes or more, and not numbers to predict or names of the rows."""
    y, n = data.y, data.n_rows
    if n == 0 or (y.dtype.kind == "f" and bool((y != np.round(y)).any())):
        return False
    classes = data.classes.size
    return classes >= 2 and (n <= _FEW_ROWS or classes <= n // 2)
