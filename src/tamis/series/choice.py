"""Which variables of time series to keep: the error against their number, and the honest error of the choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.validation import check_whole
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.engines.progress import Wanted
from tamis.select.corona import Corona
from tamis.series.series import Series
from tamis.validation.display import Reported
from tamis.validation.json_values import plain
from tamis.validation.many import validate_many
from tamis.validation.metrics import Metric
from tamis.validation.nested import Rule, validate_nested
from tamis.validation.result import Estimate, Validation

#: What an item becomes: a row of correlations, or of coefficients of each variable by itself.
By: TypeAlias = Literal["correlations", "autoregression"]

#: Coefficients of a variable.
ORDER = 3

#: Numbers of variables that are tried by default; among more variables some are left out.
_SIZES = 30


@dataclass(frozen=True, eq=False, repr=False)
class VariableChoice(Reported):
    """Which variables of time series to keep; ``plot()`` draws it, ``report(path)`` writes a page.

    Attributes
    ----------
    name : str
    n_items, n_variables : int
    by : {"correlations", "autoregression"}
    recipe : str
        The chosen model.
    split, rule : str
        How errors were estimated, and how the number of variables was chosen.
    seed : int
    metric : Metric
    curve : mapping of int to Estimate
        For each number of variables, the error with the variables selected anew in each fold.
    beside : mapping of str to mapping of int to Estimate
        The same by other ways to turn an item into a row, for comparison.
    variables : tuple of str
        The selected variables, the best first.
    left_out : tuple of str
        The others, in the order of `variables`: the last was eliminated first.
    kept_in_folds : mapping of str to float
        The share of the folds in which each variable is among as many selected ones.
    honest : Estimate
        The error of the whole procedure, with the number of variables chosen anew within each training set.
    notes : tuple of str
        What is known of the table.
    model : estimator
        The chosen model, fitted on the table of all items.
    """

    name: str
    n_items: int
    n_variables: int
    by: By
    recipe: str
    split: str
    rule: Rule
    seed: int
    metric: Metric
    curve: dict[int, Estimate]
    beside: dict[str, dict[int, Estimate]]
    variables: tuple[str, ...]
    left_out: tuple[str, ...]
    kept_in_folds: dict[str, float]
    honest: Estimate
    notes: tuple[str, ...]
    model: Any

    def to_dict(self) -> dict[str, Any]:
        """Everything but the model as lists, numbers and text, ready for JSON; NaN becomes None."""
        names = ("name", "n_items", "n_variables", "by", "recipe", "split", "rule", "seed", "variables", "left_out")
        curves = {self.by: self.curve, **self.beside}
        return {
            **{name: plain(getattr(self, name)) for name in names},
            "metric": self.metric.name,
            "kept_in_folds": plain(self.kept_in_folds),
            "honest": plain(vars(self.honest)),
            "curves": {
                by: [{"variables": size, **plain(vars(one))} for size, one in curve.items()]
                for by, curve in curves.items()
            },
            "notes": list(self.notes),
        }

    def sentences(self) -> list[str]:
        """The choice, its honest error, and the error of all variables, in words."""
        size, everything = len(self.variables), self.curve.get(self.n_variables)
        title = self.metric.title
        found = [
            f"Keep {size} of {self.n_variables} variables: {', '.join(self.variables)}.",
            f"{title} of this way to choose, on items that had no part in it: {_with_error(self.honest)}.",
        ]
        if everything is not None:
            found.append(f"{title} of all {self.n_variables} variables: {_with_error(everything)}.")
        return found

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.n_items} items, {self.n_variables} variables; {self.split}", *self.sentences()]
        lines += [f"  {size:4} variables: {_with_error(one)}" for size, one in self.curve.items()]
        return "\n".join(lines)


def choose_variables(
    series: Series,
    *,
    by: By = "correlations",
    sizes: Sequence[int] | None = None,
    classifier: str = "svm(linear)",
    scale: bool = True,
    compare: bool = False,
    rule: Rule = "simplest",
    metric: str | Metric | None = None,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    inner_folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    progress: Wanted = None,
) -> VariableChoice:
    """Choose variables of time series, and estimate the error of the choice.

    An item becomes a row of correlations, which Corona's elimination and a classifier follow; both are fitted within
    the folds. Three estimates are made: the error for each number of variables, with the variables selected on the
    training items of each fold; by inner folds of all items, the number to keep; and the honest error of this
    procedure, with the number chosen anew by inner folds of each training set. The error of the chosen number in the
    curve is a little too good, because the curve took part in the choice.

    Parameters
    ----------
    series : Series
        With classes.
    by : {"correlations", "autoregression"}, default="correlations"
        What an item becomes: correlations of all pairs of variables, or the three coefficients of an autoregression of
        each variable, from which variables are eliminated by the mean weight of their coefficients (Lal et al. 2004).
    sizes : sequence of int, optional
        Numbers of variables to try; by default all from 2 on, or about 30 of them.
    classifier : str, default="svm(linear)"
        The recipe that follows the elimination.
    scale : bool, default=True
        Standardise the columns first. On some thousands of items of many variables the machines are solved ten times
        faster without; correlations have a common scale anyway.
    compare : bool, default=False
        Also estimate the curve of the other value of `by`.
    rule : {"best", "cautious", "simplest"}, default="simplest"
        How inner folds choose the number (:func:`tamis.validation.nested.validate_nested`): by default the fewest
        variables within one standard error of the best.
    metric, split, folds, repeats, inner_folds, seed, n_jobs, engine, progress
        As for :func:`tamis.validation.nested.validate_nested`.

    Returns
    -------
    VariableChoice

    Examples
    --------
    >>> from tamis.series import choose_variables, planted
    >>> found = choose_variables(planted(40, 5, 40), folds=4)
    >>> sorted(found.variables)[0], found.honest.mean < 0.2
    ('r1', True)
    """
    if by not in get_args(By):
        raise TamisError(f"by must be one of {', '.join(get_args(By))}; got {by!r}")
    table = _table(series, by)
    if table.task == "regress" or series.y is None:
        raise TamisError(f"{series.name}: variables are chosen by classes, and the items have {_instead(series)}")
    wanted = _sizes(sizes, series.n_variables, least=2)
    shared: Any = {"split": split, "folds": folds, "repeats": repeats, "metrics": metric, "seed": seed}
    shared |= {"n_jobs": n_jobs, "engine": engine, "progress": progress}
    found = validate_many(_recipes(by, wanted, classifier, scale), table, **shared)
    if found.failed:
        raise TamisError(next(iter(found.failed.values())))
    beside = {}
    for other in get_args(By) if compare else ():
        if other != by:
            curve = validate_many(_recipes(other, wanted, classifier, scale), _table(series, other), **shared)
            beside[other] = dict(zip(wanted, map(_estimate, curve), strict=True))
    nested = validate_nested(
        _recipes(by, wanted, classifier, scale), table, rule=rule, inner_folds=inner_folds, **shared
    )
    place = nested.final.chosen
    model = recipe(nested.choice).fit(table.X, table.y)
    elimination = next(step for _, step in model.steps if isinstance(step, Corona))
    order = series.variables[elimination.variable_order_].tolist()
    return VariableChoice(
        name=series.name,
        n_items=series.n_items,
        n_variables=series.n_variables,
        by=by,
        recipe=nested.choice,
        split=found[0].split,
        rule=rule,
        seed=seed,
        metric=found.metric,
        curve=dict(zip(wanted, map(_estimate, found), strict=True)),
        beside=beside,
        variables=tuple(order[: wanted[place]]),
        left_out=tuple(order[wanted[place] :]),
        kept_in_folds=_kept(found[place], series, by),
        honest=_estimate(nested.validation),
        notes=table.notes,
        model=model,
    )


def _table(series: Series, by: By) -> Dataset:
    return series.correlations() if by == "correlations" else series.autoregression(ORDER)


def _instead(series: Series) -> str:
    return "none" if series.y is None else "numbers"


def _recipes(by: By, sizes: Sequence[int], classifier: str, scale: bool) -> list[str]:
    first = "standardize | " if scale else ""
    options = "" if by == "correlations" else f", columns={ORDER}, aggregate=mean"
    return [f"{first}corona({size}{options}) | {classifier}" for size in sizes]


def _sizes(sizes: Sequence[int] | None, n_variables: int, *, least: int) -> list[int]:
    """Numbers of variables to try, the fewest first."""
    if n_variables < least:
        raise TamisError(f"there is {n_variables} variable, so there is nothing to choose")
    if sizes is None:
        return np.unique(np.linspace(least, n_variables, _SIZES).round().astype(int)).tolist()
    for size in sizes:
        check_whole("sizes", size, least)
        if size > n_variables:
            raise TamisError(f"sizes must be at most {n_variables}, the number of variables; got {size}")
    if not len(sizes):
        raise TamisError("sizes must hold at least one number of variables; got none")
    return sorted({int(size) for size in sizes})


def _estimate(one: Validation) -> Estimate:
    return one.summary()[one.metrics[0].name]


def _kept(one: Validation, series: Series, by: By) -> dict[str, float]:
    """The share of the folds in which a model uses each variable."""
    n = series.n_variables
    members = np.repeat(np.arange(n), ORDER)[:, None]
    if by == "correlations":
        members = np.column_stack(np.triu_indices(n, 1))
    times = np.zeros(n)
    for columns in one.selected or ():
        times[np.unique(members[columns])] += 1
    share = times / max(1, len(one.selected or ()))
    return dict(zip(series.variables.tolist(), share.tolist(), strict=True))


def _with_error(one: Estimate) -> str:
    return f"{one.mean:.4f}" if one.se != one.se else f"{one.mean:.4f} (standard error {one.se:.4f})"
