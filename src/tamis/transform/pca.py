"""PCA: projection on the directions of largest variance."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from tamis.base._sklearn import integer, real
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments, divide
from tamis.base.part import Arguments, Part, percent
from tamis.base.search_range import geom
from tamis.base.seeds import generator
from tamis.base.shared_fit import SharedFit
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix

#: Up to this size of the square matrix, all components come from one dense decomposition.
_ALL = 2000
#: Up to this size, the square matrix of dense rows is formed; beyond, and for sparse rows, only its products with
#: vectors.
_FORMED = 5000
#: Above `_ALL` at least this many components are computed, so that every smaller k gets the same ones.
_LEADING = 20
#: Relative difference below which loadings count as equal when the sign is chosen.
_TIE = 1e-6
# Equal eigenvalues restart the iteration from random vectors; SciPy before 1.17 has no parameter for their seed.
_RESTARTS: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


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
    dense solver up to a size of 2000, above that by Lanczos iteration to full precision when `n_components` is at
    most a quarter of it. Sparse rows are centred inside the products and stay sparse. Variances below about max(n,
    p) * 2e-16 of the total are lost in rounding and count as zero.

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
        scatter, components = _leading(_Centred(X, mean), total, [one.n_components for one in estimators])
        return _Decomposed(n_rows, mean, total, scatter, _signed(components))

    def _finish(self, prepared: "_Decomposed") -> None:
        count = _n_components(prepared.scatter, prepared.total, self.n_components)
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


class _Centred:
    """The centred rows as a linear map in float64; sparse rows are centred inside the products."""

    def __init__(self, X: Matrix, mean: FloatArray) -> None:
        self.sparse = bool(sp.issparse(X))
        self.rows = X.astype(np.float64) if self.sparse else X - mean
        self.mean = mean
        self.wide = X.shape[0] <= X.shape[1]
        self.size = min(X.shape)

    def times(self, V: FloatArray) -> FloatArray:
        product: FloatArray = self.rows @ V
        return product - self.mean @ V if self.sparse else product

    def transposed_times(self, U: FloatArray) -> FloatArray:
        product: FloatArray = self.rows.T @ U
        return product - np.multiply.outer(self.mean, U.sum(axis=0)) if self.sparse else product

    def square(self) -> FloatArray:
        """Inner products of the rows when these are fewer than the columns, else of the columns."""
        square = self.rows @ self.rows.T if self.wide else self.rows.T @ self.rows
        if not self.sparse:
            return np.asarray(square)
        dense: FloatArray = square.toarray()  # dense in any case once centred
        if self.wide:
            shift = self.rows @ self.mean - self.mean @ self.mean / 2
            dense -= shift[:, None]
            dense -= shift
        else:
            dense -= self.rows.shape[0] * np.outer(self.mean, self.mean)
        return dense

    def square_times(self, v: FloatArray) -> FloatArray:
        """``square() @ v`` without the square matrix."""
        return self.times(self.transposed_times(v)) if self.wide else self.transposed_times(self.times(v))

    def rounding(self, total: float) -> float:
        """Largest eigenvalue that may be mere rounding; `total` is the sum of all."""
        eps = float(np.finfo(np.float64).eps)
        size: int = max(self.rows.shape)
        shift = float(self.rows.shape[0] * self.mean @ self.mean)
        # Dense rows lose the digits of their mean before they are squared, sparse rows after that.
        lost = size * eps * shift if self.sparse else (64 * eps) ** 2 * shift
        return size * eps * total + lost


def _leading(centred: _Centred, total: float, numbers: Sequence[int | float]) -> tuple[FloatArray, FloatArray]:
    """Scatter along the components that the largest of the values of `k` needs, and the components as rows."""
    n_components = max(_LEADING, *(int(k) for k in numbers))
    share = max((k for k in numbers if k < 1), default=0.0)
    values, vectors = _eigen(centred, n_components)
    while values.size < centred.size and values.sum() < share * total:
        n_components *= 4
        values, vectors = _eigen(centred, n_components)
    count = max(_n_components(values, total, k) for k in numbers)
    count = min(count, int(np.count_nonzero(values > centred.rounding(total))))
    if count == 0:
        return np.zeros(1), np.eye(1, centred.mean.size)
    values, vectors = values[:count], vectors[:, :count]
    if centred.wide:
        vectors = centred.transposed_times(vectors) / np.sqrt(values)
    return values, np.ascontiguousarray(vectors.T)


def _n_components(scatter: FloatArray, total: float, k: int | float) -> int:
    """Number of components for `n_components`, at most those there are."""
    count = int(k) if k >= 1 else int(np.searchsorted(np.cumsum(scatter), k * total)) + 1
    return min(count, scatter.shape[0])


def _eigen(centred: _Centred, n_components: int) -> tuple[FloatArray, FloatArray]:
    """The `n_components` largest eigenvalues of the square matrix, or all, in falling order, and their vectors."""
    size = centred.size
    if size <= _ALL or n_components > size // 4:
        values, vectors = eigh(centred.square(), overwrite_a=True, check_finite=False, driver="evd")
    else:
        matrix: Any = (
            centred.square()
            if size <= _FORMED and not centred.sparse
            else LinearOperator((size, size), matvec=centred.square_times, dtype=np.float64)
        )
        values, vectors = eigsh(matrix, n_components, v0=generator(0).standard_normal(size), **_RESTARTS)
    return values[::-1], vectors[:, ::-1]


def _signed(components: FloatArray) -> FloatArray:
    """The components with the sign that makes the first of the largest loadings positive."""
    size = np.abs(components)
    first = (size >= (1 - _TIE) * size.max(axis=1, keepdims=True)).argmax(axis=1)
    sign: FloatArray = np.sign(components[np.arange(first.size), first])
    return components * sign[:, None]
