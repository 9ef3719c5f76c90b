"""tamis: find the few features that matter, build the model that uses them, validate both as one.

``tamis.recipe("standardize | cc(50) | svm(linear)")`` is an ordinary scikit-learn estimator;
``tamis.validate(model, X, y)`` gives its error with everything supervised refitted inside each fold. Rooms are imported
when first used, so that ``import tamis`` and ``tamis --help`` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.compose.recipe import recipe as recipe

__version__ = "0.1.0"

_ROOMS = (
    "challenge",
    "classify",
    "compose",
    "data",
    "discretize",
    "mine",
    "report",
    "scores",
    "select",
    "testing",
    "transform",
    "validate",
)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"tamis.{name}")
    if name == "recipe":
        return import_module("tamis.compose.recipe").recipe
    raise AttributeError(f"module 'tamis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_ROOMS, "recipe", "__version__"])
