"""C4.5 by recursion over lists of cases and dicts of branches: slow, and written from Quinlan's rules alone.

A case is a weight, a tuple of values (numbers, or text for a level; None is missing) and a class 0, 1, .... A tree is a
dict with the ``weight`` of its classes; one that is no leaf has the column it ``tests``, ``branches`` by level or by
"<=" and ">", and for these two a ``threshold``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log, log2, sqrt
from typing import Any

Case = tuple[float, tuple[Any, ...], int]
Tree = dict[str, Any]

#: What is closer is equal: ratios and gains in bits, weights in rows.
TIE, ROUNDING = 1e-10, 1e-9

#: Quinlan's table of confidences and normal deviates.
DEVIATES = (
    *((0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65)),
    *((0.1, 1.28), (0.2, 0.84), (0.4, 0.25), (1, 0.0)),
)


def entropy(weights: Iterable[float]) -> float:
    weights = [w for w in weights if w > 0]
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights)


@dataclass
class C45:
    """C4.5 with the given classes, kinds of columns (True for nominal) and settings."""

    n_classes: int
    nominal: Sequence[bool]
    least: float = 2
    confidence: float = 0.25
    raising: bool = True

    def classes(self, cases: list[Case]) -> list[float]:
        return [sum(w for w, _, c in cases if c == k) for k in range(self.n_classes)]

    # Growing

    def grow(self, cases: list[Case]) -> Tree:
        self.everything = cases
        self.levels = {
            j: sorted({x[j] for _, x, _ in cases if x[j] is not None})
            for j, is_text in enumerate(self.nominal)
            if is_text
        }
        total = sum(w for w, _, _ in cases)
        many = [is_text and len(self.levels[j]) >= 0.3 * total for j, is_text in enumerate(self.nominal)]
        self.many = [False] * len(many) if all(many) else many
        return self.form(cases)

    def form(self, cases: list[Case]) -> Tree:
        weight = self.classes(cases)
        leaf: Tree = {"weight": weight}
        total = sum(weight)
        if total - max(weight) < ROUNDING or total < 2 * self.least - ROUNDING:
            return leaf
        tests = [self.level_test(cases, j) if text else self.cut_test(cases, j) for j, text in enumerate(self.nominal)]
        mean = [test[0] for j, test in enumerate(tests) if test is not None and not self.many[j]]
        if not mean:
            return leaf
        chosen = None
        for j, test in enumerate(tests):
            if test is None or test[0] < sum(mean) / len(mean) - 0.001 or test[1] <= 0.001:
                continue
            if chosen is None or test[0] / test[1] > chosen[1] + TIE:
                chosen = j, test[0] / test[1], test[2]
        if chosen is None:
            return leaf
        tree: Tree = {"weight": weight, "tests": chosen[0]}
        if chosen[2] is not None:
            tree["threshold"] = chosen[2]
        tree["branches"] = {
            way: self.form(part) if part else {"weight": [0.0] * self.n_classes}
            for way, part in self.parts(tree, cases).items()
        }
        # A tree that is no better than a leaf on the cases it was formed from is a leaf.
        return leaf if wrong(tree) >= total - max(weight) - 0.001 else tree

    def way(self, tree: Tree, values: tuple[Any, ...]) -> Any:
        value = values[tree["tests"]]
        if value is None or "threshold" not in tree:
            return value
        return "<=" if value <= tree["threshold"] else ">"

    def ways(self, tree: Tree) -> list[Any]:
        return ["<=", ">"] if "threshold" in tree else self.levels[tree["tests"]]

    def parts(self, tree: Tree, cases: list[Case]) -> dict[Any, list[Case]]:
        """The cases of every branch: those of unknown outcome in all that have others, in proportion."""
        known = {way: [case for case in cases if self.way(tree, case[1]) == way] for way in self.ways(tree)}
        unknown = [case for case in cases if self.way(tree, case[1]) is None]
        total = sum(w for part in known.values() for w, _, _ in part)
        for part in known.values():
            if part:
                share = sum(w for w, _, _ in part) / total
                part += [(w * share, x, c) for w, x, c in unknown]
        return known

    def gain_and_info(self, groups: list[list[Case]], unknown: float, total: float) -> tuple[float, float]:
        known = [case for group in groups for case in group]
        sizes = [sum(w for w, _, _ in group) for group in groups]
        before = entropy(self.classes(known))
        sides = zip(sizes, groups, strict=True)
        after = sum(size / sum(sizes) * entropy(self.classes(group)) for size, group in sides if group)
        return max(0.0, sum(sizes) / total * (before - after)), entropy([*sizes, unknown])

    def level_test(self, cases: list[Case], j: int) -> tuple[float, float, None] | None:
        groups = [[case for case in cases if case[1][j] == level] for level in self.levels[j]]
        if sum(sum(w for w, _, _ in group) >= self.least - ROUNDING for group in groups) < 2:
            return None
        unknown = sum(w for w, x, _ in cases if x[j] is None)
        return *self.gain_and_info(groups, unknown, sum(w for w, _, _ in cases)), None

    def cut_test(self, cases: list[Case], j: int) -> tuple[float, float, float] | None:
        known = sorted((case for case in cases if case[1][j] is not None), key=lambda case: case[1][j])
        total, size = sum(w for w, _, _ in cases), sum(w for w, _, _ in known)
        if size < 2 * self.least - ROUNDING:
            return None
        margin = max(self.least, min(25, 0.1 * size / self.n_classes)) - ROUNDING
        best, tries = None, 0
        below = 0.0
        for i in range(1, len(known)):
            below += known[i - 1][0]
            low, high = known[i - 1][1][j], known[i][1][j]
            if low < high and below >= margin and size - below >= margin:
                tries += 1
                gain, info = self.gain_and_info([known[:i], known[i:]], total - size, total)
                if best is None or gain > best[0] + TIE:
                    best = gain, info, (low + high) / 2
        if best is None or best[0] - log2(tries) / total <= TIE:
            return None
        threshold = max(x[j] for _, x, _ in self.everything if x[j] is not None and x[j] <= best[2])
        return best[0] - log2(tries) / total, best[1], threshold

    # Pruning

    def more(self, n: float, e: float) -> float:
        """Quinlan's additional errors, in the four cases of his program."""
        if e < 1e-6:
            return n * (1 - exp(log(self.confidence) / n))
        if e < 0.9999:
            none = n * (1 - exp(log(self.confidence) / n))
            return none + e * (self.more(n, 1.0) - none)
        if e + 0.5 >= n - ROUNDING:
            return 0.67 * (n - e)
        z = deviate(self.confidence)
        upper = (e + 0.5 + z**2 / 2 + sqrt(z**2 * ((e + 0.5) * (1 - (e + 0.5) / n) + z**2 / 4))) / (n + z**2)
        return n * upper - e

    def as_leaf(self, cases: list[Case]) -> float:
        weight = self.classes(cases)
        e = sum(weight) - max(weight)
        return e + self.more(sum(weight), e)

    def estimate(self, tree: Tree, cases: list[Case]) -> float:
        if "tests" not in tree:
            return self.as_leaf(cases)
        parts = self.parts(tree, cases)
        return sum(self.estimate(tree["branches"][way], part) for way, part in parts.items() if part)

    def prune(self, tree: Tree, cases: list[Case]) -> Tree:
        weight = self.classes(cases)
        if "tests" not in tree:
            return {"weight": weight}
        parts = self.parts(tree, cases)
        branches = {
            way: self.prune(tree["branches"][way], part) if part else tree["branches"][way]
            for way, part in parts.items()
        }
        tree = {**tree, "weight": weight, "branches": branches}
        known = {way: sum(w for w, x, _ in part if x[tree["tests"]] is not None) for way, part in parts.items() if part}
        largest = [way for way in known if known[way] >= max(known.values()) - ROUNDING][-1]
        leaf, whole = self.as_leaf(cases), self.estimate(tree, cases)
        branch = self.estimate(branches[largest], cases) if self.raising else float("inf")
        if leaf <= whole + 0.1 + ROUNDING and leaf <= branch + 0.1 + ROUNDING:
            return {"weight": weight}
        return self.prune(branches[largest], cases) if branch <= whole + 0.1 + ROUNDING else tree

    # Classifying

    def shares(self, tree: Tree, values: tuple[Any, ...]) -> list[float]:
        if "tests" not in tree:
            return [w / sum(tree["weight"]) for w in tree["weight"]]
        way = self.way(tree, values)
        if way in tree["branches"]:
            below = tree["branches"][way]
            # Where no case came from, what is known of the node is known.
            return self.shares(below if sum(below["weight"]) else {"weight": tree["weight"]}, values)
        found = [0.0] * self.n_classes
        for below in tree["branches"].values():
            if size := sum(below["weight"]):
                part = self.shares(below, values)
                found = [a + size / sum(tree["weight"]) * b for a, b in zip(found, part, strict=True)]
        return found


def deviate(confidence: float) -> float:
    """The normal deviate, interpolated in Quinlan's table."""
    for (a, at_a), (b, at_b) in pairwise(DEVIATES):
        if confidence <= b:
            return at_a + (at_b - at_a) * (confidence - a) / (b - a)
    raise ValueError(confidence)


def wrong(tree: Tree) -> float:
    """Errors on the cases that a tree was formed from."""
    return over_leaves(tree, lambda weight: sum(weight) - max(weight))


def over_leaves(tree: Tree, count: Callable[[list[float]], float]) -> float:
    if "tests" not in tree:
        return count(tree["weight"])
    return sum(over_leaves(below, count) for below in tree["branches"].values())
