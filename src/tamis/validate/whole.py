"""Whole-model validation: every step of the model is fitted inside each fold, on the training rows alone."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from tamis.base.checks import check_whole
from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe, to_text
from tamis.validate.cases import Cases, cases
from tamis.validate.fold import FoldResult, evaluate_fold
from tamis.validate.folds import Split, scheme
from tamis.validate.gather import gather
from tamis.validate.leak import leaky_twin
from tamis.validate.metrics import Metric, chosen
from tamis.validate.result import Validation


def validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    split: str | None = None,
    folds: int = 10,
    repeats: int = 1,
    groups: Any = None,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    leak_check: bool = False,
    probes: float = 0.0,
    seed: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Validation:
    """Estimate how well a whole model will do on new data.

    In every fold a fresh copy of the model - transformations, selection and classifier together - is fitted on the
    training rows and judged on the test rows. Nothing supervised ever sees a test row.

    The standard error over J folds is the corrected one of Nadeau and Bengio (2003),
    ``sd * sqrt(1/J + n_test/n_train)``, because folds share training rows. With one official test set, and with
    leave-one-out where a fold is too small to judge, all answers are judged together as one test set and the
    standard error is that of :func:`tamis.validate.metrics.standard_error`. A fold in which a metric does not exist
    (AUC with one class among the test rows) is left out of that metric's estimate.

    Parameters
    ----------
    model : estimator or str
        A scikit-learn estimator that ends in a classifier, or a recipe.
    X : Dataset, array, sparse matrix or data frame
        A data set brings its classes, groups, official split and known probes.
    y : array of shape (n_rows,), optional
        Class labels, when `X` is not a data set.
    split : {"folds", "pooled", "official", "leave-one-out"}, optional
        Stratified folds over all rows by default; folds over the official "train" and "valid" rows; the official
        split; or one row at a time (one group at a time, when there are groups).
    folds, repeats : int
        For "folds" and "pooled".
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided between training and test.
    metrics : str, Metric or list of them, optional
        The first is the main one. By default all that the model's answers allow, the BER first.
    leak_check : bool, default=False
        Also estimate with every step before the classifier fitted on all rows, to show the optimism.
    probes : float, default=0
        Share of probes, columns known to be useless, to add to the data first.
    seed : int, default=0
        Decides the folds, the probes and every open ``random_state`` of the model.
    n_jobs : int, default=1
        Processes to use, -1 for all cores. The result does not depend on it.
    progress : callable, optional
        Called with the number of folds done and the number in all.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from tamis.select import Ranking
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, 7] += 3 * y
    >>> found = validate(make_pipeline(Ranking("cc", k=1), GaussianNB()), X, y, folds=5)
    >>> round(found.summary()["accuracy"].mean, 3), [k.tolist() for k in found.kept]
    (1.0, [[7], [7], [7], [7], [7]])
    """
    check_whole("seed", seed, 0)
    estimator = _estimator(model)
    measures = None if metrics is None else chosen(metrics)
    way = scheme(split, folds=folds, repeats=repeats)
    given = cases(X, y, groups=groups, probes=probes, seed=seed)
    splits = way.splits(given.y, groups=given.groups, parts=given.parts, seed=seed)
    twin = _twin(estimator, given, splits, seed) if leak_check else None
    tick = _counter(progress, len(splits) * (1 if twin is None else 2))

    def estimate(subject: Any) -> Validation:
        in_fold = () if way.one_test else measures
        results = []
        for result in _results(subject, given, splits, in_fold, seed, n_jobs):
            results.append(result)
            tick()
        for category, said in dict.fromkeys(w for result in results for w in result.warnings):
            warnings.warn(said, category, stacklevel=3)
        return gather(
            results,
            given,
            measures,
            recipe=to_text(estimator),
            split=str(way),
            seed=seed,
            together=way.one_test,
        )

    honest = estimate(estimator)
    return replace(honest, leak_checked=leak_check, leak=None if twin is None else estimate(twin))


def _estimator(model: Any) -> Any:
    if isinstance(model, str):
        model = recipe(model)
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise TamisError(f"model must be a scikit-learn estimator or a recipe; got {model!r}")
    if not hasattr(model, "predict"):
        raise TamisError(f"the model does not predict: end it with a classifier; got {to_text(model)}")
    return model


def _twin(model: Any, given: Cases, splits: Sequence[Split], seed: int) -> Any | None:
    rows = np.unique(np.concatenate([np.concatenate([s.train, s.test]) for s in splits]))
    return leaky_twin(model, _safe_indexing(given.X, rows), given.y[rows], seed=seed)


def _counter(progress: Callable[[int, int], None] | None, total: int) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return tick


def _results(
    model: Any, given: Cases, splits: Sequence[Split], metrics: Sequence[Metric] | None, seed: int, n_jobs: int
) -> Iterator[FoldResult]:
    tasks = (
        delayed(evaluate_fold)(model, given.X, given.y, s, classes=given.classes, metrics=metrics, seed=seed)
        for s in splits
    )
    try:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    except TamisError as error:
        unreadable = any(word in str(error) for word in ("NaN", "convert", "NoneType"))
        if unreadable and (trouble := given.trouble()):
            raise TamisError(f"{trouble} ({error})") from error
        raise
