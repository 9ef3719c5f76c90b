"""Moves of a precision together with the weights that it governs, each accepted or refused."""

import numpy as np

from tamis.base.types import Codes, FloatArray
from tamis.bayes.density import Data, row_log_likelihood
from tamis.bayes.network import Network
from tamis.bayes.precisions import Precisions
from tamis.bayes.priors import Priors

#: Deviations of the moves of a log precision; each move draws one of them.
_STEPS = (0.3, 1.0, 3.0)

#: Groups of inputs that are moved in a round; where there are more, this many are drawn.
_GROUPS = 50


class Rescaling:
    """All chains while their precisions are multiplied by random factors, and weights by the inverse roots of these.

    Given the weights a precision moves little at a time, the less the more weights it governs; so draws of one given
    the other mix slowly where the rows say little of a scale. When both move, the weights in units of their prior
    deviation stay as they are, so that the likelihood and the prior of the precision decide: the scale of weights that
    do nothing moves over its whole prior. These are the moves of the noncentred model, in turn with the draws of the
    centred one.

    Attributes
    ----------
    weights, precisions, likelihood, outputs
        With a line for each chain. Outputs are those for all rows; the likelihood is the logarithm, for numbers up to
        terms of the noise alone.

    References
    ----------
    Yu and Meng (2011), "To center or not to center: that is not the question", Journal of Computational and Graphical
    Statistics 20.
    """

    def __init__(self, network: Network, data: Data, precisions: Precisions, weights: FloatArray) -> None:
        self.network, self.data = network, data
        self.precisions = Precisions(*(one.copy() for one in precisions))
        self.weights = weights.copy()
        # Views of the weights.
        self.layers = network.layers(self.weights)
        self.products = data.X @ self.layers[0][0]
        self.likelihood, self.outputs = self._evaluate(self.products)

    def sweep(self, rng: np.random.Generator, priors: Priors) -> None:
        """A move of the precision of each group of inputs, of all of these, and of those of each later layer."""
        own, data = self.precisions, self.data
        matrix = self.layers[0][0]
        groups = np.flatnonzero(data.in_use)
        if groups.size > _GROUPS:
            groups = np.sort(rng.choice(groups, _GROUPS, replace=False))
        for group in groups:
            columns = np.flatnonzero(data.groups == group)
            part = data.X[..., columns] @ matrix[:, columns]
            self._move(rng, own.inputs[:, group], own.common, priors.ard_shape, matrix, columns, part)
        # The common precision takes those of all inputs with it: in units of it they stay as they are.
        inputs = own.inputs[:, data.in_use] / own.common[:, None]
        every = np.flatnonzero(data.in_use[data.groups])
        self._move(rng, own.common, priors.input_scale**-2, priors.shape, matrix, every, self.products)
        own.inputs[:, data.in_use] = inputs * own.common[:, None]
        for layer in range(len(self.network.hidden)):
            self._move(rng, own.biases[:, layer], priors.bias_scale**-2, priors.shape, self.layers[layer][1])
            self._move(rng, own.later[:, layer], priors.later_scale**-2, priors.shape, self.layers[layer + 1][0])

    def _move(
        self,
        rng: np.random.Generator,
        precision: FloatArray,
        mean: FloatArray | float,
        shape: float,
        weights: FloatArray,
        columns: Codes | slice = slice(None),
        part: FloatArray | None = None,
    ) -> None:
        """One move: of a view of a precision, with its prior, and of a view of weights, those below `columns` alone.

        `part` is what these weights add to the products with the first matrix.
        """
        growth = rng.choice(_STEPS) * rng.standard_normal(precision.size)
        factor = np.exp(-0.5 * growth).reshape(-1, *[1] * (weights.ndim - 1))
        before = weights[:, columns].copy()
        weights[:, columns] = before * factor
        products = self.products if part is None else self.products + (factor - 1.0) * part
        likelihood, outputs = self._evaluate(products)
        gain = likelihood - self.likelihood + 0.5 * shape * (growth - precision * np.expm1(growth) / mean)
        taken = np.log1p(-rng.random(precision.size)) < gain
        weights[:, columns] = np.where(taken.reshape(factor.shape), before * factor, before)
        precision[taken] *= np.exp(growth[taken])
        self.likelihood = np.where(taken, likelihood, self.likelihood)
        self.outputs[taken] = outputs[taken]
        if part is not None:
            self.products[taken] = products[taken]

    def _evaluate(self, products: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The log likelihood and the outputs."""
        found = products + self.layers[0][1][:, None]
        for matrix, biases in self.layers[1:]:
            found = np.tanh(found) @ matrix + biases[:, None]
        each = row_log_likelihood(self.network, self.data.y, self.precisions.noise[:, None], found, np)
        return (self.data.weight * each).sum(axis=-1), found
