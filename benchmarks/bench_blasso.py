"""The boosted lasso: 5,000 steps on 500 x 20,000, beside scikit-learn's lasso path and, if installed, celer's."""

from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.linear_model import lasso_path

from benchmarks.timing import compare, extra_memory
from tamis.margins.boosted_lasso.boosting import boosted_lasso

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
