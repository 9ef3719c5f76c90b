"""A room that is also a verb.

The design gives users ``tamis.validate(model, X, y)`` and ``tamis.mine(X, y)``, and developers
``from tamis.validate import folds``. A submodule and a function of the same name cannot both be an attribute of the
package, so the room itself can be called.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package that can be called."""

    _verb: tuple[str, str]

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Do what the room is named after."""
        module, name = self._verb
        # Late, so that looking at the room stays cheap.
        return getattr(import_module(module), name)(*arguments, **options)


def make_callable(room: str, module: str, name: str) -> None:
    """Let a call of the package `room` be one of the function `name` in `module`."""
    package: Any = sys.modules[room]
    package.__class__ = _Room
    package._verb = (module, name)
