"""Friedman's and Nemenyi's tests: whether several models differ, by their ranks within blocks."""

from dataclasses import dataclass
from math import factorial, prod
from typing import Any, Literal

import numpy as np
from scipy.special import chdtrc, fdtrc
from scipy.stats import rankdata, studentized_range

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.validation.comparison.paired import check_level
from tamis.validation.json_values import plain


@dataclass(frozen=True, eq=False)
class Friedman:
    """The result of Friedman's test, and of Nemenyi's test of every pair.

    Attributes
    ----------
    statistic, chi2_pvalue : float
        Friedman's statistic, corrected for ties, and its p-value by the chi-square distribution.
    F, pvalue : float
        Iman and Davenport's form of it, and its p-value. F is infinite when all blocks rank the models alike, and NaN
        for a single block or when all models tie in all blocks.
    mean_ranks : array of shape (n_models,)
        1 is the best.
    critical_difference : float
        Nemenyi's test separates models whose mean ranks differ by this much or more.
    level : float
        Level of significance of that difference.
    n_blocks : int
        Blocks in which every model has a value.
    """

    statistic: float
    chi2_pvalue: float
    F: float
    pvalue: float
    mean_ranks: FloatArray
    critical_difference: float
    level: float
    n_blocks: int

    @property
    def pairwise(self) -> FloatArray:
        """Nemenyi's p-value of every pair of models, of shape (n_models, n_models); 1 on the diagonal."""
        gaps = self.mean_ranks[:, None] - self.mean_ranks
        return nemenyi(gaps, self.mean_ranks.size, self.n_blocks)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The largest sets of models that Nemenyi's test does not separate, best first; a model may be in several."""
        order = np.argsort(self.mean_ranks, kind="stable")
        ranks = self.mean_ranks[order]
        ends = np.searchsorted(ranks, ranks + self.critical_difference, side="left")
        # A set that ends where the one before it ends is part of that one.
        starts = np.flatnonzero(np.diff(ends, prepend=0))
        return tuple(tuple(order[start : ends[start]].tolist()) for start in starts)

    def to_dict(self) -> dict[str, Any]:
        """Everything but `pairwise` as lists and numbers, ready for JSON; NaN becomes None."""
        return dict(plain(vars(self) | {"groups": self.groups}))


def friedman(values: Any, *, better: Literal["low", "high"] = "high", level: float = 0.05) -> Friedman:
    """Test whether several models differ, from their ranks within blocks (folds or data sets).

    With n blocks, k models, r_ij the rank of model j in block i (ties share their mean rank) and R_j its mean,

        chi2 = (k - 1) n^2 sum_j (R_j - (k + 1) / 2)^2 / sum_ij (r_ij - (k + 1) / 2)^2,

    which for many blocks has the chi-square distribution with k - 1 degrees of freedom when the models do not differ.
    Iman and Davenport's F = (n - 1) chi2 / (n (k - 1) - chi2), with k - 1 and (k - 1)(n - 1) degrees of freedom, is
    nearer to its nominal level and gives the `pvalue`. Where all blocks agree, F has no denominator, and the p-value is
    the probability that the other blocks repeat the order of the first, (1 / k!)^(n - 1) without ties.

    Nemenyi's test separates two models when their mean ranks differ by CD = q sqrt(k (k + 1) / (6 n)) or more, with
    sqrt(2) q the upper point of the studentized range of k models with infinite degrees of freedom.

    The test is made for blocks that are data sets. Folds of one data set share rows, so their ranks are not independent
    and the p-values are too small: take them as a guide.

    Parameters
    ----------
    values : array of shape (n_blocks, n_models)
        The metric of each model in each block. A block with a NaN is left out.
    better : {"low", "high"}, default="high"
        Which values are better.
    level : float, default=0.05
        Level of significance of the critical difference.

    Returns
    -------
    Friedman

    References
    ----------
    Friedman, "The Use of Ranks to Avoid the Assumption of Normality Implicit in the Analysis of Variance", JASA 32
    (1937). Iman and Davenport, "Approximations of the critical region of the Friedman statistic", Communications in
    Statistics A9 (1980). Nemenyi, "Distribution-free multiple comparisons", thesis, Princeton (1963). Demsar,
    "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006).

    Examples
    --------
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.7], [0.7, 0.6, 0.5]])
    >>> found.mean_ranks.tolist(), found.statistic, round(found.pvalue, 3)
    ([1.0, 2.25, 2.75], 6.5, 0.007)
    >>> round(found.critical_difference, 3), found.groups
    (1.657, ((0, 1), (1, 2)))
    """
    check_level(level)
    ranks = rankdata(_signed(values, better), axis=1)
    n, k = ranks.shape
    mean_ranks = ranks.mean(axis=0)
    between = float(((mean_ranks - (k + 1) / 2) ** 2).sum())
    total = float(((ranks - (k + 1) / 2) ** 2).sum())
    statistic = (k - 1) * n**2 * between / total if total else 0.0
    if (ranks == ranks[0]).all():
        F = float("inf") if n > 1 and total else float("nan")
        # The probability of one order when all orders of these ranks are equally likely.
        ties = np.unique(ranks[0], return_counts=True)[1].tolist()
        pvalue = (prod(map(factorial, ties)) / factorial(k)) ** (n - 1)
    else:
        F = (n - 1) * statistic / (n * (k - 1) - statistic)
        pvalue = float(fdtrc(k - 1, (k - 1) * (n - 1), F))
    critical = float(studentized_range.ppf(1.0 - level, k, np.inf) / np.sqrt(2.0)) * _unit(k, n)
    return Friedman(statistic, float(chdtrc(k - 1, statistic)), F, pvalue, mean_ranks, critical, level, n)


def nemenyi(gaps: Any, n_models: int, n_blocks: int) -> FloatArray:
    """Nemenyi's p-values of differences between mean ranks, of any shape."""
    size, place = np.unique(np.abs(gaps), return_inverse=True)
    p = studentized_range.sf(np.sqrt(2.0) * size / _unit(n_models, n_blocks), n_models, np.inf)
    return np.clip(p, 0.0, 1.0)[place].reshape(np.shape(gaps))


def _unit(n_models: int, n_blocks: int) -> float:
    """Standard error of the difference of two mean ranks."""
    return float(np.sqrt(n_models * (n_models + 1) / (6.0 * n_blocks)))


def _signed(values: Any, better: str) -> FloatArray:
    """The blocks in which all models have a value, negated if needed so that low is better."""
    if better not in ("low", "high"):
        raise TamisError(f"better must be low or high; got {better!r}")
    given = np.asarray(values)
    if given.ndim != 2 or given.dtype.kind not in "fiu" or given.shape[1] < 2:
        raise TamisError(
            f"values must be numbers, a row for each block and a column for each of two or more models; "
            f"got shape {given.shape} of {given.dtype}"
        )
    given = given.astype(np.float64)
    known = given[~np.isnan(given).any(axis=1)]
    if not known.shape[0]:
        raise TamisError("values has no block in which every model has a value")
    return known if better == "low" else -known
