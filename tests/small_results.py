"""One small result of every kind, made once for the tests of what they show."""

from functools import cache
from typing import Any

import numpy as np

import tamis
from tamis.data.dataset import Dataset
from tamis.validation import learning_curve, permutation_test, validate_many, validate_nested

#: A name that a page would take for markup.
HOSTILE = '<b>bold</b> & "it\'s"'

QUICK: dict[str, Any] = {"only": ["cc | knn(metric=minkowski)"], "engine": "serial", "folds": 2, "inner_folds": 2}


@cache
def data() -> Dataset:
    """Sixty rows of two classes, which column 3, called `HOSTILE`, tells apart; classes have hostile names too."""
    rng = np.random.default_rng(0)
    y = np.repeat(["<i>ill</i>", "well"], [25, 35])
    X = rng.normal(size=(60, 30))
    X[:, 3] += 2 * (y == "well")
    names = np.array([HOSTILE if i == 3 else f"g{i}" for i in range(30)])
    return Dataset(X, y, names, name="<script>data</script>")


@cache
def results() -> dict[str, Any]:
    """The results by name."""
    return {
        "one": tamis.validate("cc(2) | knn(3)", data(), folds=3, leak_check=True),
        "many": validate_many("cc({1, 2, 30}) | {knn(3), svm(linear)}", data(), folds=3),
        "nested": validate_nested("cc({1, 2, 30}) | knn(3)", data(), folds=3, inner_folds=2),
        "learning": learning_curve("cc(2) | knn(3)", data(), folds=3, sizes=(0.3, 1.0)),
        "permutation": permutation_test("cc(2) | knn(3)", data(), n=9, folds=3),
        "mined": tamis.mine(data(), trials=6, **QUICK),
    }
