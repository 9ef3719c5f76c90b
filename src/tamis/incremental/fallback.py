"""Evaluators that refit the model wherever rounding could decide a prediction."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from tamis.base.errors import TamisError
from tamis.base.nominal import CodedRows, TakesNominal
from tamis.base.parallel import run_all
from tamis.base.types import Mask, Matrix, Target


class EvaluatorWithFallback(ABC):
    """Base of an evaluator: write `_evaluate`, which predicts and reports where its predictions are certain.

    It is made from an unfitted classifier or regressor, training rows `X`, their target `y`, and test rows `Z`; rows
    are dense or CSC. The target holds class codes, from 0 on and all present, or numbers.
    """

    def __init__(self, model: Any, X: Matrix, y: Target, Z: Matrix) -> None:
        self.model = model
        self.X, self.y, self.Z = X, y, Z

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> Target:
        """Predictions of the test rows when each candidate alone joins `columns`."""
        return self._certain(columns, candidates, joining=True)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> Target:
        """Predictions of the test rows when each candidate alone leaves `columns`."""
        return self._certain(columns, candidates, joining=False)

    @abstractmethod
    def _evaluate(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Target, Mask]:
        """Predictions when each candidate joins or leaves, a row each, and whether each row is certain."""

    def _certain(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> Target:
        """Predictions, with a refit in place of each row that is not certain."""
        columns, candidates = (np.ascontiguousarray(given, dtype=np.intp) for given in (columns, candidates))
        predicted, certain = self._evaluate(columns, candidates, joining=joining)
        open_rows = np.flatnonzero(~certain)
        if open_rows.size:
            sets = [np.append(columns, j) if joining else columns[columns != j] for j in candidates[open_rows]]
            fits = [(self.model, self.X[:, some], self.y, self.Z[:, some]) for some in sets]
            predicted[open_rows] = run_all(refitted, fits)
        return predicted


def refitted(model: Any, train: Matrix, labels: np.ndarray, test: Matrix) -> np.ndarray:
    """Labels or numbers that a copy of a model, fitted on the training rows, predicts for the test rows.

    Rows are passed on in one memory layout, whatever theirs, because sums may depend on it.
    """
    if isinstance(train, CodedRows) and not isinstance(model, TakesNominal):
        # The steps of a pipeline read texts.
        train, test = train.frame(), test.frame()
    elif sp.issparse(train) and get_tags(model).input_tags.sparse:
        train, test = train.tocsr(), test.tocsr()
    elif sp.issparse(train):
        train, test = train.toarray(), test.toarray()
    train, test = (np.ascontiguousarray(M) if isinstance(M, np.ndarray) else M for M in (train, test))
    try:
        return np.asarray(clone(model).fit(train, labels).predict(test))
    except Exception as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        name, width = type(model).__name__, train.shape[1]
        raise TamisError(f"{name} cannot be fitted on a set of {width} columns: {reason}") from error
