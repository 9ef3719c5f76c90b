"""Chi-square, of counts and of presence."""

import numpy as np
from scipy.special import chdtrc, erfc

from tamis.base._sklearn import StrOptions
from tamis.base.errors import TamisError
from tamis.base.moments import class_totals, divide
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import Codes, FloatArray, Matrix


@score(
    Part(
        "chi2",
        paper="Eyheramendy and Madigan 2005, section 2.5",
        phrase="the chi-square statistic",
        suits=("sparse", "counts"),
    ),
    pvalues=True,
    nonnegative=True,
    constraints={"of": [StrOptions({"counts", "presence"})]},
)
def chi2(X: Matrix, y: Codes, sample_weight: FloatArray | None = None, *, of: str = "counts") -> Scored:
    """Chi-square statistic of a feature against the classes.

    Values must be zero or more. ``of="counts"`` compares the feature's total in each class with that expected from the
    classes' sizes, with k - 1 degrees of freedom. ``of="presence"`` takes for each class the 2 x 2 table of feature
    present (not zero) or absent against in the class or not, and averages the k statistics weighted by the classes'
    shares; for two classes this is the plain 2 x 2 statistic. Its p-value is the smallest of the k tests' (1 degree of
    freedom each) times k for more than two classes. Sample weights count as repeated rows. A feature that is empty, or
    present everywhere, scores 0 with p-value 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import chi2
    >>> chi2(np.array([[3.0], [1.0], [0.0], [0.0]]), [0, 0, 1, 1])
    array([4.])
    """
    total, known, lowest = class_totals(X, y, sample_weight, presence=of == "presence")
    if lowest < 0:
        raise TamisError(f"Negative values in data: chi2 needs values of zero and above, got {lowest:g}")
    if of == "presence":
        return _presence(total, known)
    share = divide(known, known.sum(axis=0))
    expected = share * total.sum(axis=0)
    values = divide((total - expected) ** 2, expected).sum(axis=0)
    freedom = np.maximum((share > 0).sum(axis=0) - 1.0, 1.0)
    return Scored(values, lambda: chdtrc(freedom, values) if freedom.max() > 1 else _tail(values))


def _presence(present: FloatArray, known: FloatArray) -> Scored:
    n = known.sum(axis=0)
    everywhere = present.sum(axis=0)
    # The 2 x 2 statistic is n (ad - bc)^2 / product of margins; ad - bc = n * present - known * everywhere.
    margins = known * (n - known) * everywhere * (n - everywhere)
    tables = divide(n * (n * present - known * everywhere) ** 2, margins)
    values = (divide(known, n) * tables).sum(axis=0)
    tests = 1 if present.shape[0] == 2 else present.shape[0]
    return Scored(values, lambda: np.minimum(tests * _tail(tables.max(axis=0)), 1.0))


def _tail(values: FloatArray) -> FloatArray:
    """Upper tail of chi-square with one degree of freedom: a normal tail, which is quicker to compute."""
    return np.asarray(erfc(np.sqrt(values / 2.0)))
