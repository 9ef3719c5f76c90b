"""Boosted lasso: a point on the path of the lasso, which is followed by small steps forward and backward."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.search_range import geom
from tamis.base.task import numeric_target
from tamis.base.types import FloatArray
from tamis.base.validation import centre_and_scale, column_names, weighted_numbers
from tamis.margins.boosted_lasso.estimator import Prepared
from tamis.margins.boosted_lasso.figure import figure
from tamis.margins.boosted_lasso.growing import GrowingColumns
from tamis.margins.boosted_lasso.online import OnlineBoostedLasso
from tamis.margins.linear import LinearPredictions
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class _Prepared(NamedTuple):
    """Zero and unit of the target, and its path."""

    zero: float
    unit: float
    path: Prepared


class BLassoRegressor(LinearPredictions, OnlineBoostedLasso, WeightedRegressor):
    """Linear prediction from few columns, at a point of the lasso's path, which also selects these columns.

    The boosted lasso follows the solutions of::

        mean loss + lambda (r |w|_1 + (1 - r) |w|^2 / 2)

    from w = 0 on, for columns and a target in units of their deviation. A step moves one weight by a fixed size. A
    backward step, which moves a weight towards 0, is taken where it lowers this sum; otherwise the step that lowers the
    loss most is taken, and lambda falls to what it gains. As the size goes to 0 the path goes to the lasso's.

    Parameters
    ----------
    k : int, optional
        Stop when this many columns are active. The path ends at 0.001 of the highest penalty, 0.01 with more columns
        than rows, and may have fewer.
    alpha : float, optional
        Stop at this penalty, as a share of the smallest that sets all weights to 0, as for
        :class:`~tamis.regress.lasso.Lasso`. With `k` the one that comes first counts.
    loss : {"squared", "huber"}, default="squared"
        Huber's loss is linear for residuals above 1.345 robust deviations of the target.
    l1_ratio : float, default=1.0
        The ratio r, above 0 and at most 1; below 1 the path is that of the elastic net.
    step : float, default=0.01
        The size of a step: a change of the prediction, in deviations of the target, for each deviation of a column.
        Penalties below about half a step are not reached.
    backward : bool, default=True
        False takes forward steps alone: forward stagewise fitting, which departs from the lasso where columns that
        entered early should leave.
    stop : {"bic", "cv"}, default="bic"
        How the point is chosen without `k` and `alpha`. A column costs the larger of log n and 2 log p in BIC, for n
        rows and p columns. "cv" takes, of 40 shares between 1 and 0.001 (0.01 with more columns than rows), that with
        the smallest loss in cross-validation.
    cv : int, default=5
        Folds of "cv", stratified by the size of the target.
    max_steps : int, default=10000
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the folds of "cv".

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    support_ : bool array of shape (n_features,)
        The columns with a weight.
    scores_ : array of shape (n_features,)
        The share of the highest penalty at which each column enters the path; 0 for one that does not.
    order_ : int array of shape (n_features,)
        Columns in the order in which they enter; those that do not come last.
    path_ : tamis.margins.boosted_lasso.path.Path
        All steps up to the stop, with penalty, loss and number of active columns after each.
    n_steps_ : array of shape (1,)
        Steps to the point in use; ``path_.coef(n_steps_[0])`` are its weights for standardised columns and target.
    rows_ : GrowingColumns or KeptRows
        After `partial_fit`: sums over the rows so far, or the rows.
    shares_, cv_loss_ : arrays
        With "cv": the shares compared, largest first, and their mean loss over the folds.

    See Also
    --------
    Lasso : The same problem at one penalty, solved by coordinate descent.

    Notes
    -----
    Columns are scaled inside, so that a step means the same for each. At least one column is selected, unless all are
    constant. A row of weight 2 counts like the row twice.

    References
    ----------
    Zhao and Yu (2005), "Boosted lasso".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import BLassoRegressor
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> model = BLassoRegressor(alpha=0.25).fit(X, [7.0, 11.0, 7.0, 11.0])
    >>> model.coef_.round(6), model.get_support()
    (array([1.5, 0. ]), array([ True, False]))
    """

    part: ClassVar[Part] = Part(
        "blasso",
        positional=("k", "alpha"),
        search={"alpha": geom(0.02, 0.8)},
        paper="Zhao and Yu 2005",
        phrase="the boosted lasso",
        # The lasso has the same solutions.
        searched=False,
    )

    def __init__(
        self,
        k: int | None = None,
        alpha: float | None = None,
        *,
        loss: Literal["squared", "huber"] | None = None,
        l1_ratio: float = 1.0,
        step: float = 0.01,
        backward: bool = True,
        stop: Literal["bic", "cv"] = "bic",
        cv: int = 5,
        max_steps: int = 10_000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            k,
            alpha,
            loss=loss,
            l1_ratio=l1_ratio,
            step=step,
            backward=backward,
            stop=stop,
            cv=cv,
            max_steps=max_steps,
            random_state=random_state,
        )

    @property
    def _loss(self) -> str:
        if self.loss in ("logistic", "hinge"):
            raise TamisError(f"blasso: the loss {self.loss} is for classes; take squared or huber")
        return self.loss or "squared"

    def _prepare(
        self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None
    ) -> _Prepared:
        loss = self._loss
        X, y, weight, _ = weighted_numbers(X, y, sample_weight, "blasso")
        zero, unit = (_robust if loss == "huber" else centre_and_scale)(y, weight)
        y = (y - zero) / unit
        return _Prepared(zero, unit, self._follow(estimators, X, [y], weight, y, loss))

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows, beginning with the present weights.

        The steps that lower the penalised loss of all rows so far most are taken, forward and backward, until none
        lowers it. The penalty is `alpha` times the smallest that sets all weights to 0; like the deviations of columns
        and target, that one is found anew from all rows so far. Steps end about where those of `fit` on all rows do,
        mostly within two steps. With `k`, BIC or ``backward=False`` the path is followed again, and the result is that
        of `fit`. "cv" is refused.

        For squared error sums stand in for the rows, exact but for rounding. The rows are kept beside them until they
        take more than 256 MB and more than the products of all columns with all, which then replace them
        (``rows_.keeps_rows``). Huber's loss keeps all rows and reads them every time. Rows and sums are part of the
        model and of its file.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Notes
        -----
        After an update with `alpha`, ``path_`` has the steps of this update, and there are no ``scores_`` and
        ``order_``, which belong to a path from no column on. `fit` keeps no rows: an update after it begins with the
        new rows alone, and warns.

        Examples
        --------
        >>> import numpy as np
        >>> from tamis.regress import BLassoRegressor
        >>> model = BLassoRegressor(alpha=0.25).partial_fit([[-1.0, 1.0], [1.0, 1.0]], [7.0, 11.0])
        >>> model.partial_fit([[-1.0, -1.0], [1.0, -1.0]], [7.0, 11.0]).coef_.round(6)
        array([1.5, 0. ])
        """
        loss = self._loss
        X, y = self._arriving(X, y)
        self._add_rows(X, numeric_target(y, "blasso")[:, None], sample_weight, loss)
        rows = self.rows_
        if isinstance(rows, GrowingColumns):
            zero, unit = rows.spread(0)
        else:
            zero, unit = _robust(rows.targets[:, 0], rows.weight)
        weights, intercepts = self._update([(zero, unit)], loss)
        self.coef_ = unit * weights[0]
        self.intercept_ = zero + unit * float(intercepts[0])
        return self

    def plot(self) -> "Figure":
        """A plotly figure: the weights along ``path_``, with a line at the point in use."""
        check_is_fitted(self)
        # The eighth colour is grey, which other columns have.
        return figure(self.path_, self.n_steps_, column_names(self), [""], COLOURS[:7])

    def _finish(self, prepared: _Prepared) -> None:
        weights, intercepts = self._stop_at(prepared.path, self._loss)
        self.coef_ = prepared.unit * weights[0]
        self.intercept_ = prepared.zero + prepared.unit * float(intercepts[0])


def _robust(y: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Median, and the median distance from it in units of a normal deviation; the deviation where that is 0."""
    middle = float(np.quantile(y, 0.5, weights=weight, method="inverted_cdf"))
    spread = float(np.quantile(np.abs(y - middle), 0.5, weights=weight, method="inverted_cdf"))
    return middle, 1.4826 * spread if spread > 0 else centre_and_scale(y, weight)[1]
