"""Functions of counts, few of which are distinct."""

from collections.abc import Callable

import numpy as np

from tamis.base.types import FloatArray

#: Most values that a table may have, for every count that is looked up in it.
_LONGEST = 4


class Tabulated:
    """A function of numbers that looks its values up in a table where all numbers are counts: 0, 1, 2, ...

    The table is kept for further calls. Other numbers are computed one by one.

    Examples
    --------
    >>> root = Tabulated(np.sqrt)
    >>> root(np.array([[0.0, 4.0], [1.0, 9.0]]))
    array([[0., 2.],
           [1., 3.]])
    >>> root(np.array([6.25]))
    array([2.5])
    """

    def __init__(self, function: Callable[[FloatArray], FloatArray]) -> None:
        self._function = function
        self._table = np.empty(0)

    def __call__(self, numbers: np.ndarray) -> FloatArray:
        top = numbers.max(initial=0)
        if top <= _LONGEST * numbers.size and numbers.min(initial=0) >= 0:
            whole = numbers if numbers.dtype.kind in "iu" else numbers.astype(np.intp)
            if whole is numbers or (whole == numbers).all():
                if top >= self._table.size:
                    # Twice as long as needed, so that it seldom grows.
                    self._table = np.asarray(self._function(np.arange(2 * int(top) + 1, dtype=np.float64)))
                return self._table[whole]
        return np.asarray(self._function(numbers), dtype=np.float64)


def at_counts(function: Callable[[FloatArray], FloatArray], numbers: np.ndarray) -> FloatArray:
    """Values of a function at numbers, looked up where all are counts."""
    return Tabulated(function)(numbers)
