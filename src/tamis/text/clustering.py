"""Clusters of documents by k-means, and how often they name the class of new documents."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.validation import check_whole


def kmeans(
    X: Any,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> KMeans:
    """K-means, started many times; the start with the smallest squared distances to the centres wins.

    The starts are those of k-means++, which stand in for the seeds that Tang et al. select beforehand. One thread
    computes, so that the result is the same everywhere.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
    n_clusters : int
        At most the number of rows; fewer come back where fewer rows differ.
    n_init : int, default=10
        Number of starts.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    sklearn.cluster.KMeans
        Fitted: ``labels_`` of the rows, ``predict`` for new ones.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> model = kmeans(X, 2, random_state=0)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2]), bool(model.predict([[4.0]]) == model.labels_[2])
    (True, True)
    """
    check_whole("n_clusters", n_clusters, 1)
    check_whole("n_init", n_init, 1)
    if n_clusters > X.shape[0]:
        raise TamisError(f"n_clusters={n_clusters} is more than the {X.shape[0]} rows to be clustered")
    seed = int(generator(random_state).integers(2**31))
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Rows may be equal, so that there are fewer clusters than asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, n_init=n_init, random_state=seed).fit(with_short_indices(X))


def with_short_indices(X: Any) -> Any:
    """Rows as scikit-learn's k-means takes them: sparse ones with indices of 32 bits."""
    if not sp.issparse(X) or X.format != "csr" or X.indices.dtype == np.int32:
        return X
    if max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        raise TamisError(f"k-means takes at most {np.iinfo(np.int32).max} values of sparse rows; got {X.nnz}")
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def cluster_classes(clusters: Any, y: Any) -> dict[Any, Any]:
    """The class of each cluster by the majority of its rows; the first in sorted order of equals.

    Parameters
    ----------
    clusters, y : arrays of shape (n_rows,)
        The cluster and the class of each training row.

    Returns
    -------
    dict of cluster to class

    Examples
    --------
    >>> cluster_classes([0, 0, 0, 1, 1], ["a", "b", "b", "b", "a"])
    {0: 'b', 1: 'a'}
    """
    clusters, y = _paired(clusters, y, "training")
    if clusters.size == 0:
        raise TamisError("there are no training rows, so that no cluster has a class")
    numbers, place = np.unique(clusters, return_inverse=True)
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((numbers.size, classes.size), dtype=np.intp)
    np.add.at(votes, (place, codes), 1)
    return dict(zip(numbers.tolist(), classes[votes.argmax(axis=1)].tolist(), strict=True))


def clustering_accuracy(clusters: Any, y: Any, test_clusters: Any, y_test: Any) -> float:
    """Share of the test rows whose class is that of their cluster: CA, micro-averaged over the clusters.

    A cluster i has the class T_i of the majority of its training rows. CA_i is the share of the test rows in it that
    are of class T_i, and CA the mean of the CA_i weighted by the numbers of test rows. Test rows have no part in the
    clusters nor in their classes; one in a cluster without training rows counts as wrong.

    Parameters
    ----------
    clusters, y : arrays of shape (n_train,)
        The cluster and the class of each training row.
    test_clusters, y_test : arrays of shape (n_test,)
        The closest cluster and the class of each test row.

    Returns
    -------
    float

    References
    ----------
    Tang, Shepherd, Milios and Heywood (2005), "Comparing and combining dimension reduction techniques for efficient
    text clustering", section 3.1.

    Examples
    --------
    >>> clustering_accuracy([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"], [0, 0, 1, 1], ["a", "b", "b", "b"])
    0.75
    """
    test_clusters, y_test = _paired(test_clusters, y_test, "test")
    if test_clusters.size == 0:
        raise TamisError("there are no test rows, so that clusters have no accuracy")
    known = cluster_classes(clusters, y)
    pairs = zip(test_clusters.tolist(), y_test.tolist(), strict=True)
    return sum(cluster in known and known[cluster] == label for cluster, label in pairs) / test_clusters.size


def _paired(clusters: Any, y: Any, which: str) -> tuple[np.ndarray, np.ndarray]:
    clusters, y = np.asarray(clusters), np.asarray(y)
    if clusters.ndim != 1 or clusters.shape != y.shape:
        raise TamisError(f"the {which} rows need one cluster and one class each; got {clusters.shape} and {y.shape}")
    return clusters, y
