"""Sequential searches for a set of features by a classifier: forward, backward, plus l take away r, floating."""

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import Interval
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.incremental.sequential import Met, Sequential, first, joined, left
from tamis.incremental.subset_score import EQUAL, Trial

#: How many features more a floating search tries before it answers for a size.
_BEYOND = 2


class SFS(Sequential):
    """Add one feature after another, each time the one with which a classifier does best (forward selection).

    The worth of a set of features is the mean accuracy of the classifier on them over the folds of an internal
    stratified cross-validation on the training rows, less `caution` deviations.

    Parameters
    ----------
    model : estimator, optional
        A classifier, or a pipeline that ends in one. By default scikit-learn's ``GaussianNB()``.
    k : int, optional
        Features to keep; all when there are fewer. By default the search ends when no step raises the worth by more
        than `gain`.
    gain : float, default=0.0
        Without `k`: a step must raise the worth by more than this.
    measure : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What is averaged over the folds; balanced accuracy is the mean over classes.
    caution : float, default=0.0
        How many deviations over the folds count against a set (Grabczewski and Jankowski, eq. 25).
    folds : int, default=5
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    n_jobs : int, optional
        Processes that fit classifiers side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Deals the rows into folds, and seeds a classifier that has no seed of its own: all sets meet the same folds
        and seeds.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        Worth of the sets of 1, 2, ... features, up to those kept.
    scores_ : float array of shape (n_features,)
        Of n features kept n + 1 for the first, down to 2 for the last; for the others their worth alone, which is at
        most 1.
    ranking_ : int array
        In the order of the scores.

    Notes
    -----
    Of sets with the same worth the one with the earliest column wins. Nearest neighbours (``knn`` and scikit-learn's),
    ``GaussianNB``, ``LinearDiscriminantAnalysis``, ``RidgeClassifier`` and ``NearestCentroid`` follow a change of one
    feature by an update, with the same result and many times faster than by a fit for every set and fold, which all
    others need. Updates hold a copy of the rows for each fold, and are made in one process.

    The worth is no honest estimate of accuracy on new data: it is the best of many, seen by the choice. Validate
    the whole model instead (``tamis.validate``).

    Features that are constant in the training rows of a fold tell nothing: without others they are judged as if they
    named the commonest class there.

    References
    ----------
    Whitney (1971), "A direct method of nonparametric measurement selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SFS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SFS(random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sfs",
        positional=("model",),
        search={"k": geom(1, 100, 5)},
        paper="Whitney 1971; Kittler 1978",
        limits=Limits(columns=60),
    )

    def _steps(self, trial: Trial, alone: FloatArray, n_features: int) -> Iterator[tuple[Met, Sequence[int]]]:
        met = first(alone)
        yield met, [1]
        while met.columns.size < n_features:
            met = joined(trial, met.columns, n_features)
            yield met, [met.columns.size]


class SBS(Sequential):
    """Take away one feature after another, each time the one without which a classifier does best (backward).

    The worth of a set is that of :class:`SFS`.

    Parameters
    ----------
    model, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.
    k : int, optional
        Features to keep; all when there are fewer. By default the search ends when no step raises the worth by more
        than `gain`.
    gain : float, default=0.0
        Without `k`: a step must raise the worth by more than this. Below zero a step may cost up to so much: with
        -1e-6 features leave as long as that does no harm.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in column order.
    path_ : float array
        Worth of all features, and after each that left.
    scores_ : float array of shape (n_features,)
        1 for the feature that left first, 2 for the next, ...; the same for all that are kept.
    ranking_ : int array
        In the order of the scores: what left first comes last.

    Notes
    -----
    As for :class:`SFS`; of features that may leave with the same worth the earliest does. Taking away from many
    features is a matter of their square in sets to be judged.

    References
    ----------
    Marill and Green (1963), "On the effectiveness of receptors in recognition systems".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SBS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SBS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sbs",
        positional=("model",),
        search={"k": geom(1, 100, 5)},
        paper="Marill and Green 1963",
        limits=Limits(columns=40),
    )
    _grows = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "gain": [Interval(Real, None, None, closed="neither")],
    }

    def _steps(self, trial: Trial, alone: FloatArray, n_features: int) -> Iterator[tuple[Met, Sequence[int]]]:
        everything = np.arange(n_features)
        met = Met(everything, trial.of(everything))
        yield met, [n_features]
        while met.columns.size > 1:
            met = left(trial, met.columns)
            yield met, [met.columns.size]


class PTA(Sequential):
    """Add `plus` features, take `minus` away, and again: so a feature that others made needless can leave.

    The worth of a set is that of :class:`SFS`, and features come and go one by one as there and in :class:`SBS`. For
    each size the best set of all that the search meets is kept.

    Parameters
    ----------
    model, k, gain, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.
    plus : int, default=3
        Features added in a turn.
    minus : int, default=1
        Features taken away in a turn, fewer than are added.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        Worth of the best sets of 1, 2, ... features, up to those kept.
    scores_, ranking_
        As for :class:`SFS`.

    Notes
    -----
    As for :class:`SFS`. The search for `k` features goes on until it begins a turn with `k` or more, after which it
    cannot come back to this size; so the answer is the same whether the search was made for this `k` or a larger one.
    Without `k` the answer has the first size whose best set is worth more than that of one feature more, less `gain`.

    References
    ----------
    Stearns (1976), "On selecting features for pattern classifiers".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import PTA
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> PTA(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "pta",
        positional=("model",),
        search={"k": geom(1, 100, 5)},
        paper="Stearns 1976; Kittler 1978",
        limits=Limits(columns=60),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Sequential._parameter_constraints,
        "plus": [Interval(Integral, 1, None, closed="left")],
        "minus": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        model: Any = None,
        *,
        k: int | None = None,
        plus: int = 3,
        minus: int = 1,
        gain: float = 0.0,
        measure: str = "accuracy",
        caution: float = 0.0,
        folds: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            model,
            k=k,
            gain=gain,
            measure=measure,
            caution=caution,
            folds=folds,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.plus = plus
        self.minus = minus

    def _trial(self, X: Any, y: Any) -> Trial:
        if self.plus <= self.minus:
            raise TamisError(f"pta: plus must be larger than minus; got plus={self.plus}, minus={self.minus}")
        return super()._trial(X, y)

    def _steps(self, trial: Trial, alone: FloatArray, n_features: int) -> Iterator[tuple[Met, Sequence[int]]]:
        met = Met(np.empty(0, dtype=np.intp), 0.0)
        done = 0
        while done < n_features:
            for _ in range(min(self.plus, n_features - met.columns.size)):
                met = joined(trial, met.columns, n_features) if met.columns.size else first(alone)
                yield met, []
            full = met.columns.size == n_features
            for _ in range(min(self.minus, met.columns.size - 1)):
                met = left(trial, met.columns)
                yield met, []
            # A turn that begins here does not meet this size again.
            done = n_features if full else met.columns.size
            yield met, range(1, done + 1)


class SFFS(Sequential):
    """Add the best feature, then take features away as long as that beats the best set of that size (floating).

    The worth of a set is that of :class:`SFS`, and features come and go one by one as there and in :class:`SBS`. For
    each size the best set that the search meets is kept.

    Parameters
    ----------
    model, k, gain, measure, caution, folds, n_jobs, random_state
        As for :class:`SFS`.

    Attributes
    ----------
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        Worth of the best sets of 1, 2, ... features, up to those kept; never less than that of :class:`SFS`.
    scores_, ranking_
        As for :class:`SFS`.

    Notes
    -----
    As for :class:`SFS`. Where the search reaches a size with a set that is worth less than one known of that size, it
    goes on from the better one. Beside it goes the plain forward search, whose sets are known too: a set that is better
    now may lead to worse ones later, and the floating search is not to end up behind the plain one.

    The search for `k` features goes on until it has two more, and what it meets of size `k` after that does not
    count; so the answer is the same whether the search was made for this `k` or a larger one. Without `k` the answer
    has the first size whose best set is worth more than that of one feature more, less `gain`.

    References
    ----------
    Pudil, Novovicova and Kittler (1994), "Floating search methods in feature selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SFFS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SFFS(k=2, random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "sffs",
        positional=("model",),
        search={"k": geom(1, 100, 5)},
        paper="Pudil, Novovicova and Kittler 1994",
        limits=Limits(columns=60),
    )

    def _steps(self, trial: Trial, alone: FloatArray, n_features: int) -> Iterator[tuple[Met, Sequence[int]]]:
        plain = met = first(alone)
        best = {1: met}
        yield met, []
        while met.columns.size < n_features:
            size = met.columns.size + 1
            new = joined(trial, met.columns, n_features)
            if size not in best:
                same = np.array_equal(plain.columns, met.columns)
                plain = best[size] = new if same else joined(trial, plain.columns, n_features)
                yield plain, range(1, size - _BEYOND + 1)
            if new.worth > best[size].worth + EQUAL:
                best[size] = new
            met = best[size]
            yield met, []
            while met.columns.size > 2:
                fewer = left(trial, met.columns)
                if fewer.worth <= best[fewer.columns.size].worth + EQUAL:
                    break
                met = best[fewer.columns.size] = fewer
                yield met, []
