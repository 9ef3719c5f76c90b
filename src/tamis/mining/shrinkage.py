"""Shrinkage: an estimate moves towards the mean of its family by as much as its noise says."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray

#: Models from which on a family has a mean of its own.
_FAMILY = 3


def shrunk(losses: FloatArray, weight: FloatArray, families: Sequence[object]) -> FloatArray:
    """The mean loss of each model, moved towards the mean of its family.

    The loss of model m on row i is taken as a mean of its family, plus what sets the model apart, plus an effect of the
    row, plus noise; the first three and the noise are independent and normal. The mean loss of a model then has the
    posterior mean ``f + (mean - f) * t / (t + s)``, with f the mean of the family, t the variance of the models around
    it, and s the variance of the mean loss that the noise gives. All are estimated from the losses (empirical Bayes).
    So a model that leads its family by luck does not win. Small families share one mean and variance.

    Parameters
    ----------
    losses : array of shape (n_models, n_rows)
    weight : array of shape (n_rows,)
    families : sequence
        The family of each model.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> losses = rng.normal(size=(1, 50)) + rng.normal(size=(5, 50))
    >>> bool(np.ptp(shrunk(losses, np.ones(50), ["one"] * 5)) < np.ptp(losses.mean(axis=1)))
    True
    """
    share = weight / weight.sum()
    means = losses @ share
    apart = losses - means[:, None] - (losses.mean(axis=0) - means.mean())
    noise = (apart**2) @ share**2
    codes = np.unique([repr(one) for one in families], return_inverse=True)[1]
    alone = np.bincount(codes)[codes] < _FAMILY
    codes = np.where(alone, -1, codes)
    found = means.copy()
    for family in np.unique(codes):
        own = codes == family
        if own.sum() < 2:
            continue
        centre = means[own].mean()
        spread = max(0.0, float(means[own].var(ddof=1) - noise[own].mean()))
        total = spread + noise[own]
        kept = np.divide(spread, total, out=np.ones_like(total), where=total > 0)
        found[own] = centre + (means[own] - centre) * kept
    return found
