"""Chi-square, of counts and of presence."""

from dataclasses import replace

import numpy as np
from scipy.special import chdtrc, erfc

from tamis.base._sklearn import StrOptions
from tamis.base.moments import divide
from tamis.base.part import Part
from tamis.base.score import Scored, score
from tamis.base.types import FloatArray
from tamis.contingency.class_counts import ClassCounts, OneClass, class_mean, refuse_negative


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
    summary=ClassCounts,
)
def chi2(counts: ClassCounts, *, of: str = "counts") -> Scored:
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
    refuse_negative((counts.presence if of == "presence" else counts.occurrences).lowest, "chi2")
    if of == "presence":
        return _presence(counts)
    total, known = counts.occurrences.total, counts.known
    share = divide(known, known.sum(axis=0))
    expected = share * total.sum(axis=0)
    values = divide((total - expected) ** 2, expected).sum(axis=0)
    freedom = np.maximum((share > 0).sum(axis=0) - 1.0, 1.0)
    return Scored(values, lambda: chdtrc(freedom, values) if freedom.max() > 1 else _tail(values))


def _presence(counts: ClassCounts) -> Scored:
    found = class_mean(counts, counts.presence, counts.mixed, _table)
    tests = 1 if counts.known.shape[0] == 2 else counts.known.shape[0]
    by_class = found.by_class
    assert by_class is not None
    return replace(found, tail=lambda: np.minimum(tests * _tail(by_class().max(axis=0)), 1.0))


def _table(one: OneClass) -> FloatArray:
    """The 2 x 2 statistic, n (ad - bc)^2 / product of margins."""
    n, present = one.rows + one.others, one.inside + one.outside
    margins = one.rows * one.others * present * (n - present)
    return divide(n * (one.inside * one.others - one.outside * one.rows) ** 2, margins)


def _tail(values: FloatArray) -> FloatArray:
    """Upper tail of chi-square with one degree of freedom: a normal tail, which is quicker to compute."""
    return np.asarray(erfc(np.sqrt(values / 2.0)))
