"""Whole-model validation: every step of the model is fitted inside each fold, on the training rows alone."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.task import WantedTask
from tamis.data.column_sense import sensed
from tamis.data.reading import Reading
from tamis.engines.progress import Wanted, progress_bar
from tamis.validation.execute.driver import expect_results, warn_again
from tamis.validation.experiment import Experiment
from tamis.validation.leak import leaky_twin
from tamis.validation.metrics import Metric
from tamis.validation.models import as_estimator
from tamis.validation.prefilter import for_folds
from tamis.validation.result import Validation


def validate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    split: str | None = None,
    folds: int = 10,
    repeats: int | None = None,
    groups: Any = None,
    text: Sequence[str] = (),
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    leak_check: bool = False,
    probes: float = 0.0,
    task: WantedTask = "auto",
    seed: int = 0,
    n_jobs: int = 1,
    engine: str | None = None,
    progress: Wanted = None,
    prefilter: str | None = None,
    target: str | None = None,
    memory: float | None = None,
) -> Validation:
    """Estimate how well a whole model will do on new data.

    In every fold a clone of the model - transformations, selection and classifier together - is fitted on the training
    rows and evaluated on the test rows. Nothing supervised ever sees a test row.

    The standard error over J folds is the corrected one of Nadeau and Bengio (2003),
    ``sd * sqrt(1/J + n_test/n_train)``, because folds share training rows. With an official test set or leave-one-out,
    metrics are computed on all predictions together, with the standard error of
    :func:`tamis.validation.metrics.standard_error`. A fold in which a metric is undefined (AUC with one class among the
    test rows) is left out of that metric's estimate.

    Parameters
    ----------
    model : estimator or str
        A scikit-learn estimator that ends in a classifier or a regressor, or a recipe.
    X : Dataset, array, sparse matrix or data frame
        A data set has its own classes, groups, official split and known probes. With a `prefilter` the path of a file.
    y : array of shape (n_rows,), optional
        Class labels or numbers, when `X` is not a data set.
    split : {"folds", "pooled", "official", "leave-one-out", "bootstrap"}, optional
        Stratified folds over all rows (default), folds over the official "train" and "valid" rows, the official split,
        one row (or group) at a time, or bootstrap samples with the .632+ estimate
        (:mod:`tamis.validation.bootstrap`).
    folds : int, default=10
        For "folds" and "pooled".
    repeats : int, optional
        Repeats of the folds (default 1), or number of bootstrap samples (default 100).
    groups : array of shape (n_rows,), optional
        Rows of one group are never split between training and test.
    text : sequence of str
        Columns of a data frame that are text, whose words become features.
    metrics : str, Metric or list of them, optional
        The first is the main one. By default all that the predictions allow: the BER first, and for numbers the RMSE.
    leak_check : bool, default=False
        Also estimate with every step before the classifier fitted on all rows, to show the optimism.
    probes : float, default=0
        Share of probes (columns known to be useless) to add to the data.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers. By default words and few different numbers are classes
        (:func:`tamis.data.target_task.guess_task`).
    seed : int, default=0
        Seed of the folds, the probes and every open ``random_state`` of the model.
    n_jobs : int, default=1
        Processes to use, -1 for all cores. The result does not depend on it.
    engine : str, optional
        What computes, instead of `n_jobs`: "serial", "local", "local(3)" or "dask://host:port"
        (:func:`tamis.engines.engine.open_engine`).
    progress : callable or bool, optional
        Called with the number of folds done and their total. By default a bar is shown on a terminal and in a notebook,
        if it takes longer than a second; False shows nothing.
    prefilter : str, optional
        A score with a number of columns, such as "ig(5000)", for a file that does not fit into memory: every fold
        selects so many columns on its training rows before the rest of the recipe, in one pass over the file for all
        folds (:func:`tamis.validation.prefilter.prefiltered`).
    target : str, optional
        With a `prefilter`: the column to predict.
    memory : float, optional
        With a `prefilter`: bytes of memory to read the file with; half of what is free by default.

    Returns
    -------
    Validation

    See Also
    --------
    tamis.validation.many.validate_many : Several models on the same splits.
    tamis.validation.nested.validate_nested : Choose among models in inner folds and validate the choice.
    tamis.validation.permutation.permutation_test : Whether a model does better than on permuted classes.
    tamis.validation.learning.learning_curve : The estimate for several numbers of training rows.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from tamis.select import Ranking
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = rng.normal(size=(40, 200))
    >>> X[:, 7] += 3 * y
    >>> found = validate(make_pipeline(Ranking("cc", k=1), GaussianNB()), X, y, folds=5)
    >>> round(found.summary()["accuracy"].mean, 3), [k.tolist() for k in found.selected]
    (1.0, [[7], [7], [7], [7], [7]])
    """
    if prefilter is not None:
        X = for_folds(
            X,
            prefilter,
            split=split,
            folds=folds,
            repeats=repeats,
            seed=seed,
            target=target,
            reading=Reading(task=task),
            memory=memory,
            engine=engine,
            progress=progress,
        )
    elif target is not None or memory is not None:
        raise TamisError("target and memory are for a file with a prefilter")
    if isinstance(model, str):
        # A recipe is prepared for the data, as on the command line; an estimator of the user's own gets all columns.
        X, y, groups = sensed(X, y, groups=groups, text=text, task=task), None, None
    elif text:
        raise TamisError("text is for recipes: put Words in front of an estimator of your own")
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
    estimator = as_estimator(model, experiment.data)
    twin = None
    if leak_check:
        rows, data = experiment.rows, experiment.data
        twin = leaky_twin(estimator, _safe_indexing(data.X, rows), data.y[rows], seed=seed)
    models = [estimator] if twin is None else [estimator, twin]
    with progress_bar("validating", progress) as step:
        outcomes = experiment.outcomes(models, engine=engine, n_jobs=n_jobs, progress=step)
    results = expect_results(outcomes)
    for own in results:
        warn_again(own)
    found, *leak = (experiment.validation(estimator, own) for own in results)
    return replace(found, leak_checked=leak_check, leak=leak[0] if leak else None)
