"""Functions of one column with height 1 at their centre and a deviation of 1."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from tamis.base.types import FloatArray

#: Slope times half-width of the biradial function.
_EDGE = 4.0

#: Half-widths at half height that give a deviation of 1.
_TRAPEZOID = math.sqrt(2.4)
_BIRADIAL = 1 / math.sqrt(1 / 3 + math.pi**2 / (3 * _EDGE**2))


@dataclass(frozen=True)
class Function:
    """A function of one column.

    Attributes
    ----------
    log : callable
        Its log at distances from the centre, in deviations; minus infinity where it is 0.
    half : float
        The distance at which it is one half, or falls from one to zero.
    """

    log: Callable[[FloatArray], FloatArray]
    half: float


def _gaussian(z: FloatArray) -> FloatArray:
    return -0.5 * z * z


def _triangular(z: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(1 - z / math.sqrt(6), 0.0)))


def _rectangular(z: FloatArray) -> FloatArray:
    # Of three equal values and another one, the latter lies on the edge.
    return np.where(z <= math.sqrt(3) * (1 + 1e-9), 0.0, -np.inf)


def _trapezoidal(z: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.clip(1.5 - z / _TRAPEZOID, 0.0, 1.0)))


def _biradial(z: FloatArray) -> FloatArray:
    u = z * (_EDGE / _BIRADIAL)
    return np.asarray(log_expit(u + _EDGE) + log_expit(_EDGE - u) - 2 * log_expit(_EDGE))


FUNCTIONS: dict[str, Function] = {
    "gaussian": Function(_gaussian, math.sqrt(2 * math.log(2))),
    "triangular": Function(_triangular, math.sqrt(1.5)),
    "rectangular": Function(_rectangular, math.sqrt(3)),
    "trapezoidal": Function(_trapezoidal, _TRAPEZOID),
    "biradial": Function(_biradial, _BIRADIAL),
}
