"""Models of the search and how one is made of another: other values, another selection, classifier or transform."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tamis.base.search_range import Range
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.mining.space import Calls, Space
from tamis.mining.template import Template, filled, grid, slots, spread, value_at

#: Numbers of components that are tried where a projection follows a selection.
_COMPONENTS = (2, 5, 20)


@dataclass(frozen=True)
class Candidate:
    """A recipe of the search: the open template it comes from, and the same closed."""

    open: Template
    closed: Template


def covering(template: Template, points: int, most: int) -> list[Candidate]:
    """A few closed templates of an open one (:func:`tamis.mining.template.grid`)."""
    return [Candidate(template, closed) for closed in grid(template, points, most)]


def middle(classifier: Calls) -> tuple[Calls, Calls]:
    """A classifier open, and closed in the middle of its ranges."""
    return classifier, grid(Template((), (), classifier), 1, 1)[0].classify


def with_classifier(candidate: Candidate, classifier: tuple[Calls, Calls]) -> Candidate:
    """The model with another classifier, given open and closed."""
    open_, closed = classifier
    return Candidate(replace(candidate.open, classify=open_), replace(candidate.closed, classify=closed))


def with_selection(candidate: Candidate, open_: Calls, closed: Calls) -> Candidate:
    """The model with another selection, given open and closed."""
    return Candidate(replace(candidate.open, select=open_), replace(candidate.closed, select=closed))


def with_preparation(candidate: Candidate, preparation: Calls) -> Candidate:
    """The model with another preparation, in the middle of its ranges."""
    closed = grid(Template(preparation, (), ()), 1, 1)[0].prepare
    return Candidate(replace(candidate.open, prepare=preparation), replace(candidate.closed, prepare=closed))


def with_fewer_columns(candidate: Candidate, share: float) -> Candidate | None:
    """The model with a share of the columns that it selects; None if no part has their number as an open argument.

    Examples
    --------
    >>> from tamis.compose.recipe import parse
    >>> cc = Candidate(*(Template.of(parse(f"cc({k}) | knn(3)")) for k in ("geom(1, 1000)", 20)))
    >>> str(with_fewer_columns(cc, 0.75).closed)
    'cc(15) | knn(3)'
    """
    domains = slots(candidate.open)
    values = {path: value_at(candidate.closed, path) for path in domains}
    begin, end = len(candidate.open.prepare), len(candidate.open.prepare) + len(candidate.open.select)
    fewest = {
        path: domain.low
        for path, domain in domains.items()
        if path[-1] == "k" and isinstance(domain, Range) and begin <= int(path[0]) < end
    }
    if not fewest:
        return None
    for path, least in fewest.items():
        values[path] = max(round(share * values[path]), int(least))
    return Candidate(candidate.open, filled(candidate.open, values))


def neighbours(candidate: Candidate, space: Space, classifiers: Iterable[tuple[Calls, Calls]]) -> Iterator[Candidate]:
    """The model with one part changed: another selection of about as many columns, classifier or preparation."""
    size = _size(candidate)
    for selection in space.selections:
        if selection != candidate.open.select:
            closed = _of_size(Template((), selection, ()), size)
            yield from (with_selection(candidate, selection, one.select) for one in closed)
    yield with_selection(candidate, (), ())
    for classifier in classifiers:
        yield with_classifier(candidate, classifier)
    for preparation in space.preparations:
        yield with_preparation(candidate, preparation)
    yield from _projected(candidate)


def _projected(candidate: Candidate) -> Iterator[Candidate]:
    """With a projection before the classifier, or without the one that is there."""
    projection = part_for("projection")
    open_, closed = candidate.open.classify, candidate.closed.classify
    if closed[0].name == projection.name:
        yield with_classifier(candidate, (open_[1:], closed[1:]))
        return
    size = projection.card.positional[0]
    wide = Call(projection.name, ((size, projection.card.search[size]),))
    for components in _COMPONENTS:
        yield with_classifier(candidate, ((wide, *open_), (Call(projection.name, ((size, components),)), *closed)))


def _size(candidate: Candidate) -> int | None:
    """The number of columns that the model selects, if one of its parts has it as a parameter."""
    sizes = [dict(call.arguments).get("k") for call in candidate.closed.select]
    return next((size for size in reversed(sizes) if isinstance(size, int)), None)


def _of_size(template: Template, size: int | None) -> list[Template]:
    """Closed templates of a selection of about `size` columns."""
    if size is None:
        return grid(template, 3, 3)
    values = {}
    for path, domain in slots(template).items():
        if path[-1] == "k" and isinstance(domain, Range):
            values[path] = int(np.clip(size, domain.low, domain.high))
        else:
            values[path] = spread(domain, 1)[0]
    return [filled(template, values)]
