"""The sizes of leapfrog steps: of each weight from the precisions alone, and of all together by adaptation."""

import numpy as np

from tamis.base.types import FloatArray
from tamis.bayes.density import Data
from tamis.bayes.network import Network
from tamis.bayes.precisions import Precisions, of_each_weight
from tamis.bayes.priors import Priors


def squared_scales(
    network: Network, priors: Priors, data: Data, squares: FloatArray, precisions: Precisions
) -> FloatArray:
    """Neal's heuristic: the inverse of a bound of the second derivative of minus the log density by each weight.

    The bound adds to the prior precision what the data can add: the sum over the rows of the squared value that the
    weight multiplies, times the curvature at the unit above. That of an output is at most 1/4, or the precision of the
    noise; that of a hidden unit is the sum over the units above it of their own curvature times the squared weight,
    for which its variance in the prior stands. Since they depend on the precisions only, which a trajectory leaves as
    they are, the scales may change from one trajectory to the next. `squares` are the sums of the squared inputs.

    References
    ----------
    Neal (1996), "Bayesian learning for neural networks", section 3.3.2 and appendix A.4.
    """
    chains = precisions.common.size
    curvature = precisions.noise if network.kind == "gaussian" else np.full(chains, 0.25)
    rows = data.weight.sum()
    parts: list[FloatArray] = []
    for number in reversed(range(len(network.shapes))):
        below, above = network.shapes[number]
        bound = (squares if number == 0 else np.full(below, rows)) * curvature[:, None]
        own = np.repeat(bound, above, axis=1)
        parts = [own, np.repeat(rows * curvature[:, None], above, axis=1), *parts]
        if number:
            curvature = curvature * above / (precisions.later[:, number - 1] * below)
    return 1.0 / (of_each_weight(network, priors, data, precisions) + np.concatenate(parts, axis=1))


class StepSize:
    """A factor of all steps of each chain, by dual averaging until acceptance has the wanted probability.

    References
    ----------
    Hoffman and Gelman (2014), "The No-U-turn sampler", section 3.2.
    """

    #: The probability of acceptance that it aims at.
    wanted = 0.8
    #: The strength of the pull towards the start, the rounds that are forgotten, and the power of the mean.
    _pull, _forgotten, _power = 0.05, 10.0, 0.75

    def __init__(self, chains: int, start: float = 0.1) -> None:
        self._centre = np.log(10.0 * start)
        self._rounds = 0
        self._short = np.zeros(chains)
        self._log = np.full(chains, np.log(start))
        self._mean = np.zeros(chains)

    def adapt(self, accepted: FloatArray) -> None:
        """Take note of the probabilities of acceptance in a round."""
        self._rounds += 1
        share = 1.0 / (self._rounds + self._forgotten)
        self._short += share * (self.wanted - accepted - self._short)
        self._log = self._centre - np.sqrt(self._rounds) / self._pull * self._short
        self._mean += self._rounds**-self._power * (self._log - self._mean)

    @property
    def now(self) -> FloatArray:
        """The factors of the next round while they are adapted."""
        return np.exp(self._log)

    @property
    def settled(self) -> FloatArray:
        """The factors after adaptation: geometric means, in which late rounds count most."""
        return np.exp(self._mean)
