"""Which of the original columns a fitted model uses, and which a selector inside it selects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.regressor import Regressor
from tamis.base.types import Mask


def used_features(model: Any, n_features: int) -> Mask | None:
    """Mask of the input columns that a fitted model uses, or None where they cannot be traced.

    The steps of a pipeline are followed from the input on: a step with ``get_support`` selects, a step with
    ``origins_`` (the input column of each output column) is followed back, a one-to-one step passes all on. Any other
    transform mixes columns, so all that reach it count as used. A model with a mask ``used_``, such as a tree, uses
    those columns; a committee, a model of ours with ``estimators_``, uses those of its members. None is
    returned when a step refers to other columns than those that reach it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> used_features(make_pipeline(StandardScaler(), Ranking(k=1), GaussianNB()).fit(X, [0, 0, 1, 1]), 3)
    array([False,  True, False])
    """
    used = Track(np.arange(n_features)).after(model).origins
    return None if used is None else mask_of(used, n_features)


def mask_of(columns: Any, n_features: int) -> Mask:
    """Mask of the columns with these numbers."""
    used = np.zeros(n_features, dtype=bool)
    used[columns] = True
    return used


def trace_columns(model: Any, n_features: int) -> np.ndarray | None:
    """The input column of each column that leaves a fitted transform, or a pipeline of them.

    None when columns are mixed on the way, or when a step refers to other columns than those that reach it.

    Examples
    --------
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> trace_columns(Ranking(k=1).fit(X, [0, 0, 1, 1]), 3)
    array([1])
    """
    track = Track(np.arange(n_features)).after(model)
    return track.origins if track.distinct else None


@dataclass(frozen=True, eq=False)
class Track:
    """Which input columns reach a point of a chain of fitted steps."""

    #: The input column of each column at that point; None once they cannot be traced.
    origins: np.ndarray | None
    #: Whether the columns are still distinct there; if not, `origins` are the input columns in use.
    distinct: bool = True

    def narrowed(self, support: Mask) -> "Track":
        """The track behind a selection among the columns there."""
        return Track(self.origins[support]) if self.origins is not None and self.distinct else self

    def after(self, step: Any) -> "Track":
        """The track behind one more fitted step, or a pipeline of them."""
        if self.origins is None or not self.distinct:
            return self
        try:
            return Track(*_follow(step, self.origins))
        except _LostTrackError:
            return Track(None)


class _LostTrackError(Exception):
    """A step refers to other columns than those that reach it."""


def _follow(step: Any, origins: np.ndarray) -> tuple[np.ndarray, bool]:
    """The input column of each column that leaves a step, and whether columns are still distinct there."""
    if step is None or step == "passthrough":
        return origins, True
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            origins, distinct = _follow(inner, origins)
            if not distinct:
                return origins, False
        return origins, True
    if isinstance(step, FrozenEstimator):
        return _follow(step.estimator, origins)
    if hasattr(step, "best_estimator_"):
        return _follow(step.best_estimator_, origins)
    selects = hasattr(step, "get_support")
    if hasattr(step, "origins_") and not selects:
        sources = np.asarray(step.origins_)
        if sources.size and sources.max() >= origins.size:
            raise _LostTrackError
        return origins[sources], True
    if selects or hasattr(step, "used_"):
        mask = np.asarray(step.get_support() if selects else step.used_)
        if mask.shape != origins.shape:
            raise _LostTrackError
        return origins[mask], selects
    if isinstance(step, Classifier | Regressor) and hasattr(step, "estimators_"):
        return np.unique(np.concatenate([_follow(member, origins)[0] for member in step.estimators_])), False
    return origins, isinstance(step, OneToOneFeatureMixin)


@dataclass(frozen=True)
class SelectedColumns:
    """The input columns that a selector selects: their mask, and those that reached it, best first, if it ranks."""

    support: Mask
    order: np.ndarray | None

    @property
    def full_order(self) -> np.ndarray:
        """All columns, best first: selected ones first without a ranking, columns that never reached it last.

        Examples
        --------
        >>> unranked = SelectedColumns(np.array([False, True, False]), None)
        >>> unranked.full_order, SelectedColumns(np.zeros(3, bool), np.array([2, 0])).full_order
        (array([1, 0, 2]), array([2, 0, 1]))
        """
        if self.order is None:
            return np.argsort(~self.support, kind="stable")
        return np.concatenate([self.order, np.setdiff1d(np.arange(self.support.shape[0]), self.order)])

    @property
    def places(self) -> np.ndarray:
        """Place of each column in the ranking, from 0 on; columns that never reached the selector come last."""
        places = np.full(self.support.shape[0], self.support.shape[0])
        if self.order is not None:
            places[self.order] = np.arange(self.order.shape[0])
        return places


def check_selector(model: Any, who: str) -> None:
    """Refuse what is neither a selector nor a pipeline that ends in one; `who` begins the message."""
    steps = steps_of(model)
    if not steps or not hasattr(steps[-1], "get_support") or not hasattr(model, "fit"):
        got = " ".join(repr(model).split())
        raise TamisError(f"{who} must be a selector or a pipeline that ends in one; got {got}")


def selected_columns(model: Any, n_features: int, who: str) -> SelectedColumns:
    """The columns that a fitted selector, or a pipeline that ends in one, selects; `who` begins the error message.

    A column that reaches the selector in several copies is selected when one of them is, and ranks as the best.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> selected_columns(make_pipeline(StandardScaler(), Ranking(k=1)).fit(X, [0, 0, 1, 1]), 3, "vote")
    SelectedColumns(support=array([False,  True, False]), order=array([1, 0, 2]))
    """
    *front, last = steps_of(model)
    reaching = trace_columns(Pipeline([(f"step {i}", step) for i, step in enumerate(front)]), n_features)
    support = np.asarray(last.get_support())
    if reaching is None or support.shape != reaching.shape:
        raise TamisError(
            f"{who}: the columns selected by {' '.join(repr(model).split())} cannot be traced back to the input; "
            "a step before the selector mixes them"
        )
    mask = mask_of(reaching[support], n_features)
    if not hasattr(last, "order_"):
        return SelectedColumns(mask, None)
    ordered, first = np.unique(reaching[last.order_], return_index=True)
    return SelectedColumns(mask, ordered[np.argsort(first)])


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline, flattened and without "passthrough"; a lone estimator is one step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> len(steps_of(make_pipeline(make_pipeline(StandardScaler(), "passthrough"), StandardScaler())))
    2
    """
    if isinstance(model, Pipeline):
        return [inner for _, step in model.steps for inner in steps_of(step)]
    return [] if model is None or model == "passthrough" else [model]
