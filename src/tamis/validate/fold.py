"""One fold: a model learns from the training rows alone and answers for the test rows."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from tamis.base.answers import ask
from tamis.base.errors import TamisError
from tamis.base.kept import kept
from tamis.base.seeds import seeded, spawn
from tamis.base.types import Codes, FloatArray
from tamis.validate.folds import Split
from tamis.validate.metrics import Answers, Metric, all_metrics


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What came of one fold.

    Attributes
    ----------
    repeat, fold : int
        Which fold of which repeat, from 0.
    rows : int array
        The test rows.
    n_train : int
        Number of training rows.
    answers : Answers
        The truth and the model's answers on the test rows.
    metrics : mapping of str to float
    kept : int array or None
        Columns of the data that the model uses, when it can be told.
    n_features : int
        Columns of the data.
    fit_seconds, predict_seconds : float
    warnings : tuple of (class, str)
        What was warned of, each once; said again by whoever gathers the folds, in whatever process they ran.
    """

    repeat: int
    fold: int
    rows: np.ndarray
    n_train: int
    answers: Answers
    metrics: Mapping[str, float]
    kept: np.ndarray | None
    n_features: int
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[tuple[type[Warning], str], ...] = ()


def evaluate_fold(
    model: Any,
    X: Any,
    y: np.ndarray,
    split: Split,
    *,
    classes: np.ndarray | None = None,
    metrics: Sequence[Metric] | None = None,
    seed: int = 0,
) -> FoldResult:
    """Fit a copy of `model` on the training rows of one split and judge it on the test rows.

    The copy is fitted whole, and neither `model` nor the data is changed. Its open ``random_state`` parameters are
    set from `seed`, the repeat and the fold; the linear algebra libraries run on one thread, because their sums
    may depend on the number of threads. The result is therefore the same in any process.

    Parameters
    ----------
    model : estimator
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
    y : array of shape (n_rows,)
        Class labels.
    split : Split
    classes : array, optional
        Classes of the whole data, sorted; by default those of `y`.
    metrics : sequence of Metric, optional
        By default all that the model's answers allow.
    seed : int, default=0
        The seed of the whole run, not of the fold.
    """
    classes = np.unique(y) if classes is None else classes
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            own = seeded(clone(model), spawn(seed, *split.task))
            start = perf_counter()
            own.fit(_safe_indexing(X, split.train), y[split.train])
            fitted = perf_counter()
            answers = _answers(own, _safe_indexing(X, split.test), y, split, classes)
            done = perf_counter()
            wanted = [m for m in all_metrics.values() if m.possible(answers)] if metrics is None else metrics
            used = kept(own, X.shape[1])
            return FoldResult(
                repeat=split.repeat,
                fold=split.fold,
                rows=split.test,
                n_train=split.train.size,
                answers=answers,
                metrics={metric.name: metric(answers) for metric in wanted},
                kept=None if used is None else np.flatnonzero(used),
                n_features=X.shape[1],
                fit_seconds=fitted - start,
                predict_seconds=done - fitted,
                warnings=tuple(dict.fromkeys((w.category, str(w.message)) for w in warned)),
            )
    except Exception as error:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        raise TamisError(f"repeat {split.repeat + 1}, fold {split.fold + 1}: {said}") from error


def _answers(model: Any, X: Any, y: np.ndarray, split: Split, classes: np.ndarray) -> Answers:
    said = ask(model, X)
    known = np.searchsorted(classes, np.unique(y[split.train]) if said.classes is None else said.classes)
    probabilities = scores = None
    if said.probabilities is not None:
        probabilities = _per_class(_summing_to_one(said.probabilities), known, classes.size, absent=0.0)
    if said.decision is not None:
        scores = _per_class(said.decision, known, classes.size, absent=float(np.finfo(np.float64).min))
    labels = _codes(said.labels, classes)
    # Probabilities of many classes compare from row to row, raw evidence need not; for two classes evidence has
    # the same order and fewer ties. scikit-learn's scorers choose the same way.
    if scores is None or (classes.size > 2 and probabilities is not None):
        scores = probabilities
    if scores is not None and classes.size == 2:
        scores = scores[:, 1]
    return Answers(np.searchsorted(classes, y[split.test]), labels, classes.size, scores, probabilities)


def _codes(labels: np.ndarray, classes: np.ndarray) -> Codes:
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        raise TamisError(f"the model answers {labels[strange[0]]}, which is not a class: it must end in a classifier")
    return codes


def _per_class(values: FloatArray, known: Codes, n_classes: int, *, absent: float) -> FloatArray:
    """Values of each class of the whole data; `absent` for a class the model has not seen."""
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    spread = np.full((values.shape[0], n_classes), absent)
    spread[:, known] = values
    return spread


def _summing_to_one(probabilities: Any) -> FloatArray:
    """As float64; single precision is put right, so that no reader of the sums is alarmed by its rounding."""
    given = np.asarray(probabilities)
    exact = given.astype(np.float64)
    return exact if given.dtype == np.float64 else exact / exact.sum(axis=1, keepdims=True)
