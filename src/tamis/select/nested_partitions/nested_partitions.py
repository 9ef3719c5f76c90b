"""Nested partitions: decide one column after the other, in or out, by random sets from the regions that this leaves."""

from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.seeds import generator
from tamis.base.selector import Selection
from tamis.base.types import FloatArray, Mask
from tamis.contingency.tables import class_information
from tamis.select.nested_partitions.coded_states import coded_states
from tamis.select.nested_partitions.regions import Area, Region
from tamis.select.nested_partitions.rinott import rinott
from tamis.select.nested_partitions.sampled_rows import SampledEvaluations
from tamis.select.nested_partitions.sampling_rate import VarianceCurve
from tamis.subsets.evaluations import Evaluations, ScoredSubset, Stopped
from tamis.subsets.measure import Measure
from tamis.subsets.measures import MEASURES
from tamis.subsets.search import SubsetSearch

#: Rates at which the variance of scores over samples of rows is measured, those with this many rows at least.
_RATES, _FEWEST_ROWS = (0.02, 0.05, 0.1, 0.2, 0.4), 10

#: Sets that are evaluated for it, and samples of rows at each rate.
_SETS, _SAMPLES = 4, 8

#: Sets of an iteration above which `delta` is refused.
_MOST_SETS = 1e7

#: Iterations for each column, unless told otherwise.
_ITERATIONS = 100


class _Drawn(NamedTuple):
    """The best set drawn from an area, in the order of the decisions, and its score."""

    one: Mask
    scored: ScoredSubset


class NestedPartitions(SubsetSearch):
    """Nested partitions: decide one column after the other, in or out, where random sets score best.

    The columns are ordered by their information gain. The most promising region, at first all sets, is split by the
    next column: sets with it and sets without. Random sets are drawn from both parts and from what surrounds the
    region. The area with the best of them decides: one of the parts becomes the most promising region, or, if it is
    the surrounding, the last decision is undone (a backtrack). The search ends when all columns are decided.

    Sets can be evaluated on a sample of the rows, which is drawn anew for every iteration: a decision that one sample
    got wrong is undone by the next. With `two_stage` the search finds how many sets and rows it needs. Let S_j^2 be the
    variance of the scores of n0 sets from area j; the number of sets is then

        N_j = max(n0 + 1, ceil(h^2 S_j^2 / delta^2)),

    with Rinott's constant h for three areas and the probability `psi`, and the share of the rows is

        R = -(1 / c2) log((1 - trade_off) c0 delta^2 n_rows / (trade_off h^2 c1 c2)),

    which minimises the weighted sum of the sets to draw and the cost c0 of the rows of an evaluation. The variance of a
    score over samples of rows is c1 exp(-c2 R), fitted to a few sets on samples of five sizes.

    Parameters
    ----------
    measure, estimator, bins, scoring, caution, cv, max_evaluations, n_jobs
        As for :class:`BestFirst`. Yang and Olafsson take "cfs".
    n_sets : int, default=20
        Sets to draw from each area, without `two_stage`.
    sampling_rate : float, optional
        Share of the rows in each iteration's sample. By default all rows; with `two_stage` the rate R above.
    two_stage : bool, default=False
        Whether to draw as many sets as the variance of their scores requires (TSNP).
    n0 : int, default=10
        Sets in the first stage, at least 2.
    delta : float, default=0.01
        Difference of scores that does not matter (the indifference zone), in units of the measure: 0.01 is one
        percentage point of merit or accuracy. A tenth of it takes a hundred times as many sets.
    psi : float, default=0.95
        Probability, above one half, with which the area of an iteration is to be chosen right.
    trade_off : float, default=0.5
        Between 0 and 1, the weight of the sets to draw against that of the rows: more takes more rows and fewer sets.
    draw : {"sizes", "coin"}, default="sizes"
        "sizes" draws the share of the columns in a set, and then the columns, so that small and large sets take part as
        medium ones do. "coin" has each column in a set with probability one half.
    keep_best : bool, default=True
        Whether the best set of an iteration takes part in the next one.
    max_iter : int, optional
        Most iterations; by default 100 for each column.
    random_state : int, Generator, RandomState or None, default=None
        Seeds sets and rows, and the folds of the measure "classifier".

    Attributes
    ----------
    chosen_, n_evaluations_, complete_
        As for :class:`BestFirst`. A set counts once for each sample of rows on which it is evaluated.
    score_ : float
        The score on all rows of the selected columns.
    trace_ : list of (int, int array, float)
        As for :class:`BestFirst`; on samples of rows the best set of each iteration with its score on the sample.
    n_rows_evaluated_ : int
        The cost of the search: the rows of all evaluations, those that find the sampling rate included.
    sampling_rate_ : float
        Share of the rows in a sample; NaN if the search ended before it was known.
    variance_curve_ : (float, float) or None
        c1 and c2, if the rate was found by them.
    partition_order_ : int array of shape (n_features,)
        The columns in the order of their decisions.
    depths_ : list of int
        Columns that were decided at the beginning of each iteration, and at the end of the last.
    n_iter_, n_backtracks_ : int
        Iterations, and how many of them undid a decision.
    guarantee_ : (float, float) or None
        With `two_stage`, if the search was complete: `delta`, and the probability (eq. 5)
        Psi = psi^n / ((1 - psi)^n + psi^n) of a score at most `delta` below the best one of all sets of the n columns.

    See Also
    --------
    BestFirst : Exact scores of many neighbouring sets in place of random ones.

    Notes
    -----
    Where the paper is open or the text allows two readings:

    - A backtrack goes to the region that the present one is part of. "The previous iteration's region" would be the
      deeper one after a backtrack, and the search would not leave it.
    - A sample has the same share of each class, and one row of it at least, without repetition. All areas of an
      iteration use the same rows. Where numeric columns count as states, they are cut once, on all rows.
    - A set has at least one column. An area with no more sets than are to be drawn is evaluated completely. In the
      first iteration nothing surrounds the region; h is that of three areas all the same.
    - The cost c0 of a row is 0.01 of that of a set more, whatever the machine. In the paper it is a measured time; its
      rates imply about as much. The variance is that of 4 sets over 8 samples of the rows at each of the rates 0.02,
      0.05, 0.1, 0.2 and 0.4 that have 10 rows. The rate is not below the lowest of these; with fewer than two of them
      it is 1. All squares of scores are divided by delta^2, so that percent and shares give the same rate.
    - The paper draws sets at random without a word on how, and keeps no set for the next iteration: ``draw="coin",
      keep_best=False``. Among many columns few of such sets are small, and the best sets often are.
    - On all rows the best set of all evaluated is selected, on samples that of the last region. When a limit ends the
      search, it is the best set of the last complete iteration.

    Psi assumes that the areas are chosen right, independently, with probability `psi`. Rinott proves this for means of
    normal scores, and the method compares the best of each area: Psi is a statement of the model, not of the data.

    References
    ----------
    Yang and Olafsson (2005), "Near-optimal feature selection"; Olafsson (2004), "Two-stage nested partitions method for
    stochastic optimization"; Shi and Olafsson (2000), "Nested partitions method for global optimization".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import NestedPartitions
    >>> X, y = np.random.default_rng(0).normal(size=(1000, 8)), np.repeat([0, 1], 500)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> NestedPartitions(random_state=0).fit(X, y).chosen_
    array([1, 3])
    >>> found = NestedPartitions(two_stage=True, delta=0.05, psi=0.75, random_state=0).fit(X, y)
    >>> found.chosen_, found.sampling_rate_ < 0.5, round(found.guarantee_[1], 4)
    (array([1, 3]), True, 0.9998)
    """

    part: ClassVar[Part] = Part(
        "nested_partitions",
        positional=("measure",),
        paper="Yang and Olafsson 2005",
        phrase="selects features by nested partitions with the measure {measure}",
        numbers_only=SubsetSearch.numbers_only,
        only=SubsetSearch.only,
        limits=Limits(columns=500),
    )
    tasks = ("classify",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: takes for name, takes in SubsetSearch._parameter_constraints.items() if name != "task"},
        "n_sets": [integer(1)],
        "sampling_rate": [real(0, 1, "right"), None],
        "two_stage": ["boolean"],
        "n0": [integer(2)],
        "delta": [real(0, None)],
        "psi": [real(0.5, 1)],
        "trade_off": [real(0, 1)],
        "draw": [StrOptions({"sizes", "coin"})],
        "keep_best": ["boolean"],
        "max_iter": [integer(1), None],
    }

    def __init__(
        self,
        measure: str = "cfs",
        *,
        estimator: Any = None,
        bins: str | None = None,
        scoring: str = "accuracy",
        caution: float = 0.0,
        cv: int = 5,
        n_sets: int = 20,
        sampling_rate: float | None = None,
        two_stage: bool = False,
        n0: int = 10,
        delta: float = 0.01,
        psi: float = 0.95,
        trade_off: float = 0.5,
        draw: Literal["sizes", "coin"] = "sizes",
        keep_best: bool = True,
        max_iter: int | None = None,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            measure,
            estimator=estimator,
            bins=bins,
            scoring=scoring,
            caution=caution,
            cv=cv,
            max_evaluations=max_evaluations,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.n_sets = n_sets
        self.sampling_rate = sampling_rate
        self.two_stage = two_stage
        self.n0 = n0
        self.delta = delta
        self.psi = psi
        self.trade_off = trade_off
        self.draw = draw
        self.keep_best = keep_best
        self.max_iter = max_iter

    def _select(self, X: Any, y: Any) -> Selection:
        rng = generator(self.random_state)
        if sp.issparse(X):
            X = X.tocsr()
        gain = class_information(X, y, None, by=self.bins or "auto", nominal=self.nominal_)
        self.partition_order_ = np.argsort(-gain, kind="stable")
        made_by = self
        cut = self.bins or MEASURES[self.measure].bins
        if cut is not None and MEASURES[self.measure].by_states and (self.two_stage or self.sampling_rate is not None):
            # Few rows cut a column elsewhere than many, or not at all: a set would be another one on every sample.
            X = coded_states(X, y, self.nominal_, cut, self.part.name)
            made_by = copy(self)
            made_by.nominal_ = np.ones(X.shape[1], dtype=bool)

        def measured(rows: np.ndarray) -> Measure:
            return made_by._measured(X[rows], y[rows], int(rng.integers(2**31)))

        with SampledEvaluations(measured, y, self.max_evaluations) as scores:
            found = self._searched(scores, rng)
        if self.sampling_rate_ != 1.0:
            self.trace_ = [(used, one.columns, one.score) for used, one in scores.rounds]
        self.n_rows_evaluated_ = scores.n_rows_evaluated
        self.n_iter_ = len(self.depths_) - 1
        self.guarantee_: tuple[float, float] | None = None
        if self.two_stage and self.complete_:
            odds_against = (1.0 / self.psi - 1.0) ** scores.n_features
            self.guarantee_ = float(self.delta), 1.0 / (1.0 + odds_against)
        return found

    def _walk(self, scores: Evaluations, rng: np.random.Generator) -> Iterator[ScoredSubset]:
        assert isinstance(scores, SampledEvaluations)
        region, best = Region((), scores.n_features), None
        self.depths_, self.n_backtracks_ = [0], 0
        self.sampling_rate_ = np.nan
        self.variance_curve_: VarianceCurve | None = None
        self.sampling_rate_ = rate = self._rate(scores, rng)
        for _ in range(_ITERATIONS * scores.n_features if self.max_iter is None else self.max_iter):
            if rate < 1.0:
                scores.sample(rate, rng)
            areas = self._areas(region)
            found = [self._best(scores, area, best if self.keep_best else None, rng) for area in areas]
            place = 0
            for other in range(1, len(found)):
                if found[other].scored.beats(found[place].scored):
                    place = other
            best = found[place].one
            scores.rounds.append((scores.used, found[place].scored))
            if areas[place].surrounding:
                self.n_backtracks_ += 1
                region = region.parent
            else:
                region = areas[place].region
            self.depths_.append(region.depth)
            if region.single:
                break
            yield found[place].scored
        else:
            raise Stopped
        if rate < 1.0:
            yield scores.on_all_rows(self.partition_order_[region.only])
        elif scores.best is not None:
            yield scores.best

    def _stopped(self, scores: Evaluations, found: ScoredSubset) -> ScoredSubset:
        assert isinstance(scores, SampledEvaluations)
        if self.sampling_rate_ == 1.0 or not scores.rounds:
            found = super()._stopped(scores, found)
        return scores.on_all_rows(found.columns)

    def _areas(self, region: Region) -> list[Area]:
        """Both parts of a region and what surrounds it, as far as there are sets in them."""
        sizes = self.draw == "sizes"
        parts = [Area(region.child(included), sizes=sizes) for included in (True, False)]
        return [area for area in (*parts, Area(region, surrounding=True, sizes=sizes)) if area.n_sets]

    def _best(self, scores: Evaluations, area: Area, known: Mask | None, rng: np.random.Generator) -> _Drawn:
        """The best of the sets that are drawn from an area, and of a known set if it belongs to it."""
        best = None if known is None or not area.holds(known) else self._first(scores, known[None])[0]
        size, found = self.n0 if self.two_stage else self.n_sets, []
        for sets in area.batches(size, rng):
            best, some = self._first(scores, sets, best)
            found.append(some)
        if self.two_stage and not area.listed(size):
            for sets in area.batches(self._more(np.concatenate(found), area), rng):
                best, _ = self._first(scores, sets, best)
        assert best is not None
        return best

    def _first(self, scores: Evaluations, sets: Mask, best: _Drawn | None = None) -> tuple[_Drawn, FloatArray]:
        """The best of some sets and a former best one, and the scores."""
        columns = np.zeros_like(sets)
        columns[:, self.partition_order_] = sets
        found = scores.many(columns)
        place = np.lexsort((sets.sum(axis=1), -found.round(12)))[0]
        scored = ScoredSubset(np.flatnonzero(columns[place]), float(found[place]))
        if best is not None and not scored.beats(best.scored):
            return best, found
        return _Drawn(sets[place], scored), found

    def _more(self, found: FloatArray, area: Area) -> float:
        """Sets to draw in the second stage, after the scores of the first."""
        variance = float(found.var(ddof=1))
        wanted = max(self.n0 + 1.0, np.ceil((self._h() / self.delta) ** 2 * variance))
        if wanted > _MOST_SETS and not area.listed(wanted) and self.max_evaluations is None:
            raise TamisError(
                f"{self.part.name}: delta={self.delta:g} needs {wanted:.0e} sets in an iteration, as scores deviate by "
                f"{variance**0.5:.2g}; take a larger delta, or set max_evaluations"
            )
        return wanted if area.listed(wanted) else wanted - self.n0

    def _h(self) -> float:
        return rinott(int(self.n0), 3, float(self.psi))

    def _rate(self, scores: SampledEvaluations, rng: np.random.Generator) -> float:
        """The sampling rate: given, or found by the variance of scores over samples of the rows."""
        if self.sampling_rate is not None or not self.two_stage:
            return 1.0 if self.sampling_rate is None else float(self.sampling_rate)
        rates = np.array([rate for rate in _RATES if rate * scores.n_rows >= _FEWEST_ROWS])
        if rates.size < 2:
            return 1.0
        area = Area(Region((), scores.n_features), sizes=self.draw == "sizes")
        sets = np.concatenate(list(area.batches(_SETS, rng)))
        variances = []
        for rate in rates:
            samples = []
            for _ in range(_SAMPLES):
                scores.sample(rate, rng)
                samples.append(self._first(scores, sets)[1])
            variances.append(np.var(samples, axis=0, ddof=1).mean())
        self.variance_curve_ = curve = VarianceCurve.fitted(rates, np.array(variances))
        rate = curve.optimal_rate(
            self._h(), float(self.delta), scores.n_rows, float(self.trade_off), lowest=float(rates[0])
        )
        if rate == 1.0:
            scores.sample(1.0, rng)
        return rate
