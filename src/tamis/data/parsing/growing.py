"""An array that grows at its end without a second copy of it."""

import numpy as np
from numpy.typing import DTypeLike


class GrowingArray:
    """Values of one type that are added part after part.

    The memory is enlarged in place, which for large arrays moves pages and not values: an array of a gigabyte never
    needs two.

    Examples
    --------
    >>> numbers = GrowingArray(np.int32)
    >>> numbers.extend(np.array([1, 2]))
    >>> numbers.extend(np.array([3]))
    >>> numbers.values
    array([1, 2, 3], dtype=int32)
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.values = np.empty(0, dtype)

    def extend(self, more: np.ndarray) -> None:
        """Add values at the end; views of the array are no longer valid."""
        start = self.values.size
        self.values.resize(start + more.size, refcheck=False)
        self.values[start:] = more
