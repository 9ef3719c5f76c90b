"""Mutual information of a feature and the class."""

from typing import Any

from tamis.base._sklearn import StrOptions, integer
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.states import METHODS
from tamis.contingency.tables import class_information

#: Constraints of the options of states.
STATES: dict[str, list[Any]] = {
    "bins": [StrOptions(set(METHODS))],
    "n_bins": [integer(2), None],
}


@score(
    Part("mi", paper="Peng and Ding 2005, section 1", phrase="mutual information with the class"),
    constraints=STATES,
    takes_nominal=True,
    takes_codes=True,
)
def mi(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    bins: str = "auto",
    n_bins: int | None = None,
) -> FloatArray:
    """Mutual information of the feature's states and the class, in nats.

        I(X; Y) = sum_xy p(x, y) log(p(x, y) / (p(x) p(y))),

    with the shares of the rows as probabilities. Columns of whole numbers with at most 32 distinct values, and nominal
    columns, are states as they are. Others are cut half a standard deviation below and above the mean
    (``bins="sigma"``; ``n_bins=2`` cuts at the mean alone). Other ways for all numeric columns: ``bins="values"``
    (every distinct value is a state), ``"equal_width"`` and ``"equal_frequency"`` (10 or `n_bins` bins), ``"modl"``
    (the most probable intervals) and ``"ssv"`` (cuts that separate the classes, found with all weights equal). Rows in
    which the value is missing are left out. Sample weights count as repeated rows. A constant feature scores 0.

    Many states inflate the estimate: compare features with about the same number of states.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import mi
    >>> mi(np.array([[0, 1, 5], [0, 2, 5], [1, 1, 5], [1, 2, 5]]), ["a", "a", "b", "b"]).round(3)
    array([0.693, 0.   , 0.   ])
    """
    return class_information(X, y, sample_weight, by=bins, n_bins=n_bins, nominal=nominal)
