"""G-flip: flip single columns in and out of a set while the margins of the rows grow."""

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer
from tamis.base.cut import Cut
from tamis.base.part import Arguments, Part
from tamis.base.seeds import generator
from tamis.base.selector import Selection, Selector
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.kernels.gflip import flip, flipped_near
from tamis.neighbours.row_margins import BETA, ComparedRows, mean_utility, usual_beta

#: The least growth of the mean utility that is not rounding, as a share of its size.
_GROWTH = 1e-10


def _phrase(a: Arguments) -> str:
    return "selects the features that, flipped in and out one by one, give the rows the largest margins (G-flip)"


class GFlip(Selector):
    """Select the set of columns that no flip of a single column improves, by the margins of the rows.

    On a set F of columns the margin of a row x is half of ``|x - miss| - |x - hit|``, for the nearest rows on F, the
    miss of another class and the hit of its own. The search begins with no column and goes through all columns in
    random order, again and again: a column joins, or leaves, if that makes the sum of the utilities of the margins
    larger. It ends after a pass without a flip. There is no number of columns to choose.

    Parameters
    ----------
    utility : {"linear", "sigmoid", "zero_one"}, default="linear"
        The utility of a margin: itself, ``1 / (1 + exp(-beta margin))``, or 1 if it is above zero and else 0. The sum
        of the last is the number of rows that the nearest other row classifies.
    beta : float or "auto", default="auto"
        Slope of the sigmoid, for margins in units of the root of the columns' mean variance; "auto" takes 1 over the
        mean size of margins on all columns.
    n_starts : int, default=1
        Searches, each in other orders. The one with the largest mean utility counts.
    max_iter : int, default=100
        Most passes of a search; a warning reports when they were not enough.
    random_state : int, Generator, RandomState or None, default=None
        Draws the orders of the columns.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        The mean utility with the column, beside the other selected ones, less that without it: above zero for the
        selected columns.
    utilities_ : array of shape (n_starts,)
        Mean utility at the end of each search.
    n_iter_ : int
        Passes of the search that counts.
    beta_ : float
        The slope of the sigmoid in use; with another utility it has no effect.

    See Also
    --------
    Simba : Weighs the columns by the same margins.
    SFS : Forward selection by the cross-validated score of any classifier.

    Notes
    -----
    The algorithm is that of figure 1 of the paper, with the squared distances of all pairs of rows on the set, which a
    flip changes by one column: evaluating a flip costs n^2 for n rows, however many columns are selected, and the
    distances take 8 n^2 bytes. The result is a local optimum that depends on the order; the linear utility grows with
    almost any column at the beginning, so that sets may be large. Columns of different units should be standardised
    first.

    A row alone in its class has no margin and serves only as a miss. Constant columns are never selected. If no column
    makes the utility larger than the empty set has it, the column of the highest score is selected, with a warning.
    Missing values need ``impute`` in front, text columns ``encode``. Sample weights are not taken: a repeated row would
    be its own hit.

    References
    ----------
    Gilad-Bachrach, Navot and Tishby (2004), "Margin based feature selection - theory and algorithms".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import GFlip
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> GFlip(random_state=0).fit(X, X[:, 3] + X[:, 6] > 0).get_support(indices=True)
    array([3, 6])
    """

    part: ClassVar[Part] = Part(
        "gflip",
        positional=("utility",),
        only={"beta": ("utility", "sigmoid")},
        paper="Gilad-Bachrach, Navot and Tishby 2004",
        phrase=_phrase,
        # It takes fifty times as long as relieff, and keeps thousands of columns where all are of some use.
        searched=False,
    )
    draws_columns = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "utility": [StrOptions({"linear", "sigmoid", "zero_one"})],
        "beta": BETA,
        "n_starts": [integer(1)],
        "max_iter": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        utility: str = "linear",
        *,
        beta: float | str = "auto",
        n_starts: int = 1,
        max_iter: int = 100,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.utility = utility
        self.beta = beta
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.random_state = random_state

    def _select(self, X: Any, y: Any) -> Selection:
        rows = ComparedRows.of(X, y, "gflip")
        rng = generator(self.random_state)
        self.beta_ = self._beta(rows)
        found = [_Search(rows, self.utility, self.beta_).run(rng, self.max_iter) for _ in range(self.n_starts)]
        self.utilities_ = np.array([one.value for one in found])
        best = found[int(self.utilities_.argmax())]
        self.n_iter_ = best.passes
        scores, inside = rows.spread(best.gains), rows.varies.copy()
        inside[rows.varies] = best.inside
        order = np.lexsort((-scores, ~inside))
        return Selection(Cut().apply(inside.astype(np.float64), order), scores, order)

    def _beta(self, rows: ComparedRows) -> float:
        if self.utility != "sigmoid" or self.beta != "auto":
            return 1.0 if self.beta == "auto" else float(self.beta)
        search = _Search(rows, self.utility, 1.0)
        for j in range(rows.X.shape[1]):
            search.flip(j)
        return usual_beta(search.margins_with(np.zeros(rows.y.size), 1.0))


class _Search:
    """The set of a search, the squared distances on it, and what each column is good for."""

    def __init__(self, rows: ComparedRows, utility: str, beta: float) -> None:
        self._columns: Matrix = rows.X.tocsc() if sp.issparse(rows.X) else np.asfortranarray(rows.X)
        n_rows, n_columns = rows.X.shape
        self._queries, self._utility = rows.queries, (utility, beta)
        self._starts = np.searchsorted(rows.y, np.arange(rows.y[-1] + 2))
        self._squares = np.zeros((n_rows, n_rows))
        np.fill_diagonal(self._squares, np.inf)
        self._near = np.empty((2, n_rows))
        self.inside: Mask = np.zeros(n_columns, dtype=bool)
        self.gains: FloatArray = np.zeros(n_columns)
        self.value = mean_utility(np.zeros(self._queries.size), *self._utility)
        self.passes = 0

    def run(self, rng: np.random.Generator, max_iter: int) -> "_Search":
        """Flip until a pass flips nothing."""
        flipped = True
        while flipped and self.passes < max_iter:
            flipped = False
            self.passes += 1
            for j in rng.permutation(self.inside.size):
                sign = -1.0 if self.inside[j] else 1.0
                value = mean_utility(self.margins_with(self._column(j), sign), *self._utility)
                self.gains[j] = sign * (value - self.value)
                if value - self.value > _GROWTH * max(abs(value), abs(self.value)):
                    self.flip(j)
                    self.value, flipped = value, True
        if flipped:
            warnings.warn(
                f"gflip: the set still changed in pass {max_iter}; a larger max_iter lets it settle",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def margins_with(self, column: FloatArray, sign: float) -> FloatArray:
        """The margins of all queries, were a column to join (1) or to leave (-1)."""
        flipped_near(self._squares, column, sign, self._starts, self._near)
        # What is left of the columns that have left is rounding, below zero too.
        hit, miss = np.sqrt(np.maximum(self._near[:, self._queries], 0.0))
        return (miss - hit) / 2.0

    def flip(self, j: int) -> None:
        """Let a column join or leave."""
        flip(self._column(j), -1.0 if self.inside[j] else 1.0, self._squares)
        self.inside[j] = not self.inside[j]

    def _column(self, j: int) -> FloatArray:
        column = self._columns[:, [j]]
        return np.asarray(column.toarray() if sp.issparse(column) else column).ravel()
