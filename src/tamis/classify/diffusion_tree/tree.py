"""A Dirichlet diffusion tree over rows: its shape and times, what was drawn with it, and its densities."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import gammaln

from tamis.base.types import Codes, FloatArray
from tamis.kernels.diffusion_messages import send_up
from tamis.kernels.diffusion_moves import LOOSE, regraft
from tamis.kernels.diffusion_places import add_densities, places

#: Places times columns that are computed together.
_TOGETHER = 2_000_000


class Rows(NamedTuple):
    """The rows of a tree: values (NaN where missing), class codes, and the shares of the classes."""

    values: FloatArray
    codes: Codes
    frequency: FloatArray


class Rates(NamedTuple):
    """What was drawn with a tree.

    `rate` has the three coefficients of a(t); `spread` and `noise` the variance of each column by diffusion until
    time 1, and by noise then. The class of a row is drawn anew at the rate `flip` on its way, and at its end with
    probability 1 - exp(-slip).
    """

    rate: FloatArray
    spread: FloatArray
    noise: FloatArray
    flip: float
    slip: float


class Places(NamedTuple):
    """Where a row may join a tree: log prior, and means and variances of columns and class probabilities there."""

    prior: FloatArray
    mean: FloatArray
    variance: FloatArray
    classes: FloatArray


class Densities(NamedTuple):
    """Log densities: of each column, and of the classes."""

    columns: FloatArray
    classes: float


def tables(n: int) -> FloatArray:
    """log((i - 1)!) and 1 + 1/2 + ... + 1/i of 0 to n."""
    whole = np.arange(1.0, n + 1.0)
    return np.vstack([np.r_[0.0, gammaln(whole)], np.r_[0.0, np.cumsum(1.0 / whole)]])


def hazard(rate: FloatArray, t: FloatArray) -> FloatArray:
    """a(t), at which the second row leaves the first."""
    found: FloatArray = rate[0] + rate[1] / (1.0 - t) + rate[2] / (1.0 - t) ** 2
    return found


def cumulative(rate: FloatArray, t: FloatArray) -> FloatArray:
    """The integral of a(t) from 0."""
    found: FloatArray = rate[0] * t - rate[1] * np.log1p(-t) + rate[2] * t / (1.0 - t)
    return found


@dataclass
class Tree:
    """Nodes 0 to n - 1 are the rows, at time 1; the n - 1 after them are where paths part.

    Attributes
    ----------
    links : array of shape (2 n - 1, 3)
        Parent and children; a parent of -1 is the origin, children of -1 are none.
    times : array
    sizes : array
        Rows at or below each node.
    top : int
        The node below the origin.
    """

    links: Codes
    times: FloatArray
    sizes: Codes
    top: int

    @classmethod
    def loose(cls, n: int, order: Codes) -> Self:
        """The first row of an order alone; each other is loose, with an inner node to come into the tree with."""
        links = np.full((2 * n - 1, 3), -1, dtype=np.int64)
        links[order[1:], 0] = np.arange(n, 2 * n - 1)
        links[n:, 0] = LOOSE
        times, sizes = np.ones(2 * n - 1), np.ones(2 * n - 1, dtype=np.int64)
        return cls(links, times, sizes, int(order[0]))

    @property
    def n_rows(self) -> int:
        return (self.times.size + 1) // 2

    @property
    def inner(self) -> Codes:
        """Inner nodes of the tree, children before parents."""
        found = np.flatnonzero(self.links[self.n_rows :, 0] != LOOSE) + self.n_rows
        return found[np.argsort(-self.times[found], kind="stable")]

    def is_sound(self) -> bool:
        """Whether the links make one tree whose times and sizes fit, so that compiled code stays inside its arrays."""
        n, count = self.n_rows, self.times.size
        links, sizes = self.links, self.sizes
        if links.shape != (count, 3) or sizes.shape != (count,) or count != 2 * n - 1 or not 0 <= self.top < count:
            return False
        if any(one.dtype != np.int64 for one in (links, sizes)) or not ((links >= -1) & (links < count)).all():
            return False
        inner, children = np.arange(n, count), links[n:, 1:]
        # Every node but the top is the child of one other, which comes before it.
        if (links[:n, 1:] != -1).any() or not np.array_equal(np.sort(np.r_[children.ravel(), self.top]), range(count)):
            return False
        if links[self.top, 0] != -1 or (links[children, 0] != inner[:, None]).any():
            return False
        later = (self.times[inner, None] < self.times[children]).all() and (self.times[:n] == 1.0).all()
        return bool(later and (sizes[:n] == 1).all() and (sizes[inner] == sizes[children].sum(axis=1)).all())

    def log_prior(self, rate: FloatArray) -> float:
        """Log density of shape and times: one for all orders in which the rows may have come."""
        inner = self.inner
        parents, sizes = self.links[inner, 0], self.sizes[inner]
        begins = np.where(parents >= 0, self.times[parents], 0.0)
        passed = cumulative(rate, self.times[inner]) - cumulative(rate, begins)
        log_factorial, harmonic = tables(self.n_rows)
        split = log_factorial[self.sizes[self.links[inner, 1]]] + log_factorial[self.sizes[self.links[inner, 2]]]
        split -= log_factorial[sizes]
        return float(np.sum(np.log(hazard(rate, self.times[inner])) + split - passed * harmonic[sizes - 1]))


class Messages:
    """What the rows below each node of a tree say of it."""

    def __init__(self, rows: Rows) -> None:
        n, n_columns = rows.values.shape
        self.rows = rows
        self.mean = np.zeros((2 * n - 1, n_columns))
        self.mean[:n] = np.where(np.isnan(rows.values), 0.0, rows.values)
        self.precision, self.classes = np.zeros_like(self.mean), np.zeros((2 * n - 1, rows.frequency.size))
        self.known = ~np.isnan(rows.values)
        self.tables = tables(n + 1)

    def of_noise(self, noise: FloatArray) -> None:
        """Write what each row says of its columns before the noise."""
        self.precision[: self.known.shape[0]] = self.known / noise

    def of_slip(self, slip: float) -> None:
        """Write what each row says of its class before it was drawn anew at the end."""
        n, frequency = self.known.shape[0], self.rows.frequency
        self.classes[:n] = -np.expm1(-slip) * frequency[self.rows.codes][:, None]
        self.classes[np.arange(n), self.rows.codes] += np.exp(-slip)

    def send_up(self, tree: Tree, rates: Rates) -> Densities:
        """Write the messages of all inner nodes."""
        found = np.empty(rates.spread.size)
        self.of_noise(rates.noise)
        self.of_slip(rates.slip)
        classes = send_up(
            tree.inner, tree.links, tree.times, rates.spread, rates.flip, self.rows.frequency,
            self.mean, self.precision, self.classes, found,
        )  # fmt: skip
        return Densities(found, classes)

    def regraft(self, tree: Tree, rates: Rates, nodes: Codes, uniform: FloatArray) -> None:
        """Draw the places of subtrees anew."""
        tree.top = regraft(
            nodes, uniform, rates.rate, self.tables, rates.spread, rates.flip, self.rows.frequency, tree.top,
            tree.links, tree.times, tree.sizes, self.mean, self.precision, self.classes,
        )  # fmt: skip

    def places(self, tree: Tree, rates: Rates, each: int, columns: slice = slice(None)) -> Places:
        """Where a new row may join, at `each` places of every branch, and some of its columns there."""
        count, spread = tree.times.size * each, rates.spread[columns]
        mean, classes = np.empty((count, spread.size)), np.empty((count, self.rows.frequency.size))
        prior, variance = np.full(count, -np.inf), np.empty_like(mean)
        up = (np.ascontiguousarray(one[:, columns]) for one in (self.mean, self.precision))
        places(
            tree.top, rates.rate, self.tables, spread, rates.flip, self.rows.frequency, tree.links, tree.times,
            tree.sizes, *up, self.classes, prior, mean, variance, classes,
        )  # fmt: skip
        stays = np.exp(-rates.slip)
        return Places(
            prior, mean, variance + rates.noise[columns], stays * classes + (1.0 - stays) * self.rows.frequency
        )

    def join(self, tree: Tree, rates: Rates, X: FloatArray, each: int) -> tuple[FloatArray, FloatArray]:
        """The log density of each new row, and its class probabilities, over all places by their posterior."""
        n, count = X.shape[0], tree.times.size * each
        logs = np.zeros((n, count))
        found = self.places(tree, rates, each, slice(0))
        width = max(1, _TOGETHER // count)
        for start in range(0, X.shape[1], width):
            columns = slice(start, start + width)
            there = self.places(tree, rates, each, columns)
            add_densities(np.ascontiguousarray(X[:, columns]), there.mean, there.variance, logs)
        logs += found.prior
        largest = logs.max(axis=1)
        share = np.exp(logs - largest[:, None])
        total = share.sum(axis=1)
        return largest + np.log(total), share @ found.classes / total[:, None]
