"""PCA: the directions in which the rows vary most."""

from collections.abc import Sequence
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from tamis.base._sklearn import Interval
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments, divide
from tamis.base.part import Arguments, Part, percent
from tamis.base.search_range import geom
from tamis.base.seeds import generator
from tamis.base.shared_fit import SharedFit
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix

#: Up to this many rows or columns, whichever are fewer, all components are found by one dense decomposition.
_ALL = 2000
#: Up to this many, the square matrix of dense rows is formed; beyond, and for sparse rows, only its products with
#: vectors are, which sparse rows give cheaply.
_FORMED = 5000
#: Above `_ALL` at least this many components are found, so that every smaller k gets the same ones.
_LEADING = 20
#: Loadings that differ by less than this share count as equal when the sign is chosen.
_TIE = 1e-6
# Equal eigenvalues make the iteration start again from random vectors; SciPy before 1.17 keeps their seed to itself.
_RESTARTS: dict[str, Any] = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def _phrase(a: Arguments) -> str:
    k = a.pop("n_components")
    if isinstance(k, float):
        return f"replaces the features by the principal components that hold {percent(k)} of the variance"
    return f"replaces the features by {'one principal component' if k == 1 else f'{k} principal components'}"


class PCA(SharedFit, ClassNamePrefixFeaturesOutMixin, Transformer):
    """Replace the columns by their projections on the leading principal components.

    The components are the eigenvectors of the covariance of the training rows, in order of their eigenvalues.
    A component's sign makes its largest loading positive (the first of equals). The first components do not
    depend on `n_components`: a smaller number of them is the beginning of a larger one. Components without
    variance, beyond the rank of the centred rows, are not returned; one is kept when nothing varies at all.

    With n rows and p columns, the smaller of the row products X X' (n x n) and the covariance X'X (p x p) of the
    centred rows is decomposed: whole up to 2000, by Lanczos iteration to full precision above that when `n_components`
    is at most a quarter of it. Sparse rows are centred inside the products and never filled. Variances below
    about max(n, p) * 2e-16 of the total are lost in rounding and count as zero.

    Parameters
    ----------
    n_components : int or float, default=2
        Number of components, at most as many as there are; or, strictly between 0 and 1, the share of the variance
        that they must reach.
    whiten : bool, default=False
        Scale each projection to variance 1 on the training rows.

    Attributes
    ----------
    components_ : float array of shape (n_components_, n_features)
        Orthogonal directions of length 1.
    explained_variance_ : float array of shape (n_components_,)
        Variance of the training rows along each component, with n - 1 in the denominator.
    explained_variance_ratio_ : float array of shape (n_components_,)
        The same as a share of the total variance.
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
        "n_components": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "whiten": ["boolean"],
    }

    def __init__(self, n_components: int | float = 2, *, whiten: bool = False) -> None:
        self.n_components = n_components
        self.whiten = whiten

    def _learn(self, X: Matrix) -> None:
        self._finish(self._prepare([self], X))

    def _prepare(self, asked: Sequence[Self], X: Matrix, y: None = None) -> "_Decomposed":
        n_rows = X.shape[0]
        if n_rows < 2:
            raise TamisError("pca needs at least 2 rows to see any variance; got 1 sample")
        moments = ClassMoments.of(X, np.zeros(n_rows, dtype=np.intp))
        mean, total = moments.mean[0], float(moments.scatter.sum())
        scatter, components = _leading(_Centred(X, mean), total, [one.n_components for one in asked])
        return _Decomposed(n_rows, mean, total, scatter, _signed(components))

    def _finish(self, prepared: "_Decomposed") -> None:
        count = _how_many(prepared.scatter, prepared.total, self.n_components)
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
        sparse = bool(sp.issparse(X))
        if sparse:
            return np.asarray(X @ axes - self.mean_ @ axes, dtype=X.dtype)
        return np.asarray((X - self.mean_.astype(X.dtype)) @ axes.astype(X.dtype))


class _Decomposed(NamedTuple):
    """The components that vary, as many as are asked for, and what they were found on."""

    n_rows: int
    mean: FloatArray
    total: float
    scatter: FloatArray
    components: FloatArray


class _Centred:
    """The centred rows as a linear map in float64; sparse rows are centred inside the products and never filled."""

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
        """Products of the rows when these are fewer than the columns, else products of the columns."""
        square = self.rows @ self.rows.T if self.wide else self.rows.T @ self.rows
        if not self.sparse:
            return np.asarray(square)
        dense: FloatArray = square.toarray()  # of the smaller size on both sides, and full anyhow once centred
        if self.wide:
            shift = self.rows @ self.mean - self.mean @ self.mean / 2
            dense -= shift[:, None]
            dense -= shift
        else:
            dense -= self.rows.shape[0] * np.outer(self.mean, self.mean)
        return dense

    def square_times(self, v: FloatArray) -> FloatArray:
        """What ``square() @ v`` is, without the square matrix."""
        return self.times(self.transposed_times(v)) if self.wide else self.transposed_times(self.times(v))

    def rounding(self, total: float) -> float:
        """Eigenvalues up to this size may be nothing but rounding; `total` is the sum of all."""
        eps = float(np.finfo(np.float64).eps)
        size: int = max(self.rows.shape)
        shift = float(self.rows.shape[0] * self.mean @ self.mean)
        # Dense rows lose the digits of their mean before they are squared, sparse rows after.
        lost = size * eps * shift if self.sparse else (64 * eps) ** 2 * shift
        return size * eps * total + lost


def _leading(centred: _Centred, total: float, asked: Sequence[int | float]) -> tuple[FloatArray, FloatArray]:
    """Scatter along each component that the largest of the numbers asked for needs, and the components as rows."""
    wanted = max(_LEADING, *(int(k) for k in asked))
    share = max((k for k in asked if k < 1), default=0.0)
    values, vectors = _eigen(centred, wanted)
    while values.size < centred.size and values.sum() < share * total:
        wanted *= 4
        values, vectors = _eigen(centred, wanted)
    count = max(_how_many(values, total, k) for k in asked)
    count = min(count, int(np.count_nonzero(values > centred.rounding(total))))
    if count == 0:
        return np.zeros(1), np.eye(1, centred.mean.size)
    values, vectors = values[:count], vectors[:, :count]
    if centred.wide:
        vectors = centred.transposed_times(vectors) / np.sqrt(values)
    return values, np.ascontiguousarray(vectors.T)


def _how_many(scatter: FloatArray, total: float, k: int | float) -> int:
    """Number of components meant by `n_components`, of those there are."""
    count = int(k) if k >= 1 else int(np.searchsorted(np.cumsum(scatter), k * total)) + 1
    return min(count, scatter.shape[0])


def _eigen(centred: _Centred, wanted: int) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of the smaller square matrix, largest first, and their vectors: `wanted` of them or all."""
    size = centred.size
    if size <= _ALL or wanted > size // 4:
        values, vectors = eigh(centred.square(), overwrite_a=True, check_finite=False, driver="evd")
    else:
        matrix: Any = (
            centred.square()
            if size <= _FORMED and not centred.sparse
            else LinearOperator((size, size), matvec=centred.square_times, dtype=np.float64)
        )
        values, vectors = eigsh(matrix, wanted, v0=generator(0).standard_normal(size), **_RESTARTS)
    return values[::-1], vectors[:, ::-1]


def _signed(components: FloatArray) -> FloatArray:
    """The components, each turned so that the first of its largest loadings is positive."""
    size = np.abs(components)
    first = (size >= (1 - _TIE) * size.max(axis=1, keepdims=True)).argmax(axis=1)
    sign: FloatArray = np.sign(components[np.arange(first.size), first])
    return components * sign[:, None]
