"""Nested validation: inner folds choose among models, outer folds evaluate the choice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.compose.recipe import to_text
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.estimates import over_folds
from tamis.validation.execute.driver import Driver, Outcome, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split, StratifiedFolds, stratify_by
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric, metrics_for
from tamis.validation.models import as_estimators
from tamis.validation.plan import plan
from tamis.validation.result import Result, Validation, figure

#: How the inner folds choose one model.
Rule: TypeAlias = Literal["best", "cautious", "simplest"]

#: Key of the folds of all rows, where those within an outer fold have the key of that fold.
_ALL_ROWS = 2**31


@dataclass(frozen=True, eq=False)
class Inner:
    """The results of the inner folds of one set of rows.

    Attributes
    ----------
    values : array of shape (n_models, n_folds)
        The main metric of every model in every inner fold; NaN for a model that failed.
    features : array of shape (n_models,)
        Mean number of selected features; infinite where it is unknown.
    test_to_train : float
        Test rows per training row.
    chosen : int
        The model that the rule chooses.
    """

    values: FloatArray
    features: FloatArray
    test_to_train: float
    chosen: int


@dataclass(frozen=True, eq=False, repr=False)
class Nested(Result):
    """The honest estimate of a choice among models.

    Attributes
    ----------
    validation : Validation
        The outer folds, each with the model chosen for it: the estimate of the whole procedure on new data.
    recipes : tuple of str
        The models to choose from.
    rule : "best", "cautious" or "simplest"
    inner : tuple of Inner
        One for each outer fold, in order.
    final : Inner
        The same rule on folds of all rows: the final choice.
    failed : mapping of str to str
        Error messages of models that failed in an inner fold; they are not chosen.
    """

    validation: Validation
    recipes: tuple[str, ...]
    rule: Rule
    inner: tuple[Inner, ...]
    final: Inner
    failed: dict[str, str]

    @property
    def choice(self) -> str:
        """The recipe chosen on all rows."""
        return self.recipes[self.final.chosen]

    def chosen(self) -> dict[str, int]:
        """How often each recipe was chosen in the outer folds, the most frequent first."""
        places, times = np.unique([one.chosen for one in self.inner], return_counts=True)
        order = np.lexsort((places, -times))
        return {self.recipes[places[i]]: int(times[i]) for i in order}

    @property
    def inner_estimate(self) -> float:
        """Mean of the main metric over the inner folds of all rows; optimistic, because these folds made the choice."""
        return float(np.nanmean(self.final.values[self.final.chosen]))

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        content = {
            **{name: getattr(self, name) for name in ("recipes", "rule", "choice", "failed")},
            "metric": self.validation.metrics[0].name,
            "inner": [vars(one) for one in self.inner],
            "final": vars(self.final),
        }
        return {"validation": self.validation.to_dict(seconds=seconds), **plain(content)}

    def __str__(self) -> str:
        lines = [str(self.validation), "chosen:"]
        lines += [f"  {times} of {len(self.inner)}: {recipe}" for recipe, times in self.chosen().items()]
        metric = self.validation.metrics[0]
        lines.append(
            f"on all rows: {self.choice} ({metric.title} {figure(self.inner_estimate)} in the folds that chose it)"
        )
        return "\n".join(lines)


def validate_nested(
    models: Any,
    X: Any,
    y: Any = None,
    *,
    rule: Rule = "best",
    caution: float = 1.0,
    inner_folds: int = 5,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    groups: Any = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    probes: float = 0.0,
    task: WantedTask = "auto",
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    memory: float | None = None,
    progress: Wanted = None,
) -> Nested:
    """Estimate how well a model chosen among many will do on new data.

    In every outer fold the training rows are split again: inner folds evaluate all models, the rule chooses one, and it
    is fitted on all training rows of the outer fold and evaluated on its test rows. Models share work as in
    :func:`tamis.validation.many.validate_many`.

    Parameters
    ----------
    models : list of estimators and recipes, or a recipe that stands for many
    rule : {"best", "cautious", "simplest"}, default="best"
        "best": the best mean of the main metric over the inner folds. "cautious": the best mean less `caution`
        deviations (Grabczewski and Jankowski, eq. 25). "simplest": the fewest features within one corrected standard
        error of the best. For equal models fewer features win, then the given order.
    caution : float, default=1.0
        For "cautious".
    inner_folds : int, default=5
        Stratified folds within the training rows; groups stay together.
    X, y, split, folds, repeats, groups, metrics, probes, task, seed, n_jobs, engine, memory, progress
        As for :func:`tamis.validation.many.validate_many`, but without "bootstrap", whose samples repeat rows that
        inner folds would split. The first metric decides the choice.

    Returns
    -------
    Nested

    See Also
    --------
    tamis.validation.many.validate_many : Validate the same models without choosing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, 7] += 3 * y
    >>> found = validate_nested("cc({1, 100}) | knn(3)", X, y, folds=5, metrics="accuracy")
    >>> found.choice, found.chosen(), round(found.validation.summary()["accuracy"].mean, 3)
    ('cc(1) | knn(3)', {'cc(1) | knn(3)': 5}, 1.0)
    """
    if rule not in get_args(Rule):
        raise TamisError(f"rule must be one of {', '.join(get_args(Rule))}; got {rule!r}")
    check_number("caution", caution, 0, np.inf)
    check_whole("inner_folds", inner_folds, 2)
    if split == "bootstrap":
        raise TamisError("nested validation takes folds: bootstrap samples repeat rows that inner folds would split")
    experiment = Experiment.of(
        X,
        y,
        split=split,
        folds=folds,
        repeats=repeats,
        groups=groups,
        metrics=metrics,
        probes=probes,
        seed=seed,
        task=task,
    )
    estimators = as_estimators(models, experiment.data)
    within = _inner_splits(experiment, inner_folds)
    flat = [one for splits in within for one in splits]
    total = len(estimators) * len(flat) + len(experiment.splits)
    with (
        progress_bar(f"choosing among {len(estimators)} models", progress) as step,
        experiment.driver(engine=engine, n_jobs=n_jobs, memory=memory) as driver,
    ):
        outcomes = driver.outcomes(
            estimators,
            flat,
            metrics=experiment.metrics,
            progress=None if step is None else lambda done, _: step(done, total),
        )
        failed = {to_text(estimators[i]): str(o) for i, o in enumerate(outcomes) if isinstance(o, TamisError)}
        if len(failed) == len(estimators):
            raise TamisError(next(iter(failed.values())))
        *inner, final = (
            _found(outcomes, number, inner_folds, experiment, rule, float(caution)) for number in range(len(within))
        )
        results = _outer(estimators, experiment, inner, driver)
        if step is not None:
            step(total, total)
    warn_again(results)
    validation = replace(
        experiment.validation(estimators[0], results),
        recipe=f"the {_NAMES[rule]} of {len(estimators)} recipes",
        split=f"{experiment.scheme}, {inner_folds} within",
    )
    recipes = tuple(to_text(model) for model in estimators)
    return Nested(validation, recipes, rule, tuple(inner), final, failed)


_NAMES = {"best": "best", "cautious": "most confident", "simplest": "simplest good one"}


def _inner_splits(experiment: Experiment, folds: int) -> list[list[Split]]:
    """Folds of the training rows of each outer split, and last of all rows."""
    groups, y = experiment.data.groups, experiment.data.y
    found = []
    for rows, task in [*((s.train, s.task) for s in experiment.splits), (experiment.rows, (_ALL_ROWS,))]:
        inner = StratifiedFolds(folds).splits(
            stratify_by(y[rows], experiment.data.task, folds),
            groups=None if groups is None else groups[rows],
            seed=spawn(experiment.seed, *task),
        )
        found.append([Split(rows[s.train], rows[s.test], s.repeat, s.fold, task) for s in inner])
    return found


def _found(
    outcomes: Sequence[Outcome], number: int, folds: int, experiment: Experiment, rule: Rule, caution: float
) -> Inner:
    """The results of the inner folds of one outer split."""
    own = [None if isinstance(o, TamisError) else o[number * folds : (number + 1) * folds] for o in outcomes]
    some = next(results for results in own if results is not None)
    known = metrics_for(experiment.data.task)
    metric = experiment.metrics[0] if experiment.metrics else known[next(iter(some[0].metrics))]
    values = np.array([[np.nan] * folds if o is None else [r.metrics[metric.name] for r in o] for o in own])
    sizes = [[r.selected.size if r.selected is not None else np.inf for r in o] if o else np.inf for o in own]
    features = np.array([float(np.mean(s)) for s in sizes])
    test_to_train = sum(r.rows.size for r in some) / sum(r.n_train for r in some)
    chosen = choose(values if metric.better == "high" else -values, features, test_to_train, rule=rule, caution=caution)
    return Inner(values, features, test_to_train, chosen)


def choose(
    values: FloatArray, features: FloatArray, test_to_train: float, *, rule: Rule = "best", caution: float = 1.0
) -> int:
    """The number of the model that a rule chooses.

    Parameters
    ----------
    values : array of shape (n_models, n_folds)
        Larger is better; NaN where there is no value.
    features : array of shape (n_models,)
        Number of selected features.
    test_to_train : float
        Test rows per training row, for the standard error.
    rule, caution
        As for :func:`validate_nested`.

    Examples
    --------
    >>> values = np.array([[0.90, 0.90, 0.90], [0.99, 0.85, 0.92]])
    >>> sizes = np.array([10, 1000])
    >>> [choose(values, sizes, 0.5, rule=rule) for rule in ("best", "cautious", "simplest")]
    [1, 0, 0]
    """
    estimates = [over_folds(own, test_to_train) for own in values]
    mean = np.array([-np.inf if np.isnan(e.mean) else e.mean for e in estimates])
    if rule == "cautious":
        mean = mean - caution * np.array([0.0 if np.isnan(e.sd) else e.sd for e in estimates])
    top = int(mean.argmax())
    # Values that differ by rounding are equal: the order of sums must not decide.
    reach = 1e-12
    if rule == "simplest" and not np.isnan(estimates[top].se):
        reach += estimates[top].se
    near = np.flatnonzero(mean >= mean[top] - reach)
    small = near[features[near] == features[near].min()]
    return int(small[np.flatnonzero(mean[small] >= mean[small].max() - 1e-12)[0]])


def _outer(
    estimators: Sequence[Any], experiment: Experiment, inner: Sequence[Inner], driver: Driver
) -> list[FoldResult]:
    """The results on the outer splits, each of the model chosen for it."""
    plans = {model: plan([estimators[model]]) for model in {one.chosen for one in inner}}
    tasks = [
        driver.task(plans[one.chosen], split, metrics=experiment.fold_metrics)
        for split, one in zip(experiment.splits, inner, strict=True)
    ]
    found = []
    for _, results in sorted(driver.execute(tasks), key=itemgetter(0)):
        if isinstance(results[0], TamisError):
            raise results[0]
        found.append(results[0])
    return found
