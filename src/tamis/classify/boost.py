"""Gradient boosting of trees, by scikit-learn or LightGBM."""

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.meta_estimators import LibraryClassifier
from tamis.base.parallel import one_thread
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.types import Codes, FloatArray, Matrix


class Boost(LibraryClassifier):
    """Sum of small trees, each fitted to the gradient of the log loss of the sum before it.

    With F_c the evidence for class c, a round adds for every class (one of them, if there are two) `learning_rate`
    times a tree of at most `max_leaf_nodes` leaves, grown best leaf first on columns that are binned into at most 255
    values. Class probabilities are the logistic function or the softmax of F.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds.
    learning_rate : float, default=0.1
        Factor of each tree.
    max_leaf_nodes : int, default=31
        Most leaves of a tree.
    min_samples_leaf : int, default=20
        Fewest rows in a leaf, but at most a quarter of all rows and twice the rows of the smallest class, or an eighth
        of all rows if that is more: with leaves of 20 a tree of 38 rows could not split.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.
    library : {"sklearn", "lightgbm"}, default="sklearn"
        scikit-learn's ``HistGradientBoostingClassifier``, for dense data, or LightGBM, for sparse data too; it comes
        with ``pip install tamis[boost]``.
    random_state : int, Generator, RandomState or None, default=None
        Draws the rows by which columns are binned, when there are more than 200,000 of them.

    Attributes
    ----------
    classes_ : array
    model_ : estimator of the library
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
    >>> from tamis.classify import Boost
    >>> X = np.column_stack([np.arange(20.0), np.ones(20)])
    >>> model = Boost(10, min_samples_leaf=5).fit(X, np.repeat(["a", "b"], 10))
    >>> model.predict([[2.0, 0.0], [12.0, 0.0]])
    array(['a', 'b'], dtype='<U1')
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
            "class_weight": choice("balanced", None),
        },
        paper="Friedman 2001; Ke et al. 2017",
        phrase="gradient boosting of {n_estimators} small trees",
        suits=("dense",),
        slow=True,
        scale_invariant=True,
    )
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [integer(1)],
        "learning_rate": [real(0, None)],
        "max_leaf_nodes": [integer(2)],
        "min_samples_leaf": [integer(1)],
        "class_weight": [StrOptions({"balanced"}), None],
        "library": [StrOptions({"sklearn", "lightgbm"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        class_weight: str | None = None,
        library: Literal["sklearn", "lightgbm"] = "sklearn",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.library = library
        self.random_state = random_state

    def _make(self) -> Any:
        if self.library == "lightgbm":
            return _lightgbm()(
                n_estimators=self.n_estimators,
                learning_rate=self.learning_rate,
                num_leaves=self.max_leaf_nodes,
                min_child_samples=self.min_samples_leaf_,
                min_data_in_bin=min(3, self.min_samples_leaf_),
                random_state=self._seed(),
                n_jobs=1,
                deterministic=True,
                force_col_wise=True,
                verbosity=-1,
            )
        return HistGradientBoostingClassifier(
            max_iter=self.n_estimators,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf_,
            max_bins=self._most_bins,
            early_stopping=False,
            random_state=self._seed(),
        )

    def _train(self, X: Matrix, y: Codes, cost: FloatArray | None) -> Any:
        self.min_samples_leaf_ = min(int(self.min_samples_leaf), _largest_leaf(y))
        # scikit-learn fills room for all bins of all columns at every node; columns have no more values than rows.
        self._most_bins = int(np.clip(X.shape[0], 2, 255))
        # scikit-learn's sums may depend on the number of threads.
        with one_thread():
            model = super()._train(X, y, cost)
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
        return super()._read(X, y, reset=reset)

    def _decision(self, X: Any) -> FloatArray:
        with one_thread():
            return super()._decision(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.library == "lightgbm"
        return tags


def _largest_leaf(y: Codes) -> int:
    """The most rows that a leaf may need: a tree must be able to split, and to tell the smallest class apart."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    return max(1, y.size // 8, min(y.size // 4, 2 * smallest))


def _lightgbm() -> Any:
    """LightGBM's classifier, imported on demand."""
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        raise TamisError("boost: library=lightgbm needs LightGBM; pip install tamis[boost]") from None
    return LGBMClassifier


def _sklearn_splits(model: HistGradientBoostingClassifier, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Gain of the splits of each column, and their number, from the nodes of scikit-learn's trees."""
    nodes = np.concatenate([tree.nodes for stage in model._predictors for tree in stage])
    inner = nodes[nodes["is_leaf"] == 0]
    columns = inner["feature_idx"].astype(np.intp)
    gain = np.bincount(columns, weights=inner["gain"], minlength=n_features).astype(np.float64, copy=False)
    return gain, np.bincount(columns, minlength=n_features).astype(np.float64)
