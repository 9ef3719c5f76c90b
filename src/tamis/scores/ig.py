"""Information gain."""

import numpy as np

from tamis.base._sklearn import StrOptions
from tamis.base.part import Part
from tamis.base.score import Formula, score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.class_counts import ClassCounts
from tamis.contingency.information import mutual_information
from tamis.contingency.tables import class_information
from tamis.scores.mi import STATES


def _of_presence(
    counts: ClassCounts, *, of: str = "presence", bins: str = "auto", n_bins: int | None = None
) -> FloatArray:
    """The information of the presence of numeric columns; the options are those of the score."""
    present, known = counts.presence.total, counts.known
    # Rounding of weights may leave a negative count.
    tables = np.stack((present, np.maximum(known - present, 0.0)), axis=2).reshape(known.shape[0], -1)
    return mutual_information(tables, np.arange(0, tables.shape[1] + 1, 2))


@score(
    Part(
        "ig",
        paper="Eyheramendy and Madigan 2005, section 2.3",
        phrase="the information gain of their presence",
        suits=("sparse",),
        counterpart="mi",
    ),
    constraints={"of": [StrOptions({"presence", "states"})], **STATES},
    takes_nominal=True,
    formula=Formula(ClassCounts, _of_presence, {"of": "presence"}),
)
def ig(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    of: str = "presence",
    bins: str = "auto",
    n_bins: int | None = None,
) -> FloatArray:
    """Information gain: entropy of the class removed by knowing whether the feature is present (not zero), in nats.

        IG = H(C) - p(w) H(C | w) - p(not w) H(C | not w),

    with the shares of the rows as probabilities: the mutual information of presence and class. ``of="states"`` uses the
    feature's states instead of presence, as :func:`tamis.scores.mi` does with `bins` and `n_bins`. The levels of a
    nominal feature are its states in both. Rows in which the value is missing are left out. Sample weights count as
    repeated rows. A feature that is empty, or present everywhere, scores 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import ig
    >>> ig(np.array([[3.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), [0, 0, 1, 1]).round(3)
    array([0.693, 0.   ])
    """
    if of == "states":
        return class_information(X, y, sample_weight, by=bins, n_bins=n_bins, nominal=nominal)
    values = _of_presence(ClassCounts(X, y, sample_weight))
    if nominal is not None and nominal.any():
        levels = np.ones(int(nominal.sum()), dtype=bool)
        values[nominal] = class_information(X[:, nominal], y, sample_weight, nominal=levels)
    return values
