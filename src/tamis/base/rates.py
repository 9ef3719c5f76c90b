"""How often predicted classes are right: what models are compared by inside a fit."""

from collections.abc import Callable

import numpy as np

from tamis.base.types import Codes, FloatArray


def accuracy(truth: Codes, said: Codes) -> float:
    """Share of the rows answered rightly."""
    return float(np.mean(truth == said))


def class_errors(truth: Codes, said: Codes) -> tuple[FloatArray, FloatArray]:
    """Share of each class that has rows that was answered wrongly, and the class's number of rows."""
    sizes = np.bincount(truth)
    wrong = np.bincount(truth[said != truth], minlength=sizes.size)
    present = sizes > 0
    return wrong[present] / sizes[present], sizes[present].astype(np.float64)


def balanced_accuracy(truth: Codes, said: Codes) -> float:
    """Mean, over the classes that have rows, of the share of the class answered rightly; 1 - BER.

    Examples
    --------
    >>> balanced_accuracy(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]))
    0.625
    """
    return 1.0 - float(class_errors(truth, said)[0].mean())


#: The measures by the name users type.
RATES: dict[str, Callable[[Codes, Codes], float]] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
