"""The negative log-likelihood of a two-class probit model, and its derivatives row by row."""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri

from tamis.base.types import FloatArray
from tamis.margins.signed_rows import SignedRows

_ROOT_2PI = float(np.sqrt(2 * np.pi))


class Problem(SignedRows):
    """The likelihood of rows of two classes."""

    def loss(self, evidence: FloatArray) -> float:
        """``sum_i cost_i -log Phi(s_i f_i)`` for the evidence f."""
        return float(-(self.cost @ log_ndtr(self.signs * evidence)))

    def slopes(self, evidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Pull of each row on its evidence (minus the first derivative), and curvature (the second)."""
        margins = self.signs * evidence
        ratio = np.exp(-(margins**2) / 2 - log_ndtr(margins)) / _ROOT_2PI
        return self.cost * self.signs * ratio, self.cost * np.clip(ratio * (ratio + margins), 0.0, 1.0)

    def start(self) -> float:
        """The best intercept without weights."""
        return float(ndtri(self.cost[self.signs > 0].sum() / self.cost.sum()))


class Found(NamedTuple):
    """Weights of the columns, the intercept, the steps taken, and whether they are optimal within the tolerance."""

    weights: FloatArray
    intercept: float
    steps: int
    settled: bool
