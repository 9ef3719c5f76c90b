"""The search on a numeric target with columns of noise beside the real ones: its error, and the noise it selects.

    python -m benchmarks mine_numbers                       # three draws of 200 columns of noise, a minute each
    python -m benchmarks mine_numbers --noise 0 --seeds 1

The data is LARS diabetes, 442 rows and ten real columns. Beside the search stand ridge and lasso, their penalties
chosen within the same outer folds.
"""

import argparse
from collections.abc import Sequence

import numpy as np

import tamis
from tamis.data.dataset import Dataset
from tamis.validation.nested import validate_nested

#: It takes minutes, so that it is run only by name.
ONLY_NAMED = True

#: Chosen within each outer fold.
PEERS = {
    "ridge": "standardize | ridge({1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0})",
    "lasso": "standardize | lasso(geom(0.01, 0.9, 15))",
}


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks mine_numbers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], metavar="N", help="of the columns of noise")
    parser.add_argument("--noise", type=int, default=200, metavar="COLUMNS")
    parser.add_argument("--budget", default="60s")
    given = parser.parse_args(arguments)
    data = tamis.load("diabetes_lars")
    shares = []
    for seed in given.seeds:
        X, real = with_noise(data, given.noise, seed)
        found = tamis.mine(X, data.y, task="regress", budget=given.budget, seed=seed)
        peers = {
            name: validate_nested(text, X, data.y, task="regress", folds=5, seed=seed).validation.estimates["rmse"].mean
            for name, text in PEERS.items()
        }
        print(f"seed {seed}: " + ", ".join(f"{name} {error:.1f}" for name, error in peers.items()), flush=True)
        for name, offer in found.models_.items():
            error = offer.validation.estimates["rmse"]
            chosen = np.asarray(offer.selected_features, dtype=np.intp)
            noise = int((chosen >= real).sum())
            print(
                f"  {name:<7} RMSE {error.mean:.1f} ({error.se:.1f}), {error.mean / min(peers.values()):.3f} "
                f"of the better peer; {chosen.size} columns, {noise} of noise: {offer.recipe[:90]}",
                flush=True,
            )
            if name == "best":
                shares.append((noise, chosen.size))
    noise, size = np.sum(shares, axis=0)
    print(f"all draws: {noise} of {size} columns of the models are noise ({noise / size:.0%})")


def with_noise(data: Dataset, columns: int, seed: int) -> tuple[np.ndarray, int]:
    """The columns of the data with normal ones behind them, and the number of the first."""
    X = np.asarray(data.X, dtype=np.float64)
    return np.column_stack((X, np.random.default_rng(seed).normal(size=(X.shape[0], columns)))), X.shape[1]
