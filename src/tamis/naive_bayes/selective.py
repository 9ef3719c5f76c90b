"""Naive Bayes on columns that are selected one after another."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.utils import gen_batches

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.nominal import TakesNominal
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import bearing_rows, class_prior
from tamis.bins.cuts import Cuts, starts
from tamis.contingency.states import METHODS, cuts_of, in_columns, stored_states
from tamis.kernels.selective_bayes import likelihood_with
from tamis.naive_bayes.additive import Counted, Lookup, dense_states
from tamis.naive_bayes.level_states import LevelStates, in_states, level_states
from tamis.naive_bayes.ratio_logs import RatioLogs

#: Values of dense columns whose states are computed at a time.
_BLOCK = 4_000_000

#: Values that differ by less are equal.
_CLOSE = 1e-9


@dataclass(frozen=True)
class TrainingRows:
    """The training rows as states of the candidates, the `columns` with more than one state.

    `counted`, `table`, of shape (n_layers, n_places, n_classes), and `listed` (``indptr``, ``rows``, ``places`` and
    ``base`` of the kernels) are those of the candidates; `levels` are the states of all nominal columns. All numbers of
    `table` are multiples of those of `logs`.
    """

    columns: np.ndarray
    levels: LevelStates
    counted: Counted
    classes: Codes
    weight: FloatArray
    logs: RatioLogs
    table: FloatArray
    listed: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

    def joined(self, evidence: FloatArray, candidate: int) -> FloatArray:
        """The evidence with the terms of one more column."""
        indptr, rows, places, base = self.listed
        at = np.full(self.classes.size, base[candidate])
        own = slice(indptr[candidate], indptr[candidate + 1])
        at[rows[own]] = places[own]
        layer = self.classes if len(self.table) > 1 else 0
        return np.asarray(evidence + self.table[layer, at])

    def kernel_arguments(self, evidence: FloatArray, candidates: np.ndarray) -> tuple[Any, ...]:
        """The last arguments of the kernels: the evidence, the rows, the candidates, and the output."""
        return evidence, self.classes, self.weight, candidates, np.empty(candidates.size)

    def likelihood(self, evidence: FloatArray, candidates: np.ndarray) -> FloatArray:
        """Log-likelihood of the classes when each candidate joins."""
        arguments = self.kernel_arguments(evidence, candidates)
        likelihood_with(*self.listed, self.table, *arguments)
        found: FloatArray = arguments[-1]
        return found


class Step(NamedTuple):
    """A column that joined, as a place among the candidates, and the measure with it."""

    candidate: int
    value: float


class Found(NamedTuple):
    """A finished search: the rows, the evidence without any column, its measure, and the steps."""

    rows: TrainingRows
    start: FloatArray
    nothing: float
    steps: list[Step]


class Selective(SharedFit, TakesNominal, WeightedClassifier):
    """Base of naive Bayes on columns that join one after another while the measure improves.

    A subclass defines ``_measure(rows, evidence, candidates)``, the measure when each candidate joins (or, for None,
    without another), and may override ``_layers``, ``_begin_evidence`` and ``_end``.
    """

    gives_probabilities = True
    accepts_missing = True
    #: The columns for a smaller k are the first of those for a larger one.
    shared_parameters = ("k",)
    k: int | None
    bins: str
    n_bins: int | None
    alpha: float
    tol: float
    class_weight: str | None = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "bins": [StrOptions(set(METHODS))],
        "n_bins": [integer(2), None],
        "alpha": [real(0, None)],
        "tol": [real(0, None, "left")],
    }

    @abstractmethod
    def _measure(self, rows: TrainingRows, evidence: FloatArray, candidates: np.ndarray | None) -> FloatArray:
        """The measure; larger is better."""

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> Found:
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, self.part.name)
        rows, start = self._held(X, y, weight)
        most = max(rows.columns.size if one.k is None else one.k for one in estimators)
        nothing = float(self._measure(rows, start, None)[0])
        return Found(rows, start, nothing, self._search(rows, start, nothing, most))

    def _search(self, rows: TrainingRows, evidence: FloatArray, reached: float, most: int) -> list[Step]:
        steps: list[Step] = []
        left = np.arange(rows.columns.size)
        while left.size and len(steps) < most:
            value = self._measure(rows, evidence, left)
            if not value.max() > reached + self.tol + _CLOSE:
                break
            equal = left[value >= value.max() - _CLOSE]
            # Ties on the measure go to the largest likelihood, so that the order of the columns does not matter.
            likely = rows.likelihood(evidence, equal)
            best = int(equal[np.flatnonzero(likely >= likely.max() - _CLOSE * abs(likely.max()))[0]])
            reached = float(value.max())
            evidence = rows.joined(evidence, best)
            steps.append(Step(best, reached))
            left = left[left != best]
        return steps

    def _finish(self, prepared: Found) -> None:
        rows, start, nothing, steps = prepared
        steps = steps[: self.k]
        self.level_states_ = rows.levels
        chosen = np.array([step.candidate for step in steps], dtype=np.intp)
        self.chosen_ = rows.columns[chosen]
        self.used_ = np.zeros(self.n_features_in_, dtype=bool)
        self.used_[self.chosen_] = True
        self.path_ = np.array([nothing, *(step.value for step in steps)])
        self.prior_ = class_prior(rows.classes, rows.weight, class_weight=self.class_weight)
        first, cuts = rows.counted.first, rows.counted.cuts
        places = [np.arange(first[c], first[c + 1]) for c in chosen]
        table = self._plain(rows)[np.concatenate([np.empty(0, dtype=np.intp), *places])]
        values = [cuts.values[cuts.first[c] : cuts.first[c + 1]] for c in chosen]
        # Plain arrays, which a model file can hold.
        self._terms = cuts.count[chosen], np.concatenate([np.empty(0), *values]), table
        self._log_prior = self._log_priors(rows.logs, rows.classes, rows.weight)
        self._end(rows, start, chosen)

    def _end(self, rows: TrainingRows, start: FloatArray, chosen: np.ndarray) -> None:
        """Hook for what depends on the selected columns."""

    def _amounts(self, y: Codes, weight: FloatArray) -> FloatArray:
        """The amounts that counts of rows are sums of."""
        return weight

    def _plain(self, rows: TrainingRows) -> FloatArray:
        """Term of each place in new rows, of shape (n_places, n_classes)."""
        return log_shares(rows.counted, rows.logs, self.alpha).T

    def _layers(self, counted: Counted, logs: RatioLogs, y: Codes, weight: FloatArray) -> FloatArray:
        """The table of the search: one layer, or one for the rows of each class."""
        return log_shares(counted, logs, self.alpha).T[None]

    def _begin_evidence(self, logs: RatioLogs, y: Codes, weight: FloatArray) -> FloatArray:
        """Evidence of the training rows without any column."""
        return np.tile(self._log_priors(logs, y, weight), (y.size, 1))

    def _log_priors(self, logs: RatioLogs, y: Codes, weight: FloatArray) -> FloatArray:
        size = np.bincount(y, weights=weight).astype(np.float64, copy=False)
        return np.zeros(size.size) if self.class_weight else logs.ratio(size, size.sum(keepdims=True))

    def _held(self, X: Matrix, y: Codes, weight: FloatArray) -> tuple[TrainingRows, FloatArray]:
        levels = level_states(X, y, weight, self.levels_, grouped=self.bins == "modl")
        X = in_columns(in_states(X, np.ones_like(self.nominal_), levels))
        nominal = self.nominal_ if self.nominal_.any() else None
        cuts = cuts_of(X, y, self.bins, self.n_bins, nominal, weight)
        # Where no column is cut, one constant candidate is left, which will not join.
        columns = np.flatnonzero(cuts.count) if cuts.values.size else np.zeros(1, dtype=np.intp)
        cuts = Cuts.counted(cuts.count[columns], cuts.values)
        X = X[:, columns]
        counted = Counted.between(cuts, X, y, weight)
        listed = sparse_places(X, counted) if sp.issparse(X) else dense_places(X, counted)
        largest = float(weight.sum() + self.alpha * (cuts.count.max() + 1))
        logs = RatioLogs.of(self._amounts(y, weight), alpha=self.alpha, n_terms=columns.size, largest=largest)
        table = np.ascontiguousarray(self._layers(counted, logs, y, weight))
        start = self._begin_evidence(logs, y, weight)
        return TrainingRows(columns, levels, counted, y, weight, logs, table, listed), start

    def _evidence(self, X: Matrix) -> FloatArray:
        """Evidence for the classes in validated rows."""
        start: FloatArray = np.tile(self._log_prior, (X.shape[0], 1))
        if not self.chosen_.size:
            return start
        count, values, table = self._terms
        X = in_states(X, np.ones_like(self.nominal_), self.level_states_)[:, self.chosen_]
        return start + Lookup(Cuts.counted(count, values), table).evidence(X)

    def _decision(self, X: Any) -> FloatArray:
        return np.asarray(softmax(self._evidence(X), axis=1))


def log_shares(counted: Counted, logs: RatioLogs, alpha: float) -> FloatArray:
    """Logarithm of the smoothed share of each state in each class; 0 for missing values (:meth:`Counted.shares`)."""
    first = counted.first
    known = np.add.reduceat(counted.counts, first[:-1], axis=1) + alpha * (counted.cuts.count + 1)
    found = logs.ratio(counted.counts + alpha, np.repeat(known, np.diff(first), axis=1))
    found[:, first[:-1]] = 0.0
    return found


def sparse_places(X: Matrix, counted: Counted) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``indptr``, ``rows``, ``places`` and ``base`` of a canonical CSC matrix; ``base`` is the place of zero."""
    stored, zero = stored_states(X, counted.cuts)
    first, entries = counted.first[:-1] + 1, np.diff(X.indptr)
    base, places = first + zero, stored + np.repeat(first, entries)
    other = places != np.repeat(base, entries)
    return starts(other)[X.indptr], X.indices[other].astype(np.int32, copy=False), places[other].astype(np.int32), base


def dense_places(X: FloatArray, counted: Counted) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same of an array; ``base`` is the place of each column's most frequent state."""
    first, total = counted.first, counted.counts.sum(axis=0)
    top = np.repeat(np.maximum.reduceat(total, first[:-1]), np.diff(first))
    highest = np.flatnonzero(total == top)
    owner = np.searchsorted(first, highest, side="right") - 1
    base = highest[np.unique(owner, return_index=True)[1]].astype(np.int64)
    width = max(1, _BLOCK // max(1, X.shape[0]))
    count, rows, places = [np.empty(0, dtype=np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for some in gen_batches(X.shape[1], width):
        at = (dense_states(X[:, some], counted.cuts.between(some.start, some.stop)) + first[some] + 1).T
        other = at != base[some, None]
        count.append(other.sum(axis=1))
        rows.append(np.nonzero(other)[1].astype(np.int32))
        places.append(at[other].astype(np.int32))
    return starts(np.concatenate(count)), np.concatenate(rows), np.concatenate(places), base
