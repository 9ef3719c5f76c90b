"""Is the nested estimate of a search honest? On labels at random it must be one half, and on fresh rows it must hold.

    python examples/honest.py permuted            # ten seeds
    python examples/honest.py resplit colon       # twenty re-splits, each with rows that the search never sees
    python examples/honest.py resplit madelon
    python examples/honest.py resplit colon 20    # twenty others

The data sets are those of the folder that TAMIS_DATA names.
"""

import sys

import numpy as np

import tamis
from tamis.base.seeds import generator
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.validation.metrics import FoldPredictions, ber

#: What each run takes in all: a search in each of five outer folds, and one of all rows.
BUDGET = "60s"

#: Rows to search on in each re-split; the others are fresh.
TRAIN = {"colon": 42, "madelon": 1000}


def labelled(name: str) -> Dataset:
    """The rows that have classes, without their official split."""
    data = load(name)
    return Dataset(data.X, data.y, data.feature_names, name=data.name)


def permuted(seeds: int = 10) -> None:
    data = labelled("colon")
    errors, bars, inner = [], [], []
    for seed in range(seeds):
        y = generator(seed).permutation(data.y)
        found = tamis.mine(data.X, y, budget=BUDGET, seed=seed, estimate="nested")
        estimate = found.validation_.summary()["ber"]
        errors.append(estimate.mean)
        bars.append(estimate.se)
        inner.append(found.inner_estimate_.mean)
        print(
            f"seed {seed}: BER {errors[-1]:.3f} +- {bars[-1]:.3f}, inner estimate {inner[-1]:.3f}"
            f" ({found.run_.n_tried} recipes, {found.run_.seconds:.0f} s)",
            flush=True,
        )
    within = sum(abs(e - 0.5) <= 2 * s for e, s in zip(errors, bars, strict=True))
    spread = np.std(errors, ddof=1) / np.sqrt(seeds)
    print(f"mean BER {np.mean(errors):.3f} +- {spread:.3f}; {within} of {seeds} within two standard errors of 0.5")
    print(f"inner estimates: {np.mean(inner):.3f}")


def resplit(name: str, first: int = 0, times: int = 20) -> None:
    data = labelled(name)
    gaps = []
    for seed in range(first, first + times):
        rows = generator(seed, 1).permutation(data.n_rows)
        train, fresh = rows[: TRAIN[name]], rows[TRAIN[name] :]
        found = tamis.mine(data.rows(np.sort(train)), budget=BUDGET, seed=seed, estimate="nested")
        outer = found.validation_.summary()["ber"].mean
        truth = np.searchsorted(found.classes_, data.y[fresh])
        said = np.searchsorted(found.classes_, found.predict(data.X[fresh]))
        real = ber(FoldPredictions(truth, said, found.classes_.size))
        gaps.append(outer - real)
        print(
            f"{seed}: outer {outer:.3f}, fresh rows {real:.3f}, inner estimate {found.inner_estimate_.mean:.3f}"
            f" ({found.run_.n_tried} recipes, {found.run_.seconds:.0f} s: {found.recipe_})",
            flush=True,
        )
    spread = np.std(gaps, ddof=1) / np.sqrt(times)
    print(f"{name}: outer less fresh {100 * np.mean(gaps):.2f} points on average, +- {100 * spread:.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["permuted"]:
        permuted()
    elif len(sys.argv) in (3, 4) and sys.argv[1] == "resplit" and sys.argv[2] in TRAIN:
        resplit(*sys.argv[2:3], *map(int, sys.argv[3:]))
    else:
        sys.exit(__doc__)
