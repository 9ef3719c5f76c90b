"""LVF: the smallest of many random sets of columns that tell the classes apart as well as all columns do."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import NothingPasses
from tamis.base.part import Limits, Part
from tamis.base.types import Mask
from tamis.contingency.states import METHODS
from tamis.subsets.evaluations import EQUAL, Evaluations, ScoredSubset
from tamis.subsets.search import SubsetSearch

#: Sets drawn at a time.
_BATCH = 64


class LVF(SubsetSearch):
    """The Las Vegas filter: draw random sets of columns and keep the smallest whose inconsistency is low enough.

    Rows that agree in all columns of a set but not in their class are inconsistent; the rate is the share of the rows
    outside of the commonest class of their pattern. A drawn set replaces the best one if it has fewer columns, or as
    many and a lower rate, and its rate is not above the threshold.

    Parameters
    ----------
    k : int, default=10
        Number of the best sets to remember in `subsets_`.
    n_iter : int, optional
        Sets to draw; by default 77 times as many as there are columns. (Liu and Setiono draw 77 N^5.)
    threshold : float, optional
        The highest inconsistency rate; by default that of all columns.
    bins : str, default="auto"
        How numeric columns become states, as for :class:`MRMR`.
    max_evaluations : int, optional
        Sets whose inconsistency may be computed; the best of these is selected.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    chosen_ : int array
        The selected columns.
    score_ : float
        Minus their inconsistency rate.
    subsets_ : list of int arrays
        The `k` best sets, the best first: the fewest columns, then the lowest rate, then the one drawn first.
    threshold_ : float
    n_evaluations_, trace_, complete_
        As for :class:`BestFirst`.

    See Also
    --------
    Focus : The smallest consistent set of all.
    Fortal : Begins with the sets that LVF remembers.

    Notes
    -----
    A set has a size drawn uniformly from all sizes up to that of the best set so far, and the columns are drawn without
    replacement: larger sets would be rejected without a look at the data. Rates are computed for a batch of sets at a
    time. Missing values are a state of their own.

    References
    ----------
    Liu and Setiono (1996), "A probabilistic approach to feature selection - a filter solution".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import LVF
    >>> X = np.random.default_rng(0).integers(0, 2, size=(100, 8))
    >>> LVF(random_state=0).fit(X, X[:, 2] ^ X[:, 5]).chosen_
    array([2, 5])
    """

    part: ClassVar[Part] = Part(
        "lvf",
        positional=("k",),
        paper="Liu and Setiono 1996; Souza, Japkowicz and Matwin 2005",
        phrase="selects the smallest of many random sets of features that is as consistent as all features",
        limits=Limits(columns=200),
    )
    draws_columns = True
    tasks = ("classify",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1)],
        "n_iter": [integer(1), None],
        "threshold": [real(0, 1, "both"), None],
        "bins": [StrOptions(set(METHODS))],
        "max_evaluations": [integer(1), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        k: int = 10,
        *,
        n_iter: int | None = None,
        threshold: float | None = None,
        bins: str = "auto",
        max_evaluations: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__("inconsistency", bins=bins, max_evaluations=max_evaluations, random_state=random_state)
        self.k = k
        self.n_iter = n_iter
        self.threshold = threshold

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        every = np.arange(scores.n_features)
        best = ScoredSubset(every, scores.of(every))
        self.threshold_ = -best.score if self.threshold is None else float(self.threshold)
        self.subsets_ = []
        if not consistent(best, self.threshold_):
            warnings.warn(too_inconsistent(self.part.name, best, self.threshold_), NothingPasses, stacklevel=2)
            yield best
            return
        kept = [best]
        left = 77 * every.size if self.n_iter is None else self.n_iter
        while left > 0:
            self.subsets_ = [one.columns for one in kept]
            yield kept[0]
            sets = _draw(kept[0].columns.size, every.size, min(_BATCH, left), rng)
            left -= sets.shape[0]
            drawn = map(ScoredSubset, map(np.flatnonzero, sets), scores.many(sets).tolist())
            kept = _smallest([*kept, *(one for one in drawn if consistent(one, self.threshold_))], self.k)
        self.subsets_ = [one.columns for one in kept]
        yield kept[0]

    def _stopped(self, scores: Evaluations, found: ScoredSubset) -> ScoredSubset:
        return found


def consistent(found: ScoredSubset, threshold: float) -> bool:
    """Whether the inconsistency rate of a set, minus its score, is not above a threshold."""
    return -found.score <= threshold + EQUAL


def too_inconsistent(who: str, everything: ScoredSubset, threshold: float) -> str:
    """The warning for a threshold that not even all columns together reach."""
    rate = f"{who}: the inconsistency rate of all columns is {-everything.score:.4g}"
    return f"{rate}, above threshold={threshold:g}: all are selected"


def _draw(most: int, n_features: int, n_sets: int, rng: np.random.Generator) -> Mask:
    """Random sets of sizes from 1 to `most`."""
    sizes = rng.integers(1, most, size=n_sets, endpoint=True)
    places = rng.random((n_sets, n_features)).argsort(axis=1).argsort(axis=1)
    return places < sizes[:, None]


def _smallest(sets: list[ScoredSubset], k: int) -> list[ScoredSubset]:
    """The `k` best of several sets, each once: the fewest columns, then the lowest rate, then the first."""
    distinct: dict[bytes, ScoredSubset] = {}
    for one in sets:
        distinct.setdefault(one.columns.tobytes(), one)
    return sorted(distinct.values(), key=lambda one: (one.columns.size, round(-one.score, 12)))[:k]
