"""Ensembles of trees that weigh columns and predict targets, for the search by contrasts."""

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

_COMMITTEES = {
    "extra_trees": (ExtraTreesClassifier, ExtraTreesRegressor),
    "forest": (RandomForestClassifier, RandomForestRegressor),
}

#: Trees of a committee when no number is asked for: as many as this by the number of columns, within bounds.
_TREES, _LEAST, _MOST = 7_500, 15, 50

#: Trees of a boosted ensemble.
_BOOSTED = 100

#: Depth of boosted trees, and the share of the rows that each of them sees.
_DEPTH, _SAMPLE = 5, 0.5

#: Trees at least of an ensemble that predicts.
_PREDICTING = 50

#: Parts of the rows in turn left out and predicted by an ensemble on the others.
_FOLDS = 5


@dataclass(frozen=True)
class Engine:
    """An ensemble of trees.

    Parameters
    ----------
    name : {"extra_trees", "forest", "boost", "lightgbm"}
    n_estimators : int, optional
        By default 100 if they are boosted; 50 in a committee, and on more than 150 columns fewer, down to 15 on 500.
    max_features : float
        Share of the columns that are tried at a split.
    min_samples_leaf : int, optional
        Rows in a leaf at least; by default 5, and 10 where the target is a number.
    n_jobs : int, optional
        Threads of a committee, on which the result does not depend; boosted trees grow on one.
    """

    name: str = "extra_trees"
    n_estimators: int | None = None
    max_features: float = 0.3
    min_samples_leaf: int | None = None
    n_jobs: int | None = None

    def importances(self, X: Matrix, target: np.ndarray, seed: int) -> FloatArray:
        """What each column is worth to an ensemble that learns a target: its share in what the splits gain.

        Parameters
        ----------
        X : array or CSC matrix of float32
        target : int array of shape (n_rows,), or float array of shape (n_rows, n_targets)
            Class codes, or numbers; several targets are learnt together, each as much as it varies.
        seed : int
        """
        if np.issubdtype(target.dtype, np.integer):
            return _worth(self._model(X.shape[1], seed, numbers=False).fit(X, target))
        if self.name in _COMMITTEES:
            return _worth(self._model(X.shape[1], seed, numbers=True).fit(X, _flat(target)))
        varied = target.var(axis=0)
        models = [self._model(X.shape[1], spawn(seed, i), numbers=True).fit(X, one) for i, one in enumerate(target.T)]
        total = sum(size * _worth(model) for size, model in zip(varied, models, strict=True))
        return np.asarray(total / (varied.sum() or 1.0))

    def predicted(self, X: Matrix, target: FloatArray, seed: int, *, bagged: bool = False) -> FloatArray:
        """Targets of all rows, each predicted by trees that have not learnt from the row, of all columns.

        Predictions for the rows that trees have learnt follow their noise, and would take from the residual what
        other columns have to say. The trees of a committee draw rows, and predict those that they have not drawn.

        Parameters
        ----------
        X : array or CSR matrix of float32
        target : float array of shape (n_rows, n_targets)
        seed : int
        bagged : bool
            Draw no thresholds: with thresholds drawn, mere copies of columns make predictions better.
        """
        trees = max(self.n_estimators or 0, _PREDICTING)
        if self.name in _COMMITTEES:
            kind = RandomForestRegressor if bagged else _COMMITTEES[self.name][1]
            committee = kind(
                trees,
                min_samples_leaf=self._leaf(True),
                bootstrap=True,
                oob_score=True,
                n_jobs=self.n_jobs,
                random_state=seed,
            )
            return np.reshape(committee.fit(X, _flat(target)).oob_prediction_, target.shape)
        engine = replace(self, n_estimators=trees, max_features=1.0)
        said = np.empty_like(target)
        folds = KFold(min(_FOLDS, target.shape[0]), shuffle=True, random_state=spawn(seed, 0))
        for number, (learn, judged) in enumerate(folds.split(target), 1):
            for i, one in enumerate(target.T):
                model = engine._model(X.shape[1], spawn(seed, number), numbers=True).fit(X[learn], one[learn])
                said[judged, i] = model.predict(X[judged])
        return said

    def _leaf(self, numbers: bool) -> int:
        return self.min_samples_leaf or (10 if numbers else 5)

    def _model(self, n_columns: int, seed: int, *, numbers: bool) -> Any:
        if self.name in _COMMITTEES:
            return _COMMITTEES[self.name][numbers](
                self.n_estimators or min(max(_LEAST, _TREES // n_columns), _MOST),
                max_features=float(self.max_features),
                min_samples_leaf=self._leaf(numbers),
                n_jobs=self.n_jobs,
                random_state=seed,
            )
        if self.name == "boost":
            return (GradientBoostingRegressor if numbers else GradientBoostingClassifier)(
                n_estimators=self.n_estimators or _BOOSTED,
                max_depth=_DEPTH,
                subsample=_SAMPLE,
                max_features=float(self.max_features),
                min_samples_leaf=self._leaf(numbers),
                random_state=seed,
            )
        return _lightgbm(numbers)(
            n_estimators=self.n_estimators or _BOOSTED,
            max_depth=_DEPTH,
            num_leaves=2**_DEPTH,
            subsample=_SAMPLE,
            subsample_freq=1,
            colsample_bynode=float(self.max_features),
            min_child_samples=self._leaf(numbers),
            importance_type="gain",
            n_jobs=1,
            deterministic=True,
            force_col_wise=True,
            verbosity=-1,
            random_state=seed % 2**31,
        )


def _lightgbm(numbers: bool) -> Any:
    """LightGBM's model, imported when it is asked for."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError:
        raise TamisError("contrasts: engine=lightgbm needs LightGBM; pip install tamis[boost]") from None
    return LGBMRegressor if numbers else LGBMClassifier


def _flat(target: FloatArray) -> FloatArray:
    """One target as a vector, which is what scikit-learn calls one."""
    return target[:, 0] if target.shape[1] == 1 else target


def _worth(model: Any) -> FloatArray:
    """Importances that sum to one, or are all zero."""
    given = np.asarray(model.feature_importances_, dtype=np.float64)
    return given / (given.sum() or 1.0)
