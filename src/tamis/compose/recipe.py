"""Recipes: a complex model as text, read to a scikit-learn estimator and printed back.

A recipe is a chain of parts, ``standardize | cc(700) | svm(gaussian, C=1000)``. Its syntax is a subset of Python's
expressions, read with :mod:`ast`; nothing is evaluated. Arguments are numbers, ``true``, ``false``, ``none``, ``inf``,
bare words (``linear``), quoted text, or recipes. A set ``{1, 10}`` or a range ``geom(50, 5000, 10)``, ``lin(0, 1, 5)``
stands for many values, and the recipe then for many recipes.
"""

from typing import Any

from tamis.compose.chain import Chain, to_text
from tamis.compose.parser import parse

__all__ = ["Chain", "completed", "parse", "recipe", "to_text"]


def recipe(text: str) -> Any:
    """Read a recipe and build the scikit-learn estimator it describes.

    Examples
    --------
    >>> model = recipe("standardize | cc(10) | svm(linear)")
    >>> [name for name, _ in model.steps]
    ['standardize', 'cc', 'svm']
    """
    return parse(text).build()


def completed(chain: Chain, *, nominal: bool, missing: bool) -> Chain:
    """The recipe with ``impute`` and ``encode`` put in front where the data needs them and it has none.

    Examples
    --------
    >>> str(completed(parse("cc(10)"), nominal=True, missing=False))
    'encode | cc(10)'
    """
    names = {part.name for part in chain.parts}
    front = [name for name, needed in (("impute", missing), ("encode", nominal)) if needed and name not in names]
    return Chain((*(part for name in front for part in parse(name).parts), *chain.parts))
