"""Shrunken centroids: the nearest class mean, with the means shrunk towards the overall mean."""

from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base._sklearn import StrOptions, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.moments import ClassMoments
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, lin
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows


def _phrase(a: Arguments) -> str:
    shrink = a.pop("shrink_threshold")
    return "the nearest class mean" + (f", shrunken by {shrink}" if shrink else "")


class Centroid(WeightedClassifier):
    """Class whose shrunken mean is the nearest, in units of each column's spread within the classes.

    With the mean a_cj of column j in class c, its overall mean a_j, its pooled standard deviation s_j within the
    classes and the median s_0 of these,

        d_cj = (a_cj - a_j) / (m_c (s_j + s_0)),   m_c = sqrt(1 / n_c - 1 / n),

    is shrunk to d'_cj = sign(d_cj) max(0, abs(d_cj) - shrink_threshold), which gives the centroids
    a'_cj = a_j + m_c (s_j + s_0) d'_cj. A row x goes to the class with the smallest

        sum_j (x_j - a'_cj)^2 / (s_j + s_0)^2 - 2 log p_c,

    and exp of minus half of that, divided by the sum over the classes, is its probability.

    Parameters
    ----------
    shrink_threshold : float, default=0.0
        How far the standardised means are shrunk towards the overall one. Where nothing would be left of them, half of
        the largest abs(d_cj) is taken instead: how large they are depends on the number of rows.
    class_weight : {"balanced"}, optional
        Take the same p_c for all classes instead of their shares of the rows.

    Attributes
    ----------
    classes_ : array
    shrink_threshold_ : float
        The threshold in use.
    centroids_ : array of shape (n_classes, n_features)
        The shrunken means.
    spread_ : array of shape (n_features,)
        s_j + s_0.
    used_ : bool array of shape (n_features,)
        The columns whose centroids differ between classes.
    coef_ : array of shape (n_classes, n_features)
    intercept_ : array of shape (n_classes,)
        The linear rule: the logarithm of the probabilities, up to a constant.

    Notes
    -----
    The centroids are those of scikit-learn's ``NearestCentroid``, which takes no sparse data when it shrinks and does
    not divide distances by the spread; this follows the paper, with the minus sign in m_c of its authors' software.
    Constant columns do not count for s_0. Where s_0 is 0, it is the mean of the s_j, and if that is 0 the median spread
    of the class means. A row of weight 2 counts like the row twice.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import Centroid
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [0.0, 2.0], [8.0, 1.0], [9.0, 2.0], [8.0, 1.0]])
    >>> model = Centroid(1.0).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.used_
    array([ True, False])
    >>> model.predict([[2.0, 9.0]])
    array(['a'], dtype='<U1')
    """

    part: ClassVar[Part] = Part(
        "centroid",
        positional=("shrink_threshold",),
        search={"shrink_threshold": lin(0.0, 6.0, 13), "class_weight": choice("balanced", None)},
        paper="Tibshirani, Hastie, Narasimhan and Chu 2002",
        phrase=_phrase,
        boundary="linear",
        counterpart="ridge",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrink_threshold": [real(0, None, "left")],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(self, shrink_threshold: float = 0.0, *, class_weight: str | None = None) -> None:
        self.shrink_threshold = shrink_threshold
        self.class_weight = class_weight

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        X, y, cost, _ = bearing_rows(X, y, sample_weight, self.classes_, "centroid")
        moments = ClassMoments.of(X, y, cost)
        size: FloatArray = np.bincount(y, weights=cost).astype(np.float64, copy=False)
        self.spread_ = _spread(moments, size)
        unit = np.sqrt(1.0 / size - 1.0 / size.sum())[:, None] * self.spread_
        # Equal means may differ by rounding.
        away = np.where(moments.between > 0, moments.mean - moments.grand_mean, 0.0) / unit
        largest = float(np.abs(away).max())
        self.shrink_threshold_ = self.shrink_threshold if self.shrink_threshold < largest else largest / 2
        shrunk = np.sign(away) * np.maximum(0.0, np.abs(away) - self.shrink_threshold_) * unit
        self.centroids_ = moments.grand_mean + shrunk
        self.used_ = np.ptp(shrunk, axis=0) > 0
        # The squares of x and of the overall mean are the same for all classes.
        self.coef_ = shrunk / self.spread_**2
        share = np.full(size.shape, 1.0 / size.size) if self.class_weight else size / size.sum()
        middle = moments.grand_mean + shrunk / 2
        self.intercept_ = np.log(share) - (self.coef_ * middle).sum(axis=1)

    def _decision(self, X: Any) -> FloatArray:
        evidence = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return np.asarray(softmax(evidence, axis=1))


def _spread(moments: ClassMoments, size: FloatArray) -> FloatArray:
    """s_j + s_0 of every column, above zero."""
    freedom = max(float(size.sum()) - size.size, 1.0)
    varies = (moments.within > 0) | (moments.between > 0)
    if not varies.any():
        return np.ones(varies.shape)
    within = np.sqrt(moments.within / freedom)
    # Without spread within the classes, the spread between them is the unit.
    typical = np.median(within[varies]) or within.mean() or np.sqrt(np.median(moments.between[varies]) / size.sum())
    return within + typical
