"""The library of a search: models and their predictions for rows that they have not seen, all for the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base.predictions import Predicted, as_probabilities
from tamis.base.types import Codes, FloatArray
from tamis.validation.bootstrap import strata
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import stratify_by
from tamis.validation.metrics import AnyPredictions, FoldPredictions
from tamis.validation.numeric_metrics import NumericPredictions


@dataclass(frozen=True, eq=False, kw_only=True)
class Library:
    """Predictions of several models for the test rows of some splits, one split after the other.

    An entry is a row in one split. :class:`ClassLibrary` and :class:`NumberLibrary` hold the predictions.

    Attributes
    ----------
    recipes : tuple of str
    families : tuple
        What each model is a variant of.
    sizes : array of shape (n_models,)
        Mean number of columns that the model uses; all if it is unknown.
    seconds : array of shape (n_models,)
        Of a fit and its predictions, or of all that follows if the model is chosen; without shared work.
    columns : tuple of tuples of int arrays or None
        The columns that each model uses in each split; None where they are unknown.
    n_features : int
        Columns of the data.
    truth : array of shape (n_entries,)
        Class codes, or numbers.
    split, repeat : int arrays of shape (n_entries,)
        The number of the split, and of its repeat of the folds.
    unit : int array of shape (n_entries,)
        The row, or its group, from 0.
    stratum : int array of shape (n_units,)
        The class of each unit, or the quantile of its number.
    """

    recipes: tuple[str, ...]
    families: tuple[object, ...]
    sizes: FloatArray
    seconds: FloatArray
    columns: tuple[tuple[np.ndarray | None, ...], ...]
    n_features: int
    truth: np.ndarray
    split: Codes
    repeat: Codes
    unit: Codes
    stratum: Codes

    #: The arrays with an entry for each model.
    _per_model: ClassVar[tuple[str, ...]] = ("sizes", "seconds")

    def models(self, places: Sequence[int] | np.ndarray) -> Self:
        """Some of the models; all in their order are no copy."""
        if np.array_equal(places, np.arange(len(self.recipes))):
            return self
        return replace(
            self,
            recipes=tuple(self.recipes[i] for i in places),
            families=tuple(self.families[i] for i in places),
            columns=tuple(self.columns[i] for i in places),
            **{name: getattr(self, name)[np.asarray(places, dtype=np.intp)] for name in self._per_model},
        )

    def union_size(self, models: Sequence[int] | np.ndarray) -> float:
        """Mean number of columns that some models use together in a split."""
        sizes = []
        for split in zip(*(self.columns[m] for m in models), strict=True):
            known = [own for own in split if own is not None]
            together = np.unique(np.concatenate(known)).size if len(known) == len(split) else self.n_features
            sizes.append(together)
        return float(np.mean(sizes))

    def predictions(self, model: int, entries: np.ndarray) -> AnyPredictions:
        """The predictions of a model for some entries."""
        raise NotImplementedError

    def shares(self, counts: FloatArray) -> FloatArray:
        """The shares of the classes when each entry counts that often; none of numbers."""
        raise NotImplementedError

    @property
    def unseen(self) -> float:
        """What errors that were not seen may add to the standard error of a share of rows."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassLibrary(Library):
    """Predicted classes of several models.

    Attributes
    ----------
    probabilities : array of shape (n_models, n_entries, n_classes)
        The margins of a model are turned into probabilities.
    labels : int array of shape (n_models, n_entries)
        Codes of the predicted classes.
    graded : bool array of shape (n_models,)
        Whether the probabilities are the model's own.
    """

    probabilities: FloatArray
    labels: Codes
    graded: np.ndarray

    _per_model: ClassVar[tuple[str, ...]] = (*Library._per_model, "probabilities", "labels", "graded")

    @property
    def n_classes(self) -> int:
        return int(self.probabilities.shape[2])

    def predictions(self, model: int, entries: np.ndarray) -> FoldPredictions:
        p = self.probabilities[model, entries]
        scores = p[:, 1] if self.n_classes == 2 else p
        own = p if self.graded[model] else None
        return FoldPredictions(self.truth[entries], self.labels[model, entries], self.n_classes, scores, own)

    def shares(self, counts: FloatArray) -> FloatArray:
        inside = np.bincount(self.truth, weights=counts, minlength=self.n_classes)
        return np.asarray(inside / inside.sum())

    @property
    def unseen(self) -> float:
        """What one row of every class predicted otherwise changes in a balanced error."""
        sizes = np.bincount(self.stratum)
        sizes = sizes[sizes > 0]
        return float(np.sqrt((1.0 / sizes**2).sum())) / sizes.size


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberLibrary(Library):
    """Predicted numbers of several models.

    Attributes
    ----------
    values : array of shape (n_models, n_entries)
    """

    values: FloatArray

    _per_model: ClassVar[tuple[str, ...]] = (*Library._per_model, "values")

    def predictions(self, model: int, entries: np.ndarray) -> NumericPredictions:
        return NumericPredictions(self.truth[entries], self.values[model, entries])

    def shares(self, counts: FloatArray) -> FloatArray:
        return np.empty(0)

    @property
    def unseen(self) -> float:
        return 0.0


def library(
    recipes: Sequence[str],
    families: Sequence[object],
    results: Sequence[Mapping[str, FoldResult]],
    groups: np.ndarray | None = None,
) -> ClassLibrary | NumberLibrary:
    """The library of models with results on all of some splits.

    Parameters
    ----------
    recipes, families : sequences
    results : sequence of mappings of recipe to FoldResult
        One for each split.
    groups : array with an entry for each row of the data, optional
        Rows of one group are one unit.
    """
    first = [found[recipes[0]] for found in results]
    rows = np.concatenate([one.rows for one in first])
    truth = np.concatenate([one.predictions.truth for one in first])
    numbers = isinstance(first[0].predictions, NumericPredictions)
    known, entry = np.unique(rows, return_inverse=True)
    target = np.empty(known.size, dtype=truth.dtype)
    target[entry] = truth
    labels = stratify_by(target, "regress" if numbers else "classify")
    unit, stratum = strata(labels, None if groups is None else groups[known])
    own = [[found[recipe] for found in results] for recipe in recipes]
    predicted = np.array([np.concatenate([one.predictions.labels for one in m]) for m in own])
    if numbers:
        made: Any = partial(NumberLibrary, values=predicted)
    else:
        made = partial(
            ClassLibrary,
            probabilities=np.array([np.concatenate([_probabilities(one.of_classes) for one in m]) for m in own]),
            labels=predicted,
            graded=np.array([all(one.of_classes.probabilities is not None for one in m) for m in own]),
        )
    found: ClassLibrary | NumberLibrary = made(
        recipes=tuple(recipes),
        families=tuple(families),
        sizes=np.array([_mean_size(m) for m in own]),
        seconds=np.array([float(np.mean([one.alone_seconds for one in m])) for m in own]),
        columns=tuple(tuple(one.selected for one in m) for m in own),
        n_features=first[0].n_features,
        truth=truth,
        split=np.repeat(np.arange(len(first)), [one.rows.size for one in first]),
        repeat=np.repeat([one.repeat for one in first], [one.rows.size for one in first]),
        unit=unit[entry],
        stratum=stratum,
    )
    return found


def _probabilities(predictions: FoldPredictions) -> FloatArray:
    predicted = Predicted(
        predictions.labels, predictions.probabilities, predictions.scores, np.arange(predictions.n_classes)
    )
    return as_probabilities(predicted, predictions.n_classes)


def _mean_size(results: Sequence[FoldResult]) -> float:
    return float(np.mean([one.n_features if one.selected is None else one.selected.size for one in results]))
