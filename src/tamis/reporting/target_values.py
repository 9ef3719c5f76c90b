"""The numbers of a target: their range, spread, outliers and ties."""

from typing import Any

import numpy as np

from tamis.data.dataset import Dataset
from tamis.reporting.numeric_answer import target_name
from tamis.validation.json_values import plain

#: Most bins of the histogram.
_BINS = 30


def target_values(data: Dataset) -> dict[str, Any] | None:
    """The numbers of the target of some rows; None without rows.

    Returns
    -------
    dict or None
        ``name``; ``lowest``, ``first``, ``median``, ``third`` (the quartiles), ``highest``, ``mean``, ``deviation``;
        ``outliers`` (rows beyond 1.5 interquartile ranges from the quartiles; None where the quartiles are the same),
        ``distinct`` (values), ``common`` (the most frequent ``value`` and its ``rows``, None where no two rows have
        one), ``edges`` and ``counts`` of a histogram.

    Examples
    --------
    >>> y = np.array([0.0, 0.0, 1.5, 2.0, 2.5, 30.0])
    >>> found = target_values(Dataset(np.ones((6, 1)), y, np.array(["u"]), target="weight", task="regress"))
    >>> found["name"], found["outliers"], found["common"]
    ('weight', 1, {'value': 0.0, 'rows': 2})
    """
    y = np.asarray(data.y, dtype=np.float64)
    if not y.size:
        return None
    first, median, third = np.percentile(y, [25, 50, 75]).tolist()
    reach = 1.5 * (third - first)
    beyond = int(((y < first - reach) | (y > third + reach)).sum()) if reach > 0 else None
    values, rows = np.unique(y, return_counts=True)
    most = int(rows.argmax())
    counts, edges = np.histogram(y, bins=int(np.clip(np.sqrt(y.size), 5, _BINS)))
    found: dict[str, Any] = plain(
        {
            "name": target_name(data),
            "lowest": values[0],
            "first": first,
            "median": median,
            "third": third,
            "highest": values[-1],
            "mean": y.mean(),
            "deviation": y.std(),
            "outliers": beyond,
            "distinct": values.size,
            "common": {"value": values[most], "rows": rows[most]} if rows[most] > 1 else None,
            "edges": edges,
            "counts": counts,
        }
    )
    return found
