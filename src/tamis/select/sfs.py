"""Forward selection: add one feature after another."""

from typing import ClassVar

from tamis.base.part import Limits, Part
from tamis.base.search_range import geom
from tamis.base.types import FloatArray
from tamis.subsets.measure import Measure
from tamis.subsets.sequential import Sequential, Steps, best_addition, best_single


class SFS(Sequential):
    """Forward selection: add one feature after another, each time the one with which a model does best.

    The score of a set of features is the mean accuracy of the classifier on them over the folds of an internal
    stratified cross-validation on the training rows, less `caution` standard deviations; or another measure. With a
    target of numbers it is the mean over folds of

        1 - mean squared error / variance of the target in all rows,

    R2 with one variance for all folds: sets are in the order of their mean squared errors.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier or regressor, or a pipeline that ends in one. By default scikit-learn's ``GaussianNB()``, of
        numbers its ``Ridge()``.
    k : int, optional
        Features to select; all when there are fewer. By default the search ends when no step raises the score by more
        than `tol`.
    tol : float, default=0.0
        Without `k`: a step must raise the score by more than this.
    measure, bins
        As for :class:`BestFirst`; "classifier" by default. The other measures need no estimator.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What is averaged over the folds, of classes; balanced accuracy is the mean over these.
    caution : float, default=0.0
        Standard deviations over the folds that are subtracted from the mean (Grabczewski and Jankowski, eq. 25).
    cv : int, default=5
        Folds of the internal cross-validation; fewer when the largest class has fewer rows. Numbers are stratified by
        their size.
    n_jobs : int, optional
        Processes that fit models in parallel; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into folds, and seeds a model without a seed of its own. All sets get the same folds and seeds.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default what `estimator` is for, and without one numbers with
        fractions are numbers.

    Attributes
    ----------
    chosen_ : int array
        The selected features, in the order in which they were added.
    path_ : float array
        Scores of the sets of 1, 2, ... features, up to the selected set.
    scores_ : float array of shape (n_features,)
        n + 1 for the first of n selected features, down to 2 for the last; for the others their score alone, at most 1.
    order_ : int array
        Column numbers by falling `scores_`.

    See Also
    --------
    SBS : Removes features instead.
    PTA, SFFS : Add and remove features.
    Wrapper : Tries each feature once, in the order of their scores alone.

    Notes
    -----
    Of sets with the same score the one with the earliest column wins. Nearest neighbours (``knn`` and scikit-learn's),
    ``GaussianNB``, ``LinearDiscriminantAnalysis``, ``RidgeClassifier`` and ``NearestCentroid`` are updated when one
    feature changes; so are the regressors ``knn`` and ``ridge`` (with a given penalty) and scikit-learn's
    ``KNeighborsRegressor`` and ``Ridge``. The result is the same, many times faster than a fit for every set and fold.
    Updates hold a copy of the rows for each fold and run in one process. All other models are refitted.

    The score is the best of many and no honest estimate of accuracy on new data. Validate the whole model instead
    (``tamis.validate``). A set whose features are all constant in the training rows of a fold predicts the most
    frequent class there, or the mean.

    References
    ----------
    Whitney (1971), "A direct method of nonparametric measurement selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import SFS
    >>> X, y = np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> SFS(random_state=0).fit(X, y).chosen_
    array([1, 3])
    >>> SFS(k=2, random_state=0).fit(X, X[:, 2] - 2 * X[:, 0]).chosen_
    array([0, 2])
    """

    part: ClassVar[Part] = Part(
        "sfs",
        positional=("estimator",),
        search={"k": geom(1, 100, 5)},
        paper="Whitney 1971; Kittler 1978",
        numbers_only=Sequential.numbers_only,
        only=Sequential.only,
        limits=Limits(columns=60),
    )

    def _steps(self, score: Measure, alone: FloatArray, n_features: int) -> Steps:
        current = best_single(alone)
        yield current, [1]
        while current.columns.size < n_features:
            current = best_addition(score, current.columns, n_features)
            yield current, [current.columns.size]
