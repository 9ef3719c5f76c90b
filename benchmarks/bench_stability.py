"""Selectors on many draws of probes and halves of rows, beside plain loops over scikit-learn's SelectKBest."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.timing import compare
from tamis.base.seeds import generator
from tamis.base.shared_fit import Together
from tamis.select import Ranking, StabilitySelection, WithProbes

DRAWS = 10
FITS = 100
RATES = (0.05, 0.1, 0.2)


def _problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, :10].sum(axis=1) + 2 * rng.normal(size=n_rows) > 0).astype(int)


def _sparse_problem(n_rows: int, n_columns: int) -> tuple[sp.csr_array, np.ndarray]:
    """One value in a hundred is not zero, but in ten columns of one class five."""
    rng = generator(0)
    y = np.arange(n_rows) % 2
    X = sp.random_array((n_rows, n_columns), density=0.01, format="lil", rng=rng)
    X[:, :10] += (rng.random((n_rows, 10)) < 0.04) * y[:, None]
    return X.tocsr(), y


def _among_probes(X: Any, y: np.ndarray, rate: float) -> np.ndarray:
    """The columns that pass at a rate, by what one would write with scikit-learn alone."""
    rng = generator(0)
    n = X.shape[1]
    ahead = np.zeros(n)
    for _ in range(DRAWS):
        probes = X[rng.permutation(X.shape[0])]
        joint = sp.hstack([X, probes], format="csr") if sp.issparse(X) else np.hstack([X, probes])
        # An empty column has no F.
        scores = np.nan_to_num(SelectKBest(f_classif, k="all").fit(joint, y).scores_)
        ahead += n - np.searchsorted(np.sort(scores[n:]), scores[:n])
    order = np.argsort(ahead, kind="stable")
    share = n * (1 + ahead[order]) / (1 + DRAWS * n) / np.arange(1, n + 1)
    return order[: np.flatnonzero(share <= rate).max(initial=0) + 1]


def _frequencies(X: Any, y: np.ndarray, k: int) -> np.ndarray:
    """How often each column is among the best on half of the rows."""
    splits = StratifiedShuffleSplit(FITS, train_size=0.5, random_state=0).split(X, y)
    return np.mean([SelectKBest(f_classif, k=k).fit(X[rows], y[rows]).get_support() for rows, _ in splits], axis=0)


def _rates(X: Any, y: np.ndarray) -> list[np.ndarray]:
    models = [WithProbes(Ranking("f"), fdr=rate, n_repeats=DRAWS, random_state=0) for rate in RATES]
    return [one.support_ for one in Together(models, X, y)]


def _compare(what: str, X: Any, y: np.ndarray) -> None:
    ours = WithProbes(Ranking("f"), n_repeats=DRAWS, random_state=0)
    theirs = partial(_among_probes, X, y, 0.1)
    compare(f"with_probes(f), {what}", partial(ours.fit, X, y), f"SelectKBest, {DRAWS} draws", theirs)
    common = set(ours.get_support(indices=True)) & set(theirs())
    print(f"{'':<52} {int(ours.support_.sum())} and {theirs().size} columns, {len(common)} the same", flush=True)
    compare(
        f"with_probes(f), {len(RATES)} rates, {what}",
        partial(_rates, X, y),
        f"SelectKBest, {DRAWS} draws a rate",
        lambda: [_among_probes(X, y, rate) for rate in RATES],
    )
    k = int(np.sqrt(X.shape[1] / 2))
    stable = StabilitySelection(Ranking("f", k=k), times=FITS // 2, random_state=0)
    loop = partial(_frequencies, X, y, k)
    compare(f"stability_selection(f({k})), {what}", partial(stable.fit, X, y), f"SelectKBest, {FITS} halves", loop)
    apart = np.abs(stable.frequency_ - loop()).max()
    print(f"{'':<52} frequencies apart by {apart:.2f} at most", flush=True)


def main() -> None:
    X, y = _problem(600, 2_000)
    _compare("dense 600 x 2000", X, y)
    _compare("CSR 800 x 20000", *_sparse_problem(800, 20_000))
