"""Gradient boosting of trees, by scikit-learn or LightGBM."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from tamis.base.meta_estimators import LibraryRegressor
from tamis.base.parallel import one_thread
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.types import FloatArray
from tamis.trees.boosting import Boosting


class BoostRegressor(Boosting, LibraryRegressor):
    """Sum of small trees, each fitted to what the sum before it leaves of the target.

    A round adds `learning_rate` times a tree of at most `max_leaf_nodes` leaves, fitted to the residuals by squared
    error and grown best leaf first on columns that are binned into at most 255 values.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds.
    learning_rate : float, default=0.1
        Factor of each tree.
    max_leaf_nodes : int, default=31
        Most leaves of a tree.
    min_samples_leaf : int, default=20
        Fewest rows in a leaf, but at most an eighth of all rows: with leaves of 20 a tree of 38 rows could not split.
    library : {"sklearn", "lightgbm"}, default="sklearn"
        scikit-learn's ``HistGradientBoostingRegressor``, for dense data, or LightGBM, for sparse data too; it comes
        with ``pip install tamis[boost]``.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows by which columns are binned, when there are more than 200,000 of them.

    Attributes
    ----------
    model_ : estimator of the library
        It predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    min_samples_leaf_ : int
        The fewest rows in a leaf that were allowed.
    used_ : bool array of shape (n_features,)
        The columns that any tree splits.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the gain of the splits.

    Notes
    -----
    Missing values may come as they are: a split sends them to the better side. There are no sample weights: bins and
    `min_samples_leaf` count rows, so that a row of weight 2 would not be the row twice. LightGBM's bins hold at least
    three rows, or `min_samples_leaf_` if that is less.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import BoostRegressor
    >>> X = np.column_stack([np.arange(20.0), np.ones(20)])
    >>> model = BoostRegressor(50, min_samples_leaf=2).fit(X, np.repeat([10.0, 30.0], 10))
    >>> model.predict([[2.0, 0.0], [12.0, 0.0]]).round(1)
    array([10.1, 29.9])
    >>> model.used_
    array([ True, False])
    """

    part: ClassVar[Part] = Part(
        "boost",
        positional=("n_estimators",),
        search={
            "n_estimators": choice(50, 100, 300),
            "learning_rate": geom(0.02, 0.3),
            "max_leaf_nodes": choice(4, 8, 31),
            "min_samples_leaf": choice(5, 20),
        },
        paper="Friedman 2001; Ke et al. 2017",
        phrase="gradient boosting of {n_estimators} small trees",
        suits=("dense",),
        slow=True,
        scale_invariant=True,
    )
    _by_sklearn = HistGradientBoostingRegressor
    _by_lightgbm = "LGBMRegressor"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        library: Literal["sklearn", "lightgbm"] = "sklearn",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.library = library
        self.random_state = random_state

    def _largest_leaf(self, y: FloatArray) -> int:
        return max(1, y.size // 8)

    def _predict(self, X: Any) -> FloatArray:
        with one_thread():
            return super()._predict(X)
