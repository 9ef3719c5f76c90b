"""Cuts by mean and deviation."""

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments, divide
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.bins.cuts import Cuts
from tamis.bins.method import binning

#: Relative rounding errors of a mean and of a deviation.
_MEAN, _DEVIATION = 64 * np.finfo(np.float64).eps, 1e-12


@binning("sigma", supervised=False)
def sigma(X: Matrix, y: Codes | None, *, n_bins: int | None) -> list[FloatArray]:
    """Cut each column at mu - sd/2 and mu + sd/2: low values, those about the mean, and high ones.

    A value at a cut belongs to the middle. With ``n_bins=2`` there is one cut, at the mean; a value there belongs to
    the upper bin. The variance is divided by n - 1, as for the published data. Missing values are ignored. A constant
    column is not cut.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X = np.array([[-1.0], [0.0], [0.0], [1.0]])
    >>> Discretize("sigma").fit_transform(X).ravel(), Discretize("sigma", n_bins=2).fit_transform(X).ravel()
    (array([0., 1., 1., 2.]), array([0., 1., 1., 1.]))
    """
    return sigma_cuts(X, n_bins).apart()


def sigma_cuts(X: Matrix, n_bins: int | None = None, sample_weight: FloatArray | None = None) -> Cuts:
    """The cuts of :func:`sigma`; weights count as repeated rows."""
    if n_bins not in (None, 2, 3):
        raise TamisError(f"sigma makes 2 or 3 bins; got n_bins={n_bins}")
    moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp), sample_weight)
    mean, weight = moments.mean[0], moments.weight[0]
    # Weights that sum to less than two rows are shares, not repeated rows.
    deviation = np.sqrt(divide(moments.scatter[0], np.where(weight < 2, weight, weight - 1)))
    # The bin of a value at a cut must not depend on rounding, which varies with the order of the rows.
    near = np.maximum(_MEAN * np.abs(mean), _DEVIATION * deviation)
    table = [mean - near] if n_bins == 2 else [mean - deviation / 2 - near, mean + deviation / 2 + near]
    cuts = np.column_stack(table)
    return Cuts.table(cuts, np.repeat(deviation[:, None] > 0, cuts.shape[1], axis=1))
