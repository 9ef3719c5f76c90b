"""The content of a report as one plain dict: the views draw it, and ``--json`` prints it.

The dict holds text, numbers, booleans, None, lists and dicts only. Names are those of the data, unchanged; a view must
escape them. These are its entries; one that does not apply is None.

=========== ============================================================================================================
version     of this layout
kind        "mine", "validate" or "data"
title       name of the data
made        versions of all that decides the figures, the seed, the command and the date
data        the data in numbers (:func:`tamis.data.describe.describe`); where the target holds numbers, "values" are
            these (:mod:`tamis.reporting.target_values`)
answer      the model, its honest error and the features it uses (:mod:`tamis.reporting.answer`)
models      all models that were tried, and error against number of features (:mod:`tamis.reporting.models`)
features    the features in order, how often selected, how redundant, what could stand in for them
            (:mod:`tamis.reporting.features`)
words       of texts: the words that speak for each class, in documents that have them (:mod:`tamis.reporting.words`)
rows        the rows in two dimensions, and predictions against the truth (:mod:`tamis.reporting.rows`, and of numbers
            :mod:`tamis.reporting.numeric_rows`)
honesty     how far the error can be trusted (:mod:`tamis.reporting.honesty`)
story       how the search went, and what the model looks like inside (:mod:`tamis.reporting.story`)
=========== ============================================================================================================
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from tamis.base.feature_tracking import used_features
from tamis.compose.versions import made_with
from tamis.data.column_words import lines_of
from tamis.data.dataset import Dataset
from tamis.data.describe import describe
from tamis.data.word_counts import WordCounts
from tamis.mining.mined import Mined
from tamis.reporting.answer import mined_answer, validated_answer
from tamis.reporting.features import Ranking, features, ranking
from tamis.reporting.honesty import honesty
from tamis.reporting.importance import Importance
from tamis.reporting.models import family, models
from tamis.reporting.numeric_rows import numeric_rows
from tamis.reporting.rows import rows
from tamis.reporting.story import story
from tamis.reporting.target_values import target_values
from tamis.reporting.words import words_of_model, words_of_validation
from tamis.validation.fold_result import FoldResult
from tamis.validation.json_values import plain
from tamis.validation.permutation import PermutationTest
from tamis.validation.result import Validation
from tamis.validation.stability import most_often

#: Version of the layout of the facts.
VERSION = 2

#: Kinds of selectors whose selected features are compared.
_SELECTORS = 8

Commands = Sequence[Mapping[str, str]]


def mined_facts(
    found: Mined,
    data: Dataset,
    *,
    results: Callable[[str], Sequence[FoldResult]],
    stages: Sequence[Mapping[str, Any]],
    leak: Validation | None = None,
    importance: Importance | None = None,
    command: str | None = None,
    commands: Commands = (),
) -> dict[str, Any]:
    """The facts of a search.

    Parameters
    ----------
    found : Mined
    data : Dataset
        What was searched.
    results : callable
        ``results(recipe)``: the results of a recipe on the folds of the search; empty when there are none.
    stages : sequence of mappings with "stage" and "begin"
        When each stage began, in seconds.
    leak : Validation, optional
        The estimate with the steps before the last fitted on all rows.
    importance : Importance, optional
        How much worse predictions become when a column is permuted.
    command : str, optional
        The command that was run.
    commands : sequence of mappings with "what" and "command"
        Commands to run next.
    """
    tried = tried_facts(found, results)
    return facts_of_search(
        found, data, tried, stages=stages, leak=leak, importance=importance, command=command, commands=commands
    )


def tried_facts(found: Mined, results: Callable[[str], Sequence[FoldResult]]) -> dict[str, Any]:
    """The facts that need the results of the folds: the entry "models", and what selectors select ("sets")."""
    tried = models(found, results)
    return {"models": tried, "sets": _selected_by_selectors(tried["rows"], results)}


def facts_of_search(
    found: Mined,
    data: Dataset,
    tried: Mapping[str, Any],
    *,
    stages: Sequence[Mapping[str, Any]],
    leak: Validation | None = None,
    importance: Importance | None = None,
    command: str | None = None,
    commands: Commands = (),
) -> dict[str, Any]:
    """The facts of a search from its :func:`tried_facts`; the other parameters as for :func:`mined_facts`."""
    validation = found.validation_
    mask = used_features(found.model, found.n_features_in_)
    used = None if mask is None else np.flatnonzero(mask)
    ranked = ranking(data, used=used, kept=validation.selected)
    more: dict[str, Any] = {"substitutes": found.substitutes_, "ranked": ranked}
    return {
        **_head("mine", data, validation.seed, command),
        "answer": mined_answer(found, data, used=used, commands=commands),
        "models": tried["models"],
        "features": features(
            data, used=used, kept=validation.selected, sets=tried["sets"], importance=importance, **more
        ),
        "words": words_of_model(found.model, data),
        "rows": _rows(data, validation, used, _first(ranked, used)),
        "honesty": honesty(data, validation=validation, inner_estimate=found.inner_estimate_, leak=leak, used=used),
        "story": story(found, stages),
    }


def validated_facts(
    validation: Validation,
    data: Dataset,
    *,
    permutation: PermutationTest | None = None,
    command: str | None = None,
    commands: Commands = (),
) -> dict[str, Any]:
    """The facts of a validation; `command` and `commands` as for :func:`mined_facts`."""
    often = None if validation.selected is None else most_often(validation.selected)
    used = None if often is None else often[often < data.n_features]
    ranked = ranking(data, used=None, kept=validation.selected)
    return {
        **_head("validate", data, validation.seed, command),
        "answer": validated_answer(validation, data, commands=commands),
        "models": None,
        "features": features(data, kept=validation.selected, ranked=ranked),
        "words": words_of_validation(validation, data, used),
        "rows": _rows(data, validation, used, _first(ranked, used)),
        "honesty": honesty(data, validation=validation, leak=validation.leak, permutation=permutation, used=used),
        "story": None,
    }


def data_facts(data: Dataset, *, command: str | None = None) -> dict[str, Any]:
    """The facts of a data set alone."""
    return {
        **_head("data", data, None, command),
        "answer": None,
        "models": None,
        "features": features(data),
        "words": None,
        "rows": _rows(data, None, None, None),
        "honesty": honesty(data),
        "story": None,
    }


def _rows(
    data: Dataset, validation: Validation | None, used: np.ndarray | None, first: np.ndarray | None
) -> dict[str, Any]:
    predictions = None if validation is None else validation.predictions
    if data.task == "regress":
        return numeric_rows(data, predictions, used=used, first=first)
    return rows(data, predictions, data.classes if validation is None else validation.classes, used=used, first=first)


def _first(ranked: Ranking, used: np.ndarray | None) -> np.ndarray | None:
    """The columns that a model uses, the best first."""
    return None if used is None else ranked.order[np.isin(ranked.order, used)]


def _head(kind: str, data: Dataset, seed: int | None, command: str | None) -> dict[str, Any]:
    date = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return {
        "version": VERSION,
        "kind": kind,
        "title": data.name,
        "made": {"versions": made_with(), "seed": seed, "command": command, "date": date},
        "data": plain({**describe(data), **_about(data), **_values(data)}),
    }


def _about(data: Dataset) -> dict[str, Any]:
    """What is known of a data set besides its description: texts, sizes of groups, what reading left out and noted."""
    sizes = None if data.groups is None else np.unique(data.groups, return_counts=True)[1]
    return {
        "texts": _texts(data),
        "group_sizes": None if sizes is None else [sizes.min(), np.median(sizes), sizes.max()],
        "not_features": [{"name": name, "why": why} for name, why in data.left_out.items()],
        "reading": [note for note in data.notes if note not in lines_of(data.left_out)],
    }


def _values(data: Dataset) -> dict[str, Any]:
    return {"values": target_values(data)} if data.task == "regress" else {}


def _texts(data: Dataset) -> dict[str, Any] | None:
    """The columns of text, and how many features are words, numbers and levels; None without texts."""
    if not isinstance(data.X, WordCounts) or data.X.vocabulary is None:
        return None
    n_words, n_numbers = int(data.X.vocabulary.is_word.sum()), data.X.vocabulary.n_numbers
    levels = data.n_features - n_words - n_numbers
    return {"columns": data.plan.texts, "words": n_words, "numbers": n_numbers, "levels": levels}


def _selected_by_selectors(
    ranked: Sequence[Mapping[str, Any]], results: Callable[[str], Sequence[FoldResult]]
) -> dict[str, np.ndarray]:
    """The columns that the best model of each kind of selector selects most often."""
    found: dict[str, np.ndarray] = {}
    for row in ranked:
        selector, bar, _ = family(row["recipe"]).partition(" | ")
        if selector in found or len(found) == _SELECTORS or not bar:
            continue
        columns = [one.selected for one in results(row["recipe"]) if one.selected is not None]
        if columns:
            found[selector] = most_often(columns)
    return found
