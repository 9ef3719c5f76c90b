"""The boosted lasso: 5,000 steps on 500 x 20,000, beside scikit-learn's lasso path and, if installed, celer's.

Then rows that arrive, 50 batches of 100 with 2,000 columns, beside a fit on all rows so far after each batch.
"""

import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import Lasso, lasso_path

from benchmarks.timing import compare, extra_memory
from tamis.margins.boosted_lasso import growing
from tamis.margins.boosted_lasso.boosting import boosted_lasso
from tamis.regress import BLassoRegressor

_BATCHES, _BATCH, _ALPHA = 50, 100, 0.1
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


def _each_batch(work: Callable[[int], object]) -> float:
    """Seconds of the work after each batch, together; the argument is the number of rows so far."""
    start = time.perf_counter()
    for number in range(1, _BATCHES + 1):
        work(number * _BATCH)
    return time.perf_counter() - start


def _arriving() -> None:
    """Updates beside fits from nothing, at one share of the highest penalty."""
    X, y = _problem(_BATCHES * _BATCH, 2_000)
    BLassoRegressor(alpha=_ALPHA).partial_fit(X[:50], y[:50])
    model = BLassoRegressor(alpha=_ALPHA)
    mine = _each_batch(lambda end: model.partial_fit(X[end - _BATCH : end], y[end - _BATCH : end]))
    refit = BLassoRegressor(alpha=_ALPHA)
    other = _each_batch(lambda end: refit.fit(X[:end], y[:end]))
    # Rows that are forgotten as soon as the products of all columns take less room.
    short = BLassoRegressor(alpha=_ALPHA)
    with patch.object(growing, "_ROOM", 0):
        forgets = _each_batch(lambda end: short.partial_fit(X[end - _BATCH : end], y[end - _BATCH : end]))
    warm = Lasso(warm_start=True)

    def descend(end: int) -> object:
        highest = float(np.abs((X[:end] - X[:end].mean(axis=0)).T @ (y[:end] - y[:end].mean())).max()) / end
        return warm.set_params(alpha=_ALPHA * highest).fit(X[:end], y[:end])

    theirs = _each_batch(descend)
    what, forgotten = f"{_BATCHES} batches of {_BATCH} x 2000, partial_fit", "the same, rows forgotten after 2000"
    for one, ours, peer, its in (
        (what, mine, "fit after each", other),
        (what, mine, "Lasso(warm_start=True).fit", theirs),
        (forgotten, forgets, "fit after each", other),
    ):
        print(f"{one:<52} {ours:9.4f} s   {peer:<34} {its:9.4f} s   {its / ours:8.1f}x")
    unit = X.std(axis=0) / y.std()
    gaps = [float(np.abs((one.coef_ - refit.coef_) * unit).max()) for one in (model, short)]
    print(f"largest difference from fit: {gaps[0]:.4f}, {gaps[1]:.4f} (a step is {model.step:g})")
    steps = f"{model.n_steps_[0]} steps for the last batch, {refit.n_steps_[0]} in a fit"
    print(f"{np.count_nonzero(model.coef_)} columns active, {steps}")


def main() -> None:
    _arriving()
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
