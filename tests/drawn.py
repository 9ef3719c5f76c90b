"""A selector that draws its columns, to see whether seeds reach it."""

from typing import ClassVar

from tamis.base.seeds import generator
from tamis.base.selector import Selection, Selector


class Drawn(Selector):
    """Keeps and ranks columns at random."""

    _parameter_constraints: ClassVar[dict] = {"random_state": ["random_state"]}

    def __init__(self, random_state=None):
        self.random_state = random_state

    def _select(self, X, y):
        scores = generator(self.random_state).random(X.shape[1])
        return Selection(scores > 0.6, scores)
