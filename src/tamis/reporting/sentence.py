"""A recipe as an English sentence."""

from itertools import islice
from string import Formatter
from typing import Any

from tamis.base.cut import cut_phrase
from tamis.base.errors import TamisError
from tamis.base.part import Clause
from tamis.base.task import Task
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain, as_text
from tamis.compose.recipe import parse

#: Parameters that do not describe the model.
_SILENT = ("n_jobs", "random_state")


def sentence(recipe: str, task: Task | None = None) -> str:
    """A recipe in English: what is done to the features, step by step, and the classifier or regressor at the end.

    A word that stands for a classifier and for a regressor is that of the `task`, by default the classifier. A part
    without a phrase on its card is described by the first line of its documentation. A text that is no single recipe,
    such as the ``repr`` of an estimator from elsewhere, is returned unchanged.

    Examples
    --------
    >>> sentence("cc(50) | svm(gaussian, C=10)")
    'ranks the features by correlation with the target and keeps the best 50, then a support vector machine with
    Gaussian kernel (C = 10)'
    >>> sentence("committee(9, ssv_tree | knn(3))")
    'the vote of 9 copies, each fitted without one of 9 folds, of [keeps the features that an SSV decision tree uses,
    then the vote of the 3 nearest neighbours]'
    """
    try:
        chain = parse(recipe)
    except TamisError:
        return recipe
    stands_for_many = len(list(islice(chain.variants(), 2))) > 1
    return recipe if stands_for_many else _chain(chain, task)


def member_sentences(recipe: str, task: Task | None = None) -> list[tuple[float, str]]:
    """The share of the votes and the sentence of each member, if the recipe is a weighted ensemble; else nothing.

    Examples
    --------
    >>> member_sentences("blend(knn(3), cc(2) | knn(1), weights=[3, 1])")[1]
    (0.25, 'ranks the features by correlation with the target and keeps the best 2, then the nearest neighbour')
    """
    try:
        call = parse(recipe).parts[0]
    except TamisError:
        return []
    if not isinstance(call, Call) or entry(call.name).card.role != "weighted_ensemble":
        return []
    given = dict(call.arguments)
    members: Any = given.get("estimators", ())
    weights: Any = given.get("weights") or (1,) * len(members)
    return [(weight / sum(weights), _chain(one, task)) for weight, one in zip(weights, members, strict=True)]


def _chain(chain: Chain, task: Task | None) -> str:
    return ", then ".join(_part(part, task) for part in chain.parts if isinstance(part, Call))


def _clauses(value: Any, task: Task | None) -> Any:
    """An argument with the recipes in it in English."""
    if isinstance(value, Chain):
        return Clause(_chain(value, task), len(value.parts))
    return tuple(_clauses(one, task) for one in value) if isinstance(value, tuple) else value


def _part(call: Call, task: Task | None) -> str:
    known = entry(call.name) if task is None else entry(call.name).serving(task)
    given = dict(call.arguments)
    arguments = {name: _clauses(given.get(name, one.default), task) for name, one in known.parameters.items()}
    phrase, summary = known.card.phrase, ""
    if callable(phrase):
        words = phrase(arguments)
    elif known.score is not None:
        words = f"ranks the features by {phrase or call.name} and keeps {cut_phrase(arguments, 'those above zero')}"
    elif phrase:
        named = [name for _, name, _, _ in Formatter().parse(phrase) if name]
        words = phrase.format(**{name: arguments.pop(name) for name in named})
    else:
        words = f"the {known.kind} {call.name}"
        summary = known.summary.rstrip(".").replace("`", "")
    # Arguments of the recipe that are neither in the phrase nor defaults.
    left = {name: value for name, value in given.items() if name in arguments and name not in _SILENT}
    extras = [_extra(name, value, task) for name, value in left.items() if value != known.parameters[name].default]
    words += f" ({', '.join(extras)})" if extras else ""
    return f"{words} [{summary[:1].lower()}{summary[1:]}]" if summary else words


def _extra(name: str, value: Any, task: Task | None) -> str:
    if name == "class_weight" and value == "balanced":
        return "the classes weigh the same"
    if value == "auto":
        return f"{name} found by cross-validation"
    return f"{name} = {_clauses(value, task) if isinstance(value, Chain) else as_text(value)}"
