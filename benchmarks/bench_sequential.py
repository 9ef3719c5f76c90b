"""Forward selection without a fit for every set, against scikit-learn's, and stepwise regression against plain fits."""

import time
from typing import Any

import numpy as np
from scipy.special import fdtrc
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid

from benchmarks.timing import compare, seconds
from tamis.base.inner_cv import inner_folds
from tamis.base.seeds import generator
from tamis.regress import Ridge as AutoRidge
from tamis.regress.ridge.normal_equations import PENALTIES
from tamis.select import SFS, Stepwise


def _folds(y: np.ndarray, folds: int, random_state: int) -> list[Any]:
    """The folds that a search with this seed deals: both searches must see the same."""
    return inner_folds(y, folds, int(generator(random_state).integers(2**31)), "sfs")


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 100))
    y = (X[:, :10].sum(axis=1) + 2 * rng.normal(size=500) > 0).astype(int)
    models = [GaussianNB(), KNeighborsClassifier(5), LinearDiscriminantAnalysis(), RidgeClassifier(), NearestCentroid()]
    for model in models:
        _compare(model, X, y, "accuracy")
    numbers = X[:300, :10] @ rng.normal(size=10) + rng.normal(size=300)
    for model in (Ridge(), KNeighborsRegressor(5)):
        _compare(model, X[:300, :60], numbers, "neg_mean_squared_error")
    numbers = X[:, :10] @ rng.normal(size=10) + 2 * rng.normal(size=500)
    _compare(AutoRidge(), X, numbers, "neg_mean_squared_error", RidgeCV(PENALTIES * 500))
    _compare_with_refits(X, numbers)
    _stepwise(X, y)


def _compare(model: Any, X: np.ndarray, y: np.ndarray, scoring: str, other: Any = None) -> None:
    """Forward selection of ten columns beside scikit-learn's, of the same model or its counterpart there."""
    ours = SFS(model, k=10, cv=5, random_state=0)
    peer = SequentialFeatureSelector(other or model, n_features_to_select=10, cv=_folds(y, 5, 0), scoring=scoring)
    before = seconds(lambda: ours.fit(X, y), at_most=20)
    start = time.perf_counter()
    peer.fit(X, y)
    theirs = time.perf_counter() - start
    # A few milliseconds beside many seconds: measured at both ends of them.
    mine = min(before, seconds(lambda: ours.fit(X, y), at_most=20))
    same = np.array_equal(ours.get_support(), peer.get_support())
    what = f"sfs({type(other or model).__name__}), 10 of {X.shape[1]}, {X.shape[0]} rows, 5 folds"
    print(
        f"{what:<64} {mine:9.4f} s   SequentialFeatureSelector {theirs:9.4f} s   {theirs / mine:8.1f}x  "
        f"same subset: {same}",
        flush=True,
    )


def _compare_with_refits(X: np.ndarray, y: np.ndarray) -> None:
    """Forward selection with a penalty that follows from the set, beside a fit for every set."""

    class Refitted(AutoRidge):
        """Without an evaluator, which subclasses do not inherit."""

    ours, peer = (SFS(model, k=10, cv=5, random_state=0) for model in (AutoRidge(), Refitted()))
    compare("sfs(ridge), 10 of 100, 500 rows, 5 folds", lambda: ours.fit(X, y), "a fit each", lambda: peer.fit(X, y))
    print(f"  same subset: {np.array_equal(ours.chosen_, peer.chosen_)}", flush=True)


def _stepwise(X: np.ndarray, y: np.ndarray) -> None:
    """Stepwise regression beside one least-squares fit for every test."""

    def left(columns: list[int]) -> float:
        design = np.column_stack([np.ones(y.size), X[:, columns]])
        return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())

    def pvalue(fewer: list[int], more: list[int]) -> float:
        freedom = y.size - len(more) - 1
        return float(fdtrc(1, freedom, (left(fewer) / left(more) - 1) * freedom))

    def plain() -> list[int]:
        columns: list[int] = []
        while True:
            inside = {j: pvalue([i for i in columns if i != j], columns) for j in columns}
            if inside and max(inside.values()) > 0.1:
                columns.remove(max(inside, key=lambda j: inside[j]))
                continue
            outside = {j: pvalue(columns, [*columns, j]) for j in range(X.shape[1]) if j not in columns}
            best = min(outside, key=lambda j: outside[j])
            if outside[best] > 0.05:
                return columns
            columns.append(best)

    ours = Stepwise()
    mine = seconds(lambda: ours.fit(X, y), at_most=20)
    begin = time.perf_counter()
    found = plain()
    theirs = time.perf_counter() - begin
    what = f"stepwise, {len(found)} of {X.shape[1]}, {y.size} rows"
    print(
        f"{what:<64} {mine:9.4f} s   plain least squares       {theirs:9.4f} s   {theirs / mine:8.1f}x  "
        f"same subset: {found == ours.chosen_.tolist()}",
        flush=True,
    )
