"""BinMeans: values become the class shares, the most frequent class or the mean target of their bins."""

from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, _check_feature_names_in, integer, real
from tamis.base.errors import TamisError
from tamis.base.inner_cv import size_strata, target_vectors
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.task import BOTH, Task, WantedTask, is_numeric, task_of
from tamis.base.types import FloatArray, Matrix, Target
from tamis.bins.bin_transform import BinTransform
from tamis.bins.pieces import Pieces
from tamis.discretize.bin_means.found_bins import Method, found_bins
from tamis.discretize.optimal.limits import BinLimits

Output = Literal["shares", "ordered", "mode"]

#: What each output puts in place of the values.
_PUT = {
    "shares": "the class shares, or the mean target,",
    "ordered": "the mean place of the classes",
    "mode": "the most frequent class",
}


class BinMeans(BinTransform):
    """Cut each column into the bins that fit the target best, and replace each value by the mean target of its bin.

    The bins are those of ``discretize(optimal)``: the squared error of the means plus a cost for each bin is least. Of
    a target of classes the means are class shares. With two classes a column becomes one, the share of the second
    class; with k classes it becomes k - 1, the shares of all classes but the first. A target of numbers makes one
    column, the mean of the numbers. A linear model of such columns can follow any shape of the class rate or the mean.

    Bins overfit the rows they were found on. ``fit_transform`` therefore gives each training row the means found on
    the other folds, shifted so that the means of all rows agree: in a pipeline no model gets a value made with the
    row's own target. ``transform`` uses the bins of all training rows. The two differ on the training rows, as with
    scikit-learn's ``TargetEncoder``; ``cv=None`` makes them the same.

    A missing value gets the mean of the training rows in which the column is missing, or that of all rows if there are
    fewer than `min_rows` of them.

    Parameters
    ----------
    min_rows : int, default=10
        Least number of rows in a bin.
    min_gain : float or "auto", default="auto"
        Cost of a bin, which one more bin must take off the squared error (for two classes that of a target of 0 and 1;
        for numbers it has their unit, squared). "auto" is the error of a single bin divided by n - 1.
    min_bins, max_bins : int, default=1 and none
        The fewest and the most bins.
    max_rows : int, optional
        Largest number of rows in a bin.
    min_width, max_width : float, default=0.0 and none
        Least and largest difference of the highest and the lowest training value of a bin. BinLimits that no bins of a
        column keep to are an error, but a column of one value has one bin.
    smooth : bool, default=False
        Instead of bins, give each value the mean of the run of at least `min_rows` rows around it with the least
        error. They change slowly except at breaks. `min_gain` and the limits but `min_rows` are
        ignored.
    samples : int, default=1
        Find the bins in this many random halves of the rows, and take for each column those that cost least over all of
        them, with their means of all rows. This gives fewer bins, half as many on noise, and needs some hundred rows.
    output : {"shares", "ordered", "mode"}, default="shares"
        For classes: "shares" makes a column for each class but the first. "ordered" makes a single one, the mean of the
        places 1, 2, ... of the classes in sorted order, which is the paper's value for ordinal targets: with shares
        0.2, 0.7 and 0.1 of three classes it is 1.9. "mode" makes a single one too, the paper's value for nonordinal
        targets: the code 0, 1, ... of the most frequent class in ``classes_``. Of several classes that are equally
        frequent in a bin the one with most training rows is taken, and of these the first. It refuses numbers.
    cv : int or None, default=5
        Folds of ``fit_transform``; fewer when the largest class has fewer rows. None gives the training rows what
        ``transform`` gives them.
    random_state : int, Generator, RandomState or None, default=None
        Draws folds and samples.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    cuts_ : list of float arrays, one a column
        The cuts, ascending; bins are closed on the left.
    means_ : list of float arrays of shape (n_bins, n_classes - 1) or (n_bins, 1), one a column
        Shares of the classes but the first, means of the numbers or of the ordered classes, or codes of the modes.
    missing_ : float array of shape (n_features, n_classes - 1) or (n_features, 1)
        What a missing value becomes.
    zero_ : float array of the shape of `missing_`
        What is subtracted: nothing when fitted on an array; when fitted on a sparse matrix what the value 0 becomes, so
        that zeros stay zeros.
    shares_ : float array of shape (n_classes,)
        Of "mode": the class shares of all training rows.
    origins_ : int array of shape (n_features_out,)
        The input column of each output column.

    See Also
    --------
    LineBins : Replaces values by the regression lines of their bins, for numbers.
    Discretize : Replaces values by the numbers of their bins.

    Notes
    -----
    Codes of modes are whole numbers, as the bins of :class:`tamis.discretize.Discretize` are. What counts states or
    splits columns (``mi``, ``mrmr``, ``nb(states)``, ``tree``) takes them as they are. With more than two classes they
    have no order: to what is linear or measures distances (``logistic``, ``svm``, ``knn``) give "shares".

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
    >>> BinMeans().fit(X, np.repeat([0.5, 2.5, 1.0], 20)).transform([[3.0], [30.0], [99.0]])
    array([[0.5],
           [2.5],
           [1. ]])
    """

    part: ClassVar[Part] = Part(
        "bin_means",
        positional=("min_rows",),
        search={"min_rows": choice(5, 10, 20, 50), "smooth": choice(False, True), "samples": choice(1, 5)},
        paper="Katz 2005",
        phrase=lambda a: f"puts {_PUT[a.pop('output')]} of optimal bins in place of the values",
    )
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_gain": [real(0, None, "left"), StrOptions({"auto"})],
        **BinLimits.CONSTRAINTS,
        "smooth": ["boolean"],
        "samples": [integer(1)],
        "output": [StrOptions(set(_PUT))],
        "cv": [integer(2), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        min_rows: int = 10,
        *,
        min_gain: float | Literal["auto"] = "auto",
        min_bins: int = 1,
        max_bins: int | None = None,
        max_rows: int | None = None,
        min_width: float = 0.0,
        max_width: float | None = None,
        smooth: bool = False,
        samples: int = 1,
        output: Output = "shares",
        cv: int | None = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.min_rows = min_rows
        self.min_gain = min_gain
        self.min_bins = min_bins
        self.max_bins = max_bins
        self.max_rows = max_rows
        self.min_width = min_width
        self.max_width = max_width
        self.smooth = smooth
        self.samples = samples
        self.output = output
        self.cv = cv
        self.random_state = random_state
        self.task = task

    def _settled_task(self) -> WantedTask:
        return "classify" if self.output == "mode" else super()._settled_task()

    def _task(self, y: Any) -> Task:
        if self.output == "mode" and "regress" in (self.task, self.task == "auto" and task_of(y)):
            raise TamisError(
                "bin_means(output=mode) is for classes, and the target holds numbers: take output=shares, which gives "
                "the mean of each bin"
            )
        return super()._task(y)

    def _learn(self, X: Matrix, y: Target = None) -> None:
        if self.output == "mode":
            self.shares_ = target_vectors(y, range(self.classes_.size)).mean(axis=0)
        super()._learn(X, y)

    def _find(self, X: Matrix, y: Target, rng: np.random.Generator) -> None:
        n_classes = 0 if is_numeric(y) else self.classes_.size
        method = Method(self.min_gain, BinLimits.of(self), self.smooth, n_classes)
        halves = [_half(y, rng) for _ in range(self.samples)] if self.samples > 1 else []
        found = found_bins(X, y, method, halves)
        self.cuts_ = found.cuts.apart()
        if self.output == "mode":
            means = self._modes(found.means, y)
        elif n_classes and self.output == "ordered":
            means = found.means @ np.arange(1.0, n_classes + 1)[:, None]
        else:
            # Of the class shares the first is left out: they add up to one.
            means = found.means[:, min(n_classes, 1) :]
        self.means_ = [means[start:stop].copy() for start, stop in pairwise(found.first)]
        self.origins_ = np.repeat(np.arange(X.shape[1]), self.missing_.shape[1])

    def _modes(self, shares: FloatArray, y: Target) -> FloatArray:
        """The code of the most frequent class in each row of class shares, which were found on rows of classes `y`."""
        # A fold has fewer rows of the classes that its test rows are of, which its modes would reveal.
        moved = shares + (self.shares_ - target_vectors(y, range(self.classes_.size)).mean(axis=0))
        tied = moved >= moved.max(axis=1, keepdims=True) - 1e-12
        found: FloatArray = np.where(tied, self.shares_, -1.0).argmax(axis=1)[:, None].astype(np.float64)
        return found

    def _vectors(self, y: Target) -> FloatArray:
        if self.output == "mode":
            return target_vectors(y, range(self.classes_.size))
        if self.output == "shares" or is_numeric(y):
            return super()._vectors(y)
        places: FloatArray = y[:, None] + 1.0
        return places

    def _of_missing(self, X: Matrix, y: Target) -> FloatArray:
        found = super()._of_missing(X, y)
        return self._modes(found, y) if self.output == "mode" else found

    def _of_fold(self, X: Matrix, y: Target, rng: np.random.Generator) -> Pieces:
        found = super()._of_fold(X, y, rng)
        # All folds have the same code for zero.
        return found._replace(zero=self.zero_) if self.output == "mode" else found

    def _shifted(self, y: Target) -> FloatArray:
        # Codes are not to be shifted.
        return np.zeros((y.size, 1)) if self.output == "mode" else super()._shifted(y)

    def _pieces(self) -> Pieces:
        return Pieces(self.cuts_, self.means_, self.missing_, self.zero_)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: those of the input, with ``=class`` behind them for more than two classes."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.missing_.shape[1] > 1:
            names = [f"{name}={label}" for name in names for label in self.classes_[1:]]
        return np.asarray(names, dtype=object)


def _half(y: Target, rng: np.random.Generator) -> np.ndarray:
    """Every second row of each class, in random order; of numbers one of two that follow each other in size."""
    strata = size_strata(y, 2) if is_numeric(y) else y
    order = rng.permutation(y.size)
    return order[np.argsort(strata[order], kind="stable")][::2]
