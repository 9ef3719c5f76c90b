"""The negative log-likelihood of a two-class logistic model, and its derivatives row by row."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from tamis.base.types import FloatArray
from tamis.margins.signed_rows import SignedRows


class Slopes(NamedTuple):
    """Derivatives by the evidence of each row: minus the first, the second and the third."""

    pull: FloatArray
    curvature: FloatArray
    skew: FloatArray


class Problem(SignedRows):
    """The likelihood of rows of two classes."""

    def loss(self, evidence: FloatArray) -> float:
        """``sum_i cost_i -log sigmoid(s_i f_i)`` for the evidence f."""
        return float(-(self.cost @ log_expit(self.signs * evidence)))

    def slopes(self, evidence: FloatArray) -> Slopes:
        """The derivatives of the loss at the evidence f."""
        share, rest = expit(evidence), expit(-evidence)
        curvature = self.cost * share * rest
        pull = self.cost * self.signs * np.where(self.signs > 0, rest, share)
        return Slopes(pull, curvature, curvature * (rest - share))
