"""The features that a fitted model uses, with the ranks that its last selector gives them."""

from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track, steps_of, used_features
from tamis.base.meta_estimators import needs_classes
from tamis.base.selector import Selector
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


def by_classes(model: Any, n_features: int) -> bool:
    """Whether a fitted model selects its features by the target of the rows, itself or in a step before the last.

    Examples
    --------
    >>> from tamis.compose.recipe import recipe
    >>> X, y = np.array([[0.0, 5.0], [1.0, 5.0], [8.0, 5.0], [9.0, 6.0]]), [0, 0, 1, 1]
    >>> [by_classes(recipe(text).fit(X, y), 2) for text in ("variance(1) | knn(1)", "cc(1) | knn(1)")]
    [False, True]
    """
    *front, last = steps_of(model)
    if any(needs_classes(step) for step in front) or isinstance(last, Selector):
        return any(needs_classes(step) for step in (*front, last))
    track = Track(np.arange(n_features))
    for step in front:
        track = track.after(step)
    mask = used_features(model, n_features)
    # Without a selection by classes in front, a column is lost in the last step, or does not matter to it.
    return mask is None or track.origins is None or int(mask.sum()) < np.unique(track.origins).size
