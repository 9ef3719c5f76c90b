"""The result of a search: a fitted model, its honest estimate, and all trials."""

import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import r2_score
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.data.column_plan import ColumnPlan
from tamis.data.column_sense import planned_rows
from tamis.data.dataset import as_read
from tamis.data.duplicates import row_digests, too_large
from tamis.mining.substitutes import Substitutes
from tamis.mining.trials import Trial, Trials
from tamis.validation.display import Displayed, Reported
from tamis.validation.estimates import over_folds
from tamis.validation.result import Estimate, Validation, figure

#: Names of features that are printed.
_NAMED = 30
#: More rows are not known again.
_MOST_ROWS = 1_000_000


@dataclass(frozen=True, eq=False)
class Run:
    """The search behind a mined model.

    Attributes
    ----------
    path : str or None
        The run file, if there is one.
    seconds : float
        In all sessions.
    search : int
        The number of the search on all rows in that file.
    n_tried : int
        Recipes that this search evaluated, which are the rows of the leaderboard; recipes that failed are not among
        them.
    choices : tuple of str
        The choice of the search within each outer fold, in order.
    failed : mapping of str to str
        Recipes that failed, and why.
    """

    path: str | None
    seconds: float
    search: int
    n_tried: int
    choices: tuple[str, ...]
    failed: Mapping[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Offered:
    """One of the models that a search offers.

    Attributes
    ----------
    recipe : str
    model : estimator
        Fitted on all rows.
    selected_features : array
        The columns that it uses: their names, or numbers if they have none.
    validation : Validation
        Its honest estimate.
    inner_estimate : Estimate
        What the folds that chose it say of it.
    """

    recipe: str
    model: Any
    selected_features: np.ndarray
    validation: Validation
    inner_estimate: Estimate

    def __repr__(self) -> str:
        title, size = self.validation.metrics[0].title, self.selected_features.size
        return _cut(f"Offered: {title} {_error(self.validation)}, {size} features: {self.recipe}")

    def summary(self) -> dict[str, Any]:
        """As lists, numbers and text, ready for JSON."""
        metric = self.validation.metrics[0].name
        return {
            "recipe": self.recipe,
            "features": np.asarray(self.selected_features).tolist(),
            "metric": metric,
            "honest": vars(self.validation.estimates[metric]),
            "inner_estimate": vars(self.inner_estimate),
        }


def _available(name: str) -> Any:
    return available_if(lambda self: hasattr(self.model, name))


class FittedRows(UserWarning):
    """A score on rows that the model was fitted on."""


class Mined(Reported, ClassifierMixin, BaseEstimator):
    """The model that a search chose, fitted on all rows, with the honest estimate of the search.

    Made by :func:`tamis.mine`; it predicts like any classifier. A notebook shows its answer; :meth:`plot` draws the
    figures of its report, and :meth:`report` writes the page.

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
        The columns that the model uses: their names, or numbers if they have none. All columns if it is not known.
    substitutes_ : Substitutes
        What could stand in for each of them, or, if the model is an ensemble, for those of the best single model: a
        mapping of feature to a list of :class:`~tamis.mining.substitutes.Substitute`.
    models_ : dict of str to Offered
        What the search offers: "best" (an ensemble, unless a single model is all there is), "single" (the best single
        model) and "small" (the fewest features within one standard error of the best). One of them is this model.
    validation_ : Validation
        The honest estimate, by the bootstrap, by searches within outer folds, or by the official test rows.
    inner_estimate_ : Estimate
        What the folds that chose the model say of it: too good, because they chose it.
    leaderboard_ : polars.DataFrame
        All recipes that the search on all rows evaluated, best first.
    run_ : Run
    plan_ : ColumnPlan
        Which columns of a data frame are no features, and how its dates are read: new rows may have all columns.

    See Also
    --------
    tamis.report : The report of a run.
    tamis.validation.validate_nested : The same estimate for a given list of recipes.
    """

    substitutes_: Substitutes
    plan_: ColumnPlan

    #: By what the rows that the model was fitted on are known again.
    _fitted_rows: np.ndarray | None = None

    #: What the report needs besides; None for a result that was pickled or not made by :func:`tamis.mine`.
    _notes: Any = None

    def __init__(self, model: Any) -> None:
        self.model = model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "recipe_")

    def __getstate__(self) -> dict[str, Any]:
        # The notes hold the data.
        return {name: value for name, value in super().__getstate__().items() if name != "_notes"}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if not self.__sklearn_is_fitted__():
            return str(super().__repr__(N_CHAR_MAX))
        offers = ", ".join(
            f"{name} {_error(one.validation)} ({one.selected_features.size} features)"
            for name, one in self.models_.items()
        )
        return "\n".join(_cut(line) for line in (f"Mined: {self._answer()}", f"  {self.recipe_}", f"  {offers}"))

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        metric, used = self.validation_.metrics[0], self.features
        inner = f"{metric.title} {figure(self.inner_estimate_.mean)}, optimism {figure(self.optimism_)}"
        warned = (f"beware: {one}" for one in self.validation_.caveats)
        lines = [self._answer(), *warned, f"recipe: {self.recipe_}", f"inner estimate: {inner}"]
        lines += [
            f"{name}: {metric.title} {_error(one.validation)}, {one.selected_features.size} features: {one.recipe}"
            for name, one in self.models_.items()
        ]
        lines.append(f"features: {', '.join(map(str, used[:_NAMED]))}{', ...' if len(used) > _NAMED else ''}")
        return "\n".join(lines)

    def _html_repr(self) -> str:
        return super()._html_repr() if self.__sklearn_is_fitted__() else str(super(Displayed, self)._html_repr())

    def _answer(self) -> str:
        validation = self.validation_
        nothing = "chance" if validation.task == "classify" else "the mean alone"
        return (
            f"{validation.metrics[0].title} {_error(validation)} on unseen rows ({nothing} {validation.chance:.4g}), "
            f"{len(self.features)} of {self.n_features_in_} features"
        )

    def fit(self, X: Any, y: Any) -> "Mined":
        """Fit the chosen model on other rows; the search is not repeated, so the estimates do not hold for it.

        A clone is refused: cross-validation would fit the recipe in every fold that rows of all folds have chosen.
        """
        self._refuse_clone()
        self.model.fit(self._planned(X), y)
        self.classes_ = self.model.classes_
        # A report of the search is not one of this model.
        self._fitted_rows, self._notes = known_rows(self._planned(X)), None
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        check_is_fitted(self)
        return self.model.predict(self._planned(X))

    @_available("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class."""
        check_is_fitted(self)
        return self.model.predict_proba(self._planned(X))

    @_available("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """Evidence for the classes."""
        check_is_fitted(self)
        return self.model.decision_function(self._planned(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on new rows; a warning says so where the model was fitted on some of them."""
        self._warn_of_fitted_rows(X)
        return float(super().score(X, y, sample_weight))

    def _refuse_clone(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise TamisError(
                "a clone of the result of a search cannot be fitted: the rows of all folds have chosen its recipe, so "
                "an error over folds would be too good; validation_ of the result has the honest one"
            )

    def _warn_of_fitted_rows(self, X: Any) -> None:
        check_is_fitted(self)
        known = self._fitted_rows
        own = None if known is None else known_rows(self._planned(X))
        if known is not None and own is not None and (count := int(np.isin(own, known).sum())):
            warnings.warn(
                f"the model was fitted on {count} of these {own.size} rows, so the score is no estimate for new ones; "
                "validation_ has one",
                FittedRows,
                stacklevel=3,
            )

    def _planned(self, X: Any) -> Any:
        """The features among the columns of a data frame, as in the search."""
        return planned_rows(X, self.plan_, getattr(self, "feature_names_in_", ()))

    @property
    def features(self) -> list[Any]:
        """The features that the model uses: their names, or numbers if they have none."""
        return list(np.asarray(self.selected_features_).tolist())

    @property
    def optimism_(self) -> float:
        """How much better the inner estimate of the main metric is than the honest one."""
        metric = self.validation_.metrics[0]
        gain = self.inner_estimate_.mean - self.validation_.estimates[metric.name].mean
        return gain if metric.better == "high" else -gain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def summary(self) -> dict[str, Any]:
        """The results as lists, numbers and text, ready for JSON."""
        return {
            "recipe": self.recipe_,
            "features": np.asarray(self.selected_features_).tolist(),
            "n_features": self.n_features_in_,
            "substitutes": self.substitutes_.to_dict(),
            "honest": self.validation_.to_dict(),
            "inner_estimate": vars(self.inner_estimate_),
            "optimism": self.optimism_,
            "models": {name: one.summary() for name, one in self.models_.items()},
            "seconds": self.run_.seconds,
            "run": self.run_.path,
            "tried": self.run_.n_tried,
            "choices": list(self.run_.choices),
            "failed": dict(self.run_.failed),
            "leaderboard": self.leaderboard_.to_dicts(),
        }


class MinedRegressor(Mined):
    """As :class:`Mined`, where the target holds numbers: it predicts like any regressor, and has no ``classes_``."""

    def fit(self, X: Any, y: Any) -> "MinedRegressor":
        """Fit the chosen model on other rows; the search is not repeated, so the estimates do not hold for it."""
        self._refuse_clone()
        self.model.fit(self._planned(X), y)
        self._fitted_rows, self._notes = known_rows(self._planned(X)), None
        return self

    def predict(self, X: Any) -> FloatArray:
        """The predicted number of each row."""
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance of `y` that is explained (R squared)."""
        self._warn_of_fitted_rows(X)
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags


def known_rows(X: Any) -> np.ndarray | None:
    """By what the rows of a model are known again; None where there are too many, or they are of another kind."""
    try:
        rows = as_read(X)
        return None if rows.shape[0] > _MOST_ROWS or too_large(rows) else row_digests(rows)
    except (TamisError, ValueError, TypeError):
        return None


def _error(validation: Validation) -> str:
    """The honest estimate of the main metric."""
    one = validation.estimates[validation.metrics[0].name]
    return f"{figure(one.mean)} +- {figure(one.se)}"


def _cut(line: str) -> str:
    """A line as long as the terminal is wide."""
    width = max(40, shutil.get_terminal_size((100, 24)).columns)
    return line if len(line) <= width else f"{line[: width - 3]}..."


def inner_estimate(trials: Trials, trial: Trial) -> Estimate:
    """What the folds within a search say of a recipe."""
    return _estimate(trials, trial, next(splits for splits in trials.levels() if trial.has(splits)))


def _estimate(trials: Trials, trial: Trial, splits: Sequence[int]) -> Estimate:
    """The metric of a recipe on some splits, with its usual sign."""
    values = trial.on(splits)
    return over_folds(values if trials.metric.better == "high" else -values, trials.inner.test_to_train)


def leaderboard(trials: Trials) -> pl.DataFrame:
    """All recipes of a search that were evaluated, those evaluated most often first, then best first."""
    schema = {
        "recipe": pl.String,
        "stage": pl.String,
        trials.metric.name: pl.Float64,
        "sd": pl.Float64,
        "se": pl.Float64,
        "features": pl.Float64,
        "folds": pl.Int64,
        "seconds": pl.Float64,
    }
    rows: dict[str, tuple[Any, ...]] = {}
    for splits in trials.levels():
        for trial in trials.ranked(splits):
            if trial.recipe not in rows:
                one = _estimate(trials, trial, splits)
                figures = (one.mean, _known(one.sd), _known(one.se), _known(trial.n_features))
                rows[trial.recipe] = (trial.recipe, trial.stage, *figures, len(splits), trial.seconds_alone)
    return pl.DataFrame(list(rows.values()), schema=schema, orient="row")


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None
