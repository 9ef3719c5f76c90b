"""A time course of gene expression during an infection, beside a mock infection: few genes respond, and late."""

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.base.validation import check_number, check_whole
from tamis.data.dataset import Dataset

#: Hours after the infection, those of Raman and Domeniconi (2005).
HOURS = (0.5, 2.0, 4.0, 8.0, 16.0, 24.0, 48.0, 72.0)

#: The conditions, the treated one first.
CONDITIONS = ("infected", "mock")

#: Shares of the genes that respond early and not late, that respond too little, that change over time in both
#: conditions alike, and that are not expressed.
_EARLY, _WEAK, _DRIFTING, _SILENT = 0.04, 0.04, 0.1, 0.025

#: Deviation of the logarithm of the brightness of a chip.
_BRIGHTNESS = 0.3


def infection(
    n_rows: int = 32, *, n_genes: int = 6800, n_markers: int = 120, noise: float = 0.1, seed: int = 0
) -> Dataset:
    """Make a time course of gene expression after an infection and a mock infection, with planted markers.

    It stands in for the data of Raman and Domeniconi (2005), which are not public: eight hours, two conditions, two
    chips of each by default. Rows are chips, in turn for the 16 pairs of hour and condition. A marker rises or falls
    between 4 and 36 hours, by 2.2 to 4 in log2 at 72 hours and at least 0.9 times as much at 48. Of the other genes
    some respond as strongly but only before 24 hours, some late but by 0.3 to 0.9, some drift by up to 2 in both
    conditions, some are not expressed (intensities around 1), and the rest stay level. Intensities are multiplied by
    the brightness of the chip and by ``exp(noise * N(0, 1))``.

    Parameters
    ----------
    n_rows : int, default=32
        At least 16.
    n_genes : int, default=6800
    n_markers : int, default=120
        At most half of the genes.
    noise : float, default=0.1
        About the relative deviation of an intensity.
    seed : int, default=0

    Returns
    -------
    Dataset
        The column "time" and the genes g1, g2, ...; classes "infected" and "mock"; roles "informative" for markers,
        "redundant" for genes with an early or weak response, "probe" for all others and the time.

    Examples
    --------
    >>> from tamis.data.synthetic.infection import infection
    >>> data = infection(n_genes=100, n_markers=5)
    >>> data.X.shape, data.classes.tolist(), int((data.roles == "informative").sum())
    ((32, 101), ['infected', 'mock'], 5)
    """
    cells = len(HOURS) * len(CONDITIONS)
    check_whole("n_rows", n_rows, cells)
    check_whole("n_genes", n_genes, 2)
    check_whole("n_markers", n_markers, 0)
    check_whole("seed", seed, 0)
    check_number("noise", noise, 0.0, 1.0)
    if 2 * n_markers > n_genes:
        raise TamisError(f"n_markers must be at most half of n_genes={n_genes}; got {n_markers}")
    problem, rows = generator(seed, 0), generator(seed, 1)
    both, response, roles = _courses(n_genes, n_markers, problem)
    cell = np.arange(n_rows) % cells
    hour, infected = cell % len(HOURS), cell < len(HOURS)
    logs = both[:, hour] + response[:, hour] * infected
    brightness = _BRIGHTNESS * rows.standard_normal(n_rows)
    X = np.exp(logs.T * np.log(2.0) + brightness[:, None] + noise * rows.standard_normal((n_rows, n_genes)))
    order = problem.permutation(n_genes)
    return Dataset(
        X=np.column_stack([np.array(HOURS)[hour], X[:, order]]),
        y=np.where(infected, *CONDITIONS),
        feature_names=np.array(["time", *(f"g{number + 1}" for number in range(n_genes))]),
        name="infection",
        target="condition",
        roles=np.array(["probe", *roles[order]]),
    )


def _courses(n: int, n_markers: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """log2 intensities in the mock infection, what the infection adds, and roles; markers first."""
    hours = np.array(HOURS)
    n_early, n_weak = (min(round(share * n), (n - n_markers) // 4) for share in (_EARLY, _WEAK))
    n_drifting, n_silent = (min(round(share * n), (n - n_markers) // 4) for share in (_DRIFTING, _SILENT))
    both = np.repeat(rng.normal(9.0, 1.8, n).clip(5.0, 15.0)[:, None], hours.size, axis=1)
    response = np.zeros_like(both)
    signs = rng.choice([-1.0, 1.0], n)[:, None]
    marked, early = slice(n_markers), slice(n_markers, n_markers + n_early)
    weak = slice(early.stop, early.stop + n_weak)
    response[marked] = signs[marked] * rng.uniform(2.2, 4.0, (n_markers, 1)) * _risen(hours, n_markers, rng)
    # A falling gene must have somewhere to fall to.
    both[marked] = both[marked].clip(9.0)
    peak = rng.uniform(1.0, 3.0, (n_early, 1))
    response[early] = signs[early] * rng.uniform(1.0, 3.0, (n_early, 1)) * np.exp(-2 * (np.log2(hours) - peak) ** 2)
    response[weak] = signs[weak] * rng.uniform(0.3, 0.9, (n_weak, 1)) * _risen(hours, n_weak, rng)
    drifting, silent = slice(weak.stop, weak.stop + n_drifting), slice(n - n_silent, n)
    both[drifting] += signs[drifting] * rng.uniform(0.5, 2.0, (n_drifting, 1)) * _risen(hours, n_drifting, rng)
    both[silent] = rng.uniform(-1.0, 0.5, (n_silent, 1))
    roles = np.repeat(
        ["informative", "redundant", "probe"], [n_markers, n_early + n_weak, n - n_markers - n_early - n_weak]
    )
    return both, response, roles


def _risen(hours: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Logistic courses over the logarithm of the time, 1 at the last hour and at least 0.9 at the one before."""
    middle, width = rng.uniform(3.0, 4.3, (n, 1)), rng.uniform(0.15, 0.4, (n, 1))
    raw = 1.0 / (1.0 + np.exp(-(np.log2(hours) - middle) / width))
    course: FloatArray = raw / raw[:, -1:]
    return course
