"""The features that a fitted model uses, with the ranks that its last selector gives them."""

from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track, used_features
from tamis.compose.chain import to_text
from tamis.data.dataset import Dataset


def selected_features(model: Any, data: Dataset) -> list[dict[str, Any]]:
    """List the features that a model uses, best first if its last selector ranks them, else in column order.

    Parameters
    ----------
    model : estimator
        Fitted on the rows of `data`.
    data : Dataset

    Returns
    -------
    list of dict
        For each feature ``feature`` (its name), ``column``, ``rank`` and ``score`` (None without a ranking), and the
        ``role`` if the data has roles.

    Examples
    --------
    >>> from tamis.compose.recipe import recipe
    >>> data = Dataset.of(np.array([[0.0, 5.0], [1.0, 5.0], [8.0, 5.0], [9.0, 6.0]]), [0, 0, 1, 1])
    >>> [row["column"] for row in selected_features(recipe("cc(1) | knn(1)").fit(data.X, data.y), data)]
    [0]
    """
    mask = used_features(model, data.n_features)
    if mask is None:
        raise TamisError(f"{to_text(model)}: its features cannot be traced back to the columns of the data")
    best: dict[int, tuple[int, float]] = {}
    track = Track(np.arange(data.n_features))
    for step in [step for _, step in model.steps] if hasattr(model, "steps") else [model]:
        if hasattr(step, "get_support") and hasattr(step, "order_") and track.origins is not None and track.distinct:
            # A feature that was made into several columns counts as the best of them.
            best = {}
            for rank, column in enumerate(step.order_.tolist(), start=1):
                best.setdefault(int(track.origins[column]), (rank, float(step.scores_[column])))
        track = track.after(step)
    found = []
    for column in np.flatnonzero(mask).tolist():
        place, score = best.get(column, (None, None))
        role = {} if data.roles is None else {"role": str(data.roles[column])}
        found.append(
            {"feature": str(data.feature_names[column]), "column": column, "rank": place, "score": score, **role}
        )
    return sorted(found, key=lambda row: (row["rank"] is None, row["rank"], row["column"]))
