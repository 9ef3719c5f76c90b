"""Validation on several labels a row: one model a label, all fitted inside each fold."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.seeds import seeded, spawn
from tamis.base.types import FloatArray, Mask
from tamis.base.validation import check_whole
from tamis.compose.each_label import EachLabel, check_parameters, divided
from tamis.compose.recipe import to_text
from tamis.data.column_sense import sensed
from tamis.data.dataset import Dataset
from tamis.data.label_sets import LabelSets
from tamis.engines.engine import Lost, open_engine
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.bootstrap import Bootstrap
from tamis.validation.estimates import over_folds
from tamis.validation.experiment import scheme
from tamis.validation.folds import LeaveOneOut, OfficialSplit, Scheme, SmallClass, Split
from tamis.validation.models import as_estimator
from tamis.validation.result import Estimate
from tamis.validation.several.metrics import LabelPredictions, all_label_metrics, label_standard_errors
from tamis.validation.several.result import LabelsValidation

#: Key of the inner folds among the seeds of a split.
_INNER = 2**31 + 1


def validate_labels(
    model: Any,
    X: Any,
    labels: Any = None,
    *,
    mark: str = ";",
    top: int | None = None,
    min_rows: int | None = None,
    labelled_only: bool = False,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    groups: Any = None,
    shared_selection: bool = False,
    threshold: str | None = None,
    inner_folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    progress: Wanted = None,
) -> LabelsValidation:
    """Estimate how well one model a label will do on new rows that may have several labels each.

    In every fold the model is fitted for each label on the training rows (:class:`~tamis.compose.each_label.EachLabel`)
    and predicts which test rows have it. The folds are the same for all labels, stratified by the rarest label of each
    row (:meth:`~tamis.data.label_sets.LabelSets.strata`). Steps at the beginning that do not use the classes, such as
    words, are fitted once a fold.

    Precision, recall, F1, subset accuracy and Hamming loss are computed from the predictions of all folds of a repeat
    together (Forman and Scholz 2010: a mean of the F1 of folds is biased where labels are rare), then averaged over
    repeats; breakeven points are means over folds, since scores of different models do not compare. Standard errors
    over folds are the corrected ones of :func:`tamis.validation.whole.validate`; on one test set they are bootstrapped.

    Parameters
    ----------
    model : estimator or str
        A scikit-learn estimator that ends in a classifier, or a recipe.
    X : Dataset, array, sparse matrix or data frame
    labels : LabelSets, array of str, list of lists or indicator of shape (n_rows, n_labels), optional
        The labels of each row (:meth:`tamis.data.label_sets.LabelSets.of`); by default the classes of a data set.
    mark : str, default=";"
        Divides the labels where they are text.
    top : int, optional
        Consider only this many of the most frequent labels.
    min_rows : int, optional
        Leave out labels that fewer rows have, or that all rows have but fewer. By default the number of folds, so that
        each can have a row; 2 for other splits.
    labelled_only : bool, default=False
        Neither fit nor test on rows that have none of these labels. By default they are examples of rows without.
    split : {"folds", "pooled", "official", "leave-one-out"}, optional
    folds, repeats, groups
        As for :func:`tamis.validation.whole.validate`.
    shared_selection : bool, default=False
        Select the features once for all labels, by a mean of the scores of a ranking weighted by the labels' shares of
        the training rows. By default each label has its own features.
    threshold : {"f1"}, optional
        "f1" chooses for each label the threshold with the highest F1 in inner folds of the training rows; by default
        the classifier decides.
    inner_folds : int, default=5
        Folds of that choice.
    seed : int, default=0
    n_jobs, engine, progress
        As for :func:`tamis.validation.whole.validate`; the splits are divided among processes.

    Returns
    -------
    LabelsValidation

    See Also
    --------
    tamis.compose.each_label.EachLabel : The model, to be fitted on all rows.
    tamis.validation.whole.validate : One class a row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 30))
    >>> labels = [[name for name, x in zip("ab", row) if x > 0] for row in X]
    >>> found = validate_labels("cc(1) | lda", X, labels, folds=3)
    >>> round(found.summary()["f1_micro"].mean, 2), found.features
    (0.98, {'a': [0], 'b': [1]})
    """
    check_whole("seed", seed, 0)
    check_parameters(threshold, inner_folds)
    splitter = scheme(split, folds=folds, repeats=repeats)
    if isinstance(splitter, Bootstrap):
        raise TamisError("several labels are validated in folds or on test rows: split 'bootstrap' has neither")
    if min_rows is None:
        min_rows = 2 if isinstance(splitter, LeaveOneOut | OfficialSplit) else folds
    data, sets = _read(model, X, labels, mark, groups)
    sets = sets.kept(top=top, min_rows=min_rows)
    estimator = as_estimator(model, data)
    divided(estimator, shared_selection)
    rows = np.flatnonzero(sets.labels_per_row) if labelled_only else np.arange(sets.n_rows)
    splits = _splits(splitter, sets, rows, data, folds, seed)
    each = EachLabel(estimator, shared_selection=shared_selection, threshold=threshold, inner_folds=inner_folds)
    with progress_bar(f"validating {sets.n_labels} labels", progress) as step:
        results = _run(each, splits, data, sets, seed, step, n_jobs=n_jobs, engine=engine)
    for category, message in dict.fromkeys(one for result in results for one in result.warnings):
        warnings.warn(message, category, stacklevel=2)
    return _result(each, splitter, splits, results, data, sets, seed)


def _read(model: Any, X: Any, labels: Any, mark: str, groups: Any) -> tuple[Dataset, LabelSets]:
    """The rows as a data set whose classes are joined labels, and the labels."""
    if labels is None:
        if not isinstance(X, Dataset):
            raise TamisError("labels is missing: validation needs the labels of each row")
        labels = X.y
    sets = LabelSets.of(labels, mark=mark)
    if not isinstance(X, Dataset):
        X = X if hasattr(X, "shape") else np.asarray(X)
    n_rows = X.n_rows if isinstance(X, Dataset) else X.shape[0]
    if n_rows != sets.n_rows:
        raise TamisError(f"{sets.n_rows} sets of labels for {n_rows} rows")
    # Refuses labels that all rows have, or none, before the classes are looked at.
    sets.kept()
    if isinstance(X, Dataset):
        return Dataset.of(replace(X, y=sets.joined()), groups=groups), sets
    # A recipe is prepared for the data, as on the command line; an estimator of the user's own gets all columns.
    make = sensed if isinstance(model, str) else Dataset.of
    return make(X, sets.joined(), groups=groups), sets


def _splits(splitter: Scheme, sets: LabelSets, rows: np.ndarray, data: Dataset, folds: int, seed: int) -> list[Split]:
    """The splits of some rows, the same for all labels, stratified by the rarest label of a row."""
    strata = sets.strata()[rows]
    if np.unique(strata, return_counts=True)[1].max() < folds:
        strata = np.zeros_like(strata)
    with warnings.catch_warnings():
        # That a label has few rows is no matter of a stratum: the number of rows is in the table of the labels.
        warnings.simplefilter("ignore", SmallClass)
        groups, parts = (None if one is None else one[rows] for one in (data.groups, data.split))
        found = splitter.splits(strata, groups=groups, parts=parts, seed=seed)
    return [replace(one, train=rows[one.train], test=rows[one.test]) for one in found]


@dataclass(frozen=True, eq=False)
class _FoldLabels:
    """The predictions of one fold."""

    labels: Mask
    scores: FloatArray
    selected: tuple[np.ndarray | None, ...]
    thresholds: FloatArray | None
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[tuple[type[Warning], str], ...]


@dataclass(frozen=True, eq=False)
class _Task:
    """One split, of the model of all labels and the seed of the run."""

    model: EachLabel
    split: Split
    seed: int


@dataclass(frozen=True, eq=False)
class _State:
    """What every worker holds."""

    data: Dataset
    sets: LabelSets


def _run(
    model: EachLabel,
    splits: Sequence[Split],
    data: Dataset,
    sets: LabelSets,
    seed: int,
    step: Callable[[float, float], None] | None,
    **options: Any,
) -> list[_FoldLabels]:
    tasks = [_Task(model, one, seed) for one in splits]
    found: dict[int, _FoldLabels] = {}
    with open_engine(options["engine"], _State(data, sets), n_jobs=options["n_jobs"]) as engine:
        for number, result in engine.run(_run_fold, tasks):
            if isinstance(result, Lost):
                raise result
            found[number] = result
            if step is not None:
                step(len(found), len(tasks))
    return [found[number] for number in range(len(tasks))]


def _run_fold(task: _Task, state: _State) -> _FoldLabels:
    """Fit on the training rows of a split and predict its test rows; seeds are those of one class a row."""
    split, X = task.split, state.data.X
    model = clone(task.model)
    seed = spawn(task.seed, *split.task)
    model.set_params(estimator=seeded(model.estimator, seed), random_state=spawn(seed, _INNER))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            start = perf_counter()
            model.fit(_safe_indexing(X, split.train), state.sets.rows(split.train))
            fitted = perf_counter()
            labels, scores = model.decide(_safe_indexing(X, split.test))
            end = perf_counter()
        except Exception as error:
            message = str(error).strip().partition("\n")[0] or type(error).__name__
            raise TamisError(f"repeat {split.repeat + 1}, fold {split.fold + 1}: {message}") from error
    heard = tuple(dict.fromkeys((w.category, str(w.message)) for w in caught))
    selected = tuple(model.selected_)
    return _FoldLabels(labels, scores, selected, model.thresholds_, fitted - start, end - fitted, heard)


def _result(
    model: EachLabel,
    splitter: Scheme,
    splits: Sequence[Split],
    results: Sequence[_FoldLabels],
    data: Dataset,
    sets: LabelSets,
    seed: int,
) -> LabelsValidation:
    truth = sets.dense()
    folds = [LabelPredictions(truth[s.test], r.labels, r.scores) for s, r in zip(splits, results, strict=True)]
    repeat = np.concatenate([np.full(s.test.size, s.repeat) for s in splits])
    fold = np.concatenate([np.full(s.test.size, s.fold) for s in splits])
    row = np.concatenate([s.test for s in splits])
    order = np.lexsort((row, repeat))
    together = LabelPredictions(
        np.concatenate([one.truth for one in folds]),
        np.concatenate([one.labels for one in folds]),
        np.concatenate([one.scores for one in folds]),
    ).rows(order)
    repeat, fold, row = repeat[order], fold[order], row[order]
    n_train, n_test = np.array([s.train.size for s in splits]), np.array([s.test.size for s in splits])
    if splitter.one_test:
        values, estimates = _on_one_test(together, seed)
    else:
        repeats = [together.rows(repeat == one) for one in np.unique(repeat)]
        values, estimates = _over_folds(folds, repeats, n_test.mean() / n_train.mean())
    thresholds = [one.thresholds for one in results if one.thresholds is not None]
    return LabelsValidation(
        recipe=to_text(model.estimator),
        data=data.name,
        split=str(splitter),
        seed=seed,
        labels=sets.names,
        sizes=sets.sizes,
        left_out=sets.left_out,
        shared_selection=model.shared_selection,
        threshold=model.threshold,
        values=values,
        estimates=estimates,
        repeat=repeat,
        fold=fold,
        row=row,
        predictions=together,
        n_train=n_train,
        n_test=n_test,
        n_features=data.n_features,
        selected=tuple(one.selected for one in results),
        thresholds=np.array(thresholds) if thresholds else None,
        fit_seconds=np.array([one.fit_seconds for one in results]),
        predict_seconds=np.array([one.predict_seconds for one in results]),
        source=data,
    )


def _on_one_test(predictions: LabelPredictions, seed: int) -> tuple[dict[str, FloatArray], dict[str, Estimate]]:
    """Values and estimates on all predictions together."""
    values = {name: np.array([metric(predictions)]) for name, metric in all_label_metrics.items()}
    errors = label_standard_errors(predictions, seed=spawn(seed))
    return values, {name: Estimate(float(v[0]), float("nan"), errors[name]) for name, v in values.items()}


def _over_folds(
    folds: Sequence[LabelPredictions], repeats: Sequence[LabelPredictions], test_to_train: float
) -> tuple[dict[str, FloatArray], dict[str, Estimate]]:
    """Values in each fold, and estimates from the predictions of each repeat together."""
    values = {name: np.array([metric(one) for one in folds]) for name, metric in all_label_metrics.items()}
    estimates = {name: over_folds(found, test_to_train) for name, found in values.items()}
    for name, metric in all_label_metrics.items():
        if metric.pools:
            mean = float(np.mean([metric(one) for one in repeats]))
            estimates[name] = replace(estimates[name], mean=mean)
    return values, estimates
