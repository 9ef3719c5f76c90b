"""tamis: find the few features that matter, build the model that uses them, validate both as one.

``tamis.recipe("standardize | cc(50) | svm(linear)")`` is an ordinary scikit-learn estimator;
``tamis.validate(model, X, y)`` gives its error with everything supervised refitted inside each fold;
``tamis.mine(X, y)`` searches for the model. Functions and rooms are imported when first used, so that ``import tamis``
stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.compose.rank import rank as rank
    from tamis.compose.recipe import recipe as recipe
    from tamis.data.load import load as load
    from tamis.reporting.note_facts import mine as mine
    from tamis.reporting.run_report import report as report
    from tamis.validation.predict import predict as predict
    from tamis.validation.whole import validate as validate

__version__ = "0.1.0"

#: The functions at the door, and the files that hold them.
_FUNCTIONS = {
    "load": "data.load",
    "mine": "reporting.note_facts",
    "predict": "validation.predict",
    "rank": "compose.rank",
    "recipe": "compose.recipe",
    "report": "reporting.run_report",
    "validate": "validation.whole",
}

_ROOMS = (
    "challenge",
    "classify",
    "compose",
    "data",
    "discretize",
    "genes",
    "mining",
    "regress",
    "reporting",
    "reproduce",
    "scores",
    "select",
    "series",
    "testing",
    "transform",
    "validation",
)

__all__ = ["__version__", *_FUNCTIONS]


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(import_module(f"tamis.{_FUNCTIONS[name]}"), name)
    if name in _ROOMS:
        return import_module(f"tamis.{name}")
    raise AttributeError(f"module 'tamis' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_FUNCTIONS, *_ROOMS, "__version__"])
