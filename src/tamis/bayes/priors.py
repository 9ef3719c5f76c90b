"""Neal's priors: normal weights in groups, and gamma distributions of the precisions of groups."""

from typing import NamedTuple


class Priors(NamedTuple):
    """Typical scales and shapes of the priors.

    A precision with mean m and shape a has the density proportional to t^(a/2 - 1) exp(-t a / (2 m)): the gamma
    distribution as Neal writes it, which is vague for small a. With t_0 the common precision of the inputs::

        weights from input j      normal, precision t_j
        t_j                       gamma with mean t_0 and shape `ard_shape`
        t_0                       gamma with mean 1 / input_scale^2 and shape `shape`
        weights of later layers   normal, precision t times the number of units below, t gamma(1 / later_scale^2, shape)
        biases of hidden units    normal, precision t, t gamma(1 / bias_scale^2, shape)
        biases of outputs         normal, deviation `output_bias_scale`
        noise of a number         normal, precision t, t gamma(1 / noise_scale^2, shape)
    """

    input_scale: float = 0.2
    later_scale: float = 2.0
    bias_scale: float = 0.5
    output_bias_scale: float = 10.0
    noise_scale: float = 0.3
    shape: float = 2.0
    ard_shape: float = 1.0
