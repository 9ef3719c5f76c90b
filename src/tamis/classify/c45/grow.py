"""Growing by gain ratio, with fractional cases for missing values."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.classify.c45.branches import Branches
from tamis.kernels.branches import ALL, deal_columns
from tamis.kernels.gain_ratio import NEAR, SLACK, cut_gains, level_gains
from tamis.trees.columns import SortedColumns, level_codes, sorted_columns
from tamis.trees.gain_ratio import times_log_table

#: C4.5's tolerance, in bits for gains and split infos, in rows for errors.
EPSILON = 1e-3

#: Largest number whose n log2 n is looked up.
_TABLE = 1e6

#: A nominal column with a level for this share of the rows or more has no part in the mean gain.
_MANY = 0.3


def grow(X: Matrix, codes: Codes, weight: FloatArray, n_classes: int, nominal: Mask, least: float) -> Branches:
    """Grow a tree by gain ratio until leaves are pure, too small to be split, or no column gains.

    Of the columns whose gain is at least the mean, within 0.001 bits, the one with the largest gain ratio is split;
    ties go to the first. See :func:`tamis.kernels.gain_ratio.cut_gains` for numeric columns and
    :func:`tamis.kernels.gain_ratio.level_gains` for nominal ones, of level codes 0, 1, ... (dense only). Columns with
    very many levels are left out of the mean, unless all have. The threshold of a numeric split is the largest value
    among all rows that is not above the middle between the values on its two sides. A row with a missing value goes
    down all branches, in parts proportional to their known rows. A subtree with as many errors as a leaf becomes one.
    """
    return _Growing(X, codes, weight, n_classes, nominal, least).grow()


@dataclass
class _Node:
    weight: FloatArray
    feature: int = -1
    threshold: float = np.nan
    below: list[int] = field(default_factory=list)


class _Open(NamedTuple):
    """A node that may be split: its number, rows, their weights, and the columns that may still gain."""

    node: int
    rows: np.ndarray
    weight: FloatArray
    columns: SortedColumns | None
    members: np.ndarray


class _Test(NamedTuple):
    """The column to split, its place among the numeric ones (-1 for a nominal one), and the values on either side."""

    feature: int
    place: int
    low: float
    high: float


class _Growing:
    def __init__(
        self, X: Matrix, codes: Codes, weight: FloatArray, n_classes: int, nominal: Mask, least: float
    ) -> None:
        self.X = X.tocsc() if sp.issparse(X) else X
        self.codes = codes.astype(np.int64, copy=False)
        self.given = weight
        self.weight = weight.copy()
        self.n_classes = n_classes
        self.least = float(least)
        self.table = times_log_table(int(min(_TABLE, weight.sum())))
        self.nominal = np.flatnonzero(nominal)
        coded = [level_codes(X[:, j]) for j in self.nominal]
        self.levels = np.array([levels for levels, _ in coded], dtype=np.int32).reshape(-1, X.shape[0])
        self.n_levels = np.array([n for _, n in coded], dtype=np.int64)
        self.columns = next(sorted_columns(X, np.flatnonzero(~nominal), whole=True), None)
        self.many = np.zeros(X.shape[1], dtype=bool)
        seen = np.array([np.unique(levels[levels >= 0]).size for levels in self.levels], dtype=np.int64)
        self.many[self.nominal] = seen >= _MANY * weight.sum()
        if self.many.all():
            self.many[:] = False
        self.branch = np.zeros(X.shape[0], dtype=np.int32)
        self.values: dict[int, FloatArray] = {}

    def grow(self) -> Branches:
        rows = np.arange(self.codes.shape[0], dtype=np.int32)
        nodes = [_Node(self._total(rows, self.given))]
        members = np.arange(self.nominal.size)
        stack = [_Open(0, rows, self.given, self.columns, members)] if self._may_split(nodes[0].weight) else []
        while stack:
            here = stack.pop()
            node = nodes[here.node]
            self.weight[here.rows] = here.weight
            here, test = self._best(here, node.weight)
            if test is None:
                continue
            node.feature = test.feature
            if test.place >= 0:
                node.threshold = self._threshold(test)
            children = self._children(here, test, node.threshold)
            node.below = list(range(len(nodes), len(nodes) + len(children)))
            nodes += [_Node(self._total(*child)) for child in children]
            wanted = [v for v, child in enumerate(node.below) if self._may_split(nodes[child].weight)]
            parts = self._dealt(here, children, wanted)
            stack += [
                _Open(node.below[v], *children[v], part, here.members)
                for v, part in zip(wanted[::-1], parts[::-1], strict=True)
            ]
        return _collapsed(nodes)

    def _total(self, rows: np.ndarray, weight: FloatArray) -> FloatArray:
        found = np.bincount(self.codes[rows], weights=weight, minlength=self.n_classes)
        return found.astype(np.float64)

    def _may_split(self, total: FloatArray) -> bool:
        cases = total.sum()
        return bool(cases - total.max() > SLACK and cases >= 2 * self.least - SLACK)

    def _best(self, here: _Open, total: FloatArray) -> tuple[_Open, _Test | None]:
        """The test of a node, and the node without the columns that can no longer gain."""
        columns, members = here.columns, here.members
        n_numeric = 0 if columns is None else columns.features.size
        gain, info, low, high = np.zeros((4, n_numeric + members.size))
        varied = np.zeros(gain.size, dtype=bool)
        classes = self.codes, self.weight, total, self.table
        if columns is not None and n_numeric:
            found = (one[:n_numeric] for one in (gain, info, low, high, varied))
            cut_gains(*columns.segments, *classes, here.rows.size, self.least, *found)
        if members.size:
            found = (one[n_numeric:] for one in (gain, info, varied))
            level_gains(self.levels, self.n_levels, members, here.rows, *classes, self.least, *found)
        features = self.nominal[members]
        if columns is not None:
            features = np.concatenate((columns.features, features))
        possible = gain >= 0.0
        counted = possible & ~self.many[features]
        if not counted.any():
            return here, None
        allowed = np.flatnonzero(possible & (gain >= gain[counted].mean() - EPSILON) & (info > EPSILON))
        if allowed.size == 0:
            return here, None
        ratio = gain[allowed] / info[allowed]
        best = allowed[ratio >= ratio.max() - NEAR]
        place = int(best[np.argmin(features[best])])
        test = _Test(int(features[place]), place if place < n_numeric else -1, low[place], high[place])
        here = here._replace(members=members[varied[n_numeric:]])
        if columns is None:
            return here, test
        kept = np.flatnonzero(varied[:n_numeric])
        columns = replace(columns, features=columns.features[kept], begin=columns.begin[kept], end=columns.end[kept])
        if test.place >= 0:
            test = test._replace(place=int(np.searchsorted(kept, place)))
        return here._replace(columns=columns), test

    def _threshold(self, test: _Test) -> float:
        values = self.values.get(test.feature)
        if values is None:
            column = self.X[:, [test.feature]]
            values = np.unique(column.toarray() if sp.issparse(column) else column).astype(np.float64)
            self.values[test.feature] = values
        middle = test.low / 2 + test.high / 2
        # Two neighbouring numbers have no middle of their own.
        middle = middle if middle < test.high else test.low
        return float(values[np.searchsorted(values, middle, side="right") - 1])

    def _children(self, here: _Open, test: _Test, threshold: float) -> list[tuple[np.ndarray, FloatArray]]:
        """Rows and weights of each branch; marks the branch of every row."""
        columns = here.columns
        if test.place >= 0 and columns is not None:
            segment = slice(columns.begin[test.place], columns.end[test.place])
            listed, values = columns.rows[segment], columns.values[segment]
            self.branch[here.rows] = threshold < 0
            self.branch[listed] = np.where(np.isnan(values), ALL, values > threshold)
            n_branches = 2
        else:
            member = int(np.searchsorted(self.nominal, test.feature))
            self.branch[here.rows] = self.levels[member, here.rows]
            n_branches = int(self.n_levels[member])
        return divided(self.branch[here.rows], n_branches, here.rows, here.weight)

    def _dealt(
        self, here: _Open, children: list[tuple[np.ndarray, FloatArray]], wanted: list[int]
    ) -> list[SortedColumns] | list[None]:
        """The numeric columns of some branches."""
        columns = here.columns
        if columns is None or columns.features.size == 0 or not wanted:
            return [None] * len(wanted)
        number = np.full(len(children) + 1, len(wanted), dtype=np.int32)
        number[wanted] = np.arange(len(wanted))
        number[ALL] = ALL
        self.branch[here.rows] = number[self.branch[here.rows]]
        sizes = np.array([children[v][0].size for v in wanted])
        # No more entries than the branch has rows, nor than the column has.
        most = np.minimum(sizes[:, None], columns.end - columns.begin)
        end = np.cumsum(most).reshape(most.shape)
        begin = end - most
        size = int(end[-1, -1])
        rows, values = np.empty(size, dtype=np.int32), np.empty(size, dtype=columns.values.dtype)
        place = begin.copy()
        deal_columns(*columns.segments, self.branch, place, rows, values)
        found = []
        for first, begins, ends in zip(begin[:, 0], begin, place, strict=True):
            last = ends[-1]
            # A small part would keep the large array in memory.
            my_rows, my_values = rows[first:last], values[first:last]
            if 2 * (last - first) < size:
                my_rows, my_values = my_rows.copy(), my_values.copy()
            found.append(SortedColumns(columns.features, begins - first, ends - first, my_rows, my_values))
        return found


def divided(
    branch: np.ndarray, n_branches: int, rows: np.ndarray, weight: FloatArray
) -> list[tuple[np.ndarray, FloatArray]]:
    """Rows and weights of each branch.

    A row of the branch ALL is in every branch that has other rows, with its weight times their share of all such rows.
    """
    missing = branch == ALL
    if not missing.any():
        return [(rows[mine], weight[mine]) for mine in (branch == v for v in range(n_branches))]
    known = weight[~missing].sum()
    found = []
    for v in range(n_branches):
        mine = branch == v
        share = weight[mine].sum() / known
        if share > 0.0:
            mine |= missing
        found.append((rows[mine], np.where(missing, weight * share, weight)[mine]))
    return found


def _collapsed(nodes: list[_Node]) -> Branches:
    """The tree as arrays; a subtree that makes no fewer errors than a leaf is one."""
    weight = np.array([node.weight for node in nodes])
    errors = weight.sum(axis=1) - weight.max(axis=1)
    count = np.array([len(node.below) for node in nodes], dtype=np.int64)
    tree = Branches(
        np.array([node.feature for node in nodes], dtype=np.int64),
        np.array([node.threshold for node in nodes]),
        np.cumsum(count) - count,
        count,
        np.array([child for node in nodes for child in node.below], dtype=np.int64),
        weight,
    )
    # Children come after their parents.
    for number in np.flatnonzero(tree.feature >= 0)[::-1]:
        below = errors[tree.below(number)].sum()
        if below >= errors[number] - EPSILON:
            tree.cut(number)
        else:
            errors[number] = below
    return tree
