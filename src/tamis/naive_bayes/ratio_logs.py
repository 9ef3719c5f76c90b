"""Logarithms of ratios of counts, rounded so that equal products of different ratios have equal sums."""

from dataclasses import dataclass

import numpy as np

from tamis.base.types import FloatArray

#: Bits of a sum of logarithms: two less than a double holds exactly.
_BITS = 51

#: Most binary digits behind the point.
_FINEST = 44

#: Largest denominator of counts, and largest whole number, that is taken apart into primes.
_DENOMINATOR, _LARGEST = 1000, 10**8


@dataclass(frozen=True)
class RatioLogs:
    """Logarithms of counts and of their ratios, as multiples of 1 / `grid`, of which sums are exact.

    Counts are multiples of 1 / `denominator`. As whole numbers they are taken apart into primes, and only the
    logarithms of primes are rounded: the logarithm of a product is exactly the sum of those of its factors, so that
    1/6 times 1 and 1/2 times 1/3 add up to the same. With the denominator 0 each logarithm is rounded by itself.

    Examples
    --------
    >>> logs = RatioLogs.of(np.ones(6), alpha=0.5, n_terms=2, largest=6.0)
    >>> logs.denominator
    2
    >>> bool(logs.ratio(np.array([0.5]), np.array([3.0])) == sum(logs.ratio(np.array([0.5, 1]), np.array([1.0, 3]))))
    True
    """

    denominator: int
    grid: float

    @classmethod
    def of(cls, weight: FloatArray, *, alpha: float, n_terms: int, largest: float) -> "RatioLogs":
        """Those for sums of `n_terms` logarithms of ratios, of counts up to `largest`.

        Counts are sums of `weight`, of the rows, and `alpha`. Where these have no common denominator up to 1000, equal
        products are not made equal.
        """
        parts = np.append(np.unique(weight), alpha)
        smallest = min(alpha, float(parts.min()))
        size = max(abs(np.log(largest)), abs(np.log(smallest)), 1.0) + abs(np.log(smallest))
        bits = int(np.clip(_BITS - np.ceil(np.log2(2 * size * (n_terms + 1))), 0, _FINEST))
        return cls(_denominator(parts, largest), 2.0**bits)

    def __call__(self, counts: FloatArray) -> FloatArray:
        """The logarithm of each count, times the denominator; counts are above zero."""
        if not self.denominator:
            return self._rounded(np.log(counts))
        different, place = np.unique(np.rint(counts * self.denominator).astype(np.int64), return_inverse=True)
        out = np.zeros(different.size)
        rest = different.copy()
        for prime in _primes(int(np.sqrt(different[-1]))):
            logarithm = self._rounded(np.log(prime))
            own = np.flatnonzero(rest % prime == 0)
            while own.size:
                out[own] += logarithm
                rest[own] //= prime
                own = own[rest[own] % prime == 0]
        # What is left is 1 or one large prime.
        return np.asarray((out + self._rounded(np.log(rest)))[place].reshape(np.shape(counts)))

    def ratio(self, counts: FloatArray, totals: FloatArray) -> FloatArray:
        """The logarithms of counts over totals."""
        if not self.denominator:
            return self._rounded(np.log(counts / totals))
        return self(counts) - self(totals)

    def _rounded(self, values: FloatArray | float) -> FloatArray:
        return np.asarray(np.rint(np.asarray(values) * self.grid) / self.grid)


def _denominator(parts: FloatArray, largest: float) -> int:
    """The smallest number by which some counts are whole, or 0."""
    for factor in range(1, _DENOMINATOR + 1):
        whole = np.rint(parts * factor)
        if (np.abs(parts * factor - whole) <= 1e-9 * whole).all():
            return factor if largest * factor < _LARGEST else 0
    return 0


def _primes(most: int) -> list[int]:
    """All primes up to a number.

    >>> _primes(12)
    [2, 3, 5, 7, 11]
    """
    sieve = np.ones(max(most + 1, 2), dtype=bool)
    sieve[:2] = False
    for number in range(2, int(np.sqrt(most)) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    return [int(prime) for prime in np.flatnonzero(sieve)]
