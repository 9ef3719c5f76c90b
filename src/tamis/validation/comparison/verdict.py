"""Comparison of several models: the best, those not distinguishable from it, and the simplest of these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import check_number
from tamis.validation.comparison.friedman import Friedman, friedman
from tamis.validation.comparison.mcnemar import McNemar, mcnemar
from tamis.validation.comparison.paired import BayesianT, CorrectedT, bayesian_t, check_level, corrected_t, holm
from tamis.validation.comparison.signed_rank import SignedRank, signed_rank
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric
from tamis.validation.result import Validation

#: Version of the layout of `Comparison.to_dict`.
_LAYOUT = 2
#: Values of a metric that are equal up to rounding must tie.
_DECIMALS = 12


@dataclass(frozen=True)
class Contender:
    """One of the models compared.

    Attributes
    ----------
    position : int
        Its place in the given list, from 0.
    name : str
        Its recipe, with its number where several models have the same one.
    mean : float
        Mean of the metric.
    features : float or None
        Mean number of selected columns; None when unknown.
    """

    position: int
    name: str
    mean: float
    features: float | None


@dataclass(frozen=True)
class Rival:
    """A model compared with the best one.

    Attributes
    ----------
    model : Contender
    difference : CorrectedT
        The metric of this model less that of the best; the test is NaN for a single value.
    bayes : BayesianT
        Probabilities that this model is practically worse (left), equal (rope) and better (right).
    errors : McNemar or SignedRank
        The test of the errors row by row, for classes and for numbers; the first is the best model, the second this
        one.
    test : "corrected t", "McNemar" or "Wilcoxon"
        The test that decides.
    pvalue, errors_pvalue : float
        Of that test and of the one of the errors, after Holm's correction.
    worse : bool
        Whether the model is worse than the best; if not, it is not distinguishable from it.
    fewer : float or None
        How many times fewer columns it selects than the best; None when unknown.
    """

    model: Contender
    difference: CorrectedT
    bayes: BayesianT
    errors: McNemar | SignedRank
    test: Literal["corrected t", "McNemar", "Wilcoxon"]
    pvalue: float
    errors_pvalue: float
    worse: bool
    fewer: float | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models in order of one metric, each compared with the best; ``print`` shows it in sentences.

    Attributes
    ----------
    metric : Metric
    data, split : str
        Name of the data, and how it was split.
    seed : int
    level, rope : float
        Level of significance, and the difference that is irrelevant in practice.
    best : Contender
    rivals : tuple of Rival
        The others, best first.
    friedman : Friedman or None
        Over the folds, models in the order best, rivals; for three or more models and folds.
    """

    metric: Metric
    data: str
    split: str
    seed: int
    level: float
    rope: float
    best: Contender
    rivals: tuple[Rival, ...]
    friedman: Friedman | None

    @property
    def indistinguishable(self) -> tuple[Rival, ...]:
        """The models that are not worse than the best."""
        return tuple(rival for rival in self.rivals if not rival.worse)

    @property
    def simplest(self) -> Contender:
        """The model with the fewest features among the best and those not worse; the better one of equals."""
        return min([self.best, *(rival.model for rival in self.indistinguishable)], key=_size)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists, numbers and text, ready for JSON; NaN becomes None."""
        content = {
            "layout": _LAYOUT,
            **{name: getattr(self, name) for name in ("data", "split", "seed", "level", "rope")},
            "metric": {name: getattr(self.metric, name) for name in ("name", "title", "better")},
            "best": asdict(self.best),
            "rivals": [asdict(rival) for rival in self.rivals],
            "simplest": self.simplest.position,
            "friedman": None if self.friedman is None else self.friedman.to_dict(),
        }
        return dict(plain(content))

    def sentences(self, most: int = 10) -> list[str]:
        """The findings in sentences; more than `most` rivals are counted, not named."""
        n = self.best.features
        uses = "" if n is None else f" with {n:g} feature{'' if n == 1 else 's'}"
        among = f"{len(self.rivals) + 1} models by {self.metric.title} ({self.data}, {self.split})"
        return [
            f"The best of {among} is {self.best.name}: {_figure(self.best.mean)}{uses}",
            *([self._about(rival) for rival in self.rivals] if len(self.rivals) <= most else self._counted()),
            *self._about_ranks(),
            *self._about_tests(),
        ]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def _same(self, rival: Rival) -> bool:
        """Whether the Bayesian test finds the two practically equal."""
        return rival.bayes.rope > 1.0 - self.level

    def _about(self, rival: Rival) -> str:
        tests = [f"{rival.test} {_chance(rival.pvalue)}"]
        if rival.test == "corrected t":
            tests.append(f"{_name(rival.errors)} {_chance(rival.errors_pvalue)}")
        more = rival.errors.only_second > rival.errors.only_first
        ways = ("more", "fewer") if isinstance(rival.errors, McNemar) else ("larger", "smaller")
        # A small p-value beside another verdict needs its direction.
        if rival.errors_pvalue < self.level and not (rival.worse and more):
            tests[-1] += f" for {ways[0] if more else ways[1]} errors"
        why = f"{self.metric.title} {_figure(rival.model.mean)} against {_figure(self.best.mean)}, {', '.join(tests)}"
        if same := self._same(rival):
            equal = f"probability {rival.bayes.rope:.2f} that they differ by less than {self.rope:g}"
            why = f"{'too little to matter: ' if rival.worse else ''}{equal}; {why}"
        how = "worse than" if rival.worse else "practically the same as" if same else "not distinguishable from"
        by = f" by {_figure(abs(rival.difference.mean))}" if rival.worse else ""
        return f"{rival.model.name} is {how} {self.best.name}{by} ({why}){self._about_features(rival)}"

    def _about_features(self, rival: Rival) -> str:
        if rival.fewer is None:
            return ""
        counts = f"({rival.model.features:g} against {self.best.features:g})"
        times, way = (rival.fewer, "fewer") if rival.fewer > 1 else (1 / rival.fewer, "more")
        if times < 1.05:
            return f" and uses about as many features {counts}"
        size = f"{times:.0f}" if times >= 10 else f"{times:.1f}".removesuffix(".0")
        return f" {'and' if rival.worse == (way == 'more') else 'but'} uses {size}x {way} features {counts}"

    def _counted(self) -> list[str]:
        n, m = len(self.indistinguishable), len(self.rivals)
        line = f"Of the other {m} models {n} are not distinguishable from it and {m - n} are worse"
        simplest = min(self.indistinguishable, key=lambda rival: _size(rival.model), default=None)
        if simplest is None or simplest.model != self.simplest:
            return [f"{line}; none of the former is known to be simpler" if n else line]
        return [line, f"The simplest of those not distinguishable: {self._about(simplest)}"]

    def _about_ranks(self) -> list[str]:
        if (found := self.friedman) is None:
            return []
        behind = int((found.mean_ranks - found.mean_ranks[0] >= found.critical_difference).sum())
        differ = "differ" if found.pvalue < self.level else "are not found to differ"
        tests = f"Friedman {_chance(found.pvalue)}; Nemenyi finds {behind or 'none'} of the others behind the best"
        return [f"Ranked in each fold the models {differ} ({tests}); folds share rows, so this is only a guide"]

    def _about_tests(self) -> list[str]:
        m = len(self.rivals)
        test = "corrected t-test"
        if all(rival.test != test.removesuffix("-test") for rival in self.rivals):
            test = f"{self.rivals[0].test} test of the errors"
        adjusted = f", p-values adjusted for {m} comparisons (Holm)" if m > 1 else ""
        lines = [f"The {test} decides at the level {self.level:g}{adjusted}"]
        if not all(self._same(rival) for rival in self.indistinguishable):
            lines.append("Not distinguishable means that these data cannot tell the two apart, not that they are equal")
        if m > 1:
            chosen = "The best was chosen on its test rows: its own figure is optimistic"
            lines.append(f"{chosen} and others look too bad beside it; nested validation gives an honest figure")
        return lines


def compare(
    validations: Sequence[Validation],
    metric: str | Metric | None = None,
    *,
    level: float = 0.05,
    rope: float | None = None,
) -> Comparison:
    """Find the best of several models validated on the same folds, and whether each other is worse.

    A model is worse than the best when the corrected resampled t-test of its differences in the folds rejects equality.
    Where metrics are computed on all predictions together (official split, leave-one-out), McNemar's test decides, and
    the model must also make more errors; for numbers it is Wilcoxon's signed-rank test of the absolute errors. Holm's
    correction over all comparisons with the best adjusts the p-values, not the intervals. Both tests of the errors take
    the predictions of the first repeat, to count every row once.

    The best is chosen on its own test rows, so its estimate is optimistic; nested validation avoids this. For the same
    reason too many models are found worse: where no model differs from another, ten folds find one or more worse in 5 %
    of the cases with 2 models, 13 % with 10 and 39 % with 100 (normal differences, simulated).

    Parameters
    ----------
    validations : sequence of two or more Validation
        Of the same rows, classes and folds. The columns may differ.
    metric : str or Metric, optional
        By default the main metric of the first validation.
    level : float, default=0.05
        Level of significance of every test, and of the intervals.
    rope : float, optional
        A difference of the metric that is irrelevant in practice, for the Bayesian test. By default 0.01, and for a
        metric in units of the target (RMSE, MAE) one percent of the best model's.

    Returns
    -------
    Comparison

    See Also
    --------
    tamis.validation.many.validate_many : Validate several models on the same folds.
    tamis.validation.nested.validate_nested : The honest estimate of the best of several models.

    Examples
    --------
    >>> from tamis.validation.whole import validate
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(size=(60, 100)) + np.outer(y, np.arange(100) < 20)
    >>> few, many = (validate(f"cc({k}) | knn(3)", X, y, folds=5) for k in (5, 50))
    >>> print(compare([few, many]).sentences()[1])
    cc(5) | knn(3) is not distinguishable from cc(50) | knn(3) (BER 0.133 against 0.033, corrected t p = 0.099,
    McNemar p = 0.070) and uses 10x fewer features (5 against 50)
    """
    check_level(level)
    if rope is not None:
        check_number("rope", rope, 0.0, np.inf)
    _check_same(validations)
    main = _metric(validations, metric)
    ranked = _ranked(validations, main)
    if rope is None:
        rope = 0.01 * (ranked[0].mean if main.task == "regress" and main.better == "low" else 1.0)
    given = [validations[model.position] for model in ranked]
    values = np.array([np.round(v.values[main.name], _DECIMALS) for v in given])
    blocks = values[:, ~np.isnan(values).any(axis=0)].T
    ranks = friedman(blocks, better=main.better, level=level) if min(blocks.shape) >= 3 else None
    rivals = _rivals(ranked, given, values, 1.0 if main.better == "high" else -1.0, level, rope)
    return Comparison(main, given[0].data, given[0].split, given[0].seed, level, rope, ranked[0], rivals, ranks)


def _rivals(
    ranked: Sequence[Contender], given: Sequence[Validation], values: FloatArray, up: float, level: float, rope: float
) -> tuple[Rival, ...]:
    """Every model but the first compared with the first; `up` is 1 where larger values are better, else -1."""
    ratio = float(given[0].n_test.mean() / given[0].n_train.mean())
    gaps = values[1:] - values[0]
    differences = [corrected_t(gap, ratio, level=level) for gap in gaps]
    errors = [_errors_test(given[0], other) for other in given[1:]]
    tested = [not np.isnan(d.pvalue) for d in differences]
    pvalues = holm([d.pvalue if t else e.pvalue for d, e, t in zip(differences, errors, tested, strict=True)])
    adjusted = holm([e.pvalue for e in errors])
    return tuple(
        Rival(
            model=model,
            difference=differences[i],
            bayes=bayesian_t(up * gaps[i], ratio, rope),
            errors=errors[i],
            test="corrected t" if tested[i] else _name(errors[i]),
            pvalue=float(pvalues[i]),
            errors_pvalue=float(adjusted[i]),
            worse=bool(pvalues[i] < level)
            and up * differences[i].mean < 0
            and (tested[i] or errors[i].only_second > errors[i].only_first),
            fewer=ranked[0].features / model.features if ranked[0].features and model.features else None,
        )
        for i, model in enumerate(ranked[1:])
    )


def _check_same(validations: Sequence[Validation]) -> None:
    """Refuse models that were not validated on the same rows and folds."""
    parts = ("repeat", "fold", "row", "truth")
    rows = [[v.classes, v.n_train, v.n_test, *(getattr(v.predictions, p) for p in parts)] for v in validations]
    for v, own in zip(validations, rows, strict=True):
        pairs = [(what, getattr(validations[0], what), getattr(v, what)) for what in ("data", "split", "seed")]
        differ = [f"{what} ({one} and {two})" for what, one, two in pairs if one != two]
        if not all(map(np.array_equal, rows[0], own)):
            differ.append("the rows of the folds or their classes")
        if differ:
            raise TamisError(
                "validations must be of the same rows and folds; "
                f"{validations[0].recipe} and {v.recipe} differ in {differ[0]}"
            )


def _metric(validations: Sequence[Validation], metric: str | Metric | None) -> Metric:
    """The metric to compare by, if every model has it."""
    if len(validations) < 2:
        raise TamisError(f"validations must hold two models or more; got {len(validations)}")
    name = metric if isinstance(metric, str) else (metric or validations[0].metrics[0]).name
    for v in validations:
        if name not in v.values:
            raise TamisError(f"metric: {v.recipe} has {', '.join(v.values)}; got {name!r}")
        if np.isnan(v.estimates[name].mean):
            raise TamisError(f"metric: {name!r} is undefined in every fold of {v.recipe}; take another")
    return next(m for m in validations[0].metrics if m.name == name)


def _ranked(validations: Sequence[Validation], main: Metric) -> list[Contender]:
    """The models, best first; for equal ones fewer features first, then the given order."""
    times = Counter(v.recipe for v in validations)
    names = [v.recipe + ("" if times[v.recipe] == 1 else f" (model {i + 1})") for i, v in enumerate(validations)]
    means = [round(v.estimates[main.name].mean, _DECIMALS) for v in validations]
    models = [Contender(i, names[i], means[i], v.mean_selected) for i, v in enumerate(validations)]
    return sorted(models, key=lambda model: validations[model.position].standing(main))


def _size(model: Contender) -> float:
    return np.inf if model.features is None else model.features


def _errors_test(first: Validation, second: Validation) -> McNemar | SignedRank:
    """The test of the errors of two models in the first repeat."""
    one, two = (_errors(validation) for validation in (first, second))
    return mcnemar(one, two) if first.task == "classify" else signed_rank(one, two)


def _errors(validation: Validation) -> np.ndarray:
    """Which rows of the first repeat are wrong, or by how much."""
    predictions = validation.predictions
    once = predictions.repeat == 0
    truth, found = predictions.truth[once], predictions.label[once]
    return np.asarray(truth != found if validation.task == "classify" else np.abs(truth - found))


def _name(test: McNemar | SignedRank) -> Literal["McNemar", "Wilcoxon"]:
    return "McNemar" if isinstance(test, McNemar) else "Wilcoxon"


def _figure(value: float) -> str:
    if abs(value) >= 10:
        return f"{value:.4g}"
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.1g}"


def _chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.3f}"
