"""The plan: many models merged into a prefix tree, so that what they share is computed once per fold.

Models with the same first steps share the fits and the transformed rows of these steps. Steps that differ only in
parameters that one fit serves (:mod:`tamis.base.shared_fit`) are fitted together: a ranking serves every number of
features, a kernel matrix every cost. The tree is run depth first and only the rows of the open branch are held. Every
model gets the same seeds, rows and calls as alone; numbers agree up to rounding where work is shared inside a step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from tamis.base.seeds import open_states, places, seeded_states
from tamis.base.shared_fit import Group, grouped
from tamis.compose.catalog import entry_of


@dataclass(frozen=True, eq=False)
class Branch:
    """What follows one estimator of a step: the models that end there, and the next steps of the others."""

    ends: tuple[int, ...]
    steps: tuple["Step", ...]

    @cached_property
    def models(self) -> frozenset[int]:
        """All models that end here or go on."""
        return frozenset(self.ends).union(*(step.models for step in self.steps))


@dataclass(frozen=True, eq=False)
class Step:
    """Steps of several models, at one place of their chains, that one fit serves.

    `group` holds the distinct estimators. For each of them `states` are its ``random_state`` parameters to seed, and
    `branches` what follows it.
    """

    place: int
    group: Group
    states: tuple[tuple[tuple[int, str], ...], ...]
    branches: tuple[Branch, ...]

    @cached_property
    def models(self) -> frozenset[int]:
        """All models with one of these estimators."""
        return frozenset[int]().union(*(branch.models for branch in self.branches))

    def copies(self, seed: int) -> list[Any]:
        """Clones of the estimators, with the seeds of a fold."""
        return [
            seeded_states(clone(one), states, seed, self.place)
            for one, states in zip(self.group.estimators, self.states, strict=True)
        ]

    @property
    def last(self) -> bool:
        """Whether models end here."""
        return any(branch.ends for branch in self.branches)


@dataclass(frozen=True, eq=False)
class Plan:
    """Models merged into a tree.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> from tamis.validation.plan import plan
    >>> models = [chain.build() for chain in parse("standardize | cc({5, 9}) | {knn({1, 3}), svm}").variants()]
    >>> print(plan(models))
    standardize
      cc x 2
        knn x 2
        svm
        knn x 2
        svm
    """

    root: Branch
    n_models: int

    def units(self) -> list[frozenset[int]]:
        """Sets of models that end in the same step and must not be divided, in the order of the tree."""
        return _units(self.root)

    def divided(self, parts: int) -> list[frozenset[int]]:
        """The models in up to `parts` portions of whole units; the results do not depend on it.

        Steps before a division are computed in every portion.
        """
        units = self.units()
        cuts = np.array_split(np.arange(len(units)), min(parts, len(units)))
        return [frozenset().union(*units[cut[0] : cut[-1] + 1]) for cut in cuts]

    def batches(self, most: int) -> list[tuple[int, ...]]:
        """The models in batches of about `most` models that share as much as they can.

        A step of at most `most` models is one batch; a larger one is divided at its branches. Small neighbouring
        batches are joined.
        """
        found: list[tuple[int, ...]] = []
        for part in _parts(self.root, most):
            if found and len(found[-1]) + len(part) <= most:
                found[-1] += part
            else:
                found.append(part)
        return found

    def n_fits(self) -> int:
        """Number of fits in one fold."""
        return _count(self.root)

    def __str__(self) -> str:
        return "\n".join(_lines(self.root))


def plan(models: Sequence[Any]) -> Plan:
    """Merge models into a tree: every step of a scikit-learn pipeline, or any other estimator as one step."""
    chains = [
        [(place, step) for place, step in enumerate(places(model)) if step is not None and step != "passthrough"]
        for model in models
    ]
    return Plan(_branch(chains, list(range(len(models))), 0), len(models))


def _branch(chains: list[list[tuple[int, Any]]], models: list[int], depth: int) -> Branch:
    ends = tuple(model for model in models if len(chains[model]) == depth)
    going = [model for model in models if len(chains[model]) > depth]
    steps = []
    for place in dict.fromkeys(chains[model][depth][0] for model in going):
        here = [model for model in going if chains[model][depth][0] == place]
        for group in grouped([chains[model][depth][1] for model in here]):
            branches = tuple(_branch(chains, [here[i] for i in members], depth + 1) for members in group.members)
            states = tuple(open_states(one) for one in group.estimators)
            steps.append(Step(place, group, states, branches))
    return Branch(ends, tuple(steps))


def _units(branch: Branch) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    for step in branch.steps:
        if step.last:
            found.append(step.models)
        else:
            found += [unit for below in step.branches for unit in _units(below)]
    return found


def _parts(branch: Branch, most: int) -> Iterator[tuple[int, ...]]:
    for step in branch.steps:
        if len(step.models) <= most or step.last or all(len(below.models) <= 1 for below in step.branches):
            yield tuple(sorted(step.models))
        else:
            for below in step.branches:
                yield from _parts(below, most)


def _count(branch: Branch) -> int:
    return sum(1 + sum(map(_count, step.branches)) for step in branch.steps)


def _lines(branch: Branch, indent: str = "") -> list[str]:
    found = []
    for step in branch.steps:
        first, many = step.group.estimators[0], len(step.group.estimators)
        known = entry_of(first)
        name = type(first).__name__ if known is None else known.name
        found.append(f"{indent}{name}" + (f" x {many}" if many > 1 else ""))
        found += [line for below in step.branches for line in _lines(below, indent + "  ")]
    return found
