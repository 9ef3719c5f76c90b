"""The base of parts that predict from the nearest training rows."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION, inner_folds, most_confident
from tamis.base.nominal import TakesNominal
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.neighbours.mixed_space import SYMBOLS, MixedSpace
from tamis.neighbours.nearest import METRICS, nearest

#: The space of the distances, the training rows in it, their targets, and for "auto" the scores of every k.
_Prepared = tuple[MixedSpace, Matrix, np.ndarray, Any]


class NearestRows(SharedFit, TakesNominal):
    """First base of a classifier or regressor that predicts from the k nearest training rows.

    A subclass also writes ``_keep_scores`` and ``_scores``.
    """

    #: One search for neighbours serves every k.
    shared_parameters = ("n_neighbors",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [integer(1), StrOptions({"auto"})],
        "metric": [StrOptions(set(METRICS))],
        "symbols": [StrOptions(set(SYMBOLS))],
        "alpha": [real(1, None, "left")],
        "max_neighbors": [integer(1)],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_neighbors: int | Literal["auto"] = 5,
        *,
        metric: str = "minkowski",
        symbols: str = "vdm",
        alpha: float = 2.0,
        max_neighbors: int = 50,
        cv: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.symbols = symbols
        self.alpha = alpha
        self.max_neighbors = max_neighbors
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    @abstractmethod
    def _scores(self, neighbours: np.ndarray, truth: np.ndarray) -> FloatArray:
        """How good k = 1, 2, ... are, from the targets of the neighbours of each row, nearest first; more is better."""

    @abstractmethod
    def _keep_scores(self, mean: FloatArray) -> None:
        """Keep the scores of k = 1, 2, ..., averaged over the folds."""

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Prepared:
        if self.metric == "canberra" and self.levels_:
            other = 'put encode in front, or take metric="minkowski" or "chebyshev"'
            raise TamisError(f'knn: metric="canberra" does not take nominal columns; {other}')
        space = self._space_of(X, y)
        scores = self._try_all(X, y) if any(one.n_neighbors == "auto" for one in estimators) else None
        return space, space.points(X), y, scores

    def _finish(self, prepared: _Prepared) -> None:
        self._space, self._rows, self._targets, scores = prepared
        if self.n_neighbors == "auto":
            self._keep_scores(scores.mean(axis=0))
            self.n_neighbors_ = most_confident(scores, self.caution) + 1
        else:
            self.n_neighbors_ = min(int(self.n_neighbors), self._rows.shape[0])

    @classmethod
    def _targets_nearby(cls, models: Sequence[Self], X: Any) -> np.ndarray:
        """The targets of the nearest rows, as many as any of the models uses, of models that were fitted together."""
        first = models[0]
        many = max(model.n_neighbors_ for model in models)
        return first._targets[first._nearest(first._space.points(X), first._rows, many)]

    def _space_of(self, X: Matrix, y: np.ndarray) -> MixedSpace:
        """The space of the distances, from training rows."""
        n_levels = {j: levels.size for j, levels in self.levels_.items()}
        alpha = np.inf if self.metric == "chebyshev" else float(self.alpha)
        return MixedSpace.of(X, y, n_levels, symbols=self.symbols, alpha=alpha)

    def _nearest(self, X: Matrix, Z: Matrix, k: int) -> np.ndarray:
        return nearest(X, Z, k, metric=self.metric, alpha=float(self.alpha))

    def _try_all(self, X: Matrix, y: np.ndarray) -> FloatArray:
        """Score of every k from 1 on in each fold; one search for neighbours serves all of them."""
        parts = inner_folds(y, self.cv, self.random_state, 'KNN: n_neighbors="auto"')
        most = min(self.max_neighbors, min(train.size for train, _ in parts))
        scores = np.zeros((len(parts), most))
        for fold, (train, test) in enumerate(parts):
            space = self._space_of(X[train], y[train])
            places = self._nearest(space.points(X[test]), space.points(X[train]), most)
            scores[fold] = self._scores(y[train][places], y[test])
        return scores
