"""Accuracy of clusters against the number of dimensions that documents are reduced to, for several reductions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import stdtr
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from tamis.base.errors import TamisError
from tamis.base.seeds import places, seeded, spawn
from tamis.base.shared_fit import fit_together, grouped
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.text.clustering import clustering_accuracy, kmeans, with_short_indices

#: A reduction by name, and the place of its number of dimensions.
_Key = tuple[str, int]

#: Differences that are equal but for rounding have no spread.
_ROUNDING = 1e-12


class PairedT(NamedTuple):
    """Student's paired t-test of two curves over a range of dimensions.

    Attributes
    ----------
    mean : float
        Mean of the first curve less the second.
    t : float
    above, below : float
        One-sided p-values: small where the first is above the second (H_a), and where it is below (H_b).
    n : int
        Dimensions within the range.
    """

    mean: float
    t: float
    above: float
    below: float
    n: int


@dataclass(frozen=True, eq=False)
class ReductionCurves:
    """Accuracy of the clusters of each reduction, at each number of dimensions and in each split.

    Attributes
    ----------
    dimensions : int array
        In rising order.
    accuracy : dict of str to array of shape (n_splits, n_dimensions)
    """

    dimensions: np.ndarray
    accuracy: dict[str, FloatArray]

    def mean(self, name: str) -> FloatArray:
        """The curve of one reduction, averaged over the splits."""
        if name not in self.accuracy:
            raise TamisError(f"there is no curve {name!r}; there are {', '.join(self.accuracy)}")
        return np.asarray(self.accuracy[name].mean(axis=0))

    def paired_t(self, first: str, second: str, low: int | None = None, high: int | None = None) -> PairedT:
        """Compare two curves over the dimensions from `low` to `high`, by default all, paired by dimension.

        Neighbouring dimensions are not independent, so that the p-values are too small; they are the paper's. Curves
        that differ by the same amount everywhere have no spread: p is then 0 or 1, and one half where they are equal.
        """
        inside = np.ones(self.dimensions.size, dtype=bool)
        if low is not None:
            inside &= self.dimensions >= low
        if high is not None:
            inside &= self.dimensions <= high
        n = int(inside.sum())
        if n < 2:
            raise TamisError(f"a paired t-test needs two dimensions from {low} to {high}; there are {n}")
        difference = (self.mean(first) - self.mean(second))[inside]
        mean, deviation = float(difference.mean()), float(difference.std(ddof=1))
        if deviation <= _ROUNDING:
            t = 0.0 if abs(mean) <= _ROUNDING else float(np.copysign(np.inf, mean))
        else:
            t = mean / (deviation / np.sqrt(n))
        return PairedT(mean, t, float(stdtr(n - 1, -t)), float(stdtr(n - 1, t)), n)


def reduction_curves(
    methods: Mapping[str, Callable[[int], Any]],
    X: Any,
    y: Any,
    dimensions: Sequence[int],
    *,
    n_clusters: int | None = None,
    test_size: float = 0.25,
    n_splits: int = 1,
    n_init: int = 10,
    random_state: int = 0,
) -> ReductionCurves:
    """Reduce documents to few dimensions, cluster them, and measure the clusters on documents held out.

    In every split a reduction is fitted on the training documents alone and applied to all. The reduced training
    documents are clustered by k-means; each test document goes to the closest cluster, whose class is that of the
    majority of its training documents (:func:`~tamis.text.clustering.clustering_accuracy`). Reductions that begin with
    the same steps share them, and one fit serves all dimensions where it can (:mod:`tamis.base.shared_fit`).

    Parameters
    ----------
    methods : mapping of str to callable
        For each reduction a function of the number of dimensions that returns an estimator with ``transform``, such as
        ``{"lsi": lambda k: tamis.recipe(f"tfidf | lsi({k})")}``. It may reduce to fewer, where there are no more.
    X : array or sparse matrix of shape (n_documents, n_words)
    y : array of shape (n_documents,)
        Classes; the clusters do not see them.
    dimensions : sequence of int
    n_clusters : int, optional
        By default the number of classes.
    test_size : float, default=0.25
        Share of the documents held out, the same in each class as far as possible.
    n_splits : int, default=1
        Random splits.
    n_init : int, default=10
        Starts of k-means.
    random_state : int, default=0
        Seeds splits, reductions and starts. All reductions are evaluated on the same splits, with the same seeds.

    Returns
    -------
    ReductionCurves

    References
    ----------
    Tang, Shepherd, Milios and Heywood (2005), "Comparing and combining dimension reduction techniques for efficient
    text clustering", section 3.1.

    Examples
    --------
    >>> from tamis.transform import LSI
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> X = rng.poisson(0.2 + 2.0 * (np.arange(30) % 3 == y[:, None]))
    >>> reduction_curves({"lsi": LSI}, X, y, [3, 5]).accuracy["lsi"]
    array([[1., 1.]])
    """
    sizes = np.unique(_checked_dimensions(dimensions))
    check_whole("n_splits", n_splits, 1)
    if not methods:
        raise TamisError("methods is empty; give a function of the number of dimensions for each reduction")
    X, y = X.tocsr() if sp.issparse(X) else np.asarray(X), np.asarray(y)
    accuracy = {name: np.empty((n_splits, sizes.size)) for name in methods}
    for split, (train, test) in enumerate(_splits(X, y, test_size, n_splits, random_state)):
        clusters = np.unique(y[train]).size if n_clusters is None else n_clusters
        chains = {
            (name, place): _steps(seeded(clone(method(size)), spawn(random_state, split, 1)))
            for name, method in methods.items()
            for place, size in enumerate(sizes.tolist())
        }
        for (name, place), reduced, new in _reduced(chains, X[train], y[train], X[test]):
            found = kmeans(reduced, clusters, n_init=n_init, random_state=spawn(random_state, split, 2))
            closest = found.predict(with_short_indices(new))
            accuracy[name][split, place] = clustering_accuracy(found.labels_, y[train], closest, y[test])
    return ReductionCurves(sizes, accuracy)


def _steps(model: Any) -> list[Any]:
    """The steps of a chain that do something."""
    return [step for step in places(model) if step is not None and step != "passthrough"]


def _reduced(
    chains: Mapping[_Key, Sequence[Any]], train: Any, y: np.ndarray, new: Any
) -> Iterator[tuple[_Key, Any, Any]]:
    """Training rows and new rows behind each chain of steps, depth first; what chains share is fitted once."""
    going = [key for key, steps in chains.items() if steps]
    yield from ((key, train, new) for key, steps in chains.items() if not steps)
    for group in grouped([chains[key][0] for key in going]):
        together = fit_together(group.estimators, train, y) if group.shares_fit else None
        for place, members in enumerate(group.members):
            step = group.estimators[place].fit(train, y) if together is None else together.fitted(place)
            below = {going[member]: chains[going[member]][1:] for member in members}
            yield from _reduced(below, step.transform(train), y, step.transform(new))


def _checked_dimensions(dimensions: Sequence[int]) -> list[int]:
    for one in dimensions:
        check_whole("a number of dimensions", one, 1)
    if len(dimensions) == 0:
        raise TamisError("dimensions is empty; give the numbers of dimensions to reduce to")
    return list(dimensions)


def _splits(X: Any, y: np.ndarray, test_size: float, n_splits: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of every split, in proportion to the classes."""
    if not isinstance(test_size, float) or not 0 < test_size < 1:
        raise TamisError(f"test_size must be a share between 0 and 1; got {test_size!r}")
    if y.ndim != 1 or y.shape[0] != X.shape[0]:
        raise TamisError(f"y needs a class for each of the {X.shape[0]} documents; got shape {y.shape}")
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise TamisError(f"class {classes.tolist()[int(counts.argmin())]!r} has one document, too few to hold some out")
    splitter = StratifiedShuffleSplit(n_splits, test_size=test_size, random_state=spawn(seed, 0))
    return list(splitter.split(np.zeros(y.size), y))
