"""Classifiers whose evidence adds up over columns, one column more or less."""

from typing import Any

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.incremental.fallback import EvaluatorWithFallback

#: Most numbers of a table of terms, and numbers held for a block of candidates.
TERMS, _BLOCK = 20_000_000, 4_000_000

#: Bound of the error of a sum of terms, relative to the largest term.
_ROUNDING = 1e-10


class AdditiveEvaluator(EvaluatorWithFallback):
    """Adds the terms of a column to the evidence of the set, or subtracts them.

    Parameters
    ----------
    model, X, y, Z
        As for :class:`~tamis.incremental.fallback.EvaluatorWithFallback`.
    prior : array of shape (n_classes,)
        The evidence without any column.
    terms : array of shape (n_features, n_test_rows, n_classes)
        What each column adds. It must not depend on the other columns of a set.
    """

    def __init__(self, model: Any, X: Any, y: Codes, Z: Any, prior: FloatArray, terms: FloatArray) -> None:
        super().__init__(model, X, y, Z)
        self.prior, self.terms = prior, terms
        self.largest = np.abs(terms).max(axis=(1, 2), initial=0.0) + np.abs(prior).max()

    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        evidence = self.prior + self.terms[columns].sum(axis=0)
        scale = self.largest[columns].max(initial=0.0)
        predicted = np.empty((candidates.size, self.terms.shape[1]), dtype=np.intp)
        certain = np.empty(candidates.size, dtype=bool)
        width = max(1, _BLOCK // max(1, evidence.size))
        for start in range(0, candidates.size, width):
            some = candidates[start : start + width]
            sums = evidence + (self.terms[some] if joining else -self.terms[some])
            ordered = np.sort(sums, axis=2)
            lead = (ordered[:, :, -1] - ordered[:, :, -2]).min(axis=1)
            predicted[start : start + width] = sums.argmax(axis=2)
            error = _ROUNDING * (columns.size + 1) * np.maximum(scale, self.largest[some])
            certain[start : start + width] = lead > error
        return predicted, certain
