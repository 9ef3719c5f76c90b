"""Which other columns could stand in for the features of a model: statistically equivalent signatures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.compose.quick_scores import scores
from tamis.compose.recipe import recipe
from tamis.contingency.similarity import similarity
from tamis.data.dataset import Dataset, as_read
from tamis.mining.column_swaps import ColumnSwaps
from tamis.mining.fixed_columns import fixed_model
from tamis.mining.run.store import Store
from tamis.validation.comparison.paired import CorrectedT
from tamis.validation.execute.driver import Driver
from tamis.validation.experiment import Experiment
from tamis.validation.folds import Split
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric, chosen, metrics_for
from tamis.validation.models import as_estimator

#: Features examined, the first by score, and the columns with the best scores among which substitutes are looked for.
_FEATURES, _COLUMNS = 60, 2000

#: Most rows on which columns are compared.
_ROWS = 10_000

#: The similarity that a substitute of a feature that is not needed must have.
_SIMILAR = 0.7

#: A difference below this is one of rounding.
_ROUNDING = 1e-12

#: Name of the note in the run file.
_NOTE = "substitutes"

#: Features examined at a time.
_AT_ONCE = 4


@dataclass(frozen=True)
class Substitute:
    """A column that can stand in for a feature.

    Attributes
    ----------
    feature : str or int
        Its name, or its number if it has none.
    column : int
    redundancy : float
        Its similarity with the feature, from 0 to 1: the absolute correlation, or the symmetrical uncertainty where
        one of the two is nominal.
    difference, se : float
        How much worse the model is with it in place of the feature, in units of the metric, and the standard error.
        Negative where it is better.
    """

    feature: Any
    column: int
    redundancy: float
    difference: float
    se: float


@dataclass(frozen=True)
class Examined:
    """A feature of the model, and what can stand in for it.

    Attributes
    ----------
    feature : str or int
    column : int
    loss, se : float
        How much worse the model is without the feature, in units of the metric, and the standard error.
    needed : bool
        Whether the loss is significantly above zero.
    substitutes : tuple of Substitute
        The most similar first.
    """

    feature: Any
    column: int
    loss: float
    se: float
    needed: bool
    substitutes: tuple[Substitute, ...] = ()


@dataclass(frozen=True)
class Substitutes(Mapping[Any, list[Substitute]]):
    """The substitutes of each feature that was examined, by its name, the feature with the best score first.

    Attributes
    ----------
    examined : tuple of Examined
    note : str
        Why some features, or all, were not examined; empty if all were.
    """

    examined: tuple[Examined, ...] = ()
    note: str = ""
    _by_name: dict[Any, Examined] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name.update({one.feature: one for one in self.examined})

    def __getitem__(self, feature: Any) -> list[Substitute]:
        return list(self._by_name[feature].substitutes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def dispensable(self) -> list[Any]:
        """Features without which, one at a time, the model is not significantly worse."""
        return [one.feature for one in self.examined if not one.needed]

    def to_dict(self) -> dict[str, Any]:
        """The same as lists, numbers and text, ready for JSON."""
        examined = [{**asdict(one), "substitutes": [asdict(s) for s in one.substitutes]} for one in self.examined]
        return {"examined": examined, "note": self.note}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Substitutes":
        """The substitutes that :meth:`to_dict` made a dict of."""
        examined = (
            Examined(**{**one, "substitutes": tuple(Substitute(**s) for s in one["substitutes"])})
            for one in given["examined"]
        )
        return cls(tuple(examined), given["note"])


def find_substitutes(
    model: Any,
    data: Dataset,
    splits: Sequence[Split],
    *,
    fitted: Any = None,
    metric: str | Metric | None = None,
    candidates: int = 5,
    seconds: float | None = None,
    n_jobs: int = 1,
    seed: int = 0,
) -> Substitutes:
    """Find the columns that could stand in for each feature of a model.

    Let S be the columns that the model uses, and e(T) the error of its preparation and classifier fitted in each fold
    on the columns T alone, without selection. All differences are paired over the folds, with the corrected standard
    error of Nadeau and Bengio (:func:`tamis.validation.comparison.paired.corrected_t`).

    - A feature f is *needed* if its loss e(S - f) - e(S) is significantly above zero.
    - Candidates are the columns outside S that are most similar to f, among the 2000 with the best scores.
    - A candidate g is a *substitute* if e(S - f + g) - e(S) is not significantly above zero. For a needed f it must
      also recover more than half of the loss, and the gain e(S - f) - e(S - f + g) must be significantly above zero: g
      is needed in the place of f, as f was. If f is not needed any column could take its place, so that only columns
      with a similarity of 0.7 or more count.

    "Significantly" is by a one-sided test of level 0.05.

    Parameters
    ----------
    model : estimator or str
        A model or a recipe, not fitted.
    data : Dataset
    splits : sequence of Split
        Two or more. Only their rows are used.
    fitted : estimator, optional
        The model, fitted on all these rows; by default it is fitted here.
    metric : str or Metric, optional
        By default the BER, and for numbers the RMSE.
    candidates : int, default=5
        Columns tried for each feature.
    seconds : float, optional
        Time limit; with one the result depends on the machine.
    n_jobs : int, default=1
        Processes, -1 for all cores. The result does not depend on it.
    seed : int, default=0

    Returns
    -------
    Substitutes
        A mapping of feature to substitutes. Only the 60 features with the best scores are examined. It is empty, with a
        note that says why, where the columns of the model cannot be traced or none is left outside.

    Notes
    -----
    S was selected on all rows, so that e(S) is too good and is not reported; only differences count, and they favour S
    a little. Features are exchanged one at a time: two substitutes together need not do. Not to be significantly worse
    is no proof of being as good; with few rows it says little. The tests are not corrected for their number.

    In a blend g takes the place of f in every member that uses f. Where a part selects within its fit, such as a tree,
    it does so again. Without any column the shares of the classes, or the mean of the numbers, are predicted.

    References
    ----------
    Tsamardinos, Lagani and Pappas (2012), "Discovering multiple, equivalent biomarker signatures"; Lagani, Athineou,
    Farcomeni, Tsagris and Tsamardinos (2017), "Feature selection with the R package MXM: discovering statistically
    equivalent feature subsets": there equivalence is tested by conditional independence, here by the error of the
    model. Nadeau and Bengio (2003), "Inference for the generalization error".

    Examples
    --------
    >>> from tamis.validation.folds import StratifiedFolds
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 20))
    >>> X[:, 3] += 3 * y
    >>> X[:, 8] = X[:, 3] + 0.3 * rng.normal(size=100)
    >>> found = find_substitutes("cc(1) | knn(5)", Dataset.of(X, y), StratifiedFolds(5).splits(y))
    >>> {feature: [one.feature for one in others] for feature, others in found.items()}
    {3: [8]}
    """
    (measure,) = chosen(next(iter(metrics_for(data.task))) if metric is None else metric, data.task)
    check_whole("candidates", candidates, 1)
    if seconds is not None:
        check_number("seconds", seconds, 0.0, np.inf)
    if len(splits) < 2:
        raise TamisError(f"splits must be two or more, to know the noise of a difference; got {len(splits)}")
    until = None if seconds is None else monotonic() + seconds
    unfitted = as_estimator(recipe(model, task=data.task) if isinstance(model, str) else model)
    rows = np.unique(np.concatenate([part for split in splits for part in (split.train, split.test)]))
    if fitted is None:
        fitted = seeded(clone(unfitted), spawn(seed)).fit(_safe_indexing(data.X, rows), data.y[rows])
    try:
        fixed = fixed_model(unfitted, fitted, data.n_features)
    except TamisError as error:
        return Substitutes(note=str(error))
    if fixed.columns.size in (0, data.n_features):
        return Substitutes(note="the model uses all columns" if fixed.columns.size else "the model uses no column")
    if until is not None and monotonic() >= until:
        return Substitutes(note=_note(0, fixed.columns.size, fixed.columns.size, late=True))
    neighbours = _neighbours(data, rows, fixed.columns, candidates, seed)
    columns = np.unique(np.concatenate([fixed.columns, *(others for others, _ in neighbours.values())]))
    with Driver(_narrowed(data, columns), seed=seed, n_jobs=n_jobs) as driver:
        swaps = ColumnSwaps(driver, fixed, columns, splits, measure, until)
        found = _examine(swaps, neighbours)
    names = data.feature_names.tolist()
    named = tuple(_named(one, names) for one in found)
    note = _note(len(named), len(neighbours), fixed.columns.size, late=swaps.late)
    return Substitutes(named, swaps.error or note)


def noted_substitutes(
    offered: Any,
    experiment: Experiment,
    splits: Sequence[Split],
    store: Store,
    *,
    seconds: float | None = None,
    n_jobs: int = 1,
) -> Substitutes:
    """The substitutes of the features of a model, from its run if they are noted there, or else found and noted.

    They are found again for another recipe, or where there is more time than before.

    Parameters
    ----------
    offered : Offered
        With its fitted model, its recipe and its honest estimate.
    experiment : Experiment
    splits : sequence of Split
        Folds of the rows of the search.
    store : Store
    seconds, n_jobs
        As in :func:`find_substitutes`.
    """
    noted = store.noted(_NOTE)
    if noted is not None and noted["recipe"] == offered.recipe and not _longer(seconds, noted["seconds"]):
        return Substitutes.from_dict(noted["found"])
    assert experiment.metrics is not None
    # A fit that has begun cannot be stopped.
    too_long = seconds is not None and offered.validation.fit_seconds.mean() > seconds
    try:
        result = find_substitutes(
            recipe(offered.recipe, task=experiment.data.task),
            experiment.data,
            splits,
            fitted=offered.model,
            metric=experiment.metrics[0],
            seconds=0.0 if too_long else seconds,
            n_jobs=n_jobs,
            seed=experiment.seed,
        )
    except TamisError as error:
        # The search itself has succeeded.
        result = Substitutes(note=str(error))
    store.note(_NOTE, {"recipe": offered.recipe, "seconds": seconds, "found": plain(result.to_dict())})
    return result


def _longer(seconds: float | None, before: float | None) -> bool:
    return before is not None and (seconds is None or seconds > before)


def _above(difference: CorrectedT) -> bool:
    """Whether the mean difference is significantly above zero."""
    return difference.interval[0] > _ROUNDING


def _examine(swaps: ColumnSwaps, neighbours: Mapping[int, tuple[np.ndarray, FloatArray]]) -> list[Examined]:
    """The features that there is time for, with their substitutes; names are the numbers of the columns."""
    (base,) = swaps.errors([{}])
    found: list[Examined] = []
    features = list(neighbours)
    for start in range(0, len(features), _AT_ONCE):
        if base is None or swaps.late:
            break
        group = features[start : start + _AT_ONCE]
        dropped = {f: e for f, e in zip(group, swaps.errors([{f: None} for f in group]), strict=True) if e is not None}
        losses = {f: swaps.difference(errors, base) for f, errors in dropped.items()}
        tried = [
            (f, g, similar)
            for f, loss in losses.items()
            for g, similar in zip(*(part.tolist() for part in neighbours[f]), strict=True)
            if _above(loss) or similar >= _SIMILAR
        ]
        exchanged = swaps.errors([{f: g} for f, g, _ in tried])
        if swaps.late:
            for (f, _, _), errors in zip(tried, exchanged, strict=True):
                if errors is None:
                    losses.pop(f, None)
        passed: dict[int, list[Substitute]] = {f: [] for f in losses}
        for (f, g, similar), errors in zip(tried, exchanged, strict=True):
            if errors is None or f not in losses:
                continue
            worse, gain = swaps.difference(errors, base), swaps.difference(dropped[f], errors)
            recovers = worse.mean < losses[f].mean / 2 and _above(gain)
            if not _above(worse) and (recovers or not _above(losses[f])):
                passed[f].append(Substitute(g, g, round(similar, 4), worse.mean, worse.se))
        found += [Examined(f, f, loss.mean, loss.se, _above(loss), tuple(passed[f])) for f, loss in losses.items()]
    return found


def _neighbours(
    data: Dataset, rows: np.ndarray, used: np.ndarray, candidates: int, seed: int
) -> dict[int, tuple[np.ndarray, FloatArray]]:
    """For the features with the best scores, the columns that are most similar to each, and how similar."""
    every = _readable(_rows(data, rows))
    order = np.argsort(-scores(every)[1], kind="stable")
    inside = np.isin(order, used)
    examined, outside = order[inside][:_FEATURES], order[~inside][:_COLUMNS]
    if rows.size > _ROWS:
        rows = np.sort(generator(seed).choice(rows, _ROWS, replace=False))
    columns = np.concatenate([examined, outside])
    some = _readable(_rows(_narrowed(data, columns), rows))
    first, rest = np.arange(examined.size), np.arange(examined.size, columns.size)
    with one_thread():
        similar = similarity(some, first, rest)
    nearest = np.argsort(-similar, axis=1, kind="stable")[:, :candidates]
    return {int(f): (outside[near], row[near]) for f, near, row in zip(examined, nearest, similar, strict=True)}


def _rows(data: Dataset, rows: np.ndarray) -> Dataset:
    if rows.size == data.n_rows:
        return data
    return Dataset(_safe_indexing(data.X, rows), data.y[rows], data.feature_names, data.name, task=data.task)


def _narrowed(data: Dataset, columns: np.ndarray) -> Dataset:
    """The data set of some columns."""
    X = _safe_indexing(data.X, columns, axis=1)
    return replace(data, X=X, feature_names=data.feature_names[columns], unlabelled={}, roles=None)


def _readable(data: Dataset) -> Dataset:
    return replace(data, X=as_read(data.X))


def _named(one: Examined, names: Sequence[Any]) -> Examined:
    substitutes = tuple(replace(s, feature=names[s.column]) for s in one.substitutes)
    return replace(one, feature=names[one.column], substitutes=substitutes)


def _note(done: int, wanted: int, used: int, *, late: bool) -> str:
    if done == used:
        return ""
    why = "" if done == wanted else ", as the time was up" if late else "; the model fails without the others"
    return f"{done} of the {used} features were examined{why}"
