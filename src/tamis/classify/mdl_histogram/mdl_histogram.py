"""MDL histogram: axes are halved as often as that shortens the code of the class labels."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows, canonical, column_names
from tamis.classify.mdl_histogram.cells import Cells
from tamis.classify.mdl_histogram.columns import Axes, Columns, column_of
from tamis.classify.mdl_histogram.division import divided, division
from tamis.classify.mdl_histogram.figure import Plane, chosen, figure

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Most halvings of an axis, and most that are tried at once: together they stay within the finest intervals.
_DEEPEST, _FURTHEST = 24, 5


class MDLHistogram(WeightedClassifier):
    """Class shares in the cells of a grid whose axes are divided so that the code of the labels is the shortest.

    Axis i is divided into 2^d_i equal intervals between the lowest and the highest training value; with d_i = 0 the
    column is not used. Given the rows, the classes of n rows take

        log2 R + log2 C(R, R_M) + R_P log2 c + sum_{mixed cells r} (n_r H_r + (c - 1)/2 log2 n_r)
        + log2 m + log2 C(m, m+) + log2* d + d H(d_1/d, ..., d_m/d) - (k - 1)/2 log2 d + log2 d
        + sum_{i <= k - 2} log2+ d_i

    bits, for R cells with rows (R_P of one class, R_M of several, n_r rows and class entropy H_r in cell r), c
    classes, m columns of which m+ are divided, and d = sum d_i. See
    :func:`~tamis.classify.mdl_histogram.code_length.axes_bits` for k.

    Parameters
    ----------
    ahead : int, default=3
        Most halvings of an axis in one step, 1 to 5; more than one only where one shortens the code for no axis.
        Classes that lie symmetrically on an axis are not separated by its halves, but by its quarters.
    uphill : int, default=2
        Steps in a row that need not make the code shorter before the refining ends.
    max_depth : int, default=20
        Most halvings of an axis, 1 to 24.
    alpha : float, default=0.5
        Rows of each class added to every cell in ``predict_proba``; one half corresponds to the term
        (c - 1)/2 log2 n_r, 0 gives the plain shares.

    Attributes
    ----------
    classes_ : array
    depths_ : int array of shape (n_features,)
        d_i, how often each axis is halved: a soft selection of columns.
    used_ : bool array of shape (n_features,)
        The columns that are divided.
    bits_, undivided_bits_ : float
        Length of the code, and that before any division.
    halved_ : int array
        The columns whose axis was halved, in order; ``depths_`` counts them.
    low_, high_ : float arrays of shape (n_features,)
        The ends of the axes; NaN for a column without a known value.
    keys_ : list of int arrays
    weight_ : list of float arrays of shape (n_cells, n_classes)
        The cells after each halving and the weight of their training rows, as in
        :class:`~tamis.classify.mdl_histogram.cells.Cells`; ``weight_[-1]`` is the histogram itself.

    Notes
    -----
    The search is greedy: from the undivided rows on, the axis whose refinement makes the code shortest is refined; then
    axes are coarsened while that helps; and so on until neither does
    (:func:`~tamis.classify.mdl_histogram.division.division`). A row in a cell without training rows gets the shares of
    the smallest earlier cell around it that has some. Values beyond the ends of an axis lie in its outermost intervals.

    Missing values are an interval of their own on a divided axis. A row of weight 2 counts as two rows.

    References
    ----------
    Kudo and Tenmoto (2005), "Optimal division for feature selection and classification".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import MDLHistogram
    >>> X = np.column_stack([np.linspace(0, 1, 64), np.tile([0.0, 1.0], 32)])
    >>> model = MDLHistogram().fit(X, np.where(X[:, 0] < 0.25, "low", "high"))
    >>> model.depths_
    array([2, 0])
    >>> model.predict([[0.2, 0.5], [0.3, 0.5]])
    array(['low', 'high'], dtype='<U4')
    """

    part: ClassVar[Part] = Part(
        "mdl_histogram",
        positional=("ahead",),
        search={"ahead": choice(1, 3)},
        paper="Kudo and Tenmoto 2005",
        phrase="a histogram whose cells the description length divides",
        limits=Limits(class_rows=3),
        slow=True,
        scale_invariant=True,
        counterpart="tree",
    )
    gives_probabilities = True
    accepts_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ahead": [integer(1, _FURTHEST)],
        "uphill": [integer(0)],
        "max_depth": [integer(1, _DEEPEST)],
        "alpha": [real(0, None, "left")],
    }

    def __init__(self, ahead: int = 3, *, uphill: int = 2, max_depth: int = 20, alpha: float = 0.5) -> None:
        self.ahead = ahead
        self.uphill = uphill
        self.max_depth = max_depth
        self.alpha = alpha

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        X, y, counts, _ = bearing_rows(X, y, sample_weight, self.classes_, "mdl_histogram")
        n_classes = self.classes_.shape[0]
        columns = Columns(X, y, counts, n_classes, int(self.ahead))
        start = divided(columns, ())
        found = division(columns, start, uphill=int(self.uphill), max_depth=int(self.max_depth))
        self.bits_, self.undivided_bits_ = found.bits, start.bits
        self.halved_ = np.array(found.halved, dtype=np.int64)
        self.depths_ = np.bincount(self.halved_, minlength=X.shape[1])
        self.used_ = self.depths_ > 0
        self.low_, self.high_ = columns.axes
        _, self.keys_, self.weight_ = Cells.of(found.halved, columns.places, y, counts, n_classes)

    def plot(self, columns: tuple[int, int] | None = None) -> "Figure":
        """Draw the cells in the plane of two columns.

        Cells have the colour of their class, the stronger the purer they are; a pale part has no training rows and is
        predicted by the cell it was cut from. Hover shows the counts of a cell.

        Parameters
        ----------
        columns : pair of int, optional
            The columns to show, counted from 0; by default the two that are halved most often. Along other divided
            columns the counts are added.

        Returns
        -------
        plotly.graph_objects.Figure
        """
        check_is_fitted(self)
        pair, names = chosen(self.depths_, columns), column_names(self)
        plane = Plane.of(self._cells(), pair, Axes(self.low_, self.high_))
        return figure(plane, [names[j] if j >= 0 else None for j in pair], self.classes_)

    def _cells(self) -> Cells:
        return Cells(self.halved_.tolist(), self.keys_, self.weight_)

    def _decision(self, X: Any) -> FloatArray:
        cells = self._cells()
        first = np.cumsum([0, *(len(one) for one in cells.weight)])
        axes, used = Axes(self.low_, self.high_), np.flatnonzero(self.used_)
        own = canonical(X[:, used].tocsc()) if sp.issparse(X) else X[:, used]
        places = {j: axes.places(column_of(own, place), j) for place, j in enumerate(used.tolist())}
        last, cell = cells.find(places.__getitem__, X.shape[0])
        shares = np.concatenate(cells.weight) + self.alpha
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray(shares[first[last] + cell])
