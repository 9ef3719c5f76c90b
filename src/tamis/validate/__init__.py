"""Validation of whole models: folds, measures, stability of the features, and the leak made visible.

The room can be called: ``tamis.validate(model, X, y)`` is :func:`tamis.validate.whole.validate`.
"""

from importlib import import_module
from typing import Any

from tamis.base.callable_room import make_callable

make_callable(__name__, "tamis.validate.whole", "validate")

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
