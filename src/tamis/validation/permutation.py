"""The permutation test: whether a whole model does better than it does on classes dealt out at random."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import effective_n_jobs

from tamis.base.errors import TamisError
from tamis.base.parallel import stream
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.compose.recipe import to_text
from tamis.validation.execute.driver import memory_share
from tamis.validation.folds import SmallClass
from tamis.validation.metrics import Metric, chosen
from tamis.validation.models import as_estimators
from tamis.validation.setting import Setting, setting

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
    memory : float, optional
        Bytes that the rows which models share may take; see :func:`tamis.validation.execute.driver.try_all`.
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
    shared = setting(X, y, split=split, folds=folds, repeats=repeats, groups=groups, metrics=measure, seed=seed)
    labelings, exchanged = _labelings(shared, n)
    share = memory_share(memory, effective_n_jobs(n_jobs))
    tasks = [(estimators, shared, labels, number, share) for number, labels in enumerate(labelings)]
    found: list[list[float]] = []
    warned: list[tuple[type[Warning], str]] = []
    for values, said in stream(_judged, tasks, n_jobs):
        if not found and np.isnan(values).any():
            raise TamisError(f"{shared.given.name}: {measure.name} does not exist for these splits; choose another")
        found.append(values)
        warned.extend(said)
        if progress is not None:
            progress(len(found), n + 1)
    for category, text in dict.fromkeys(warned):
        warnings.warn(text, category, stacklevel=2)
    tests = [
        PermutationTest(
            to_text(model), shared.given.name, str(shared.way), seed, measure, float(own[0]), own[1:], exchanged
        )
        for model, own in zip(estimators, np.array(found).T, strict=True)
    ]
    return tests if len(tests) > 1 or isinstance(models, list | tuple) else tests[0]


def _labelings(shared: Setting, n: int) -> tuple[list[np.ndarray | None], Literal["rows", "groups"]]:
    """None for the labels as they are, then n dealings of them; and what they are dealt out over."""
    y, groups = shared.given.y, shared.given.groups
    rows = shared.rows
    own, units, whole = y[rows], np.arange(rows.size), False
    if groups is not None:
        _, first, of_group = np.unique(groups[rows], return_index=True, return_inverse=True)
        whole = bool((own[first][of_group] == own).all())
        if whole:
            own, units = own[first], of_group
    found: list[np.ndarray | None] = [None]
    for one in range(n):
        dealt = y.copy()
        dealt[rows] = generator(shared.seed, _RELABELING, one).permutation(own)[units]
        found.append(dealt)
    return found, "groups" if whole else "rows"


def _judged(
    models: Sequence[Any], shared: Setting, labels: np.ndarray | None, number: int, memory: float
) -> tuple[list[float], list[tuple[type[Warning], str]]]:
    """The estimate of every model with one labeling, and what was warned of."""
    values: list[float] = []
    said: list[tuple[type[Warning], str]] = []
    try:
        own = shared if labels is None else _relabeled(shared, labels)
        for model, outcome in zip(models, own.outcomes(models, memory=memory), strict=True):
            if isinstance(outcome, TamisError):
                raise outcome
            found = own.validation(model, outcome)
            values.append(found.estimates[found.metrics[0].name].mean)
            said.extend(warning for fold in outcome for warning in fold.warnings)
    except TamisError as error:
        if labels is None:
            raise
        raise TamisError(f"relabeling {number}: {error}") from error
    return values, list(dict.fromkeys(said))


def _relabeled(shared: Setting, labels: np.ndarray) -> Setting:
    given = replace(shared.given, y=labels)
    with warnings.catch_warnings():
        # Of the true labels it has been said; of these it does not matter.
        warnings.simplefilter("ignore", SmallClass)
        splits = shared.way.splits(labels, groups=given.groups, parts=given.parts, seed=shared.seed)
    return replace(shared, given=given, splits=tuple(splits))
