"""The best split of rows into two, by separability (SSV) or by balanced error."""

from typing import NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.kernels.ssv import column_splits
from tamis.trees.columns import SortedColumns

CRITERIA = ("ssv", "balanced_error")


class Splits(NamedTuple):
    """The best split of each of some columns.

    `score` is the criterion, larger being better; minus infinity where the known values, or their classes, are all the
    same. `same` counts the pairs of rows of one class that the split separates, which breaks ties. Rows below `split`
    go left; `gap` is the distance of the values on either side of it.
    """

    score: FloatArray
    same: FloatArray
    split: FloatArray
    gap: FloatArray


def best_splits(
    columns: SortedColumns, codes: Codes, weight: FloatArray, total: FloatArray, n_rows: int, criterion: str
) -> Splits:
    """The best split of each column for the rows of a node.

    With L_c and R_c the weights of class c on the left and right side, the criteria are

    - ssv: ``2 sum_c L_c (R - R_c) - sum_c min(L_c, R_c)``, the separability of Grabczewski and Jankowski (eq. 23);
    - balanced_error: ``1 - BER K/(K - 1)`` for the K classes present, where BER is the balanced error when each side
      predicts the class it holds the largest share of. It is 1 for a perfect split and 0 for a useless one.

    Splits lie halfway between neighbouring values. Ties go to the split that separates fewest pairs of rows of the same
    class; within a run of neighbouring ties to the one nearest to their average; then to the lowest run. `columns`
    holds the `n_rows` rows of the node only, and `total` is the weight of each class among them; `codes` and `weight`
    are those of all rows of the data.
    """
    found = Splits(*(np.zeros(columns.features.shape[0]) for _ in range(4)))
    column_splits(*columns.segments, codes, weight, total, n_rows, criterion == "balanced_error", *found)
    return found
