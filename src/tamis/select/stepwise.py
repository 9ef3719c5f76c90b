"""Stepwise regression: columns enter and leave a linear model by their partial F tests."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import Cut
from tamis.base.errors import TamisError
from tamis.base.part import Part
from tamis.base.selector import Selection, WeightedSelector
from tamis.base.task import BOTH, Task, WantedTask, is_numeric
from tamis.base.types import FloatArray
from tamis.subsets.stepwise_search import Step, stepwise_search


class Stepwise(WeightedSelector):
    """Select by stepwise regression: columns enter and leave a linear model by their partial F tests.

    The search begins with no column. In each step the column of the model with the smallest partial F leaves if its
    p-value is above `p_remove`. If none leaves, the column outside with the largest partial F enters if its p-value is
    at most `p_enter`. The search ends when no column enters.

    The target is fitted by least squares with an intercept: numbers as they are, two classes by their code 0 and 1,
    more by an indicator for each. With E, the products of the residuals of the m independent targets, a column changes
    Wilks' lambda by

        L = det(E with the column) / det(E without it),

    and its partial F is (1 - L) / L (n - k - m) / m, of m and n - k - m degrees of freedom, for n rows and k columns
    with this one. Of K classes m is K - 1. For numbers and two classes this is the usual F of regression, the square
    of a coefficient over its standard error; for more it is that of stepwise discriminant analysis.

    Parameters
    ----------
    p_enter : float, default=0.05
        The largest p-value at which a column enters.
    p_remove : float, default=0.1
        The p-value above which a column leaves; at least `p_enter`, or else a column could enter and leave for ever.
    k : int, optional
        The most columns; a model that has as many takes no other one until one leaves.
    at_least : int, default=1
        When the model has fewer columns, this many are selected with a warning.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        Partial F at the end: of a column in the model, of leaving it; of others, of entering it. It is 0 for constants
        and for combinations of columns in the model.
    pvalues_ : float array of shape (n_features,)
        Their p-values. They do not know of the search: the best of many useless columns has a small one.
    order_ : int array of shape (n_features,)
        The columns of the model by falling score, then the others.
    chosen_ : int array
        The columns of the model, as they entered; empty if none did.
    steps_ : list of Step
        Each step: the column, whether it enters, its partial F and p-value.

    See Also
    --------
    SFS : Adds columns by the cross-validated score of any classifier.
    BestFirst : With ``measure="bic"`` a search by the Bayesian information criterion of the same linear model.

    Notes
    -----
    A row of weight 2 counts as two rows, in the degrees of freedom too. A column of which the model leaves less than
    1e-7 does not enter; of equal columns the first one does. A fit that leaves less than 1e-10 of a target counts as
    leaving that, so that nothing enters a perfect model. Of wide data only the correlations of columns that were in the
    model are kept. Sparse columns stay sparse. Missing values need ``impute`` in front, text columns ``encode``.

    The selection does not depend on the scales of the columns. Many columns enter by chance where there are many:
    `p_enter` is the level of one test, not of the search.

    References
    ----------
    Efroymson (1960), "Multiple regression analysis"; Jennrich (1977), "Stepwise discriminant analysis". It is one of
    the selections that Fu, Fu and Sarac (2005), "A hybrid cluster tree for variable selection", compare.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Stepwise
    >>> X, y = np.random.default_rng(0).normal(size=(100, 5)), np.repeat([0, 1], 50)
    >>> X[:, 1] += 2 * y
    >>> X[:, 4] = X[:, 1] + 0.5 * X[:, 3]
    >>> found = Stepwise().fit(X, y)
    >>> found.get_support(indices=True), [(step.column, step.enters) for step in found.steps_]
    (array([1]), [(1, True)])
    """

    part: ClassVar[Part] = Part(
        "stepwise",
        positional=("p_enter", "p_remove"),
        paper="Efroymson 1960; Jennrich 1977",
        phrase="selects features by stepwise regression, entering at p = {p_enter} and leaving at p = {p_remove}",
        searched=False,
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "p_enter": [real(0, 1)],
        "p_remove": [real(0, 1, "right")],
        "k": [integer(1), None],
        "at_least": [integer(0)],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }
    tasks: ClassVar[tuple[Task, ...]] = BOTH

    def __init__(
        self,
        p_enter: float = 0.05,
        p_remove: float = 0.1,
        *,
        k: int | None = None,
        at_least: int = 1,
        task: WantedTask = "auto",
    ) -> None:
        self.p_enter = p_enter
        self.p_remove = p_remove
        self.k = k
        self.at_least = at_least
        self.task = task

    @property
    def steps_(self) -> list[Step]:
        """The steps of the search, in order."""
        check_is_fitted(self)
        return [Step(*step) for step in self._steps]

    def _select(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> Selection:
        if self.p_remove < self.p_enter:
            raise TamisError(f"stepwise: p_remove={self.p_remove} must not be below p_enter={self.p_enter}")
        targets = y[:, None] if is_numeric(y) else (np.arange(self.classes_.size) == y[:, None]).astype(np.float64)
        found = stepwise_search(X, targets, sample_weight, p_enter=self.p_enter, p_remove=self.p_remove, k=self.k)
        self.chosen_, self.pvalues_ = found.columns, found.p
        # Plain tuples, which a model file may hold.
        self._steps = [(step.column, step.enters, step.f, step.p) for step in found.steps]
        inside = np.zeros(X.shape[1], dtype=bool)
        inside[found.columns] = True
        order = np.lexsort((-found.f, ~inside))
        return Selection(Cut(at_least=self.at_least).apply(inside.astype(np.float64), order), found.f, order)
