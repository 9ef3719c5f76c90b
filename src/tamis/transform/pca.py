"""PCA: projection on the directions of largest variance."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from tamis.base._sklearn import integer, real
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments, divide
from tamis.base.part import Arguments, Part, percent
from tamis.base.search_range import geom
from tamis.base.shared_fit import SharedFit
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix
from tamis.margins.principal_axes import CentredRows, axis_count, leading_axes, signed


def _phrase(a: Arguments) -> str:
    k = a.pop("n_components")
    if isinstance(k, float):
        return f"replaces the features by the principal components that hold {percent(k)} of the variance"
    return f"replaces the features by {'one principal component' if k == 1 else f'{k} principal components'}"


class PCA(SharedFit, ClassNamePrefixFeaturesOutMixin, Transformer):
    """Replace the columns by their projections on the leading principal components.

    The components are the eigenvectors of the covariance of the training rows, in order of their eigenvalues.
    The largest loading of a component (the first of equals) is positive. The components of a smaller number are the
    first ones of a larger number. Components without variance, beyond the rank of the centred rows, are left out; one
    remains when all rows are equal.

    With n rows and p columns, the smaller of X X' (n x n) and X'X (p x p) of the centred rows is decomposed: by a
    dense solver up to a size of 2000 (sparse rows: 1000, when `n_components` is at most an eighth of it), above that
    by Lanczos iteration to full precision when `n_components` is at most a quarter of it. Sparse rows are centred
    inside the products and stay sparse. Variances below about max(n, p) * 2e-16 of the total are lost in rounding and
    count as zero.

    Parameters
    ----------
    n_components : int or float, default=2
        Largest number of components; or, strictly between 0 and 1, the share of the variance that they explain.
    whiten : bool, default=False
        Scale each projection to variance 1 on the training rows.

    Attributes
    ----------
    components_ : float array of shape (n_components, n_features)
        Orthogonal directions of length 1.
    explained_variance_ : float array of shape (n_components,)
        Variance of the training rows along each component, with n - 1 in the denominator.
    explained_variance_ratio_ : float array of shape (n_components,)
        Share of the total variance along each component.
    mean_ : float array of shape (n_features,)
    n_components_ : int

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import PCA
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> PCA(1).fit_transform(X)
    array([[-5.],
           [ 0.],
           [ 5.]])
    """

    part: ClassVar[Part] = Part(
        "pca",
        positional=("n_components",),
        search={"n_components": geom(2, 100)},
        paper="Grabczewski and Jankowski 2006, section 2.2",
        phrase=_phrase,
        role="projection",
    )
    #: One decomposition serves every number of components.
    shared_parameters = ("n_components", "whiten")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integer(1), real(0, 1)],
        "whiten": ["boolean"],
    }

    def __init__(self, n_components: int | float = 2, *, whiten: bool = False) -> None:
        self.n_components = n_components
        self.whiten = whiten

    def _learn(self, X: Matrix) -> None:
        self._finish(self._prepare([self], X))

    def _prepare(self, estimators: Sequence[Self], X: Matrix, y: None = None) -> "_Decomposed":
        n_rows = X.shape[0]
        if n_rows < 2:
            raise TamisError("pca needs at least 2 rows to estimate a variance; got 1 sample")
        moments = ClassMoments.of(X, np.zeros(n_rows, dtype=np.intp))
        mean, total = moments.mean[0], float(moments.scatter.sum())
        scatter, components = leading_axes(CentredRows(X, mean), total, [one.n_components for one in estimators])
        return _Decomposed(n_rows, mean, total, scatter, signed(components))

    def _finish(self, prepared: "_Decomposed") -> None:
        count = axis_count(prepared.scatter, prepared.total, self.n_components)
        scatter = prepared.scatter[:count]
        self.mean_ = prepared.mean
        self.components_ = prepared.components[:count]
        self.explained_variance_ = scatter / (prepared.n_rows - 1)
        self.explained_variance_ratio_ = divide(scatter, np.array(prepared.total))
        self.n_components_ = self._n_features_out = scatter.shape[0]

    def _apply(self, X: Matrix) -> FloatArray:
        axes = self.components_.T
        if self.whiten:
            axes = axes / np.sqrt(np.where(self.explained_variance_ > 0, self.explained_variance_, 1.0))
        if isinstance(X, np.ndarray):
            return np.asarray((X - self.mean_.astype(X.dtype)) @ axes.astype(X.dtype))
        return np.asarray(X @ axes - self.mean_ @ axes, dtype=X.dtype)


class _Decomposed(NamedTuple):
    """The components with variance, up to the largest `k`, and the moments of the rows."""

    n_rows: int
    mean: FloatArray
    total: float
    scatter: FloatArray
    components: FloatArray
