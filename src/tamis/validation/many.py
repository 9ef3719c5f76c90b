"""Many models validated on the same splits; the work that they share is done once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

from tamis.base.errors import TamisError
from tamis.base.task import WantedTask
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain
from tamis.compose.recipe import parse, to_text
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.comparison.verdict import Comparison, compare
from tamis.validation.execute.driver import warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.metrics import Metric
from tamis.validation.models import as_estimators
from tamis.validation.result import Result, Validation, figure

#: Models that the short form shows.
_SHOWN = 10

#: Parameters that set the number of selected features.
_SIZES = ("k", "fraction")


@dataclass(frozen=True, eq=False, repr=False)
class Validations(Result, Sequence[Validation]):
    """The estimates of several models on the same splits; a sequence of :class:`Validation`.

    Attributes
    ----------
    validations : tuple of Validation
        In the order of the models.
    failed : mapping of str to str
        The models that could not be validated, and why.

    See Also
    --------
    tamis.validation.nested.validate_nested : The estimate of a choice; that of the best of many is optimistic.
    """

    validations: tuple[Validation, ...]
    failed: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.validations)

    @overload
    def __getitem__(self, place: int) -> Validation: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Validation]: ...

    def __getitem__(self, place: int | slice) -> Validation | Sequence[Validation]:
        return self.validations[place]

    @property
    def metric(self) -> Metric:
        """The main metric."""
        return self.validations[0].metrics[0]

    def ordered(self) -> list[Validation]:
        """Best first by the main metric; for equal ones fewer features first, then the given order."""
        return sorted(self.validations, key=lambda one: one.standing(self.metric))

    @property
    def best(self) -> Validation:
        """The model with the best estimate of the main metric."""
        return self.ordered()[0]

    def comparison(self) -> Comparison:
        """Which models are worse than the best (:func:`tamis.validation.compare`)."""
        return compare(self.validations)

    def curves(self) -> dict[str, list[Validation]]:
        """Models that differ only in the number of selected features, fewest first.

        The key is their common recipe with a star for the number.
        """
        found: dict[str, list[Validation]] = {}
        for one in self.validations:
            if one.mean_selected is not None:
                found.setdefault(size_family(one.recipe), []).append(one)
        return {name: sorted(own, key=lambda v: v.mean_selected or 0.0) for name, own in found.items() if len(own) > 1}

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        return {
            "models": [one.to_dict(seconds=seconds) for one in self.validations],
            "failed": dict(self.failed),
            "comparison": self.comparison().to_dict() if len(self.validations) > 1 else None,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines(len(self)))

    def __repr__(self) -> str:
        left = len(self) - _SHOWN
        return "\n".join([*self._lines(_SHOWN), *([f"  ... and {left} more; print() shows all"] if left > 0 else [])])

    def _lines(self, most: int) -> list[str]:
        shown = self.ordered()[:most]
        width = max(len(one.recipe) for one in shown)
        lines = [f"{self.validations[0].data}: {self.validations[0].split}, {self.metric.title}"]
        for one in shown:
            e = one.estimates[self.metric.name]
            uses = "" if one.mean_selected is None else f"  {one.mean_selected:g} features"
            lines.append(f"  {one.recipe:<{width}}  {figure(e.mean)} +- {figure(e.se)}{uses}")
        lines += [f"beware: {one}" for one in (*best_of_many(len(self)), *self.validations[0].caveats)]
        return [*lines, *(f"  {recipe}: {why}" for recipe, why in list(self.failed.items())[:most])]


def validate_many(
    models: Any,
    X: Any,
    y: Any = None,
    *,
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
) -> Validations:
    """Estimate how well each of many whole models will do on new data, on the same splits.

    Work that models share is done once in every fold: equal first steps, and steps where one fit serves many parameter
    values (:mod:`tamis.base.shared_fit`). Each model gets the estimate of :func:`tamis.validation.whole.validate`, up
    to rounding where work is shared within a step. A model that fails does not stop the others.

    Parameters
    ----------
    models : list of estimators and recipes, or a recipe that stands for many
        ``"cc(geom(50, 5000, 10)) | svm(linear, C={0.01, 1, 100})"``.
    X, y, split, folds, repeats, groups, metrics, probes, task, seed, n_jobs, engine
        As for :func:`tamis.validation.whole.validate`.
    memory : float, optional
        Most bytes of rows that models share; see :class:`tamis.validation.execute.driver.Driver`.
    progress : callable or bool, optional
        Called with the number of results and their total; see :func:`tamis.validation.whole.validate`.

    Returns
    -------
    Validations

    See Also
    --------
    tamis.validation.nested.validate_nested : Choose among models in inner folds and validate the choice.
    tamis.validation.comparison.verdict.compare : Whether models differ.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, 7] += 3 * y
    >>> found = validate_many("cc({1, 100}) | knn(3)", X, y, folds=5, metrics="accuracy")
    >>> [(one.recipe, round(one.summary()["accuracy"].mean, 3)) for one in found]
    [('cc(1) | knn(3)', 1.0), ('cc(100) | knn(3)', 0.75)]
    """
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
    validations, failed = [], {}
    with progress_bar(f"validating {len(estimators)} models", progress) as step:
        outcomes = experiment.outcomes(estimators, engine=engine, n_jobs=n_jobs, memory=memory, progress=step)
    for model, outcome in zip(estimators, outcomes, strict=True):
        if isinstance(outcome, TamisError):
            failed[to_text(model)] = str(outcome)
        else:
            validations.append(experiment.validation(model, outcome))
    if not validations:
        raise TamisError(next(iter(failed.values())))
    warn_again(result for outcome in outcomes if not isinstance(outcome, TamisError) for result in outcome)
    return Validations(tuple(validations), failed)


def best_of_many(count: int) -> list[str]:
    """The sentence on the first line of a ranking of several models; none where there is one.

    >>> best_of_many(1), best_of_many(40)[0][:38]
    ([], 'the best of 40 looks better than it is')
    """
    if count < 2:
        return []
    choice = "these rows chose it; --nested (validate_nested) validates the choice"
    return [f"the best of {count} looks better than it is, for {choice}"]


def size_family(text: str) -> str:
    """The recipe with a star for every number of features; other text as it is: what models of a curve share."""
    try:
        chain = parse(text)
    except TamisError:
        return text
    return " | ".join(_starred(part) for part in chain.parts)


def _starred(part: Any) -> str:
    selects = isinstance(part, Call) and entry(part.name).selects
    if not selects or not any(name in _SIZES for name, _ in part.arguments):
        return str(Chain((part,)))
    rest = Call(part.name, tuple(pair for pair in part.arguments if pair[0] not in _SIZES))
    arguments = str(rest).removeprefix(part.name).strip("()")
    return f"{part.name}(*{', ' + arguments if arguments else ''})"
