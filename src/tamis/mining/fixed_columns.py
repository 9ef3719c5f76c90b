"""A fitted model without its selection: the same preparation and classifier on columns that are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from tamis.base._sklearn import _safe_indexing
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track, mask_of, used_features
from tamis.base.meta_estimators import EstimatorList, MetaModel
from tamis.base.types import Mask


class Columns(TransformerMixin, BaseEstimator):
    """Take the columns with the given numbers, in any kind of rows.

    Examples
    --------
    >>> Columns((2, 0)).fit_transform(np.array([[1, 2, 3]]))
    array([[3, 1]])
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the columns."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        """The columns."""
        return _safe_indexing(X, np.asarray(self.columns, dtype=np.intp), axis=1)

    def get_support(self) -> Mask:
        """Mask of the columns."""
        return mask_of(np.asarray(self.columns, dtype=np.intp), self.n_features_in_)


@dataclass(frozen=True, eq=False)
class Member:
    """A model without selection, and the columns that it uses."""

    model: Any
    columns: np.ndarray

    def on(self, places: Mapping[int, int], change: Mapping[int, int | None]) -> Any:
        """The model on its columns, some exchanged or dropped; without columns it predicts class shares or the mean."""
        columns = [c for own in self.columns.tolist() if (c := change.get(own, own)) is not None]
        if not columns:
            return DummyRegressor() if is_regressor(self.model) else DummyClassifier(strategy="prior")
        return Pipeline([("columns", Columns(tuple(places[c] for c in columns))), ("model", self.model)])


@dataclass(frozen=True, eq=False)
class FixedModel:
    """A model without selection, made by :func:`fixed_model`.

    Attributes
    ----------
    members : tuple of Member
        The members of a blend, each with columns of its own; one for any other model.
    blend : estimator or None
        The blend, not fitted.
    """

    members: tuple[Member, ...]
    blend: Any = None

    @property
    def columns(self) -> np.ndarray:
        """All columns that are used."""
        return np.unique(np.concatenate([one.columns for one in self.members]))

    def on(self, places: Mapping[int, int], change: Mapping[int, int | None]) -> Any:
        """An estimator, not fitted, with some columns exchanged for others, or dropped where that is None.

        `places` are the numbers of the columns in the rows that it will get.
        """
        models = [one.on(places, change) for one in self.members]
        return models[0] if self.blend is None else clone(self.blend).set_params(estimators=models)


def fixed_model(model: Any, fitted: Any, n_features: int) -> FixedModel:
    """Remove the selection from a model and note the columns that it uses once fitted.

    Selectors that select columns of the input are removed; those behind a step that mixes columns stay. A committee
    fits its members on all columns that any of them uses. A model that selects within its fit, such as a tree, does so
    again among its columns. The preparation is fitted on the columns alone.

    Parameters
    ----------
    model : estimator
        Not fitted.
    fitted : estimator
        The same, fitted.
    n_features : int
        Columns of the data.

    Examples
    --------
    >>> from tamis.compose.recipe import recipe
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> found = fixed_model(recipe("cc(1) | knn(1)"), recipe("cc(1) | knn(1)").fit(X, [0, 0, 1, 1]), 3)
    >>> found.columns, found.on({1: 0, 2: 1}, {1: 2})["columns"].columns
    (array([1]), (1,))
    """
    if isinstance(model, EstimatorList) and isinstance(model, MetaModel):
        members = tuple(
            Member(_bare(own, done, n_features), _used(done, n_features)) for own, done in _members(model, fitted)
        )
        return FixedModel(members, _without_idle(model))
    return FixedModel((Member(_bare(model, fitted, n_features), _used(fitted, n_features)),))


def _used(fitted: Any, n_features: int) -> np.ndarray:
    mask = used_features(fitted, n_features)
    if mask is None:
        raise TamisError("the columns that the model uses cannot be traced")
    return np.flatnonzero(mask)


def _bare(model: Any, fitted: Any, n_features: int) -> Any:
    """A clone of the model without selectors of input columns, `n_features` of which reach it."""
    if model is None or model == "passthrough":
        return model
    if isinstance(model, Pipeline):
        return Pipeline(_steps(model, fitted, n_features))
    if isinstance(model, MetaModel):
        parts = [_bare(own, done, n_features) for own, done in _members(model, fitted)]
        if isinstance(model, EstimatorList):
            return _without_idle(model).set_params(estimators=parts)
        return clone(model).set_params(estimator=parts[0])
    return clone(model)


def _steps(model: Pipeline, fitted: Pipeline, n_features: int) -> list[tuple[str, Any]]:
    found = []
    track = Track(np.arange(n_features))
    for (name, step), (_, done) in zip(model.steps, fitted.steps, strict=True):
        distinct = track.distinct and track.origins is not None
        if not (distinct and hasattr(done, "get_support")):
            found.append((name, _bare(step, done, 0 if track.origins is None else track.origins.size)))
        track = track.after(done)
    return found


def _members(model: Any, fitted: Any) -> list[tuple[Any, Any]]:
    """The models inside a meta-estimator, those without weight left out, and each of them fitted.

    The fitted copies of the one model of a committee select alike; the first stands for all.
    """
    models = [one for one, weight in zip(model._models(), _weights(model), strict=True) if weight > 0]
    if isinstance(model, EstimatorList) and len(models) != len(fitted.estimators_):
        raise TamisError("the members of the model cannot be matched with the fitted ones")
    return list(zip(models, fitted.estimators_, strict=False))


def _weights(model: Any) -> Sequence[float]:
    given = getattr(model, "weights", None)
    return [1.0] * len(model._models()) if given is None else given


def _without_idle(model: Any) -> Any:
    """A clone of a blend without the members of weight zero."""
    found = clone(model)
    if getattr(found, "weights", None) is not None:
        found.set_params(weights=[weight for weight in found.weights if weight > 0])
    return found
