"""Backward selection: remove one feature after another."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import Interval
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.incremental.sequential import ScoredSubset, Sequential, Steps, best_removal
from tamis.incremental.subset_score import SubsetScore


class SBS(Sequential):
    """Take away one feature after another, each time the one without which a classifier does best (backward).

    The worth of a set is that of :class:`SFS`.

    Parameters
    ----------
    model, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.
    k : int, optional
        Features to keep; all when there are fewer. By default the search ends when no step raises the worth by more
        than `tol`.
    tol : float, default=0.0
        Without `k`: a step must raise the worth by more than this. Below zero a step may cost up to so much: with
        -1e-6 features leave as long as that does no harm.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in column order.
    path_ : float array
        Worth of all features, and after each that left.
    scores_ : float array of shape (n_features,)
        1 for the feature that left first, 2 for the next, ...; the same for all that are kept.
    order_ : int array
        In the order of the scores: what left first comes last.

    Notes
    -----
    As for :class:`SFS`; of features that may leave with the same worth the earliest does. Taking away from many
    features is a matter of their square in sets to be judged.

    References
    ----------
    Marill and Green (1963), "On the effectiveness of receptors in recognition systems".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SBS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SBS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sbs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Marill and Green 1963",
        limits=Limits(columns=40),
    )
    _grows = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "tol": [Interval(Real, None, None, closed="neither")],
    }

    def _steps(self, score: SubsetScore, alone: FloatArray, n_features: int) -> Steps:
        everything = np.arange(n_features)
        met = ScoredSubset(everything, score.of(everything))
        yield met, [n_features]
        while met.columns.size > 1:
            met = best_removal(score, met.columns)
            yield met, [met.columns.size]
