"""The lift curve: how many rows of a class are among those with the most evidence for it."""

from typing import NamedTuple

import numpy as np

from tamis.base.types import FloatArray, Mask


class LiftCurve(NamedTuple):
    """One point for each number of rows that can be taken in descending order of evidence, from none to all.

    `taken` is the share of the rows taken, (TP + FP) / n, `found` the rows of the class among them as a share of all
    rows, TP / n, and `heights` the lowest evidence taken (infinity for none).
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
        """Evidence at which the curve is farthest above that of a random choice; None when it is nowhere above.

        The distance, TP / n - p (TP + FP) / n, is p (1 - p) (TPR - FPR): this also minimises the balanced error. It
        lies halfway to the evidence of the next rows; of equals it is the one nearest to zero.
        """
        above = self.found - self.found[-1] * self.taken
        if not above.max() > 1e-12:
            return None
        points = np.flatnonzero(above >= above.max() - 1e-12)
        cuts = (self.heights[points] + self.heights[points + 1]) / 2
        return float(cuts[np.argmin(np.abs(cuts))])


def lift_curve(evidence: FloatArray, positive: Mask, weight: FloatArray | None = None) -> LiftCurve:
    """The lift curve of a class, from the evidence of rows and whether they are of it.

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
