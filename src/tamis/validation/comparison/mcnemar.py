"""Whether two classifiers that answered the same rows differ by more than chance."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import bdtr, chdtrc

from tamis.base.errors import TamisError

#: How the p-value of McNemar's test is computed.
Test: TypeAlias = Literal["exact", "chi2"]


@dataclass(frozen=True)
class McNemar:
    """What McNemar's test found.

    Attributes
    ----------
    only_first, only_second : int
        Rows that only the first, or only the second, classifier got wrong.
    test : "exact" or "chi2"
    pvalue : float
        Two-sided: the chance of a division at least as uneven when both are equally likely to err.
    """

    only_first: int
    only_second: int
    test: Test
    pvalue: float

    def significant(self, level: float = 0.05) -> bool:
        """Whether the p-value is below the level."""
        return self.pvalue < level


def mcnemar(first_wrong: Any, second_wrong: Any, *, test: Test = "exact") -> McNemar:
    """Test whether one of two classifiers errs more often than the other on the same rows.

    Rows that both got right or both got wrong say nothing. Of the n others, b were missed by the first alone and c by
    the second alone; with equal error rates b is binomial with n trials and chance 1/2.

    "exact" takes the two tails of that distribution, p = min(1, 2 P(B <= min(b, c))). "chi2" is the large-sample form
    with Edwards' correction, (max(|b - c| - 1, 0))^2 / n against the chi-square distribution with one degree of
    freedom. The exact test is right for every n and costs no more, so it is the default; the other is there to
    compare with work that used it. Without discordant rows p is 1.

    Parameters
    ----------
    first_wrong, second_wrong : bool arrays of shape (n_rows,)
        The rows that each classifier got wrong.
    test : {"exact", "chi2"}, default="exact"

    References
    ----------
    McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947). Edwards, "Note on the correction for continuity in testing the significance of the
    difference between correlated proportions", Psychometrika 13 (1948).

    Examples
    --------
    The first alone misses six rows and the second alone none: p = 2 (1/2)^6.

    >>> first, second = np.arange(20) < 6, np.zeros(20, dtype=bool)
    >>> mcnemar(first, second).pvalue
    0.03125
    """
    if test not in get_args(Test):
        raise TamisError(f"test must be one of {', '.join(get_args(Test))}; got {test!r}")
    first, second = (_mask(name, m) for name, m in (("first_wrong", first_wrong), ("second_wrong", second_wrong)))
    if first.size != second.size:
        raise TamisError(f"the classifiers must answer the same rows; got {first.size} and {second.size} rows")
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    return McNemar(b, c, test, _exact(b, c) if test == "exact" else _chi2(b, c))


def _mask(name: str, values: Any) -> np.ndarray:
    mask = np.asarray(values)
    # FoldPredictions given in place of masks would pass for one after a silent conversion.
    if mask.dtype != bool or mask.ndim != 1:
        raise TamisError(f"{name} must be a mask, one true or false a row; got shape {mask.shape} of {mask.dtype}")
    return mask


def _exact(b: int, c: int) -> float:
    return min(1.0, 2.0 * float(bdtr(float(min(b, c)), b + c, 0.5)))


def _chi2(b: int, c: int) -> float:
    return float(chdtrc(1.0, max(abs(b - c) - 1, 0) ** 2 / (b + c))) if b + c else 1.0
