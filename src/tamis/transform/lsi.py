"""Latent semantic indexing: projection on the leading right singular vectors."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from tamis.base._sklearn import integer
from tamis.base.part import Arguments, Part
from tamis.base.search_range import geom
from tamis.base.shared_fit import SharedFit
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix
from tamis.margins.kernel import squared_norms
from tamis.margins.principal_axes import CentredRows, leading_axes, signed


def _phrase(a: Arguments) -> str:
    k = a.pop("n_components")
    return f"replaces the features by {'one latent dimension' if k == 1 else f'{k} latent dimensions'}"


class LSI(SharedFit, ClassNamePrefixFeaturesOutMixin, Transformer):
    """Replace the columns by their projections on the leading singular vectors, without centring.

    With the singular value decomposition X = U S V' of the training rows, a row x becomes x V_k: its coordinates on the
    k right singular vectors of largest singular value; the training rows become U_k S_k. This is the best
    approximation of rank k, in least squares. For documents it puts words that occur together on one dimension.

    The largest loading of a component (the first of equals) is positive. The components of a smaller number are the
    first ones of a larger number. Components beyond the rank of the rows are left out; one remains when all values are
    zero.

    Parameters
    ----------
    n_components : int, default=100
        Largest number of components.

    Attributes
    ----------
    components_ : float array of shape (n_components, n_features)
        Orthogonal directions of length 1.
    singular_values_ : float array of shape (n_components,)
    n_components_ : int

    See Also
    --------
    PCA : The same of centred rows.
    ICA : Components that are independent, not only uncorrelated.

    Notes
    -----
    Sparse rows stay sparse: the smaller of X X' and X'X is decomposed by a dense solver up to a size of 2000 (sparse
    rows: 1000, when `n_components` is at most an eighth of it). Above that its products with vectors are enough
    (Lanczos iteration, to full precision) when `n_components` is at most a quarter of it. There is no randomness.
    Squared singular values below about max(n, p) * 2e-16 of their sum are lost in rounding and count as zero.

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer and Harshman (1990), "Indexing by latent semantic analysis"; Tang, Shepherd,
    Milios and Heywood (2005), "Comparing and combining dimension reduction techniques for efficient text clustering",
    section 2.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import LSI
    >>> X = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0], [0.0, 0.0, 1.0]])
    >>> LSI(2).fit_transform(X).round(6)
    array([[ 5.,  0.],
           [10.,  0.],
           [ 0.,  1.]])
    """

    part: ClassVar[Part] = Part(
        "lsi",
        positional=("n_components",),
        search={"n_components": geom(5, 500)},
        paper="Deerwester et al. 1990; Tang et al. 2005, section 2.2.1",
        phrase=_phrase,
    )
    #: One decomposition serves every number of components.
    shared_parameters = ("n_components",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_components": [integer(1)]}

    def __init__(self, n_components: int = 100) -> None:
        self.n_components = n_components

    def _learn(self, X: Matrix) -> None:
        self._finish(self._prepare([self], X))

    def _prepare(self, estimators: Sequence[Self], X: Matrix, y: None = None) -> "_Decomposed":
        rows = CentredRows(X, np.zeros(X.shape[1]))
        scatter, axes = leading_axes(rows, float(squared_norms(X).sum()), [one.n_components for one in estimators])
        return _Decomposed(np.sqrt(scatter), signed(axes))

    def _finish(self, prepared: "_Decomposed") -> None:
        self.singular_values_ = prepared.singular_values[: self.n_components]
        self.components_ = prepared.components[: self.n_components]
        self.n_components_ = self._n_features_out = self.singular_values_.shape[0]

    def _apply(self, X: Matrix) -> FloatArray:
        return np.asarray(X @ self.components_.T.astype(X.dtype))


class _Decomposed(NamedTuple):
    """The singular values above zero, up to the largest number, and their vectors as rows."""

    singular_values: FloatArray
    components: FloatArray
