"""What one search knows: the recipes it has tried and what came of each on the folds within its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray
from tamis.mine.form import Form
from tamis.validate.fold import FoldResult
from tamis.validate.folds import Split, StratifiedFolds
from tamis.validate.metrics import Metric

#: Training rows that a first look takes at the most.
_FIRST_ROWS = 1000

#: Folds of a first look.
_FIRST_FOLDS = 2

#: Folds are drawn anew until the smallest class has been judged so often in all, but not more than so many times.
_ENOUGH, _MOST_REPEATS = 300, 5


@dataclass(frozen=True, eq=False)
class Inner:
    """The folds within the rows of one search, in three rounds, each longer than the one before.

    Attributes
    ----------
    splits : tuple of Split
        All of them; a recipe's results are numbered as they are.
    first : tuple of int
        A first look: two folds, of fewer rows where there are many.
    folds : tuple of int
        Every row judged once.
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
    repeats = int(np.clip(-(-_ENOUGH // max(smallest, 1)), 1, _MOST_REPEATS))
    own = spawn(seed, search)
    dealt = StratifiedFolds(folds, repeats).splits(y[rows], groups=None if groups is None else groups[rows], seed=own)
    splits = [Split(rows[s.train], rows[s.test], s.repeat, s.fold, (search, 0)) for s in dealt]
    every = tuple(range(len(splits)))
    first = every[: min(_FIRST_FOLDS, folds)]
    if splits[0].train.size > _FIRST_ROWS:
        few = [
            Split(_thinned(splits[i].train, y, spawn(own, i)), splits[i].test, 0, splits[i].fold, (search, 1))
            for i in first
        ]
        first = tuple(range(len(splits), len(splits) + len(few)))
        splits += few
    return Inner(tuple(splits), first, every[:folds], every)


def _thinned(rows: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Some of the rows, of every class the same share and at least two."""
    rng = generator(seed)
    share = _FIRST_ROWS / rows.size
    kept = []
    for label in np.unique(y[rows]):
        own = rows[y[rows] == label]
        kept.append(rng.choice(own, min(own.size, max(2, round(share * own.size))), replace=False))
    return np.sort(np.concatenate(kept))


@dataclass(frozen=True)
class Candidate:
    """A recipe of the search: the open form it comes from, and the same closed."""

    open: Form
    closed: Form


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
    seconds : dict of int to float
        For fitting and answering, by split.
    error : str or None
    """

    recipe: str
    stage: str
    candidate: Candidate | None
    values: dict[int, float] = field(default_factory=dict)
    sizes: dict[int, int | None] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
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

    def standing(self, splits: Sequence[int]) -> float:
        """Its mean on some splits if it was judged on all of them, else on those that there are."""
        return self.mean(splits if self.has(splits) else list(self.values))

    @property
    def n_features(self) -> float:
        """Mean number of columns used; infinite where it cannot be told."""
        sizes = list(self.sizes.values())
        return float(np.mean([np.inf if size is None else size for size in sizes])) if sizes else np.inf


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

    def enter(self, recipe: str, stage: str, candidate: Candidate | None) -> bool:
        """Enter a recipe; False when it is there already."""
        if recipe in self.tried:
            return False
        self.tried[recipe] = Tried(recipe, stage, candidate)
        return True

    def learn(self, recipe: str, split: int, finding: FoldResult | TamisError) -> None:
        """Write down what came of a recipe on a split."""
        tried = self.tried[recipe]
        if isinstance(finding, TamisError):
            tried.error = tried.error or str(finding)
            return
        value = finding.metrics[self.metric.name]
        tried.values[split] = value if self.metric.better == "high" else -value
        tried.sizes[split] = None if finding.kept is None else finding.kept.size
        tried.seconds[split] = finding.fit_seconds + finding.predict_seconds

    def ranked(self, splits: Sequence[int], least: Sequence[int] | None = None) -> list[Tried]:
        """Those that were judged on all of some splits, or at least of others, the best first.

        Of equals the one with fewer columns comes first.
        """
        judged = [one for one in self.tried.values() if one.has(splits) or (least is not None and one.has(least))]
        # What differs by rounding alone is equal: the order of sums must not decide.
        return sorted(judged, key=lambda one: (-round(one.standing(splits), 12), one.n_features))
