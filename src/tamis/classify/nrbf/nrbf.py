"""Normalised radial basis functions: every training row votes for its class, the nearer the more."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot

from tamis.base._sklearn import HasMethods, StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION, Fold, most_confident, weighted_folds
from tamis.base.part import Arguments, Limits, Part
from tamis.base.seeds import generator
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import bearing_rows, canonical
from tamis.classify.nrbf.voters import Voters, try_widths_of_voters, voters
from tamis.classify.nrbf.widths import BLOCK, FAR, ROUNDING, differences, from_mean, mean_row, relative, try_widths
from tamis.margins.kernel import squared_norms

#: Pair values that are summed at a time, while they are in the cache.
_CACHED = 130_000

#: Error of an exponent beyond which distances are computed from differences, not from inner products.
_LOST = 1e-7

#: Distances from differences that are closer than this share of themselves are equal.
_EQUAL = 1e-12

#: Exponents whose maximum is further from 0 than this are shifted, so that the sum of exp is finite.
_DEEP = 600.0


def _phrase(a: Arguments) -> str:
    prototypes = a.pop("prototypes")
    return "a normalized radial basis function network" + (f" on the prototypes of {prototypes}" if prototypes else "")


class NRBF(SharedFit, WeightedClassifier):
    """Let every training row vote for its class, weighted by a Gaussian of its distance.

    The probability of class c at x, with the sum over the training rows i of class c and that over all rows j, is::

        P(c | x) = sum_i G(x, x_i) / sum_j G(x, x_j),   G(x, x') = exp(-|x - x'|^2 / sigma).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        The width. Towards 0 the nearest row decides alone, towards infinity every class gets its share of the
        rows. "auto" takes the width with the highest mean accuracy, less `caution` deviations, over the folds of an
        internal stratified cross-validation; of equals the largest, which is the smoothest.
    prototypes : classifier, optional
        A model such as ``LVQ(3)`` whose prototypes vote in place of the rows, each as often as there are rows of its
        class that are nearest to it, once at least. It is fitted again in each fold of the search for a width, and
        takes no sample weights.
    n_sigmas : int, default=25
        Widths that "auto" tries, in geometric progression: from a quarter of the typical gap between the squared
        distances to the nearest and the second nearest row, to the mean squared distance between rows.
    cv : int, default=10
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    caution : float, default=0.0
        How many standard deviations over the folds count against a width (Grabczewski and Jankowski, eq. 25).
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.

    Attributes
    ----------
    classes_ : array
    sigma_ : float
        The width in use.
    sigmas_ : array
        With ``sigma="auto"``: the widths tried, from the smallest.
    cv_accuracy_ : array
        Their accuracy, averaged over the internal folds.

    See Also
    --------
    LVQ : Finds prototypes, and classifies by the nearest.

    Notes
    -----
    A row of weight 2 counts as the row twice, in the search as well. The internal folds are made in the order of the
    rows' distance from the mean, so that the order of rows and columns does not matter, except among equal distances.
    Beyond 6,000 rows the search evaluates 6,000 of them.

    Multiplying all values by a multiplies the widths of a search by a^2 and changes no probability. Sums are relative
    to the nearest row, however small sigma is; where inner products are too coarse for it, distances come from
    differences, and rows whose distances agree to twelve digits are equally near.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import NRBF
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> model = NRBF(sigma=4.0).fit(X, ["low", "low", "low", "high", "high"])
    >>> model.predict([[1.5], [7.5]])
    array(['low', 'high'], dtype='<U4')
    >>> model.predict_proba([[4.5]]).round(2)
    array([[0.49, 0.51]])
    """

    part: ClassVar[Part] = Part(
        "nrbf",
        ("sigma",),
        paper="Parzen 1962; Grabczewski and Jankowski 2006, eq. 17-18",
        phrase=_phrase,
        limits=Limits(class_rows=3),
        growth=2.0,
        boundary="local",
        counterpart="knn",
    )
    gives_probabilities = True
    #: One set of distances serves every width.
    shared_parameters = ("sigma",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [real(0, None), StrOptions({"auto"})],
        "prototypes": [HasMethods(["fit", "predict"]), None],
        "n_sigmas": [integer(2)],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        sigma: float | Literal["auto"] = "auto",
        *,
        prototypes: Any = None,
        n_sigmas: int = 25,
        cv: int = 10,
        caution: float = 0.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.sigma = sigma
        self.prototypes = prototypes
        self.n_sigmas = n_sigmas
        self.cv = cv
        self.caution = caution
        self.random_state = random_state

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[dict[str, Any], Any]:
        X, y, given, _ = bearing_rows(X, y, sample_weight, self.classes_, "NRBF")
        searched = any(one.sigma == "auto" for one in estimators)
        tried = None
        if self.prototypes is not None:
            (X, y, given), tried = self._voters(X, y, given, searched)
        # Class by class: the sum over a class is then over neighbouring places.
        order = np.argsort(y, kind="stable")
        X, y, given = X[order], y[order], given[order]
        self._mean = None if sp.issparse(X) else mean_row(X, given)
        rows = self._moved(X)
        self._norms = norms = _finite_norms(rows)
        # The form of products: CSC, or dense with a column more so that one product gives the exponents.
        self._rows: Matrix = rows.tocsc() if sp.issparse(X) else np.column_stack([rows, -norms])
        self._starts = np.searchsorted(y, np.arange(self.classes_.shape[0]))
        self._weight = None if (given == given[0]).all() else relative(given)
        fitted = {name: getattr(self, name) for name in ("_mean", "_norms", "_rows", "_starts", "_weight")}
        if searched and self.prototypes is None:
            folds = self._folds(rows, norms, y, given)
            tried = try_widths(rows, norms, y, given, folds, self.classes_.shape[0], self.n_sigmas)
        return fitted, tried

    def _voters(self, X: Matrix, y: Any, weight: FloatArray, searched: bool) -> tuple[Voters, Any]:
        """The prototypes of all rows and, if a width is searched, what was tried."""
        if not (weight == weight[0]).all():
            raise TamisError("NRBF: prototypes take no sample weights; leave out one of the two")
        seed = int(generator(self.random_state).integers(2**31))
        every = voters(self.prototypes, X, y, self.classes_.shape[0], seed)
        if not searched:
            return every, None
        rows = X if sp.issparse(X) else X - mean_row(X, weight)
        folds = self._folds(rows, _finite_norms(rows), y, np.ones(y.shape[0]))
        return every, try_widths_of_voters(self.prototypes, X, y, every, folds, self.n_sigmas, seed)

    def _folds(self, rows: Matrix, norms: FloatArray, y: Any, weight: FloatArray) -> list[Fold]:
        return weighted_folds(
            from_mean(rows, norms, weight), y, weight, self.cv, self.random_state, 'NRBF: sigma="auto"'
        )

    def _finish(self, prepared: tuple[dict[str, Any], Any]) -> None:
        fitted, tried = prepared
        self.__dict__.update(fitted)
        if self.sigma == "auto":
            self.sigmas_, accuracy = tried
            self.cv_accuracy_ = accuracy.mean(axis=0)
            last = self.sigmas_.shape[0] - 1
            self.sigma_ = float(self.sigmas_[last - most_confident(accuracy[:, ::-1], self.caution)])
        else:
            self.sigma_ = float(self.sigma)

    def _decision(self, X: Any) -> FloatArray:
        return next(self._decide_all([self], X))

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        first = models[0]
        shares = [np.empty((X.shape[0], model.classes_.shape[0])) for model in models]
        widest = first._rows.shape[0] if sp.issparse(first._rows) else max(first._rows.shape)
        height = max(1, BLOCK // widest)
        coarse = ROUNDING * math.sqrt(X.shape[1])
        for some in gen_batches(X.shape[0], height):
            rows = first._moved(X[some] if height < X.shape[0] else X)
            error = coarse * (_finite_norms(rows) + first._norms.max()) + np.finfo(np.float64).tiny
            products = first._products(rows) if (error < _LOST * max(model.sigma_ for model in models)).any() else None
            for model, out in zip(models, shares, strict=True):
                fine = error < _LOST * model.sigma_
                block = out[some]
                if products is not None and fine.any():
                    block[fine] = model._shares((products if fine.all() else products[fine]) * (1 / model.sigma_))
                if not fine.all():
                    block[~fine] = model._shares(model._by_differences(rows[~fine]))
        return iter(shares)

    def _moved(self, X: Matrix) -> Matrix:
        """Rows as float64: canonical CSR, or dense less the mean, since a common offset costs inner products digits."""
        if self._mean is None:
            return canonical(sp.csr_matrix(X, dtype=np.float64))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.subtract(X.toarray() if sp.issparse(X) else X, self._mean, dtype=np.float64)

    def _products(self, X: Matrix) -> FloatArray:
        """Sigma times the exponents, up to a constant for each row, from one matrix product."""
        # |x|^2 - |x - x'|^2 = 2 x.x' - |x'|^2: the constant |x|^2 cancels in the shares.
        if sp.issparse(X):
            products = safe_sparse_dot(X * 2.0, self._rows.T, dense_output=True)
            products -= self._norms
            return products
        left = np.empty((X.shape[0], self._rows.shape[1]))
        np.multiply(X, 2.0, out=left[:, :-1])
        left[:, -1] = 1.0
        return left @ self._rows.T

    def _by_differences(self, X: Matrix) -> FloatArray:
        """Exponents from differences, for a sigma near the rounding of inner products; 0 for the nearest row."""
        distances = differences(X, self._rows.tocsr() if sp.issparse(X) else self._rows[:, :-1])
        nearest = distances.min(axis=1, keepdims=True)
        beyond = np.where(distances <= nearest * (1 + _EQUAL), 0.0, distances - nearest)
        with np.errstate(over="ignore"):
            beyond /= -self.sigma_
        return beyond

    def _shares(self, exponents: FloatArray) -> FloatArray:
        """Shares of the classes in the sums of exp; overwrites `exponents`."""
        sums = np.empty((exponents.shape[0], self._starts.shape[0]))
        height = max(1, _CACHED // exponents.shape[1])
        for some in gen_batches(exponents.shape[0], height):
            block = exponents[some]
            highest = block.max(axis=1)
            if np.abs(highest).max() > _DEEP:
                block -= highest[:, None]
            np.maximum(block, -FAR, out=block)
            np.exp(block, out=block)
            if self._weight is not None:
                block *= self._weight
            np.add.reduceat(block, self._starts, axis=1, out=sums[some])
        return sums / sums.sum(axis=1, keepdims=True)


def _finite_norms(rows: Matrix) -> FloatArray:
    """Squared length of every row; refused where squared distances overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = squared_norms(rows)
    if not (norms < np.finfo(np.float64).max / 8).all():
        raise TamisError("NRBF: squared distances overflow on values this large; scale the columns first")
    return norms
