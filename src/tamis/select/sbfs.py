"""Floating backward selection: remove the worst feature, then add features as long as that helps."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import real
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.subsets.evaluations import EQUAL, ScoredSubset
from tamis.subsets.measure import Measure
from tamis.subsets.sequential import Sequential, Steps, best_addition, best_removal
from tamis.subsets.subset_selector import score_of

#: A size is settled when the search has this many features less.
_BEYOND = 2


class SBFS(Sequential):
    """Floating backward selection: remove the worst feature, then add features while that beats the best larger set.

    The mirror image of :class:`SFFS`: it begins with all features, with the same score. The best set of each size that
    the search finds counts.

    Parameters
    ----------
    estimator, k, measure, bins, scoring, caution, cv, n_jobs, random_state, task
        As for :class:`SFS`.
    tol : float, default=0.0
        As for :class:`SBS`.

    Attributes
    ----------
    chosen_ : int array
        The selected features.
    path_ : float array
        Scores of the best sets of all features, of one less, ..., down to the selected set; never below those of
        :class:`SBS`.
    scores_ : float array of shape (n_features,)
        In how many sets of `path_` the feature is.

    See Also
    --------
    SFFS : The forward search, which is quicker where few features are wanted.

    Notes
    -----
    As for :class:`SFFS`: the plain backward search runs beside it and its sets count too, and the search for `k`
    features runs until it has two less, so that a search for a smaller `k` gives the same set.

    References
    ----------
    Pudil, Novovicova and Kittler (1994), "Floating search methods in feature selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SBFS
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> np.sort(SBFS(k=2, random_state=0).fit(X, y).chosen_)
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sbfs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Pudil, Novovicova and Kittler 1994",
        numbers_only=Sequential.numbers_only,
        only=Sequential.only,
        limits=Limits(columns=30),
    )
    _grows = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "tol": [real()],
    }

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        everything = np.arange(n_features)
        plain = current = ScoredSubset(everything, score_of(score, everything))
        best = {n_features: current}
        yield current, [n_features]
        while current.columns.size > 1:
            size = current.columns.size - 1
            new = best_removal(score, current.columns)
            if size not in best:
                same = np.array_equal(plain.columns, current.columns)
                plain = best[size] = new if same else best_removal(score, plain.columns)
                yield plain, range(size + _BEYOND, n_features)
            if new.score > best[size].score + EQUAL:
                best[size] = new
            current = best[size]
            yield current, []
            while current.columns.size < n_features - 1:
                more = best_addition(score, current.columns, n_features)
                if more.score <= best[more.columns.size].score + EQUAL:
                    break
                current = best[more.columns.size] = more
                yield current, []
