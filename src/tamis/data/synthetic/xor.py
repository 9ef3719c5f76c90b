"""Planted parity: features that determine the class together and are useless one by one."""

import numpy as np

from tamis.base.seeds import generator
from tamis.base.validation import check_number, check_whole
from tamis.data.dataset import Dataset
from tamis.data.synthetic.planted import planted


def xor(n_rows: int = 500, *, n_interacting: int = 2, n_probes: int = 48, noise: float = 0.1, seed: int = 0) -> Dataset:
    """Make a problem whose class is the parity of the signs of a few features.

    All columns are standard normal. The class is +1 where an odd number of the `n_interacting` features is above
    zero, else -1; then a share `noise` of the labels is flipped, so that no classifier has an accuracy above
    ``1 - noise``. Any subset of the interacting features that lacks one is independent of the class.
    Columns are shuffled. The order of the rows is random, so they can be split anywhere.

    Parameters
    ----------
    n_rows : int, default=500
    n_interacting : int, default=2
        At least 2.
    n_probes : int, default=48
    noise : float, default=0.1
        Share of labels that are wrong; below 0.5.
    seed : int, default=0

    Returns
    -------
    Dataset
        Classes -1 and +1; columns f1, f2, ...; roles "informative" and "probe".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.synthetic.xor import xor
    >>> data = xor(noise=0.0)
    >>> above = data.X[:, data.roles == "informative"] > 0
    >>> bool((data.y == np.where(above.sum(axis=1) % 2, 1, -1)).all())
    True
    """
    check_whole("n_rows", n_rows, 2)
    check_whole("n_interacting", n_interacting, 2)
    check_whole("n_probes", n_probes, 0)
    check_whole("seed", seed, 0)
    check_number("noise", noise, 0.0, 0.5)

    problem, rows = generator(seed, 0), generator(seed, 1)
    X = rows.standard_normal((n_rows, n_interacting + n_probes))
    y = np.where((X[:, :n_interacting] > 0).sum(axis=1) % 2, 1, -1)
    y[rows.choice(n_rows, round(noise * n_rows), replace=False)] *= -1
    roles = np.repeat(["informative", "probe"], [n_interacting, n_probes])
    return planted("xor", X, y, roles, problem.permutation(X.shape[1]))
