"""HighDOD: the subspaces in which given rows are outliers."""

import heapq
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.nominal import TakesNominal
from tamis.base.part import Part
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray
from tamis.base.validation import column_names, forget, named_columns
from tamis.engines.progress import Step, Wanted, progress_bar
from tamis.kernels.outlying_degree import full_degree
from tamis.outliers.lattice import largest_size, lattice
from tamis.outliers.outlying_row import OutlyingRow, Subspace
from tamis.outliers.reference import Reference, degrees
from tamis.outliers.search import SEARCHES, Found, Sample, search
from tamis.outliers.threshold import level_threshold, peak, share_threshold

#: Rows whose degrees set the threshold.
_SAMPLE = 200

#: The half-width of the interval, and its confidence, by which the paper sets the size of the sample.
_WIDTH, _CONFIDENCE = 0.1, 0.95


class _Rows(BaseEstimator):
    """Reads dense rows of numbers, in which values may be missing."""

    part: ClassVar[Part]
    accepts_missing: ClassVar[bool] = True

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        found = validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")
        return (found, y) if reset else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class HighDOD(TakesNominal, _Rows):
    """Find the minimal subspaces in which given rows are unlike their nearest neighbours.

    The outlying degree of a row p in a set s of columns is the sum of its distances to its k nearest other rows,

    ``OD_s(p) = sum_{i=1..k} D_s(p, p_i)``, ``D_s(p, q) = (sum_{j in s} |p_j - q_j|^a)^(1/a)``

    where numbers are divided by the range of their column in the rows of `fit`, and two symbols of a nominal column
    differ by 0 or 1. It never falls when columns are added. So s is outlying, ``OD_s(p) >= T``, with all its supersets,
    or not outlying with all its subsets: most subspaces need no computation. Found are the minimal ones, which have no
    smaller outlying subspace inside.

    All undecided subspaces of one size are evaluated together. The next size is the one with which the fewest
    evaluations are expected in all (:func:`~tamis.outliers.order.next_size`), by the shares of outlying subspaces among
    those of a sample of the rows. The order changes the time, and never what is found.

    Parameters
    ----------
    n_neighbors : int, default=5
        The paper's k; fewer than there are rows.
    threshold : float, "auto" or "level", default="auto"
        The paper's T. "auto" takes the value that `contamination` describes, "level" the paper's: `factor` times the
        average degree in the full space, as estimated from single columns
        (:func:`~tamis.outliers.threshold.level_threshold`). Where columns are many, almost every row passes "level" in
        some subspace.
    contamination : float, default=0.05
        With "auto": at most this share of 200 rows drawn at random, and one at least, are outlying in a subspace of up
        to `max_features` columns.
    factor : float, default=2.0
        With "level": the paper's C.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        The exponent a is 2 or 1. With 1 nominal columns are compared by the paper's simple matching.
    max_features : int, "auto" or None, default="auto"
        The most columns of a subspace. All minimal outlying subspaces up to this size are found; larger ones are not
        searched. "auto" takes 3, or fewer while there are more than 262,144 subspaces. None takes all columns, which
        can be 21 at most.
    search : {"dynamic", "saving", "saving_flat", "top_down", "bottom_up", "random"}, default="dynamic"
        The order of the sizes. "saving" is the paper's, by the total saving factor of a size
        (:func:`~tamis.outliers.search.total_saving`), and "saving_flat" the same with even chances in place of the
        sample's shares. "top_down" only prunes the subsets of subspaces that are not outlying, "bottom_up" only the
        supersets of outlying ones, and "random" takes sizes at random.
    n_samples : int, default=20
        With "dynamic" and "saving": the most rows that are searched for their shares of outlying subspaces, the paper's
        S. Of the 200 rows at random these are the first that are outlying in all columns together; the others have no
        outlying subspace. It pays when more rows than these are asked for.
    random_state : int, Generator, RandomState or None, default=None
        Draws the samples, and the order of the random search.

    Attributes
    ----------
    threshold_ : float
    max_features_ : int
    shares_ : array of shape (max_features_,)
        The assumed probabilities that a subspace of size 1, 2, ... of any row is outlying.
    n_samples_needed_ : int
        With "dynamic" and "saving": the sample by which each share is known within 0.1 with a confidence of 95 %, by
        the paper's section 3.5.
    n_features_in_ : int
    nominal_ : bool array of shape (n_features,)
    levels_ : dict of int to array of str

    Notes
    -----
    The paper divides by the number of nominal columns; then degrees could fall when columns are added, so this does
    not. A missing value of another row adds the mean difference of two rows with known values. A column without a value
    in the row itself is in none of its subspaces, for nothing is known of the row there. In a column with one value any
    other value differs by 1. A row with k copies has a degree of 0 everywhere and is never outlying.

    When `max_features` is smaller than the number of columns, all columns together are tried first: a row that is not
    outlying there is not outlying anywhere.

    References
    ----------
    Zhang (2005), "Detecting outlying subspaces for high-dimensional data: a heuristic search approach".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.outliers import HighDOD
    >>> X = np.array([[i / 20, i / 20, i % 7] for i in range(21)])
    >>> X[4, :2] = 0.2, 0.9
    >>> (found,) = HighDOD(3, random_state=0).fit(X).outlying_subspaces([4])
    >>> found.sentence()
    'row 4 is unlike its neighbours in x0 and x1'
    """

    part: ClassVar[Part] = Part("highdod", ("n_neighbors",), paper="Zhang 2005")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [integer(1)],
        "threshold": [real(0, None), StrOptions({"auto", "level"})],
        "contamination": [real(0, 1, "left")],
        "factor": [real(0, None)],
        "metric": [StrOptions({"euclidean", "manhattan"})],
        "max_features": [integer(1), StrOptions({"auto"}), None],
        "search": [StrOptions(set(SEARCHES))],
        "n_samples": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        threshold: float | str = "auto",
        contamination: float = 0.05,
        factor: float = 2.0,
        metric: str = "euclidean",
        max_features: int | str | None = "auto",
        search: str = "dynamic",
        n_samples: int = 20,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.contamination = contamination
        self.factor = factor
        self.metric = metric
        self.max_features = max_features
        self.search = search
        self.n_samples = n_samples
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, progress: Wanted = None) -> Self:
        """Take the rows that others are compared with, and learn the threshold and the shares from samples.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_features)
            Numbers and text; values may be missing. Sparse matrices are not taken.
        y : ignored
        progress : callable or bool, optional
            Called with the work done and the total; False for silence. By default a bar appears on a terminal.
        """
        self._validate_params()
        forget(self)
        values, _ = self._read(X, reset=True)
        n_rows, n_columns = values.shape
        if n_rows <= self.n_neighbors:
            raise TamisError(
                f"n_neighbors={self.n_neighbors} needs {self.n_neighbors + 1} samples (rows) or more; got {n_rows} "
                f"sample{'s' if n_rows > 1 else ''}"
            )
        self._reference = Reference.of(values, self.nominal_, metric=self.metric)
        self.max_features_ = largest_size(self.max_features, n_columns)
        # One seed for all that is random, so that a Generator is used once.
        self._seed = int(generator(self.random_state).integers(2**32))
        rows = generator(self._seed, 0).permutation(n_rows)[:_SAMPLE]
        with progress_bar("sampling rows", progress) as step:
            self.threshold_, whole = self._threshold(rows, step)
            self._sample = Sample.even(self.max_features_)
            if self.search in ("dynamic", "saving") and self.max_features_ > 1:
                outlying = whole >= self.threshold_
                self._learn_shares(rows[outlying][: self.n_samples], float(outlying.mean()), step)
        self.shares_ = self._sample.mean
        return self

    def outlying_degree(self, rows: Any, columns: Sequence[int | str] | None = None) -> FloatArray:
        """The outlying degrees of rows in a subspace, by default in all columns.

        Parameters
        ----------
        rows : int, sequence of int, array or data frame
            Numbers of rows of `fit`, from 0, or new rows with the columns of `fit`.
        columns : sequence of int or str, optional
            Names of columns, or numbers from 0. Those without a value in a row are left out.

        Returns
        -------
        array of shape (n_rows,)
        """
        wanted = self._wanted(columns, "outlying_degree")
        return np.array([self._degree(x, row, wanted) for x, row in self._rows(rows)])

    def outlying_subspaces(self, rows: Any, *, progress: Wanted = None) -> list[OutlyingRow]:
        """The minimal outlying subspaces of rows.

        Parameters
        ----------
        rows : int, sequence of int, array or data frame
            Numbers of rows of `fit`, from 0, or new rows with the columns of `fit`, which are not their own neighbours.
        progress : callable or bool, optional
            Called with the work done and the total; False for silence. By default a bar appears on a terminal.

        Returns
        -------
        list of OutlyingRow
            One for each row, in order.
        """
        wanted = self._rows(rows)
        found = []
        with progress_bar("searching subspaces", progress) as step:
            for place, (x, row) in enumerate(wanted):
                found.append(self._outlying_row(x, row, place, _within(step, place, len(wanted))))
        return found

    def neighbours(self, row: Any, columns: Sequence[int | str] | None = None) -> np.ndarray:
        """The numbers of the `n_neighbors` rows nearest to a row in a subspace, by default in all columns.

        Parameters
        ----------
        row : int, array or data frame
            The number of a row of `fit`, from 0, or one new row.
        columns : sequence of int or str, optional
            Names of columns, or numbers from 0. Those without a value in the row are left out.

        Returns
        -------
        int array
            The nearest first; of equal distances the row that is nearest in all columns.
        """
        ((x, number),) = self._rows(row)
        gaps, known, order = self._reference.gaps(x, number)
        chosen = self._chosen(known, self._wanted(columns, "neighbours"))
        near = np.argsort(gaps[chosen].sum(axis=0), kind="stable")
        return order[near[: self.n_neighbors]]

    def most_outlying(self, n: int = 5, *, progress: Wanted = None) -> np.ndarray:
        """The numbers of the rows of `fit` with the highest degrees in all columns, the highest first.

        A row is left as soon as its degree is known to be below the highest n so far.
        """
        check_is_fitted(self)
        reference = self._reference
        # Rows of one kind often stand together in a file; in random order some near rows come early.
        order = generator(self._seed, 1).permutation(reference.n_rows)
        values = np.ascontiguousarray(reference.columns.T[order])
        highest: list[tuple[float, int]] = []
        with progress_bar("comparing rows", progress) as step:
            for done, place in enumerate(np.argsort(order).tolist()):
                least = highest[0][0] if len(highest) == n else -np.inf
                found = full_degree(
                    values, reference.nominal, reference.missing, place, self.n_neighbors, reference.squared, least
                )
                # Of equal degrees the earlier row is taken.
                if len(highest) < n:
                    heapq.heappush(highest, (found, -done))
                elif found > least:
                    heapq.heapreplace(highest, (found, -done))
                if step is not None and done % 256 == 0:
                    step(done, reference.n_rows)
        return np.array([-row for _, row in sorted(highest, reverse=True)], dtype=np.intp)

    def _wanted(self, columns: Sequence[int | str] | None, where: str) -> list[int] | None:
        """The numbers of the columns of a subspace; None for all."""
        check_is_fitted(self)
        if columns is None:
            return None
        return named_columns(columns, self.n_features_in_, column_names(self), f"{where}: columns")

    def _rows(self, rows: Any) -> list[tuple[FloatArray, int | None]]:
        """Scaled rows, with their numbers where they are rows of `fit`."""
        check_is_fitted(self)
        reference = self._reference
        numbers: Any = [rows] if isinstance(rows, Integral) else rows
        if not hasattr(rows, "columns") and np.ndim(numbers) == 1:
            for one in numbers:
                if not isinstance(one, Integral) or isinstance(one, bool) or not 0 <= int(one) < reference.n_rows:
                    raise TamisError(f"rows takes numbers from 0 to {reference.n_rows - 1}, or a table; got {one!r}")
            return [(reference.columns[:, int(one)], int(one)) for one in numbers]
        return [(x, None) for x in reference.scaled(self._read(rows, reset=False))]

    def _degree(self, x: FloatArray, row: int | None, wanted: list[int] | None) -> float:
        gaps, known, _ = self._reference.gaps(x, row)
        chosen = self._chosen(known, wanted)
        if not chosen:
            return 0.0
        subspace = np.array([chosen[::-1]], dtype=np.int32)
        return float(degrees(gaps, subspace, self.n_neighbors, squared=self._reference.squared)[0])

    def _chosen(self, known: np.ndarray, wanted: list[int] | None) -> list[int]:
        """The places among the columns known in a row of the wanted ones."""
        return [place for place, j in enumerate(known.tolist()) if wanted is None or j in wanted]

    def _threshold(self, rows: np.ndarray, step: Step | None) -> tuple[float, FloatArray]:
        """The threshold, and the degrees of the sampled rows in all columns."""
        reference, k = self._reference, self.n_neighbors
        whole = np.zeros(rows.size)
        peaks = np.zeros(rows.size)
        single = np.full((rows.size, len(reference.columns)), np.nan)
        for place, row in enumerate(rows.tolist()):
            gaps, known, _ = reference.gaps(reference.columns[:, row], row)
            whole[place] = peak(gaps, known.size, k, squared=reference.squared)
            if self.threshold == "level":
                columns = np.arange(known.size, dtype=np.int32)[:, None]
                single[place, known] = degrees(gaps, columns, k, squared=reference.squared)
            elif self.threshold == "auto":
                peaks[place] = peak(gaps, self.max_features_, k, squared=reference.squared)
            if step is not None:
                step(place + 1, rows.size)
        if self.threshold == "level":
            n_known = np.maximum((~np.isnan(single)).sum(axis=0), 1)
            means = np.nansum(single, axis=0) / n_known
            return level_threshold(means, self.factor, squared=reference.squared), whole
        if self.threshold == "auto":
            return share_threshold(peaks, self.contamination), whole
        return float(self.threshold), whole

    def _learn_shares(self, outlying: np.ndarray, rate: float, step: Step | None) -> None:
        """The shares of outlying subspaces by size of sampled rows, and the sample that they would need."""
        shares = []
        for place, row in enumerate(outlying.tolist()):
            gaps, _, _ = self._reference.gaps(self._reference.columns[:, row], row)
            found = self._search(gaps, place, _within(step, place, outlying.size))
            shares.append(np.append(found.shares(), np.ones(self.max_features_))[: self.max_features_])
        if not shares:
            return
        self._sample = Sample(np.array(shares), rate)
        if len(shares) > 1:
            spread = float(np.std(shares, axis=0, ddof=1).max())
            quantile = float(student.ppf(0.5 + _CONFIDENCE / 2, len(shares) - 1))
            self.n_samples_needed_ = int(np.ceil((quantile * spread / _WIDTH) ** 2))

    def _search(self, gaps: FloatArray, task: int, report: Callable[[float], None]) -> Found:
        """All subspaces of a row decided."""
        reference = self._reference
        spaces = lattice(len(gaps), min(self.max_features_, len(gaps)))
        evaluate = partial(degrees, gaps, k=self.n_neighbors, squared=reference.squared, threshold=self.threshold_)
        n_first = 0
        if spaces.largest < len(gaps):
            n_first = 1
            everything = np.arange(len(gaps), dtype=np.int32)[None, ::-1].copy()
            if evaluate(everything)[0] < self.threshold_:
                return Found({m: np.zeros(len(each), dtype=bool) for m, each in spaces.members.items()}, {}, 1)
        found = search(
            spaces,
            evaluate,
            self.threshold_,
            order=self.search,
            sample=self._sample.up_to(spaces.largest),
            rng=generator(spawn(self._seed, 2, task)),
            progress=report,
        )
        return Found(found.outlying, found.degrees, found.n_evaluated + n_first)

    def _outlying_row(self, x: FloatArray, row: int | None, place: int, report: Callable[[float], None]) -> OutlyingRow:
        reference, names = self._reference, column_names(self)
        gaps, known, _ = reference.gaps(x, row)
        subspaces, n_subspaces, n_evaluated, degree = [], 0, 0, 0.0
        if known.size:
            found = self._search(gaps, place, report)
            spaces = lattice(known.size, min(self.max_features_, known.size))
            n_subspaces, n_evaluated = spaces.size, found.n_evaluated
            degree = self._degree(x, row, None)
            for members, values in found.minimal(spaces) if found.degrees else ():
                for columns, value in zip(known[members][:, ::-1].tolist(), values.tolist(), strict=True):
                    subspaces.append(Subspace(tuple(columns), tuple(names[j] for j in columns), value))
        unknown = tuple(np.flatnonzero(np.isnan(x)).tolist())
        subspaces.sort(key=lambda one: (len(one.columns), -one.degree, one.columns))
        return OutlyingRow(
            row=row,
            name=f"new row {place}" if row is None else f"row {row}",
            threshold=self.threshold_,
            degree=degree,
            subspaces=subspaces,
            largest=min(self.max_features_, known.size),
            unknown_columns=unknown,
            unknown=tuple(names[j] for j in unknown),
            n_columns=len(names),
            n_subspaces=n_subspaces,
            n_evaluated=n_evaluated,
        )


def _within(step: Step | None, place: int, total: int) -> Callable[[float], None]:
    """Progress within one of several rows."""
    if step is None:
        return lambda share: None
    return lambda share: step(place + share, total)
