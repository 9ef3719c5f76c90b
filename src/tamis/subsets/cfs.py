"""CFS: columns that go with the classes and not with each other."""

from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.task import is_numeric
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.base.validation import centre_and_scale
from tamis.kernels.joint import GRID
from tamis.kernels.subset_merit import subset_merits
from tamis.subsets.complete_states import complete_states
from tamis.subsets.correlations import Pearson, Uncertainty
from tamis.subsets.pair_rows import PairRows, PairSource
from tamis.subsets.usable_rows import refuse_nominal, usable_rows


class CFS:
    """The merit of a set of columns by correlations: high with the classes, low among each other.

    Of a set of k columns with the mean correlation r_cf of a column and the classes, and r_ff of two columns, it is

        k r_cf / sqrt(k + k (k - 1) r_ff),

    and 0 of the empty set. Larger is better; no set is below 0.

    Parameters
    ----------
    relevance : array of shape (n_features,)
        Correlation of each column with the classes, from 0 to 1.
    pairs : PairSource
        Computes correlations of a column with all others; their signs do not count.

    Notes
    -----
    Correlations are rounded to multiples of 2^-30. Sums of them are exact, so that a set has one merit, to the last
    digit, whatever the method and the order in which it is computed; with sums above 2^23, thousands of columns that
    repeat each other, up to a relative 1e-15. The correlations of a column with all others are computed when the column
    is first in a set, and kept: n_features numbers for each such column.

    References
    ----------
    Hall (1999), "Correlation-based feature selection for machine learning"; eq. 1 of Yang and Olafsson (2005),
    "Near-optimal feature selection".

    Examples
    --------
    The second column copies the first, and adds nothing to it:

    >>> X = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1], [1, 1, 1.0]])
    >>> merit = CFS.of(X, np.array([0, 0, 0, 0, 1, 1, 1, 1]), bins="values")
    >>> merit.add(np.array([0]), np.array([1, 2])).round(3)
    array([0.189, 0.518])
    >>> merit.many(np.array([[True, True, False], [True, False, True], [False, False, False]])).round(3)
    array([0.189, 0.518, 0.   ])
    """

    #: How numeric columns become states by default.
    BINS = "modl"

    def __init__(self, relevance: FloatArray, pairs: PairSource) -> None:
        self.relevance = _rounded(relevance)
        self._pairs = PairRows(_Rounded(pairs), relevance.size, 0.0)
        #: The columns of the last set, and the sum of their correlations with each column.
        self._set = np.zeros(relevance.size, dtype=bool)
        self._sum = np.zeros(relevance.size)

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: Any,
        nominal: Any = None,
        sample_weight: Any = None,
        *,
        correlation: str = "su",
        bins: str = BINS,
        n_bins: int | None = None,
    ) -> "CFS":
        """From validated data: columns, dense or sparse, and class codes 0, 1, ..., or numbers.

        Parameters
        ----------
        X : array or CSR/CSC matrix of shape (n_rows, n_features)
            Nominal columns hold the codes of their levels; NaN is missing.
        y : array of shape (n_rows,)
            Class codes; with "pearson" numbers too, as floats.
        nominal : bool array of shape (n_features,), optional
        sample_weight : array of shape (n_rows,), optional
            A row of weight 2 counts as two rows.
        correlation : {"su", "pearson"}, default="su"
            Symmetrical uncertainty of columns as states, in which a missing value is a state of its own; or the
            absolute Pearson correlation of numeric columns without missing values. As in Hall, the latter's
            correlation with the classes is the mean over class indicators, weighted by the shares of the classes; that
            with a target of numbers is plain.
        bins : str, default="modl"
            How numeric columns become states (:func:`tamis.contingency.states.states`). As in Hall, the classes decide
            by default, and a column that says nothing of them alone is constant.
        n_bins : int, optional
            Number of states, for the ways to cut that take it.
        """
        pearson = correlation == "pearson"
        who = "CFS by Pearson correlation" if pearson else "CFS"
        X, codes, weight, named = usable_rows(X, y, sample_weight, nominal, who, numbers=pearson)
        if pearson:
            refuse_nominal(named, who)
            numbers = Pearson(X, weight, who)
            if is_numeric(codes):
                mean, deviation = centre_and_scale(codes, weight)
                return cls(np.abs(numbers.with_targets(((codes - mean) / deviation)[:, None]))[0], numbers)
            share = np.bincount(codes, weights=weight) / weight.sum()
            return cls(share @ np.abs(numbers.with_classes(codes)), numbers)
        if correlation != "su":
            raise TamisError(f"'correlation' of CFS must be su or pearson; got {correlation!r}")
        found = complete_states(X, codes, weight, named, bins=bins, n_bins=n_bins, who="CFS")
        states = Uncertainty(found, weight)
        return cls(states.with_classes(codes), states)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.relevance.size)

    def many(self, sets: Mask) -> FloatArray:
        """Merits of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        out = np.empty(sets.shape[0])
        if (new := np.flatnonzero(self._pairs.place < 0)).size:
            self._pairs.make(new[sets[:, new].any(axis=0)])
        subset_merits(np.ascontiguousarray(sets), self.relevance, self._pairs.table, self._pairs.place, out)
        return out

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Merits of the set `columns` with each of the candidates."""
        relevance, pairs = self._sums(columns)
        return _merit(relevance + self.relevance[candidates], pairs + 2.0 * self._sum[candidates], columns.size + 1)

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Merits of the set `columns` without each of the candidates."""
        relevance, pairs = self._sums(columns)
        if columns.size == 1:
            return np.zeros(candidates.size)
        return _merit(relevance - self.relevance[candidates], pairs - 2.0 * self._sum[candidates], columns.size - 1)

    def _sums(self, columns: np.ndarray) -> tuple[float, float]:
        """Sums over the set and over its ordered pairs, from those of the last set by the columns that differ."""
        wanted = np.zeros(self.n_features, dtype=bool)
        wanted[columns] = True
        changed = np.flatnonzero(wanted != self._set)
        if changed.size > columns.size:
            self._sum[:] = 0.0
            self._set[:] = False
            changed = np.flatnonzero(wanted)
        self._sum += np.where(wanted[changed], 1.0, -1.0) @ self._pairs.of(changed)
        self._set = wanted
        chosen = np.flatnonzero(wanted)
        return float(self.relevance[chosen].sum()), float(self._sum[chosen].sum())


class _Rounded:
    """Absolute correlations as multiples of 2^-30."""

    def __init__(self, pairs: PairSource) -> None:
        self._pairs = pairs

    def rows(self, columns: np.ndarray) -> FloatArray:
        return _rounded(np.abs(self._pairs.rows(columns)))


def _rounded(values: FloatArray) -> FloatArray:
    found: FloatArray = np.rint(GRID * values) / GRID
    return found


def _merit(relevance: FloatArray, pairs: FloatArray, size: int) -> FloatArray:
    found: FloatArray = relevance / np.sqrt(size + pairs)
    return found
