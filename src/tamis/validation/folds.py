"""Ways to split rows into training and test rows."""

import warnings
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.base.task import Task
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_whole

#: One value for each row, or None where there are none.
Column: TypeAlias = np.ndarray | None


#: Most quantiles by which numbers are stratified, and fewest rows of each.
_QUANTILES, _FEWEST = 10, 20


class SmallClass(UserWarning):
    """A class has fewer rows than there are folds."""


@dataclass(frozen=True, eq=False)
class Split:
    """Numbers of the training rows and of the test rows, and of the repeat and the fold (from 0).

    A split of the training rows of another split holds the `task` of that one in `within`.
    """

    train: np.ndarray
    test: np.ndarray
    repeat: int = 0
    fold: int = 0
    within: tuple[int, ...] = ()

    @property
    def task(self) -> tuple[int, ...]:
        """The key of the split in a run, from which its models get their seeds."""
        return (*self.within, self.repeat, self.fold)


class Scheme(Protocol):
    """A way to split rows, which may use the classes, the groups, the official part of each row, and a seed.

    In place of numbers it gets the codes of their quantiles (:func:`stratify_by`).
    """

    @property
    def one_test(self) -> bool:
        """Whether metrics are computed on all predictions together, because single test sets are too few or small."""

    @property
    def folds(self) -> int:
        """The number of folds; 0 for a scheme without."""

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        """The splits, in order of repeat and fold."""


@dataclass(frozen=True)
class StratifiedFolds:
    """Repeated stratified k-fold; rows of one group stay together.

    The folds of each repeat are scikit-learn's ``StratifiedKFold`` (``StratifiedGroupKFold`` with groups), shuffled
    with the repeat's own seed.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> [s.test.size for s in StratifiedFolds(3, repeats=2).splits(y)]
    [2, 2, 2, 2, 2, 2]
    >>> print(StratifiedFolds(3, repeats=2))
    3 stratified folds, 2 times
    """

    folds: int = 10
    repeats: int = 1
    one_test: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_whole("folds", self.folds, 2)
        check_whole("repeats", self.repeats, 1)

    def __str__(self) -> str:
        return f"{self.folds} stratified folds" + (f", {self.repeats} times" if self.repeats > 1 else "")

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        _check_class_sizes(y, self.folds)
        kind = StratifiedKFold
        if groups is not None:
            kind = StratifiedGroupKFold
            if (n := np.unique(groups).size) < self.folds:
                raise TamisError(f"{n} groups cannot be split into {self.folds} folds; take at most {n} folds")
        found = []
        for repeat in range(self.repeats):
            cv = kind(self.folds, shuffle=True, random_state=spawn(seed, repeat))
            with warnings.catch_warnings():
                # _check_class_sizes has warned of small classes already, by name.
                warnings.simplefilter("ignore", UserWarning)
                pairs = list(cv.split(y, y, groups))
            for fold, (train, test) in enumerate(pairs):
                if not test.size:
                    raise TamisError(f"the groups leave fold {fold + 1} of {self.folds} without rows; take fewer folds")
                found.append(Split(train, test, repeat, fold))
        return found


@dataclass(frozen=True)
class LeaveOneOut:
    """Every row, or every group when there are groups, is the test set of a model fitted on all others."""

    one_test: ClassVar[bool] = True
    folds: ClassVar[int] = 0

    def __str__(self) -> str:
        return "leave-one-out"

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        members = np.arange(y.shape[0]) if groups is None else np.unique(groups, return_inverse=True)[1]
        n = int(members.max()) + 1
        if n < 2:
            raise TamisError(f"leave-one-out needs two {'rows' if groups is None else 'groups'} or more; got {n}")
        return [Split(np.flatnonzero(members != one), np.flatnonzero(members == one), fold=one) for one in range(n)]


@dataclass(frozen=True)
class OfficialSplit:
    """The split that comes with the data: fit on "train", test on "valid" if there is one, else on "test"."""

    one_test: ClassVar[bool] = True
    folds: ClassVar[int] = 0

    def __str__(self) -> str:
        return "official split"

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        if parts is None:
            raise TamisError("the data has no official split; take folds or leave-one-out")
        train = np.flatnonzero(parts == "train")
        test = next((rows for part in ("valid", "test") if (rows := np.flatnonzero(parts == part)).size), None)
        if not train.size or test is None:
            there = ", ".join(repr(str(part)) for part in np.unique(parts))
            raise TamisError(f"the official split needs labelled rows of 'train' and of 'valid' or 'test'; got {there}")
        return [Split(train, test)]


@dataclass(frozen=True)
class Pooled:
    """Folds over the official "train" and "valid" rows together; over all rows when there is no "valid"."""

    within: StratifiedFolds = StratifiedFolds()
    one_test: ClassVar[bool] = False

    @property
    def folds(self) -> int:
        return self.within.folds

    def __str__(self) -> str:
        return f"{self.within} of the pooled rows"

    def splits(self, y: np.ndarray, *, groups: Column = None, parts: Column = None, seed: int = 0) -> list[Split]:
        rows = np.arange(y.shape[0])
        if parts is not None and (parts == "valid").any():
            rows = np.flatnonzero(np.isin(parts, ("train", "valid")))
        found = self.within.splits(y[rows], groups=None if groups is None else groups[rows], seed=seed)
        return [Split(rows[s.train], rows[s.test], s.repeat, s.fold) for s in found]


def stratify_by(y: np.ndarray, task: Task = "classify", folds: int = 0) -> np.ndarray:
    """What splits are stratified by: the classes, or the quantiles of numbers as codes 0, 1, ....

    There are at most 10 quantiles, of 20 rows or more, and a row or more for each fold.

    Examples
    --------
    >>> stratify_by(np.arange(60.0) ** 2, "regress")[[0, 19, 20, 59]]
    array([0, 0, 1, 2])
    """
    if task == "classify":
        return y
    if folds > y.size:
        raise TamisError(f"{y.size} rows cannot be split into {folds} folds; take at most {y.size}")
    return _quantiles(y, max(_FEWEST, folds))


def _quantiles(y: FloatArray, fewest: int) -> Codes:
    count = max(1, min(_QUANTILES, y.size // fewest))
    edges = np.unique(np.sort(y)[np.arange(1, count) * y.size // count])
    codes = np.searchsorted(edges, y, side="right")
    # Ties make some of them small: these join the one below.
    sizes = np.bincount(codes, minlength=edges.size + 1)
    kept = np.zeros(sizes.size, dtype=np.intp)
    total, last = 0, 0
    for place, size in enumerate(sizes):
        if total >= fewest and sizes[place:].sum() >= fewest:
            total, last = 0, last + 1
        kept[place] = last
        total += size
    return np.asarray(kept[codes])


def _check_class_sizes(y: np.ndarray, folds: int) -> None:
    """Refuse more folds than any class has rows; warn when a class cannot be in every fold."""
    classes, sizes = np.unique(y, return_counts=True)
    least = int(sizes.argmin())
    name, size = classes[[least]].tolist()[0], int(sizes[least])
    if sizes.max() == 1:
        raise TamisError(f"every class has one row, {len(classes)} in all: none can be learned from another row")
    if sizes.max() < folds:
        raise TamisError(f"no class has {folds} rows for the {folds} folds; take {sizes.max()} folds or leave-one-out")
    if size < folds:
        rows = "1 row" if size == 1 else f"{size} rows"
        warnings.warn(
            f"class {name!r} has {rows}, fewer than the {folds} folds: where it is absent it is left out of the BER",
            SmallClass,
            stacklevel=2,
        )
