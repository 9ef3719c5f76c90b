"""With probes: rank columns among permuted copies, and select those that few of the copies outrank."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import clone

from tamis.base._sklearn import HasMethods, StrOptions, _safe_indexing, integer, real
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import selected_columns
from tamis.base.meta_estimators import MetaSelector, in_words, needs_classes
from tamis.base.nominal import Levels, TakesNominal
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Limits, Part, percent
from tamis.base.search_range import choice
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.select.ranking import Ranking


class _Ranked(NamedTuple):
    """Sums over draws of the probes ahead of each column and of its place among the columns; the number of probes."""

    ahead: np.ndarray
    place: np.ndarray
    n_probes: np.ndarray


def _phrase(a: Arguments) -> str:
    selector, rate = a.pop("estimator"), percent(a.pop("fdr"))
    ranked = "ranks the features by correlation with the target" if selector is None else selector.text
    return f"keeps what [{ranked}] puts before permuted copies of the features, {rate} of it false at most"


class WithProbes(SharedFit, MetaSelector, TakesNominal, Selector):
    """Select the columns that a selector ranks ahead of permuted copies, at a given false discovery rate.

    A probe is a copy of a column with its rows in another order: it looks like a column and is independent of the
    target. The selector ranks the n columns and the probes together, in several draws of probes. A column with a of
    all m probes ahead of it has the p-value (1 + a) / (1 + m). Of the best r columns, the last of which has a_r probes
    ahead, the share

        n (1 + a_r) / ((1 + m) r)

    is estimated to be false. The largest r is taken whose share is at most `fdr`. This is the procedure of Benjamini
    and Hochberg; it assumes that no column is informative, so with many informative ones the true share is smaller
    still.

    Parameters
    ----------
    estimator : estimator, optional
        A selector, or a pipeline that ends in one and does not mix columns. By default ``cc``. Only its ranking is
        used, not the number of columns it selects.
    fdr : float, default=0.1
        Expected share of false columns among the selected ones that is allowed.
    share : float, default=0.5
        Share of probes among all columns that the selector ranks: with a half as many probes as columns.
    n_repeats : int, default=10
        Draws of probes, with one fit of the selector each.
    n_jobs : int, optional
        Processes among which the draws are divided; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Draws the probes, and seeds a selector without a seed of its own, differently in each draw.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers: by the selector, or else numbers with fractions are numbers.

    Attributes
    ----------
    probe_share_ : float
        Estimated share of false columns among the selected ones.
    curve_ : float array of shape (n_features,)
        The same for the best 1, 2, ... columns, at most 1.
    n_probes_ : int
        Probes in all draws together.
    scores_ : float array of shape (n_features,)
        Share of the probes that the column is ahead of.
    order_ : int array
        By score; equal ones by mean place among the columns.

    See Also
    --------
    StabilitySelection : Bounds the number of false columns by fits on halves of the rows.

    Notes
    -----
    One set of fits serves every `fdr`. With as many probes as columns, r columns can pass at a rate of 1 / (r
    `n_repeats`) at best. When no column passes, the best one is selected with the warning
    :class:`~tamis.base.cut.NothingPasses`.

    In ties the probe counts as better. A selector that gives only a mask ranks the selected columns before the others;
    all of one kind then pass together or not at all. Where a ranking is precise only down to the size that the selector
    is set to, as with ``rfe`` and ``mrmr``, that size still matters: ``with_probes(rfe(5))`` eliminates to the end,
    ``with_probes(rfe)`` only to a half.

    False columns are those that are independent of the target and of the other columns. Such a column and a probe are
    exchangeable, which is all that the estimate needs, whatever the selector. The columns of a draw are permuted
    together, so that probes depend on each other as columns do. Probes are independent of the columns themselves: a
    column that is informative only through its correlation with another counts as a discovery. In this the method
    differs from knockoffs.

    Probes stand for the columns as a whole. A selector that prefers columns of some kind, as trees prefer those of many
    values, ranks probes of that kind higher too: the number of false columns is right, but they are of that kind. A
    selector that weighs columns jointly ranks useless ones differently in each draw, which averaging evens out.

    That the rate holds is proven for independent columns and probes with a score each. For correlated columns, probes
    that share an order of the rows, and averages over draws of a joint selector, it rests on experiments with planted
    data, in which the true share of false columns was well below `fdr`.

    References
    ----------
    Benjamini and Hochberg (1995), "Controlling the false discovery rate"; Bates, Candes, Lei, Romano and Sesia (2023),
    "Testing for outliers with conformal p-values", for such p-values in that procedure; Wu, Boos and Stefanski (2007),
    "Controlling variable selection by the addition of pseudovariables", for copies with the rows in another order.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Ranking, WithProbes
    >>> X = np.random.default_rng(2).normal(size=(100, 50))
    >>> y = np.arange(100) % 2
    >>> X[:, :5] += 1.5 * y[:, None]
    >>> found = WithProbes(Ranking("cc"), fdr=0.1, random_state=0).fit(X, y)
    >>> found.get_support(indices=True), round(found.probe_share_, 2)
    (array([0, 1, 2, 3, 4]), 0.02)
    """

    part: ClassVar[Part] = Part(
        "with_probes",
        positional=("estimator",),
        search={"fdr": choice(0.05, 0.1, 0.2, 0.4)},
        paper="Benjamini and Hochberg 1995; Wu, Boos and Stefanski 2007",
        phrase=_phrase,
        templates=("with_probes(cc, fdr={0.05, 0.1, 0.2, 0.4})", "with_probes(ssv, fdr={0.05, 0.1, 0.2, 0.4})"),
        limits=Limits(values=10_000_000),
        slow=True,
    )
    #: One set of fits serves every rate.
    shared_parameters = ("fdr",)
    _reusable = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "transform"]), None],
        "fdr": [real(0, 1)],
        "share": [real(0, 1)],
        "n_repeats": [integer(1)],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        fdr: float = 0.1,
        share: float = 0.5,
        n_repeats: int = 10,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimator = estimator
        self.fdr = fdr
        self.share = share
        self.n_repeats = n_repeats
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Ranked:
        model, target = self._told(y)
        if not needs_classes(model):
            raise TamisError(
                f"with_probes needs a selector that uses the classes; to {in_words(model)} "
                "a column and its permuted copy are the same"
            )
        seed = int(generator(self.random_state).integers(2**31))
        tasks = [(model, X, target, self.share, spawn(seed, number)) for number in range(self.n_repeats)]
        draws = run_all(_among_probes, tasks, self.n_jobs)
        return _Ranked(*(np.sum(one, axis=0) for one in zip(*draws, strict=True)))

    def _finish(self, prepared: _Ranked) -> Selection:
        ahead, place, n_probes = prepared
        order = np.lexsort((place, ahead))
        counts = np.arange(1, ahead.shape[0] + 1)
        chance = (1 + ahead[order]) / (1 + n_probes)
        self.n_probes_ = int(n_probes)
        self.curve_ = np.minimum(ahead.shape[0] * chance / counts, 1.0)
        size = int(counts[self.curve_ <= self.fdr].max(initial=0))
        if not size:
            message = f"no number of features has an estimated share of false ones of {self.fdr:g} or less; "
            message += f"the best one selected instead, at {self.curve_[0]:.2g}"
            warnings.warn(message, NothingPasses, stacklevel=2)
            size = 1
        self.probe_share_ = float(self.curve_[size - 1])
        support = np.zeros(ahead.shape[0], dtype=bool)
        support[order[:size]] = True
        return Selection(support, 1.0 - ahead / n_probes, order)

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        found, y = TakesNominal._read(self, X, y, reset=reset)
        # The selector inside decides how to treat text.
        return (_table(found, self.levels_) if self.nominal_.any() else found), y

    def _usual(self) -> Any:
        return Ranking("cc")


def _among_probes(selector: Any, X: Any, y: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """One draw: for each column the probes ahead of it and its place among the columns, and the number of probes."""
    joint = _beside(_probes(X, share, generator(seed)), X)
    n_probes = joint.shape[1] - X.shape[1]
    with warnings.catch_warnings():
        # Its own cut is not used.
        warnings.simplefilter("ignore", NothingPasses)
        fitted = seeded(clone(selector), spawn(seed, 0)).fit(joint, y)
    order = selected_columns(fitted, joint.shape[1], "with_probes").full_order
    real = order >= n_probes
    columns = order[real] - n_probes
    ahead, place = np.empty((2, X.shape[1]), dtype=np.int64)
    ahead[columns] = np.cumsum(~real)[real]
    place[columns] = np.arange(X.shape[1])
    return ahead, place, n_probes


def _probes(X: Any, share: float, rng: np.random.Generator) -> list[Any]:
    """Blocks of columns, each with its rows in a random order; all columns are drawn before any is drawn again."""
    n_rows, n_columns = X.shape
    whole, rest = divmod(max(1, round(n_columns * share / (1 - share))), n_columns)
    parts = [X] * whole
    if rest:
        parts.append(_safe_indexing(X, np.sort(rng.permutation(n_columns)[:rest]), axis=1))
    return [_safe_indexing(part, rng.permutation(n_rows)) for part in parts]


def _beside(probes: list[Any], X: Any) -> Any:
    """One table, the probes first: rankings keep ties in column order, so that a tied probe ranks before a column."""
    if sp.issparse(X):
        return sp.hstack([*probes, X], format=X.format)
    if isinstance(X, pl.DataFrame):
        named = [part.rename({name: f"{name} {at}" for name in part.columns}) for at, part in enumerate([*probes, X])]
        return pl.concat(named, how="horizontal")
    return np.hstack([*probes, X])


def _table(matrix: FloatArray, levels: Levels) -> pl.DataFrame:
    """The columns by number, with text in place of level codes."""
    columns = {f"x{j}": pl.Series(column, nan_to_null=True) for j, column in enumerate(matrix.T)}
    for j, known in levels.items():
        words = [None if np.isnan(code) else known[int(code)] for code in matrix[:, j]]
        columns[f"x{j}"] = pl.Series(words, dtype=pl.String)
    return pl.DataFrame(columns)
