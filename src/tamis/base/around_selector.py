"""The contract of a selector around another one: what it asks of its user is what the inner one asks."""

from typing import Any, ClassVar

from tamis.base.nested import needs_classes, takes_missing, takes_no_negative
from tamis.base.part import Part
from tamis.base.picks import check_selector


class AroundSelector:
    """Base, before ``Selector``, of a selector that has another one as its parameter `selector`.

    A subclass also writes ``_usual``, the selector that stands in when none is given.
    """

    #: As far as the selector does.
    accepts_missing: ClassVar[bool] = True
    part: ClassVar[Part]
    selector: Any

    def _usual(self) -> Any:
        raise NotImplementedError

    def _model(self) -> Any:
        """The selector inside, not fitted."""
        if self.selector is None:
            return self._usual()
        check_selector(self.selector, f"{self.part.name}: selector")
        return self.selector

    def _supervised(self) -> bool:
        return needs_classes(self._model())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = takes_missing(self._model())
        tags.input_tags.positive_only = takes_no_negative(self._model())
        return tags
