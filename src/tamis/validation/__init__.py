"""Validation of whole models: folds, metrics, comparison of models, stability of the features, and the leak shown."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.validation.comparison.verdict import compare as compare
    from tamis.validation.learning import learning_curve as learning_curve
    from tamis.validation.many import validate_many as validate_many
    from tamis.validation.nested import validate_nested as validate_nested
    from tamis.validation.permutation import permutation_test as permutation_test
    from tamis.validation.several.labels import validate_labels as validate_labels
    from tamis.validation.whole import validate as validate

_HOMES = {
    "compare": "comparison.verdict",
    "learning_curve": "learning",
    "permutation_test": "permutation",
    "validate": "whole",
    "validate_labels": "several.labels",
    "validate_many": "many",
    "validate_nested": "nested",
}

__all__ = [
    "compare",
    "learning_curve",
    "permutation_test",
    "validate",
    "validate_labels",
    "validate_many",
    "validate_nested",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f"tamis.validation.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
