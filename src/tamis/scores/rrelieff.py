"""RReliefF: ReliefF for numeric targets."""

import numpy as np

from tamis.base._sklearn import integer, real
from tamis.base.part import Limits, Part
from tamis.base.score import score
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.neighbours.relief_weights import regression_weights
from tamis.scores.relieff import OPTIONS


@score(
    Part(
        "rrelieff",
        paper="Robnik-Sikonja and Kononenko 1997, 2003",
        phrase="how far near rows of other targets are in them (RReliefF)",
        limits=Limits(differences=5_000_000_000),
        counterpart="relieff",
    ),
    constraints={"n_neighbors": [integer(1)], "sigma": [real(0, None), None], **OPTIONS},
    takes_nominal=True,
    columnwise=False,
    tasks=("regress",),
)
def rrelieff(
    X: Matrix,
    y: FloatArray,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    n_neighbors: int = 10,
    sigma: float | None = None,
    metric: str = "manhattan",
    sample: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
) -> FloatArray:
    """RReliefF: how much more a feature differs between near rows of different targets than of similar ones.

    For each of m rows R the `n_neighbors` nearest rows I are found. With diff(f, R, I) the difference in a feature,
    |R_f - I_f| over its range, or 0 and 1 for equal and different levels of a nominal one, with diff(y, R, I) that of
    the targets, and d(R, I) the influence of the neighbour, which sums to 1 over those of a row,

        N_y = sum diff(y, R, I) d(R, I),  N_f = sum diff(f, R, I) d(R, I),
        N_yf = sum diff(y, R, I) diff(f, R, I) d(R, I),

    the score of f is

        N_yf / N_y - (N_f - N_yf) / (m - N_y),

    between -1 and 1: an estimate of P(different f | different y) - P(different f | similar y). Distances use all
    features, so that features are found that tell about the target only together; useless features blur them. The cost
    grows with the square of the rows.

    Options
    -------
    n_neighbors : int, default=10
        Neighbours of a row. A row is never its own neighbour; of rows at the same distance, to twelve digits, the first
        are taken.
    sigma : float, optional
        The neighbour at place q = 1, 2, ... has an influence in proportion to exp(-(q / sigma)^2); the paper takes 20
        with 70 neighbours. By default all neighbours have the same.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance of two rows: the sum of the differences, or the root of the sum of their squares.
    sample : int, optional
        Use only this many rows R, drawn at random; their neighbours are found among all rows.
    random_state : int, Generator, RandomState or None, default=0
        Draws them. The same rows every time by default: a run's seed does not reach the options of a score.

    Notes
    -----
    Missing values: distances are means over the features known in both rows. A difference to a neighbour in which the
    feature is missing counts as the mean of those to the row's other neighbours, and a row in which it is missing adds
    zero, as for ``relieff``. Rows without any known value are left out. Sample weights count as repeated rows. If the
    target is constant, every score is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import rrelieff
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> rrelieff(X, (X[:, 0] - 0.5) * (X[:, 1] - 0.5)).round(2)
    array([ 0.04,  0.04, -0.02, -0.02])
    """
    return regression_weights(
        X,
        y,
        sample_weight,
        nominal,
        who="rrelieff",
        neighbours=n_neighbors,
        sigma=sigma,
        metric=metric,
        sample=sample,
        random_state=random_state,
    )
