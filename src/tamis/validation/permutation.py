"""The permutation test: whether a whole model does better than it does on classes dealt out at random."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.compose.recipe import to_text
from tamis.engines.engine import Lost, open_engine
from tamis.validation.execute.driver import expect_results, memory_limit
from tamis.validation.experiment import Experiment
from tamis.validation.folds import SmallClass
from tamis.validation.metrics import Metric, chosen
from tamis.validation.models import as_estimators

#: Part of a value by which two may differ and still be the same: sums in another order round differently.
_ROUNDING = 1e-9

#: What names the drawing of labels among the tasks of a run; repeats and folds are named by smaller numbers.
_RELABELING = 2**31


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest:
    """What a permutation test found.

    Attributes
    ----------
    recipe, data, split : str
        The model, the data, and how the rows were split.
    seed : int
    metric : Metric
    observed : float
        The estimate with the true classes, as :func:`tamis.validation.whole.validate` gives it.
    null : array
        The estimate with each relabeling; NaN where the metric does not exist.
    exchanged : "rows" or "groups"
        What the labels were dealt out over.
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
        """Relabelings that did as well as the true classes or better; one without a value counts among them."""
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
        """Mean over the relabelings: what chance gives this model on this data."""
        known = self.null[~np.isnan(self.null)]
        return float(known.mean()) if known.size else float("nan")

    def significant(self, level: float = 0.05) -> bool:
        """Whether the p-value is below the level."""
        return self.pvalue < level

    def sentence(self) -> str:
        """The finding in words."""
        n, good = self.null.size, self.at_least
        did = "none" if good == 0 else "all" if good == n else str(good)
        of = (
            f"of {n} relabelings {did} did as well"
            if n > 1
            else f"one relabeling did {'as' if good else 'not as'} well"
        )
        return f"{self.metric.title} {self.observed:.4g}; {of} (p = {self.pvalue:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; what does not exist is None."""
        return {
            "recipe": self.recipe,
            "data": self.data,
            "split": self.split,
            "seed": self.seed,
            "metric": self.metric.name,
            "better": self.metric.better,
            "observed": self.observed,
            "null": [float(v) if np.isfinite(v) else None for v in self.null],
            "mean": self.mean if np.isfinite(self.mean) else None,
            "at_least": self.at_least,
            "pvalue": self.pvalue,
            "exchanged": self.exchanged,
            "sentence": self.sentence(),
        }

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, PermutationTest) else NotImplemented

    def __str__(self) -> str:
        return "\n".join(
            [
                self.recipe,
                f"{self.data}: {self.split}, labels dealt out over {self.exchanged}, seed {self.seed}",
                f"  {self.sentence()}",
                f"  mean of the relabelings {self.mean:.4g}",
            ]
        )

    __repr__ = __str__


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
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    memory: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PermutationTest | list[PermutationTest]:
    """Test whether the classes have anything to do with the data, as far as a whole model can tell.

    The labels are dealt out anew at random over the rows; folds are drawn for the new labels with the same seed, and
    the whole model is fitted and judged in every fold as it was with the true ones. If the classes have nothing to do
    with the data, every dealing is as likely as the true one, and

        p = (1 + number of dealings at least as good as the true labels) / (1 + n)

    is at most a with chance a at most, for every model, metric and way of splitting. The smallest p is 1 / (n + 1).

    Rows of one group belong together: where all rows of each group have one class, labels are dealt out over whole
    groups (the number of rows in a class then changes when groups differ in size). Where a group has rows of several
    classes they are dealt out over rows. Only rows that take part in the split change labels. All models are tried on
    the same labels.

    Parameters
    ----------
    models : estimator, str or list of them
        Models or recipes, as in :func:`tamis.validation.whole.validate`; a recipe may stand for many.
    X, y, split, folds, repeats, groups, seed
        As there.
    n : int, default=200
        Relabelings.
    metric : str or Metric, optional
        By default the BER.
    n_jobs : int, default=1
        Processes, each of which takes whole relabelings. The result does not depend on it.
    engine : str, optional
        Who computes, in place of `n_jobs`, as in :func:`tamis.validation.whole.validate`.
    memory : float, optional
        Bytes that the rows which models share may take; see :class:`tamis.validation.execute.driver.Driver`.
    progress : callable, optional
        Called with the number of labelings done, the true one included, and the number in all.

    Returns
    -------
    PermutationTest, or a list of them when `models` is a list or stands for many

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
    estimators = as_estimators(models)
    if metric is not None and not isinstance(metric, str | Metric):
        raise TamisError(f"metric must be one metric, by name or a Metric; got {metric!r}")
    measure = chosen("ber" if metric is None else metric)[0]
    experiment = Experiment.of(
        X, y, split=split, folds=folds, repeats=repeats, groups=groups, metrics=measure, seed=seed
    )
    limit = memory_limit(memory)
    found: dict[int, _Relabeled] = {}
    with open_engine(engine, (estimators, experiment), n_jobs=n_jobs) as workers:
        tasks = [(number, limit / workers.workers) for number in range(n + 1)]
        for number, result in workers.run(_evaluated, tasks):
            if isinstance(result, Lost):
                raise result
            if number == 0 and np.isnan(result.values).any():
                name = experiment.data.name
                raise TamisError(f"{name}: {measure.name} does not exist for these splits; choose another")
            found[number] = result
            if progress is not None:
                progress(len(found), n + 1)
    ordered = [found[number] for number in range(n + 1)]
    for category, text in dict.fromkeys(warning for one in ordered for warning in one.warnings):
        warnings.warn(text, category, stacklevel=2)
    known = (experiment.data.name, str(experiment.scheme), seed, measure)
    exchanged = _exchanged(experiment)[2]
    tests = [
        PermutationTest(to_text(model), *known, float(own[0]), own[1:], exchanged)
        for model, own in zip(estimators, np.array([one.values for one in ordered]).T, strict=True)
    ]
    return tests if len(tests) > 1 or isinstance(models, list | tuple) else tests[0]


class _Relabeled(NamedTuple):
    """The estimate of every model with one labeling, and what was warned of."""

    values: list[float]
    warnings: tuple[tuple[type[Warning], str], ...]


def _evaluated(task: tuple[int, float], given: tuple[Sequence[Any], Experiment]) -> _Relabeled:
    """One labeling, by its number (0 for the labels as they are); in any process."""
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
    return _Relabeled(values, tuple(dict.fromkeys(warned)))


def _relabeled(experiment: Experiment, number: int) -> Experiment:
    labels, places, _ = _exchanged(experiment)
    dealt = experiment.data.y.copy()
    dealt[experiment.rows] = generator(experiment.seed, _RELABELING, number - 1).permutation(labels)[places]
    with warnings.catch_warnings():
        # Small classes have been warned of with the true labels; with these they do not matter.
        warnings.simplefilter("ignore", SmallClass)
        return experiment.relabelled(dealt)


def _exchanged(experiment: Experiment) -> tuple[np.ndarray, np.ndarray, Literal["rows", "groups"]]:
    """The labels that are dealt out, the place among them of each row that takes part, and whose labels they are."""
    rows, groups = experiment.rows, experiment.data.groups
    own = experiment.data.y[rows]
    if groups is not None:
        _, first, of_group = np.unique(groups[rows], return_index=True, return_inverse=True)
        if (own[first][of_group] == own).all():
            return own[first], of_group, "groups"
    return own, np.arange(rows.size), "rows"
