"""Global normalisation: every sample is divided by its total intensity."""

import numpy as np

from tamis.base.errors import TamisError, quoted
from tamis.base.types import FloatArray


def normalized(values: FloatArray, samples: np.ndarray) -> FloatArray:
    """Intensities as shares of their sample's total, scaled so that the totals keep their mean.

    ``v_ij' = v_ij / sum_k v_kj * mean_j sum_k v_kj``. Raman and Domeniconi (2005) divide each intensity by the sum of
    all. They do not describe their "scaling"; without one no intensity would pass their filters. Only genes with a
    value in every sample count in the totals, so that a missing value does not change the scale of its sample. No
    labels are used.

    Parameters
    ----------
    values : array of shape (n_genes, n_samples)
    samples : array of str of shape (n_samples,)
        Their names, for messages.

    Returns
    -------
    array of shape (n_genes, n_samples)

    Examples
    --------
    >>> normalized(np.array([[1.0, 2.0], [3.0, 6.0]]), np.array(["a", "b"])).tolist()
    [[1.5, 1.5], [4.5, 4.5]]
    """
    missing = np.isnan(values)
    complete = ~missing.any(axis=1)
    if not complete.any():
        worst = quoted(str(samples[int(missing.sum(axis=0).argmax())]))
        raise TamisError(f"no gene has a value in every sample, so that there are no totals; sample {worst} lacks most")
    totals = values[complete].sum(axis=0)
    if (totals <= 0).any():
        at = int(np.flatnonzero(totals <= 0)[0])
        total = f"{totals[at]:.4g}"
        raise TamisError(f"sample {quoted(str(samples[at]))}: its intensities sum to {total}, so that it has no scale")
    scaled: FloatArray = values * (totals.mean() / totals)
    return scaled
