"""The trials of one search: its recipes, and the result of each on the folds within the search's rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.task import Task
from tamis.base.types import FloatArray
from tamis.mining.variation import Candidate
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split, StratifiedFolds
from tamis.validation.metrics import Metric

#: Most training rows of a first look.
_FIRST_ROWS = 1000

#: Test rows of the smallest class wanted in the three levels of evaluation, and the most repeats to get them.
_ENOUGH = (40, 80, 300)
_REPEATS = (1, 2, 5)

#: Test rows that suffice to compare models, if all classes had the size of the smallest: of many rows, some of the
#: folds have them.
_PLENTY = 600

#: Share of the splits of a level from which on an unfinished trial counts as nearly finished.
_NEARLY = 3 / 4

#: Fewest folds of a first look.
_FIRST_FOLDS = 2

#: Trials with a first look and all folds from which on it is known how far apart these are, and the standard deviations
#: by which a first look may be behind.
_KNOWN, _REACH = 4, 3.0


@dataclass(frozen=True, eq=False)
class InnerFolds:
    """The folds within the rows of one search, at three levels of evaluation.

    Attributes
    ----------
    splits : tuple of Split
        All splits. The levels and the results of trials refer to them by position.
    first : tuple of int
        A first look: two folds or more, with fewer training rows where there are many.
    folds : tuple of int
        Every row in one test fold, or in two where rows are few; only some of the folds where rows are many.
    all : tuple of int
        All repeats of the folds.
    """

    splits: tuple[Split, ...]
    first: tuple[int, ...]
    folds: tuple[int, ...]
    all: tuple[int, ...]

    def name(self, number: int) -> str:
        """The name of a split in the store."""
        split = self.splits[number]
        return f"{'few rows ' if number in self.first and number not in self.all else ''}{split.repeat}.{split.fold}"

    def repeats(self, splits: Sequence[int], values: FloatArray) -> FloatArray:
        """Values with one column a split, averaged over each repeat of the folds; unchanged if there is one repeat."""
        numbers = np.array([self.splits[i].repeat for i in splits])
        if np.unique(numbers).size == 1:
            return values
        return np.column_stack([np.nanmean(values[:, numbers == repeat], axis=1) for repeat in np.unique(numbers)])

    @property
    def test_to_train(self) -> float:
        """Test rows per training row."""
        folds = [self.splits[i] for i in self.all]
        return sum(s.test.size for s in folds) / sum(s.train.size for s in folds)


def inner_folds(
    rows: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    *,
    search: int,
    folds: int,
    seed: int,
    task: Task = "classify",
) -> InnerFolds:
    """Split the rows of a search into folds.

    `y` and `groups` have one entry per row of the data; for numbers `y` are the quantiles by which folds are
    stratified. The number of the search is part of the seeds.
    """
    sizes = np.unique(y[rows], return_counts=True)[1]
    if task == "regress":
        # As many rows decide as with two classes.
        sizes = np.array([rows.size // 2, rows.size - rows.size // 2])
    smallest = int(sizes.min())
    repeats = [int(np.clip(-(-enough // smallest), 1, most)) for enough, most in zip(_ENOUGH, _REPEATS, strict=True)]
    own = spawn(seed, search)
    scheme, own_groups = StratifiedFolds(folds, repeats[-1]), None if groups is None else groups[rows]
    splits = [
        Split(rows[s.train], rows[s.test], s.repeat, s.fold, (search, 0))
        for s in scheme.splits(y[rows], groups=own_groups, seed=own)
    ]
    every = tuple(range(len(splits)))
    first = every[: min(folds, max(_FIRST_FOLDS, -(-_ENOUGH[0] * folds // smallest)))]
    if splits[0].train.size > _FIRST_ROWS:
        few = [
            Split(_subsample(splits[i].train, y, spawn(own, i)), splits[i].test, 0, splits[i].fold, (search, 1))
            for i in first
        ]
        first = tuple(range(len(splits), len(splits) + len(few)))
        splits += few
    enough = max(_FIRST_FOLDS, -(-_PLENTY * folds // (smallest * sizes.size)))
    middle = min(folds, enough) if repeats[1] == 1 else folds * repeats[1]
    return InnerFolds(tuple(splits), first, every[: max(middle, len(first))], every)


def _subsample(rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """A stratified sample of the rows, at least two of every class."""
    rng = generator(seed)
    share = _FIRST_ROWS / rows.size
    sampled = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        sampled.append(rng.choice(own, min(own.size, max(2, round(share * own.size))), replace=False))
    return np.sort(np.concatenate(sampled))


@dataclass(eq=False)
class Trial:
    """A recipe of a search and its results.

    Attributes
    ----------
    recipe, stage : str
    candidate : Candidate or None
        None for a committee.
    values : dict of int to float
        The main metric by split, with its sign changed if necessary so that larger is better.
    sizes : dict of int to int or None
        Number of features used, by split.
    seconds, alone : dicts of int to float
        To fit and predict, by split; work shared with other recipes is divided among them in `seconds` and counted in
        full in `alone`.
    error : str or None
    """

    recipe: str
    stage: str
    candidate: Candidate | None
    values: dict[int, float] = field(default_factory=dict)
    sizes: dict[int, int | None] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    alone: dict[int, float] = field(default_factory=dict)
    error: str | None = None

    def has(self, splits: Sequence[int]) -> bool:
        """Whether it was evaluated on all of some splits."""
        return self.error is None and all(i in self.values for i in splits)

    def on(self, splits: Sequence[int]) -> FloatArray:
        """Its values on some splits; NaN where there is none."""
        return np.array([self.values.get(i, np.nan) for i in splits])

    def mean(self, splits: Sequence[int]) -> float:
        """Its mean on some splits; minus infinity where there is none."""
        known = self.on(splits)
        known = known[~np.isnan(known)]
        return float(known.mean()) if known.size else -np.inf

    @property
    def seconds_alone(self) -> float:
        """Per fold, shared work in full."""
        return float(np.mean(list(self.alone.values()))) if self.alone else 0.0

    @property
    def n_features(self) -> float:
        """Mean number of features used; infinite if unknown."""
        sizes = [np.inf if size is None else size for size in self.sizes.values()]
        return float(np.mean(sizes)) if sizes else np.inf

    @property
    def size(self) -> float:
        """The number of features, to break ties: a model that uses none comes last."""
        return self.n_features if self.n_features >= 1 else np.inf


class Trials:
    """All trials of one search, in `by_recipe` in the order in which they were added."""

    def __init__(self, number: int, inner: InnerFolds, metric: Metric) -> None:
        self.number = number
        self.inner = inner
        self.metric = metric
        self.by_recipe: dict[str, Trial] = {}
        # Needed many times between two results, for thousands of recipes.
        self._estimates: list[tuple[Trial, float]] | None = None

    def add(self, recipe: str, stage: str, candidate: Candidate | None) -> bool:
        """Add a recipe; False if it is there already."""
        if recipe in self.by_recipe:
            return False
        self.by_recipe[recipe] = Trial(recipe, stage, candidate)
        return True

    def record(self, recipe: str, split: int, finding: FoldResult | TamisError) -> None:
        """Record the result of a recipe on a split."""
        trial = self.by_recipe[recipe]
        self._estimates = None
        if isinstance(finding, TamisError):
            trial.error = trial.error or str(finding)
            return
        value = finding.metrics[self.metric.name]
        trial.values[split] = value if self.metric.better == "high" else -value
        trial.sizes[split] = None if finding.selected is None else finding.selected.size
        trial.seconds[split] = finding.fit_seconds + finding.predict_seconds
        trial.alone[split] = finding.alone_seconds

    def ranked(self, splits: Sequence[int]) -> list[Trial]:
        """The trials evaluated on all of some splits, best first; of equal ones that with fewer features first."""
        done = [trial for trial in self.by_recipe.values() if trial.has(splits)]
        return [trial for trial, _ in _best_first((trial, trial.mean(splits)) for trial in done)]

    def levels(self) -> tuple[tuple[int, ...], ...]:
        """The splits on which trials are compared, from the most to the fewest: all repeats, all folds, first look.

        If time ran out before the most promising trial had all splits of one of the longer levels, the level shrinks to
        the splits that it has, provided that these are nearly all and that it is the best on them.
        """
        return self._nearly(self.inner.all), self._nearly(self.inner.folds), self.inner.first

    def _nearly(self, splits: tuple[int, ...]) -> tuple[int, ...]:
        partly = [
            trial
            for trial in self.by_recipe.values()
            if trial.error is None and _NEARLY * len(splits) <= sum(i in trial.values for i in splits) < len(splits)
        ]
        if not partly:
            return splits
        best = max(partly, key=lambda trial: round(trial.mean(splits), 12))
        same = tuple(i for i in splits if i in best.values)
        finished = max((trial.mean(same) for trial in self.ranked(splits)), default=-np.inf)
        return same if best.mean(same) > finished else splits

    def within_reach(self, trials: Sequence[Trial]) -> list[Trial]:
        """Those with a first look that may still turn out to be the best.

        How far the values of a first look are from those on all folds, apart from what all have in common, is known
        from the trials that have both. A trial is out of reach if it is behind the best by more than three standard
        deviations of this. None is while few trials have both, or where these agree exactly, as without any errors.
        """
        first, folds = self.inner.first, self.inner.folds
        both = [one for one in self.by_recipe.values() if one.has(first) and one.has(folds)]
        if len(both) < _KNOWN:
            return list(trials)
        noise = float(np.std([one.mean(folds) - one.mean(first) for one in both], ddof=1))
        if noise == 0.0:
            return list(trials)
        values = {one.recipe: value for one, value in self.estimates()}
        least = max(values.values()) - _REACH * noise
        return [one for one in trials if values.get(one.recipe, -np.inf) >= least]

    def estimates(self) -> list[tuple[Trial, float]]:
        """The trials evaluated on all folds or at least in a first look, with their values, best first.

        Trials that were lucky in a first look do worse on all folds (or better, if the first look had fewer rows). The
        mean difference corrects the values of the trials that have a first look only.
        """
        if self._estimates is None:
            first, folds = self.inner.first, self.inner.folds
            known = [trial for trial in self.by_recipe.values() if trial.has(folds)]
            seen = [trial for trial in self.by_recipe.values() if trial.has(first) and not trial.has(folds)]
            shifts = [trial.mean(folds) - trial.mean(first) for trial in known if trial.has(first)]
            shift = float(np.mean(shifts)) if shifts else 0.0
            values = [(trial, trial.mean(folds)) for trial in known]
            self._estimates = _best_first([*values, *((trial, trial.mean(first) + shift) for trial in seen)])
        return self._estimates


def _best_first(values: Iterable[tuple[Trial, float]]) -> list[tuple[Trial, float]]:
    # Values that differ by rounding alone are equal: the order of sums must not decide.
    return sorted(values, key=lambda pair: (-round(pair[1], 12), pair[0].size))
