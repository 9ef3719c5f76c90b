"""Corona: keep the variables whose correlations separate the classes, by elimination of one variable at a time."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.sparse import issparse

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Arguments, Part, percent
from tamis.base.search_range import geom
from tamis.base.selector import Selection, WeightedSelector
from tamis.base.shared_fit import SharedFit
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows, row_terms
from tamis.incremental.elimination import Path, eliminate, size_to_keep
from tamis.margins.elimination import ByColumns, ByNewton, ByRows, Fit, warn_unsettled
from tamis.margins.pairs import suits_columns
from tamis.margins.variable_elimination import Aggregate, VariableWeights


def _phrase(a: Arguments) -> str:
    k, share = a.pop("k"), a.pop("fraction")
    left = percent(0.5 if share is None else share) if k is None else k
    return (
        "drops the variable whose features have the smallest largest weight in a linear support vector machine, "
        f"until {left} are left"
    )


class Corona(SharedFit, WeightedSelector):
    """Eliminate variables whose pairs are the columns, such as the correlations of the sensors of a time series.

    Yang, Yoon and Shahabi's method. A row holds the upper triangle of the correlation matrix of V variables, which
    has V (V - 1) / 2 columns (:meth:`tamis.series.Series.correlations`). A round fits a linear SVM for each pair of
    classes; the weight of a column is the mean of its ``|w|`` over these machines, and that of a variable is

        weight(a) = max_b weight(a, b).

    The variable of the smallest weight is dropped with all its columns. Two variables are equal when their own pair is
    the largest of both: the paper leaves open which goes then; here it is the one with the smaller mean weight, and of
    quite equal ones the last. The paper's 1 on the diagonal of the weights is left out: it would make all variables
    with weights below 1 equal.

    Parameters
    ----------
    k : int, optional
        Select `k` variables; all of them when there are fewer. Of pairs at least 2 variables.
    fraction : float, optional
        Select this share of the variables, rounded up. With neither given, half of them.
    columns : "pairs", int or array of shape (n_features,) or (n_features, 2), default="pairs"
        The variables of the columns: pairs 1-2, 1-3, ..., 2-3, ...; a number of neighbouring columns of each variable,
        such as 3 for the coefficients of :meth:`tamis.series.Series.autoregression`; or the name of the variable, or of
        both, for each column.
    aggregate : {"max", "mean"}, default="max"
        The weight of a variable: that of its largest column, or the mean.
    step : int or float, default=1
        Variables dropped in a round: a number, or a share of the remaining ones, rounded down but at least one.
    C : float, default=1.0
        Cost of a unit of slack; ``inf`` gives a hard margin.
    class_weight : {"balanced"}, optional
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: all classes weigh the same.

    Attributes
    ----------
    variable_names_ : array of shape (n_variables,)
        The names given as `columns`, in order of their first column, else numbers from 0.
    variable_order_ : int array of shape (n_variables,)
        Variables from best to worst: those of the last machine by weight, then the dropped ones, the last first.
    variable_support_ : bool array of shape (n_variables,)
    order_ : int array of shape (n_features,)
        Columns from best to worst: by the later of their variables in `variable_order_`.
    sizes_ : int array of shape (n_rounds,)
        Number of variables in each round.

    See Also
    --------
    RFE : The same by columns.
    tamis.series.Series : Where such columns come from.

    Notes
    -----
    A machine starts from the one before (:class:`~tamis.margins.elimination.ByNewton`). Where there are more columns
    than rows, and for sparse rows or a hard margin, it is solved on the Gram matrix of the rows, from which the
    products of dropped columns are subtracted. One elimination serves every `k`. Sample weights multiply C row by row:
    weight 2 counts as the row twice.

    References
    ----------
    Yang, Yoon and Shahabi (2005), A supervised feature subset selection technique for multivariate time series.

    Examples
    --------
    Three variables; the classes differ in the correlation of the first with the third:

    >>> X = np.array([[0.1, 0.9, 0.2], [0.0, 0.8, 0.1], [0.1, -0.7, 0.2], [0.0, -0.9, 0.1]])
    >>> found = Corona(2).fit(X, [0, 0, 1, 1])
    >>> found.variable_support_, found.get_support(indices=True)
    (array([ True, False,  True]), array([1]))
    """

    part: ClassVar[Part] = Part(
        "corona",
        positional=("k",),
        search={"k": geom(2, 1_000), "C": geom(1e-3, 1e4)},
        paper="Yang, Yoon and Shahabi 2005",
        phrase=_phrase,
        # Ordinary columns are not pairs of anything.
        searched=False,
    )
    #: One elimination down to the smallest size serves all.
    shared_parameters = ("k", "fraction")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "columns": [StrOptions({"pairs"}), integer(1), "array-like"],
        "aggregate": [StrOptions({"max", "mean"})],
        "step": [integer(1), real(0, 1)],
        "C": [real(0, np.inf, "right")],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        fraction: float | None = None,
        columns: Literal["pairs"] | int | Any = "pairs",
        aggregate: Aggregate = "max",
        step: float = 1,
        C: float = 1.0,
        class_weight: str | None = None,
    ) -> None:
        self.k = k
        self.fraction = fraction
        self.columns = columns
        self.aggregate = aggregate
        self.step = step
        self.C = C
        self.class_weight = class_weight

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[np.ndarray, np.ndarray, Path, list[Fit]]:
        names, members = variables_of(self.columns, X.shape[1])
        sizes = {one._size(members) for one in estimators}
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "Corona")
        unit, _ = row_terms(y, weight, class_weight=self.class_weight, ridge=0.0)
        remaining = self._machines(X)(X, y, self.C * unit)
        weigh = VariableWeights(remaining, members, self.aggregate)
        return names, members, eliminate(weigh, names.size, self.step, sizes), weigh.fits

    def _finish(self, prepared: tuple[np.ndarray, np.ndarray, Path, list[Fit]]) -> Selection:
        self.variable_names_, members, path, fits = prepared
        size = self._size(members)
        rounds, (self.variable_order_, _) = path.down_to(size)
        self.sizes_ = np.array([one.size for one in rounds])
        warn_unsettled("Corona", "variables", fits[: len(rounds)], self.sizes_, self.C)
        places = np.empty_like(self.variable_order_)
        places[self.variable_order_] = np.arange(places.size)
        self.variable_support_ = places < size
        later, earlier = places[members].max(axis=1), places[members].min(axis=1)
        return Selection.first(np.lexsort((earlier, later)), int((later < size).sum()))

    def _machines(self, X: Any) -> type[ByColumns] | type[ByNewton] | type[ByRows]:
        """The quickest way to solve the machines."""
        if np.isinf(self.C):
            return ByRows
        if not issparse(X) and X.shape[1] <= X.shape[0]:
            return ByNewton
        return ByColumns if suits_columns(X) else ByRows

    def _size(self, members: np.ndarray) -> int:
        """The number of variables to select."""
        n_variables, least = int(members.max()) + 1, members.shape[1]
        if self.k is not None and self.k < least:
            raise TamisError(
                f"corona: k must be at least {least}, since a column belongs to a pair of variables; got 1"
            )
        return max(least, size_to_keep(self.k, self.fraction, n_variables))


def variables_of(columns: Any, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Names of the variables, and the numbers of the one or two variables of each column.

    Examples
    --------
    >>> variables_of("pairs", 3)[1].tolist(), variables_of(2, 4)[1].ravel().tolist()
    ([[0, 1], [0, 2], [1, 2]], [0, 0, 1, 1])
    >>> names, members = variables_of(["left", "left", "right"], 3)
    >>> names.tolist(), members.ravel().tolist()
    (['left', 'right'], [0, 0, 1])
    """
    if isinstance(columns, str):
        n = (1 + round(np.sqrt(1 + 8 * n_columns))) // 2
        if n * (n - 1) // 2 != n_columns:
            raise TamisError(
                f"corona: {n_columns} columns are not the pairs of any number of variables, of which {n} have "
                f"{n * (n - 1) // 2}; leave out no column before corona, or say what belongs together by `columns`"
            )
        return np.arange(n), np.column_stack(np.triu_indices(n, 1))
    if np.ndim(columns) == 0:
        if n_columns % columns:
            raise TamisError(f"corona: {n_columns} columns cannot be shared out to variables with {columns} each")
        return np.arange(n_columns // columns), (np.arange(n_columns) // columns)[:, None]
    given = np.asarray(columns)
    if given.shape not in ((n_columns,), (n_columns, 2)):
        raise TamisError(
            f"corona: columns must name one or two variables for each of {n_columns} columns; got shape {given.shape}"
        )
    names, first, codes = np.unique(given, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(order.size)
    members = places[codes].reshape(n_columns, -1)
    if members.shape[1] == 2 and (members[:, 0] == members[:, 1]).any():
        raise TamisError("corona: columns pairs a variable with itself, whose correlation is always 1; leave it out")
    return names[order], members
