"""Permutation importance on unseen rows: how much worse predictions become without what a column knows."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import clone

from tamis.base._sklearn import _safe_indexing
from tamis.base.parallel import one_thread
from tamis.base.predictions import predict_rows
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.validation.fold_result import fold_predictions
from tamis.validation.folds import Split
from tamis.validation.metrics import Metric

#: Permutations of a column in the test rows of a fold.
_REPEATS = 3


@dataclass(frozen=True, eq=False)
class Importance:
    """How much worse the main metric is, on unseen rows, when a column is permuted in them.

    Attributes
    ----------
    recipe : str
        The model.
    columns : int array
        The columns, in the order in which they were given.
    mean, sd : arrays
        The loss over the folds: its mean, and its standard deviation (NaN for one fold). Above zero is worse.
    folds : int
        Folds that were evaluated.
    note : str
        Why there is no result, or a part of it only; empty if it is whole.
    """

    recipe: str
    columns: np.ndarray
    mean: FloatArray
    sd: FloatArray
    folds: int
    note: str = ""

    @classmethod
    def unknown(cls, recipe: str, note: str) -> "Importance":
        """No result, and why."""
        return cls(recipe, np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), 0, note)


def importance(
    model: Any,
    recipe: str,
    data: Dataset,
    splits: Sequence[Split],
    columns: np.ndarray,
    metric: Metric,
    *,
    seed: int,
    seconds: float,
) -> Importance:
    """Fit a model on the training rows of each split, and permute columns in its test rows, three times each.

    Parameters
    ----------
    model : estimator
        Cloned for each split.
    recipe : str
        Its name.
    data : Dataset
    splits : sequence of Split
    columns : int array
    metric : Metric
    seed : int
    seconds : float
        No split is begun after this time, and one that is not finished by then is left out.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from tamis.validation.folds import StratifiedFolds
    >>> from tamis.validation.metrics import all_metrics
    >>> y = np.repeat([0, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 5 * np.column_stack([y, np.zeros(40)])
    >>> data = Dataset.of(X, y)
    >>> folds = StratifiedFolds(4).splits(y)
    >>> found = importance(GaussianNB(), "nb", data, folds, np.arange(2), all_metrics["ber"], seed=0, seconds=60)
    >>> bool(found.mean[0] > 0.3), bool(abs(found.mean[1]) < 0.05), found.folds
    (True, True, 4)
    """
    end = perf_counter() + seconds
    losses: list[FloatArray] = []
    try:
        for split in splits:
            own = _losses(model, data, split, columns, metric, seed, end)
            if own is None:
                break
            losses.append(own)
    except Exception as error:
        # The report goes on without it, whatever a model of someone else's raises.
        return Importance.unknown(recipe, f"it failed ({str(error).strip().partition(chr(10))[0]})")
    if not losses:
        return Importance.unknown(recipe, f"it would take more than {seconds:.3g} seconds")
    note = f"it rests on {len(losses)} of {len(splits)} folds, for want of time" if len(losses) < len(splits) else ""
    values = np.array(losses)
    sd = values.std(axis=0, ddof=1) if len(losses) > 1 else np.full(columns.size, np.nan)
    return Importance(recipe, columns, values.mean(axis=0), sd, len(losses), note)


def _losses(
    model: Any, data: Dataset, split: Split, columns: np.ndarray, metric: Metric, seed: int, end: float
) -> FloatArray | None:
    """The loss for each column on the test rows of one split; None when the time is up."""
    if perf_counter() > end:
        return None
    own = spawn(seed, *split.task)
    way = 1.0 if metric.better == "high" else -1.0
    test = _safe_indexing(data.X, split.test)

    def value(X: Any) -> float:
        return metric(fold_predictions(predict_rows(fitted, X), data, split))

    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = seeded(clone(model), own).fit(_safe_indexing(data.X, split.train), data.y[split.train])
        whole, found = value(test), np.empty(columns.size)
        for place, column in enumerate(columns.tolist()):
            if perf_counter() > end:
                return None
            rng = generator(own, column)
            orders = [rng.permutation(split.test.size) for _ in range(_REPEATS)]
            found[place] = np.mean([way * (whole - value(permuted(test, column, order))) for order in orders])
    return found


def permuted(X: Any, column: int, order: np.ndarray) -> Any:
    """The rows with the values of one column in another order, whatever form they have.

    Examples
    --------
    >>> permuted(np.array([[1, 2], [3, 4]]), 0, np.array([1, 0]))
    array([[3, 2],
           [1, 4]])
    """
    if sp.issparse(X):
        other = X.tocsc(copy=True)
        part = slice(other.indptr[column], other.indptr[column + 1])
        other.indices[part] = np.argsort(order)[other.indices[part]]
        other.has_sorted_indices = False
        return other.tocsr()
    if isinstance(X, pl.DataFrame):
        return X.with_columns(X.to_series(column)[order])
    if hasattr(X, "iloc"):
        other = X.copy()
        other.isetitem(column, X.iloc[order, column].set_axis(X.index))
        return other
    other = np.array(X)
    other[:, column] = other[order, column]
    return other
