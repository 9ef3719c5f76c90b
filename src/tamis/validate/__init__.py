"""Validation of whole models: folds, measures, stability of the features, and the leak made visible.

``tamis.validate`` is both a room and a verb. The design gives users ``tamis.validate(model, X, y)`` and developers
``from tamis.validate import folds``; the submodule and a function of the same name cannot both be the attribute
``validate`` of the package, so the room itself can be called. Calling it is
:func:`tamis.validate.whole.validate`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """A package that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Validate a model or a recipe whole; see :func:`tamis.validate.whole.validate`."""
        from tamis.validate.whole import validate  # late, so that looking at the room stays cheap

        return validate(*arguments, **options)


sys.modules[__name__].__class__ = _Room

#: What the room offers beside being called, and the file that holds it.
_VERBS = {
    "compare": "verdict",
    "learning_curve": "learning",
    "permutation_test": "permutation",
    "validate_many": "many",
    "validate_nested": "nested",
}


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        return getattr(import_module(f"tamis.validate.{_VERBS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_VERBS)
