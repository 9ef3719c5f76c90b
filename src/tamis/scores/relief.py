"""Relief."""

import numpy as np

from tamis.base.part import Part
from tamis.base.score import score
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.neighbours.relief_weights import neighbour_weights
from tamis.scores.relieff import OPTIONS


@score(
    Part(
        "relief",
        paper="Kira and Rendell 1992; Souza, Japkowicz and Matwin 2005",
        phrase="how far rows of the other classes are in them (Relief)",
        ranks_like="relieff",
        counterpart="rrelieff",
    ),
    constraints=OPTIONS,
    takes_nominal=True,
    columnwise=False,
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

    The nearest hit H of a row R is the nearest other row of its class, the nearest miss M the nearest row of another
    class. The score of f is the mean over the rows R of

        diff(f, R, M) - diff(f, R, H).

    Differences, options and missing values are those of :func:`tamis.scores.relieff`. Relief is defined for two
    classes. With more, the nearest miss is that of all other classes together (Kononenko's RELIEF-E), which uses only
    the borders between neighbouring classes: take ``relieff``, which searches in each class.

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
