"""Boosted lasso for classes: a point on the path of l1 logistic regression or of the 1-norm SVM."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.search_range import geom
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import bearing_rows, column_names, encode_labels
from tamis.margins.boosted_lasso.estimator import Prepared
from tamis.margins.boosted_lasso.figure import figure
from tamis.margins.boosted_lasso.online import OnlineBoostedLasso
from tamis.trees.figure import COLOURS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class BLasso(OnlineBoostedLasso, WeightedClassifier):
    """Linear evidence from few columns, at a point of the path of an l1 penalty, which also selects these columns.

    The boosted lasso follows the solutions of::

        mean loss + lambda (r |w|_1 + (1 - r) |w|^2 / 2)

    from w = 0 on, for columns in units of their deviation and an intercept that is not penalised. A step moves one
    weight by a fixed size. A backward step, which moves a weight towards 0, is taken where it lowers this sum;
    otherwise the step that lowers the loss most is taken, and lambda falls to what it gains. Several classes are fitted
    one against the rest.

    Parameters
    ----------
    k : int, optional
        Stop when this many columns are active; for several classes, at one share of their highest penalties. The path
        ends at 0.001 of the highest penalty, 0.01 with more columns than rows, and may have fewer.
    alpha : float, optional
        Stop at this penalty, as a share of the smallest that sets all weights to 0. With `k` the one that comes first
        counts, for each class.
    loss : {"logistic", "hinge", "squared", "huber"}, default="logistic"
        "hinge" is the 1-norm SVM; "squared" and "huber" fit -1 and 1, "squared" with far less work.
    l1_ratio : float, default=1.0
        The ratio r, above 0 and at most 1.
    step : float, default=0.05
        The size of a step: a change of the evidence for each deviation of a column.
    backward : bool, default=True
        False takes forward steps alone: forward stagewise fitting.
    stop : {"bic", "cv"}, default="bic"
        How the point is chosen without `k` and `alpha`. A column costs the larger of log n and 2 log p in BIC, for n
        rows and p columns. "cv" takes, of 40 shares between 1 and 0.001 (0.01 with more columns than rows), that with
        the smallest loss in cross-validation.
    cv : int, default=5
        Folds of "cv".
    max_steps : int, default=10000
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the folds of "cv".

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array of shape (n_classes,) or (1,)
    support_ : bool array of shape (n_features,)
        The columns with a weight in any class.
    scores_ : array of shape (n_features,)
        The share of the highest penalty at which each column enters a path; 0 for one that does not.
    order_ : int array of shape (n_features,)
        Columns in the order in which they enter; those that do not come last.
    path_ : tamis.margins.boosted_lasso.path.Path, or a list of one for each class
        All steps up to the stop, with penalty, loss, intercept and number of active columns after each.
    n_steps_ : array of shape (n_classes,) or (1,)
        Steps to the point in use.
    rows_ : GrowingColumns or KeptRows
        After `partial_fit`: sums over the rows so far, or the rows.
    shares_, cv_loss_ : arrays
        With "cv": the shares compared, largest first, and their mean loss over the folds.

    See Also
    --------
    Logistic : With l1, the same problem at one penalty.

    Notes
    -----
    Columns are scaled inside, so that a step means the same for each. At least one column is selected, unless all are
    constant. Probabilities are there for the logistic loss alone. A row of weight 2 counts like the row twice.

    References
    ----------
    Zhao and Yu (2005), "Boosted lasso"; Zhu, Rosset, Hastie and Tibshirani (2003), "1-norm support vector machines".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import BLasso
    >>> X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.0], [3.0, 2.0]])
    >>> model = BLasso(k=1).fit(X, ["low", "low", "high", "high"])
    >>> model.get_support(), model.predict([[0.5, 9.0], [2.5, 9.0]])
    (array([ True, False]), array(['low', 'high'], dtype='<U4'))
    """

    part: ClassVar[Part] = Part(
        "blasso",
        positional=("k", "alpha"),
        search={"alpha": geom(0.02, 0.8)},
        paper="Zhao and Yu 2005",
        phrase="the boosted lasso",
        # Logistic regression with l1 has the same solutions.
        searched=False,
    )

    def __init__(
        self,
        k: int | None = None,
        alpha: float | None = None,
        *,
        loss: Literal["logistic", "hinge", "squared", "huber"] | None = None,
        l1_ratio: float = 1.0,
        step: float = 0.05,
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
    def gives_probabilities(self) -> bool:  # type: ignore[override]
        """Whether there are probabilities: for the logistic loss."""
        return self._loss == "logistic"

    @property
    def _loss(self) -> str:
        return self.loss or "logistic"

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> Prepared:
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "blasso")
        return self._follow(estimators, X, self._targets(y), weight, y, self._loss)

    def _targets(self, y: Codes) -> list[FloatArray]:
        """Targets of -1 and 1: one for two classes, else one for each class."""
        ones = [1] if self.classes_.shape[0] == 2 else range(self.classes_.shape[0])
        return [np.where(y == one, 1.0, -1.0) for one in ones]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, beginning with the present weights.

        What an update does stands with :meth:`~tamis.regress.blasso.BLassoRegressor.partial_fit`. The squared loss
        needs sums over the rows; the others keep all rows and read them every time. The steps of the hinge loss, which
        is not differentiable, may end elsewhere than those of `fit`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Labels; a batch need not have all classes.
        classes : array, optional
            All classes; the first call needs them.
        sample_weight : array of shape (n_rows,), optional

        Examples
        --------
        >>> import numpy as np
        >>> from tamis.classify import BLasso
        >>> model = BLasso(alpha=0.5).partial_fit([[0.0, 1.0], [1.0, 2.0]], ["low", "low"], classes=["low", "high"])
        >>> model.partial_fit([[2.0, 1.0], [3.0, 2.0]], ["high", "high"]).predict([[0.5, 9.0], [2.5, 9.0]])
        array(['low', 'high'], dtype='<U4')
        """
        loss = self._loss
        known: Any = getattr(self, "classes_", None)
        X, y = self._arriving(X, y)
        if classes is None and known is None:
            raise TamisError("blasso: the first call of partial_fit needs all classes, classes=[...]")
        wanted = known if classes is None else encode_labels(np.asarray(classes), type(self).__name__)[0]
        if hasattr(self, "rows_") and not np.array_equal(wanted, known):
            raise TamisError(f"blasso: classes must stay {known.tolist()}; got {wanted.tolist()}")
        self.classes_ = wanted
        strange = np.setdiff1d(y, self.classes_)
        if strange.size:
            raise TamisError(f"blasso: class {strange.tolist()[0]!r} is not one of {self.classes_.tolist()}")
        targets = self._targets(np.searchsorted(self.classes_, y))
        self._add_rows(X, np.column_stack(targets), sample_weight, loss)
        self.coef_, self.intercept_ = self._update([(0.0, 1.0)] * len(targets), loss)
        return self

    def plot(self) -> "Figure":
        """A plotly figure: the weights along each path of ``path_``, with a line at the point in use."""
        check_is_fitted(self)
        titles = [str(one) for one in self.classes_] if self.n_steps_.size > 1 else [""]
        # The eighth colour is grey, which other columns have.
        return figure(self.path_, self.n_steps_, column_names(self), titles, COLOURS[:7])

    def _finish(self, prepared: Prepared) -> None:
        self.coef_, self.intercept_ = self._stop_at(prepared, self._loss)

    def _decision(self, X: Any) -> FloatArray:
        evidence = np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_)
        two = self.classes_.shape[0] == 2
        if self._loss != "logistic":
            return evidence[:, 0] if two else evidence
        if two:
            return expit(np.column_stack([-evidence, evidence]))
        return np.asarray(softmax(log_expit(evidence), axis=1))
