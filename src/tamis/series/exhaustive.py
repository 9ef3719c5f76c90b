"""Every subset of the variables of time series, for few of them: what the best choice could reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tamis.base.errors import TamisError
from tamis.classify.svm.svm import SVM
from tamis.series.series import Series
from tamis.validation.folds import StratifiedFolds

#: More subsets would take hours.
_MOST = 5000


@dataclass(frozen=True)
class SubsetErrors:
    """Errors over all subsets of one size: the best subset, and the best, mean and worst error."""

    variables: tuple[str, ...]
    best: float
    mean: float
    worst: float


def every_subset(
    series: Series, sizes: Sequence[int] | None = None, *, C: float = 1.0, folds: int = 10, seed: int = 0
) -> dict[int, SubsetErrors]:
    """The error of a linear SVM on the correlations of every subset of the variables, by size.

    The best of many subsets is optimistic: the folds that show its error have chosen it. Use it as the bound that the
    paper compares Corona with, and :func:`tamis.series.choose_variables` to choose.

    Parameters
    ----------
    series : Series
        With classes.
    sizes : sequence of int, optional
        Sizes of the subsets; by default all from 2 on. There can be 5000 subsets at most.
    C : float, default=1.0
        Cost of a unit of slack.
    folds : int, default=10
    seed : int, default=0
        Of the folds.

    Returns
    -------
    dict of int to SubsetErrors

    Examples
    --------
    >>> from tamis.series import planted
    >>> every_subset(planted(40, 4, 40), [2], folds=4)[2].best
    0.0
    """
    table, n = series.correlations(), series.n_variables
    if series.y is None or table.task == "regress":
        raise TamisError(f"{series.name}: subsets are compared by their errors on classes, which the items do not have")
    wanted = list(range(2, n + 1)) if sizes is None else sorted({int(size) for size in sizes})
    if not wanted or not all(2 <= size <= n for size in wanted):
        raise TamisError(f"sizes must be from 2 to {n}, the number of variables; got {wanted}")
    subsets = [subset for size in wanted for subset in combinations(range(n), size)]
    if len(subsets) > _MOST:
        raise TamisError(f"there are {len(subsets)} subsets, more than {_MOST}: leave out sizes or variables")
    place = np.zeros((n, n), dtype=int)
    place[np.triu_indices(n, 1)] = np.arange(table.n_features)
    X = np.asarray(table.X)
    columns = [
        place[np.array([*combinations(subset, 2)]).T[0], np.array([*combinations(subset, 2)]).T[1]]
        for subset in subsets
    ]
    errors = np.zeros(len(subsets))
    for split in StratifiedFolds(folds).splits(series.y, groups=series.groups, seed=seed):
        mean, scale = X[split.train].mean(axis=0), X[split.train].std(axis=0)
        Z = (X - mean) / np.where(scale > 0, scale, 1.0)
        for number, own in enumerate(columns):
            model = SVM("linear", C).fit(Z[split.train][:, own], series.y[split.train])
            errors[number] += (model.predict(Z[split.test][:, own]) != series.y[split.test]).sum() / series.n_items
    found = {}
    for size in wanted:
        own = np.array([number for number, subset in enumerate(subsets) if len(subset) == size])
        best = own[errors[own].argmin()]
        names = tuple(series.variables[list(subsets[best])].tolist())
        found[size] = SubsetErrors(names, float(errors[best]), float(errors[own].mean()), float(errors[own].max()))
    return found
