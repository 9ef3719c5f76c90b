"""Slice sampling of many independent numbers side by side."""

from collections.abc import Callable

import numpy as np

from tamis.base.types import FloatArray

#: Steps by which a slice is widened, at most; where it ends is drawn, so that the limit leaves the posterior as it is.
_STEPS = 8


def slice_draw(
    x: FloatArray,
    log_density: Callable[[FloatArray], FloatArray],
    rng: np.random.Generator,
    width: float = 1.0,
) -> FloatArray:
    """Move each number by one step that leaves its own density as it is (Neal 2003, "Slice sampling").

    Parameters
    ----------
    x : array
        The numbers at hand.
    log_density : callable
        The log densities of an array of numbers, each of its own.
    rng : Generator
    width : float
        The first width of a slice, about the spread of the densities.

    Returns
    -------
    array
        The new numbers.
    """
    level = log_density(x) - rng.exponential(size=x.shape)
    low = x - width * rng.random(x.shape)
    high = low + width
    steps_low = rng.integers(0, _STEPS, size=x.shape)
    steps_high = _STEPS - 1 - steps_low
    for end, steps, way in ((low, steps_low, -width), (high, steps_high, width)):
        going = steps > 0
        while going.any():
            going &= log_density(np.where(going, end, x)) > level
            end[going] += way
            steps[going] -= 1
            going &= steps > 0
    found = x.copy()
    seeking = np.ones(x.shape, dtype=bool)
    while seeking.any():
        tried = np.where(seeking, low + (high - low) * rng.random(x.shape), found)
        inside = (log_density(tried) >= level) | ~(high - low > 1e-12 * (1.0 + np.abs(x)))
        found = np.where(seeking & inside, tried, found)
        seeking &= ~inside
        low = np.where(seeking & (tried < x), tried, low)
        high = np.where(seeking & (tried >= x), tried, high)
    return found
