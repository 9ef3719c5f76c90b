"""Where to stop on a path: at a size, at a penalty, by BIC or by cross-validation."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tamis.base.inner_cv import most_confident, weighted_folds
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.margins.boosted_lasso.columns import Columns
from tamis.margins.boosted_lasso.convex import ConvexPath
from tamis.margins.boosted_lasso.losses import LOSSES
from tamis.margins.boosted_lasso.path import Path
from tamis.margins.boosted_lasso.squared import SquaredPath
from tamis.margins.kernel import inner_products, squared_norms

#: Share of the highest penalty at which BIC and cross-validation end, with more columns than rows and with fewer.
_WIDE, _TALL = 1e-2, 1e-3

#: Shares that cross-validation compares.
_SHARES = 40


def last_share(n_rows: int, n_columns: int) -> float:
    """The share of the highest penalty up to which a stop is looked for."""
    return _WIDE if n_rows < n_columns else _TALL


def by_bic(path: Path, loss: str, total: float) -> int:
    """The number of steps to the solution with the smallest BIC, for rows of a total weight.

    An active column costs the larger of log n, which is BIC, and 2 log p, the risk inflation criterion of Foster and
    George (1994): among very many columns some fit by chance. The fit is n log(loss) for squared and Huber's loss, 2 n
    loss for the logistic and n loss for the hinge loss (Claeskens, Croux and Van Kerckhoven 2008). At most half as many
    columns as rows are active.
    """
    knots = path.knots
    if knots.size == 0:
        return 0
    sizes, losses = path.sizes[knots - 1], path.losses[knots - 1]
    if loss in ("squared", "huber"):
        fit = total * np.log(np.maximum(losses, np.finfo(np.float64).tiny))
    else:
        fit = (2.0 if loss == "logistic" else 1.0) * total * losses
    value = fit + sizes * max(math.log(total), 2 * math.log(path.n_columns))
    value[sizes > max(1.0, total / 2)] = np.inf
    return int(knots[np.argmin(value)])


def at_common_size(paths: Sequence[Path], k: int) -> list[int]:
    """Numbers of steps on several paths at one share of the penalty, at which `k` columns have entered any of them."""
    if len(paths) == 1:
        return [paths[0].first_of_size(k)]
    shares = np.sort(np.max([path.entries()[1] for path in paths], axis=0))[::-1]
    share = float(shares[min(k, shares.size) - 1]) * (1 - 1e-12)
    return [path.at_share(share) if share <= path.penalties[0] / path.highest else 0 for path in paths]


def by_cross_validation(
    X: Matrix,
    targets: Sequence[FloatArray],
    weight: FloatArray,
    strata: Codes | FloatArray,
    begin: Callable[[Columns, FloatArray], SquaredPath | ConvexPath],
    loss: str,
    folds: int,
    random_state: Any,
) -> tuple[FloatArray, FloatArray, float]:
    """Shares of the highest penalty, the mean loss of each over the folds and all targets, and the best share."""
    parts = weighted_folds(squared_norms(X), strata, weight, folds, random_state, 'blasso: stop="cv"')
    shares = np.geomspace(1.0, last_share(*X.shape), _SHARES)
    losses = np.zeros((len(parts), shares.size))
    for fold, part in enumerate(parts):
        train, test = np.flatnonzero(part.train), np.flatnonzero(part.test)
        columns = Columns(X[train], part.train[train] / part.train.sum())
        for y in targets:
            run = begin(columns, y[train])
            run.advance(floor=shares[-1] * run.highest)
            done = [run.path.at_share(share) for share in shares] if len(run.path) else [0] * shares.size
            weights = columns.original(run.path.coefs(done))
            outputs = inner_products(X[test], weights) + run.path.intercepts[done] - weights @ columns.means
            own = LOSSES[loss](y[test], part.test[test] / part.test.sum())
            losses[fold] += own.share @ own.values(outputs)
    return shares, losses.mean(axis=0), float(shares[most_confident(-losses)])
