"""RMSNorm: one scale for all rows that makes their mean squared length 1."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from tamis.base.moments import ClassMoments
from tamis.base.part import Part
from tamis.base.transformer import Transformer
from tamis.base.types import Matrix


class RMSNorm(OneToOneFeatureMixin, Transformer):
    """Divide every row by the root of the mean squared length of the training rows.

    ``x / sqrt(mean_k ||x_k||^2)``: a single divisor changes only the scale of the inner products, and makes the same C
    and kernel width meaningful on any data. When all rows are zero the divisor is 1.

    Attributes
    ----------
    scale_ : float
        The divisor.

    See Also
    --------
    Normalize : Divides each row by its own norm.

    References
    ----------
    Lal, Chapelle and Schölkopf (2006), "Combining a filter method with SVMs", step 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import RMSNorm
    >>> RMSNorm().fit_transform(np.array([[1.0, 0.0], [0.0, 7.0]]))
    array([[0.2, 0. ],
           [0. , 1.4]])
    """

    part: ClassVar[Part] = Part(
        "rms_norm",
        paper="Lal, Chapelle and Schölkopf 2006",
        phrase="scales the rows to a mean length of one",
        role="unit_rows",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def _learn(self, X: Matrix) -> None:
        moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp))
        mean_square = (moments.scatter + moments.weight * moments.mean**2).sum() / X.shape[0]
        self.scale_ = float(np.sqrt(mean_square)) or 1.0

    def _apply(self, X: Matrix) -> Matrix:
        # Multiplication, since SciPy turns float32 into float64 when it divides a sparse matrix.
        return X * X.dtype.type(1.0 / self.scale_)
