"""A result as a piece of HTML for a notebook: the answer in a sentence, a small table, one or two small pictures.

It holds no script and loads nothing. Every name is escaped and on one line; colours are those of the surrounding text.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from tamis.base.task import Task
from tamis.compose.plural import counted
from tamis.mining.mined import Mined
from tamis.reporting.answer import interval, offers
from tamis.reporting.display_names import shown
from tamis.reporting.figures import figures
from tamis.reporting.metric_text import metric_text
from tamis.reporting.numeric_answer import UNNAMED, in_words, target_name
from tamis.reporting.result_facts import result_facts
from tamis.reporting.sentence import member_sentences, sentence
from tamis.reporting.svg_drawing import svg
from tamis.reporting.task_words import task_words
from tamis.validation.learning import LearningCurve
from tamis.validation.many import Validations
from tamis.validation.metrics import Metric
from tamis.validation.nested import Nested
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Estimate, Validation

#: Letters of a recipe, names of features, rows of a table, and members of an ensemble that are shown.
_LETTERS, _NAMED, _ROWS, _MEMBERS = 120, 20, 10, 10

#: Features in a picture, points of a curve, and predictions: enough for one of a few hundred pixels.
_BARS, _POINTS, _DOTS = 10, 60, 120

#: Most classes with a picture of their confusions.
_CLASSES = 8


@singledispatch
def snippet(result: Any) -> str:
    """The summary of a result as HTML."""
    raise TypeError(f"{type(result).__name__} has no summary")


@snippet.register
def _validation(result: Validation) -> str:
    columns = ["metric", "estimate", "standard error", "sd over folds"]
    rows = [[metric.title, *_numbers(result.estimates[metric.name], metric)] for metric in result.metrics]
    if result.leak is not None:
        columns.append("if it leaked")
        for row, metric in zip(rows, result.metrics, strict=True):
            row.append(_written(result.leak.estimates[metric.name].mean, metric))
    return _whole(_answer(result), _recipe(result.recipe, result.task), _table(columns, rows), _pictures(result))


@snippet.register
def _validations(result: Validations) -> str:
    metric, rows = result.metric, []
    for one in result.ordered()[:_ROWS]:
        agreement = float("nan") if one.stability is None else one.stability.index
        mean, error, _ = _numbers(one.estimates[metric.name], metric)
        rows.append([one.recipe, mean, error, _size(one.mean_selected), _four(agreement)])
    left = len(result) - len(rows)
    note = "The best of several estimates is too good: <code>validate_nested</code> estimates the choice."
    return _whole(
        f"The best of {len(result)} models: {_answer(result.best)}",
        _recipe(result.best.recipe, result.best.task),
        _table(["recipe", metric.title, "standard error", "features", "stability"], rows),
        f"<p>{f'{left} more models. ' if left else ''}{note}</p>" if len(result) > 1 else "",
        _failed(result.failed),
        _pictures(result),
    )


@snippet.register
def _nested(result: Nested) -> str:
    metric, chosen = result.validation.metrics[0], list(result.chosen().items())
    inner = f"{metric.title} {_written(result.inner_estimate, metric)} in the folds that chose it, which is too good"
    return _whole(
        _answer(result.validation),
        f"<p>The choice among {len(result.recipes)} models on all rows, with {escape(inner)}:</p>",
        _recipe(result.choice, metric.task),
        _table([f"chosen in {len(result.inner)} folds", "recipe"], [[str(n), text] for text, n in chosen[:_ROWS]]),
        _failed(result.failed),
        _pictures(result),
    )


@snippet.register
def _learning(result: LearningCurve) -> str:
    estimates = [one.estimates[result.metric.name] for one in result.validations]
    rows = [[f"{n:g}", *_numbers(e, result.metric)[:2]] for n, e in zip(result.rows, estimates, strict=True)]
    return _whole(
        escape(_sentence(result.sentence())),
        _recipe(result.recipe, result.metric.task),
        _table(["training rows", result.metric.title, "standard error"], rows),
        _pictures(result),
    )


@snippet.register
def _permutation(result: PermutationTest) -> str:
    metric, words = result.metric, task_words(result.metric.task)
    rows = [
        [words.true, _written(result.observed, metric)],
        [f"mean of permuted {words.noun} (chance)", _written(result.mean, metric)],
        ["p", f"{result.pvalue:.3g}"],
    ]
    how = f"{shown(result.data)}: {result.split}, {words.values} permuted over {result.exchanged}"
    return _whole(
        f"{escape(result.sentence())}.",
        f"<p>{escape(how)}</p>",
        _recipe(result.recipe, metric.task),
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
            "{} ({} to {})".format(*(_written(one["honest"][key], metric) for key in ("mean", "low", "high"))),
            f"{one['n_used']:,}",
            one["recipe"],
        ]
        for one in offers(result)
    ]
    inner = f"The folds that chose it say {metric.title} {_written(result.inner_estimate_.mean, metric)}"
    return _whole(
        _answer(result.validation_, len(used), result.n_features_in_),
        f"<p>{escape(inner)}; {result.run_.n_tried:,} recipes were tried.</p>",
        _recipe(result.recipe_, metric.task),
        _members(result.recipe_, metric.task),
        f"<p>Features: {names}</p>",
        _table(["offer", f"{metric.title} (95 % interval)", "features", "recipe"], rows),
        _pictures(result),
    )


def _answer(validation: Validation, used: float | None = None, of: int | None = None) -> str:
    """The main metric with its interval, the chance level, and the number of features."""
    metric = validation.metrics[0]
    estimate = validation.estimates[metric.name]
    text = f"<b>{escape(metric.title)} {_written(estimate.mean, metric)}</b> on unseen rows"
    known = [f"{'chance' if metric.task == 'classify' else 'the mean alone'} {validation.chance:.4g}"]
    if np.isfinite(estimate.se):
        low, high = interval(estimate, metric)
        known.insert(0, f"95 % interval {_written(low, metric)} to {_written(high, metric)}")
    size = validation.mean_selected if used is None else used
    features = "" if size is None else f", with {size:,.4g} of {of or validation.n_features:,} features"
    where = escape(f"{shown(validation.data)}: {validation.split}")
    return f"{text} ({'; '.join(known)}){features}.{_in_words(validation)}<br/><small>{where}</small>"


def _in_words(validation: Validation) -> str:
    """What a model of numbers does beside the mean alone."""
    if validation.task == "classify":
        return ""
    name = UNNAMED if validation.source is None else target_name(validation.source)
    words = in_words(validation, shown(name))
    return "" if words is None else f" The model {escape(words)}."


def _recipe(recipe: str, task: Task) -> str:
    return f"<p><code>{escape(shown(recipe, _LETTERS))}</code><br/><small>{_words(recipe, task)}</small></p>"


def _words(recipe: str, task: Task) -> str:
    words = sentence(recipe, task)
    return "" if words == recipe or member_sentences(recipe, task) else escape(shown(words, 3 * _LETTERS))


def _members(recipe: str, task: Task) -> str:
    """The members of an ensemble, with their shares."""
    members = member_sentences(recipe, task)
    if not members:
        return ""
    lines = [f"<li>{100 * share:.3g} %: {escape(shown(words, 2 * _LETTERS))}</li>" for share, words in members]
    more = f"<li>{len(members) - _MEMBERS} more</li>" if len(members) > _MEMBERS else ""
    head = task_words(task).members.format(counted(len(members), "model"))
    return f"<p>{head}</p><ul>{''.join(lines[:_MEMBERS])}{more}</ul>"


def _failed(failed: Mapping[str, str]) -> str:
    lines = [f"<li>{_name(recipe)}: {_name(why)}</li>" for recipe, why in list(failed.items())[:_ROWS]]
    return f"<p>{len(failed)} failed:</p><ul>{''.join(lines)}</ul>" if lines else ""


def _pictures(result: Any) -> str:
    """One or two pictures, those that tell most."""
    known = figures(_few(result_facts(result)))
    rows = next((name for name in ("roc", "predicted") if name in known), "confusion")
    wanted = ["error_features", "learning", "permutation", rows, "features"]
    drawn = [svg(known[name]) for name in wanted if name in known][:2]
    look = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:1em"
    return f'<div style="{look}">{"".join(drawn)}</div>' if drawn else ""


def _few(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with as much as a small picture can show; predictions come in the order of the rows."""
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
        if (drawn := rows.get("predicted")) is not None:
            dots = {key: drawn[key][:_DOTS] for key in ("truth", "prediction", "row")}
            rows["predicted"] = {**drawn, **dots, "shown": len(dots["row"])}
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


def _numbers(estimate: Estimate, metric: Metric) -> list[str]:
    return [_written(value, metric) for value in (estimate.mean, estimate.se, estimate.sd)]


def _written(value: float, metric: Metric) -> str:
    return metric_text(metric.name, value, 4)


def _size(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _four(value: float) -> str:
    return f"{value:z.4f}" if np.isfinite(value) else "unknown"
