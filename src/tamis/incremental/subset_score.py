"""The score of sets of columns for a model, by cross-validation inside a fit; shared by all wrappers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone

from tamis.base.errors import TamisError
from tamis.base.inner_cv import cautious_mean, inner_folds
from tamis.base.meta_estimators import check_classifier, check_regressor
from tamis.base.nominal import CodedRows
from tamis.base.parallel import run_all
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.base.validation import centre_and_scale
from tamis.incremental.evaluator import IncrementalEvaluator
from tamis.incremental.registry import Factory, evaluator_for, nominal_too
from tamis.incremental.scored_folds import ClassFold, NumberFold, ScoredFold

#: Digits of the scores of numbers: beyond them is rounding, which must not decide between columns that are alike.
_DIGITS = 10

#: Most sets fitted in one task: enough to outweigh its cost, few enough to copy.
_CHUNK = 256


class SubsetScore:
    """The score of sets of columns: mean accuracy over folds, less `caution` deviations.

    Of numbers the score of a fold is 1 less the mean squared error in units of the variance of all rows: R2, with one
    variance for all folds, so that sets are in the order of their mean squared errors.

    A model with an incremental evaluator (:mod:`tamis.incremental.evaluator`) is evaluated by it, any other is refitted
    for every set, with the same result. Where all columns of a set are constant in the training rows of a fold, the
    prediction is the commonest class or the mean: not every model can be fitted on constants.
    """

    def __init__(self, X: Matrix | CodedRows, folds: list[ScoredFold], caution: float, n_jobs: int | None) -> None:
        self.folds = folds
        self.caution = caution
        self.n_jobs = n_jobs
        factory = evaluator_for(folds[0].model)
        self.X: Any = X
        if isinstance(X, CodedRows):
            factory = factory if nominal_too(folds[0].model) else None
        else:
            # Evaluators compute in double precision, and refits must not differ from them.
            self.X = X.tocsc() if sp.issparse(X) else X
            self.X = self.X if factory is None else self.X.astype(np.float64, copy=False)
        found = [] if factory is None else [_fold_evaluator(fold, factory, self.X) for fold in folds]
        #: Whether sets are scored without a refit for each.
        self.incremental = factory is not None and None not in found
        self._evaluators = [evaluator for evaluator in found if evaluator is not None]

    @classmethod
    def cross_validated(
        cls,
        model: Any,
        X: Matrix | CodedRows,
        y: Target,
        classes: np.ndarray | None,
        *,
        scoring: str,
        caution: float,
        cv: int,
        n_jobs: int | None,
        random_state: Any,
        who: str,
    ) -> "SubsetScore":
        """Scores of a model on stratified folds of the rows; `who` names the method in messages.

        `classes` are the labels of class codes; the model is a regressor where `y` holds numbers.
        """
        seed = int(generator(random_state).integers(2**31))
        folds: list[ScoredFold]
        if is_numeric(y):
            check_regressor(model, f"{who}: estimator")
            if scoring != "accuracy":
                raise TamisError(f"{who}: scoring={scoring} is for classes, and the target holds numbers")
            deviation = centre_and_scale(y)[1]
            folds = [
                NumberFold(seeded(clone(model), spawn(seed, i)), train, test, y[train], y[test], deviation)
                for i, (train, test) in enumerate(inner_folds(y, cv, seed, who))
            ]
            return cls(X, folds, float(caution), n_jobs)
        check_classifier(model, f"{who}: estimator")
        if np.bincount(y).max() < 2:
            raise TamisError(f"{who} needs a class with at least two rows to cross-validate")
        labels = np.arange(int(y.max()) + 1) if classes is None else np.asarray(classes)
        balanced = scoring == "balanced_accuracy"
        folds = [
            ClassFold(seeded(clone(model), spawn(seed, i)), train, test, y[train], y[test], labels, balanced)
            for i, (train, test) in enumerate(inner_folds(y, cv, seed, who))
        ]
        return cls(X, folds, float(caution), n_jobs)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features).

        Sets that differ in their last column alone are evaluated together. The empty set predicts the commonest class
        or the mean.
        """
        if not self.incremental:
            tasks = []
            for chunk in self._chunks(sets.shape[0]):
                used = np.flatnonzero(sets[chunk].any(axis=0))
                tasks.append((self.folds, self.X[:, used], [np.flatnonzero(row) for row in sets[chunk][:, used]]))
            return self._refits(tasks) if tasks else np.empty(0)
        alike: dict[tuple[int, ...], list[int]] = {}
        columns = [np.flatnonzero(row) for row in sets]
        scores = np.empty(sets.shape[0])
        for i, some in enumerate(columns):
            if some.size:
                alike.setdefault(tuple(some[:-1].tolist()), []).append(i)
            else:
                scores[i] = self.of(some)
        for rest, numbers in alike.items():
            last = np.array([columns[i][-1] for i in numbers])
            scores[numbers] = self.add(np.array(rest, dtype=np.intp), last)
        return scores

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Score of the set `columns` with each of the candidates."""
        if self.incremental:
            return self._mean([evaluator.add(columns, candidates) for evaluator in self._evaluators])
        tasks, own = [], np.arange(columns.size)
        for chunk in self._chunks(candidates.size):
            some = candidates[chunk]
            sets = [np.append(own, columns.size + i) for i in range(some.size)]
            tasks.append((self.folds, self.X[:, np.concatenate((columns, some))], sets))
        return self._refits(tasks)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Score of the set `columns` without each of the candidates."""
        if self.incremental:
            return self._mean([evaluator.remove(columns, candidates) for evaluator in self._evaluators])
        sets = [np.flatnonzero(columns != j) for j in candidates]
        part = self.X[:, columns]
        return self._refits([(self.folds, part, sets[chunk]) for chunk in self._chunks(len(sets))])

    def of(self, columns: np.ndarray) -> float:
        """Score of one set."""
        if columns.size == 0:
            return float(self._mean([fold.scores(fold.uninformed[None, :]) for fold in self.folds])[0])
        return float(self.add(columns[:-1], columns[-1:])[0])

    def _chunks(self, n_sets: int) -> list[slice]:
        """A few tasks for each worker, so that none waits long for the last."""
        size = int(np.clip(n_sets // (4 * effective_n_jobs(self.n_jobs)), 1, _CHUNK))
        return [slice(start, start + size) for start in range(0, n_sets, size)]

    def _refits(self, tasks: list[tuple[list[ScoredFold], Matrix, list[np.ndarray]]]) -> FloatArray:
        return self._mean(list(np.concatenate(run_all(_refit_each, tasks, self.n_jobs), axis=1)))

    def _mean(self, scores: list[FloatArray]) -> FloatArray:
        # Stored by set, so that a mean is summed as that of a single row of folds would be.
        found = cautious_mean(np.ascontiguousarray(np.array(scores).T).T, self.caution)
        return found.round(_DIGITS) if isinstance(self.folds[0], NumberFold) else found


@dataclass(frozen=True, eq=False)
class _FoldEvaluator:
    """An evaluator with its fold, for sets in which all columns may be constant too."""

    fold: ScoredFold
    #: None where the training rows have one class or number only.
    evaluator: IncrementalEvaluator | None
    constant: Mask

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Score of the set with each candidate."""
        flat = self.constant[candidates] if self.constant[columns].all() else np.zeros(candidates.size, dtype=bool)
        return self._scores("add", columns, candidates, flat)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Score of the set without each candidate."""
        varying = columns[~self.constant[columns]]
        flat = candidates == varying[0] if varying.size == 1 else np.full(candidates.size, varying.size == 0)
        return self._scores("remove", columns, candidates, flat)

    def _scores(self, change: str, columns: np.ndarray, candidates: np.ndarray, flat: Mask) -> FloatArray:
        predicted = np.repeat(self.fold.uninformed[None, :], candidates.size, axis=0)
        if self.evaluator is not None and not flat.all():
            predicted[~flat] = self.fold.decoded(getattr(self.evaluator, change)(columns, candidates[~flat]))
        return self.fold.scores(predicted)


def _fold_evaluator(fold: ScoredFold, factory: Factory, X: Matrix) -> _FoldEvaluator | None:
    """The evaluator of a fold, or None if the model has none for its parameters."""
    train, test = (_by_rows(X, rows) for rows in (fold.train, fold.test))
    evaluator = None if fold.one_value else factory(fold.model, train, fold.target, test)
    if evaluator is None and not fold.one_value:
        return None
    return _FoldEvaluator(fold, evaluator, _constant(train))


def _refit_each(folds: list[ScoredFold], part: Matrix, sets: list[np.ndarray]) -> FloatArray:
    """Scores, (n_folds, n_sets), of sets of columns of a part of the table, by a fit for each."""
    scores = np.empty((len(folds), len(sets)))
    for f, fold in enumerate(folds):
        train, test = (_by_rows(part, rows) for rows in (fold.train, fold.test))
        constant = _constant(train)
        for i, columns in enumerate(sets):
            if fold.one_value or constant[columns].all():
                predicted = fold.uninformed
            else:
                predicted = fold.refitted(train[:, columns], test[:, columns])
            scores[f, i] = fold.scores(predicted[None, :])[0]
    return scores


def _constant(rows: Matrix) -> Mask:
    """Which columns have one value in all rows."""
    if isinstance(rows, CodedRows):
        # A missing value among others is one more.
        first, values = rows.matrix[:1], rows.matrix
        return np.asarray(((values == first) | (np.isnan(values) & np.isnan(first))).all(axis=0))
    low, high = rows.min(axis=0), rows.max(axis=0)
    same = low.toarray() == high.toarray() if sp.issparse(rows) else low == high
    return np.asarray(same, dtype=bool).ravel()


def _by_rows(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some rows; of a sparse matrix in CSC form, so that taking a column is cheap."""
    return X.tocsr()[rows].tocsc() if sp.issparse(X) else X[rows]
