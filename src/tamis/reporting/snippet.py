"""A result as a piece of HTML for a notebook: the answer in a sentence, a small table, one or two small pictures.

It holds no script and loads nothing. Every name is escaped and on one line; colours are those of the surrounding text.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from tamis.mining.mined import Mined
from tamis.reporting.answer import interval, offers
from tamis.reporting.display_names import shown
from tamis.reporting.figures import figures
from tamis.reporting.result_facts import result_facts
from tamis.reporting.sentence import member_sentences, sentence
from tamis.reporting.svg_drawing import svg
from tamis.validation.learning import LearningCurve
from tamis.validation.many import Validations
from tamis.validation.nested import Nested
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Estimate, Validation

#: Letters of a recipe, names of features, rows of a table, and members of an ensemble that are shown.
_LETTERS, _NAMED, _ROWS, _MEMBERS = 120, 20, 10, 10

#: Features in a picture, and points of a curve: enough for one of a few hundred pixels.
_BARS, _POINTS = 10, 60

#: Most classes with a picture of their confusions.
_CLASSES = 8


@singledispatch
def snippet(result: Any) -> str:
    """The summary of a result as HTML."""
    raise TypeError(f"{type(result).__name__} has no summary")


@snippet.register
def _validation(result: Validation) -> str:
    columns = ["metric", "estimate", "standard error", "sd over folds"]
    rows = [[metric.title, *_numbers(result.estimates[metric.name])] for metric in result.metrics]
    if result.leak is not None:
        columns.append("if it leaked")
        for row, metric in zip(rows, result.metrics, strict=True):
            row.append(_four(result.leak.estimates[metric.name].mean))
    return _whole(_answer(result), _recipe(result.recipe), _table(columns, rows), _pictures(result))


@snippet.register
def _validations(result: Validations) -> str:
    metric, rows = result.metric, []
    for one in result.ordered()[:_ROWS]:
        agreement = float("nan") if one.stability is None else one.stability.index
        mean, error, _ = _numbers(one.estimates[metric.name])
        rows.append([one.recipe, mean, error, _size(one.mean_selected), _four(agreement)])
    left = len(result) - len(rows)
    note = "The best of several estimates is too good: <code>validate_nested</code> estimates the choice."
    return _whole(
        f"The best of {len(result)} models: {_answer(result.best)}",
        _recipe(result.best.recipe),
        _table(["recipe", metric.title, "standard error", "features", "stability"], rows),
        f"<p>{f'{left} more models. ' if left else ''}{note}</p>" if len(result) > 1 else "",
        _failed(result.failed),
        _pictures(result),
    )


@snippet.register
def _nested(result: Nested) -> str:
    metric, chosen = result.validation.metrics[0], list(result.chosen().items())
    inner = f"{metric.title} {_four(result.inner_estimate)} in the folds that chose it, which is too good"
    return _whole(
        _answer(result.validation),
        f"<p>The choice among {len(result.recipes)} models on all rows, with {escape(inner)}:</p>",
        _recipe(result.choice),
        _table([f"chosen in {len(result.inner)} folds", "recipe"], [[str(n), text] for text, n in chosen[:_ROWS]]),
        _failed(result.failed),
        _pictures(result),
    )


@snippet.register
def _learning(result: LearningCurve) -> str:
    estimates = [one.estimates[result.metric.name] for one in result.validations]
    rows = [[f"{n:g}", *_numbers(e)[:2]] for n, e in zip(result.rows, estimates, strict=True)]
    return _whole(
        escape(_sentence(result.sentence())),
        _recipe(result.recipe),
        _table(["training rows", result.metric.title, "standard error"], rows),
        _pictures(result),
    )


@snippet.register
def _permutation(result: PermutationTest) -> str:
    rows = [
        ["true classes", _four(result.observed)],
        ["mean of permuted classes (chance)", _four(result.mean)],
        ["p", f"{result.pvalue:.3g}"],
    ]
    how = f"{shown(result.data)}: {result.split}, labels permuted over {result.exchanged}"
    return _whole(
        f"{escape(result.sentence())}.",
        f"<p>{escape(how)}</p>",
        _recipe(result.recipe),
        _table(["", result.metric.title], rows),
        _pictures(result),
    )


@snippet.register
def _mined(result: Mined) -> str:
    used, metric = result.features, result.validation_.metrics[0]
    names = ", ".join(_name(name) for name in used[:_NAMED]) + (", &#8230;" if len(used) > _NAMED else "")
    rows = [
        [
            f"{one['name']}{' (this one)' if one['chosen'] else ''}",
            f"{_four(one['honest']['mean'])} ({_four(one['honest']['low'])} to {_four(one['honest']['high'])})",
            f"{one['n_used']:,}",
            one["recipe"],
        ]
        for one in offers(result)
    ]
    inner = f"The folds that chose it say {metric.title} {_four(result.inner_estimate_.mean)}"
    return _whole(
        _answer(result.validation_, len(used), result.n_features_in_),
        f"<p>{escape(inner)}; {result.run_.n_tried:,} recipes were tried.</p>",
        _recipe(result.recipe_),
        _members(result.recipe_),
        f"<p>Features: {names}</p>",
        _table(["offer", f"{metric.title} (95 % interval)", "features", "recipe"], rows),
        _pictures(result),
    )


def _answer(validation: Validation, used: float | None = None, of: int | None = None) -> str:
    """The main metric with its interval, the chance level, and the number of features."""
    metric = validation.metrics[0]
    estimate = validation.estimates[metric.name]
    text = f"<b>{escape(metric.title)} {_four(estimate.mean)}</b> on unseen rows"
    known = [f"chance {validation.chance:.4g}"]
    if np.isfinite(estimate.se):
        low, high = interval(estimate, metric)
        known.insert(0, f"95 % interval {_four(low)} to {_four(high)}")
    size = validation.mean_selected if used is None else used
    features = "" if size is None else f", with {size:,.4g} of {of or validation.n_features:,} features"
    where = escape(f"{shown(validation.data)}: {validation.split}")
    return f"{text} ({'; '.join(known)}){features}.<br/><small>{where}</small>"


def _recipe(recipe: str) -> str:
    return f"<p><code>{escape(shown(recipe, _LETTERS))}</code><br/><small>{_words(recipe)}</small></p>"


def _words(recipe: str) -> str:
    words = sentence(recipe)
    return "" if words == recipe or member_sentences(recipe) else escape(shown(words, 3 * _LETTERS))


def _members(recipe: str) -> str:
    """The members of an ensemble, with their shares."""
    members = member_sentences(recipe)
    if not members:
        return ""
    lines = [f"<li>{100 * share:.3g} %: {escape(shown(words, 2 * _LETTERS))}</li>" for share, words in members]
    more = f"<li>{len(members) - _MEMBERS} more</li>" if len(members) > _MEMBERS else ""
    return f"<p>The mean probability of {len(members)} models:</p><ul>{''.join(lines[:_MEMBERS])}{more}</ul>"


def _failed(failed: Mapping[str, str]) -> str:
    lines = [f"<li>{_name(recipe)}: {_name(why)}</li>" for recipe, why in list(failed.items())[:_ROWS]]
    return f"<p>{len(failed)} failed:</p><ul>{''.join(lines)}</ul>" if lines else ""


def _pictures(result: Any) -> str:
    """One or two pictures, those that tell most."""
    known = figures(_few(result_facts(result)))
    rows = "roc" if "roc" in known else "confusion"
    wanted = ["error_features", "learning", "permutation", rows, "features"]
    drawn = [svg(known[name]) for name in wanted if name in known][:2]
    look = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em"
    return f'<div style="{look}">{"".join(drawn)}</div>' if drawn else ""


def _few(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with as much as a small picture can show."""
    facts = dict(facts)
    if facts["features"] is not None:
        table = facts["features"]["table"]
        few = {key: value if value is None else value[:_BARS] for key, value in table.items()}
        facts["features"] = {**facts["features"], "table": few}
    if facts["rows"] is not None:
        rows, many = dict(facts["rows"]), len(facts["rows"]["classes"]) > _CLASSES
        rows["confusion"] = None if many else rows["confusion"]
        curves = [] if rows["roc"] is None or len(rows["classes"]) > 2 else rows["roc"]["curves"]
        rows["roc"] = {"curves": [_thinned(curve) for curve in curves]} if curves else None
        facts["rows"] = rows
    return facts


def _thinned(curve: dict[str, Any]) -> dict[str, Any]:
    n = len(curve["fpr"])
    places = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).round().astype(int)).tolist()
    return {**curve, **{key: [curve[key][place] for place in places] for key in ("fpr", "tpr")}}


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_name(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table style="color:inherit;text-align:left"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _whole(answer: str, *pieces: str) -> str:
    return f'<div class="tamis-result"><p>{answer}</p>{"".join(pieces)}</div>'


def _name(text: Any) -> str:
    """A name of the data, in its own direction of writing."""
    return f"<bdi>{escape(shown(text, _LETTERS))}</bdi>" if str(text) else ""


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _numbers(estimate: Estimate) -> list[str]:
    return [_four(estimate.mean), _four(estimate.se), _four(estimate.sd)]


def _size(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _four(value: float) -> str:
    return f"{value:z.4f}" if np.isfinite(value) else "unknown"
