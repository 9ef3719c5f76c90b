"""Class labels to whole numbers 0, 1, ... and back."""

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from tamis.base.errors import TamisError
from tamis.base.types import Codes


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
