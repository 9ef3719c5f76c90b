"""Naive Bayes beside scikit-learn's, and the selective searches beside refits of every candidate."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.timing import compare, seconds
from tamis.base.seeds import generator
from tamis.classify import ESNB, SNB, NaiveBayes
from tamis.data import named


def _there_and_back(model: Any, X: Any, y: np.ndarray) -> Any:
    return model.fit(X, y).predict_proba(X)


def _states(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of four states, ten of which hang on the class."""
    rng = generator(0)
    y = rng.integers(0, 2, n_rows)
    X = rng.integers(0, 4, (n_rows, n_columns)).astype(float)
    told = rng.random((n_rows, 10)) < 0.15
    X[:, :10] = np.where(told, 2 * y[:, None], X[:, :10])
    return X, y


def _by_refits(X: np.ndarray, y: np.ndarray, steps: int, *, lift: bool) -> list[int]:
    """The forward search with a fit of CategoricalNB for every candidate."""
    chosen: list[int] = []
    for _ in range(steps):
        worth = {}
        for j in range(X.shape[1]):
            if j not in chosen:
                some = X[:, [*chosen, j]]
                shares = CategoricalNB().fit(some, y).predict_proba(some)
                worth[j] = roc_auc_score(y, shares[:, 1]) if lift else np.mean(shares.argmax(axis=1) == y)
        chosen.append(max(worth, key=worth.__getitem__))
    return chosen


def _line(what: str, took: float, note: str = "") -> None:
    print(f"{what:<52} {took:9.4f} s   {note}", flush=True)


def main() -> None:
    X, y = _states(5000, 1000)
    pairs = {
        "gaussian": GaussianNB(),
        "bernoulli": BernoulliNB(),
        "multinomial": MultinomialNB(),
        "states": CategoricalNB(),
    }
    S = sp.random_array((2000, 100_000), density=0.01, rng=0, format="csr")
    S.data = np.ceil(3 * S.data)
    classes = generator(1).integers(0, 2, 2000)
    for model, peer in pairs.items():
        ours, name = NaiveBayes(model, bins="values"), type(peer).__name__
        work = partial(_there_and_back, ours, X, y), name, partial(_there_and_back, peer, X, y)
        compare(f"nb({model}), dense 5000 x 1000, fit and answer", *work)
        what = f"nb({model}), CSR 2000 x 100000, fit and answer"
        if model in ("bernoulli", "multinomial"):
            compare(what, partial(_there_and_back, ours, S, classes), name, partial(_there_and_back, peer, S, classes))
        else:
            _line(what, seconds(partial(_there_and_back, ours, S, classes)), f"{name} takes no sparse rows")
    X, y = _states(1000, 200)
    for ours, lift in ((SNB(5, bins="values"), False), (ESNB(5, bins="values"), True)):
        what = f"{ours.part.name}(5), dense 1000 x 200"
        compare(what, partial(ours.fit, X, y), "CategoricalNB, refitted", partial(_by_refits, X, y, 5, lift=lift))
    data = named.find("dorothea")
    if data is None:
        print("esnb, snb: the data set dorothea is not at hand", flush=True)
        return
    for recipe, ours in {"esnb": ESNB(), "esnb(average=true)": ESNB(average=True), "snb": SNB()}.items():
        took = seconds(partial(ours.fit, data.X, data.y), at_most=2)
        _line(f"{recipe}, dorothea 1150 x 100000", took, f"{ours.chosen_.size} columns")
