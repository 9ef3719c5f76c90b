"""What a fit begins with: class labels as codes 0, 1, ..., sample weights, and nothing of an earlier fit."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from tamis.base._sklearn import _check_sample_weight
from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray, Matrix


def encode_labels(y: Any, who: str, *, at_least: int = 2) -> tuple[np.ndarray, Codes]:
    """The sorted distinct labels of `y`, and for every row the number of its label.

    `who` names the method in the message when there are fewer than `at_least` classes.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.shape[0] < at_least:
        raise TamisError(f"{who} needs at least {at_least} classes; y has one class: {classes.tolist()[0]!r}")
    return classes, codes.astype(np.intp, copy=False)


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """The pairs of classes (a, b), a < b, in the order that one-against-one methods use."""
    return list(combinations(range(n_classes), 2))


def check_weights(sample_weight: Any, X: Matrix) -> FloatArray | None:
    """Sample weights as an array, one of zero or above for each row of `X`; None stays None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def forget(estimator: Any) -> None:
    """Delete what an earlier fit learnt: with other parameters it must not pass for what this one learns."""
    for name in [n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")]:
        delattr(estimator, name)
