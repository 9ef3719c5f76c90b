"""Floating forward selection: add the best feature, then remove features as long as that helps."""

from typing import ClassVar

import numpy as np

from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.incremental.sequential import Sequential, Steps, best_addition, best_removal, best_single
from tamis.incremental.subset_score import EQUAL, SubsetScore

#: How many features more a floating search tries before it answers for a size.
_BEYOND = 2


class SFFS(Sequential):
    """Add the best feature, then take features away as long as that beats the best set of that size (floating).

    The worth of a set is that of :class:`SFS`, and features come and go one by one as there and in :class:`SBS`. For
    each size the best set that the search meets is kept.

    Parameters
    ----------
    model, k, gain, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        Worth of the best sets of 1, 2, ... features, up to those kept; never less than that of :class:`SFS`.
    scores_, order_
        As for :class:`SFS`.

    Notes
    -----
    As for :class:`SFS`. Where the search reaches a size with a set that is worth less than one known of that size, it
    goes on from the better one. Beside it goes the plain forward search, whose sets are known too: a set that is better
    now may lead to worse ones later, and the floating search is not to end up behind the plain one.

    The search for `k` features goes on until it has two more, and what it meets of size `k` after that does not
    count; so the answer is the same whether the search was made for this `k` or a larger one. Without `k` the answer
    has the first size whose best set is worth more than that of one feature more, less `tol`.

    References
    ----------
    Pudil, Novovicova and Kittler (1994), "Floating search methods in feature selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SFFS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SFFS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sffs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Pudil, Novovicova and Kittler 1994",
        limits=Limits(columns=60),
    )

    def _steps(self, score: SubsetScore, alone: FloatArray, n_features: int) -> Steps:
        plain = met = best_single(alone)
        best = {1: met}
        yield met, []
        while met.columns.size < n_features:
            size = met.columns.size + 1
            new = best_addition(score, met.columns, n_features)
            if size not in best:
                same = np.array_equal(plain.columns, met.columns)
                plain = best[size] = new if same else best_addition(score, plain.columns, n_features)
                yield plain, range(1, size - _BEYOND + 1)
            if new.score > best[size].score + EQUAL:
                best[size] = new
            met = best[size]
            yield met, []
            while met.columns.size > 2:
                fewer = best_removal(score, met.columns)
                if fewer.score <= best[fewer.columns.size].score + EQUAL:
                    break
                met = best[fewer.columns.size] = fewer
                yield met, []
