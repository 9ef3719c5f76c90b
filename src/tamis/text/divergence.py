"""Divergence of the classes of a word from the classes of all words."""

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import check_number
from tamis.kernels.kl import kl_rows


def class_shares(class_totals: FloatArray, *, smoothing: float = 10.0) -> FloatArray:
    """p(c), the share of each class in all words, counted and smoothed as those of one word are.

    The paper leaves open whether p(c) counts documents or words, and whether it is smoothed. With counts of words an
    event is a word, so p(c) is the mean of p(c | w) over words: a word that is spread as all words are has no
    divergence. With the share of documents words would score because the documents of a class are long, and without
    smoothing rare words because the classes are unequal.

    Parameters
    ----------
    class_totals : array of shape (n_words, n_classes)
        Occurrences of each word in each class; words without any do not count.
    smoothing : float, default=10
        Added to every count.
    """
    check_number("smoothing", smoothing, 0.0, np.inf)
    occurs = class_totals.any(axis=1)
    totals = class_totals.sum(axis=0)
    # A class without words has no share, however much is added to its counts.
    smoothed = np.where(totals > 0, totals + smoothing * occurs.sum(), 0.0)
    everything = smoothed.sum()
    return np.asarray(smoothed / everything if everything > 0 else smoothed, dtype=np.float64)


def kl_divergence(class_totals: FloatArray, reference: FloatArray, *, smoothing: float = 10.0) -> FloatArray:
    """The information about the class in each word, in nats [1]_.

    With n_wc occurrences of word w in class c and s the smoothing,

        p(c | w) = (n_wc + s) / sum_d (n_wd + s),    KL_w = sum_c p(c | w) log(p(c | w) / p(c)).

    Parameters
    ----------
    class_totals : array of shape (n_words, n_classes)
        Occurrences of each word, or of each n-gram, in each class.
    reference : array of shape (n_classes,)
        p(c), as from :func:`class_shares`. A class of share 0 is left out.
    smoothing : float, default=10
        Added to every count, so that a rare word tells little.

    Returns
    -------
    array of shape (n_words,)
        At least 0. It is 0 for a word without counts and smoothing.

    References
    ----------
    .. [1] C. Boulis and M. Ostendorf, "Text classification by augmenting the bag-of-words representation with
       redundancy-compensated bigrams", Workshop on Feature Selection for Data Mining, 2005, eq. 2.2.

    Examples
    --------
    >>> kl_divergence(np.array([[90.0, 0.0], [45.0, 45.0]]), np.array([0.5, 0.5])).round(3)
    array([0.389, 0.   ])
    """
    check_number("smoothing", smoothing, 0.0, np.inf)
    counts = np.ascontiguousarray(class_totals, dtype=np.float64)
    if counts.ndim != 2 or reference.shape != (counts.shape[1],):
        raise TamisError(f"counts of shape {counts.shape} do not fit {reference.size} shares of classes")
    with np.errstate(divide="ignore"):
        log_reference = np.log(np.asarray(reference, dtype=np.float64))
    out = np.empty(counts.shape[0])
    kl_rows(counts, log_reference, float(smoothing), out)
    return out
