"""The boosted lasso: the path of penalised solutions by steps of one size, forward and backward."""

import math
from collections.abc import Iterable

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Matrix
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.losses import LOSSES
from tamis.margins.boosted_lasso.path import Path
from tamis.margins.boosted_lasso.penalties import GivenPenalty, MixedPenalty, PenaltyFunction
from tamis.margins.boosted_lasso.squared import SquaredPath

#: The test of a backward step and the update of the penalty ask for this much more, in units of the squared step.
TOLERANCE = 1e-6


def start_path(
    columns: Columns,
    y: FloatArray,
    *,
    loss: str = "squared",
    l1_ratio: float = 1.0,
    penalty: PenaltyFunction | None = None,
    step: float = 0.01,
    tolerance: float = TOLERANCE,
    backward: bool = True,
    max_steps: int = 10_000,
) -> SquaredPath | ConvexPath:
    """A path without steps, to be taken further as often as wanted; see :func:`boosted_lasso`."""
    if loss not in LOSSES:
        raise TamisError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}")
    if loss in ("logistic", "hinge") and not set(np.unique(y)) <= {-1.0, 1.0}:
        raise TamisError(f"the loss {loss} takes targets of -1 and 1")
    options = {"step": step, "tolerance": tolerance, "backward": backward, "max_steps": max_steps}
    if loss == "squared" and penalty is None:
        return SquaredPath(columns, columns.target(y), l1_ratio=l1_ratio, **options)  # type: ignore[arg-type]
    given = MixedPenalty(l1_ratio) if penalty is None else GivenPenalty(penalty)
    return ConvexPath(columns, LOSSES[loss](y, columns.share), penalty=given, **options)  # type: ignore[arg-type]


def boosted_lasso(
    X: Matrix,
    y: FloatArray,
    sample_weight: FloatArray | None = None,
    *,
    loss: str = "squared",
    l1_ratio: float = 1.0,
    penalty: PenaltyFunction | None = None,
    step: float = 0.01,
    tolerance: float = TOLERANCE,
    backward: bool = True,
    k: int | None = None,
    alpha: float = 0.0,
    max_steps: int = 10_000,
) -> Path:
    """Follow the solutions of a penalised problem from the empty one on, by steps of one size.

    The problem is to minimise ``mean loss + lambda T(w)`` over weights w and an intercept. A backward step, which moves
    a weight towards 0, is taken where it lowers the penalised loss at the present lambda. Otherwise the step that
    lowers the loss most is taken, and lambda falls to what the step gains for each unit of penalty if that is less. As
    the step goes to 0 the path goes to that of the lasso.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_columns)
        Columns are centred and divided by their deviation.
    y : array of shape (n_rows,)
        The target as it is; -1 and 1 for "logistic" and "hinge".
    sample_weight : array of shape (n_rows,), optional
        Weights above zero.
    loss : {"squared", "logistic", "huber", "hinge"}, default="squared"
    l1_ratio : float, default=1.0
        The penalty T is ``r |w|_1 + (1 - r) |w|^2 / 2`` with this ratio r.
    penalty : callable, optional
        Any other convex T, as a function of the weights that is smallest at 0.
    step : float, default=0.01
    tolerance : float
        What a backward step must gain, and what is taken off the gain of a forward step, in units of the squared step.
    backward : bool, default=True
        False takes forward steps alone: forward stagewise fitting.
    k : int, optional
        Stop when this many columns are active.
    alpha : float, default=0.0
        Stop when lambda is below this share of the highest.
    max_steps : int, default=10000

    Returns
    -------
    Path

    Notes
    -----
    With another penalty than the lasso's every step that lowers the penalised loss at the present lambda is taken
    before lambda falls (the generalised boosted lasso). The forced step tries both signs of every column.

    References
    ----------
    Zhao and Yu (2005), "Boosted lasso".

    Examples
    --------
    >>> X = np.array([[-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> path = boosted_lasso(X, np.array([-2.0, 2.0, -2.0, 2.0]), step=0.5, alpha=0.3)
    >>> path.columns, path.penalties.round(3), path.coef(len(path))
    (array([0, 0, 0, 0], dtype=int32), array([1.75, 1.25, 0.75, 0.25]), array([2., 0.]))
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    columns = Columns(X, weight / weight.sum())
    run = start_path(
        columns,
        np.asarray(y, dtype=np.float64),
        loss=loss,
        l1_ratio=l1_ratio,
        penalty=penalty,
        step=step,
        tolerance=tolerance,
        backward=backward,
        max_steps=max_steps,
    )
    run.advance(math.inf if k is None else k, alpha * run.highest)
    return run.path


def path_for(run: SquaredPath | ConvexPath, ends: Iterable[tuple[float, float]]) -> Path:
    """Take a path until each of several pairs of a number of columns and a share of the penalty is passed."""
    for most, share in ends:
        run.advance(most, share * run.highest)
    return run.path
