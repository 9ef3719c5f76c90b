"""BinMeans: values become the class shares of their bins."""

from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, _check_feature_names_in, integer, real
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator
from tamis.base.transformer import SupervisedTransformer
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.bins.cuts import starts
from tamis.discretize.bin_means.shares import Method, bin_shares
from tamis.kernels.states import segment_states


class BinMeans(SupervisedTransformer):
    """Cut each column into the bins that fit the classes best, and replace each value by the class shares of its bin.

    The bins are those of ``discretize(optimal)``: the squared error of the shares plus a cost for each bin is least.
    With two classes a column becomes one, the share of the second class; with k classes it becomes k - 1, the shares of
    all classes but the first. A linear model of such columns can follow any shape of the class rate.

    Bins overfit the rows they were found on. ``fit_transform`` therefore gives each training row the shares found on
    the other folds, shifted so that the shares of all rows agree: in a pipeline no classifier gets a value made with
    the row's own label. ``transform`` uses the bins of all training rows. The two differ on the training rows, as with
    scikit-learn's ``TargetEncoder``; ``cv=None`` makes them the same.

    A missing value gets the shares of the training rows in which the column is missing, or those of all rows if there
    are fewer than `min_rows` of them.

    Parameters
    ----------
    min_rows : int, default=10
        Least number of rows in a bin.
    min_gain : float or "auto", default="auto"
        Cost of a bin, which one more bin must take off the squared error (for two classes that of a target of 0 and 1).
        "auto" is the error of a single bin divided by n - 1.
    max_bins : int, optional
        The most bins.
    smooth : bool, default=False
        Instead of bins, give each value the shares of the run of at least `min_rows` rows around it with the least
        error. They change slowly except at breaks. `min_gain` and `max_bins` are ignored.
    samples : int, default=1
        Find the bins in this many random halves of the rows, and take for each column those that cost least over all of
        them, with their shares of all rows. This gives fewer bins, half as many on noise, and needs some hundred rows.
    cv : int or None, default=5
        Folds of ``fit_transform``; fewer when the largest class has fewer rows. None gives the training rows what
        ``transform`` gives them.
    random_state : int, Generator, RandomState or None, default=None
        Draws folds and samples.

    Attributes
    ----------
    cuts_ : list of float arrays, one a column
        The cuts, ascending; bins are closed on the left.
    shares_ : list of float arrays of shape (n_bins, n_classes - 1), one a column
        Shares of the classes but the first.
    missing_ : float array of shape (n_features, n_classes - 1)
        Shares of a missing value.
    zero_ : float array of shape (n_features, n_classes - 1)
        What is subtracted: nothing when fitted on an array; when fitted on a sparse matrix the shares of the value 0,
        so that zeros stay zeros.

    See Also
    --------
    Discretize : Replaces values by the numbers of their bins.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import BinMeans
    >>> X, y = np.arange(60.0)[:, None], np.repeat(["a", "b", "a"], 20)
    >>> BinMeans().fit(X, y).transform([[3.0], [30.0], [99.0]])
    array([[0.],
           [1.],
           [0.]])
    """

    part: ClassVar[Part] = Part(
        "bin_means",
        positional=("min_rows",),
        search={"min_rows": choice(5, 10, 20, 50), "smooth": choice(False, True), "samples": choice(1, 5)},
        paper="Katz 2005",
        phrase="puts the class shares of optimal bins in place of the values",
    )
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_rows": [integer(1)],
        "min_gain": [real(0, None, "left"), StrOptions({"auto"})],
        "max_bins": [integer(1), None],
        "smooth": ["boolean"],
        "samples": [integer(1)],
        "cv": [integer(2), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        min_rows: int = 10,
        *,
        min_gain: float | Literal["auto"] = "auto",
        max_bins: int | None = None,
        smooth: bool = False,
        samples: int = 1,
        cv: int | None = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.min_rows = min_rows
        self.min_gain = min_gain
        self.max_bins = max_bins
        self.smooth = smooth
        self.samples = samples
        self.cv = cv
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and give each row the shares of the bins found on the other folds."""
        self.fit(X, y)
        if self.cv is None:
            return self._apply(self._checked(X, reset=False))
        X, codes = self._begin(X, y)
        rng = generator(self.random_state, 1)
        if np.bincount(codes).max() < 2:
            raise TamisError(
                "bin_means: cv needs a class with at least two rows; set cv=none to use the bins of all rows"
            )
        parts = inner_folds(codes, self.cv, rng, "bin_means: cv")
        made = [_encoded(X[test], self._found(X[train], codes[train], rng)) for train, test in parts]
        if not sp.issparse(X):
            # A fold with many rows of a class leaves fewer of it elsewhere: unshifted shares would reveal that.
            # (In sparse rows the subtracted share of zero removes it.)
            size = np.bincount(codes)
            for out, (train, test) in zip(made, parts, strict=True):
                elsewhere = size - np.bincount(codes[test], minlength=size.size)
                shift = (size / codes.size - elsewhere / train.size)[1:]
                out += np.tile(shift, X.shape[1]).astype(out.dtype)
        order = np.argsort(np.concatenate([test for _, test in parts]))
        return sp.vstack(made, format="csr")[order] if sp.issparse(X) else np.concatenate(made)[order]

    def _learn(self, X: Matrix, y: Codes | None = None) -> None:
        self.cuts_, self.shares_, self.missing_, self.zero_ = self._found(X, y, generator(self.random_state))

    def _found(self, X: Matrix, y: Any, rng: np.random.Generator) -> "_Fitted":
        n_classes = self.classes_.size
        method = Method(self.min_rows, self.min_gain, self.max_bins, self.smooth, n_classes)
        halves = [_half(y, rng) for _ in range(self.samples)] if self.samples > 1 else []
        found = bin_shares(X, y, method, halves)
        shares = [found.shares[start:stop, 1:] for start, stop in pairwise(found.first)]
        cuts = found.cuts.apart()
        zero = _at_zero(cuts, shares) if sp.issparse(X) else np.zeros((len(cuts), n_classes - 1))
        return _Fitted(cuts, shares, _of_missing(X, y, self.min_rows, n_classes), zero)

    def _apply(self, X: Matrix) -> Matrix:
        if sp.issparse(X) and (_at_zero(self.cuts_, self.shares_) != self.zero_).any():
            raise TamisError(
                "bin_means was fitted on an array in which zero has a share of its own; a sparse matrix cannot hold "
                "it: fit it on a sparse matrix"
            )
        return _encoded(X, _Fitted(self.cuts_, self.shares_, self.missing_, self.zero_))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: those of the input, with ``=class`` behind them for more than two classes."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.classes_.size > 2:
            names = [f"{name}={label}" for name in names for label in self.classes_[1:]]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The tag that allows fit_transform to differ from transform.
        tags.non_deterministic = self.cv is not None
        return tags


class _Fitted(NamedTuple):
    """The attributes of a fitted estimator."""

    cuts: list[FloatArray]
    shares: list[FloatArray]
    missing: FloatArray
    zero: FloatArray


def _half(y: Codes, rng: np.random.Generator) -> np.ndarray:
    """Every second row of each class, in random order."""
    order = rng.permutation(y.size)
    return order[np.argsort(y[order], kind="stable")][::2]


def _at_zero(cuts: list[FloatArray], shares: list[FloatArray]) -> FloatArray:
    """The shares of the value 0 in each column."""
    return np.array([of[np.searchsorted(at, 0.0, side="right")] for at, of in zip(cuts, shares, strict=True)])


def _of_missing(X: Matrix, y: Codes, min_rows: int, n_classes: int) -> FloatArray:
    """Class shares of the rows in which each column is missing, or of all rows where these are few."""
    size = np.bincount(y, minlength=n_classes)
    if sp.issparse(X):
        X = canonical(X)
        entries = np.flatnonzero(np.isnan(X.data))
        rows, columns = np.searchsorted(X.indptr, entries, side="right") - 1, X.indices[entries]
    else:
        rows, columns = np.nonzero(np.isnan(X))
    counts = np.zeros((X.shape[1], n_classes))
    np.add.at(counts, (columns, y[rows]), 1.0)
    total = counts.sum(axis=1)
    few = total < min_rows
    counts[few], total[few] = size, size.sum()
    return (counts / total[:, None])[:, 1:]


def _encoded(X: Matrix, fitted: _Fitted) -> Matrix:
    """The shares of rows."""
    width = fitted.missing.shape[1]
    if sp.issparse(X):
        return _of_sparse(canonical(X).tocsc(), fitted, width)
    out = np.empty((X.shape[0], X.shape[1] * width), dtype=X.dtype)
    for j, (cuts, shares) in enumerate(zip(fitted.cuts, fitted.shares, strict=True)):
        # Missing values have the place after the last bin.
        codes = np.where(np.isnan(X[:, j]), cuts.size + 1, np.searchsorted(cuts, X[:, j], side="right"))
        out[:, j * width : (j + 1) * width] = (np.vstack((shares, fitted.missing[j])) - fitted.zero[j])[codes]
    return out


def _of_sparse(X: Matrix, fitted: _Fitted, width: int) -> Matrix:
    begin = X.indptr.astype(np.int64)
    first = starts(np.array([cuts.size for cuts in fitted.cuts]))
    codes = np.empty(X.nnz, dtype=np.int32)
    segment_states(X.data, begin[:-1], begin[1:], first, np.concatenate(fitted.cuts), codes)
    column = np.repeat(np.arange(X.shape[1]), np.diff(begin))
    shares = np.concatenate(fitted.shares)[first[column] + column + np.maximum(codes, 0)]
    shares = np.where(codes[:, None] < 0, fitted.missing[column], shares) - fitted.zero[column]
    places = np.repeat(X.indices, width), (column[:, None] * width + np.arange(width)).ravel()
    kind = sp.csr_array if isinstance(X, sp.sparray) else sp.csr_matrix
    out = kind((shares.ravel().astype(X.dtype), places), shape=(X.shape[0], X.shape[1] * width))
    out.eliminate_zeros()
    return out
