"""Friedman's random functions: a target that is a sum of Gaussian bumps, each of a few inputs."""

from dataclasses import dataclass, replace

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.task import Task
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.data.dataset import Dataset
from tamis.data.synthetic.planted import planted

#: Range of the square roots of the eigenvalues of a bump's matrix.
_ROOTS = (0.1, 2.0)


@dataclass(frozen=True)
class _Bump:
    """``weight * exp(-1/2 (z - mean)' V (z - mean))`` of the chosen inputs z, with ``V = root root'``."""

    weight: float
    inputs: np.ndarray
    mean: FloatArray
    root: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        z = (X[:, self.inputs] - self.mean) @ self.root
        height: FloatArray = np.exp(-0.5 * (z**2).sum(axis=1))
        return self.weight * height


def friedman(
    n_rows: int = 500,
    *,
    n_inputs: int = 10,
    n_probes: int = 10,
    n_functions: int = 20,
    mean_size: float = 4.0,
    noise: float = 0.0,
    task: Task = "classify",
    seed: int = 0,
) -> Dataset:
    """Make a problem with Friedman's random function generator, as Tuv and Torkkola (2005) use it.

    All columns are standard normal. The target is a sum of functions of the first `n_inputs` columns,

        F(x) = sum over l of a_l exp(-1/2 (z_l - mu_l)' V_l (z_l - mu_l)),

    a_l uniform on (-1, 1), z_l a random subset of ``min(floor(1.5 + r), n_inputs)`` inputs with r
    exponential, mu_l standard normal as the inputs are, and V_l = U D U' with U a random orthonormal matrix and
    the square roots of D's diagonal uniform on (0.1, 2). V_l is not inverted, as in Friedman's paper. Columns are
    shuffled.

    The function depends on the seed and the other parameters but not on `n_rows`. The order of the rows is random,
    so one call serves training and test together: split the rows anywhere.

    Parameters
    ----------
    n_rows : int, default=500
    n_inputs : int, default=10
        Columns that the functions draw from.
    n_probes : int, default=10
        Columns independent of the target.
    n_functions : int, default=20
    mean_size : float, default=4.0
        Approximate mean number of inputs of a function: r has mean ``mean_size - 1``. The workshop paper uses
        "about four", Friedman 3.
    noise : float, default=0.0
        Standard deviation of normal noise on the target, as a multiple of the target's own; the workshop paper
        adds none, Friedman about 1.
    task : {"classify", "regress"}, default="classify"
        Classes +1 (target above its median over the rows) and -1, or the target itself.
    seed : int, default=0

    Returns
    -------
    Dataset
        Columns f1, f2, ...; role "informative" for those in at least one function, else "probe".

    See Also
    --------
    friedman_participation : Share of the functions that each column takes part in.

    References
    ----------
    J. H. Friedman, Greedy function approximation: a gradient boosting machine, 1999, section 6.1.
    E. Tuv and K. Torkkola, Feature filtering with ensembles using artificial contrasts, 2005.

    Examples
    --------
    >>> from tamis.data.synthetic.friedman import friedman
    >>> data = friedman(100)
    >>> data.X.shape, data.classes.tolist()
    ((100, 20), [-1, 1])
    """
    check_whole("n_rows", n_rows, 2)
    check_number("noise", noise, 0.0, np.inf)
    if task not in ("classify", "regress"):
        raise TamisError(f"task must be 'classify' or 'regress'; got {task!r}")
    bumps, order = _problem(n_inputs, n_probes, n_functions, mean_size, seed)

    rows = generator(seed, 1)
    X = rows.standard_normal((n_rows, n_inputs + n_probes))
    y = np.sum([bump(X) for bump in bumps], axis=0)
    y = y + noise * y.std() * rows.standard_normal(n_rows)
    if task == "classify":
        y = np.where(y > np.median(y), 1, -1)
    roles = np.where(_share(bumps, X.shape[1]) > 0, "informative", "probe")
    if task == "regress":
        return replace(planted("friedman", X, y, roles, order, target="target"), task=task)
    return planted("friedman", X, y, roles, order)


def friedman_participation(
    *, n_inputs: int = 10, n_probes: int = 10, n_functions: int = 20, mean_size: float = 4.0, seed: int = 0
) -> FloatArray:
    """Share of the functions that each column of :func:`friedman` takes part in, for the same parameters.

    Examples
    --------
    >>> from tamis.data.synthetic.friedman import friedman, friedman_participation
    >>> bool(((friedman_participation(seed=7) > 0) == (friedman(seed=7).roles == "informative")).all())
    True
    """
    bumps, order = _problem(n_inputs, n_probes, n_functions, mean_size, seed)
    return _share(bumps, n_inputs + n_probes)[order]


def _problem(
    n_inputs: int, n_probes: int, n_functions: int, mean_size: float, seed: int
) -> tuple[list[_Bump], np.ndarray]:
    """The functions, and the order of the columns."""
    from scipy.stats import ortho_group

    check_whole("n_inputs", n_inputs, 1)
    check_whole("n_probes", n_probes, 0)
    check_whole("n_functions", n_functions, 1)
    check_whole("seed", seed, 0)
    check_number("mean_size", mean_size, 1.0, np.inf)
    problem = generator(seed, 0)
    bumps = []
    for _ in range(n_functions):
        size = int(min(1.5 + problem.exponential(mean_size - 1.0), n_inputs))
        axes = ortho_group.rvs(size, random_state=problem).reshape(size, size)
        bumps.append(
            _Bump(
                weight=problem.uniform(-1.0, 1.0),
                inputs=problem.choice(n_inputs, size, replace=False),
                mean=problem.standard_normal(size),
                root=axes * problem.uniform(*_ROOTS, size),
            )
        )
    return bumps, problem.permutation(n_inputs + n_probes)


def _share(bumps: list[_Bump], n_columns: int) -> FloatArray:
    used = np.concatenate([bump.inputs for bump in bumps])
    return np.bincount(used, minlength=n_columns) / len(bumps)
