"""Judges that know when rounding might decide: those answers they leave to the classifier itself."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags

from tamis.base.errors import TamisError
from tamis.base.parallel import run_all
from tamis.base.types import Codes, Mask, Matrix


class DoubtingJudge(ABC):
    """Base of a judge: write `_changed`, which says what it found and where it is sure.

    Parameters
    ----------
    model : estimator
        The classifier, not fitted.
    X : dense array or CSC matrix
        Training rows.
    y : int array
        Their class codes, from 0 on, each of them present.
    Z : dense array or CSC matrix
        Test rows.
    """

    def __init__(self, model: Any, X: Matrix, y: Codes, Z: Matrix) -> None:
        self.model = model
        self.X, self.y, self.Z = X, y, Z

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone joins `columns`."""
        columns, candidates = (np.ascontiguousarray(given, dtype=np.intp) for given in (columns, candidates))
        said, sure = self._changed(columns, candidates, joining=True)
        if not sure.all():
            self._ask(said, {i: np.append(columns, candidates[i]) for i in np.flatnonzero(~sure)})
        return said

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> Codes:
        """Classes named for the test rows when each candidate alone leaves `columns`."""
        columns, candidates = (np.ascontiguousarray(given, dtype=np.intp) for given in (columns, candidates))
        said, sure = self._changed(columns, candidates, joining=False)
        if not sure.all():
            self._ask(said, {i: columns[columns != candidates[i]] for i in np.flatnonzero(~sure)})
        return said

    @abstractmethod
    def _changed(self, columns: np.ndarray, candidates: np.ndarray, *, joining: bool) -> tuple[Codes, Mask]:
        """Classes named when each candidate joins or leaves, a row for each, and for which they are certain."""

    def _ask(self, said: Codes, sets: dict[Any, np.ndarray]) -> None:
        """Put the answers of the classifier itself in the place of those for some sets."""
        fits = [(self.model, self.X[:, columns], self.y, self.Z[:, columns]) for columns in sets.values()]
        said[list(sets)] = run_all(refitted, fits)


def refitted(model: Any, learn: Matrix, labels: np.ndarray, judged: Matrix) -> np.ndarray:
    """Labels that a classifier, taught on some rows, names for others.

    Rows are handed over in one form, whatever the form they come in, because sums may depend on it.
    """
    if sp.issparse(learn) and get_tags(model).input_tags.sparse:
        learn, judged = learn.tocsr(), judged.tocsr()
    elif sp.issparse(learn):
        learn, judged = learn.toarray(), judged.toarray()
    learn, judged = (np.ascontiguousarray(M) if isinstance(M, np.ndarray) else M for M in (learn, judged))
    try:
        return np.asarray(clone(model).fit(learn, labels).predict(judged))
    except Exception as error:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        name, width = type(model).__name__, learn.shape[1]
        raise TamisError(f"{name} cannot learn from a set of {width} columns: {said}") from error
