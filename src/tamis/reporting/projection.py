"""The rows in two dimensions: the first two principal components of some columns."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.parallel import one_thread
from tamis.base.types import Codes
from tamis.compose.catalog import part_for
from tamis.data.dataset import Dataset
from tamis.data.numeric_columns import numbers
from tamis.reporting.sampled_rows import sampled
from tamis.validation.json_values import plain

#: Most rows drawn, most values of them in a dense matrix, and rows that are drawn in any case.
_ROWS, _VALUES, _LEAST = 3000, 10_000_000, 300

#: Columns of the projection when it is not known which are used.
COLUMNS = 200


def projection(data: Dataset, strata: Codes, columns: np.ndarray, **of_rows: np.ndarray) -> dict[str, Any] | None:
    """The first two principal components of the standardised numeric columns; None where there is nothing to project.

    Parameters
    ----------
    data : Dataset
    strata : int array
        Codes 0, 1, ... of the rows; at most 3000 rows are drawn, of each in its proportion.
    columns : int array
    of_rows : arrays with a value a row
        What else is known of the rows.

    Returns
    -------
    dict or None
        ``x``, ``y``, what is known of the rows under its name, ``row``, ``explained`` (shares of the variance),
        ``shown`` rows ``of`` all.

    Examples
    --------
    >>> data = Dataset(np.arange(8.0).reshape(4, 2), np.array(["a", "a", "b", "b"]), np.array(["u", "v"]))
    >>> projection(data, np.zeros(4, dtype=int), np.arange(2))["explained"]
    [1.0, 0.0]
    """
    columns = np.asarray(columns, dtype=np.intp)
    columns = columns[columns < data.n_features]
    columns = columns[~data.nominal[columns]]
    if data.n_rows < 2 or not columns.size:
        return None
    most = _ROWS if data.is_sparse else min(_ROWS, max(_LEAST, _VALUES // columns.size))
    shown = sampled(strata, most)
    part = data.rows(shown)
    X = _finite(part.X[:, columns].tocsr() if data.is_sparse else numbers(part, columns))
    X = part_for("imputation").make(strategy="mean").fit_transform(X)
    X = part_for("feature_scaling").make().fit_transform(X)
    # On a busy machine several threads take longer than one for a small task.
    with one_thread():
        pca = part_for("projection").make(2).fit(X)
    place, explained = np.zeros((shown.size, 2)), np.zeros(2)
    place[:, : pca.n_components_] = pca.transform(X)
    explained[: pca.n_components_] = pca.explained_variance_ratio_
    return {
        "x": plain(place[:, 0].round(4)),
        "y": plain(place[:, 1].round(4)),
        **{name: plain(values[shown]) for name, values in of_rows.items()},
        "row": [f"row {number}" for number in (shown + 1).tolist()],
        "explained": plain(explained.round(6)),
        "shown": int(shown.size),
        "of": data.n_rows,
    }


def _finite(X: Any) -> Any:
    """The rows with missing values in place of infinite ones."""
    values = X.data if sp.issparse(X) else X
    if not np.isinf(values).any():
        return X
    values = np.where(np.isinf(values), np.nan, values)
    return sp.csr_array((values, X.indices, X.indptr), shape=X.shape) if sp.issparse(X) else values
