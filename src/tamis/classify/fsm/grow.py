"""Growing: one node a class at first, then one for each cluster of rows that are taken for another class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.classify.fsm.nodes import Learner, Node, Table, evidence, strongest

#: Times that nodes learn from the rows they are strongest for, after nodes were added.
_SWEEPS = 5

#: Additions without fewer errors after which growing ends.
_PATIENCE = 3

#: Halvings of a node for one row, and times that all such nodes are gone through.
_HALVINGS, _ROUNDS = 60, 100


class Grown(NamedTuple):
    """Nodes, and the node of each training row: the strongest of its class."""

    nodes: list[Node]
    members: Codes


@dataclass
class Grower:
    """Grows nodes on rows."""

    table: Table
    y: Codes
    weight: FloatArray
    n_classes: int
    function: str
    combine: str
    max_nodes: int
    min_samples: float
    coverage: float
    smoothing: float

    def __post_init__(self) -> None:
        self.learner = Learner(self.table, self.weight, self.smoothing)

    def grow(self) -> Grown:
        """The nodes with the fewest errors on the rows; of equals the fewest nodes."""
        classes = [self.y == c for c in range(self.n_classes)]
        self.learner.pool(classes)
        nodes = [self.learner.node(c, rows) for c, rows in enumerate(classes)]
        best, least, since = nodes, np.inf, 0
        while True:
            nodes = self._learned(nodes)
            values = self._values(nodes)
            wrong = self._wrong(values, nodes)
            error = float(self.weight[wrong].sum())
            if error < least * (1 - 1e-9):
                best, least, since = nodes, error, 0
            else:
                since += 1
            if self._covered(error) or len(nodes) >= self.max_nodes or since > _PATIENCE:
                break
            added = self._clusters(values, nodes, wrong)
            if not added:
                break
            nodes = nodes + added
        if self.min_samples <= 1 and not self._covered(least):
            best = self._with_exceptions(best)
        return Grown(best, self._members(self._values(best), best))

    def _covered(self, error: float) -> bool:
        total = float(self.weight.sum())
        return error <= (1 - self.coverage) * total * (1 + 1e-9)

    def _values(self, nodes: Sequence[Node]) -> FloatArray:
        return np.column_stack([node.log_values(self.table, self.function) for node in nodes])

    def _wrong(self, values: FloatArray, nodes: Sequence[Node]) -> np.ndarray:
        labels = [node.label for node in nodes]
        return np.asarray(strongest(evidence(values, labels, self.n_classes, self.combine)) != self.y)

    def _members(self, values: FloatArray, nodes: Sequence[Node]) -> Codes:
        """The strongest node of each row's class."""
        labels = np.array([node.label for node in nodes])
        return strongest(np.where(labels == self.y[:, None], values, -np.inf))

    def _learned(self, nodes: list[Node]) -> list[Node]:
        """Nodes with centres and dispersions of the rows they are strongest for, repeatedly; empty ones are dropped."""
        before = None
        for _ in range(_SWEEPS):
            members = self._members(self._values(nodes), nodes)
            if before is not None and np.array_equal(members, before):
                break
            groups = [members == k for k in range(len(nodes))]
            held = [k for k, rows in enumerate(groups) if rows.any()]
            self.learner.pool([groups[k] for k in held])
            nodes = [self.learner.node(nodes[k].label, groups[k]) for k in held]
            before = np.searchsorted(held, members)
        return nodes

    def _clusters(self, values: FloatArray, nodes: Sequence[Node], wrong: np.ndarray) -> list[Node]:
        """A node for the rows of a node that are taken for another class, for each such class, the most rows first."""
        labels = [node.label for node in nodes]
        taken_for = strongest(evidence(values, labels, self.n_classes, self.combine))
        key = self._members(values, nodes) * self.n_classes + taken_for
        sizes = np.bincount(key[wrong], weights=self.weight[wrong], minlength=len(nodes) * self.n_classes)
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] >= max(self.min_samples, np.finfo(float).tiny)][: self.max_nodes - len(nodes)]
        return [self.learner.node(labels[one // self.n_classes], wrong & (key == one)) for one in order.tolist()]

    def _with_exceptions(self, nodes: list[Node]) -> list[Node]:
        """Add a node for each row that is still taken for another class, as narrow as it takes."""
        nodes, values = list(nodes), self._values(nodes)
        mass = min(1.0, float(self.weight.min()))
        #: The place of a row's own node, and how often it was halved.
        own: dict[int, tuple[int, int]] = {}
        outvoted = self._outvoted()
        for _ in range(_ROUNDS):
            changed = False
            for row in np.flatnonzero(self._wrong(values, nodes) & ~outvoted).tolist():
                place, steps = own.get(row, (len(nodes), 0))
                # A copy of the row may have its node by now.
                if place == self.max_nodes or self._is_right(values[row], nodes, row):
                    continue
                found = self._narrowed(values[row], nodes, row, place, steps, mass)
                if found is None:
                    continue
                node, own[row] = found[0], (place, found[1])
                column = node.log_values(self.table, self.function)
                if place == len(nodes):
                    nodes, values = [*nodes, node], np.column_stack([values, column])
                else:
                    nodes[place], values[:, place] = node, column
                changed = True
            if not changed:
                break
        return nodes

    def _outvoted(self) -> np.ndarray:
        """Rows whose values are those of heavier rows of another class."""
        numbers = np.nan_to_num(self.table.numbers, nan=np.inf)
        values = np.column_stack([numbers, *self.table.levels])
        _, alike = np.unique(values, axis=0, return_inverse=True)
        alike = alike.ravel()
        votes = np.zeros((int(alike.max()) + 1, self.n_classes))
        np.add.at(votes, (alike, self.y), self.weight)
        return np.asarray(strongest(votes)[alike] != self.y)

    def _narrowed(
        self, values: FloatArray, nodes: list[Node], row: int, place: int, steps: int, mass: float
    ) -> tuple[Node, int] | None:
        """The widest node for a row, at a place among the nodes, with which the row is right; and its halvings."""
        one = self.table.some(np.array([row]))
        for number in range(steps, _HALVINGS):
            node = self.learner.narrow_node(int(self.y[row]), row, number, mass)
            here = np.append(values, 0.0) if place == len(nodes) else values.copy()
            here[place] = node.log_values(one, self.function)[0]
            if self._is_right(here, [*nodes[:place], node, *nodes[place + 1 :]], row):
                return node, number
        return None

    def _is_right(self, values: FloatArray, nodes: Sequence[Node], row: int) -> bool:
        labels = [node.label for node in nodes]
        return bool(strongest(evidence(values[None], labels, self.n_classes, self.combine))[0] == self.y[row])
