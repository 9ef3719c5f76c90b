"""Estimators that hold a list of others: the parameters of these are reached by number."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self


class Numbered:
    """First base of an estimator one parameter of which is a list of estimators.

    With ``numbered = ("members", "member")`` the parameters of those in `members` are ``member_1__k``,
    ``member_2__k``, ..., and ``member_1`` is the first itself: seeds, grids and ``set_params`` find them there.
    """

    #: The parameter that holds the list, and the word that its entries go by.
    numbered: ClassVar[tuple[str, str]]

    def _named(self) -> dict[str, Any]:
        parameter, word = self.numbered
        given: Sequence[Any] | None = getattr(self, parameter)
        listed = given if isinstance(given, list | tuple) else []
        return {f"{word}_{number}": one for number, one in enumerate(listed, 1) if hasattr(one, "get_params")}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those listed, by number, and their parameters."""
        found: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for name, one in self._named().items():
                found[name] = one
                found.update((f"{name}__{inner}", value) for inner, value in one.get_params(deep=True).items())
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of :meth:`get_params`."""
        parameter, word = self.numbered
        if parameter in params:
            setattr(self, parameter, params.pop(parameter))
        replaced = {name: params.pop(name) for name in self._named() if name in params}
        if replaced:
            now = enumerate(getattr(self, parameter), 1)
            setattr(self, parameter, [replaced.get(f"{word}_{number}", one) for number, one in now])
        super().set_params(**params)  # type: ignore[misc]
        return self
