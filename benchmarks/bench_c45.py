"""C4.5 against scikit-learn's decision tree by entropy: seconds to fit, and the error of ten folds on real tables."""

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tamis import load
from tamis.classify import C45
from tamis.transform import Encode, Impute

#: Numbers, names, both, with and without missing values.
TABLES = ("diabetes", "glass", "vote", "credit.a", "soybean")


def _peer() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(criterion="entropy", random_state=0)


def _seconds(work: Callable[[], Any]) -> float:
    """CPU time, the least of three runs after one that warms up; both trees use one thread."""
    times = []
    for _ in range(4):
        begin = process_time()
        work()
        times.append(process_time() - begin)
    return min(times[1:])


def _times(what: str, X: Any, y: np.ndarray, numbers: Any = None) -> None:
    """Times and leaves; the peer gets `numbers` where `X` has names."""
    numbers = X if numbers is None else numbers
    ours, theirs = C45(), _peer()
    mine, other = _seconds(lambda: ours.fit(X, y)), _seconds(lambda: theirs.fit(numbers, y))
    leaves = f"{int(ours.tree_.is_leaf.sum())} leaves, sklearn {theirs.get_n_leaves()}"
    print(f"c45, {what:<32} {mine:8.3f} s   sklearn {other:8.3f} s   {other / mine:6.2f}x   {leaves}", flush=True)


def _errors(name: str) -> None:
    data = load(name)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {"c45": C45(), "c45(prune=false)": C45(prune=False)}
    models |= {"sklearn": make_pipeline(Impute(), Encode(), _peer())}
    found = [100 * (1 - cross_val_score(model, data.X, data.y, cv=folds)) for model in models.values()]
    texts = [f"{label} {one.mean():.1f} +- {one.std():.1f} %" for label, one in zip(models, found, strict=True)]
    print(f"{name:<12} {data.X.shape[0]:5} x {data.X.shape[1]:<3} error: " + ", ".join(texts), flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    letter = load("letter")
    _times("letter, 20000 x 16", np.asarray(letter.X), letter.y)
    chess = load("kr.vs.kp")
    frame = chess.X if isinstance(chess.X, pl.DataFrame) else pl.DataFrame(chess.X)
    _times("kr.vs.kp, 3196 x 36 names", frame, chess.y, Encode().fit_transform(frame))
    X = rng.standard_normal((6000, 500))
    noisy = X[:, :10].sum(axis=1) / np.sqrt(10) + 0.5 * rng.standard_normal(6000)
    y = (noisy > 0).astype(int)
    _times("dense 6000 x 500", X, y)
    holes = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    _times("dense 6000 x 500, 5 % missing", holes, y)
    S = sp.random_array((2000, 20_000), density=0.1, rng=rng, format="csr")
    signal = np.asarray(S[:, :10].sum(axis=1)).ravel()
    _times("CSR 2000 x 20000, 10 %", S, (signal > np.median(signal)).astype(int))
    for name in TABLES:
        _errors(name)
