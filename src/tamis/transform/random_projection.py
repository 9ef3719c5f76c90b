"""Random projection: columns replaced by few random sums of them."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base._sklearn import StrOptions, integer
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.seeds import generator
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix


class RandomProjection(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Replace the columns by few random sums of them, which nearly preserve the distances of the rows.

    A row x becomes R x. With ``distribution="gaussian"`` each column of R, one for each column of the data, is a random
    direction of length 1: normal numbers, divided by their length. With ``distribution="sparse"`` most entries of R are
    zero and the others a positive or negative constant, so that R is small and quick (Li, Hastie and Church 2006).

    Parameters
    ----------
    n_components : int, default=100
        Number of sums; at most the number of columns.
    distribution : {"gaussian", "sparse"}, default="gaussian"
    random_state : int, Generator, RandomState or None, default=None
        Draws R.

    Attributes
    ----------
    components_ : float array or CSR matrix of shape (n_components, n_features)
        R.
    n_components_ : int

    Notes
    -----
    R depends on the number of columns and the seed alone, not on the rows. Sparse rows stay sparse; the result is
    dense. A Gaussian R takes 8 bytes for every component and column; a sparse R has about 1 / sqrt(n_features) of them.

    References
    ----------
    Tang, Shepherd, Milios and Heywood (2005), "Comparing and combining dimension reduction techniques for efficient
    text clustering", section 2.2.2; Li, Hastie and Church (2006), "Very sparse random projections".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import RandomProjection
    >>> X = np.random.default_rng(0).normal(size=(50, 2000))
    >>> Z = RandomProjection(400, random_state=0).fit_transform(X)
    >>> Z.shape, round(float(np.linalg.norm(Z[0] - Z[1]) / np.linalg.norm(X[0] - X[1])), 2)
    ((50, 400), 0.94)
    """

    part: ClassVar[Part] = Part(
        "random_projection",
        positional=("n_components", "distribution"),
        search={"n_components": geom(10, 1000), "distribution": choice("gaussian", "sparse")},
        paper="Tang et al. 2005, section 2.2.2; Li, Hastie and Church 2006 (sparse)",
        phrase=lambda a: f"replaces the features by {a.pop('n_components')} random sums of them",
    )
    #: R is drawn column by column: where columns move, the sums are others.
    draws_columns: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integer(1)],
        "distribution": [StrOptions({"gaussian", "sparse"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int = 100,
        distribution: str = "gaussian",
        *,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.distribution = distribution
        self.random_state = random_state

    def _learn(self, X: Matrix) -> None:
        size = min(self.n_components, X.shape[1])
        # A stream of its own: data generated from the same seed must not resemble R.
        rng = generator(self.random_state, 0)
        if self.distribution == "gaussian":
            self.components_ = normalize(rng.standard_normal((size, X.shape[1])), axis=0)
        else:
            peer = SparseRandomProjection(size, random_state=int(rng.integers(2**31)))
            self.components_ = peer.fit(X[:1]).components_.tocsr()
        self.n_components_ = self._n_features_out = size

    def _apply(self, X: Matrix) -> FloatArray:
        axes = self.components_.T.astype(X.dtype)
        return np.asarray(safe_sparse_dot(X, axes, dense_output=True))
