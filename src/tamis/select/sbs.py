"""Backward selection: remove one feature after another."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import real
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.subsets.evaluations import ScoredSubset
from tamis.subsets.measure import Measure
from tamis.subsets.sequential import Sequential, Steps, best_removal
from tamis.subsets.subset_selector import score_of


class SBS(Sequential):
    """Backward selection: remove one feature after another, each time the one without which a model does best.

    Parameters
    ----------
    estimator, k, measure, bins, scoring, caution, cv, n_jobs, random_state, task
        As for :class:`SFS`.
    tol : float, default=0.0
        Without `k`: a step must raise the score by more than this. A negative `tol` allows a loss: with -1e-6 features
        are removed as long as that does no harm.

    Attributes
    ----------
    chosen_ : int array
        The selected features, in column order.
    path_ : float array
        Score of all features, and after each removal.
    scores_ : float array of shape (n_features,)
        1 for the feature removed first, 2 for the next, ...; the same for all selected ones.
    order_ : int array
        Column numbers by falling `scores_`: the feature removed first comes last.

    See Also
    --------
    SFS : Adds features instead; describes the score of a set.

    Notes
    -----
    As for :class:`SFS`. Of features whose removal gives the same score the earliest is removed. The number of sets
    evaluated grows with the square of the number of features.

    References
    ----------
    Marill and Green (1963), "On the effectiveness of receptors in recognition systems".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SBS
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SBS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sbs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Marill and Green 1963",
        numbers_only=Sequential.numbers_only,
        only=Sequential.only,
        limits=Limits(columns=40),
    )
    _grows = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "tol": [real()],
    }

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        everything = np.arange(n_features)
        current = ScoredSubset(everything, score_of(score, everything))
        yield current, [n_features]
        while current.columns.size > 1:
            current = best_removal(score, current.columns)
            yield current, [current.columns.size]
