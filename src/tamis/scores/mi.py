"""Mutual information of a feature and the target."""

from typing import Any

from tamis.base._sklearn import StrOptions, integer
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.task import BOTH, is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.contingency.states import METHODS
from tamis.contingency.tables import class_information
from tamis.contingency.target_states import target_states

#: Constraints of the options of states.
STATES: dict[str, list[Any]] = {
    "bins": [StrOptions(set(METHODS))],
    "n_bins": [integer(2), None],
}


@score(
    Part("mi", paper="Peng and Ding 2005, section 1", phrase="mutual information with the target"),
    constraints={**STATES, "target_bins": [integer(2), None]},
    takes_nominal=True,
    takes_codes=True,
    tasks=BOTH,
)
def mi(
    X: Matrix,
    y: Target,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    bins: str = "auto",
    n_bins: int | None = None,
    target_bins: int | None = None,
) -> FloatArray:
    """Mutual information of the feature's states and the class or the target's states, in nats.

        I(X; Y) = sum_xy p(x, y) log(p(x, y) / (p(x) p(y))),

    with the shares of the rows as probabilities. Columns of whole numbers with at most 32 distinct values, and nominal
    columns, are states as they are. Others are cut half a standard deviation below and above the mean
    (``bins="sigma"``; ``n_bins=2`` cuts at the mean alone). Other ways for all numeric columns: ``bins="values"``
    (every distinct value is a state), ``"equal_width"`` and ``"equal_frequency"`` (10 or `n_bins` bins), ``"modl"``
    (the most probable intervals) and ``"ssv"`` (cuts that separate the classes, found with all weights equal). Rows in
    which the value is missing are left out. Sample weights count as repeated rows. A constant feature scores 0.

    A target of numbers is cut into `target_bins` states of equal frequency, which take the place of the classes; by
    default the cube root of twice the number of rows, between 2 and 10. Equal numbers stay in one state.

    Many states inflate the estimate: compare features with about the same number of states.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import mi
    >>> mi(np.array([[0, 1, 5], [0, 2, 5], [1, 1, 5], [1, 2, 5]]), ["a", "a", "b", "b"]).round(3)
    array([0.693, 0.   , 0.   ])
    >>> mi(np.array([[0, 1], [0, 2], [1, 1], [1, 2]]), [0.5, 0.7, 1.5, 2.5], target_bins=2).round(3)
    array([0.693, 0.   ])
    """
    if is_numeric(y):
        y = target_states(y, target_bins, sample_weight)
    return class_information(X, y, sample_weight, by=bins, n_bins=n_bins, nominal=nominal)
