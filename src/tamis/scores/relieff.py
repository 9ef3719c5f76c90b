"""ReliefF."""

from typing import Any

import numpy as np

from tamis.base._sklearn import StrOptions, integer
from tamis.base.part import Limits, Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.neighbours.relief_weights import neighbour_weights

#: Constraints of the options that ``relief`` shares.
OPTIONS: dict[str, list[Any]] = {
    "metric": [StrOptions({"manhattan", "euclidean"})],
    "sample": [integer(1), None],
    "random_state": ["random_state", np.random.Generator],
}


@score(
    Part(
        "relieff",
        paper="Kononenko 1994; Robnik-Sikonja and Kononenko 2003",
        phrase="how far rows of the other classes are in them (ReliefF)",
        limits=Limits(differences=5_000_000_000),
        counterpart="rrelieff",
    ),
    constraints={"n_neighbors": [integer(1)], **OPTIONS},
    takes_nominal=True,
    columnwise=False,
)
def relieff(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    n_neighbors: int = 10,
    metric: str = "manhattan",
    sample: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
) -> FloatArray:
    """ReliefF: how much farther a row's near neighbours of other classes are in a feature than those of its own.

    For every row R the `n_neighbors` nearest rows of each class are found: hits in its own class, misses in the others.
    With diff(f, A, B) the difference of two values, |A_f - B_f| over the range of the feature, or 0 and 1 for equal and
    different levels of a nominal one, the score of f is the mean over the rows R of

        sum_{c not R's} P(c) / (1 - P(class of R)) mean_{misses M in c} diff(f, R, M) - mean_{hits H} diff(f, R, H),

    between -1 and 1; P(c) is the share of class c. Distances use all features, so that features are found that separate
    the classes only together (exclusive or); useless features blur them. The cost grows with the square of the rows.

    Options
    -------
    n_neighbors : int, default=10
        Rows to find in each class; fewer when a class has fewer. A row alone in its class is left out. A row is never
        its own neighbour; of rows at the same distance, to twelve digits, the first are taken.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance of two rows: the sum of the differences, or the root of the sum of their squares.
    sample : int, optional
        Use only this many rows R, drawn at random; their neighbours are found among all rows.
    random_state : int, Generator, RandomState or None, default=0
        Draws them. The same rows every time by default: a run's seed does not reach the options of a score.

    Notes
    -----
    Missing values: distances are means over the features known in both rows, and means of differences are over the
    neighbours in which the feature is known; a row in which it is missing adds zero, as in scikit-rebate. (Kononenko
    estimates a missing difference from the class, which needs features of few values.) Rows without any known value are
    left out. Sample weights count as repeated rows: neighbours are taken until their weights add up to `n_neighbors`,
    and a row of weight 2 has a copy of itself among its hits.

    For two classes, and for more of equal sizes, scores are those of scikit-rebate for features that are all continuous
    or all nominal. Otherwise scikit-rebate counts classes of different sizes alike; for features of both kinds it takes
    differences above one standard deviation as 1; a class of no more than `n_neighbors` rows gives it the row itself as
    a hit; and numbers of few values are nominal.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import relieff
    >>> X = np.indices((2, 2, 2)).reshape(3, 8).T
    >>> exclusive_or = X[:, 0] ^ X[:, 1]
    >>> relieff(X, exclusive_or, n_neighbors=1)
    array([ 0.5,  0.5, -1. ])
    """
    return neighbour_weights(
        X,
        y,
        sample_weight,
        nominal,
        who="relieff",
        neighbours=n_neighbors,
        two_groups=False,
        metric=metric,
        sample=sample,
        random_state=random_state,
    )
