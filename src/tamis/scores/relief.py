"""Relief."""

from numbers import Integral

import numpy as np

from tamis.base._sklearn import Interval, StrOptions
from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.neighbours.relief_weights import neighbour_weights


@score(
    Part(
        "relief",
        paper="Kira and Rendell 1992; Souza, Japkowicz and Matwin 2005",
        phrase="how far rows of the other classes are in them (Relief)",
        ranks_like="relieff",
    ),
    constraints={
        "metric": [StrOptions({"manhattan", "euclidean"})],
        "sample": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state", np.random.Generator],
    },
    takes_nominal=True,
    alone=False,
)
def relief(
    X: Matrix,
    y: Codes,
    sample_weight: FloatArray | None = None,
    nominal: Mask | None = None,
    *,
    metric: str = "manhattan",
    sample: int | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
) -> FloatArray:
    """Relief: how much farther a row's nearest miss is in a feature than its nearest hit.

    The nearest hit H of a row R is the nearest other row of its class, the nearest miss M the nearest row that is not.
    The score of f is the mean over the rows R of

        diff(f, R, M) - diff(f, R, H).

    Differences, options and missing values are those of :func:`tamis.scores.relieff`. Relief is defined for two
    classes. With more, the nearest miss is that of all other classes together (Kononenko's RELIEF-E), which looks only
    at the borders between classes that lie next to each other: take ``relieff``, which asks in each class.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.scores import relief
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 6.0]])
    >>> relief(X, ["a", "a", "b", "b"])
    array([ 0.33333333, -1.        ])
    """
    return neighbour_weights(
        X,
        y,
        sample_weight,
        nominal,
        who="relief",
        neighbours=1,
        two_groups=True,
        metric=metric,
        sample=sample,
        random_state=random_state,
    )
