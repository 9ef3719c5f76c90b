"""The search for the complex model, from data to a fitted model with an honest estimate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.task import WantedTask
from tamis.base.validation import check_number, check_whole
from tamis.data.column_sense import sensed
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.data.reading import Reading
from tamis.engines.progress import check_progress
from tamis.kernels.temporary import temporary_folder
from tamis.mining.budget import Budget, Clock
from tamis.mining.budget import budget as read_budget
from tamis.mining.edits import Edits, read_edits
from tamis.mining.mined import Mined
from tamis.mining.offers import Prefer, Rule, Wishes
from tamis.mining.prefilter import for_search
from tamis.mining.progress_display import watching
from tamis.mining.run.store import Store
from tamis.mining.runner import SPENT, Progress
from tamis.mining.session import Session
from tamis.validation.experiment import Experiment
from tamis.validation.metrics import metrics_for

#: The time of a run without a given budget.
DEFAULT_BUDGET = "10m"

#: How the error of a search is estimated.
Estimator = Literal["auto", "bootstrap", "nested"]


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
    text: Sequence[str] = (),
    metric: str | None = None,
    task: WantedTask = "auto",
    estimate: Estimator = "auto",
    prefer: Prefer = "best",
    max_features: int | None = None,
    rule: Rule = "shrunk",
    caution: float = 1.0,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    edits: "str | Path | Edits | None" = None,
    seed: int = 0,
    memory: float | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    finish: "Callable[[Mined, Experiment, Store], None] | None" = None,
    prefilter: str | None = None,
    target: str | None = None,
) -> Mined:
    """Search for the complex model, and estimate honestly how well the search does on new data.

    The search goes through stages (:mod:`tamis.mining.stages`): base classifiers, selections, classifiers behind the
    best selections, tuning, substitution of parts, committees. Inner folds evaluate each recipe as a whole, and their
    predictions decide what the search offers: the best ensemble, the best single model and the smallest that does about
    as well, each fitted on all rows.

    The best of many models looks better in the folds that chose it than it is. For the honest estimate of classes the
    choice is repeated on samples of the rows and evaluated on the rows outside of them, without another search
    (:mod:`tamis.mining.bootstrap_estimate`). With ``estimate="nested"``, and for numbers, the whole search is repeated
    within the training rows of every outer fold, and its choice is evaluated on the unseen test rows. With the official
    split there is one search, on the training rows, and the official test rows give the estimate.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
        A Dataset brings its classes, groups and official split. With a `prefilter` the path of a file. Columns of a
        data frame that are no features, such as identifiers, are left out with a warning
        (:func:`tamis.data.column_sense.sense`).
    y : array of shape (n_rows,), optional
        Class labels or numbers, if `X` is not a Dataset.
    budget : str, float or Budget, optional
        Time for everything, such as "10m"; ten minutes by default, and no limit if `trials` is given. Kernels that
        have to be compiled first, once on a machine, take no time of it.
    trials : int, optional
        Recipes that each search may try. With this alone the result depends on the seed only.
    engine : str, default="local"
        Who computes: "serial", "local" (a process for each core), "local(3)" or "dask://host:port". The result does not
        depend on it.
    run : path, optional
        The run file, which stores every result. An existing run is resumed. By default nothing is stored.
    split : {"folds", "official"}, optional
        Where the honest estimate comes from: all rows by default, or the official test rows.
    folds : int, default=5
        Outer folds of a nested estimate.
    inner_folds : int, default=5
        Folds within the rows of a search.
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided between training and test.
    text : sequence of str
        Columns of a data frame that are text, whose words become features.
    metric : str, optional
        The metric that the search optimizes: by default the BER, and for numbers the RMSE.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default its values tell
        (:func:`tamis.data.target_task.guess_task`).
    estimate : {"auto", "bootstrap", "nested"}, default="auto"
        How the honest error is estimated: "auto" is the bootstrap for classes, and nested for numbers, for which the
        two have not been compared on many data sets. That by the bootstrap costs no search; where there is nothing to
        find it is about two points too small. A nested estimate takes a search for each outer fold besides the one for
        the model, so that each has less time; where there is much to find it is some points too large.
    prefer : {"best", "single", "small"}, default="best"
        Which offer becomes the model: the ensemble, the best single model, or the one with the fewest features within
        one standard error of the best. All are in ``models_``.
    max_features : int, optional
        Most columns of any offer; of an ensemble, of all members together.
    rule : {"shrunk", "best", "cautious", "simplest"}, default="shrunk"
        How the best single model is chosen: by its log loss, moved towards the mean of its family by as much as its
        noise says (:mod:`tamis.mining.shrinkage`), or by the metric as :func:`tamis.validation.nested.choose` does.
    caution : float, default=1.0
        For "cautious": how many deviations count against a model (Grabczewski and Jankowski, eq. 25).
    only : list of str
        Templates: recipes with or without open arguments. If there are any, the search tries nothing else.
    without : list of str
        Parts that are not used.
    edits : path or Edits, optional
        The same from a TOML file, with ranges of parameters and recipes to try first
        (:func:`tamis.mining.edits.read_edits`).
    seed : int, default=0
    memory : float, optional
        Bytes that shared intermediate rows may take in all workers together.
    progress : callable or bool, optional
        Called with a :class:`~tamis.mining.runner.Progress` whenever something was computed. By default the progress
        is shown on a terminal and in a notebook; False shows nothing.
    finish : callable, optional
        Called with the result, the experiment and the store when the search is over and its run file is still open.
        ``tamis.mine`` collects there what a report needs (:func:`tamis.reporting.note_facts.note_facts`).
    prefilter : str, optional
        A score with a number of columns, such as "ig(5000)", for a file that does not fit into memory: every recipe
        begins with this selection, which each fold makes on its training rows. The file is read once for all folds.
    target : str, optional
        With a `prefilter`: the column to predict.

    Returns
    -------
    Mined
        A fitted classifier (for numbers a :class:`~tamis.mining.mined.MinedRegressor`) with the honest estimate, the
        inner estimate and all trials.

    See Also
    --------
    tamis.validate : The honest estimate of one recipe.
    tamis.report : The report of a run.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 50))
    >>> X[:, 7] += 3 * y
    >>> found = mine(X, y, trials=8, only=["cc | knn"], engine="serial", folds=2, inner_folds=2)
    >>> 7 in found.selected_features_, found.validation_.summary()["ber"].mean < 0.15
    (True, True)
    """
    check_progress(progress)
    check_whole("inner_folds", inner_folds, 2)
    check_number("caution", caution, 0, np.inf)
    limit = read_budget(DEFAULT_BUDGET if budget is None and trials is None else budget, trials)
    given = edits if isinstance(edits, Edits) else Edits() if edits is None else read_edits(Path(edits))
    edited = given.and_(only, without)
    if split not in (None, "folds", "official"):
        raise TamisError(f"split takes 'folds' or 'official' for a search; got {split!r}")
    for name, value, kind in (("rule", rule, Rule), ("prefer", prefer, Prefer), ("estimate", estimate, Estimator)):
        if value not in get_args(kind):
            raise TamisError(f"{name} must be one of {', '.join(get_args(kind))}; got {value!r}")
    if max_features is not None:
        check_whole("max_features", max_features, 1)
    wishes = Wishes(prefer, rule, float(caution), max_features)
    if prefilter is not None:
        if not isinstance(X, Dataset) or X.prefilter is None:
            X = for_search(
                X,
                prefilter,
                inner_folds=inner_folds,
                split=split,
                estimate=estimate,
                seed=seed,
                target=target,
                reading=Reading(task=task),
                memory=memory,
                engine=engine,
            )
    elif target is not None:
        raise TamisError("target is for a file with a prefilter")
    data = sensed(X, y, groups=groups, text=text, task=task)
    main = next(iter(metrics_for(data.task))) if metric is None else metric
    experiment = Experiment.of(data, split=split, folds=folds, metrics=main, seed=seed)
    with temporary_folder() as folder:
        path = Path(run) if run is not None else folder / "run.tamis"
        corrected = data.task == "classify" or data.prefilter is not None
        nested = split == "official" or estimate == "nested" or (estimate == "auto" and not corrected)
        identity = _identity(experiment, inner_folds, edited, nested=nested)
        with Store.open(path, identity) as store, experiment.driver(engine=engine, memory=memory) as driver:
            clock = Clock(limit, store.noted(SPENT, 0.0))
            with watching(progress) as watch:
                session = Session(experiment, store, driver, clock, inner_folds, edited, wishes, watch, nested=nested)
                found = session.run()
            store.note(SPENT, clock.spent)
            found.run_ = replace(found.run_, path=None if run is None else str(run), seconds=clock.spent)
            if finish is not None:
                finish(found, experiment, store)
    return found


def _identity(experiment: Experiment, inner_folds: int, edits: Edits, *, nested: bool) -> dict[str, Any]:
    return {
        "data": experiment.data.name,
        "fingerprint": fingerprint(experiment.data),
        "seed": experiment.seed,
        "split": str(experiment.scheme) if nested else "one search",
        "inner_folds": inner_folds,
        "metric": experiment.metrics[0].name if experiment.metrics else "",
        **({} if experiment.data.prefilter is None else {"prefilter": experiment.data.prefilter.recipe}),
        **edits.to_dict(),
    }
