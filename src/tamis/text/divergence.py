"""Divergence of the classes of a word from the classes of all words."""

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.base.validation import check_number
from tamis.kernels.kl import kl_rows


def class_shares(class_totals: FloatArray) -> FloatArray:
    """p(c), the share of each class in all tokens; `class_totals` (n_words, n_classes) counts words in classes.

    The paper leaves open whether p(c) counts documents or tokens. With counts of words an event is a token, so the
    share of tokens is the mean of p(c | w) over tokens: a word that is spread as all words are has no divergence, and
    the mean divergence is the mutual information of word and class. With the share of documents, words would score
    because the documents of a class are long.
    """
    totals = class_totals.sum(axis=0)
    everything = totals.sum()
    return np.asarray(totals / everything if everything > 0 else totals, dtype=np.float64)


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
