"""What a fitted selector, alone or at the end of a pipeline, has picked among the input columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import traced
from tamis.base.nested import steps_of
from tamis.base.selector import Selector
from tamis.base.types import Mask


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
    def ranking(self) -> np.ndarray:
        """All columns, best first: those that never reached the selector last, those kept first when it does not rank.

        Examples
        --------
        >>> Picks(np.array([False, True, False]), None).ranking, Picks(np.zeros(3, bool), np.array([2, 0])).ranking
        (array([1, 0, 2]), array([2, 0, 1]))
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
    ordered, first = np.unique(reaching[last.ranking_], return_index=True)
    return Picks(mask, ordered[np.argsort(first)])
