"""What the regressor and the classifier of the boosted lasso share: one path, the choice of a point, the selection."""

import math
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.margins.boosted_lasso.boosting import path_for, start_path
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.growing import GrowingColumns
from tamis.margins.boosted_lasso.losses import LOSSES
from tamis.margins.boosted_lasso.path import Path
from tamis.margins.boosted_lasso.squared import SquaredPath
from tamis.margins.boosted_lasso.stopping import at_common_size, by_bic, by_cross_validation, last_share


class Prepared(NamedTuple):
    """The columns, one path a target, whether `max_steps` sufficed, the total weight, and what "cv" has tried."""

    columns: Columns | GrowingColumns
    paths: list[Path]
    complete: list[bool]
    total: float
    tried: tuple[FloatArray, FloatArray, float] | None


class BoostedLasso(SharedFit, SelectorMixin):
    """First base of a predictor at a point on a path of the boosted lasso, which selects the columns active there."""

    #: It may stand before the end of a recipe: the columns with a weight are then selected.
    selects: ClassVar[bool] = True
    #: One path has every size and every penalty.
    shared_parameters = ("k", "alpha")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1), None],
        "alpha": [real(0, None), None],
        "loss": [StrOptions(set(LOSSES)), None],
        "l1_ratio": [real(0, 1, "right")],
        "step": [real(0, None)],
        "backward": ["boolean"],
        "stop": [StrOptions({"bic", "cv"})],
        "cv": [integer(2)],
        "max_steps": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }
    support_: Mask

    def __init__(
        self,
        k: int | None,
        alpha: float | None,
        *,
        loss: str | None,
        l1_ratio: float,
        step: float,
        backward: bool,
        stop: str,
        cv: int,
        max_steps: int,
        random_state: Any,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.loss = loss
        self.l1_ratio = l1_ratio
        self.step = step
        self.backward = backward
        self.stop = stop
        self.cv = cv
        self.max_steps = max_steps
        self.random_state = random_state

    def _follow(
        self,
        estimators: Sequence["BoostedLasso"],
        X: Matrix,
        targets: Sequence[FloatArray],
        weight: FloatArray,
        strata: Codes | FloatArray,
        loss: str,
    ) -> Prepared:
        """Take the path of each target as far as one of the estimators needs it."""

        def begin(columns: Columns, y: FloatArray) -> SquaredPath | ConvexPath:
            return start_path(columns, y, loss=loss, **self._options)

        columns = Columns(X, weight / weight.sum())
        ends = {one._end(*X.shape) for one in estimators}
        runs = [begin(columns, y) for y in targets]
        paths = [path_for(run, ends) for run in runs]
        tried = None
        if self.stop == "cv" and any(one._chooses for one in estimators):
            tried = by_cross_validation(X, targets, weight, strata, begin, loss, int(self.cv), self.random_state)
        return Prepared(columns, paths, [run.complete for run in runs], float(weight.sum()), tried)

    @property
    def _options(self) -> dict[str, Any]:
        """Those of a path of any loss."""
        return {
            "l1_ratio": float(self.l1_ratio),
            "step": float(self.step),
            "backward": bool(self.backward),
            "max_steps": int(self.max_steps),
        }

    @property
    def _chooses(self) -> bool:
        """Whether the point on the path is chosen by BIC or cross-validation."""
        return self.k is None and self.alpha is None

    def _end(self, n_rows: int, n_columns: int) -> tuple[float, float]:
        """The number of active columns, or the share of the highest penalty, with which the path ends."""
        share = last_share(n_rows, n_columns) if self.alpha is None else float(self.alpha)
        return math.inf if self.k is None else self.k, share

    def _stop_at(self, prepared: Prepared, loss: str) -> tuple[FloatArray, FloatArray]:
        """Keep the paths and the selection; the weights of the columns and the intercept, for each target."""
        columns, paths, complete, total, tried = prepared
        most, share = self._end(columns.n_rows, columns.n_columns)
        ends = [path.end(most, share) for path in paths]
        if self.alpha is not None:
            done = [min(end, path.at_share(share)) for end, path in zip(ends, paths, strict=True)]
        elif self.k is not None:
            done = at_common_size(paths, self.k)
        elif tried is not None:
            self.shares_, self.cv_loss_, best = tried
            done = [path.at_share(best) for path in paths]
        else:
            done = [by_bic(path.until(end), loss, total) for end, path in zip(ends, paths, strict=True)]
        if any(end == len(path) for end, path, whole in zip(ends, paths, complete, strict=True) if not whole):
            self._warn()
        own = [path.until(end) for path, end in zip(paths, ends if self._chooses else done, strict=True)]
        self.scores_ = np.max([path.entries()[1] for path in own], axis=0)
        entered = own[0].entries()[0] if len(own) == 1 else np.argsort(-self.scores_, kind="stable")
        self.order_ = np.concatenate([entered, np.setdiff1d(np.arange(columns.n_columns), entered)])
        return self._take_point(columns, own, done)

    def _take_point(
        self, columns: Columns | GrowingColumns, paths: list[Path], done: list[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Keep paths and the selection after some steps of each; the weights of the columns and the intercepts."""
        self.n_steps_ = np.array(done)
        self.path_ = paths[0] if len(paths) == 1 else paths
        weights = columns.original(np.stack([path.coef(at) for path, at in zip(paths, done, strict=True)]))
        self.support_ = np.asarray((weights != 0).any(axis=0))
        intercepts = np.array([path.intercepts[at] for path, at in zip(paths, done, strict=True)])
        return weights, intercepts - weights @ columns.means

    def _warn(self) -> None:
        message = f"blasso took max_steps={self.max_steps} steps and is not at its end; raise step or max_steps"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_
