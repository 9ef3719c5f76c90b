"""The contract of a transform that puts what its bin tells of the target in place of each value."""

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.inner_cv import out_of_fold, target_vectors, transform_folds
from tamis.base.seeds import generator
from tamis.base.task import is_numeric
from tamis.base.transformer import SupervisedTransformer
from tamis.base.types import FloatArray, Matrix, Target
from tamis.base.validation import canonical
from tamis.bins.pieces import Pieces


class BinTransform(SupervisedTransformer):
    """Base of the transforms that learn a function of each column, piece by piece, from the target.

    A subclass has the parameters `min_rows`, `cv` and `random_state`, and writes ``_find(X, y, rng)``, which sets the
    fitted attributes, and ``_pieces()``, which returns them as :class:`~tamis.bins.pieces.Pieces`. Values of the
    training rows out of fold, of missing values and of sparse input are inherited.

    Attributes
    ----------
    missing_ : float array of shape (n_features, n_outputs)
        What a missing value becomes.
    zero_ : float array of shape (n_features, n_outputs)
        What is subtracted: nothing when fitted on an array; when fitted on a sparse matrix what the value 0 becomes, so
        that zeros stay zeros.
    """

    accepts_missing: ClassVar[bool] = True
    min_rows: int
    cv: int | None
    random_state: Any

    @abstractmethod
    def _find(self, X: Matrix, y: Target, rng: np.random.Generator) -> None:
        """Find the bins of validated rows."""

    @abstractmethod
    def _pieces(self) -> Pieces:
        """The function of each column."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give each row the values of the bins found on the other folds."""
        self.fit(X, y)
        if self.cv is None:
            return self._apply(self._checked(X, reset=False))
        X, y = self._begin(X, y)
        rng = generator(self.random_state, 1)
        folds = transform_folds(y, self.cv, rng, self.part.name)
        return out_of_fold(
            lambda train, test: self._of_fold(X[train], y[train], rng).values(X[test]), self._shifted(y), folds
        )

    def _of_fold(self, X: Matrix, y: Target, rng: np.random.Generator) -> Pieces:
        """The function of each column found on the training rows of a fold; the fit on all rows stays as it is."""
        return copy(self)._learned(X, y, rng)

    def _shifted(self, y: Target) -> FloatArray:
        """For each row the numbers whose means over all rows and over a fold differ by as much as its values do."""
        return self._vectors(y)

    def _learn(self, X: Matrix, y: Target = None) -> None:
        self._learned(X, y, generator(self.random_state))

    def _learned(self, X: Matrix, y: Target, rng: np.random.Generator) -> Pieces:
        """Set the fitted attributes, and return the function of each column."""
        self.missing_ = self._of_missing(X, y)
        self.zero_ = np.zeros_like(self.missing_)
        self._find(X, y, rng)
        if sp.issparse(X):
            self.zero_ = self._pieces().at_zero()
        return self._pieces()

    def _apply(self, X: Matrix) -> Matrix:
        pieces = self._pieces()
        if sp.issparse(X) and (pieces.at_zero() != pieces.zero).any():
            raise TamisError(
                f"{self.part.name} was fitted on an array in which zero has a value of its own; a sparse matrix cannot "
                "hold it: fit it on a sparse matrix"
            )
        return pieces.values(X)

    def _vectors(self, y: Target) -> FloatArray:
        """For each row the numbers whose mean is the value of a bin: class indicators but the first, or the target."""
        return target_vectors(y, range(0) if is_numeric(y) else range(1, self.classes_.size))

    def _of_missing(self, X: Matrix, y: Target) -> FloatArray:
        """The value of a missing entry in each column: that of the rows that lack it, or of all where these are few."""
        if sp.issparse(X):
            X = canonical(X)
            entries = np.flatnonzero(np.isnan(X.data))
            rows, columns = np.searchsorted(X.indptr, entries, side="right") - 1, X.indices[entries]
        else:
            rows, columns = np.nonzero(np.isnan(X))
        vectors = self._vectors(y)
        found = np.zeros((X.shape[1], vectors.shape[1]))
        np.add.at(found, columns, vectors[rows])
        count = np.bincount(columns, minlength=X.shape[1])
        few = count < self.min_rows
        found[~few] /= count[~few, None]
        found[few] = vectors.mean(axis=0)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The tag that allows fit_transform to differ from transform.
        tags.non_deterministic = self.cv is not None
        return tags
