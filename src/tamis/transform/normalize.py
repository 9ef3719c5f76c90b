"""Normalize: scale each row to unit norm."""

from typing import Any, ClassVar

import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.preprocessing import normalize

from tamis.base._sklearn import StrOptions
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.transformer import Transformer
from tamis.base.types import Matrix

#: What each norm divides a row by.
_NORMS = {"l2": "its length", "l1": "the sum of its absolute values", "max": "its largest absolute value"}


class Normalize(OneToOneFeatureMixin, Transformer):
    """Divide each row by its own norm.

    A row of zeros is not changed. `fit` stores only the number and the names of the columns.

    Parameters
    ----------
    norm : {"l2", "l1", "max"}, default="l2"
        Root of the sum of squares, sum of absolute values, or largest absolute value.

    See Also
    --------
    RMSNorm : One divisor for all rows.
    Standardize : Scales columns.

    References
    ----------
    Salton and Buckley (1988), "Term-weighting approaches in automatic text retrieval".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import Normalize
    >>> Normalize().fit_transform(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    part: ClassVar[Part] = Part(
        "normalize",
        positional=("norm",),
        search={"norm": choice("l2", "l1", "max")},
        paper="Salton and Buckley 1988",
        phrase=lambda a: f"divides every row by {_NORMS[a.pop('norm')]}",
        role="sample_scaling",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"norm": [StrOptions({"l2", "l1", "max"})]}

    def __init__(self, norm: str = "l2") -> None:
        self.norm = norm

    def _learn(self, X: Matrix) -> None:
        """Nothing to fit: validation stores the columns."""

    def _apply(self, X: Matrix) -> Matrix:
        out = X.copy()
        if sp.issparse(X):
            # Norms of entries with duplicates would be wrong.
            out.sum_duplicates()
        return normalize(out, norm=self.norm, copy=False)
