"""Probes: permuted copies of columns, known to be useless, to count how many a selector selects."""

from dataclasses import replace
from itertools import count, islice
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Mask, Matrix
from tamis.base.validation import check_whole
from tamis.data.dataset import Dataset


def add_probes(X: Any, share: float = 0.5, *, seed: int = 0) -> tuple[Any, Mask]:
    """Append probes: randomly drawn columns, each permuted on its own.

    A probe has the distribution of a real column and is independent of the classes, so the probes among the
    selected features estimate how many of the others are false discoveries.

    Parameters
    ----------
    X : array, sparse matrix, polars or pandas data frame, or Dataset
        Not changed. Sparse matrices are never made dense.
    share : float, default=0.5
        Share of probes in the result, above 0 and below 1: ``p`` columns get ``p * share / (1 - share)`` probes,
        rounded, at least one; 0.5 doubles the number of columns. No column is drawn a second time before each has
        been drawn once.
    seed : int, default=0

    Returns
    -------
    X : as the input
        The columns of the input, then the probes. In data frames and data sets they are called probe_1,
        probe_2, ..., skipping names that exist. In a data set they have the role "probe", and columns of unknown
        role get ""; its unlabelled rows get probes of the same columns.
    probes : array of bool of shape (n_columns,)
        Mask of the columns appended by this call.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.probes import add_probes
    >>> X, probes = add_probes(np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]]), 0.5)
    >>> X.shape, probes.tolist(), np.sort(X[:, probes].sum(axis=0)).tolist()
    ((3, 4), [False, False, True, True], [6.0, 18.0])
    """
    if not isinstance(share, Real) or not 0 < share < 1:
        raise TamisError(f"share must be a number above 0 and below 1; got {share!r}")
    check_whole("seed", seed, 0)
    shape = X.X.shape if isinstance(X, Dataset) else np.shape(X)
    if len(shape) != 2 or not shape[1]:
        raise TamisError(f"add_probes takes a table with at least one column; got shape {shape}")
    columns = shape[1]
    n_probes = max(1, round(columns * share / (1 - share)))
    rng = generator(seed)
    rounds = [rng.permutation(columns) for _ in range(-(-n_probes // columns))]
    drawn = np.concatenate(rounds)[:n_probes]
    mask = np.arange(columns + n_probes) >= columns
    if isinstance(X, Dataset):
        return _extend_dataset(X, drawn, rng), mask
    return _extend(X, drawn, _names(X, list(getattr(X, "columns", ())), n_probes), rng), mask


def _names(X: Any, taken: list[Any], n_probes: int) -> list[str]:
    """The first free names among probe_1, probe_2, ...."""
    for name in getattr(X, "columns", ()):
        # scikit-learn refuses a data frame whose names are partly text.
        if not isinstance(name, str):
            raise TamisError(f"add_probes takes data frames whose column names are text; got {name!r}")
    known = set(taken)
    return list(islice((name for number in count(1) if (name := f"probe_{number}") not in known), n_probes))


def _extend_dataset(data: Dataset, drawn: np.ndarray, rng: np.random.Generator) -> Dataset:
    names = _names(data.X, data.feature_names.tolist(), len(drawn))
    roles = np.full(data.n_features, "") if data.roles is None else data.roles
    return replace(
        data,
        X=_extend(data.X, drawn, names, rng),
        feature_names=np.concatenate([data.feature_names, names]),
        unlabelled={part: _extend(rows, drawn, names, rng) for part, rows in data.unlabelled.items()},
        roles=np.concatenate([roles, np.full(len(drawn), "probe")]),
    )


def _extend(X: Any, drawn: np.ndarray, names: list[str], rng: np.random.Generator) -> Any:
    if sp.issparse(X):
        return _extend_sparse(X, drawn, rng)
    if isinstance(X, pl.DataFrame):
        shuffled = (X.to_series(c).gather(rng.permutation(X.height)) for c in drawn.tolist())
        return X.hstack([column.alias(name) for column, name in zip(shuffled, names, strict=True)])
    if hasattr(X, "iloc"):
        import pandas as pd

        shuffled = (X.iloc[:, c].array.take(rng.permutation(len(X))) for c in drawn)
        return pd.concat([X, pd.DataFrame(dict(zip(names, shuffled, strict=True)), index=X.index)], axis=1)
    X = np.asarray(X)
    # Transposed, since shuffling along memory is several times faster than across it.
    return np.hstack([X, rng.permuted(X.T[drawn], axis=1).T])


def _extend_sparse(X: Matrix, drawn: np.ndarray, rng: np.random.Generator) -> Matrix:
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    probes = X.tocsc()[:, drawn]
    probes.sum_duplicates()
    # Drawing new rows for the stored values permutes the column.
    for start, end in zip(probes.indptr[:-1].tolist(), probes.indptr[1:].tolist(), strict=True):
        probes.indices[start:end] = rng.choice(probes.shape[0], end - start, replace=False)
    probes.has_sorted_indices = False
    probes.sort_indices()
    return sp.hstack([X, probes], format=X.format)
