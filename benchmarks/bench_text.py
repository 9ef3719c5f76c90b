"""Models of documents on 20 Newsgroups (words by tf-idf) beside scikit-learn's."""

import gzip
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import FastICA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.random_projection import GaussianRandomProjection

from benchmarks.timing import compare
from tamis.classify import Probit
from tamis.compose.recipe import recipe
from tamis.text.reduction_curves import reduction_curves
from tamis.transform import ICA, LSI, RandomProjection, Tfidf

#: The files lie in the folder TAMIS_DATA, or in one beside the project.
FOLDER = Path(os.environ.get("TAMIS_DATA", Path(__file__).parents[2] / "shared" / "data")) / "newsgroups20"

#: scikit-learn before 1.8 takes the name of the penalty, later versions the share of l1.
_L1: dict[str, Any] = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}


def _documents(part: str) -> tuple[list[str], np.ndarray]:
    """The texts of a file and their groups; three lines of header come first."""
    with gzip.open(FOLDER / f"20newsgroups-{part}.tab.gz", "rt", encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split("\t") for line in file][3:]
    known = [line for line in lines if len(line) == 2]
    return [text for _, text in known], np.array([group for group, _ in known])


def _beside(what: str, ours: Any, peer: Any, rows: tuple[Any, ...]) -> None:
    X, y, X_test, y_test = rows
    compare(what, partial(ours.fit, X, y), peer[0], partial(peer[1].fit, X, y))
    accuracy = [np.mean(model.predict(X_test) == y_test) for model in (ours, peer[1])]
    print(f"{'':<52} accuracy on new documents: {accuracy[0]:.4f}, {accuracy[1]:.4f}", flush=True)


def _probit(rows: tuple[Any, ...], what: str, many: bool) -> None:
    """Equal priors: C of l2 is the variance, C of l1 the root of half of it."""
    for variance in (1.0, 100.0):
        plain = LogisticRegression(C=variance, max_iter=1000)
        _beside(f"probit(gaussian, {variance:g}), {what}", Probit(variance=variance), ("lbfgs l2", plain), rows)
    few = 100.0
    for solver in ("liblinear",) if many else ("liblinear", "saga"):
        sparse = LogisticRegression(C=np.sqrt(few / 2), **_L1, solver=solver, max_iter=500, random_state=0)
        peer = OneVsRestClassifier(sparse) if many else sparse
        _beside(f"probit(laplace, {few:g}), {what}", Probit("laplace", few), (f"{solver} l1", peer), rows)


def _reduced(X: Any) -> None:
    """The transforms, fitted; TruncatedSVD by default is not exact, and the share of the squares it holds tells."""
    total = float((X.data**2).sum())
    for k in (20, 100):
        ours = LSI(k)
        for algorithm in ("randomized", "arpack"):
            peer = TruncatedSVD(k, algorithm=algorithm, random_state=0)
            compare(f"lsi({k}), 20 groups", partial(ours.fit, X), f"TruncatedSVD {algorithm}", partial(peer.fit, X))
            held = [float((model.singular_values_**2).sum()) / total for model in (ours, peer)]
            print(f"{'':<52} share of the squares: {held[0]:.5f}, {held[1]:.5f}", flush=True)
    counts = X[:, np.asarray(X.sum(axis=0)).ravel().argsort()[::-1][:2000]]
    options = {"tol": 1e-3, "max_iter": 300, "random_state": 0}
    whole = partial(FastICA(20, whiten="unit-variance", **options).fit, counts.toarray())
    compare("ica(20), 2000 words", partial(ICA(20, **options).fit, counts), "FastICA, dense", whole)
    ours, peer = RandomProjection(100, random_state=0), GaussianRandomProjection(100, random_state=0)
    compare("random_projection(100)", partial(ours.fit_transform, X), "Gaussian...", partial(peer.fit_transform, X))
    compare("tfidf", partial(Tfidf().fit_transform, X), "Tfidf...", partial(TfidfTransformer().fit_transform, X))


def _clusters(counts: Any, y: np.ndarray) -> None:
    """Accuracy of clusters of four groups against dimension, as Tang et al. (2005) measure it, and the paired tests."""
    recipes = {
        "lsi": "tfidf(true, idf=plain) | lsi({})",
        "ica": "tfidf(true, idf=plain) | ica({}, tol=0.01)",
        "ica of 2000 words": "tfidf(true, idf=plain) | variance(2000) | ica({}, tol=0.01)",
        "random projection": "tfidf(true, idf=plain) | random_projection({})",
        "variance": "tfidf(true, idf=plain) | variance({})",
    }
    methods = {name: lambda k, text=text: recipe(text.format(k)) for name, text in recipes.items()}
    curves = reduction_curves(methods, counts, y, [4, 8, 16, 32, 64])
    print(f"{'clustering accuracy, 4 groups':<40}" + "".join(f"{k:>8}" for k in curves.dimensions))
    for name in methods:
        print(f"{name:<40}" + "".join(f"{one:>8.3f}" for one in curves.mean(name)))
    for name in list(methods)[1:]:
        test = curves.paired_t("lsi", name)
        print(f"lsi above {name}: p = {test.above:.3f}, below: p = {test.below:.3f}", flush=True)


def main() -> None:
    if not FOLDER.is_dir():
        print(f"{FOLDER} is absent, and the benchmark left out")
        return
    words = TfidfVectorizer(min_df=3)
    texts, y = _documents("train")
    new_texts, y_test = _documents("test")
    X, X_test = words.fit_transform(texts), words.transform(new_texts)
    _reduced(X)
    four = np.isin(y, ["comp.graphics", "rec.sport.hockey", "sci.med", "talk.politics.guns"])
    counts = CountVectorizer(min_df=3).fit_transform(np.array(texts, dtype=object)[four])
    _clusters(counts, y[four])
    two = np.unique(y)[:2]
    some, some_test = np.isin(y, two), np.isin(y_test, two)
    _probit((X[some], y[some], X_test[some_test], y_test[some_test]), "2 groups", many=False)
    _probit((X, y, X_test, y_test), "20 groups", many=True)
