"""Pure noise through nested validation: every selector of the catalog, each before three classifiers.

``python tests/noise.py`` prints the table that docs/results.md holds; ``tests/test_noise.py`` checks it, slowly.
"""

import numpy as np

from tamis.compose.catalog import catalog
from tamis.validation.nested import validate_nested

SEEDS = 20
CLASSIFIERS = ("knn(5)", "svm(linear)", "nrbf(1.0)")

#: What each selector chooses from in the inner folds; a score stands for the ranking by it.
SELECTORS = {
    "ssv_tree": "ssv_tree({2, 8})",
    "vote": "vote(cc({5, 20}), ssv(5), f(10), at_least=1)",
    "repeat": "repeat(cc(3), times={1, 5})",
    "wrapper": "wrapper(k={2, 8})",
    "sfs": "sfs(k={2, 8})",
    "sbs": "sbs(k={2, 8})",
    "pta": "pta(k={2, 8})",
    "sffs": "sffs(k={2, 8})",
    "sbfs": "sbfs(k={2, 8})",
    "best_first": "best_first(patience={1, 5})",
    "genetic": "genetic(generations={5, 20})",
    "random_wrapper": "random_wrapper(n_iter={10, 40})",
    "lvf": "lvf(n_iter={50, 500})",
    "focus": "focus(max_evaluations={50, 500})",
    "fortal": "fortal(n_iter={10, 40})",
    "rfe": "rfe({5, 20})",
    "from_model": "from_model(extra_trees(10), k={5, 20})",
    "importance": "importance(logistic, k={5, 20}, values=5, rows=50, step=0.5)",
    "cluster_tree": "cluster_tree({2, 8})",
    "contrasts": "contrasts(n_estimators=10, rounds=1, quantile={0.9, 1.0})",
    "with_probes": "with_probes(cc, fdr={0.2, 0.9}, n_repeats=3)",
    "stability_selection": "stability_selection(cc({5, 20}), times=5, threshold=0.6)",
}


def selectors() -> dict[str, str]:
    """A recipe, with two sizes to choose from, for every score and selector of the catalog."""
    return {
        part.name: SELECTORS.get(part.name, f"{part.name}({{5, 20}})")
        for part in catalog().values()
        if part.kind in ("score", "selector")
    }


def noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform noise, 480 rows of 40 columns, and classes of equal size that have nothing to do with it."""
    rng = np.random.default_rng(seed)
    return rng.random((480, 40)), rng.permutation(np.arange(480) % 2)


def nested_accuracy(selector: str) -> np.ndarray:
    """Mean accuracy over the seeds of nested validation, before each of the classifiers."""
    found = np.empty((SEEDS, len(CLASSIFIERS)))
    for seed in range(SEEDS):
        X, y = noise(seed)
        for place, last in enumerate(CLASSIFIERS):
            nested = validate_nested(
                f"{selector} | {last}", X, y, folds=5, inner_folds=3, metrics="accuracy", seed=seed
            )
            found[seed, place] = nested.validation.summary()["accuracy"].mean
    return found.mean(axis=0)


if __name__ == "__main__":
    print("| selector | " + " | ".join(CLASSIFIERS) + " |")
    print("|---|" + "---|" * len(CLASSIFIERS))
    for recipe in selectors().values():
        print(f"| `{recipe}` | " + " | ".join(f"{value:.3f}" for value in nested_accuracy(recipe)) + " |", flush=True)
