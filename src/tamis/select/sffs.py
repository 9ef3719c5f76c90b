"""Floating forward selection: add the best feature, then remove features as long as that helps."""

from typing import ClassVar

import numpy as np

from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.subsets.evaluations import EQUAL
from tamis.subsets.measure import Measure
from tamis.subsets.sequential import Sequential, Steps, best_addition, best_removal, best_single

#: A size is settled when the search has this many features more.
_BEYOND = 2


class SFFS(Sequential):
    """Floating forward selection: add the best feature, then remove features while that beats the best smaller set.

    Features are added and removed one by one as in :class:`SFS` and :class:`SBS`, with the same score. The best set of
    each size that the search finds counts.

    Parameters
    ----------
    estimator, k, tol, measure, bins, scoring, caution, cv, n_jobs, random_state, task
        As for :class:`SFS`.

    Attributes
    ----------
    chosen_, scores_, order_
        As for :class:`SFS`.
    path_ : float array
        Scores of the best sets of 1, 2, ... features, up to the selected set; never below those of :class:`SFS`.

    See Also
    --------
    PTA : Adds and removes a fixed number of features in turns.

    Notes
    -----
    As for :class:`SFS`. When the search reaches a size with a set that scores less than the best known set of that
    size, it continues from the better one. The plain forward search runs beside it and its sets count too: a set that
    is better now may lead to worse ones later, and the floating search must not end up behind the plain one.

    The search for `k` features runs until it has two more; sets of size `k` found after that do not count. So a search
    for a larger `k` gives the same set. Without `k` the first size is selected whose best set scores more than that of
    the next size, less `tol`.

    References
    ----------
    Pudil, Novovicova and Kittler (1994), "Floating search methods in feature selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SFFS
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SFFS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sffs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Pudil, Novovicova and Kittler 1994",
        numbers_only=Sequential.numbers_only,
        only=Sequential.only,
        limits=Limits(columns=60),
    )

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        plain = current = best_single(alone)
        best = {1: current}
        yield current, []
        while current.columns.size < n_features:
            size = current.columns.size + 1
            new = best_addition(score, current.columns, n_features)
            if size not in best:
                same = np.array_equal(plain.columns, current.columns)
                plain = best[size] = new if same else best_addition(score, plain.columns, n_features)
                yield plain, range(1, size - _BEYOND + 1)
            if new.score > best[size].score + EQUAL:
                best[size] = new
            current = best[size]
            yield current, []
            while current.columns.size > 2:
                fewer = best_removal(score, current.columns)
                if fewer.score <= best[fewer.columns.size].score + EQUAL:
                    break
                current = best[fewer.columns.size] = fewer
                yield current, []
