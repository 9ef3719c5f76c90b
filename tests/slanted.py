"""Classes that a slanted line parts: the more it slants the more the second column matters."""

import numpy as np


def slanted(n, degrees, seed=0, noise=0.0, columns=2):
    """Two classes on either side of a line through the middle of a square, perhaps with columns that say nothing."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, columns))
    y = ((X[:, :2] - 0.5) @ [np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))] > 0).astype(int)
    return X, np.where(rng.random(n) < noise, 1 - y, y)
