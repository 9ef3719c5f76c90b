"""What a node says as a rule: a few intervals that hold for its rows, or the functions of the same columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.trees.rules import Condition, Rule, few_digits, n_rows, number, one_line


class Bounds(NamedTuple):
    """Conditions of all nodes, as arrays.

    Attributes
    ----------
    table : array of shape (n_conditions, 5)
        Number of the node and the column, least value, value below which it must lie, and whether a missing value
        meets it: 1, 0, or -1 where the training rows had none.
    inside : list of int arrays
        The levels that meet each condition on a nominal column; empty for others.
    weight : array of shape (n_nodes, 2)
        Weight of the training rows that meet all conditions of the node, and of those among them of other classes.
    """

    table: FloatArray
    inside: list[Codes]
    weight: FloatArray


def shortest(rows: FloatArray, y: Codes, weight: FloatArray, labels: Codes, members: Codes, nominal: Mask) -> Bounds:
    """Conditions for each node that all its rows meet, and of the rows of other classes as few as the ranges allow.

    The side of an interval, or set of levels, that rules out most of the rows of other classes that are left is taken
    next, until nothing rules out any more; those that later ones make needless are dropped.
    """
    table, inside, totals = [], [], []
    holes = np.asarray(np.isnan(rows).any(axis=0))
    for node, label in enumerate(labels.tolist()):
        own, others = members == node, np.flatnonzero(y != label)
        if not own.any():
            totals.append([0.0, 0.0])
            continue
        sides = _Sides(rows, own, others, nominal, holes)
        chosen = sides.chosen(weight[others])
        meets = np.ones(rows.shape[0], dtype=bool)
        for column in dict.fromkeys(j for j, _ in chosen):
            which = {side for j, side in chosen if j == column}
            low, high, levels, missing = sides.condition(column, which)
            table.append([node, column, low, high, missing])
            inside.append(levels)
            values = rows[:, column]
            known = ~np.isnan(values)
            fits = np.isin(values, levels) if nominal[column] else (values >= low) & (values < high)
            meets &= np.where(known, fits, missing == 1)
        totals.append([weight[meets].sum(), weight[meets & (y != label)].sum()])
    return Bounds(np.array(table, dtype=np.float64).reshape(-1, 5), inside, np.array(totals))


class _Sides:
    """The sides of the ranges of a node's rows, and which rows of other classes each rules out."""

    def __init__(self, rows: FloatArray, own: Mask, others: Codes, nominal: Mask, holes: Mask) -> None:
        self.rows, self.others, self.nominal, self.holes = rows, others, nominal, holes
        mine = rows[own]
        missing = np.isnan(mine)
        self.takes_missing: Mask = np.asarray(missing.any(axis=0))
        self.low = np.where(missing, np.inf, mine).min(axis=0)
        self.high = np.where(missing, -np.inf, mine).max(axis=0)
        self.levels = {int(j): np.unique(mine[~missing[:, j], j]).astype(np.intp) for j in np.flatnonzero(nominal)}

    def out(self, left: Codes, side: int) -> Mask:
        """Which of some rows each column rules out below (0) or above (1) the range; for nominal columns, by both."""
        values = self.rows[left]
        found: Mask = values < self.low if side == 0 else values > self.high
        for j, levels in self.levels.items():
            found[:, j] = ~np.isin(values[:, j], levels) & ~np.isnan(values[:, j])
        found |= np.isnan(values) & ~self.takes_missing
        return found

    def chosen(self, weight: FloatArray) -> list[tuple[int, int]]:
        """Columns and sides, in the order in which they are taken."""
        found: list[tuple[int, int, Codes]] = []
        left = np.arange(self.others.size)
        while left.size:
            out = [self.out(self.others[left], side) for side in (0, 1)]
            gains = np.array([weight[left] @ one for one in out])
            side, column = np.unravel_index(int(gains.argmax()), gains.shape)
            if not gains[side, column] > 0:
                break
            found.append((int(column), int(side), left[out[side][:, column]]))
            left = left[~out[side][:, column]]
        ruled = np.setdiff1d(np.arange(self.others.size), left)
        kept = list(found)
        for one in found:
            rest = [other for other in kept if other is not one]
            if rest and self._rule_out(ruled, rest):
                kept = rest
        return [(column, side) for column, side, _ in kept]

    def _rule_out(self, ruled: Codes, sides: Sequence[tuple[int, int, Codes]]) -> bool:
        """Whether some sides rule out all of these rows."""
        values = self.rows[self.others[ruled]]
        done = np.zeros(ruled.size, dtype=bool)
        for column, side, _ in sides:
            own = values[:, column]
            if column in self.levels:
                done |= ~np.isin(own, self.levels[column]) & ~np.isnan(own)
            else:
                done |= own < self.low[column] if side == 0 else own > self.high[column]
            done |= np.isnan(own) & ~self.takes_missing[column]
        return bool(done.all())

    def condition(self, column: int, sides: set[int]) -> tuple[float, float, Codes, int]:
        """Bounds of an interval with few digits, or levels, and whether a missing value meets the condition."""
        missing = int(self.takes_missing[column]) if self.holes[column] else -1
        if column in self.levels:
            return -np.inf, np.inf, self.levels[column], missing
        values = self.rows[self.others, column]
        low, high = float(self.low[column]), float(self.high[column])
        below, above = values[values < low], values[values > high]
        least, most = -np.inf, np.inf
        if 0 in sides and below.size:
            least = few_digits(float(below.max()), (float(below.max()) + low) / 2, low)
        if 1 in sides and above.size:
            most = few_digits(high, (high + float(above.min())) / 2, float(above.min()))
        return least, most, np.empty(0, dtype=np.intp), missing


@dataclass(frozen=True)
class FuzzyCondition:
    """A factor of a node.

    Attributes
    ----------
    name : str
        The column.
    centre, half : float
        The number where the factor is largest, and the distance at which it is half as large.
    shares : dict of str to float
        For a nominal column, the factor of each level, 1 for the largest; those below a twentieth are left out.
    """

    name: str
    centre: float = np.nan
    half: float = np.nan
    shares: dict[str, float] | None = None

    def __str__(self) -> str:
        name = one_line(self.name)
        if self.shares is not None:
            return (
                f"{name} in {{{', '.join(f'{one_line(level)}: {share:.2g}' for level, share in self.shares.items())}}}"
            )
        return f"{name} about {number(float(f'{self.centre:.3g}'))} +- {number(float(f'{self.half:.2g}'))}"


@dataclass(frozen=True)
class FuzzyRule:
    """A node: how far a row meets it is the product of what it says of each column. ``str(rule)`` is the formula.

    Attributes
    ----------
    conditions : tuple of FuzzyCondition
        Of the columns in the node's crisp rule.
    label : object
        The class.
    weight : float
        Weight of the training rows that the node stands for.

    Examples
    --------
    >>> print(FuzzyRule((FuzzyCondition("petal width", 1.3, 0.2),), "versicolor", 48.0))
    IF petal width about 1.3 +- 0.2 THEN versicolor  (48 rows)
    """

    conditions: tuple[FuzzyCondition, ...]
    label: Any
    weight: float

    def __str__(self) -> str:
        conditions = " AND ".join(map(str, self.conditions)) or "true"
        return f"IF {conditions} THEN {one_line(self.label)}  ({n_rows(self.weight)})"


def crisp_rules(
    bounds: Bounds, labels: Sequence[Any], names: Sequence[str], levels: dict[int, np.ndarray]
) -> list[Rule]:
    """The conditions of each node in words."""
    found = []
    for node, label in enumerate(labels):
        conditions = []
        for place in np.flatnonzero(bounds.table[:, 0] == node).tolist():
            _, j, low, high, missing = bounds.table[place].tolist()
            column, meets = int(j), None if missing < 0 else missing == 1
            if column in levels:
                inside = frozenset(str(levels[column][code]) for code in bounds.inside[place])
                conditions.append(Condition(names[column], inside=inside, missing=meets))
            elif low > -np.inf or high < np.inf:
                conditions.append(Condition(names[column], low, high, missing=meets))
            else:
                conditions.append(Condition(names[column], outside=frozenset()))
        weight, wrong = bounds.weight[node].tolist()
        found.append(Rule(tuple(conditions), label, weight, wrong))
    return found
