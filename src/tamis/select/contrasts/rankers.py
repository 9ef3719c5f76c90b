"""Ensembles of trees that give importances and predict targets, for the contrast test."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import KFold

from tamis.base.errors import TamisError
from tamis.base.seeds import spawn
from tamis.base.types import FloatArray, Matrix

#: The engines, and whether each takes missing values in dense and in sparse rows.
ENGINES = {"extra_trees": (True, False), "forest": (True, False), "boost": (False, False), "lightgbm": (True, True)}

_FORESTS = {
    "extra_trees": (ExtraTreesClassifier, ExtraTreesRegressor),
    "forest": (RandomForestClassifier, RandomForestRegressor),
}

#: Trees of a forest by default: the first number divided by the number of columns, within bounds.
_TREES, _LEAST, _MOST = 7_500, 15, 50

#: Trees of a boosted ensemble.
_BOOSTED = 100

#: Depth of boosted trees, and the share of the rows that each is fitted on.
_DEPTH, _SAMPLE = 5, 0.5

#: Least number of trees of an ensemble that predicts.
_PREDICTING = 50

#: Folds of the out-of-sample predictions of boosted trees.
_FOLDS = 5


@dataclass(frozen=True)
class Engine:
    """An ensemble of trees; the parameters are those of :class:`~tamis.select.Contrasts`; boosting uses one thread."""

    name: str = "extra_trees"
    n_estimators: int | None = None
    max_features: float = 0.3
    min_samples_leaf: int | None = None
    n_jobs: int | None = None

    def importances(self, X: Matrix, target: np.ndarray, seed: int) -> FloatArray:
        """Share of each column in the gain of the splits of an ensemble fitted to a target.

        The target is an array of class codes, or of numeric of shape (n_rows, n_targets). Several targets count as much
        as they vary.
        """
        if np.issubdtype(target.dtype, np.integer):
            return _importances(self._model(X.shape[1], seed, numeric=False).fit(X, target))
        if self.name in _FORESTS:
            return _importances(self._model(X.shape[1], seed, numeric=True).fit(X, _flat(target)))
        varied = target.var(axis=0)
        models = [self._model(X.shape[1], spawn(seed, i), numeric=True).fit(X, one) for i, one in enumerate(target.T)]
        total = sum(size * _importances(model) for size, model in zip(varied, models, strict=True))
        return np.asarray(total / (varied.sum() or 1.0))

    def predicted(self, X: Matrix, target: FloatArray, seed: int, *, bagged: bool = False) -> FloatArray:
        """Out-of-sample predictions of a target of shape (n_rows, n_targets), by trees that try all columns at a split.

        In-sample predictions follow the noise of the target, and would remove the effects of other columns from the
        residual. Forests predict out of bag. `bagged` uses no random thresholds: with these, mere copies of columns
        improve predictions.
        """
        trees = max(self.n_estimators or 0, _PREDICTING)
        if self.name in _FORESTS:
            kind = RandomForestRegressor if bagged else _FORESTS[self.name][1]
            bagging = {"bootstrap": True, "oob_score": True, "n_jobs": self.n_jobs, "random_state": seed}
            forest = kind(trees, min_samples_leaf=self._leaf(True), **bagging)
            return np.reshape(forest.fit(X, _flat(target)).oob_prediction_, target.shape)
        engine = replace(self, n_estimators=trees, max_features=1.0)
        predictions = np.empty_like(target)
        folds = KFold(min(_FOLDS, target.shape[0]), shuffle=True, random_state=spawn(seed, 0))
        for number, (train, test) in enumerate(folds.split(target), 1):
            for i, one in enumerate(target.T):
                model = engine._model(X.shape[1], spawn(seed, number), numeric=True).fit(X[train], one[train])
                predictions[test, i] = model.predict(X[test])
        return predictions

    def _leaf(self, numeric: bool) -> int:
        return self.min_samples_leaf or (10 if numeric else 5)

    def _model(self, n_columns: int, seed: int, *, numeric: bool) -> Any:
        if self.name in _FORESTS:
            return _FORESTS[self.name][numeric](
                self.n_estimators or min(max(_LEAST, _TREES // n_columns), _MOST),
                max_features=float(self.max_features),
                min_samples_leaf=self._leaf(numeric),
                n_jobs=self.n_jobs,
                random_state=seed,
            )
        if self.name == "boost":
            return (GradientBoostingRegressor if numeric else GradientBoostingClassifier)(
                n_estimators=self.n_estimators or _BOOSTED,
                max_depth=_DEPTH,
                subsample=_SAMPLE,
                max_features=float(self.max_features),
                min_samples_leaf=self._leaf(numeric),
                random_state=seed,
            )
        return _lightgbm(numeric)(
            n_estimators=self.n_estimators or _BOOSTED,
            max_depth=_DEPTH,
            num_leaves=2**_DEPTH,
            subsample=_SAMPLE,
            subsample_freq=1,
            colsample_bynode=float(self.max_features),
            min_child_samples=self._leaf(numeric),
            importance_type="gain",
            n_jobs=1,
            deterministic=True,
            force_col_wise=True,
            verbosity=-1,
            random_state=seed % 2**31,
        )


def _lightgbm(numeric: bool) -> Any:
    """LightGBM's model, imported on first use."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError:
        raise TamisError("contrasts: engine=lightgbm needs LightGBM; pip install tamis[boost]") from None
    return LGBMRegressor if numeric else LGBMClassifier


def _flat(target: FloatArray) -> FloatArray:
    """One target as a vector, as scikit-train expects it."""
    return target[:, 0] if target.shape[1] == 1 else target


def _importances(model: Any) -> FloatArray:
    """Importances that sum to one, or are all zero."""
    given = np.asarray(model.feature_importances_, dtype=np.float64)
    return given / (given.sum() or 1.0)
