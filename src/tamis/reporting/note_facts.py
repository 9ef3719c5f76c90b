"""``tamis.mine``: the search of :mod:`tamis.mining.search`, which notes the facts of its report in the run file.

A report needs the data and the fitted model, and a run file holds neither. So the facts are collected at the end of the
search; from then on :func:`tamis.report` needs the file alone. Without a run file the result keeps what its report
needs (:class:`Notes`), and the facts are collected when they are first needed. The search may not import this room, so
it takes :func:`note_facts` as its argument `finish`.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset, as_read
from tamis.mining.mined import Mined
from tamis.mining.run.store import Store
from tamis.mining.runner import STAGES
from tamis.mining.search import mine as search
from tamis.reporting.facts import facts_of_search, tried_facts
from tamis.reporting.features import ranking
from tamis.reporting.importance import Importance, importance
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.leak import leaky_twin
from tamis.validation.result import Validation

#: Keys of the run file: the facts of its report, and the commands that a user typed or may type next.
FACTS, COMMANDS = "facts", "commands"

#: Seconds that the leak check may take, and the permutation importance.
_LEAK_SECONDS, _IMPORTANCE_SECONDS = 10.0, 5.0

#: Features with a permutation importance.
_PERMUTED = 20

P = ParamSpec("P")


class Notes:
    """What the report of a search needs besides its result.

    Attributes
    ----------
    tried : dict
        The facts of the models that were tried (:func:`tamis.reporting.facts.tried_facts`).
    """

    def __init__(self, experiment: Experiment, store: Store, found: Mined) -> None:
        self._experiment, self._stages = experiment, store.noted(STAGES, [])
        self._facts: dict[str, Any] | None = None

        def results(text: str) -> list[FoldResult]:
            return [one for one in store.of(found.run_.search, text).values() if isinstance(one, FoldResult)]

        self.tried = tried_facts(found, results)

    def facts(self, found: Mined) -> dict[str, Any]:
        """All facts, collected once."""
        if self._facts is None:
            run, data = found.run_.path, as_named(self._experiment.data)
            again = [] if run is None else [shlex.join(["tamis", "report", run])]
            commands = [{"what": "make the report again", "command": command} for command in again]
            self._facts = facts_of_search(
                found,
                data,
                self.tried,
                stages=self._stages,
                leak=_leak(found, self._experiment),
                importance=_importance(found, self._experiment, data),
                commands=commands,
            )
        return self._facts


def note_facts(found: Mined, experiment: Experiment, store: Store) -> None:
    """Keep with a finished search what its report needs, and note the facts in its run, which is open for writing."""
    found._notes = notes = Notes(experiment, store, found)
    if found.run_.path is not None:
        store.note(FACTS, notes.facts(found))


def _noting_facts(search: Callable[P, Mined]) -> Callable[P, Mined]:
    """The search with the same signature, where `finish` is :func:`note_facts` by default."""

    @wraps(search)
    def mine(*args: P.args, **kwargs: P.kwargs) -> Mined:
        kwargs.setdefault("finish", note_facts)
        return search(*args, **kwargs)

    return mine


mine = _noting_facts(search)


def as_named(data: Dataset) -> Dataset:
    """The data as a file would give it, with names of columns."""
    prefix = "" if data.has_names else "x"
    names = np.array([f"{prefix}{name}" for name in data.feature_names])
    return replace(data, X=as_read(data.X), feature_names=names)


def _leak(found: Mined, experiment: Experiment) -> Validation | None:
    """The estimate with every step before the classifier fitted on all rows; None where it would take too long."""
    if experiment.data.prefilter is not None:
        # Its columns were selected for the folds of the search.
        return None
    seconds = float(found.validation_.fit_seconds.sum() + found.validation_.predict_seconds.sum())
    if 2 * seconds > _LEAK_SECONDS:
        return None
    model, rows, data = recipe(found.recipe_), experiment.rows, experiment.data
    twin = leaky_twin(model, _safe_indexing(data.X, rows), data.y[rows], seed=experiment.seed)
    if twin is None:
        return None
    (outcome,) = experiment.outcomes([twin])
    return None if isinstance(outcome, TamisError) else experiment.validation(model, outcome)


def _importance(found: Mined, experiment: Experiment, data: Dataset) -> Importance:
    """The permutation importance of the first features of the best single model, or of the model that was wanted."""
    chosen = next((one for one in found.models_.values() if one.model is found.model), None)
    offered = found.models_["single"] if chosen is None or chosen is found.models_["best"] else chosen
    seconds = float(offered.validation.fit_seconds.sum() + offered.validation.predict_seconds.sum())
    if seconds > _IMPORTANCE_SECONDS:
        return Importance.unknown(offered.recipe, f"fitting the model again would take about {seconds:.0f} seconds")
    mask = used_features(offered.model, found.n_features_in_)
    if mask is None:
        return Importance.unknown(offered.recipe, "the model does not report the features it uses")
    order = ranking(data, used=np.flatnonzero(mask), kept=offered.validation.selected).order
    return importance(
        recipe(offered.recipe),
        offered.recipe,
        experiment.data,
        experiment.splits,
        order[mask[order]][:_PERMUTED],
        experiment.metrics[0] if experiment.metrics else found.validation_.metrics[0],
        seed=experiment.seed,
        seconds=_IMPORTANCE_SECONDS,
    )
