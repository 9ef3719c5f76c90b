"""Simba: weights of columns by which rows are near their own class and far from others, found by gradient ascent."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import Cut, cut_phrase, rank
from tamis.base.part import Arguments, Part
from tamis.base.search_range import geom
from tamis.base.seeds import generator
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.kernels.simba import dense_climb, dense_near, sparse_climb, sparse_near
from tamis.kernels.sparse import stored_arrays
from tamis.neighbours.row_margins import BETA, ComparedRows, mean_utility, usual_beta


class _Weighted(NamedTuple):
    """The weights of the best start, the utility at the end of each, and the slope of the sigmoid."""

    values: FloatArray
    utilities: FloatArray
    beta: float


def _phrase(a: Arguments) -> str:
    return f"weighs the features so that rows are nearest to their own class (Simba) and keeps {cut_phrase(a, 'all')}"


class Simba(SharedFit, Selector):
    """Select the columns of the largest weights, under which rows are near their own class and far from the others.

    Under weights w the length of z is ``|z|_w = sqrt(sum_i w_i^2 z_i^2)``, and the margin of a row x is::

        margin(x) = (|x - miss|_w - |x - hit|_w) / 2,

    for its nearest rows under w, the miss of another class and the hit of its own. Simba climbs the sum of the
    utilities of the margins by stochastic gradient ascent: for one row after another, it adds to every weight::

        step u'(margin) ((x - miss)_i^2 / |x - miss|_w - (x - hit)_i^2 / |x - hit|_w) w_i / 2.

    At the end the scores are w_i^2 over the largest of them. A column helps as part of all the others, so that columns
    are found that separate the classes only together; equal columns get equal weights.

    Parameters
    ----------
    k : int, optional
        Select the `k` columns of the largest weights.
    fraction : float, optional
        Select this share of the columns, rounded up.
    threshold : float, optional
        Select the columns whose score, from 0 to 1, is above it. With none of the three given, all that vary.
    utility : {"linear", "sigmoid"}, default="linear"
        The utility u of a margin: itself, or ``1 / (1 + exp(-beta margin))``, for which outlying rows count less.
    beta : float or "auto", default="auto"
        Slope of the sigmoid, for margins in the unit below; "auto" takes 1 over the mean size of margins at equal
        weights.
    n_passes : int, default=5
        How often each row is taken, in a new random order each time.
    n_starts : int, default=1
        Ascents: the first from equal weights, others from random ones. The one with the largest mean utility counts.
    step : float, default=1.0
        Length of a step. The slope of the sigmoid is divided by its largest value, so that steps are alike.
    random_state : int, Generator, RandomState or None, default=None
        Draws the orders of the rows and the starts.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        ``w^2 / max(w^2)``; 0 for constant columns.
    utilities_ : array of shape (n_starts,)
        Mean utility at the end of each start, with the weights divided by the largest.
    beta_ : float
        The slope of the sigmoid in use; with another utility it has no effect.

    See Also
    --------
    GFlip : Selects a set by the same margins, without a number of columns.
    Ranking : With "relieff", differences to neighbours that are found once, on all columns alike.

    Notes
    -----
    The algorithm is that of figure 2 of the paper, with passes over all rows in random order in place of rows drawn at
    random. The paper's steps depend on the unit of the data: here it is the root of the mean variance of the columns,
    so that steps on standardised columns are the paper's, and multiplying all values by a number changes nothing.
    Columns of different units should be standardised first: a column counts as its values are large.

    Near means near on all columns at the beginning, so many useless columns blur it. A row alone in its class has no
    margin and serves only as a miss. Of rows at the same distance, to nine digits, the first is taken. A step takes a
    pass over the data, and a fit ``n_passes * n_starts`` times the rows as many; of sparse data it reads the columns
    that the row, its hit and its miss store. Missing values need ``impute`` in front, text columns ``encode``. Sample
    weights are not taken: a repeated row would be its own hit.

    References
    ----------
    Gilad-Bachrach, Navot and Tishby (2004), "Margin based feature selection - theory and algorithms". Its authors
    entered the NIPS 2003 challenge with such selections, as "Nameless".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Simba
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> Simba(2, random_state=0).fit(X, X[:, 3] * X[:, 6] > 0).get_support(indices=True)
    array([3, 6])
    """

    part: ClassVar[Part] = Part(
        "simba",
        positional=("k",),
        search={"k": geom(1, 10_000)},
        only={"beta": ("utility", "sigmoid")},
        paper="Gilad-Bachrach, Navot and Tishby 2004",
        phrase=_phrase,
        # It finds the columns that relieff finds, in ten times its time.
        searched=False,
    )
    #: One set of weights serves every cut.
    shared_parameters = ("k", "fraction", "threshold")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "threshold": [real(0, 1, "left"), None],
        "utility": [StrOptions({"linear", "sigmoid"})],
        "beta": BETA,
        "n_passes": [integer(1)],
        "n_starts": [integer(1)],
        "step": [real(0, None)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        fraction: float | None = None,
        threshold: float | None = None,
        utility: str = "linear",
        beta: float | str = "auto",
        n_passes: int = 5,
        n_starts: int = 1,
        step: float = 1.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.utility = utility
        self.beta = beta
        self.n_passes = n_passes
        self.n_starts = n_starts
        self.step = step
        self.random_state = random_state

    @property
    def draws_columns(self) -> bool:
        """Whether the order of the columns matters: random weights are drawn in it."""
        return self.n_starts > 1

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Weighted:
        rows = ComparedRows.of(X, y, "simba")
        rng = generator(self.random_state)
        ascent = _Ascent(rows)
        if self.utility == "sigmoid" and self.beta == "auto":
            beta = usual_beta(ascent.margins(np.ones(rows.X.shape[1])))
        else:
            beta = 1.0 if self.beta == "auto" else float(self.beta)
        found, utilities = [], np.empty(self.n_starts)
        for start in range(self.n_starts):
            w = rng.random(rows.X.shape[1]) if start else np.ones(rows.X.shape[1])
            for _ in range(self.n_passes):
                ascent.climb(w, rng.permutation(rows.queries), self.utility == "sigmoid", beta, float(self.step))
            w /= np.abs(w).max(initial=np.finfo(np.float64).tiny)
            utilities[start] = mean_utility(ascent.margins(w), self.utility, beta)
            found.append(w**2)
        return _Weighted(rows.spread(found[int(utilities.argmax())]), utilities, beta)

    def _finish(self, prepared: _Weighted) -> Selection:
        values, self.utilities_, self.beta_ = prepared
        order = rank(values)
        return Selection(Cut(self.k, self.fraction, self.threshold).apply(values, order), values, order)


class _Ascent:
    """The two kernels, on dense or on sparse rows."""

    def __init__(self, rows: ComparedRows) -> None:
        self._queries, self._sparse = rows.queries, sp.issparse(rows.X)
        if self._sparse:
            self._rows: tuple[Any, ...] = (*stored_arrays(rows.X), *stored_arrays(rows.X.tocsc()), rows.y)
        else:
            self._rows = (np.ascontiguousarray(rows.X.T), rows.y)

    def climb(self, w: FloatArray, queries: np.ndarray, sigmoid: bool, beta: float, step: float) -> None:
        """Change the weights by a step for each of the queries."""
        (sparse_climb if self._sparse else dense_climb)(*self._rows, queries, sigmoid, beta, step, w)

    def margins(self, w: FloatArray) -> FloatArray:
        """The margins of all queries under weights."""
        near = np.empty((self._queries.size, 2))
        (sparse_near if self._sparse else dense_near)(*self._rows, self._queries, w, near)
        return (near[:, 1] - near[:, 0]) / 2.0
