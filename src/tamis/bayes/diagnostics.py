"""Whether chains have met, and how many independent draws theirs are."""

import numpy as np

from tamis.base.types import FloatArray


def split_r_hat(chains: FloatArray) -> FloatArray:
    """Gelman and Rubin's R-hat of half chains: near 1 when all halves have the same mean and variance.

    Parameters
    ----------
    chains : array of shape (n_chains, n_draws, n_quantities)

    Returns
    -------
    array of shape (n_quantities,)
        With B the variance of the half chains' means and W the mean of their variances, the root of
        (W (m - 1) / m + B) / W for half chains of m draws; 1 for a constant.

    Examples
    --------
    >>> apart = np.array([[0.0, 1.0, 0.0, 1.0], [8.0, 9.0, 8.0, 9.0]])[:, :, None]
    >>> split_r_hat(apart).round(1), split_r_hat(apart[:1]).round(1)
    (array([6.6]), array([0.7]))
    """
    halves = _halves(chains)
    draws = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((within * (draws - 1) / draws + between) / within)
    return np.where(within > 0, found, np.where(between > 0, np.inf, 1.0))


def effective_draws(chains: FloatArray) -> FloatArray:
    """The number of independent draws with the same error of the mean, by Geyer's initial monotone sequence.

    Parameters
    ----------
    chains : array of shape (n_chains, n_draws, n_quantities)

    Returns
    -------
    array of shape (n_quantities,)
        All draws for a constant.

    References
    ----------
    Geyer (1992), "Practical Markov chain Monte Carlo"; Gelman et al. (2013), "Bayesian data analysis", section 11.5.
    """
    halves = _halves(chains)
    n_chains, draws, n_quantities = halves.shape
    total = n_chains * draws
    centred = halves - halves.mean(axis=1, keepdims=True)
    # Products at all lags by the Fourier transform, with zeros so that the ends do not meet.
    spectrum = np.fft.rfft(centred, 2 * draws, axis=1)
    lagged = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :draws].mean(axis=0) / draws
    within = lagged[0] * draws / (draws - 1)
    variance = lagged[0] + halves.mean(axis=1).var(axis=0, ddof=1)
    found = np.full(n_quantities, float(total))
    for one in np.flatnonzero(within > 0):
        correlation = 1.0 - (within[one] - lagged[:, one]) / variance[one]
        correlation[0] = 1.0
        pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
        ends = np.flatnonzero(pairs < 0)
        pairs = np.minimum.accumulate(pairs[: ends[0] if ends.size else None])
        found[one] = total / max(2.0 * pairs.sum() - 1.0, 1.0 / np.log10(max(total, 10)))
    return found


def _halves(chains: FloatArray) -> FloatArray:
    """Each chain as two; a middle draw is left out."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])
