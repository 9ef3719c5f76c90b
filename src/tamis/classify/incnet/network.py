"""A growing network: its state in the filter, passes over the rows, merging, and its output."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import log_expit
from scipy.stats import chi2

from tamis.base.types import FloatArray
from tamis.kernels.growing_network import BIRADIAL, DIAGONAL, FULL, GAUSSIAN, NEURON, filter_pass

Function = Literal["gaussian", "biradial"]
Filter = Literal["full", "neuron", "diagonal"]

FUNCTIONS: dict[str, int] = {"gaussian": GAUSSIAN, "biradial": BIRADIAL}
FILTERS: dict[str, int] = {"full": FULL, "neuron": NEURON, "diagonal": DIAGONAL}

#: Slope times width of a new biradial function: it is 0.96 of the function with vertical edges at its centre.
_EDGE = 4.0

#: Curvature of the log of a biradial function at its centre, for a slope of 1 and this edge.
_CURVATURE = 2 * math.exp(-_EDGE) / (1 + math.exp(-_EDGE)) ** 2


@dataclass(frozen=True)
class Rules:
    """How a network grows, is pruned and merged."""

    function: Function
    filter: Filter
    max_neurons: int
    noise: float
    grow: float
    prune: float
    merge: float
    width: float
    prior: float
    process: float

    def settings(self) -> FloatArray:
        """The settings of the kernel."""
        width, slope = math.log(self.width), 0.0
        if self.function == "biradial":
            # At its centre it is curved like the Gaussian.
            slope = math.log(math.sqrt(2 / _CURVATURE) / self.width)
            width = math.log(_EDGE) - slope
        bounds = [float(chi2.ppf(one, 1)) if one > 0 else 0.0 for one in (self.grow, self.prune)]
        return np.array([*bounds, self.process, width, slope, self.prior, self.prior])


def neuron_size(function: Function, n_columns: int) -> int:
    """Parameters of a neuron."""
    return 2 + n_columns if function == "gaussian" else 1 + 3 * n_columns


def covariances(function: Function, kind: Filter, n_columns: int, max_neurons: int) -> int:
    """How many covariances a filter holds."""
    size = neuron_size(function, n_columns)
    total = 1 + max_neurons * size
    return total * {"full": total, "neuron": size, "diagonal": 1}[kind]


class GrowingNetwork:
    """A network in training."""

    def __init__(self, rules: Rules, n_columns: int) -> None:
        self.rules = rules
        self.n_columns = n_columns
        self.size = neuron_size(rules.function, n_columns)
        self.settings = rules.settings()
        total = 1 + rules.max_neurons * self.size
        width = covariances(rules.function, rules.filter, n_columns, rules.max_neurons) // total
        self.state = np.zeros(total)
        self.covariance = np.zeros((total, width))
        self.covariance[0, 0] = rules.prior
        self.counts = np.zeros(3, dtype=np.intp)
        self.merged = 0

    @property
    def parameters(self) -> FloatArray:
        """Threshold and neurons, without the free places."""
        return self.state[: 1 + int(self.counts[0]) * self.size].copy()

    def scaled(self, unit: float, zero: float) -> FloatArray:
        """The parameters of a network whose output is `unit` times as large, and `zero` more."""
        found = self.parameters
        found[0] = zero + unit * found[0]
        found[1 :: self.size] *= unit
        return found

    def train(self, rows: FloatArray, targets: FloatArray, weight: FloatArray, order: np.ndarray) -> None:
        """One pass over the rows, and merging after it."""
        rules = self.rules
        filter_pass(
            rows, targets, rules.noise / weight, order, self.settings, FUNCTIONS[rules.function],
            FILTERS[rules.filter], rules.max_neurons, self.counts, self.state, self.covariance,
        )  # fmt: skip
        while rules.merge > 0 and self.counts[0] > 1 and self._merge(rows, weight):
            self.merged += 1

    def _merge(self, rows: FloatArray, weight: FloatArray) -> bool:
        """Replace the most alike pair of neurons by one, if it does nearly the same on the rows."""
        neurons = self.parameters[1:].reshape(-1, self.size)
        values = np.column_stack(list(activations(self.parameters, rows, self.rules.function)))
        outputs = values * neurons[:, 0]
        products = outputs.T @ (outputs * weight[:, None])
        size = np.sqrt(np.maximum(np.diag(products), np.finfo(float).tiny))
        # Other pairs are not tried, since each takes a pass over the rows; nor are neurons of opposite signs.
        cosine = products / size / size[:, None]
        pairs = np.argwhere(np.triu(cosine > max(1 - 4 * self.rules.merge, 0.0), 1))
        best, least = None, self.rules.merge
        for i, j in pairs:
            joined = self._joined(neurons, int(i), int(j))
            new = np.concatenate([[0.0], joined])
            output = next(activations(new, rows, self.rules.function)) * joined[0]
            both = outputs[:, i] + outputs[:, j]
            apart = float(weight @ (both - output) ** 2) / max(float(weight @ both**2), np.finfo(float).tiny)
            if apart < least:
                best, least = (int(i), int(j), joined), apart
        if best is None:
            return False
        self._replace(*best)
        return True

    @staticmethod
    def _shares(neurons: FloatArray, i: int, j: int) -> tuple[float, float]:
        total = neurons[i, 0] + neurons[j, 0]
        return float(neurons[i, 0] / total), float(neurons[j, 0] / total)

    def _joined(self, neurons: FloatArray, i: int, j: int) -> FloatArray:
        """The sum of two weights, and the means of the rest by weight."""
        a, b = self._shares(neurons, i, j)
        joined = a * neurons[i] + b * neurons[j]
        joined[0] = neurons[i, 0] + neurons[j, 0]
        return joined

    def _replace(self, i: int, j: int, joined: FloatArray) -> None:
        """Put a neuron in place of two; its covariances are those of the sums and means that it is made of."""
        size, last = self.size, int(self.counts[0]) - 1
        a, b = self._shares(self.parameters[1:].reshape(-1, size), i, j)
        here, there, end = (slice(1 + k * size, 1 + (k + 1) * size) for k in (i, j, last))
        by = np.full(size, a), np.full(size, b)
        by[0][0] = by[1][0] = 1.0
        P, kind = self.covariance, self.rules.filter
        self.state[here] = joined
        if kind == "full":
            n = 1 + (last + 1) * size
            P[here, :n] = by[0][:, None] * P[here, :n] + by[1][:, None] * P[there, :n]
            P[:n, here] = by[0] * P[:n, here] + by[1] * P[:n, there]
        elif kind == "neuron":
            P[here] = np.outer(by[0], by[0]) * P[here] + np.outer(by[1], by[1]) * P[there]
        else:
            P[here, 0] = by[0] ** 2 * P[here, 0] + by[1] ** 2 * P[there, 0]
        # The last neuron takes the free place.
        if j != last:
            self.state[there] = self.state[end]
            if kind == "full":
                P[there, :n] = P[end, :n]
                P[:n, there] = P[:n, end]
            else:
                P[there] = P[end]
        self.counts[0] = last


def activations(parameters: FloatArray, rows: FloatArray, function: Function) -> Iterator[FloatArray]:
    """The values of the neurons' functions on the rows, neuron by neuron."""
    p = rows.shape[1]
    for neuron in parameters[1:].reshape(-1, neuron_size(function, p)):
        apart = rows - neuron[1 : 1 + p]
        if function == "gaussian":
            yield np.exp(-np.einsum("ij,ij->i", apart, apart) * math.exp(-2 * neuron[-1]))
        else:
            width, slope = np.exp(neuron[1 + p : 1 + 2 * p]), np.exp(neuron[1 + 2 * p :])
            edges = log_expit(slope * (apart + width)) + log_expit(-slope * (apart - width))
            yield np.exp((edges - 2 * log_expit(slope * width)).sum(axis=1))


def output(parameters: FloatArray, rows: FloatArray, function: Function) -> FloatArray:
    """The output of a network on the rows."""
    total = np.full(rows.shape[0], parameters[0])
    weights = parameters[1 :: neuron_size(function, rows.shape[1])]
    for weight, values in zip(weights, activations(parameters, rows, function), strict=True):
        total += weight * values
    return total
