"""The accuracy of a classifier, or R2 of a regressor, on a set of columns, in cross-validation."""

from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from tamis.base.errors import TamisError
from tamis.base.nominal import CodedRows
from tamis.base.predictions import RATES
from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.incremental.subset_score import SubsetScore
from tamis.subsets.usable_rows import usable_rows

#: Sets that are listed at a time.
_SETS = 4096

#: Tolerance of the solver of ridge regression.
_TOL = 1e-10


def usual_model(y: Target) -> Any:
    """The model for which sets are scored when none is given: Gaussian naive Bayes, or ridge regression of numbers.

    The solver for sparse rows runs until it reaches the solution.
    """
    return Ridge(tol=_TOL) if is_numeric(y) else GaussianNB()


class ClassifierAccuracy:
    """Mean accuracy of a classifier over folds of the rows, less `caution` deviations; 1 at most.

    Of numbers it is the mean over folds of 1 less the mean squared error of a regressor, in units of the variance of
    all rows. The empty set predicts the commonest class of the training rows, or their mean. A set of useless columns
    may score below it.

    Parameters
    ----------
    score : SubsetScore
        Updates the predictions of models that can follow a column more or less, and refits others.

    Notes
    -----
    Columns are passed to the model in ascending order: a model that draws columns at random has one score for
    a set, whatever the method that is called.

    References
    ----------
    Kohavi and John (1997), "Wrappers for feature subset selection".

    Examples
    --------
    >>> X = np.array([[0.0, 5], [1, 7], [0.5, 6], [4, 5.5], [5, 6.5], [4.5, 6.2]])
    >>> measure = ClassifierAccuracy.of(X, np.array([0, 0, 0, 1, 1, 1]), cv=3, random_state=0)
    >>> measure.many(np.array([[False, False], [True, False], [True, True]]))
    array([0.5, 1. , 1. ])
    >>> measure.remove(np.array([0]), np.array([0]))
    array([0.5])
    """

    def __init__(self, score: SubsetScore) -> None:
        self.score = score

    @classmethod
    def of(
        cls,
        X: Matrix | CodedRows,
        y: Any,
        estimator: Any = None,
        *,
        classes: Any = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        who: str = "ClassifierAccuracy",
    ) -> "ClassifierAccuracy":
        """From validated data and class codes 0, 1, ..., or numbers.

        Parameters
        ----------
        X : array, CSR/CSC matrix or CodedRows of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Class codes, or numbers as floats.
        estimator : classifier or regressor, optional
            By default that of :func:`usual_model`.
        classes : array, optional
            The label of each code, for the classifier; by default the codes.
        scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        caution : float, default=0.0
            Deviations over folds to subtract from the mean.
        cv : int, default=5
            Number of stratified folds.
        n_jobs, random_state
            As in scikit-learn.
        who : str
            The name of the method in messages.
        """
        if isinstance(X, CodedRows):
            codes = np.asarray(y)
        else:
            X, codes, _, _ = usable_rows(X, y, None, None, who, numbers=True)
        if scoring not in RATES:
            raise TamisError(f"'scoring' of {who} must be one of {', '.join(sorted(RATES))}; got {scoring!r}")
        model = usual_model(codes) if estimator is None else estimator
        return cls(
            SubsetScore.cross_validated(
                model,
                X,
                codes,
                classes,
                scoring=scoring,
                caution=caution,
                cv=cv,
                n_jobs=n_jobs,
                random_state=random_state,
                who=who,
            )
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.score.n_features

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        return self.score.many(sets)

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        if self.score.incremental:
            return self.score.add(np.sort(columns), candidates)
        return self._refitted(columns, candidates, present=True)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        if self.score.incremental:
            return self.score.remove(np.sort(columns), candidates)
        return self._refitted(columns, candidates, present=False)

    def _refitted(self, columns: np.ndarray, candidates: np.ndarray, *, present: bool) -> FloatArray:
        """Scores of the set with each of the candidates in it or not."""
        parts = [np.empty(0)]
        for start in range(0, candidates.size, _SETS):
            some = candidates[start : start + _SETS]
            sets = np.zeros((some.size, self.n_features), dtype=bool)
            sets[:, columns] = True
            sets[np.arange(some.size), some] = present
            parts.append(self.score.many(sets))
        return np.concatenate(parts)
