"""What a search comes to: a fitted model, its honest error, and all that was tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamis.base.types import FloatArray
from tamis.mining.trials import Board, Tried
from tamis.validation.estimates import over_folds
from tamis.validation.result import Estimate


@dataclass(frozen=True, eq=False)
class Run:
    """The search behind a mined model.

    Attributes
    ----------
    path : str or None
        The file that keeps the run; None when it was not kept.
    seconds : float
        In all sessions.
    search : int
        The number of the search of all rows in that file.
    n_tried : int
        Recipes that this search tried.
    choices : tuple of str
        What the search within each outer fold chose, in order.
    failed : mapping of str to str
        Recipes that failed, and why.
    """

    path: str | None
    seconds: float
    search: int
    n_tried: int
    choices: tuple[str, ...]
    failed: Mapping[str, str]


def _answers_with(name: str) -> Any:
    return available_if(lambda self: hasattr(self.model, name))


class Mined(ClassifierMixin, BaseEstimator):
    """The model that a search chose, fitted on all rows, with the honest error of the search.

    Made by :func:`tamis.mine`; it predicts like any classifier.

    Parameters
    ----------
    model : estimator
        The fitted model.

    Attributes
    ----------
    recipe_ : str
    classes_ : array
    n_features_in_ : int
    selected_features_ : array
        The columns that the model uses: their names, or numbers where they have none. All of them where it cannot be
        told.
    validation_ : Validation
        The outer folds (the official test rows), each judged by what a search on the other rows alone chose: what the
        whole search will do on new data.
    promised_ : Estimate
        What the folds within the search say of the chosen model: too good, for they chose it.
    leaderboard_ : polars.DataFrame
        All recipes that the search of all rows tried, the best first.
    run_ : Run
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "recipe_")

    def fit(self, X: Any, y: Any) -> "Mined":
        """Fit the chosen model anew on other rows; the search is not repeated, so that no error is known of it."""
        self.model.fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.model.predict(X)

    @_answers_with("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class."""
        check_is_fitted(self)
        return self.model.predict_proba(X)

    @_answers_with("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """Evidence for the classes."""
        check_is_fitted(self)
        return self.model.decision_function(X)

    @property
    def optimism_(self) -> float:
        """How much better the search's own folds make the main metric look than it is."""
        metric = self.validation_.metrics[0]
        gain = self.promised_.mean - self.validation_.estimates[metric.name].mean
        return gain if metric.better == "high" else -gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def summary(self) -> dict[str, Any]:
        """The findings as lists, numbers and text, ready for JSON."""
        return {
            "recipe": self.recipe_,
            "features": np.asarray(self.selected_features_).tolist(),
            "n_features": self.n_features_in_,
            "honest": self.validation_.to_dict(),
            "promised": vars(self.promised_),
            "optimism": self.optimism_,
            "seconds": self.run_.seconds,
            "run": self.run_.path,
            "tried": self.run_.n_tried,
            "choices": list(self.run_.choices),
            "failed": dict(self.run_.failed),
            "leaderboard": self.leaderboard_.to_dicts(),
        }


def promised(board: Board, tried: Tried) -> Estimate:
    """What the folds within a search say of a recipe."""
    return _estimate(board, tried, next(splits for splits in board.rounds() if tried.has(splits)))


def _estimate(board: Board, tried: Tried, splits: Sequence[int]) -> Estimate:
    """The metric of a recipe on some splits, as users know it."""
    values = tried.on(splits)
    return over_folds(values if board.metric.better == "high" else -values, board.inner.test_to_train)


def leaderboard(board: Board) -> pl.DataFrame:
    """All recipes of a search that were judged, those judged most often first, then the best first."""
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for splits in board.rounds():
        for tried in board.ranked(splits):
            if tried.recipe not in seen:
                seen.add(tried.recipe)
                rows.append(_row(board, tried, splits))
    schema = {
        "recipe": pl.String,
        "stage": pl.String,
        board.metric.name: pl.Float64,
        "sd": pl.Float64,
        "se": pl.Float64,
        "features": pl.Float64,
        "folds": pl.Int64,
        "seconds": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)


def _row(board: Board, tried: Tried, splits: Sequence[int]) -> dict[str, Any]:
    estimate = _estimate(board, tried, splits)
    return {
        "recipe": tried.recipe,
        "stage": tried.stage,
        board.metric.name: estimate.mean,
        "sd": _known(estimate.sd),
        "se": _known(estimate.se),
        "features": _known(tried.n_features),
        "folds": len(splits),
        "seconds": tried.seconds_alone,
    }


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
