"""RFE: fit a linear model, drop the columns with the smallest weights, and refit, until few are left."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Arguments, Part, percent
from tamis.base.search_range import geom
from tamis.base.selector import Selection, WeightedSelector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import BOTH, Task, WantedTask, is_numeric, task_of
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows, row_terms, weighted_numbers
from tamis.incremental.elimination import Path, eliminate, size_to_keep
from tamis.margins.elimination import ByColumns, ByRows, Fit, Machines, warn_unsettled
from tamis.margins.pairs import suits_columns
from tamis.margins.ridge_elimination import RidgeWeights


def _phrase(a: Arguments) -> str:
    k, share = a.pop("k"), a.pop("fraction")
    left = "one is" if k == 1 else f"{percent(0.5 if share is None else share) if k is None else k} are"
    return (
        f"drops the features of the smallest weights in a linear support vector machine step by step until {left} left"
    )


class RFE(SharedFit, WeightedSelector):
    """Recursive feature elimination: drop the columns of the smallest weights in a linear model, refit, and repeat.

    Guyon, Weston, Barnhill and Vapnik's method. A round fits a linear SVM on the remaining columns, with one weight
    vector w_ab per pair of classes, and drops the columns with the smallest sum over the pairs of w_ab,j^2; of equals
    the later ones. With a target of numbers the weights are those of ridge regression, which minimises
    ``|w|^2 / 2 + C sum_i (y_i - w.x_i - b)^2``, and the columns with the smallest w_j^2 are dropped. The weights depend
    on the scale of the columns: standardise columns of different units first.

    Parameters
    ----------
    k : int, optional
        Select `k` columns; all of them when there are fewer.
    fraction : float, optional
        Select this share of the columns, rounded up. With neither given, half of them.
    step : int or float, default=0.1
        Columns dropped in a round: a number, or a share of the remaining ones, rounded down but at least one. The last
        round stops at `k`.
    C : float, default=1.0
        Cost of a unit of slack, or of a squared error; ``inf`` gives a hard margin, or least squares.
    class_weight : {"balanced"}, optional
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: all classes weigh the same.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    order_ : int array of shape (n_features,)
        Column numbers from best to worst: first those of the last model by weight, then the dropped ones, the last
        dropped first.
    scores_ : array of shape (n_features,)
        Number of columns ranked below.
    sizes_ : int array of shape (n_rounds,)
        Number of columns in each round.
    n_support_ : int array of shape (n_rounds,)
        Number of support vectors in each round, when an SVM is solved on the Gram matrix.

    See Also
    --------
    Importance : Elimination with any model.

    Notes
    -----
    The SVMs are solved on the Gram matrix of the rows, from which the products of dropped columns are subtracted: a
    round costs little more than a pass over the remaining columns. They are solved to the optimum, since elimination
    magnifies errors: on 7,000 genes weights that are off by 0.0003 end in quite other columns. Only many rows with few
    values each go to liblinear, as in ``svm``, whose weights are exact to about a thousandth. Ridge regression is
    solved on the smaller of the rows' and the columns' products, which follow the dropped columns too.

    The sizes of the rounds depend on `step` and the number of columns only. So one elimination serves every `k`: it
    selects what remains after the last full round and the best of those that the next round drops. A share of 0.1 takes
    7,000 columns down to one in about 80 rounds.

    Sample weights multiply C row by row: weight 2 counts as the row twice, weight 0 as no row.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import RFE
    >>> X = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [0.0, 4.0, 3.0], [1.0, 5.0, 3.0]])
    >>> found = RFE(1).fit(X, [0, 0, 1, 1])
    >>> found.get_support(indices=True), found.order_, found.sizes_
    (array([1]), array([1, 0, 2]), array([3, 2]))
    >>> RFE(1).fit(X, [0.5, 1.5, 0.0, 1.0]).order_
    array([0, 1, 2])
    """

    part: ClassVar[Part] = Part(
        "rfe",
        positional=("k",),
        search={"k": geom(1, 10_000), "C": geom(1e-3, 1e4)},
        paper="Guyon, Weston, Barnhill and Vapnik 2002",
        phrase=_phrase,
        suits=("wide",),
    )
    #: One elimination down to the smallest size serves all.
    shared_parameters = ("k", "fraction")
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "step": [integer(1), real(0, 1)],
        "C": [real(0, np.inf, "right")],
        "class_weight": [StrOptions({"balanced"}), None],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        fraction: float | None = None,
        step: float = 0.1,
        C: float = 1.0,
        class_weight: str | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.k = k
        self.fraction = fraction
        self.step = step
        self.C = C
        self.class_weight = class_weight
        self.task = task

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> tuple[Path, list[Fit]]:
        sizes = {one._size(X.shape[1]) for one in estimators}
        if is_numeric(y):
            X, y, weight, _ = weighted_numbers(X, y, sample_weight, "rfe")
            return eliminate(RidgeWeights(X, y, weight, 0.5 / self.C), X.shape[1], self.step, sizes), []
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "RFE")
        unit, _ = row_terms(y, weight, class_weight=self.class_weight, ridge=0.0)
        remaining = (ByColumns if suits_columns(X) and np.isfinite(self.C) else ByRows)(X, y, self.C * unit)
        machines = Machines(remaining, X.shape[1])
        path = eliminate(machines, X.shape[1], self.step, sizes)
        return path, machines.fits

    def _finish(self, prepared: tuple[Path, list[Fit]]) -> Selection:
        size = self._size(self.n_features_in_)
        path, fits = prepared
        rounds, (order, _) = path.down_to(size)
        self.sizes_ = np.array([one.size for one in rounds])
        fits = fits[: len(rounds)]
        if fits:
            warn_unsettled("RFE", "columns", fits, self.sizes_, self.C)
        support = [one.n_support for one in fits if one.n_support is not None]
        if support:
            self.n_support_ = np.array(support)
        return Selection.first(order, size)

    def _settled_task(self) -> WantedTask:
        return super()._settled_task() if self.class_weight is None else "classify"

    def _task(self, y: Any) -> Task:
        if self.class_weight is not None and "regress" in (self.task, task_of(y)):
            raise TamisError("rfe: class_weight is for classes, and the target holds numbers")
        return super()._task(y)

    def _size(self, n_features: int) -> int:
        return size_to_keep(self.k, self.fraction, n_features)
