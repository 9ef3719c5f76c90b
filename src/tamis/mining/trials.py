"""What one search knows: the recipes it has tried and what came of each on the folds within its rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray
from tamis.mining.variation import Candidate
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split, StratifiedFolds
from tamis.validation.metrics import Metric

#: Training rows that a first look takes at the most.
_FIRST_ROWS = 1000

#: Rows of the smallest class that are judged in the three rounds, as far as the repeats reach, and these repeats.
_ENOUGH = (40, 80, 300)
_REPEATS = (1, 2, 5)

#: Share of the splits of a round from which on it is nearly over.
_NEARLY = 3 / 4

#: Folds of a first look at the least.
_FIRST_FOLDS = 2


@dataclass(frozen=True, eq=False)
class Inner:
    """The folds within the rows of one search, in three rounds, each longer than the one before.

    Attributes
    ----------
    splits : tuple of Split
        All of them; a recipe's results are numbered as they are.
    first : tuple of int
        A first look: two folds or more, of fewer rows where there are many.
    folds : tuple of int
        Every row judged once, or twice where they are few.
    all : tuple of int
        Every row judged as often as it takes.
    """

    splits: tuple[Split, ...]
    first: tuple[int, ...]
    folds: tuple[int, ...]
    all: tuple[int, ...]

    def name(self, number: int) -> str:
        """What a split is called in the store."""
        split = self.splits[number]
        return f"{'few rows ' if number in self.first and number not in self.all else ''}{split.repeat}.{split.fold}"

    def repeats(self, splits: Sequence[int], values: FloatArray) -> FloatArray:
        """Values on splits, a column each, as means over each repeat of the folds; as they are where there is one."""
        numbers = np.array([self.splits[i].repeat for i in splits])
        if np.unique(numbers).size == 1:
            return values
        return np.column_stack([np.nanmean(values[:, numbers == repeat], axis=1) for repeat in np.unique(numbers)])

    @property
    def test_to_train(self) -> float:
        """Test rows per training row."""
        folds = [self.splits[i] for i in self.all]
        return sum(s.test.size for s in folds) / sum(s.train.size for s in folds)


def inner(rows: np.ndarray, y: np.ndarray, groups: np.ndarray | None, *, search: int, folds: int, seed: int) -> Inner:
    """Deal the rows of a search into folds.

    Parameters
    ----------
    rows : int array
        The rows that the search may see.
    y, groups : arrays of one entry a row of the data
    search : int
        The number of the search, which names its folds and seeds its models.
    folds : int
    seed : int
    """
    smallest = int(np.unique(y[rows], return_counts=True)[1].min())
    repeats = [int(np.clip(-(-enough // smallest), 1, most)) for enough, most in zip(_ENOUGH, _REPEATS, strict=True)]
    own = spawn(seed, search)
    dealt = StratifiedFolds(folds, repeats[-1]).splits(
        y[rows], groups=None if groups is None else groups[rows], seed=own
    )
    splits = [Split(rows[s.train], rows[s.test], s.repeat, s.fold, (search, 0)) for s in dealt]
    every = tuple(range(len(splits)))
    first = every[: min(folds, max(_FIRST_FOLDS, -(-_ENOUGH[0] * folds // smallest)))]
    if splits[0].train.size > _FIRST_ROWS:
        few = [
            Split(_thinned(splits[i].train, y, spawn(own, i)), splits[i].test, 0, splits[i].fold, (search, 1))
            for i in first
        ]
        first = tuple(range(len(splits), len(splits) + len(few)))
        splits += few
    return Inner(tuple(splits), first, every[: folds * repeats[1]], every)


def _thinned(rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Some of the rows, of every class the same share and at least two."""
    rng = generator(seed)
    share = _FIRST_ROWS / rows.size
    kept = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        kept.append(rng.choice(own, min(own.size, max(2, round(share * own.size))), replace=False))
    return np.sort(np.concatenate(kept))


@dataclass(eq=False)
class Tried:
    """A recipe and what came of it.

    Attributes
    ----------
    recipe, stage : str
    candidate : Candidate or None
        None for a committee.
    values : dict of int to float
        The main metric by split, turned so that larger is better.
    sizes : dict of int to int or None
        Columns used, by split.
    seconds, alone : dicts of int to float
        For fitting and answering, by split; what it shares with others divided among them, and in full.
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
        """Whether it was judged on all of some splits."""
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
    def mean_seconds(self) -> float:
        """For a fold, what is shared divided; nothing where it was never judged."""
        return float(np.mean(list(self.seconds.values()))) if self.seconds else 0.0

    @property
    def seconds_alone(self) -> float:
        """For a fold, what is shared in full."""
        return float(np.mean(list(self.alone.values()))) if self.alone else 0.0

    @property
    def n_features(self) -> float:
        """Mean number of columns used; infinite where it cannot be told."""
        sizes = list(self.sizes.values())
        return float(np.mean([np.inf if size is None else size for size in sizes])) if sizes else np.inf

    @property
    def size(self) -> float:
        """The same, to prefer the smaller of equals: a model that uses no column at all is nobody's choice."""
        return self.n_features if self.n_features >= 1 else np.inf


class Board:
    """The recipes of one search, in the order in which they were tried.

    Parameters
    ----------
    number : int
        The number of the search.
    inner : Inner
    metric : Metric
    """

    def __init__(self, number: int, inner: Inner, metric: Metric) -> None:
        self.number = number
        self.inner = inner
        self.metric = metric
        self.tried: dict[str, Tried] = {}
        # Asked for again and again between two results, of thousands of recipes.
        self._standings: list[tuple[Tried, float]] | None = None

    def enter(self, recipe: str, stage: str, candidate: Candidate | None) -> bool:
        """Enter a recipe; False when it is there already."""
        if recipe in self.tried:
            return False
        self.tried[recipe] = Tried(recipe, stage, candidate)
        return True

    def learn(self, recipe: str, split: int, finding: FoldResult | TamisError) -> None:
        """Write down what came of a recipe on a split."""
        tried = self.tried[recipe]
        self._standings = None
        if isinstance(finding, TamisError):
            tried.error = tried.error or str(finding)
            return
        value = finding.metrics[self.metric.name]
        tried.values[split] = value if self.metric.better == "high" else -value
        tried.sizes[split] = None if finding.selected is None else finding.selected.size
        tried.seconds[split] = finding.fit_seconds + finding.predict_seconds
        tried.alone[split] = finding.alone_seconds

    def ranked(self, splits: Sequence[int]) -> list[Tried]:
        """Those that were judged on all of some splits, the best first; of equals the one with fewer columns."""
        return [one for one, _ in _in_order((one, one.mean(splits)) for one in self.tried.values() if one.has(splits))]

    def rounds(self) -> tuple[tuple[int, ...], ...]:
        """The splits on which recipes are compared in the end, from the most to the fewest.

        All repeats, all folds, and the first look. Where time ran out before the most promising recipe was through with
        one of the longer rounds, the splits that it has of it, if they are nearly all, take its place: judged on these
        it is better than all that went on to the end.
        """
        inner = self.inner
        return self._nearly(inner.all), self._nearly(inner.folds), inner.first

    def _nearly(self, splits: tuple[int, ...]) -> tuple[int, ...]:
        partly = [
            one
            for one in self.tried.values()
            if one.error is None and _NEARLY * len(splits) <= sum(i in one.values for i in splits) < len(splits)
        ]
        if not partly:
            return splits
        best = max(partly, key=lambda one: round(one.mean(splits), 12))
        same = tuple(i for i in splits if i in best.values)
        through = max((one.mean(same) for one in self.ranked(splits)), default=-np.inf)
        return same if best.mean(same) > through else splits

    def standings(self) -> list[tuple[Tried, float]]:
        """Those that were judged on all folds, or in a first look at least, the best first, and what each is worth.

        Those that did well in a first look by luck do worse on all folds (or better, when the first look had fewer
        rows). What the first look alone says of the others is set right by as much.
        """
        if self._standings is None:
            self._standings = self._judged()
        return self._standings

    def _judged(self) -> list[tuple[Tried, float]]:
        first, folds = self.inner.first, self.inner.folds
        both = [one for one in self.tried.values() if one.has(folds) and one.has(first)]
        shift = float(np.mean([one.mean(folds) - one.mean(first) for one in both])) if both else 0.0
        known = [(one, one.mean(folds)) for one in self.tried.values() if one.has(folds)]
        seen = [one for one in self.tried.values() if one.has(first) and not one.has(folds)]
        return _in_order([*known, *((one, one.mean(first) + shift) for one in seen)])


def _in_order(judged: Iterable[tuple[Tried, float]]) -> list[tuple[Tried, float]]:
    # What differs by rounding alone is equal: the order of sums must not decide.
    return sorted(judged, key=lambda pair: (-round(pair[1], 12), pair[0].size))
