"""LineBins: values become the regression lines of their bins."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray, Matrix, Target
from tamis.bins.bin_transform import BinTransform
from tamis.bins.pieces import Lines, Pieces
from tamis.discretize.line_bins.found_lines import found_lines
from tamis.discretize.optimal.limits import BinLimits

#: The output in words.
_PUT = {"value": "regression line", "slope": "slope of the regression line"}


class LineBins(OneToOneFeatureMixin, BinTransform):
    """Cut each column into the bins that lines fit best, and replace each value by the regression line of its bin.

    For a target of numbers. With a_b + s_b x the regression line in bin b, the bins minimise
    ``sum_b (sum_{i in b} (y_i - a_b - s_b x_i)^2 + C)`` exactly, where C is `min_gain`. Equal values stay together. A
    value x of bin b becomes a_b + s_b x, or s_b. A linear model of such columns can follow any curve, with fewer bins
    than means (:class:`BinMeans`) need.

    A line is not continued beyond the training values of its bin: between two bins, and beyond the outermost, a value
    gets that of the nearest training value of its bin. A bin with a single value has the slope 0.

    As in :class:`BinMeans`, ``fit_transform`` gives each training row what the bins of the other folds give it, shifted
    so that the means of all rows agree. A missing value gets the mean target of the training rows in which the column
    is missing, or that of all rows if there are fewer than `min_rows` of them; its slope is 0.

    Parameters
    ----------
    min_rows : int, default=10
        Least number of rows in a bin.
    output : {"value", "slope"}, default="value"
        "value" is the line at the value, the paper's continuous transform, "slope" its slope, the discrete one.
    min_gain : float or "auto", default="auto"
        Cost of a bin, which one more bin must take off the squared error. "auto" is the error of a single bin divided
        by n - 1. That is little: columns of noise still get a cut for every 13 rows or so.
    min_bins, max_bins : int, default=1 and none
        The fewest and the most bins.
    max_rows : int, optional
        Largest number of rows in a bin.
    min_width, max_width : float, default=0.0 and none
        Least and largest difference of the highest and the lowest training value of a bin. BinLimits that no bins of a
        column keep to are an error, but a column of one value has one bin.
    cv : int or None, default=5
        Folds of ``fit_transform``; at most as many as there are rows. None gives the training rows what ``transform``
        gives them.
    random_state : int, Generator, RandomState or None, default=None
        Draws the folds.

    Attributes
    ----------
    cuts_ : list of float arrays, one a column
        The cuts, ascending; bins are closed on the left.
    slopes_ : list of float arrays of shape (n_bins,), one a column
        The slopes of the lines.
    ends_ : list of float arrays of shape (n_bins, 2), one a column
        The lowest and the highest training value of each bin.
    values_ : list of float arrays of shape (n_bins, 2), one a column
        The line at these two.
    missing_ : float array of shape (n_features, 1)
        What a missing value becomes.
    zero_ : float array of shape (n_features, 1)
        What is subtracted: nothing when fitted on an array; when fitted on a sparse matrix what the value 0 becomes, so
        that zeros stay zeros.

    See Also
    --------
    BinMeans : Means in place of lines; for classes too.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import LineBins
    >>> x = np.arange(40.0)
    >>> model = LineBins().fit(x[:, None], np.where(x < 20, x, 60 - 2 * x))
    >>> model.cuts_, model.slopes_
    ([array([19.5])], [array([ 1., -2.])])
    >>> model.transform([[3.5], [30.0], [99.0]])
    array([[  3.5],
           [  0. ],
           [-18. ]])
    """

    part: ClassVar[Part] = Part(
        "line_bins",
        positional=("min_rows",),
        search={"min_rows": choice(10, 20, 50), "output": choice("value", "slope")},
        paper="Katz 2005",
        phrase=lambda a: f"puts the {_PUT[a.pop('output')]} of optimal bins in place of the values",
        counterpart="bin_means",
    )
    tasks = ("regress",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "output": [StrOptions({"value", "slope"})],
        "min_gain": [real(0, None, "left"), StrOptions({"auto"})],
        **BinLimits.CONSTRAINTS,
        "cv": [integer(2), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        min_rows: int = 10,
        *,
        output: Literal["value", "slope"] = "value",
        min_gain: float | Literal["auto"] = "auto",
        min_bins: int = 1,
        max_bins: int | None = None,
        max_rows: int | None = None,
        min_width: float = 0.0,
        max_width: float | None = None,
        cv: int | None = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.min_rows = min_rows
        self.output = output
        self.min_gain = min_gain
        self.min_bins = min_bins
        self.max_bins = max_bins
        self.max_rows = max_rows
        self.min_width = min_width
        self.max_width = max_width
        self.cv = cv
        self.random_state = random_state

    def _find(self, X: Matrix, y: Target, rng: np.random.Generator) -> None:
        found = found_lines(X, y, self.min_gain, BinLimits.of(self))
        self.cuts_, self.slopes_, self.ends_, self.values_ = found.cuts, found.slopes, found.ends, found.values

    def _pieces(self) -> Pieces:
        if self.output == "slope":
            return Pieces(self.cuts_, [one[:, None] for one in self.slopes_], self.missing_, self.zero_)
        levels = [one[:, :1] for one in self.values_]
        return Pieces(self.cuts_, levels, self.missing_, self.zero_, Lines(self.slopes_, self.ends_))

    def _vectors(self, y: Target) -> FloatArray:
        return np.zeros((y.size, 1)) if self.output == "slope" else super()._vectors(y)
