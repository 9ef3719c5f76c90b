"""The search for the complex model, from data to a fitted model with an honest error."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from joblib import cpu_count, parallel_config
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import kept
from tamis.base.seeds import seeded, spawn
from tamis.base.validation import check_number, check_whole
from tamis.data.fingerprint import fingerprint
from tamis.mining.budget import Budget, Pace, budget
from tamis.mining.data_traits import facts
from tamis.mining.edits import Edits, read_edits
from tamis.mining.mined import Mined, Run, leaderboard, promised
from tamis.mining.run.store import Store
from tamis.mining.runner import SPENT, Batch, Progress, Runner
from tamis.mining.search_state import Ahead, Search
from tamis.mining.space import space
from tamis.mining.stages import chosen
from tamis.mining.trials import Board, Tried, inner
from tamis.validation.execute.driver import Driver, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.nested import Rule

#: What a search takes when nobody says.
DEFAULT_BUDGET = "10m"

#: Names the seed of the last fit among all of a run.
_LAST_FIT = 2**31


def mine(
    X: Any,
    y: Any = None,
    *,
    budget: "str | float | Budget | None" = None,
    trials: int | None = None,
    engine: str = "local",
    run: str | Path | None = None,
    split: str | None = None,
    folds: int = 5,
    inner_folds: int = 5,
    groups: Any = None,
    metric: str = "ber",
    rule: Rule = "cautious",
    caution: float = 1.0,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    edits: "str | Path | Edits | None" = None,
    seed: int = 0,
    memory: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    finish: "Callable[[Mined, Experiment, Store], None] | None" = None,
) -> Mined:
    """Search for the complex model, and estimate honestly how well the search will do on new data.

    The search goes through stages (:mod:`tamis.mining.stages`): base classifiers, selections, classifiers behind the
    best selections, tuning, substitution of parts, committees; folds within its rows judge each recipe whole. To know
    how well what it finds will do, the same search is made within the training rows of every outer fold, and what it
    chose there is judged on the test rows, which it never saw. With the official split there is one search, on the
    training rows. The model that is returned is the choice of a search on all rows (with the official split, of the one
    on the training rows), fitted on all rows.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
        A data set brings its classes, groups and official split.
    y : array of shape (n_rows,), optional
        Class labels, when `X` is not a data set.
    budget : str, float or Budget, optional
        How long it may take in all, such as "10m"; ten minutes by default, and no limit when `trials` is given.
    trials : int, optional
        Recipes that a search may try; each of the searches within the outer folds may try as many. With this alone the
        result depends on the seed only.
    engine : str, default="local"
        Who computes: "serial", "local" (a process for each core), "local(3)" or "dask://host:port". The result does not
        depend on it.
    run : path, optional
        The file that keeps the run. Where it exists the run goes on; by default nothing is kept.
    split : {"folds", "official"}, optional
        What the search is judged on: outer folds by default, or the official test rows.
    folds : int, default=5
        Outer folds.
    inner_folds : int, default=5
        Folds within the rows of a search.
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided between training and test.
    metric : str, default="ber"
        What the search goes by.
    rule : {"best", "cautious", "simplest"}, default="cautious"
        How a search chooses in the end (:func:`tamis.validation.nested.choose`).
    caution : float, default=1.0
        For "cautious": how many deviations count against a model (Grabczewski and Jankowski, eq. 25).
    only : list of str
        Recipes, perhaps open ones; when there are any, only recipes of these forms are tried.
    without : list of str
        Parts that are not used.
    edits : path or Edits, optional
        The same from a TOML file, with ranges of parameters (:func:`tamis.mining.edits.read_edits`).
    seed : int, default=0
    memory : float, optional
        Bytes that the rows which recipes share may take in all workers together.
    progress : callable, optional
        Called with a :class:`~tamis.mining.runner.Progress` whenever something was computed.
    finish : callable, optional
        Called when the search is over and its `run` file is still open, with the result, the experiment and the run.
        ``tamis.mine`` notes there what ``tamis.report`` needs (:func:`tamis.reporting.note_facts.note_facts`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 50))
    >>> X[:, 7] += 3 * y
    >>> found = mine(X, y, trials=12, only=["cc | knn"], engine="serial", folds=3, inner_folds=3)
    >>> 7 in found.selected_features_, found.validation_.summary()["ber"].mean < 0.15
    (True, True)
    """
    check_whole("inner_folds", inner_folds, 2)
    check_number("caution", caution, 0, np.inf)
    limit = _budget(budget, trials)
    edited = _edits(edits, only, without)
    if split not in (None, "folds", "official"):
        raise TamisError(f"split takes 'folds' or 'official' for a search; got {split!r}")
    if rule not in get_args(Rule):
        raise TamisError(f"rule must be one of {', '.join(get_args(Rule))}; got {rule!r}")
    experiment = Experiment.of(X, y, split=split, folds=folds, groups=groups, metrics=metric, seed=seed)
    with tempfile.TemporaryDirectory(prefix="tamis-") as folder:
        path = Path(run) if run is not None else Path(folder, "run.tamis")
        identity = _identity(experiment, inner_folds, edited)
        with Store.open(path, identity) as store, experiment.driver(engine=engine, memory=memory) as driver:
            pace = Pace(limit, store.noted(SPENT, 0.0))
            session = _Session(experiment, store, driver, pace, inner_folds, progress)
            found = session.run(edited, rule, float(caution))
            store.note(SPENT, pace.spent)
            found.run_ = replace(found.run_, path=None if run is None else str(run), seconds=pace.spent)
            if run is not None and finish is not None:
                finish(found, experiment, store)
    return found


class _Session:
    """One run: the searches, what they chose, and the last fit."""

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        driver: Driver,
        pace: Pace,
        inner_folds: int,
        report: Callable[[Progress], None] | None,
    ) -> None:
        self._experiment, self._store, self._pace, self._inner_folds = experiment, store, pace, inner_folds
        self._workers = driver.workers
        self._runner = Runner(store, driver, pace, report=report)

    def run(self, edits: Edits, rule: Rule, caution: float) -> Mined:
        searches = self._searches(edits)
        self._runner.drive(searches)
        choices = [self._choice(search, rule, caution) for search in searches]
        self._pace.pretend(None)
        outer = self._outer(searches, choices)
        warn_again(outer)
        return self._mined(searches, choices, outer)

    def _searches(self, edits: Edits) -> list[Search]:
        """A search for every outer split, and at last one of all rows unless the split is the official one."""
        experiment, data = self._experiment, self._experiment.data
        known = facts(data)
        rows = [split.train for split in experiment.splits]
        if not experiment.scheme.one_test:
            rows.append(experiment.rows)
        assert experiment.metrics is not None
        metric = experiment.metrics[0]
        judged = max(1.0, len(experiment.splits) / self._workers)
        found = []
        for number, own in enumerate(rows):
            folds = inner(own, data.y, data.groups, search=number, folds=self._inner_folds, seed=experiment.seed)
            board = Board(number, folds, metric)
            answers, keep = partial(self._answers, board), partial(self._keep, board)
            allowed = space(known.of_rows(data.y[own]), edits)
            load, ahead = len(rows) / self._workers, Ahead(judged, own.size, experiment.rows.size)
            found.append(Search(board, allowed, self._pace, experiment.seed, answers, keep, load, ahead))
        return found

    def _answers(self, board: Board, split: int, recipes: Sequence[str]) -> dict[str, FoldResult]:
        found = self._store.find(board.number, board.inner.name(split), recipes)
        return {text: one for text, one in found.items() if isinstance(one, FoldResult)}

    def _keep(self, board: Board, split: int, results: Mapping[str, FoldResult]) -> None:
        self._store.put(board.number, board.inner.name(split), results)

    def _choice(self, search: Search, rule: Rule, caution: float) -> Tried:
        found = chosen(search, rule, caution)
        if found is None:
            errors = [one.error for one in search.board.tried.values() if one.error]
            why = f": {errors[0]}" if errors else "; give it a larger budget"
            raise TamisError(f"no recipe could be judged in the time there was{why}")
        return found

    def _outer(self, searches: Sequence[Search], choices: Sequence[Tried]) -> list[FoldResult]:
        """The outer splits, each by what the search within its training rows chose."""
        batches = [
            Batch(number, "outer", split, (choices[number].recipe,))
            for number, split in enumerate(self._experiment.splits)
        ]
        found = []
        for batch, findings in zip(batches, self._runner.compute(batches, searches), strict=True):
            result = findings[batch.recipes[0]]
            if isinstance(result, TamisError):
                raise result
            found.append(result)
        return found

    def _mined(self, searches: Sequence[Search], choices: Sequence[Tried], outer: list[FoldResult]) -> Mined:
        experiment, board, choice = self._experiment, searches[-1].board, choices[-1]
        data, rows = experiment.data, experiment.rows
        model = seeded(clone(self._runner.model(choice.recipe)), spawn(experiment.seed, _LAST_FIT))
        with parallel_config("threading", n_jobs=cpu_count()):
            model.fit(_safe_indexing(data.X, rows), data.y[rows])
        found = Mined(model)
        found.recipe_ = choice.recipe
        found.classes_ = data.classes
        found.n_features_in_ = data.n_features
        mask = kept(model, data.n_features)
        used = np.arange(data.n_features) if mask is None else np.flatnonzero(mask)
        found.selected_features_ = data.feature_names[used]
        if data.has_names:
            found.feature_names_in_ = data.feature_names
        found.validation_ = replace(
            experiment.validation(model, outer),
            recipe="the choice of the search",
            split=f"{experiment.scheme}, the search within",
        )
        found.promised_ = promised(board, choice)
        found.leaderboard_ = leaderboard(board)
        found.run_ = Run(
            path=None,
            seconds=self._pace.spent,
            search=board.number,
            n_tried=len(board.tried),
            choices=tuple(one.recipe for one in choices[: len(experiment.splits)]),
            failed={one.recipe: one.error for one in board.tried.values() if one.error},
        )
        return found


def _budget(given: "str | float | Budget | None", trials: int | None) -> Budget:
    return budget(DEFAULT_BUDGET if given is None and trials is None else given, trials)


def _edits(given: "str | Path | Edits | None", only: Iterable[str], without: Iterable[str]) -> Edits:
    base = given if isinstance(given, Edits) else Edits() if given is None else read_edits(Path(given))
    return base.and_(only, without)


def _identity(experiment: Experiment, inner_folds: int, edits: Edits) -> dict[str, Any]:
    return {
        "data": experiment.data.name,
        "fingerprint": fingerprint(experiment.data),
        "seed": experiment.seed,
        "split": str(experiment.scheme),
        "inner_folds": inner_folds,
        "metric": experiment.metrics[0].name if experiment.metrics else "",
        **edits.to_dict(),
    }
