"""Data like Madelon: twenty useful features that are useless one by one, among hundreds of probes."""

from dataclasses import replace
from itertools import product

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.data.dataset import Dataset
from tamis.data.synthetic.planted import planted

#: Each feature is multiplied by a uniform random number from this range.
_SCALES = (1.0, 100.0)

#: Standard deviation of the noise added to every feature.
_NOISE = 0.1


def madelon(
    n_rows: int = 2000,
    *,
    n_informative: int = 5,
    n_redundant: int = 5,
    n_repeated: int = 10,
    n_probes: int = 480,
    class_sep: float = 2.0,
    flip: float = 0.01,
    seed: int = 0,
) -> Dataset:
    """Make a problem like Madelon of the NIPS 2003 challenge (Guyon 2003), the role of every column known.

    There is one cluster of points at every corner of a cube with ``n_informative`` dimensions and side
    ``2 * class_sep``: standard normal points times a random matrix with entries uniform on (-1, 1). A random half of
    the clusters belongs to class +1, the others to class -1. The redundant features are linear combinations of the
    informative ones with weights uniform on (-1, 1); the repeated ones copy informative or redundant ones; the probes
    are standard normal. Then every feature is shifted (uniformly from -class_sep to class_sep) and scaled (uniformly
    from 1 to 100), noise of standard deviation 0.1 is added, a share `flip` of the labels is flipped, and columns and
    rows are shuffled.

    Clusters have equal numbers of rows, up to one, and so have the classes before labels are flipped. The problem
    depends on the seed and the other parameters but not on `n_rows`. The order of the rows is random, so one call
    serves training and test together: split the rows anywhere.

    Parameters
    ----------
    n_rows : int, default=2000
        At least ``2 ** n_informative``, one row for each cluster.
    n_informative, n_redundant, n_repeated, n_probes : int
        Number of features of each role. `n_informative` is at least 1, the others may be 0.
    class_sep : float, default=2.0
        Half the side of the cube.
    flip : float, default=0.01
        Share of labels that are wrong; below 0.5.
    seed : int, default=0

    Returns
    -------
    Dataset
        Classes -1 and +1; columns f1, f2, ... in shuffled order; roles "informative", "redundant", "repeated"
        and "probe". The correlation of a repeated column with its original is above 0.99.

    Examples
    --------
    >>> from tamis.data.synthetic.madelon import madelon
    >>> data = madelon(200)
    >>> data.X.shape, int((data.roles != "probe").sum())
    ((200, 500), 20)
    """
    check_whole("n_informative", n_informative, 1)
    check_whole("n_redundant", n_redundant, 0)
    check_whole("n_repeated", n_repeated, 0)
    check_whole("n_probes", n_probes, 0)
    check_whole("seed", seed, 0)
    check_whole("n_rows", n_rows, 2)
    if int(n_rows).bit_length() <= n_informative:
        raise TamisError(
            f"n_rows must be at least 2 ** n_informative, one row for each cluster; got {n_rows} for {n_informative}"
        )
    check_number("class_sep", class_sep, 0.0, np.inf)
    check_number("flip", flip, 0.0, 0.5)

    problem, rows = generator(seed, 0), generator(seed, 1)
    core = _clusters(n_rows, n_informative, class_sep, problem, rows)
    real = np.hstack([core, core @ problem.uniform(-1.0, 1.0, (n_informative, n_redundant))])
    repeats = problem.integers(real.shape[1], size=n_repeated)
    X = np.hstack([real, real[:, repeats], rows.standard_normal((n_rows, n_probes))])
    X += problem.uniform(-class_sep, class_sep, X.shape[1])
    X *= problem.uniform(*_SCALES, X.shape[1])
    X += rows.normal(0.0, _NOISE, X.shape)
    roles = np.repeat(
        ["informative", "redundant", "repeated", "probe"], [n_informative, n_redundant, n_repeated, n_probes]
    )

    y = np.where(np.arange(n_rows) % 2, 1, -1)
    y[rows.choice(n_rows, round(flip * n_rows), replace=False)] *= -1
    shuffled = rows.permutation(n_rows)
    return planted("madelon-like", X[shuffled], y[shuffled], roles, problem.permutation(X.shape[1]))


def madelon_fresh(n_rows: int = 4000, *, seed: int = 0) -> Dataset:
    """Make a problem like Madelon with an official split: the first half of the rows is "train", the second "test".

    Parameters
    ----------
    n_rows : int, default=4000
        Training and test rows together.
    seed : int, default=0

    Returns
    -------
    Dataset

    See Also
    --------
    madelon : The generator.

    Examples
    --------
    >>> from tamis.data.synthetic.madelon import madelon_fresh
    >>> madelon_fresh(400).split[[0, 199, 200, 399]].tolist()
    ['train', 'train', 'test', 'test']
    """
    made = madelon(n_rows, seed=seed)
    return replace(made, name="madelon-fresh", split=np.where(np.arange(n_rows) < n_rows // 2, "train", "test"))


def _clusters(
    n_rows: int, n_informative: int, class_sep: float, problem: np.random.Generator, rows: np.random.Generator
) -> FloatArray:
    """The informative features; even rows are of one class and odd rows of the other."""
    points = rows.standard_normal((n_rows, n_informative))
    corners = class_sep * np.array(list(product((-1.0, 1.0), repeat=n_informative)))
    # Assigning the shuffled corners in turn gives each class every second one: a random half of them.
    for first, corner in enumerate(problem.permutation(corners)):
        matrix = problem.uniform(-1.0, 1.0, (n_informative, n_informative))
        points[first :: len(corners)] = points[first :: len(corners)] @ matrix + corner
    return points
