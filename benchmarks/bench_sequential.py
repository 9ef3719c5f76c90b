"""Forward selection without a fit for every set, against scikit-learn's SequentialFeatureSelector."""

import time
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from benchmarks.timing import seconds
from tamis.base.seeds import generator
from tamis.select import SFS


def _folds(y: np.ndarray, folds: int, random_state: int) -> list[Any]:
    """The folds that a search with this seed deals: both searches must see the same."""
    seed = int(generator(int(generator(random_state).integers(2**31))).integers(2**31))
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y))


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 100))
    y = (X[:, :10].sum(axis=1) + 2 * rng.normal(size=500) > 0).astype(int)
    models = [GaussianNB(), KNeighborsClassifier(5), LinearDiscriminantAnalysis(), RidgeClassifier(), NearestCentroid()]
    for model in models:
        ours = SFS(model, k=10, cv=5, random_state=0)
        peer = SequentialFeatureSelector(model, n_features_to_select=10, cv=_folds(y, 5, 0), scoring="accuracy")
        before = seconds(lambda search=ours: search.fit(X, y), at_most=20)
        start = time.perf_counter()
        peer.fit(X, y)
        theirs = time.perf_counter() - start
        # A few milliseconds beside many seconds: measured at both ends of them.
        mine = min(before, seconds(lambda search=ours: search.fit(X, y), at_most=20))
        same = np.array_equal(ours.get_support(), peer.get_support())
        what = f"sfs({type(model).__name__}), 10 of 100, 500 rows, 5 folds"
        print(
            f"{what:<64} {mine:9.4f} s   SequentialFeatureSelector {theirs:9.4f} s   {theirs / mine:8.1f}x  "
            f"same subset: {same}",
            flush=True,
        )
