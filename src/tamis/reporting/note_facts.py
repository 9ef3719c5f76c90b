"""``tamis.mine``: the search of :mod:`tamis.mining.search`, which notes the facts of its report in the run file.

A report needs the data and the fitted model, and a run file holds neither. So the facts are collected at the end of the
search; from then on :func:`tamis.report` needs the file alone. The search may not import this room, so it takes
:func:`note_facts` as its argument `finish`.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

import numpy as np

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset, as_read
from tamis.mining.mined import Mined
from tamis.mining.run.store import Store
from tamis.mining.runner import STAGES
from tamis.mining.search import mine as search
from tamis.reporting.facts import mined_facts
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.leak import leaky_twin
from tamis.validation.result import Validation

#: Keys of the run file: the facts of its report, and the commands that a user typed or may type next.
FACTS, COMMANDS = "facts", "commands"

#: Seconds that the leak check may take.
_LEAK_SECONDS = 10.0

P = ParamSpec("P")


def note_facts(found: Mined, experiment: Experiment, store: Store) -> None:
    """Collect the facts of a finished search and note them in its run, which is open for writing."""

    def results(text: str) -> list[FoldResult]:
        return [one for one in store.of(found.run_.search, text).values() if isinstance(one, FoldResult)]

    again = {"what": "make the report again", "command": shlex.join(["tamis", "report", str(store.path)])}
    facts = mined_facts(
        found,
        _dataset(experiment.data),
        results=results,
        stages=store.noted(STAGES, []),
        leak=_leak(found, experiment),
        commands=[again],
    )
    store.note(FACTS, facts)


def _noting_facts(search: Callable[P, Mined]) -> Callable[P, Mined]:
    """The search with the same signature, where `finish` is :func:`note_facts` by default."""

    @wraps(search)
    def mine(*args: P.args, **kwargs: P.kwargs) -> Mined:
        kwargs.setdefault("finish", note_facts)
        return search(*args, **kwargs)

    return mine


mine = _noting_facts(search)


def _dataset(data: Dataset) -> Dataset:
    """The data as a file would give it, with names of columns."""
    prefix = "" if data.has_names else "x"
    names = np.array([f"{prefix}{name}" for name in data.feature_names])
    return replace(data, X=as_read(data.X), feature_names=names)


def _leak(found: Mined, experiment: Experiment) -> Validation | None:
    """The estimate with every step before the classifier fitted on all rows; None where it would take too long."""
    seconds = float(found.validation_.fit_seconds.sum() + found.validation_.predict_seconds.sum())
    if 2 * seconds > _LEAK_SECONDS:
        return None
    model, rows, data = recipe(found.recipe_), experiment.rows, experiment.data
    twin = leaky_twin(model, _safe_indexing(data.X, rows), data.y[rows], seed=experiment.seed)
    if twin is None:
        return None
    (outcome,) = experiment.outcomes([twin])
    return None if isinstance(outcome, TamisError) else experiment.validation(model, outcome)
