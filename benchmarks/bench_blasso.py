"""The boosted lasso: 5,000 steps on 500 x 20,000, beside scikit-learn's lasso path and, if installed, celer's.

Then rows that arrive, 50 batches of 100 with 2,000 columns and three data sets of TAMIS_DATA, beside a fit on all rows
so far after each batch.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import is_classifier
from sklearn.linear_model import Lasso, lasso_path

from benchmarks.timing import compare, extra_memory
from tamis import load
from tamis.classify import BLasso
from tamis.margins.boosted_lasso import growing
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.margins.boosted_lasso.columns import Columns
from tamis.regress import BLassoRegressor

_BATCHES, _BATCH = 50, 100
_STEPS, _PENALTIES = 5_000, 50

_SETUP = """
import numpy as np
from tamis.margins.boosted_lasso.boosting import boosted_lasso
rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 20_000)), rng.normal(size=500)
boosted_lasso(X[:, :50], y, max_steps=10)
"""


def _problem(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of unit deviation, and a target of 20 of them in units of its deviation."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=rows)
    return X, (y - y.mean()) / y.std()


def _size(X: np.ndarray, y: np.ndarray) -> float:
    """A step with which 5,000 steps go about as far as the penalties of the other paths."""
    coarse = boosted_lasso(X, y, step=0.02, alpha=0.02)
    return 0.02 * len(coarse) / _STEPS


def _by_batches(rows: int, size: int, work: Callable[[slice, slice], object]) -> float:
    """Seconds of the work after each batch, together; it gets the places of the new rows and of all rows so far."""
    start = time.perf_counter()
    for end in range(size, rows + 1, size):
        work(slice(end - size, end), slice(end))
    return time.perf_counter() - start


def _updates(what: str, make: Callable[[], Any], X: Any, y: np.ndarray, size: int) -> tuple[float, float, Any]:
    """Updates beside fits on all rows so far; the seconds of both and the updated model."""
    classes = {"classes": np.unique(y)} if is_classifier(make()) else {}
    make().partial_fit(X[:size], y[:size], **classes)
    model, refit = make(), make()
    ours = _by_batches(X.shape[0], size, lambda new, _: model.partial_fit(X[new], y[new], **classes))
    theirs = _by_batches(X.shape[0], size, lambda _, known: refit.fit(X[known], y[known]))
    rows = X.shape[0] // size * size
    unit = 1.0 if classes else float(y[:rows].std())
    scales = Columns(X[:rows], np.full(rows, 1 / rows)).scales
    apart = float(np.abs((model.coef_ - refit.coef_) * scales).max()) / unit / model.step
    note = f"{apart:.1f} steps apart; {model.n_steps_[0]} steps at last, {refit.n_steps_[0]} in a fit"
    print(f"{what:<52} {ours:9.4f} s   {'fit after each':<34} {theirs:9.4f} s   {theirs / ours:8.1f}x  {note}")
    return ours, theirs, model


def _arriving() -> None:
    """Rows that arrive, at one share of the highest penalty."""
    X, y = _problem(_BATCHES * _BATCH, 2_000)
    what = f"{_BATCHES} batches of {_BATCH} x 2000, partial_fit"
    ours, _, _ = _updates(what, partial(BLassoRegressor, alpha=0.1), X, y, _BATCH)
    warm = Lasso(warm_start=True)

    def descend(_: slice, known: slice) -> object:
        centred = X[known] - X[known].mean(axis=0)
        highest = float(np.abs(centred.T @ (y[known] - y[known].mean())).max()) / known.stop
        return warm.set_params(alpha=0.1 * highest).fit(X[known], y[known])

    theirs = _by_batches(X.shape[0], _BATCH, descend)
    print(f"{what:<52} {ours:9.4f} s   {'Lasso(warm_start=True).fit':<34} {theirs:9.4f} s   {theirs / ours:8.1f}x")
    # Rows that are forgotten as soon as the products of all columns take less room.
    with patch.object(growing, "_ROOM", 0):
        _updates("the same, rows forgotten after 2000", partial(BLassoRegressor, alpha=0.1), X, y, _BATCH)
    if "TAMIS_DATA" in os.environ:
        for name, make, size in (
            ("diabetes_lars", partial(BLassoRegressor, alpha=0.05, loss="squared"), 20),
            ("madelon", partial(BLasso, alpha=0.3, loss="squared"), 100),
            ("madelon", partial(BLasso, alpha=0.3, loss="logistic"), 100),
            ("dexter", partial(BLasso, alpha=0.3, loss="squared"), 50),
        ):
            data = load(name)
            rows = np.random.default_rng(0).permutation(data.n_rows)
            _updates(
                f"{name} {make.keywords['loss']}, batches of {size}", make, data.X[rows], np.asarray(data.y)[rows], size
            )


def main() -> None:
    # First, since a process starts with the peak of its parent.
    extra = extra_memory(_SETUP, f"boosted_lasso(X, y, step=0.001, max_steps={_STEPS})")
    print(f"{'memory beside that of the data (76 MB)':<52} {extra:9.0f} MB")
    X, y = _problem(500, 20_000)
    step = _size(X, y)
    path = boosted_lasso(X, y, step=step, max_steps=_STEPS)
    share = path.penalties[-1] / path.highest
    print(f"{len(path)} steps of {step:.5f} reach {share:.3f} of the highest penalty; {path.sizes[-1]} columns active")
    ours = partial(boosted_lasso, X, y, step=step, max_steps=_STEPS)
    penalties = path.highest * np.geomspace(1.0, share, _PENALTIES)
    what = f"boosted lasso, {_STEPS} steps, 500 x 20000"
    fortran = np.asfortranarray(X)
    compare(what, ours, "lasso_path, 50 alphas", partial(lasso_path, fortran, y, alphas=penalties))
    if find_spec("celer"):
        from celer import celer_path

        compare(what, ours, "celer_path, 50 alphas", partial(celer_path, fortran, y, "lasso", alphas=penalties))
    _arriving()
