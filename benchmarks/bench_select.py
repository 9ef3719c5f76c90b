"""Selectors and committees beside what scikit-learn has for the same end."""

import numpy as np
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import StratifiedKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import compare
from tamis.classify import KNN, SVM, Committee
from tamis.select import Ranking, Repeat, SSVTreeSelector, Vote, Wrapper


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, :10].sum(axis=1) + 2 * rng.normal(size=n_rows) > 0).astype(int)


def main() -> None:
    X, y = _problem(2_600, 500)
    tree = SelectFromModel(DecisionTreeClassifier(random_state=0), threshold=1e-12)
    compare(
        "ssv_tree, dense 2600 x 500",
        lambda: SSVTreeSelector().fit(X, y),
        "SelectFromModel(tree)",
        lambda: tree.fit(X, y),
    )
    repeat = Repeat(SSVTreeSelector(), times=3, k=10)
    compare(
        "repeat(ssv_tree, times=3), dense 2600 x 500",
        lambda: repeat.fit(X, y),
        "SelectFromModel(tree)",
        lambda: tree.fit(X, y),
    )
    vote = Vote([Ranking("ssv", k=20), SSVTreeSelector(8), Ranking("cc", k=20)], at_least=1)
    compare(
        "vote of ssv, ssv_tree, cc, dense 2600 x 500",
        lambda: vote.fit(X, y),
        "SelectFromModel(tree)",
        lambda: tree.fit(X, y),
    )

    X, y = _problem(500, 100)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def each_alone() -> list[float]:
        return [cross_val_score(KNeighborsClassifier(), X[:, [j]], y, cv=folds).mean() for j in range(X.shape[1])]

    wrapper = Wrapper(KNN(5), k=10, extend=False, random_state=0)
    compare("wrapper(knn), each of 100 alone, 500 rows", lambda: wrapper.fit(X, y), "cross_val_score, knn", each_alone)

    X, y = _problem(200, 10_000)
    committee = Committee(9, SVM("linear"), random_state=0)
    nine = StratifiedKFold(9, shuffle=True, random_state=0)
    compare(
        "committee(9, svm(linear)), dense 200 x 10000",
        lambda: committee.fit(X, y),
        "cross_validate, SVC, 9 folds",
        lambda: cross_validate(SVC(kernel="linear"), X, y, cv=nine, return_estimator=True),
    )
