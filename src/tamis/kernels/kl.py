"""Divergence of distributions over classes from a reference."""

import numpy as np

from tamis.kernels.compiler import kernel


@kernel("void(float64[:, ::1], float64[::1], float64, float64[::1])", reads=3)
def kl_rows(counts, log_reference, smoothing, out):
    """Divergence of the share of each class in a row of smoothed counts from the reference, whose logarithms are given.

    A class of log reference minus infinity is left out. A row without counts has the divergence 0.
    """
    n_classes = counts.shape[1]
    for i in range(counts.shape[0]):
        total = 0.0
        for c in range(n_classes):
            if log_reference[c] > -np.inf:
                total += counts[i, c] + smoothing
        value = 0.0
        for c in range(n_classes):
            n = counts[i, c] + smoothing
            if n > 0.0 and log_reference[c] > -np.inf:
                share = n / total
                value += share * (np.log(share) - log_reference[c])
        # Rounding may leave less than nothing.
        out[i] = max(value, 0.0)
