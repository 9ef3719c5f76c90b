"""Which of the original columns a fitted model still looks at, and which a selector inside it selects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.selector import Selector
from tamis.base.types import Mask


def kept(model: Any, n_features: int) -> Mask | None:
    """Mask of the input columns that a fitted model uses.

    The steps of a pipeline are followed from the input on: a step with ``get_support`` narrows, a step with
    ``origins_`` (the input column of each output column) is followed back, a one-to-one step passes all on. Any other
    transform mixes columns, so what reached it counts as used. A classifier with a mask ``used_``, such as a tree, uses
    those columns; a committee, a classifier of ours with ``estimators_``, uses what any of these uses. A model that
    selects nothing uses every column.

    Parameters
    ----------
    model : fitted estimator
    n_features : int
        Columns of the model's input.

    Returns
    -------
    bool array of shape (n_features,), or None
        None when a step speaks of other columns than those that reach it, so that nothing can be said.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> kept(make_pipeline(StandardScaler(), Ranking(k=1), GaussianNB()).fit(X, [0, 0, 1, 1]), 3)
    array([False,  True, False])
    """
    used = Track(np.arange(n_features)).after(model).origins
    if used is None:
        return None
    mask = np.zeros(n_features, dtype=bool)
    mask[used] = True
    return mask


def traced(model: Any, n_features: int) -> np.ndarray | None:
    """The input column of each column that leaves a fitted transform, or a pipeline of them.

    None when columns are mixed on the way, or when a step speaks of other columns than those that reach it.

    Examples
    --------
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> traced(Ranking(k=1).fit(X, [0, 0, 1, 1]), 3)
    array([1])
    """
    track = Track(np.arange(n_features)).after(model)
    return track.origins if track.distinct else None


@dataclass(frozen=True, eq=False)
class Track:
    """Which input columns reach a point of a chain of fitted steps.

    Attributes
    ----------
    origins : int array or None
        The input column of each column at that point; None once nothing can be said.
    distinct : bool
        Whether they can still be told apart there; if not, `origins` are the input columns in use.
    """

    origins: np.ndarray | None
    distinct: bool = True

    def narrowed(self, support: Mask) -> "Track":
        """The same behind a selection among the columns there."""
        return Track(self.origins[support]) if self.origins is not None and self.distinct else self

    def after(self, step: Any) -> "Track":
        """The same behind one more fitted step, or a pipeline of them."""
        if self.origins is None or not self.distinct:
            return self
        try:
            return Track(*_follow(step, self.origins))
        except _LostTrackError:
            return Track(None)


class _LostTrackError(Exception):
    """A step speaks of other columns than those that reach it."""


def _follow(step: Any, origins: np.ndarray) -> tuple[np.ndarray, bool]:
    """The input column of each column that leaves a step, and whether columns can still be told apart there."""
    if step is None or step == "passthrough":
        return origins, True
    if isinstance(step, FrozenEstimator):
        return _follow(step.estimator, origins)
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            origins, distinct = _follow(inner, origins)
            if not distinct:
                return origins, False
        return origins, True
    if hasattr(step, "best_estimator_"):
        return _follow(step.best_estimator_, origins)
    if hasattr(step, "get_support"):
        support = np.asarray(step.get_support())
        if support.shape != origins.shape:
            raise _LostTrackError
        return origins[support], True
    if hasattr(step, "origins_"):
        sources = np.asarray(step.origins_)
        if sources.size and sources.max() >= origins.size:
            raise _LostTrackError
        return origins[sources], True
    if hasattr(step, "used_"):
        used = np.asarray(step.used_)
        if used.shape != origins.shape:
            raise _LostTrackError
        return origins[used], False
    if isinstance(step, Classifier) and hasattr(step, "estimators_"):
        return np.unique(np.concatenate([_follow(member, origins)[0] for member in step.estimators_])), False
    return origins, isinstance(step, OneToOneFeatureMixin)


@dataclass(frozen=True)
class Picks:
    """Picked input columns.

    Attributes
    ----------
    support : bool array of shape (n_features,)
        The columns that are kept.
    order : int array or None
        The columns that reached the selector, best first; None when it does not rank.
    """

    support: Mask
    order: np.ndarray | None

    @property
    def full_order(self) -> np.ndarray:
        """All columns, best first: those that never reached the selector last, those kept first when it does not rank.

        Examples
        --------
        >>> Picks(np.array([False, True, False]), None).full_order
        array([1, 0, 2])
        >>> Picks(np.zeros(3, bool), np.array([2, 0])).full_order
        array([2, 0, 1])
        """
        if self.order is None:
            return np.argsort(~self.support, kind="stable")
        return np.concatenate([self.order, np.setdiff1d(np.arange(self.support.shape[0]), self.order)])


def check_selector(model: Any, who: str) -> None:
    """Refuse what is neither a selector nor a pipeline that ends in one; `who` begins the message."""
    steps = steps_of(model)
    if not steps or not hasattr(steps[-1], "get_support") or not hasattr(model, "fit"):
        said = " ".join(repr(model).split())
        raise TamisError(f"{who} must be a selector or a pipeline that ends in one; got {said}")


def picks(model: Any, n_features: int, who: str) -> Picks:
    """What a fitted model that passes :func:`check_selector` has picked.

    A column that reaches the selector in several copies is kept when one of them is, and is as good as the best.

    Parameters
    ----------
    model : fitted selector or pipeline
    n_features : int
        Columns of the model's input.
    who : str
        Begins the message when columns were mixed on the way to the selector, so that they cannot be told.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> picks(make_pipeline(StandardScaler(), Ranking(k=1)).fit(X, [0, 0, 1, 1]), 3, "vote")
    Picks(support=array([False,  True, False]), order=array([1, 0, 2]))
    """
    *front, last = steps_of(model)
    reaching = traced(Pipeline([(f"step {i}", step) for i, step in enumerate(front)]), n_features)
    support = np.asarray(last.get_support())
    if reaching is None or support.shape != reaching.shape:
        raise TamisError(
            f"{who}: the columns kept by {' '.join(repr(model).split())} cannot be traced back to the input; "
            "a step before the selector mixes them"
        )
    mask = np.zeros(n_features, dtype=bool)
    mask[reaching[support]] = True
    if not isinstance(last, Selector):
        return Picks(mask, None)
    ordered, first = np.unique(reaching[last.order_], return_index=True)
    return Picks(mask, ordered[np.argsort(first)])


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline in order, those of pipelines within it in their place; a lone estimator is one step.

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
