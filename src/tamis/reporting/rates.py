"""How often predictions are right, class by class, with Wilson's intervals."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from tamis.base.types import Codes

#: Standard errors to each side of the mean that hold 95 % of a normal distribution.
_REACH = 1.959963984540054


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a probability, from the share that was seen in `n` cases.

    References
    ----------
    Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0.9, 10)], wilson(0.0, 0)
    ([0.596, 0.982], (0.0, 1.0))
    """
    if n <= 0:
        return 0.0, 1.0
    square = _REACH**2 / n
    middle = (share + square / 2) / (1 + square)
    half = _REACH / (1 + square) * sqrt(share * (1 - share) / n + square / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def rates(truth: Codes, predicted: Codes, classes: Sequence[str], *, repeats: float = 1.0) -> list[dict[str, Any]]:
    """Shares of correct predictions: of two classes sensitivity, specificity and the predictive values, else by class.

    The second of two classes is the positive one. `repeats` is how often each row was predicted on average: an interval
    counts a row once.

    Returns
    -------
    list of dict
        ``what``, ``class``, ``right`` of ``of`` predictions, ``share``, ``low`` and ``high``; the last three are None
        where there is no such prediction.

    Examples
    --------
    >>> found = rates(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), ["well", "ill"])
    >>> [(one["what"], one["right"], one["of"]) for one in found][:3]
    [('sensitivity', 2, 2), ('specificity', 1, 2), ('positive predictive value', 2, 3)]
    """
    k = len(classes)
    right = np.bincount(truth[truth == predicted], minlength=k)
    true, given = np.bincount(truth, minlength=k), np.bincount(predicted, minlength=k)
    if k == 2:
        wanted = [("sensitivity", 1, true), ("specificity", 0, true)]
        wanted += [("positive predictive value", 1, given), ("negative predictive value", 0, given)]
    else:
        wanted = [(what, c, of) for c in range(k) for what, of in (("recall", true), ("precision", given))]
    return [_rate(what, classes[c], int(right[c]), int(of[c]), repeats) for what, c, of in wanted]


def _rate(what: str, label: str, right: int, of: int, repeats: float) -> dict[str, Any]:
    share = right / of if of else None
    low, high = (None, None) if share is None else wilson(share, of / repeats)
    return {"what": what, "class": label, "right": right, "of": of, "share": share, "low": low, "high": high}
