"""Forward selection: add one feature after another."""

from typing import ClassVar

from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.incremental.sequential import Sequential, Steps, best_addition, best_single
from tamis.incremental.subset_score import SubsetScore


class SFS(Sequential):
    """Add one feature after another, each time the one with which a classifier does best (forward selection).

    The worth of a set of features is the mean accuracy of the classifier on them over the folds of an internal
    stratified cross-validation on the training rows, less `caution` deviations.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier, or a pipeline that ends in one. By default scikit-learn's ``GaussianNB()``.
    k : int, optional
        Features to keep; all when there are fewer. By default the search ends when no step raises the worth by more
        than `tol`.
    tol : float, default=0.0
        Without `k`: a step must raise the worth by more than this.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What is averaged over the folds; balanced accuracy is the mean over classes.
    caution : float, default=0.0
        How many deviations over the folds count against a set (Grabczewski and Jankowski, eq. 25).
    cv : int, default=5
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
    order_ : int array
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
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Whitney 1971; Kittler 1978",
        limits=Limits(columns=60),
    )

    def _steps(self, score: SubsetScore, alone: FloatArray, n_features: int) -> Steps:
        met = best_single(alone)
        yield met, [1]
        while met.columns.size < n_features:
            met = best_addition(score, met.columns, n_features)
            yield met, [met.columns.size]
