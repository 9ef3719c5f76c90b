"""The share of the rows to evaluate sets on: few rows make an evaluation cheap, and need more evaluations."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from tamis.base.types import FloatArray

#: What a row of an evaluation costs, beside 1 for a set more: as much as in Yang and Olafsson, where the printed rates
#: and variances imply 0.002 to 0.03 on the four data sets.
ROW_COST = 0.01

#: Bounds of the logarithm of c2.
_LEAST, _MOST = np.log(1e-3), np.log(1e4)


class VarianceCurve(NamedTuple):
    """The variance of a score over samples of the rows: c1 exp(-c2 R) at the sampling rate R."""

    c1: float
    c2: float

    @classmethod
    def fitted(cls, rates: FloatArray, variances: FloatArray) -> "VarianceCurve":
        """By least squares: the large variances of low rates, where it matters, count most.

        Examples
        --------
        >>> rates = np.array([0.05, 0.1, 0.2, 0.4])
        >>> curve = VarianceCurve.fitted(rates, 30 * np.exp(-15 * rates))
        >>> round(curve.c1, 3), round(curve.c2, 3)
        (30.0, 15.0)
        """
        largest = float(variances.max())
        if largest <= 0.0:
            return cls(0.0, 1.0)

        def best(log: float) -> tuple[float, float]:
            """The error and c1 of the best curve with a given c2."""
            shape = np.exp(-np.exp(log) * (rates - rates.min()))
            size = float(shape @ variances / (shape @ shape)) / largest
            return float(np.square(size * shape - variances / largest).sum()), size

        # The error may have several minima: a grid finds the region of the lowest.
        grid = np.linspace(_LEAST, _MOST, 200)
        place = int(np.argmin([best(log)[0] for log in grid]))
        around = grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)]
        found = minimize_scalar(lambda log: best(log)[0], bounds=around, method="bounded", options={"xatol": 1e-9})
        log = float(found.x)
        c2 = float(np.exp(log))
        return cls(best(log)[1] * largest * float(np.exp(c2 * rates.min())), c2)

    def optimal_rate(
        self, h: float, delta: float, n_rows: int, trade_off: float = 0.5, *, lowest: float, row_cost: float = ROW_COST
    ) -> float:
        """The rate R from `lowest` to 1 that minimises the cost of an iteration (eqs. 6 and 7),

            trade_off h^2 c1 exp(-c2 R) / delta^2 + (1 - trade_off) row_cost n_rows R,

        the number of sets to draw, and the rows of an evaluation.

        Examples
        --------
        >>> round(VarianceCurve(30.0, 15.0).optimal_rate(1.711, 5.0, 3196, lowest=0.02), 3)
        0.033
        """
        slope = trade_off * h**2 * self.c1 * self.c2 / delta**2
        if slope <= 0.0:
            return lowest
        rate = float(-np.log((1.0 - trade_off) * row_cost * n_rows / slope) / self.c2)
        return min(max(rate, lowest), 1.0)
