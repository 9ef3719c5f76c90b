"""Scores of sets on samples of the rows, one sample after the other."""

from collections.abc import Callable

import numpy as np

from tamis.base.types import Codes
from tamis.subsets.evaluations import Evaluations, ScoredSubset
from tamis.subsets.measure import Measure

#: Makes the measure of some rows.
Make = Callable[[np.ndarray], Measure]


def stratified_rows(y: Codes, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Random rows without repetition, the same share of each class and at least one row of it.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], [60, 30, 1])
    >>> np.bincount(y[stratified_rows(y, 0.1, np.random.default_rng(0))])
    array([6, 3, 1])
    """
    counts = np.bincount(y)
    # A class gets its share of the rows on average.
    sizes = np.maximum(np.floor(rate * counts + rng.random(counts.size)).astype(np.intp), 1)
    order = np.argsort(y[mixed := rng.permutation(y.size)], kind="stable")
    place = np.arange(y.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(mixed[order][place < np.repeat(sizes, counts)])


class SampledEvaluations(Evaluations):
    """Evaluations on all rows at first, then on whatever rows :meth:`sample` draws; a sample forgets the last one.

    Parameters
    ----------
    make : callable
        Makes the measure of some rows.
    y : int array of shape (n_rows,)
        Class codes.
    limit : int, optional
        Most evaluations on all samples together.

    Attributes
    ----------
    best : ScoredSubset or None
        The best set on the present rows.
    used : int
        Sets evaluated, on all samples together; a set counts once for each sample.
    rounds : list of (int, ScoredSubset)
        For a search to note its iterations, which samples do not forget.
    """

    def __init__(self, make: Make, y: Codes, limit: int | None = None) -> None:
        self._make, self._y, self._most = make, y, limit
        self._whole = make(np.arange(y.size))
        self.rounds: list[tuple[int, ScoredSubset]] = []
        #: Rows of a sample, what was used when it began, and the cost of the samples before.
        self._rows, self._begun, self._paid = y.size, 0, 0
        super().__init__(self._whole, limit)

    @property
    def n_rows(self) -> int:
        """Number of all rows."""
        return int(self._y.size)

    @property
    def n_rows_evaluated(self) -> int:
        """The rows of the sample, summed over the evaluations."""
        return self._paid + (self.used - self._begun) * self._rows

    def sample(self, rate: float, rng: np.random.Generator) -> None:
        """Draw rows on which sets are evaluated from now on."""
        rows = stratified_rows(self._y, rate, rng)
        self._paid, self._begun, self._rows = self.n_rows_evaluated, self.used, rows.size
        self.__exit__()
        used = self.used
        super().__init__(self._make(rows), self._most)
        self.used = used

    def on_all_rows(self, columns: np.ndarray) -> ScoredSubset:
        """A set with its score on all rows, which does not count."""
        sets = np.zeros((1, self.n_features), dtype=bool)
        sets[0, columns] = True
        return ScoredSubset(np.sort(columns), float(self._whole.many(sets)[0]))
