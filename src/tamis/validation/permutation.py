"""The permutation test: whether a whole model does better than on permuted classes."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.compose.recipe import to_text
from tamis.engines.engine import Lost, open_engine
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.execute.driver import expect_results, memory_limit
from tamis.validation.experiment import Experiment
from tamis.validation.folds import SmallClass
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric, metrics_for
from tamis.validation.models import as_estimators
from tamis.validation.result import Result

#: Relative difference below which values are equal: sums in another order round differently.
_ROUNDING = 1e-9

#: Key of the permutations among the seeds of a run; repeats and folds have smaller numbers.
_RELABELING = 2**31


#: The estimate of every model with one labeling, and the warnings.
_Relabeled: TypeAlias = tuple[list[float], tuple[tuple[type[Warning], str], ...]]


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(Result):
    """The result of a permutation test.

    Attributes
    ----------
    recipe, data, split : str
        The model, the data, and how the rows were split.
    seed : int
    metric : Metric
    observed : float
        The estimate with the true classes, that of :func:`tamis.validation.whole.validate`.
    null : array
        The estimate with each relabeling; NaN where the metric is undefined.
    exchanged : "rows" or "groups"
        What the labels were permuted over.
    """

    recipe: str
    data: str
    split: str
    seed: int
    metric: Metric
    observed: float
    null: FloatArray
    exchanged: Literal["rows", "groups"]

    @property
    def at_least(self) -> int:
        """Relabelings that did as well as the true classes or better, including those without a value."""
        slack = _ROUNDING * max(abs(self.observed), 1.0)
        if self.metric.better == "high":
            return int((~(self.null < self.observed - slack)).sum())
        return int((~(self.null > self.observed + slack)).sum())

    @property
    def pvalue(self) -> float:
        """(1 + relabelings at least as good) / (1 + relabelings)."""
        return (1 + self.at_least) / (1 + self.null.size)

    @property
    def mean(self) -> float:
        """Mean over the relabelings: the chance level of this model on this data."""
        known = self.null[~np.isnan(self.null)]
        return float(known.mean()) if known.size else float("nan")

    def significant(self, level: float = 0.05) -> bool:
        """Whether the p-value is below the level."""
        return self.pvalue < level

    def sentence(self) -> str:
        """The result in words."""
        n, good = self.null.size, self.at_least
        how_many = "none" if good == 0 else "all" if good == n else str(good)
        found = f"of {n} relabelings {how_many} did as well"
        if n == 1:
            found = f"one relabeling did {'as' if good else 'not as'} well"
        return f"{self.metric.title} {self.observed:.4g}; {found} (p = {self.pvalue:.3g})"

    def to_dict(self, *, seconds: bool = True) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        names = ("recipe", "data", "split", "seed", "observed", "null", "mean", "at_least", "pvalue", "exchanged")
        content = {name: getattr(self, name) for name in names}
        metric = {"metric": self.metric.name, "better": self.metric.better}
        return dict(plain(content | metric | {"sentence": self.sentence()}))

    def __str__(self) -> str:
        head = f"{self.data}: {self.split}, labels permuted over {self.exchanged}, seed {self.seed}"
        return f"{self.recipe}\n{head}\n  {self.sentence()}\n  mean of the relabelings {self.mean:.4g}"


def permutation_test(
    models: Any,
    X: Any,
    y: Any = None,
    *,
    n: int = 200,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    groups: Any = None,
    metric: str | Metric | None = None,
    task: WantedTask = "auto",
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    memory: float | None = None,
    progress: Wanted = None,
) -> PermutationTest | list[PermutationTest]:
    """Test whether a whole model finds a relation between the data and the classes.

    The labels are permuted over the rows at random, the rows are split again with the same seed, and the whole model is
    validated as with the true labels. If data and classes are unrelated, every permutation is as likely as the true
    labels, and

        p = (1 + number of relabelings at least as good as the true labels) / (1 + n)

    is a valid p-value for every model, metric and scheme of splits. The smallest p is 1 / (n + 1).

    Where all rows of each group have one class, labels are permuted over whole groups (class sizes then change when
    groups differ in size), otherwise over rows. Only rows in the splits change labels. All models get the same labels.

    Parameters
    ----------
    models : estimator, str or list of them
        Models or recipes; a recipe may stand for many.
    X, y, split, folds, repeats, groups, task, seed, engine
        As in :func:`tamis.validation.whole.validate`.
    n : int, default=200
        Number of relabelings.
    metric : str or Metric, optional
        By default the BER, and for numbers the RMSE.
    n_jobs : int, default=1
        Processes, each of which computes whole relabelings. The result does not depend on it.
    memory : float, optional
        Most bytes of rows that models share; see :class:`tamis.validation.execute.driver.Driver`.
    progress : callable or bool, optional
        Called with the number of labelings done, the true one included, and their total; see
        :func:`tamis.validation.whole.validate`.

    Returns
    -------
    PermutationTest or list of PermutationTest
        A list when `models` is a list or stands for many.

    See Also
    --------
    tamis.validation.comparison.verdict.compare : Whether models differ from each other.

    References
    ----------
    Ojala and Garriga, "Permutation Tests for Studying Classifier Performance", JMLR 11 (2010), test 1.
    Phipson and Smyth, "Permutation P-values Should Never Be Zero", Stat. Appl. Genet. Mol. Biol. 9 (2010).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.arange(20.0).reshape(-1, 1), np.repeat([0, 1], 10)
    >>> print(permutation_test(GaussianNB(), X, y, n=19, folds=2, metric="accuracy").sentence())
    accuracy 0.95; of 19 relabelings none did as well (p = 0.05)
    """
    check_whole("n", n, 1)
    if metric is not None and not isinstance(metric, str | Metric):
        raise TamisError(f"metric must be one metric, by name or a Metric; got {metric!r}")
    experiment = Experiment.of(
        X, y, split=split, folds=folds, repeats=repeats, groups=groups, metrics=metric, seed=seed, task=task
    )
    if metric is None:
        experiment = replace(experiment, metrics=(next(iter(metrics_for(experiment.data.task).values())),))
    assert experiment.metrics is not None
    main = experiment.metrics[0]
    estimators = as_estimators(models, experiment.data)
    limit = memory_limit(memory)
    found: dict[int, _Relabeled] = {}
    with (
        progress_bar("permuting the classes", progress) as step,
        open_engine(engine, (estimators, experiment), n_jobs=n_jobs) as workers,
    ):
        tasks = [(number, limit / workers.workers) for number in range(n + 1)]
        for number, result in workers.run(_evaluated, tasks):
            if isinstance(result, Lost):
                raise result
            if number == 0 and np.isnan(result[0]).any():
                name = experiment.data.name
                raise TamisError(f"{name}: metric {main.name} is undefined for these splits; choose another")
            found[number] = result
            if step is not None:
                step(len(found), n + 1)
    ordered = [found[number] for number in range(n + 1)]
    for category, text in dict.fromkeys(warning for _, warned in ordered for warning in warned):
        warnings.warn(text, category, stacklevel=2)
    known = (experiment.data.name, str(experiment.scheme), seed, main)
    exchanged = _exchanged(experiment)[2]
    tests = [
        PermutationTest(to_text(model), *known, float(own[0]), own[1:], exchanged)
        for model, own in zip(estimators, np.array([values for values, _ in ordered]).T, strict=True)
    ]
    return tests if len(tests) > 1 or isinstance(models, list | tuple) else tests[0]


def _evaluated(task: tuple[int, float], given: tuple[Sequence[Any], Experiment]) -> _Relabeled:
    """Evaluate one labeling, by its number (0 for the true labels); in any process."""
    (number, memory), (models, experiment) = task, given
    values: list[float] = []
    warned: list[tuple[type[Warning], str]] = []
    try:
        own = experiment if number == 0 else _relabeled(experiment, number)
        for model, results in zip(models, expect_results(own.outcomes(models, memory=memory)), strict=True):
            found = own.validation(model, results)
            values.append(found.estimates[found.metrics[0].name].mean)
            warned.extend(warning for fold in results for warning in fold.warnings)
    except TamisError as error:
        if number == 0:
            raise
        raise TamisError(f"relabeling {number}: {error}") from error
    return values, tuple(dict.fromkeys(warned))


def _relabeled(experiment: Experiment, number: int) -> Experiment:
    labels, places, _ = _exchanged(experiment)
    permuted = experiment.data.y.copy()
    permuted[experiment.rows] = generator(experiment.seed, _RELABELING, number - 1).permutation(labels)[places]
    with warnings.catch_warnings():
        # The true labels have warned of small classes already.
        warnings.simplefilter("ignore", SmallClass)
        return experiment.relabelled(permuted)


def _exchanged(experiment: Experiment) -> tuple[np.ndarray, np.ndarray, Literal["rows", "groups"]]:
    """The labels to permute, the place of each row among them, and whether they are of rows or groups."""
    rows, groups = experiment.rows, experiment.data.groups
    own = experiment.data.y[rows]
    if groups is not None:
        _, first, of_group = np.unique(groups[rows], return_index=True, return_inverse=True)
        if (own[first][of_group] == own).all():
            return own[first], of_group, "groups"
    return own, np.arange(rows.size), "rows"
