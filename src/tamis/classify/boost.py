"""Gradient boosting of trees, by scikit-learn or LightGBM."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from tamis.base._sklearn import StrOptions
from tamis.base.meta_estimators import LibraryClassifier
from tamis.base.parallel import one_thread
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.types import Codes, FloatArray
from tamis.trees.boosting import Boosting


class Boost(Boosting, LibraryClassifier):
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
    _by_sklearn = HistGradientBoostingClassifier
    _by_lightgbm = "LGBMClassifier"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), None],
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

    def _largest_leaf(self, y: Codes) -> int:
        """A tree must be able to split, and to tell the smallest class apart."""
        smallest = int(np.unique(y, return_counts=True)[1].min())
        return max(1, y.size // 8, min(y.size // 4, 2 * smallest))

    def _decision(self, X: Any) -> FloatArray:
        with one_thread():
            return super()._decision(X)
