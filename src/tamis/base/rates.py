"""How often predicted classes are right: what models are compared by inside a fit."""

from collections.abc import Callable

import numpy as np

from tamis.base.types import Codes


def accuracy(truth: Codes, said: Codes) -> float:
    """Share of the rows answered rightly."""
    return float(np.mean(truth == said))


def balanced_accuracy(truth: Codes, said: Codes) -> float:
    """Mean, over the classes that have rows, of the share of the class answered rightly; 1 - BER.

    Examples
    --------
    >>> balanced_accuracy(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]))
    0.625
    """
    sizes = np.bincount(truth)
    right = np.bincount(truth[truth == said], minlength=sizes.size)
    return float(np.mean(right[sizes > 0] / sizes[sizes > 0]))


#: The measures by the name users type.
RATES: dict[str, Callable[[Codes, Codes], float]] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
