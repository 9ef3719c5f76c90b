"""Stability selection: fit a selector on many halves of the rows, and take the columns it selects nearly always."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tamis.base._sklearn import HasMethods, StrOptions, _safe_indexing, integer, real
from tamis.base.cut import NothingPasses, fit_quietly
from tamis.base.errors import DataError, TamisError
from tamis.base.feature_tracking import selected_columns
from tamis.base.meta_estimators import MetaSelector
from tamis.base.nominal import TakesNominal
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Limits, Part, percent
from tamis.base.search_range import choice
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask, is_numeric
from tamis.base.types import FloatArray, Target
from tamis.select.ranking import Ranking

#: Threshold when neither `threshold` nor `max_false` is given.
_THRESHOLD = 0.75

#: Parts of the order of a numeric target, each of which is split in halves.
_PARTS = 10


def _phrase(a: Arguments) -> str:
    selector, fits, share, most = a.pop("estimator"), 2 * a.pop("times"), a.pop("threshold"), a.pop("max_false")
    ranked = "ranks the features by correlation with the target" if selector is None else selector.text
    often = f"in {percent(0.75 if share is None else share)} of {fits} halves of the rows"
    if most is not None:
        often = f"so often in {fits} halves of the rows that at most {most:g} are false"
    return f"keeps what [{ranked}] keeps {often}"


class StabilitySelection(SharedFit, MetaSelector, TakesNominal, Selector):
    """Select the columns that a selector selects in most of many fits, each on half of the rows.

    The rows are split into two halves at random, class by class, and the selector is fitted on both; `times` times
    over. For a target of numbers each tenth of its order is split like a class. When the selector selects q of p
    columns on average, the expected number of false columns among those selected in a share t of the fits is at most

        q^2 / ((2 t - 1) p).

    Parameters
    ----------
    estimator : estimator, optional
        A selector, or a pipeline that ends in one and does not mix columns; it selects q columns. By default the sqrt(p
        / 2) best by ``cc``: at most one false column is then expected at a threshold of 0.75.
    times : int, default=50
        Pairs of halves; there are twice as many fits.
    threshold : float, optional
        Share of the fits in which a column has to be selected, above a half. By default 0.75.
    max_false : float, optional
        Instead of a threshold: the lowest threshold is taken whose bound does not exceed this number.
    bound : {"any", "unimodal"}, default="any"
        "any" is the bound above. "unimodal" is the sharper bound of Shah and Samworth; it assumes that the share of
        pairs in which both halves select a column has a unimodal distribution. It holds where q / p is at most 1 /
        sqrt(3) and the threshold is not close to a half; elsewhere the bound above is used.
    n_jobs : int, optional
        Processes among which the pairs are divided; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Draws the halves, and seeds a selector without a seed of its own, differently in each fit.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers: by the selector, or else numbers with fractions are numbers.

    Attributes
    ----------
    frequency_ : float array of shape (n_features,)
        Share of the fits that select the column; also its score.
    threshold_ : float
        The threshold, rounded up to a number of fits.
    mean_size_ : float
        q, the mean number of columns that a fit selects.
    error_bound_ : float
        The bound on the expected number of false columns among the selected ones.
    order_ : int array
        By frequency; equal ones by mean place in the rankings of the fits.

    See Also
    --------
    WithProbes : Controls the share of false columns by permuted copies.

    Notes
    -----
    One set of fits serves every `threshold`, `max_false` and `bound`. When no column is selected often enough, the
    first of `order_` is, with the warning :class:`~tamis.base.cut.NothingPasses`. A fit that gives this warning counts
    as one that selects nothing. Of a class with an odd number of rows one, drawn anew each time, is in neither half.

    Following Shah and Samworth, false columns are those that a fit on half of the rows selects no more often than q /
    p, the rate of a blind choice. The bound holds for any selector and data; whether columns independent of the classes
    are among them depends on the selector.

    References
    ----------
    Meinshausen and Buehlmann (2010), "Stability selection"; Shah and Samworth (2013), "Variable selection with error
    control: another look at stability selection", theorems 1 and 2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Ranking, StabilitySelection
    >>> X = np.random.default_rng(0).normal(size=(100, 50))
    >>> y = np.arange(100) % 2
    >>> X[:, :3] += 1.5 * y[:, None]
    >>> found = StabilitySelection(Ranking("cc", k=5), random_state=0).fit(X, y)
    >>> found.get_support(indices=True), found.error_bound_
    (array([0, 1, 2]), 1.0)
    """

    part: ClassVar[Part] = Part(
        "stability_selection",
        positional=("estimator",),
        search={"threshold": choice(0.6, 0.75, 0.9)},
        paper="Meinshausen and Buehlmann 2010; Shah and Samworth 2013",
        phrase=_phrase,
        templates=("stability_selection(cc({k}), times=25, threshold={0.6, 0.75, 0.9})",),
        limits=Limits(values=10_000_000),
        slow=True,
    )
    #: One set of fits serves all.
    shared_parameters = ("threshold", "max_false", "bound")
    _reusable = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "transform"]), None],
        "times": [integer(1)],
        "threshold": [real(0.5, 1, "right"), None],
        "max_false": [real(0, None), None],
        "bound": [StrOptions({"any", "unimodal"})],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        times: int = 50,
        threshold: float | None = None,
        max_false: float | None = None,
        bound: str = "any",
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimator = estimator
        self.times = times
        self.threshold = threshold
        self.max_false = max_false
        self.bound = bound
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> tuple[np.ndarray, ...]:
        """For each column the number of fits that select it and the sum of its places in their rankings."""
        for one in estimators:
            if one.threshold is not None and one.max_false is not None:
                raise TamisError("stability_selection takes one of threshold and max_false; got both")
        groups = self._groups(y, X.shape[0])
        model, target = self._told(y)
        # Of the sparse formats only CSR takes rows quickly.
        rows = X.tocsr() if sp.issparse(X) else X
        seed = int(generator(self.random_state).integers(2**31))
        tasks = [(model, rows, target, groups, spawn(seed, number)) for number in range(self.times)]
        pairs = run_all(_fit_pair, tasks, self.n_jobs)
        return tuple(np.sum(one, axis=0) for one in zip(*pairs, strict=True))

    def _finish(self, prepared: tuple[np.ndarray, ...]) -> Selection:
        counts, places = prepared
        n_fits = 2 * self.times
        self.frequency_ = counts / n_fits
        self.mean_size_ = float(counts.sum() / n_fits)
        bounds = error_bounds(self.mean_size_, counts.shape[0], self.times, self.bound)
        needed = self._needed(bounds)
        self.threshold_ = needed / n_fits
        self.error_bound_ = float(bounds[needed - self.times - 1])
        order = np.lexsort((places, -counts))
        support = counts >= needed
        if not support.any():
            message = f"no feature is selected in {needed} of {n_fits} fits; the best one, in {counts.max()}, "
            warnings.warn(message + "selected instead", NothingPasses, stacklevel=2)
            support[order[0]] = True
        return Selection(support, self.frequency_, order)

    def _needed(self, bounds: np.ndarray) -> int:
        """Number of fits that must select a column."""
        if self.max_false is None:
            threshold = _THRESHOLD if self.threshold is None else self.threshold
            # Products such as 0.55 * 100 are slightly above the whole number.
            return max(self.times + 1, int(np.ceil(threshold * 2 * self.times - 1e-9)))
        low = np.flatnonzero(bounds <= self.max_false)
        if not low.size:
            raise TamisError(
                f"stability_selection: max_false={self.max_false:g} is out of reach: of {self.n_features_in_} columns "
                f"the selector selects {self.mean_size_:.4g} on average, and {bounds[-1]:.3g} false ones are possible "
                "even when all fits agree; let it select fewer"
            )
        return self.times + 1 + int(low[0])

    def _groups(self, y: Target, n_rows: int) -> list[np.ndarray]:
        """The rows of each class or of each part of the target's order; all rows when there is no target."""
        if y is None or is_numeric(y):
            if n_rows < 2:
                raise DataError(f"stability_selection needs two rows at least; got n_samples = {n_rows}")
            return [np.arange(n_rows)] if y is None else _parts(y)
        groups = [np.flatnonzero(y == code) for code in range(self.classes_.shape[0])]
        for label, rows in zip(self.classes_.tolist(), groups, strict=True):
            if rows.shape[0] < 2:
                raise DataError(f"stability_selection needs two rows of each class at least; class {label!r} has one")
        return groups

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        found, y = TakesNominal._read(self, X, y, reset=reset)
        if not self.nominal_.any():
            return found, y
        # The selector inside decides how to treat text.
        return (X if hasattr(X, "columns") else np.asarray(X, dtype=object)), y

    def _usual(self) -> Any:
        n_features = getattr(self, "n_features_in_", 2)
        return Ranking("cc", k=max(1, int(np.sqrt(n_features / 2))))


def error_bounds(q: float, n_features: int, times: int, bound: str = "any") -> np.ndarray:
    """Bounds on the expected number of false columns among those selected in ``times + 1``, ..., ``2 times`` fits.

    `q` is the mean number of columns that a fit selects.

    Examples
    --------
    >>> error_bounds(5, 50, 2).round(3).tolist(), error_bounds(5, 50, 2, "unimodal").round(3).tolist()
    ([1.0, 0.5], [1.0, 0.333])
    """
    share = q / n_features
    threshold = np.arange(times + 1, 2 * times + 1) / (2 * times)
    plain = q * share / (2 * threshold - 1)
    if bound == "any" or share > 1 / np.sqrt(3):
        return plain
    step = 1 / (2 * times)
    lowest = 0.5 + min(share**2, step + 0.75 * share**2)
    low = 1 / (2 * (2 * threshold - 1 - step))
    factor = np.where(threshold <= 0.75, low, 4 * (1 - threshold + step) / (1 + 2 * step))
    # The theorem holds from two steps above a half.
    holds = (threshold > lowest) & (threshold >= 0.5 + 2 * step - 1e-12)
    return np.where(holds, np.minimum(factor * q * share, plain), plain)


def _parts(y: FloatArray) -> list[np.ndarray]:
    """The rows of each tenth of the target's order, fewer parts of few rows; all parts but the last are even."""
    parts = min(_PARTS, y.size // 4) or 1
    return np.split(np.argsort(y, kind="stable"), 2 * (np.arange(1, parts) * (y.size // 2) // parts))


def _fit_pair(
    selector: Any, X: Any, y: np.ndarray | None, groups: list[np.ndarray], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """How many of two fits on complementary halves select each column, and the sum of its places in them."""
    counts, places = np.zeros((2, X.shape[1]), dtype=np.int64)
    for number, rows in enumerate(_halves(groups, generator(seed))):
        half = seeded(clone(selector), spawn(seed, number))
        by_default = fit_quietly(half, _safe_indexing(X, rows), None if y is None else y[rows])
        found = selected_columns(half, X.shape[1], "stability_selection")
        counts += found.support & (not by_default)
        if found.order is not None:
            places += found.places
    return counts, places


def _halves(groups: list[np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two halves in ascending order, each with half of every group, split at random."""
    mixed = [rng.permutation(rows) for rows in groups]
    first = np.concatenate([rows[: rows.shape[0] // 2] for rows in mixed])
    second = np.concatenate([rows[rows.shape[0] // 2 : rows.shape[0] // 2 * 2] for rows in mixed])
    return np.sort(first), np.sort(second)
