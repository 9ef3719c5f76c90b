"""Models of the search and how one is made of another: other values, another selection, classifier or transform."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tamis.base.search_range import Range
from tamis.compose.catalog import part_for
from tamis.compose.chain import Call
from tamis.mining.space import Calls, Space
from tamis.mining.template import Form, filled, grid, slots, spread

#: Components tried where a projection is put behind a selection.
_COMPONENTS = (2, 5, 20)


@dataclass(frozen=True)
class Candidate:
    """A recipe of the search: the open form it comes from, and the same closed."""

    open: Form
    closed: Form


def covering(form: Form, points: int, most: int) -> list[Candidate]:
    """A few closed forms of an open one (:func:`tamis.mining.template.grid`)."""
    return [Candidate(form, closed) for closed in grid(form, points, most)]


def middle(tail: Calls) -> tuple[Calls, Calls]:
    """A tail open, and closed in the middle of its ranges."""
    return tail, grid(Form((), (), tail), 1, 1)[0].tail


def with_tail(candidate: Candidate, tail: tuple[Calls, Calls]) -> Candidate:
    """The model with another tail, open and closed."""
    return Candidate(replace(candidate.open, tail=tail[0]), replace(candidate.closed, tail=tail[1]))


def with_pick(candidate: Candidate, open_: Calls, closed: Calls) -> Candidate:
    """The model with another selection, open and closed."""
    return Candidate(replace(candidate.open, pick=open_), replace(candidate.closed, pick=closed))


def with_head(candidate: Candidate, head: Calls) -> Candidate:
    """The model with another head, in the middle of its ranges."""
    closed = grid(Form(head, (), ()), 1, 1)[0].head
    return Candidate(replace(candidate.open, head=head), replace(candidate.closed, head=closed))


def neighbours(candidate: Candidate, space: Space, tails: Iterable[tuple[Calls, Calls]]) -> Iterator[Candidate]:
    """A model with one part changed: another selection of about as many columns, another tail, another head."""
    size = _size(candidate)
    for pick in space.picks:
        if pick != candidate.open.pick:
            yield from (with_pick(candidate, pick, c.pick) for c in _of_size(Form((), pick, ()), size))
    yield with_pick(candidate, (), ())
    for tail in tails:
        yield with_tail(candidate, tail)
    for head in space.heads:
        yield with_head(candidate, head)
    yield from _projected(candidate)


def _projected(candidate: Candidate) -> Iterator[Candidate]:
    """With a projection before the tail, or without the one that is there."""
    projection = part_for("projection")
    if candidate.closed.tail[0].name == projection.name:
        yield with_tail(candidate, (candidate.open.tail[1:], candidate.closed.tail[1:]))
        return
    size = projection.card.positional[0]
    wide = Call(projection.name, ((size, projection.card.search[size]),))
    for components in _COMPONENTS:
        narrow = Call(projection.name, ((size, components),))
        yield with_tail(candidate, ((wide, *candidate.open.tail), (narrow, *candidate.closed.tail)))


def _size(candidate: Candidate) -> int | None:
    """How many columns the model's own selection keeps, where it says so."""
    sizes = [dict(call.arguments).get("k") for call in candidate.closed.pick]
    return next((size for size in reversed(sizes) if isinstance(size, int)), None)


def _of_size(form: Form, size: int | None) -> list[Form]:
    """Closed forms of a selection that keep about as many columns."""
    if size is None:
        return grid(form, 3, 3)
    values = {}
    for path, domain in slots(form).items():
        if path[-1] == "k" and isinstance(domain, Range):
            values[path] = int(np.clip(size, domain.low, domain.high))
        else:
            values[path] = spread(domain, 1)[0]
    return [filled(form, values)]
