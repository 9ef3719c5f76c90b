"""Updates of the boosted lasso for rows that arrive: its steps at one penalty, from the present weights."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import check_weights, forget, weighted_numbers
from tamis.margins.boosted_lasso.boosting import TOLERANCE, path_for, start_path
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.estimator import BoostedLasso, Prepared
from tamis.margins.boosted_lasso.growing import GrowingColumns
from tamis.margins.boosted_lasso.squared import SquaredPath


class KeptRows:
    """All rows so far, for a loss that has no sums to which rows could be added."""

    def __init__(self, n_columns: int, n_targets: int) -> None:
        self._X: Matrix = np.empty((0, n_columns))
        self.targets, self.weight = np.empty((0, n_targets)), np.empty(0)

    def add(self, X: Matrix, targets: FloatArray, weight: FloatArray) -> None:
        """Add rows, their targets, one column for each, and their weights above zero."""
        sparse = sp.issparse(X) or sp.issparse(self._X)
        self._X = sp.vstack((self._X, X), format="csr") if sparse else np.concatenate((self._X, X))
        self.targets = np.concatenate((self.targets, targets))
        self.weight = np.concatenate((self.weight, weight))

    @property
    def total(self) -> float:
        """The total weight."""
        return float(self.weight.sum())

    def columns(self) -> Columns:
        """The columns in units of their deviation."""
        return Columns(self._X, self.weight / self.total)


class OnlineBoostedLasso(BoostedLasso):
    """First base of a predictor by the boosted lasso that also learns from rows that arrive."""

    rows_: GrowingColumns | KeptRows

    def _arriving(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        """Validated rows and targets."""
        self._validate_params()
        first = not hasattr(self, "rows_")
        if self.stop == "cv" and self._chooses:
            raise TamisError('blasso: stop="cv" needs all rows in fit; give partial_fit alpha, k or stop="bic"')
        if first and hasattr(self, "path_"):
            message = (
                "blasso: fit keeps no rows to which others could be added; partial_fit begins with these rows alone"
            )
            warnings.warn(message, UserWarning, stacklevel=3)
            forget(self)
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=(np.float64, np.float32))
        return X, y

    def _add_rows(self, X: Matrix, targets: FloatArray, sample_weight: Any, loss: str) -> None:
        X, targets, weight, _ = weighted_numbers(X, targets, check_weights(sample_weight, X), "blasso")
        kind = GrowingColumns if loss == "squared" else KeptRows
        if not hasattr(self, "rows_"):
            self.rows_ = kind(X.shape[1], targets.shape[1])
        elif not isinstance(self.rows_, kind):
            raise TamisError(f"blasso: the rows so far are not kept for the loss {loss}; begin with a new model")
        self.rows_.add(X, targets, weight)

    def _update(self, units: Sequence[tuple[float, float]], loss: str) -> tuple[FloatArray, FloatArray]:
        """Weights and intercept of each target, which is less a zero and in a unit, from the present weights."""
        columns, runs = self._begin_runs(units, loss)
        if self.alpha is None or self.k is not None or not self.backward:
            # These ends belong to a path from no column on: it is followed again, for squared error without the rows.
            end = {self._end(columns.n_rows, columns.n_columns)}
            paths = [path_for(run, end) for run in runs]
            return self._stop_at(Prepared(columns, paths, [run.complete for run in runs], self.rows_.total, None), loss)
        weights = np.broadcast_to(getattr(self, "coef_", 0.0), (len(runs), columns.n_columns))
        for run, (_, unit), own in zip(runs, units, weights, strict=True):
            counts = np.rint(own * columns.scales / (unit * self.step)).astype(np.intp)
            run.settle(counts, float(self.alpha) * run.highest)
        for name in {"scores_", "order_"} & set(vars(self)):
            delattr(self, name)
        if not all(run.complete for run in runs):
            self._warn()
        paths = [run.path for run in runs]
        return self._take_point(columns, paths, [len(path) for path in paths])

    def _begin_runs(
        self, units: Sequence[tuple[float, float]], loss: str
    ) -> tuple[Columns | GrowingColumns, Sequence[SquaredPath | ConvexPath]]:
        """The columns, and for each target a path without steps."""
        rows, options = self.rows_, self._options
        if isinstance(rows, GrowingColumns):
            targets = [rows.target(place, zero, unit) for place, (zero, unit) in enumerate(units)]
            return rows, [SquaredPath(rows, target, tolerance=TOLERANCE, **options) for target in targets]
        columns = rows.columns()
        numbers = ((y - zero) / unit for y, (zero, unit) in zip(rows.targets.T, units, strict=True))
        return columns, [start_path(columns, y, loss=loss, **options) for y in numbers]
