"""The lift curve: how many of one class are found among the rows that are most likely of it."""

from typing import NamedTuple

import numpy as np

from tamis.base.types import FloatArray, Mask


class LiftCurve(NamedTuple):
    """One point for each number of rows that can be taken from the top, the most likely first; from none to all.

    Attributes
    ----------
    taken : float array
        Share of the rows that are taken, (TP + FP) / n.
    found : float array
        Rows of the class among them, as a share of all rows, TP / n.
    heights : float array
        The lowest evidence that is taken; infinity for none.
    """

    taken: FloatArray
    found: FloatArray
    heights: FloatArray

    @property
    def area(self) -> float:
        """Area under the curve: p^2 / 2 + p (1 - p) AUC, for a class with the share p of the rows."""
        return float(np.sum(np.diff(self.taken) * (self.found[1:] + self.found[:-1]) / 2))

    @property
    def best(self) -> float | None:
        """Evidence above which rows are best taken: where the curve is farthest above that of a random choice.

        A random choice finds p of what it takes. The distance, TP / n - p (TP + FP) / n, is p (1 - p) (TPR - FPR), so
        that this is also where the balanced error is smallest. Halfway to the evidence of the next rows; of equals the
        one nearest to zero; None when the curve is nowhere above.
        """
        above = self.found - self.found[-1] * self.taken
        if not above.max() > 1e-12:
            return None
        points = np.flatnonzero(above >= above.max() - 1e-12)
        cuts = (self.heights[points] + self.heights[points + 1]) / 2
        return float(cuts[np.argmin(np.abs(cuts))])


def lift_curve(evidence: FloatArray, positive: Mask, weight: FloatArray | None = None) -> LiftCurve:
    """The curve of rows taken in the order of their evidence for a class, by one sort.

    Parameters
    ----------
    evidence : float array of shape (n_rows,)
    positive : bool array of shape (n_rows,)
        Which rows are of the class.
    weight : float array of shape (n_rows,), optional

    Examples
    --------
    >>> curve = lift_curve(np.array([0.9, 0.6, 0.6, 0.1]), np.array([True, True, False, False]))
    >>> curve.taken, curve.found
    (array([0.  , 0.25, 0.75, 1.  ]), array([0.  , 0.25, 0.5 , 0.5 ]))
    >>> curve.area, curve.best
    (0.34375, 0.35)
    """
    weight = np.ones(evidence.size) if weight is None else weight
    order = np.argsort(-evidence, kind="stable")
    heights = evidence[order]
    last = np.append(heights[1:] != heights[:-1], True)
    taken, found = np.cumsum(weight[order])[last], np.cumsum((weight * positive)[order])[last]
    total = taken[-1]
    return LiftCurve(np.append(0.0, taken / total), np.append(0.0, found / total), np.append(np.inf, heights[last]))
