"""McNemar's test: whether two classifiers have different error rates on the same rows."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import bdtr, chdtrc

from tamis.base.errors import TamisError

#: How the p-value of McNemar's test is computed.
Test: TypeAlias = Literal["exact", "chi2"]


@dataclass(frozen=True)
class McNemar:
    """The result of McNemar's test.

    Attributes
    ----------
    only_first, only_second : int
        Rows that only the first, or only the second, classifier got wrong.
    test : "exact" or "chi2"
    pvalue : float
        Two-sided.
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

    Of the n rows that only one of them gets wrong, the first misses b and the second c. With equal error rates b is
    binomial with n trials and probability 1/2.

    "exact" takes the two tails of that distribution, p = min(1, 2 P(B <= min(b, c))), which is right for every n.
    "chi2" is the large-sample form with Edwards' correction, (max(|b - c| - 1, 0))^2 / n against the chi-square
    distribution with one degree of freedom, for comparison with other work. Without discordant rows p is 1.

    Parameters
    ----------
    first_wrong, second_wrong : bool arrays of shape (n_rows,)
        The rows that each classifier got wrong.
    test : {"exact", "chi2"}, default="exact"

    Returns
    -------
    McNemar

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
        raise TamisError(f"the classifiers must predict the same rows; got {first.size} and {second.size} rows")
    b, c = int((first & ~second).sum()), int((second & ~first).sum())
    if test == "exact":
        pvalue = min(1.0, 2.0 * float(bdtr(float(min(b, c)), b + c, 0.5)))
    else:
        pvalue = float(chdtrc(1.0, max(abs(b - c) - 1, 0) ** 2 / (b + c))) if b + c else 1.0
    return McNemar(b, c, test, pvalue)


def _mask(name: str, values: Any) -> np.ndarray:
    mask = np.asarray(values)
    # A silent conversion would take predicted labels for a mask.
    if mask.dtype != bool or mask.ndim != 1:
        raise TamisError(f"{name} must be a mask, one true or false a row; got shape {mask.shape} of {mask.dtype}")
    return mask
