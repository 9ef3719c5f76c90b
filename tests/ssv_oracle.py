"""Splits by trying all of them, and trees by walking them: exact, slow, and written from the definitions alone.

Every number is a fraction, so that splits which are equally good are found to be so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np

Weights = Sequence[Fraction]


@dataclass(frozen=True)
class Sides:
    """Weight of each class on the left and on the right of a split."""

    left: Weights
    right: Weights

    def worth(self, criterion: str) -> Fraction:
        return self._ssv() if criterion == "ssv" else self._balanced()

    def _ssv(self) -> Fraction:
        """Equation 23, term by term."""
        classes = range(len(self.left))
        apart = sum((self.left[c] * self.right[d] for c in classes for d in classes if c != d), Fraction(0))
        return 2 * apart - sum(map(min, self.left, self.right), Fraction(0))

    def _balanced(self) -> Fraction:
        """1 - BER K/(K - 1), each side answering the class of which it holds the largest share."""
        present = [c for c in range(len(self.left)) if self.left[c] + self.right[c] > 0]
        recall = dict.fromkeys(present, Fraction(0))
        for side in (self.left, self.right):
            share = {c: side[c] / (self.left[c] + self.right[c]) for c in present}
            recall[max(present, key=share.__getitem__)] += max(share.values())
        error = 1 - sum(recall.values(), Fraction(0)) / len(present)
        return 1 - error * Fraction(len(present), len(present) - 1)

    @property
    def same(self) -> Fraction:
        """Pairs of one class that are separated."""
        return sum((a * b for a, b in zip(self.left, self.right, strict=True)), Fraction(0))


@dataclass(frozen=True)
class BestSplit:
    """The best split of a column: between which two values it lies, and what it is worth."""

    worth: Fraction
    same: Fraction
    below: Fraction
    above: Fraction

    @property
    def split(self) -> Fraction:
        return (self.below + self.above) / 2

    @property
    def gap(self) -> Fraction:
        return self.above - self.below


def sides(goes_left: Sequence[bool], codes: Sequence[int], weight: Weights, n_classes: int) -> Sides:
    total = [[Fraction(0)] * n_classes, [Fraction(0)] * n_classes]
    for left, code, w in zip(goes_left, codes, weight, strict=True):
        total[0 if left else 1][code] += w
    return Sides(*total)


def best_split(
    values: Sequence[float], codes: Sequence[int], weight: Weights, n_classes: int, criterion: str
) -> BestSplit | None:
    """Try every midpoint of neighbouring known values; None when they, or their classes, are all the same."""
    known = [(Fraction(float(v)), c, w) for v, c, w in zip(values, codes, weight, strict=True) if not np.isnan(v)]
    distinct = sorted({v for v, _, _ in known})
    if len({c for _, c, _ in known}) < 2:
        return None
    tried = []
    for below, above in pairwise(distinct):
        found = sides([v <= below for v, _, _ in known], [c for _, c, _ in known], [w for *_, w in known], n_classes)
        tried.append(BestSplit(found.worth(criterion), found.same, below, above))
    if not tried:
        return None
    rank = [(t.worth, -t.same) for t in tried]
    first = rank.index(max(rank))
    run = []
    for candidate, its_rank in zip(tried[first:], rank[first:], strict=True):
        if its_rank != rank[first]:
            break
        run.append(candidate)
    average = sum((t.split for t in run), Fraction(0)) / len(run)
    return min(run, key=lambda t: abs(t.split - average))


def best_subset(
    levels: Sequence[int], codes: Sequence[int], weight: Weights, n_classes: int, criterion: str
) -> tuple[Fraction, Fraction] | None:
    """Worth and separated pairs of one class of the best subset of levels; levels below 0 are missing."""
    present = sorted({level for level in levels if level >= 0})
    table = {level: [Fraction(0)] * n_classes for level in present}
    for level, code, w in zip(levels, codes, weight, strict=True):
        if level >= 0:
            table[level][code] += w
    if len({code for level, code in zip(levels, codes, strict=True) if level >= 0}) < 2:
        return None
    tried = []
    for size in range(1, len(present) // 2 + 1):
        for subset in combinations(present, size):
            parts = ([table[level] for level in present if (level in subset) == wanted] for wanted in (False, True))
            found = Sides(*([sum(column, Fraction(0)) for column in zip(*part, strict=True)] for part in parts))
            tried.append((found.worth(criterion), -found.same))
    if not tried:
        return None
    worth, same = max(tried)
    return worth, -same


def path(tree: Any, row: Sequence[float]) -> Iterator[int]:
    """The nodes that a row passes, the root first and its leaf last."""
    node = 0
    while True:
        yield node
        if tree.feature[node] < 0:
            return
        value = float(row[tree.feature[node]])
        inside = tree.inside[tree.subset[node] : tree.subset[node + 1]]
        if np.isnan(value):
            left = bool(tree.missing_left[node])
        elif inside.size:
            left = not (value < inside.size and inside[int(value)])
        else:
            left = value < tree.split[node]
        node = int(tree.left[node] if left else tree.right[node])


def rows_of_nodes(tree: Any, X: np.ndarray) -> list[list[int]]:
    """For each node the rows that pass it."""
    passed: list[list[int]] = [[] for _ in tree.feature]
    for i, row in enumerate(X):
        for node in path(tree, row):
            passed[node].append(i)
    return passed
