"""Some of the rows, to draw."""

import numpy as np

from tamis.base.seeds import generator
from tamis.base.types import Codes


def sampled(codes: Codes, most: int) -> np.ndarray:
    """At most `most` rows with about the same share of every class, and one of each class where possible.

    Examples
    --------
    >>> sampled(np.array([0, 0, 0, 0, 1, 1]), 3).size, sampled(np.array([0, 1]), 3).tolist()
    (3, [0, 1])
    """
    n = codes.size
    if n <= most:
        return np.arange(n)
    rng = generator(0)
    shuffled = rng.permutation(n)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sizes = np.bincount(codes)
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    share = place / np.repeat(sizes, sizes)
    return np.sort(by_class[np.lexsort((rng.permutation(n), share))[:most]])
