"""ReliefF."""

from numbers import Integral

import numpy as np

from tamis.base._sklearn import Interval, StrOptions
from tamis.base.part import Limits, Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.neighbours.relief_weights import neighbour_weights


@score(
    Part(
        "relieff",
        paper="Kononenko 1994; Robnik-Sikonja and Kononenko 2003",
        phrase="how far rows of the other classes are in them (ReliefF)",
        limits=Limits(differences=5_000_000_000),
    ),
    constraints={
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "sample": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    },
    takes_nominal=True,
    alone=False,
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

    Every row R asks for its `n_neighbors` nearest rows in each class: hits in its own class, misses in the others. With
    diff(f, A, B) the difference of two values, |A_f - B_f| over the range of the feature, or 0 and 1 for equal and
    different levels of a nominal one, the score of f is the mean over the rows R of

        sum_{c not R's} P(c) / (1 - P(class of R)) mean_{misses M in c} diff(f, R, M) - mean_{hits H} diff(f, R, H),

    between -1 and 1; P(c) is the share of class c. Near is meant in all features at once, so that features are found
    which tell the classes apart only together (exclusive or), where scores of one feature at a time see nothing; the
    more useless features there are, the less near means. The cost grows with the square of the rows.

    Options
    -------
    n_neighbors : int, default=10
        Rows to take in each class; those there are when a class has fewer. A row without another of its class is not
        asked. A row is never its own neighbour; of rows at the same distance, to twelve digits, the first are taken.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        The distance that says which rows are near: the sum of the differences, or the root of the sum of their squares.
    sample : int, optional
        Ask only this many rows, drawn at random; their neighbours are still found among all rows.
    random_state : int, Generator, RandomState or None, default=0
        Draws them. The same rows every time by default: a run's seed does not reach the options of a score.

    Notes
    -----
    Missing values: distances are means over the features that both rows know, and means of differences are taken
    over the neighbours that know the feature; a row that does not know it adds zero. This is what scikit-rebate does;
    Kononenko estimates a missing difference from the class instead, which needs features of few values. Rows that
    know nothing are left out. Sample weights count as repeated rows: neighbours are taken until their weights add up to
    `n_neighbors`, and a row of weight 2 has a copy of itself among its hits.

    For two classes, and for more of equal sizes, scores are those of scikit-rebate for features that are all
    continuous or all nominal. For classes of different sizes it counts each class alike; for features of both kinds it
    takes differences above one standard deviation as 1; a class of no more than `n_neighbors` rows gives it the row
    itself as a hit. Numbers of few values are nominal there, here only text is.

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
