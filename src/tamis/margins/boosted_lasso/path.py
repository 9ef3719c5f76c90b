"""The record of a path: its steps, and the weights at any of them."""

from collections.abc import Sequence

import numpy as np

from tamis.base.types import FloatArray, Mask


class Path:
    """The steps of a boosted lasso, from no column on or, in an update, from the weights that were there.

    Parameters
    ----------
    step : float
        The size of a step.
    n_columns : int
    highest : float
        The smallest penalty that sets every weight to 0.
    columns, signs : int arrays of shape (n_steps,)
        The column that each step moves, and the direction.
    penalties : array of shape (n_steps,)
        The penalty lambda after each step; it never grows. In an update it is one penalty.
    losses : array of shape (n_steps,)
        The mean loss after each step.
    sizes : int array of shape (n_steps,)
        The number of active columns after each step.
    intercepts : array of shape (n_steps + 1,)
        The intercept before the first step and after each.
    start : int array of shape (n_columns,), optional
        The weights before the first step, in steps; 0 by default.

    Notes
    -----
    Weights are for columns of mean 0 and mean square 1, and for the target in units of its deviation. They are kept as
    steps: the weights after t steps are the start and sums of the first t signs, times the step.
    """

    def __init__(
        self,
        step: float,
        n_columns: int,
        highest: float,
        columns: np.ndarray,
        signs: np.ndarray,
        penalties: FloatArray,
        losses: FloatArray,
        sizes: np.ndarray,
        intercepts: FloatArray,
        start: np.ndarray | None = None,
    ) -> None:
        self.step = step
        self.n_columns = n_columns
        self.highest = highest
        self.columns = columns
        self.signs = signs
        self.penalties = penalties
        self.losses = losses
        self.sizes = sizes
        self.intercepts = intercepts
        self.start = np.zeros(n_columns, dtype=np.intp) if start is None else start

    def __len__(self) -> int:
        return int(self.columns.size)

    @property
    def knots(self) -> np.ndarray:
        """The numbers of steps after which the penalty falls, and that of the last: the solutions on the path."""
        falls = np.flatnonzero(np.diff(self.penalties) < 0) + 1
        return np.append(falls, len(self)) if len(self) else falls

    @property
    def backward(self) -> Mask:
        """Which steps move a weight towards 0."""
        order = np.argsort(self.columns, kind="stable")
        moved = np.cumsum(self.signs[order].astype(np.intp))
        first = np.r_[True, np.diff(self.columns[order]) != 0][: moved.size]
        # The sum of signs before the first step of each column is taken off.
        before = np.maximum.accumulate(np.where(first, np.arange(moved.size), 0))
        after = moved - (moved - self.signs[order])[before] + self.start[self.columns[order]]
        found = np.empty(len(self), dtype=bool)
        found[order] = np.abs(after) < np.abs(after - self.signs[order])
        return found

    def coef(self, done: int) -> FloatArray:
        """The weights after a number of steps."""
        counts = np.bincount(self.columns[:done], weights=self.signs[:done], minlength=self.n_columns)
        return np.asarray(self.step * (self.start + np.rint(counts)))

    def coefs(self, done: Sequence[int] | np.ndarray) -> FloatArray:
        """The weights after several rising numbers of steps, one row for each."""
        found, before = np.zeros((len(done), self.n_columns)), 0
        for row, number in enumerate(done):
            found[row] = found[row - 1] if row else self.start
            np.add.at(found[row], self.columns[before:number], self.signs[before:number])
            before = int(number)
        return self.step * np.rint(found)

    def first_of_size(self, k: int) -> int:
        """The number of steps after which `k` columns are active for the first time; all steps if they never are."""
        reached = np.flatnonzero(self.sizes >= k)
        return int(reached[0]) + 1 if reached.size else len(self)

    def at_share(self, share: float) -> int:
        """The number of steps to the solution for a penalty, given as a share of the highest; at least one."""
        done = int(np.searchsorted(-self.penalties, -share * self.highest, side="right"))
        return min(max(done, 1), len(self))

    def end(self, most: float, share: float) -> int:
        """The number of steps until `most` columns are active or the penalty is below a share of the highest."""
        passed = np.flatnonzero((self.sizes >= most) | (self.penalties < share * self.highest))
        return int(passed[0]) + 1 if passed.size else len(self)

    def until(self, done: int) -> "Path":
        """The path of the first steps alone."""
        return Path(
            self.step,
            self.n_columns,
            self.highest,
            self.columns[:done],
            self.signs[:done],
            self.penalties[:done],
            self.losses[:done],
            self.sizes[:done],
            self.intercepts[: done + 1],
            self.start,
        )

    def entries(self) -> tuple[np.ndarray, FloatArray]:
        """Columns in the order in which they enter, and for each column the share of the penalty when it enters."""
        entered, first = np.unique(self.columns, return_index=True)
        shares = np.zeros(self.n_columns)
        shares[entered] = self.penalties[first] / self.highest if len(self) else 0.0
        return entered[np.argsort(first)].astype(np.intp), shares
