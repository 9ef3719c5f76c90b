"""What gradient boosting of trees by scikit-learn or LightGBM shares, for classes and for numbers."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread
from tamis.base.types import FloatArray, Matrix


class Boosting:
    """First base of gradient boosting, with the parameters that boosting for classes and for numbers has."""

    accepts_missing: ClassVar[bool] = True
    #: The class of scikit-learn, and the name of LightGBM's.
    _by_sklearn: ClassVar[type[Any]]
    _by_lightgbm: ClassVar[str]
    n_estimators: int
    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int
    library: Literal["sklearn", "lightgbm"]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [integer(1)],
        "learning_rate": [real(0, None)],
        "max_leaf_nodes": [integer(2)],
        "min_samples_leaf": [integer(1)],
        "library": [StrOptions({"sklearn", "lightgbm"})],
        "random_state": ["random_state", np.random.Generator],
    }

    @abstractmethod
    def _largest_leaf(self, y: Any) -> int:
        """The most rows that a leaf may need, so that a tree can split."""

    def _make(self) -> Any:
        seed = self._seed()  # type: ignore[attr-defined]
        if self.library == "lightgbm":
            return self._lightgbm()(
                n_estimators=self.n_estimators,
                learning_rate=self.learning_rate,
                num_leaves=self.max_leaf_nodes,
                min_child_samples=self.min_samples_leaf_,
                min_data_in_bin=min(3, self.min_samples_leaf_),
                random_state=seed,
                n_jobs=1,
                deterministic=True,
                force_col_wise=True,
                verbosity=-1,
            )
        return self._by_sklearn(
            max_iter=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf_,
            max_bins=self._most_bins,
            early_stopping=False,
            random_state=seed,
        )

    def _train(self, X: Matrix, y: Any, weight: FloatArray | None) -> Any:
        self.min_samples_leaf_ = min(int(self.min_samples_leaf), self._largest_leaf(y))
        # scikit-learn fills room for all bins of all columns at every node; columns have no more values than rows.
        self._most_bins = int(np.clip(X.shape[0], 2, 255))
        # scikit-learn's sums may depend on the number of threads.
        with one_thread():
            model = super()._train(X, y, weight)  # type: ignore[misc]
        if self.library == "lightgbm":
            gain, splits = (model.booster_.feature_importance(kind) for kind in ("gain", "split"))
        else:
            gain, splits = _sklearn_splits(model, X.shape[1])
        self.used_ = splits > 0
        self.feature_importances_ = gain / (gain.sum() or 1.0)
        return model

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        if self.library == "sklearn" and sp.issparse(X):
            raise TamisError("boost: library=sklearn takes no sparse data; take library=lightgbm")
        return super()._read(X, y, reset=reset)  # type: ignore[misc]

    def _lightgbm(self) -> Any:
        """The class of LightGBM, imported on demand."""
        try:
            import lightgbm
        except ImportError:
            raise TamisError("boost: library=lightgbm needs LightGBM; pip install tamis[boost]") from None
        return getattr(lightgbm, self._by_lightgbm)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.library == "lightgbm"
        return tags


def _sklearn_splits(model: Any, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Gain of the splits of each column, and their number, from the nodes of scikit-learn's trees."""
    nodes = np.concatenate([tree.nodes for stage in model._predictors for tree in stage])
    inner = nodes[nodes["is_leaf"] == 0]
    columns = inner["feature_idx"].astype(np.intp)
    gain = np.bincount(columns, weights=inner["gain"], minlength=n_features).astype(np.float64, copy=False)
    return gain, np.bincount(columns, minlength=n_features).astype(np.float64)
