"""What the classifiers that come from another library share: one hook makes the estimator, the rest is inherited."""

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.classifier import Classifier
from tamis.base.row_weights import bearing_rows, row_terms
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Mask, Matrix


class Wrapped(Classifier):
    """Base of a classifier that another library fits.

    A subclass writes ``_make(n_features, n_classes)``, which returns the estimator with the parameters of this one,
    seeded and on one thread: processes are decided outside. Rows of weight 0 are left out before it sees them. With
    ``balance=True`` a row of class c weighs n / (k n_c) times as much, for the n_c of n rows in it, of k classes.

    Attributes
    ----------
    classes_ : array
    model_ : estimator
        The fitted estimator; its classes are the places in ``classes_``.
    """

    gives_probabilities = True

    @abstractmethod
    def _make(self, n_features: int, n_classes: int) -> Any:
        """The estimator, not yet fitted."""

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        if sample_weight is not None:
            X, y, sample_weight, _ = bearing_rows(X, y, sample_weight, self.classes_, type(self).part.name)
        self.model_ = self._train(narrow(X), y, self._cost(y, sample_weight))

    def _train(self, X: Matrix, y: Codes, cost: FloatArray | None) -> Any:
        """The estimator, fitted to rows that cost so much each, or all the same."""
        model = self._make(X.shape[1], self.classes_.shape[0])
        return model.fit(X, y) if cost is None else model.fit(X, y, sample_weight=cost)

    def _cost(self, y: Codes, weight: FloatArray | None) -> FloatArray | None:
        """The weight that each row has for the estimator; None when it is the same for all."""
        if not getattr(self, "balance", False):
            return weight
        return row_terms(y, np.ones(y.shape[0]) if weight is None else weight, balance=True, ridge=0.0)[0]

    def _decision(self, X: Any) -> FloatArray:
        return np.asarray(self.model_.predict_proba(narrow(X)), dtype=np.float64)

    def _seed(self) -> int:
        """A seed as scikit-learn and LightGBM take it."""
        return int(generator(self.random_state).integers(2**31))


def narrow(X: Matrix) -> Matrix:
    """The same rows; sparse ones as a matrix with 32-bit column numbers, for compiled solvers read no others."""
    if not sp.issparse(X):
        return X
    places = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return sp.csr_matrix((X.data, *places), shape=X.shape)


def mask_of(columns: Any, n_features: int) -> Mask:
    """Mask of the columns with these numbers."""
    used = np.zeros(n_features, dtype=bool)
    used[columns] = True
    return used
