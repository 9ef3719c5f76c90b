"""Inconsistency: rows that agree on a set of columns and not in their class."""

from typing import Any, NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.contingency.states import States
from tamis.kernels.inconsistency import refine, set_losses
from tamis.subsets.complete_states import complete_states, dense_states
from tamis.subsets.usable_rows import usable_rows

#: Rates that differ by less are equal.
_EQUAL = 1e-12

#: States of sparse columns that are held as a dense array at a time.
_BLOCK = 50_000_000

#: Rows of partitions that are kept.
_ROOM = 5_000_000

_NOTHING = np.empty(0, dtype=np.intp)


class _Partition(NamedTuple):
    """Blocks of rows that agree on some columns, not in their class: block b is ``rows[starts[b]:starts[b + 1]]``."""

    rows: np.ndarray
    starts: np.ndarray


class Inconsistency:
    """Minus the inconsistency rate of a set of columns: the share of rows that a lookup table of the set gets wrong.

    Rows with equal states in all columns of the set form a pattern. Of the n_p rows of a pattern, those of its
    commonest class, m_p of them, are consistent:

        -sum_p (n_p - m_p) / n.

    It is at most 0, and no set scores below a set that it contains. The empty set has one pattern.

    Parameters
    ----------
    found : States
        Columns as states, all of them known.
    y : int array of shape (n_rows,)
        Class codes.
    weight : array of shape (n_rows,)

    Notes
    -----
    Patterns are found by comparison of states, not by hash values that may collide. A pattern with one class is not
    split further. With whole weights the scores of equal sets are equal to the last digit, with others to 1e-12.

    References
    ----------
    Liu and Setiono (1996), "A probabilistic approach to feature selection: a filter solution" (LVF); Almuallim and
    Dietterich (1991), "Learning with many irrelevant features" (FOCUS).

    Examples
    --------
    Two columns whose difference is the class: neither is of use alone.

    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 1, 0])
    >>> measure = Inconsistency.of(X, y)
    >>> measure.many(np.array([[False, False], [True, False], [False, True], [True, True]]))
    array([-0.5, -0.5, -0.5, -0. ])
    >>> measure.consistent(np.array([[True, False], [True, True]]))
    array([False,  True])
    """

    #: How numeric columns become states by default.
    BINS = "auto"

    def __init__(self, found: States, y: Codes, weight: FloatArray) -> None:
        self._found = found
        self._y, self._weight = y, weight
        self._total = float(weight.sum())
        self._whole = _Partition(np.arange(y.size, dtype=np.int32), np.array([0, y.size], dtype=np.int64))
        #: The last set and its partition.
        self._last: tuple[frozenset[int], _Partition] = (frozenset(), self._whole)
        self._single: dict[int, _Partition] = {}
        #: Columns that leave the smallest loss alone come first: the blocks then become small soon.
        self._order = np.argsort(-self.add(_NOTHING, np.arange(self.n_features)), kind="stable")

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: Any,
        nominal: Any = None,
        sample_weight: Any = None,
        *,
        bins: str = BINS,
        n_bins: int | None = None,
    ) -> "Inconsistency":
        """From validated data: columns, dense or sparse, and class codes 0, 1, ...

        Parameters
        ----------
        X : array or CSR/CSC matrix of shape (n_rows, n_features)
            Nominal columns hold the codes of their levels. NaN is missing, which is a state of its own.
        y : int array of shape (n_rows,)
        nominal : bool array of shape (n_features,), optional
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        bins : str, default="auto"
            How numeric columns become states (:func:`tamis.contingency.states.states`). The classes do not decide by
            default: columns that matter only together say nothing of them alone.
        n_bins : int, optional
            Number of states, for the ways to cut that take it.
        """
        X, codes, weight, named = usable_rows(X, y, sample_weight, nominal, "Inconsistency")
        found = complete_states(X, codes, weight, named, bins=bins, n_bins=n_bins, who="Inconsistency")
        return cls(found, codes, weight)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self._found.sizes.size)

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        return -self._of_sets(sets) / self._total

    def consistent(self, sets: Mask, threshold: float = 0.0) -> Mask:
        """Whether the inconsistency rate of each set is at most `threshold`; stops as soon as that is known."""
        limit = (threshold + _EQUAL) * self._total
        found: Mask = self._of_sets(sets, limit) <= limit
        return found

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        start = self._partition(columns)
        width = max(1, candidates.size if self._found.codes is not None else _BLOCK // self._y.size)
        out = np.empty(candidates.size)
        for begin in range(0, candidates.size, width):
            some = candidates[begin : begin + width]
            out[begin : begin + width] = self._losses(start, some, np.arange(some.size + 1))
        return -out / self._total

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        start = self._refined(self._whole, np.setdiff1d(columns, candidates))
        loss: dict[int, float] = {}
        self._without_each(start, self._sorted(candidates), loss)
        return np.array([-loss[int(j)] / self._total for j in candidates])

    def _without_each(self, start: _Partition, columns: np.ndarray, loss: dict[int, float]) -> None:
        """Loss of a partition refined by all of the columns but one, for each: both halves share what precedes."""
        if columns.size <= 1:
            for j in columns:
                loss[int(j)] = float(self._losses(start, _NOTHING, np.zeros(2, dtype=np.int64))[0])
            return
        half = columns.size // 2
        self._without_each(self._refined(start, columns[half:]), columns[:half], loss)
        self._without_each(self._refined(start, columns[:half]), columns[half:], loss)

    def _partition(self, columns: np.ndarray) -> _Partition:
        """The partition of a set; that of the last set is refined if it is part of it."""
        wanted = frozenset(columns.tolist())
        known, start = self._last
        if not known <= wanted:
            known, start = frozenset(), self._whole
        new = np.array(sorted(wanted - known), dtype=np.intp)
        self._last = wanted, self._refined(start, new)
        return self._last[1]

    def _refined(self, start: _Partition, columns: np.ndarray) -> _Partition:
        for j in columns:
            if start.rows.size == 0:
                break
            rows, starts = np.empty_like(start.rows), np.empty(start.rows.size + 1, dtype=np.int64)
            column = dense_states(self._found, np.array([j]))[0]
            n_blocks = refine(column, int(self._found.sizes[j]), self._y, *start, rows, starts)
            start = _Partition(rows[: starts[n_blocks]].copy(), starts[: n_blocks + 1].copy())
        return start

    def _of_sets(self, sets: Mask, limit: float | None = None) -> FloatArray:
        ordered = sets[:, self._order]
        out = np.empty(sets.shape[0])
        leading = np.where(ordered.any(axis=1), ordered.argmax(axis=1), -1)
        for place in np.unique(leading):
            some = np.flatnonzero(leading == place)
            # Most of the work is the first column, that of all rows: sets with the same one share it.
            start = self._whole if place < 0 else self._alone(int(self._order[place]))
            rest = ordered[some]
            rest[:, : place + 1] = False
            which, members = np.nonzero(rest)
            first = np.searchsorted(which, np.arange(some.size + 1)).astype(np.int64)
            out[some] = self._losses(start, self._order[members], first, limit)
        return out

    def _alone(self, column: int) -> _Partition:
        """The partition of one column, kept while there is room."""
        if column not in self._single:
            found = self._refined(self._whole, np.array([column]))
            if sum(one.rows.size for one in self._single.values()) + found.rows.size > _ROOM:
                return found
            self._single[column] = found
        return self._single[column]

    def _losses(
        self, start: _Partition, members: np.ndarray, first: np.ndarray, limit: float | None = None
    ) -> FloatArray:
        """Loss of a partition after it is split by each of some sets: set s is ``members[first[s]:first[s + 1]]``."""
        codes, sizes = self._found.codes, self._found.sizes
        if codes is None:
            used, members = np.unique(members, return_inverse=True)
            codes, sizes = dense_states(self._found, used), sizes[used]
        out = np.empty(first.size - 1)
        bound = limit is not None, 0.0 if limit is None else limit
        set_losses(codes, sizes, self._y, self._weight, *start, members.astype(np.intp), first, *bound, out)
        return out

    def _sorted(self, columns: np.ndarray) -> np.ndarray:
        """Some columns, those first that are first in `_order`."""
        place = np.empty(self.n_features, dtype=np.intp)
        place[self._order] = np.arange(self.n_features)
        return columns[np.argsort(place[columns], kind="stable")]
