"""The best split of rows into two, by separability (SSV) or by balanced error."""

from dataclasses import dataclass

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.kernels.ssv import column_splits
from tamis.trees.columns import SortedColumns

CRITERIA = ("ssv", "balanced_error")


@dataclass(frozen=True)
class Splits:
    """The best split of each of some columns.

    Attributes
    ----------
    worth : array
        The criterion, larger is better; minus infinity where the known values, or their classes, are all the same.
    same : array
        Pairs of rows of one class that the split separates: of equally good splits the one with fewest is best.
    split : array
        Rows below it go left.
    gap : array
        Distance of the two values on either side of it.
    """

    worth: FloatArray
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
      answers the class it holds the largest share of. It is 1 for a perfect split and 0 for a useless one.

    Splits lie halfway between neighbouring values. Of equally good ones the one that separates fewest pairs of rows
    of the same class is taken; of neighbouring ones that agree in this too, the one nearest to their average; of
    several such runs, the lowest.

    Parameters
    ----------
    columns : SortedColumns
        The columns, holding rows of the node only.
    codes, weight : arrays of shape (n_all_rows,)
        Class and weight of each row of the data.
    total : array of shape (n_classes,)
        Weight of each class in the node.
    n_rows : int
        Rows of the node.
    criterion : {"ssv", "balanced_error"}
    """
    found = Splits(*(np.zeros(columns.features.shape[0]) for _ in range(4)))
    column_splits(
        columns.begin,
        columns.end,
        columns.rows,
        columns.values,
        codes,
        weight,
        total,
        n_rows,
        criterion == "balanced_error",
        found.worth,
        found.same,
        found.split,
        found.gap,
    )
    return found
