"""Artificial contrasts: select the columns that ensembles of trees rank above permuted copies of all columns."""

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import Cut, rank
from tamis.base.errors import TamisError
from tamis.base.nominal import TakesNominal
from tamis.base.part import Limits, Part
from tamis.base.seeds import generator
from tamis.base.selector import Selection, Selector
from tamis.base.task import BOTH, WantedTask, is_numeric
from tamis.base.validation import centre_and_scale, column_names
from tamis.select.contrasts.contrast_tests import ContrastTest
from tamis.select.contrasts.figure import figure
from tamis.select.contrasts.rankers import ENGINES, Engine
from tamis.select.contrasts.rounds import contrasts_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class Contrasts(TakesNominal, Selector):
    """Select the columns that are more important to ensembles of trees than permuted copies of all columns.

    Tuv and Torkkola's Algorithm 1. In each of `n_repeats` repeats every column gets a contrast, a copy in a new random
    order, and an ensemble is fitted to columns and contrasts together. All are ranked by importance. A column passes
    when it ranks above the `quantile` of the contrasts by Wilcoxon's one-sided signed-rank test over the repeats. The
    effect of the columns that passed is then removed from the target,

        residual = class indicator - probability predicted from them,

    one for each class, or of numbers the number less the predicted one, and the other columns are tested with the
    residual as the target, until nothing passes: a column masked by strong ones is found in a later round.

    Parameters
    ----------
    engine : {"extra_trees", "forest", "boost", "lightgbm"}, default="extra_trees"
        Extremely randomised trees, a random forest or stochastic gradient boosting by scikit-learn, or gradient
        boosting by LightGBM (``pip install tamis[boost]``).
    n_estimators : int, optional
        Trees of an ensemble. By default 100 if they are boosted; else 50, and on more than 150 columns, contrasts
        included, fewer, down to 15 on 500 and more, because more columns are then tried at each split.
    n_repeats : int, default=6
        The smallest p-value is ``2 ** -n_repeats``: 5 is the least that can reach ``alpha=0.05``.
    quantile : float, default=1.0
        Which of the contrasts a column must outrank: 1 is the best of them, 0.5 the median one.
    alpha : float, default=0.05
        Level of the rank test.
    own : bool, default=False
        Measure importances in multiples of those of the column's own contrasts. Trees favour columns of many values;
        this makes columns of mixed kinds comparable.
    fixed : bool, default=False
        Keep the set F of Algorithm 1 to the letter: all columns of a round take part in all its repeats, and those that
        passed in earlier rounds lend their contrasts. By default columns that can no longer pass leave, and the
        contrasts are those of the columns tested, which takes less time.
    redundant : {"report", "skip"}, default="report"
        "report" selects all columns that pass, "skip" only those without which the predictions of their round become
        worse.
    rounds : int, default=10
        Rounds at most; 1 uses no residuals.
    max_features : float, default=0.3
        Share of the columns, contrasts included, tried at a split. With a small share, columns that are informative
        only together rarely meet.
    min_samples_leaf : int, optional
        Least number of rows in a leaf; by default 5, and 10 for numbers and residuals.
    batch : int, default=5000
        Columns that are tested together at most.
    at_least : int, default=1
        When fewer pass, this many of the best are selected with a warning.
    n_jobs : int, optional
        Threads of a forest or extra trees; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    round_ : int array of shape (n_features,)
        The round in which the column passed, from 1 on; 0 if in none.
    pvalues_ : float array of shape (n_features,)
        P-value of the rank test in that round, or in the first for a column that never passed.
    importances_ : float array of shape (n_features,)
        Share of the column in the gain of an ensemble's splits, in the same round, averaged over the repeats.
    contrast_importance_ : float array of shape (n_features,)
        The quantile of the contrasts' importances, averaged over the same repeats.
    scores_ : float array of shape (n_features,)
        ``-log10(pvalues_)``, with ties broken by round and importance by adding less than the difference of any two
        p-values. 0 for a column that passed and was skipped.

    See Also
    --------
    WithProbes : Compares the ranking of any selector with permuted copies.

    Notes
    -----
    A noise column that correlates with the target by chance does so in all repeats. The quantile guards against it,
    not the rank test: up to ``1 - quantile`` of the noise columns pass. With the default a noise column has to beat the
    best of as many contrasts as there are columns in nearly every repeat: with 20 to 1000 columns of noise, 0 to 0.3 of
    them passed in a round, on average over data sets. With ``alpha=0.01`` and 8 repeats about half as many passed.

    A column that could not pass even if it came first in all remaining repeats leaves early, with the p-value of its
    repeats but never one that would pass. Its contrasts stay; when no column is left the round ends. In the paper F is
    the working set: all columns in the first round, later those that have not passed. It changes between rounds
    (step 9) and not between the repeats of one (steps 2 to 5), while the contrasts Z are made anew in each repeat, and
    of all N columns, so of those in Phi too. ``fixed=True`` does just that. A column that leaves raises the ranks of
    those behind it, of which the default takes account. On three generated problems of 40 columns the two differed in
    one of 23 selected columns.

    For tables of mixed kinds the paper compares a column with contrasts of itself alone. These are as few as the
    repeats, and one in a few noise columns would pass. With ``own=True`` they give the unit instead; a column still has
    to beat the contrasts of all columns, each in its own unit, and no column leaves early.

    More than `batch` columns are tested in random batches. The columns that pass are tested again together, against the
    best contrasts of all batches too. Columns of different batches that are informative only together may be missed.

    Residuals use out-of-sample predictions. With ``redundant="skip"`` the columns of a round, the least important
    first, are removed if the squared error of these predictions does not grow by a paired one-sided test at level
    `alpha`.

    Nominal columns are used as the numbers of their levels in sorted order. Missing values are accepted by
    "extra_trees" and "forest" in dense data, and by "lightgbm".

    References
    ----------
    Tuv and Torkkola (2005), "Feature filtering with ensembles using artificial contrasts".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Contrasts
    >>> X = np.random.default_rng(0).normal(size=(100, 12))
    >>> found = Contrasts(random_state=0).fit(X, X[:, 3] + X[:, 7] > 0)
    >>> found.get_support(indices=True), found.pvalues_[[3, 7]]
    (array([3, 7]), array([0.015625, 0.015625]))
    >>> Contrasts(random_state=0).fit(X, X[:, 3] - X[:, 7]).get_support(indices=True)
    array([3, 7])
    """

    part: ClassVar[Part] = Part(
        "contrasts",
        positional=("engine",),
        paper="Tuv and Torkkola 2005, Algorithm 1",
        phrase="keeps the features that ensembles of trees rank above permuted copies of all features",
        limits=Limits(values=3_000_000),
        slow=True,
    )
    #: As far as the engine does.
    accepts_missing = True
    #: Trees draw columns by number: the same columns in another order give other trees.
    draws_columns: ClassVar[bool] = True
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "engine": [StrOptions(set(ENGINES))],
        "n_estimators": [integer(1), None],
        "n_repeats": [integer(1, 1000)],
        "quantile": [real(0, 1, "both")],
        "alpha": [real(0, 1)],
        "own": ["boolean"],
        "fixed": ["boolean"],
        "redundant": [StrOptions({"report", "skip"})],
        "rounds": [integer(1)],
        "max_features": [real(0, 1, "right")],
        "min_samples_leaf": [integer(1), None],
        "batch": [integer(1)],
        "at_least": [integer(0)],
        "n_jobs": [Integral, None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        engine: Literal["extra_trees", "forest", "boost", "lightgbm"] = "extra_trees",
        *,
        n_estimators: int | None = None,
        n_repeats: int = 6,
        quantile: float = 1.0,
        alpha: float = 0.05,
        own: bool = False,
        fixed: bool = False,
        redundant: Literal["report", "skip"] = "report",
        rounds: int = 10,
        max_features: float = 0.3,
        min_samples_leaf: int | None = None,
        batch: int = 5000,
        at_least: int = 1,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.engine = engine
        self.n_estimators = n_estimators
        self.n_repeats = n_repeats
        self.quantile = quantile
        self.alpha = alpha
        self.own = own
        self.fixed = fixed
        self.redundant = redundant
        self.rounds = rounds
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.batch = batch
        self.at_least = at_least
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    def _select(self, X: Any, y: Any) -> Selection:
        self._check_missing(X)
        engine = Engine(self.engine, self.n_estimators, self.max_features, self.min_samples_leaf, self.n_jobs)
        test = ContrastTest(engine, self.n_repeats, self.quantile, self.alpha, self.own, self.batch, self.fixed)
        seed = int(generator(self.random_state).integers(2**31))
        if is_numeric(y):
            # Trees take a target that varies little for constant.
            mean, deviation = centre_and_scale(y)
            y = (y - mean) / deviation
        found = contrasts_of(X, y, test, redundant=self.redundant, rounds=self.rounds, seed=seed)
        self.round_, self.pvalues_ = found.round, found.pvalues
        self.importances_, self.contrast_importance_ = found.importances, found.thresholds
        scores = found.scores(self.n_repeats)
        order = rank(scores)
        support = Cut(threshold=0.5, at_least=self.at_least).apply(found.selected.astype(float), order)
        return Selection(support, scores, order)

    def plot(self, most: int = 40) -> "Figure":
        """A plotly figure: importances of the `most` best columns, selected ones first, and of their contrasts."""
        check_is_fitted(self)
        numbers = (self.importances_, self.contrast_importance_, self.pvalues_, self.round_, self.support_)
        return figure(column_names(self), *numbers, most)

    def _check_missing(self, X: Any) -> None:
        sparse = sp.issparse(X)
        if not ENGINES[self.engine][sparse] and np.isnan(X.data if sparse else X).any():
            form = "sparse" if sparse else "these"
            raise TamisError(
                f"contrasts: engine={self.engine} takes no missing values in {form} rows; put impute in front of it"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = any(ENGINES.get(self.engine, ()))
        return tags
