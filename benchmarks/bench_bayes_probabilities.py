"""Bayesian networks: how near probabilities are to frequencies, and what longer chains bring, on two real sets.

Every row gets a probability from three folds. Brier score and log loss are means over the rows; "said / seen" are, for
five bins of the probability of the second class, its mean and the share of that class. R-hat is the largest of the
three fits, of all that is followed and of the outputs. Single sets are named as options: ``--wdbc``.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import tamis

#: Run only when it is named.
ONLY_NAMED = True

_RECIPES = (
    "standardize | bayes_net(random_state=0)",
    "standardize | bayes_net(draws=4000, warmup=1000, random_state=0)",
    "standardize | bayes_logistic(hmc, random_state=0)",
    "standardize | bayes_logistic",
    "standardize | logistic",
    "standardize | mlp(random_state=0)",
)


def _mixed(model: Any) -> tuple[float, float] | None:
    """The largest R-hat of all that is followed, and of outputs."""
    if not hasattr(model, "r_hat_"):
        return None
    outputs = [r_hat for name, r_hat in zip(model.followed_, model.r_hat_, strict=True) if name.startswith("output")]
    return float(model.r_hat_.max()), float(max(outputs))


def _line(recipe: str, X: np.ndarray, y: np.ndarray) -> str:
    found, mixed = np.zeros(y.size), []
    ticks = time.process_time()
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        model = tamis.recipe(recipe).fit(X[train], y[train])
        found[test] = model.predict_proba(X[test])[:, 1]
        mixed.append(_mixed(model[-1]))
    seconds = (time.process_time() - ticks) / 3
    own = np.where(y == 1, found, 1 - found)
    bins = np.minimum((5 * found).astype(int), 4)
    pairs = [f"{found[bins == one].mean():.2f} / {y[bins == one].mean():.2f}" for one in np.unique(bins)]
    r_hat = [max(each) for each in zip(*(one for one in mixed if one), strict=True)]
    return (
        f"  {recipe:<66} Brier {((found - y) ** 2).mean():.4f}  log loss {-np.log(own).mean():.4f}  {', '.join(pairs)}"
        f"  R-hat {', '.join(f'{one:.3f}' for one in r_hat) or '-'}  {seconds:.0f} s"
    )


def main(options: list[str] | None = None) -> None:
    for name in [one.removeprefix("--") for one in options or ()] or ["diabetes", "wdbc"]:
        data = tamis.load(name)
        X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
        print(f"{name}, {X.shape[0]} x {X.shape[1]}; said / seen; R-hat of all, of outputs; CPU s a fit", flush=True)
        for recipe in _RECIPES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                print(_line(recipe, X, y), flush=True)
