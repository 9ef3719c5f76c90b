"""Linear discriminant analysis: Gaussian classes with one shrunken covariance."""

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.special import expit, softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from tamis.base._sklearn import StrOptions, real
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.types import Codes, FloatArray


class LDA(Classifier):
    """Class with the largest Gaussian density times its share of the rows, one covariance for all classes.

    With means a_c, shares p_c and the covariance S, the evidence for class c is

        x.S^-1 a_c - a_c.S^-1 a_c / 2 + log p_c,

    and S = sum_c p_c ((1 - g_c) S_c + g_c T_c), where S_c is the covariance of the rows of class c and T_c the target
    of the shrinkage.

    Parameters
    ----------
    shrinkage : "auto", float or None, default="auto"
        "auto" finds g_c by Ledoit and Wolf's formula on the standardised rows of the class, and T_c is the diagonal of
        S_c. A number from 0 to 1 is g_c itself, and T_c is the identity times the mean variance of the columns. None
        does not shrink; with fewer rows than columns only the space of the rows counts.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
        For two classes, the evidence for the second.

    Notes
    -----
    The predictions are those of scikit-learn's ``LinearDiscriminantAnalysis``, with ``solver="lsqr"`` when it shrinks
    and ``solver="svd"`` when it does not.
    The covariance is a diagonal D and a product A'A of n rows, so that for p > n columns

        S^-1 = D^-1 - D^-1 A' (I + A D^-1 A')^-1 A D^-1,

    which costs n^2 p instead of p^3. Sparse data is not taken: centring would fill it.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import LDA
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 3.0], [5.0, 1.0], [6.0, 0.0], [6.0, 3.0]])
    >>> model = LDA().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[2.0, 9.0], [4.0, 9.0]])
    array(['a', 'b'], dtype='<U1')
    """

    part: ClassVar[Part] = Part(
        "lda",
        positional=("shrinkage",),
        search={"shrinkage": choice("auto", 0.01, 0.1, 0.5, 0.9)},
        paper="Fisher 1936; Ledoit and Wolf 2004",
        phrase="linear discriminant analysis",
        suits=("dense",),
        limits=Limits(class_rows=3),
        boundary="linear",
        counterpart="ridge",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrinkage": [StrOptions({"auto"}), real(0, 1, "both"), None],
    }

    def __init__(self, shrinkage: float | Literal["auto"] | None = "auto") -> None:
        self.shrinkage = shrinkage

    def _fit(self, X: Any, y: Any) -> None:
        n_classes = self.classes_.shape[0]
        if X.shape[0] <= n_classes:
            raise TamisError(f"lda needs more rows than classes; got {X.shape[0]} rows of {n_classes} classes")
        X = X.astype(np.float64, copy=False)
        if self.shrinkage is None:
            model = LinearDiscriminantAnalysis().fit(X, y)
            self.coef_, self.intercept_ = model.coef_, model.intercept_
            return
        share = np.bincount(y) / y.size
        means = np.stack([X[y == c].mean(axis=0) for c in range(n_classes)])
        diagonal, rows = self._covariance(X, y, means, share)
        coef = _solved(diagonal, rows, means)
        intercept = np.log(share) - np.einsum("ij,ij->i", means, coef) / 2
        two = n_classes == 2
        self.coef_ = coef[1:] - coef[:1] if two else coef
        self.intercept_ = intercept[1:] - intercept[:1] if two else intercept

    def _covariance(self, X: FloatArray, y: Codes, means: FloatArray, share: FloatArray) -> list[FloatArray]:
        """The shrunken covariance within the classes, as a diagonal D and rows A: D + A'A."""
        diagonal = np.zeros(X.shape[1])
        rows = X - means[y]
        for c, p in enumerate(share):
            mine = np.flatnonzero(y == c)
            if self.shrinkage == "auto":
                scaler = StandardScaler()
                g, mean_variance = _ledoit_wolf(scaler.fit_transform(X[mine]))
                target = mean_variance * scaler.scale_**2
            else:
                g = float(self.shrinkage)  # type: ignore[arg-type]
                target = np.full(X.shape[1], (rows[mine] ** 2).mean())
            diagonal += p * g * target
            rows[mine] *= np.sqrt(p * (1 - g) / mine.size)
        return [diagonal, rows]

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        if sp.issparse(X):
            raise TamisError("lda takes no sparse data: centring would fill it; select columns and make them dense")
        return super()._read(X, y, reset=reset)

    def _decision(self, X: Any) -> FloatArray:
        evidence = X @ self.coef_.T + self.intercept_
        if self.classes_.shape[0] > 2:
            return np.asarray(softmax(evidence, axis=1))
        return expit(np.column_stack([-evidence, evidence]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _ledoit_wolf(Z: FloatArray) -> tuple[float, float]:
    """Ledoit and Wolf's shrinkage of the covariance of centred rows, and the mean variance of the columns."""
    n_rows, n_columns = Z.shape
    lengths = np.einsum("ij,ij->i", Z, Z)
    mean_variance = float(lengths.sum()) / Z.size
    products = Z @ Z.T if n_rows < n_columns else Z.T @ Z
    squares = float((products**2).sum()) / n_rows**2
    noise = (float((lengths**2).sum()) / n_rows - squares) / n_rows
    distance = squares - n_columns * mean_variance**2
    # The covariance of one row, or of two opposite ones, has no noise; that of one column is not shrunk.
    if n_columns == 1 or noise <= 1e-12 * squares:
        return 0.0, mean_variance
    return min(noise / distance, 1.0) if distance > 0 else 1.0, mean_variance


def _solved(diagonal: FloatArray, rows: FloatArray, means: FloatArray) -> FloatArray:
    """The means times the inverse of D + A'A; the pseudo-inverse without a diagonal."""
    n_rows, n_columns = rows.shape
    if diagonal.min() <= 0:
        _, values, axes = scipy.linalg.svd(rows, full_matrices=False)
        # The eigenvalues of A'A are the squares.
        real = values**2 > values.max() ** 2 * max(rows.shape) * np.finfo(np.float64).eps
        return np.asarray(((means @ axes[real].T) / values[real] ** 2) @ axes[real])
    if n_rows >= n_columns:
        whole = rows.T @ rows
        whole.flat[:: n_columns + 1] += diagonal
        return np.asarray(scipy.linalg.solve(whole, means.T, assume_a="pos").T)
    scaled = rows / diagonal
    system = scaled @ rows.T
    system.flat[:: n_rows + 1] += 1.0
    plain = means / diagonal
    inner = scipy.linalg.solve(system, rows @ plain.T, assume_a="pos")
    return np.asarray(plain - (scaled.T @ inner).T)
