"""Stability: whether a selector selects the same features when the rows change a little."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri


@dataclass(frozen=True)
class Stability:
    """Nogueira's index: 1 for equal sets, about 0 for sets that agree no more than by chance."""

    index: float
    standard_error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval, within the values that the index can have: -1 to 1."""
        reach = float(ndtri(0.975)) * self.standard_error
        low, high = np.clip([self.index - reach, self.index + reach], -1.0, 1.0).tolist()
        return low, high


def most_often(sets: Sequence[np.ndarray]) -> np.ndarray:
    """The columns that are in most of the sets, as many as the sets have on average.

    Examples
    --------
    >>> most_often([np.array([3, 5]), np.array([5, 9]), np.array([5, 9])]).tolist()
    [5, 9]
    """
    columns, counts = np.unique(np.concatenate(sets), return_counts=True)
    order = np.lexsort((columns, -counts))
    return np.sort(columns[order[: round(float(np.mean([one.size for one in sets])))]])


def stability(sets: Sequence[np.ndarray], n_features: int) -> Stability:
    """Measure how much sets of features agree, beyond what sets of their sizes would by chance.

    With M sets over d features, p_f the share of sets that hold feature f, and k the mean size of a set,

        index = 1 - (1/d) sum_f M/(M-1) p_f (1 - p_f) / ((k/d) (1 - k/d)).

    The standard error is the asymptotic one of the paper. It is about a fifth too small for ten sets, and it takes the
    sets as independent draws, which folds that share rows are not. The index is NaN for fewer than two sets, and when
    all sets are empty or all hold every feature.

    Parameters
    ----------
    sets : sequence of int arrays
        The column numbers in each set.
    n_features : int
        Number of columns to select from.

    Returns
    -------
    Stability

    References
    ----------
    Nogueira, Sechidis and Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (2018).

    Examples
    --------
    >>> stability([np.array([0, 1]), np.array([0, 1])], 10).index
    1.0
    >>> round(stability([np.array([0, 1]), np.array([0, 2]), np.array([0, 3])], 10).index, 3)
    0.375
    """
    m, d = len(sets), n_features
    sizes = np.array([s.size for s in sets], dtype=float)
    filling = sizes.mean() / d if m and d else 0.0
    chance = filling * (1.0 - filling)
    if m < 2 or sizes.sum() in (0, m * d):
        return Stability(float("nan"), float("nan"))
    share = np.bincount(np.concatenate(sets), minlength=d) / m
    index = 1.0 - m / (m - 1) * (share * (1.0 - share)).mean() / chance
    # The influence of each set on the index; their variance is that of the index.
    own = np.array([share[s].sum() for s in sets]) / d
    influence = own - sizes / d * filling + index / 2 * (2 * sizes / d * filling - sizes / d - filling + 1)
    influence /= chance
    variance = 4.0 / m**2 * ((influence - influence.mean()) ** 2).sum()
    return Stability(float(index), float(np.sqrt(variance)))
