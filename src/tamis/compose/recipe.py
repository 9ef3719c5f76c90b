"""Recipes: a complex model as text, read to a scikit-learn estimator and printed back.

A recipe is a chain of parts, ``standardize | cc(700) | svm(gaussian, C=1000)``. Its syntax is a subset of Python's
expressions, parsed with :mod:`ast`; nothing is evaluated. Arguments are numbers, ``true``, ``false``, ``none``,
``inf``, bare words (``linear``), quoted text, or recipes. A set ``{1, 10}``, a range ``geom(50, 5000, 10)`` or
``lin(0, 1, 5)``, or a set of parts, ``cc(50) | {knn(5), svm}``, makes the recipe stand for many recipes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tamis.base.task import Task
from tamis.compose.catalog import Entry, entry, part_for
from tamis.compose.chain import Call, Chain, to_text
from tamis.compose.parser import parse
from tamis.data.word_counts import WordCounts

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset

__all__ = ["Chain", "completed", "completed_for", "parse", "recipe", "to_text"]


def recipe(text: str, *, task: Task | None = None) -> Any:
    """Parse a recipe and build the scikit-learn estimator it describes.

    Parameters
    ----------
    text : str
    task : {"classify", "regress"}, optional
        What the target holds, classes or numbers, for words such as ``knn`` and ``cc`` that serve both. By default it
        follows from the other words (``ridge`` predicts numbers), and is else to classify.

    Returns
    -------
    estimator
        A ``Pipeline``, or the part itself when there is only one.

    See Also
    --------
    tamis.compose.chain.to_text : The inverse.

    Examples
    --------
    >>> model = recipe("standardize | cc(10) | svm(linear)")
    >>> [name for name, _ in model.steps]
    ['standardize', 'cc', 'svm']
    """
    return parse(text).build(task)


def completed(chain: Chain, *, nominal: bool, missing: bool, text: bool = False, task: Task = "classify") -> Chain:
    """The recipe, with words, imputation and encoding in front where the data needs them and the recipe has none.

    Data with `missing` values or `nominal` columns needs them unless all parts, those of recipes among their arguments
    included, take such columns for a `task`. Counts of the words of a `text` need a choice of words. A part that fits
    others, and is not told which, is taken for one that does not.

    Examples
    --------
    >>> str(completed(parse("cc(10)"), nominal=True, missing=False))
    'encode | cc(10)'
    >>> str(completed(parse("knn(5)"), nominal=True, missing=True))
    'impute | knn(5)'
    >>> str(completed(parse("blend(tree, nb)"), nominal=True, missing=False))
    'blend(tree, nb)'
    """
    roles = {entry(part.name).card.role for part in chain.parts if isinstance(part, Call)}
    front: list[Call] = []
    if missing and "imputation" not in roles and not _all_take(chain, task, lambda part: part.takes_missing):
        front.append(Call(part_for("imputation").name))
    encoded = not roles.isdisjoint({"encoding", "class_encoding"})
    if nominal and not encoded and not _all_take(chain, task, lambda part: part.takes_nominal):
        front.append(Call(part_for("encoding").name))
    if text and roles.isdisjoint({"vocabulary", "class_vocabulary"}):
        front.insert(0, Call(part_for("vocabulary").name))
    return Chain((*front, *chain.parts))


def completed_for(data: "Dataset", chain: Chain) -> Chain:
    """The recipe, with words, imputation and encoding in front where a data set needs them (:func:`completed`).

    In front of all is the selection by which the columns were read, if there is one.
    """
    found = completed(
        chain,
        nominal=bool(data.nominal.any()),
        missing=data.n_missing > 0,
        text=isinstance(data.X, WordCounts),
        task=data.task,
    )
    return found if data.prefilter is None else behind(data.prefilter.recipe, found)


def behind(prefilter: str, chain: Chain) -> Chain:
    """The recipe behind a selection, unless it begins with it.

    >>> str(behind("ig(5000)", parse("impute | svm"))), str(behind("ig(5000)", parse("ig(5000) | svm")))
    ('ig(5000) | impute | svm', 'ig(5000) | svm')
    """
    front = parse(prefilter).parts
    return chain if chain.parts[: len(front)] == front else Chain((*front, *chain.parts))


def _all_take(value: Any, task: Task, takes: Callable[[Entry], bool]) -> bool:
    """Whether `takes` holds for every part of a recipe and of recipes within; other values have no parts."""
    if isinstance(value, Chain):
        return all(
            _call_takes(part, task, takes)
            if isinstance(part, Call)
            else all(_all_take(option, task, takes) for option in part.options)
            for part in value.parts
        )
    return all(_all_take(v, task, takes) for v in value) if isinstance(value, tuple) else True


def _call_takes(call: Call, task: Task, takes: Callable[[Entry], bool]) -> bool:
    part, given = entry(call.name).serving(task), dict(call.arguments)
    if not takes(part) or part.numbers_only(given):
        return False
    told = any(isinstance(one, Chain | tuple) for one in given.values())
    unknown = not told and any(part.takes_recipes(name) and part.matters(name, given) for name in part.parameters)
    return not unknown and all(_all_take(argument, task, takes) for argument in given.values())
