"""The worth of sets of columns to a classifier, by cross-validation inside a fit; what all wrappers share."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB

from tamis.base._sklearn import HasMethods, Interval, StrOptions
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION, inner_folds, worth
from tamis.base.meta_estimators import takes_missing, takes_no_negative
from tamis.base.parallel import run_all
from tamis.base.predictions import RATES
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selector
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.incremental.evaluator import Judge
from tamis.incremental.fallback import refitted
from tamis.incremental.registry import judge_for

#: Worths that differ by less are equal: rounding must not decide.
EQUAL = 1e-12

#: Sets that are judged in one task: enough to outweigh its cost, few enough to copy.
_CHUNK = 256


class ByClassifier(Selector):
    """Base of the selectors that go by the worth of sets of columns to a classifier: gives them a trial.

    A subclass has at least the parameters of which the constraints stand here.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scoring": [StrOptions(set(RATES))],
        "caution": CAUTION,
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Interval(Integral, None, None, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def _model(self) -> Any:
        return GaussianNB() if self.estimator is None else self.estimator

    def _trial(self, X: Matrix, y: Codes) -> "Trial":
        model, who = self._model(), self.part.name
        if not is_classifier(model):
            raise TamisError(f"{who}: estimator must be a classifier; got {' '.join(repr(model).split())}")
        if np.bincount(y).max() < 2:
            raise TamisError(f"{who} needs a class with at least two rows to cross-validate")
        seed = int(generator(self.random_state).integers(2**31))
        parts = inner_folds(y, self.cv, seed, who)
        models = [seeded(clone(model), spawn(seed, fold)) for fold in range(len(parts))]
        balanced = self.scoring == "balanced_accuracy"
        folds = [_Fold.of(m, *rows, y, self.classes_, balanced) for m, rows in zip(models, parts, strict=True)]
        return Trial(X, folds, float(self.caution), self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self._model())
        tags.input_tags.positive_only = takes_no_negative(self._model())
        return tags


@dataclass(frozen=True, eq=False)
class _Fold:
    """A seeded classifier, the rows it learns from and those it is judged on, and their classes."""

    model: Any
    train: np.ndarray
    test: np.ndarray
    #: Labels of all classes, and the codes of the training and of the test rows.
    classes: np.ndarray
    known: Codes
    truth: Codes
    #: Masks of the groups of test rows whose shares of right answers are averaged.
    groups: list[Mask]

    @classmethod
    def of(
        cls, model: Any, train: np.ndarray, test: np.ndarray, y: Codes, classes: np.ndarray, balanced: bool
    ) -> "_Fold":
        truth = y[test]
        groups = [truth == c for c in np.unique(truth)] if balanced else [np.ones(test.size, dtype=bool)]
        return cls(model, train, test, classes, y[train], truth, groups)

    @property
    def commonest(self) -> int:
        return int(np.bincount(self.known).argmax())

    @property
    def one_class(self) -> bool:
        """Whether the training rows have no more: a small class may lie in the test rows alone."""
        return bool(self.known.min() == self.known.max())

    def fitted(self, learn: Matrix, judged: Matrix) -> Codes:
        """What the classifier, taught on some columns of the training rows, says of the test rows."""
        said = refitted(self.model, learn, self.classes[self.known], judged)
        return np.searchsorted(self.classes, said).astype(np.intp, copy=False)

    def accuracy(self, said: Codes) -> FloatArray:
        """How well each row of answers does."""
        right = said == self.truth
        if len(self.groups) == 1:
            return right.mean(axis=1)
        return np.mean([right[:, group].mean(axis=1) for group in self.groups], axis=0)


class Trial:
    """The worth of sets of columns: mean accuracy over folds, less `caution` deviations.

    A classifier that has a judge (:mod:`tamis.incremental.evaluator`) answers through it, any other is fitted for every
    set, with the same result. A set in which all columns are constant in the training rows of a fold tells nothing, and
    not every classifier bears to learn nothing: it counts there as if it named the commonest class.

    Parameters
    ----------
    X : array or sparse matrix
    folds : list of _Fold
    caution : float
    n_jobs : int, optional
        Processes that fit side by side.
    """

    def __init__(self, X: Matrix, folds: list[_Fold], caution: float, n_jobs: int | None) -> None:
        self.folds = folds
        self.caution = caution
        self.n_jobs = n_jobs
        factory = judge_for(folds[0].model)
        if factory is not None and X.dtype != np.float64:
            # Judges compute in double precision, and fits must not differ from them.
            X = X.astype(np.float64)
        self.X = X.tocsc() if sp.issparse(X) else X
        judges = None if factory is None else [_judge_of(fold, factory, self.X) for fold in folds]
        #: Whether sets are judged without a fit for each.
        self.updates = judges is not None and None not in judges
        self._judges: list[_FoldJudge] = [judge for judge in judges or [] if judge is not None]

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Worth of the set `columns` with each of the candidates."""
        if self.updates:
            return self._worth([judge.add(columns, candidates) for judge in self._judges])
        # A few tasks for each worker, so that none waits long for the last.
        size = int(np.clip(candidates.size // (4 * effective_n_jobs(self.n_jobs)), 1, _CHUNK))
        tasks, own = [], np.arange(columns.size)
        for start in range(0, candidates.size, size):
            chunk = candidates[start : start + size]
            sets = [np.append(own, columns.size + i) for i in range(chunk.size)]
            tasks.append((self.folds, self.X[:, np.concatenate((columns, chunk))], sets))
        return self._refits(tasks)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Worth of the set `columns` without each of the candidates."""
        if self.updates:
            return self._worth([judge.remove(columns, candidates) for judge in self._judges])
        sets = [np.flatnonzero(columns != j) for j in candidates]
        size = int(np.clip(len(sets) // (4 * effective_n_jobs(self.n_jobs)), 1, _CHUNK))
        part = self.X[:, columns]
        return self._refits([(self.folds, part, sets[start : start + size]) for start in range(0, len(sets), size)])

    def of(self, columns: np.ndarray) -> float:
        """Worth of one set."""
        return float(self.add(columns[:-1], columns[-1:])[0])

    def _refits(self, tasks: list[tuple[list[_Fold], Matrix, list[np.ndarray]]]) -> FloatArray:
        return self._worth(list(np.concatenate(run_all(_fold_by_fold, tasks, self.n_jobs), axis=1)))

    def _worth(self, accuracy: list[FloatArray]) -> FloatArray:
        # Stored by set, so that a mean is added up as that of a lone row of folds would be.
        return worth(np.ascontiguousarray(np.array(accuracy).T).T, self.caution)


@dataclass(frozen=True, eq=False)
class _FoldJudge:
    """A judge with its fold, for sets in which all columns may be constant too."""

    fold: _Fold
    #: None where there is but one class.
    judge: Judge | None
    present: Codes
    constant: Mask

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Accuracy of the set with each candidate."""
        flat = self.constant[candidates] if self.constant[columns].all() else np.zeros(candidates.size, dtype=bool)
        return self._heard("add", columns, candidates, flat)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Accuracy of the set without each candidate."""
        varying = columns[~self.constant[columns]]
        flat = candidates == varying[0] if varying.size == 1 else np.full(candidates.size, varying.size == 0)
        return self._heard("remove", columns, candidates, flat)

    def _heard(self, question: str, columns: np.ndarray, candidates: np.ndarray, flat: Mask) -> FloatArray:
        asked = np.zeros_like(flat) if self.judge is None else ~flat
        if asked.all():
            return self.fold.accuracy(self.present[getattr(self.judge, question)(columns, candidates)])
        said = np.full((candidates.size, self.fold.test.size), self.fold.commonest, dtype=np.intp)
        if asked.any():
            said[asked] = self.present[getattr(self.judge, question)(columns, candidates[asked])]
        return self.fold.accuracy(said)


def _judge_of(fold: _Fold, factory: Any, X: Matrix) -> _FoldJudge | None:
    """The judge of a fold, or None if the classifier has none for its parameters."""
    present, codes = np.unique(fold.known, return_inverse=True)
    learn, judged = (_by_rows(X, rows) for rows in (fold.train, fold.test))
    judge = None
    if not fold.one_class:
        judge = factory(fold.model, learn, codes.astype(np.intp, copy=False), judged)
        if judge is None:
            return None
    return _FoldJudge(fold, judge, present, _constant(learn))


def _fold_by_fold(folds: list[_Fold], part: Matrix, sets: list[np.ndarray]) -> FloatArray:
    """Accuracy in each fold of sets of columns of a part of the table, by a fit for each; (folds, sets)."""
    accuracy = np.empty((len(folds), len(sets)))
    for f, fold in enumerate(folds):
        learn, judged = (_by_rows(part, rows) for rows in (fold.train, fold.test))
        constant = _constant(learn)
        for i, columns in enumerate(sets):
            if fold.one_class or constant[columns].all():
                said = np.full(fold.test.size, fold.commonest)
            else:
                said = fold.fitted(learn[:, columns], judged[:, columns])
            accuracy[f, i] = fold.accuracy(said[None, :])[0]
    return accuracy


def _constant(rows: Matrix) -> Mask:
    """Which columns have one value in all rows."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    same = low.toarray() == high.toarray() if sp.issparse(rows) else low == high
    return np.asarray(same, dtype=bool).ravel()


def _by_rows(X: Matrix, rows: np.ndarray) -> Matrix:
    """Some rows; of a sparse matrix stored so that a column is cheap to take."""
    return X.tocsr()[rows].tocsc() if sp.issparse(X) else X[rows]
