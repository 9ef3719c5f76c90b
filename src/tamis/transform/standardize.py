"""Standardize: mean 0 and standard deviation 1, per column or over the whole matrix."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.sparsefuncs import inplace_column_scale

from tamis.base._sklearn import StrOptions
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments, divide
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix


def _phrase(a: Arguments) -> str:
    return "standardizes all values together" if a.pop("per") == "matrix" else "standardizes every feature"


class Standardize(OneToOneFeatureMixin, Transformer):
    """Shift to mean 0 and scale to standard deviation 1: ``(x - mean) / deviation``.

    Mean and (biased) deviation are those of the training rows. Missing values are left out of both and stay
    missing. A deviation of 0 is replaced by 1, so a centred constant column becomes 0.

    Parameters
    ----------
    per : {"feature", "matrix"}, default="feature"
        "feature" gives each column its own mean and deviation. "matrix" uses one mean and one deviation of all
        entries, zeros included, and so preserves the relative scales of the columns; the paper prefers it on sparse
        text.
    center : bool or "auto", default="auto"
        Whether the mean is subtracted. On sparse input this would fill every zero, so "auto" centres dense input
        and only scales sparse input, and True refuses sparse input. The two results differ by a shift: distances
        and the kernels made of them are the same, inner products are not, so a linear or polynomial machine predicts
        slightly differently on dense and sparse forms of the same data.

    Attributes
    ----------
    mean_ : float array of shape (n_features,), or (1,) for the matrix
    scale_ : float array of the same shape
        The divisor: the deviation, or 1 where that is 0.
    centered_ : bool
        Whether `mean_` is subtracted.

    See Also
    --------
    Normalize, RMSNorm : Scale rows instead of columns.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import Standardize
    >>> X = np.array([[1.0, 10.0, 5.0], [3.0, 30.0, 5.0]])
    >>> Standardize().fit_transform(X)
    array([[-1., -1.,  0.],
           [ 1.,  1.,  0.]])
    >>> Standardize("matrix").fit_transform(X).std().round(6)
    np.float64(1.0)
    """

    part: ClassVar[Part] = Part(
        "standardize",
        positional=("per",),
        search={"per": choice("feature", "matrix")},
        paper="Grabczewski and Jankowski 2006, section 4.2",
        phrase=_phrase,
        role="feature_scaling",
    )
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "per": [StrOptions({"feature", "matrix"})],
        "center": ["boolean", StrOptions({"auto"})],
    }

    def __init__(self, per: str = "feature", *, center: bool | str = "auto") -> None:
        self.per = per
        self.center = center

    def _learn(self, X: Matrix) -> None:
        self.centered_ = not sp.issparse(X) if self.center == "auto" else bool(self.center)
        if self.centered_:
            self._refuse_sparse(X)
        moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp))
        if self.per == "matrix":
            # Treat the columns as the classes of one long column: its overall moments are those of the matrix.
            moments = ClassMoments(moments.weight.T, moments.mean.T, moments.scatter.T)
        deviation = np.sqrt(divide(moments.within + moments.between, moments.total))
        constant = deviation == 0
        self.mean_ = moments.grand_mean.copy()
        if self.centered_ and constant.any():
            self.mean_[constant] = self._only_value(X, constant)
        self.scale_ = np.where(constant, 1.0, deviation)

    def _apply(self, X: Matrix) -> Matrix:
        if self.centered_:
            self._refuse_sparse(X)
            return self._centered(X)
        if isinstance(X, np.ndarray):
            return X / self.scale_.astype(X.dtype)
        out = X.copy()
        inplace_column_scale(out, np.broadcast_to(1.0 / self.scale_, out.shape[1]).astype(out.dtype))
        return out

    def _centered(self, X: FloatArray) -> FloatArray:
        mean, scale = self.mean_.astype(X.dtype), self.scale_.astype(X.dtype)
        out = X - mean
        out /= scale
        # The error of a mean rounded to float32 may exceed the deviation.
        rest = (self.mean_ - mean) / self.scale_
        if np.abs(rest).max() > np.finfo(X.dtype).eps:
            out -= rest.astype(X.dtype)
        return out

    def _only_value(self, X: FloatArray, constant: np.ndarray) -> FloatArray:
        """The exact value of each constant column, from which its mean may differ by rounding."""
        value: FloatArray = np.fmax.reduce(X[:, constant] if self.per == "feature" else X, axis=0)
        return np.nan_to_num(value if self.per == "feature" else np.fmax.reduce(value))

    def _refuse_sparse(self, X: Matrix) -> None:
        if sp.issparse(X):
            raise TamisError(
                "standardize cannot centre sparse input without filling its zeros: use center=False, "
                'or center="auto" and fit on sparse input'
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.center == "auto" or not self.center
        return tags
