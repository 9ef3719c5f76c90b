"""Pure noise, twenty times: what nesting says, and what the leak would have said.

    python examples/noise.py

Sixty rows, 5000 columns of noise, two balanced classes: the true accuracy of any model is 0.50.
"""

import numpy as np

import tamis

RECIPE = "cc(50) | svm(linear)"
SEEDS = range(20)


def main() -> None:
    honest, leaky = [], []
    for seed in SEEDS:
        X = np.random.default_rng(seed).standard_normal((60, 5000))
        found = tamis.validate(RECIPE, X, np.repeat([0, 1], 30), leak_check=True, seed=seed)
        honest.append(found.summary()["accuracy"].mean)
        leaky.append(found.leak.summary()["accuracy"].mean)
    print(f"{RECIPE}, 60 x 5000 noise, 10 folds, {len(SEEDS)} seeds")
    for name, accuracy in (("inside the folds", honest), ("with the leak", leaky)):
        error = np.std(accuracy, ddof=1) / np.sqrt(len(accuracy))
        print(f"{name:<17} accuracy {np.mean(accuracy):.3f} +- {error:.3f}, {min(accuracy):.3f} to {max(accuracy):.3f}")


if __name__ == "__main__":
    main()
