"""Rules: each leaf of a tree as a logical formula."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray, Mask, Matrix
from tamis.trees.tree import Tree


@dataclass(frozen=True)
class Condition:
    """The condition of a rule on one feature.

    Attributes
    ----------
    name : str
        The feature.
    low, high : float
        A numeric value must be `low` or more and below `high`.
    inside : frozenset of str, optional
        A nominal value must be one of these levels.
    outside : frozenset of str, optional
        A nominal value must be none of these levels; when there are none, it must not be missing.
    missing : bool, optional
        Whether a missing value meets the condition; None when the training rows had none in this feature, or when it
        goes down several branches.
    closed : bool
        Whether `high` itself meets the condition in place of `low`.
    """

    name: str
    low: float = -np.inf
    high: float = np.inf
    inside: frozenset[str] | None = None
    outside: frozenset[str] | None = None
    missing: bool | None = None
    closed: bool = False

    def __str__(self) -> str:
        name = one_line(self.name)
        if self.inside is not None:
            if not self.inside:
                return f"{name} is missing"
            text = f"{name} in {_set(self.inside)}"
        elif self.outside is not None:
            text = f"{name} not in {_set(self.outside)}" if self.outside else f"{name} is not missing"
        else:
            below, above, under = ("<=", ">", "<") if self.closed else ("<", ">=", "<=")
            if np.isinf(self.low):
                text = f"{name} {below} {number(self.high)}"
            elif np.isinf(self.high):
                text = f"{name} {above} {number(self.low)}"
            else:
                text = f"{number(self.low)} {under} {name} {below} {number(self.high)}"
        return f"({text} or missing)" if self.missing else text


@dataclass(frozen=True)
class Rule:
    """One leaf: rows that meet all conditions are predicted as `label`. ``str(rule)`` is the formula.

    Attributes
    ----------
    conditions : tuple of Condition
        One per feature, in the order in which the tree splits them.
    label : object
        The predicted class.
    weight, wrong : float
        Weight of the training rows of the leaf, and of those among them that are of other classes.

    Examples
    --------
    >>> print(Rule((Condition("petal width", 2.5, 4.85),), "virginica", 34.0, 2.0))
    IF 2.5 <= petal width < 4.85 THEN virginica  (34 rows, 2 of them other classes)
    """

    conditions: tuple[Condition, ...]
    label: Any
    weight: float
    wrong: float

    def __str__(self) -> str:
        conditions = " AND ".join(map(str, self.conditions)) or "true"
        wrong = f", {self.wrong:.6g} of them other classes" if self.wrong else ""
        return f"IF {conditions} THEN {one_line(self.label)}  ({n_rows(self.weight)}{wrong})"


@dataclass(frozen=True, eq=False)
class Wording:
    """Names of the features, classes and levels of a tree, and its splits with few digits (:func:`round_splits`).

    `holes` marks the columns with missing values among the training rows. With `closed`, the value of a split itself
    goes left, and both sides of a nominal split are the levels they were grown for.
    """

    names: Sequence[str] | np.ndarray
    classes: Sequence[Any] | np.ndarray
    splits: FloatArray
    levels: dict[int, np.ndarray] = field(default_factory=dict)
    holes: Mask | None = None
    closed: bool = False

    def condition(self, tree: Tree, node: int, *, left: bool) -> Condition:
        """The condition that the rows on one side of a node meet."""
        feature = int(tree.feature[node])
        holes = self.holes is not None and self.holes[feature]
        missing = bool(tree.missing_left[node]) == left if holes else None
        inside = tree.inside[tree.subset[node] : tree.subset[node + 1]]
        name = str(self.names[feature])
        if inside.size:
            levels = self.levels[feature][: inside.size]
            subset = frozenset(str(level) for level in levels[inside])
            if self.closed and left:
                return Condition(name, inside=frozenset(str(level) for level in levels[~inside]), missing=missing)
            inner, outer = (None, subset) if left else (subset, None)
            return Condition(name, inside=inner, outside=outer, missing=missing)
        split = float(self.splits[node])
        low, high = (-np.inf, split) if left else (split, np.inf)
        return Condition(name, low, high, missing=missing, closed=self.closed)


@runtime_checkable
class HasTree(Protocol):
    """A fitted decision tree that can be described with given column names."""

    tree_: Tree

    def wording(self, names: Sequence[str] | np.ndarray) -> Wording: ...


def rules(tree: Tree, wording: Wording) -> list[Rule]:
    """The leaves of a tree from left to right, the conditions of each path merged feature by feature.

    After a right branch a nominal value must be in a set, what is left of the subset of that split; after left branches
    only, it must not be in a set, so that new levels go there. Missing values appear in the conditions of features that
    had some in the training rows; in others they go to the heavier side of a split.
    """
    found: list[Rule] = []
    predicted = tree.prediction
    stack: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while stack:
        node, path = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            weight, code = tree.weight[node], predicted[node]
            total = float(weight.sum())
            found.append(Rule(tuple(path.values()), wording.classes[code], total, total - float(weight[code])))
            continue
        for child, left in ((tree.right[node], False), (tree.left[node], True)):
            here = wording.condition(tree, node, left=left)
            stack.append((int(child), {**path, feature: _both(path[feature], here) if feature in path else here}))
    return found


def round_splits(tree: Tree, X: Matrix) -> FloatArray:
    """Splits with the fewest digits that send every training row `X` the same way; NaN in leaves and nominal nodes.

    Each lies in the middle half of the gap around its split, so that few new rows would go another way.
    """
    splits = np.full(tree.feature.shape[0], np.nan)
    leaf = tree.leaves(X)
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(tree.feature.shape[0]), side="right")
    rows = dict(enumerate(np.split(order, ends[:-1])))
    used = np.unique(tree.feature[~tree.is_leaf])
    columns = X[:, used].tocsc() if sp.issparse(X) else X[:, used]
    # Children come after their parents.
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        left, right = rows.pop(int(tree.left[node])), rows.pop(int(tree.right[node]))
        rows[int(node)] = np.concatenate((left, right))
        if tree.subset[node + 1] == tree.subset[node]:
            column = columns[:, [np.searchsorted(used, tree.feature[node])]]
            values = (column.toarray() if sp.issparse(column) else column).ravel()
            splits[node] = few_digits(np.nanmax(values[left]), tree.split[node], np.nanmin(values[right]))
    return splits


def few_digits(below: float, split: float, above: float) -> float:
    """The number of fewest digits in the middle half of a gap, as near to the split as these digits allow.

    Examples
    --------
    >>> few_digits(1.9, 2.45, 3.0), few_digits(0.3141, 0.31412, 0.31414), few_digits(-1.0, 1e-17, 1.0)
    (2.5, 0.31412, 0.0)
    """
    reach = float(above) / 4 - float(below) / 4
    for digits in range(17):
        # No digits mean zero.
        rounded = float(f"{split:.{digits}g}") if digits else 0.0
        if abs(rounded - split) <= reach and below < rounded <= above:
            return rounded
    return float(split)


def number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def _both(one: Condition, other: Condition) -> Condition:
    """Both conditions as one."""
    sets = [condition.inside for condition in (one, other) if condition.inside is not None]
    nominal = one.outside is not None or other.outside is not None
    outside = (one.outside or frozenset()) | (other.outside or frozenset())
    inside = frozenset.intersection(*sets) - outside if sets else None
    return Condition(
        one.name,
        max(one.low, other.low),
        min(one.high, other.high),
        inside,
        outside if nominal and not sets else None,
        None if one.missing is None else bool(one.missing and other.missing),
        one.closed,
    )


def one_line(name: Any) -> str:
    return " ".join(str(name).split())


def n_rows(weight: float) -> str:
    return f"{weight:.6g} row" + ("s" if weight != 1 else "")


def _set(levels: frozenset[str]) -> str:
    """Levels between braces; one that could be misread is quoted."""
    plain = [
        level if level and level == one_line(level) and not set(level) & set(",{}'\"") else repr(level)
        for level in sorted(levels)
    ]
    return "{" + ", ".join(plain) + "}"
