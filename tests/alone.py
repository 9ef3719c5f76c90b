"""One model on one split, fitted by itself: what a plan must come to, whatever it shares; and the plan."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from tamis.base.feature_tracking import used_features
from tamis.base.predictions import predict_rows
from tamis.base.seeds import seeded, spawn
from tamis.data.dataset import Dataset
from tamis.validation.execute.driver import Driver, expect_results
from tamis.validation.fold_result import FoldResult, fold_predictions, measured
from tamis.validation.folds import Split


def try_all(models: Any, data: Dataset, splits: Any, *, metrics: Any = None, progress: Any = None, **options: Any):
    """The outcomes of models that go through one plan; the options are those of the driver."""
    with Driver(data, **options) as driver:
        return driver.outcomes(models, splits, metrics=metrics, progress=progress)


def evaluate_all(models: Any, data: Dataset, splits: Any, *, metrics: Any = None, progress: Any = None, **options: Any):
    """The same, for models that are expected to work."""
    with Driver(data, **options) as driver:
        return expect_results(driver.outcomes(models, splits, metrics=metrics, progress=progress))


def alone(model: Any, X: Any, y: np.ndarray, split: Split, *, seed: int = 0) -> FoldResult:
    """Fit a copy of the whole model on the training rows and judge it on the test rows."""
    data = Dataset.of(X, y)
    with threadpool_limits(1), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        own = seeded(clone(model), spawn(seed, *split.task)).fit(_safe_indexing(X, split.train), y[split.train])
        answers = fold_predictions(predict_rows(own, _safe_indexing(X, split.test)), data, split)
        used = used_features(own, X.shape[1])
    return FoldResult(
        repeat=split.repeat,
        fold=split.fold,
        rows=split.test,
        n_train=split.train.size,
        predictions=answers,
        metrics=measured(answers, None),
        selected=None if used is None else np.flatnonzero(used),
        n_features=X.shape[1],
        fit_seconds=0.0,
        predict_seconds=0.0,
        alone_seconds=0.0,
        warnings=tuple(dict.fromkeys((w.category, str(w.message)) for w in warned)),
    )
