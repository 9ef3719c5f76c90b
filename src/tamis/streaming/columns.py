"""Some columns, or some rows, of a table that does not fit into memory, as a data set that does."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.base.seeds import generator
from tamis.data.chunks.chunked import Chunked, first_rows
from tamis.data.dataset import Dataset
from tamis.engines.progress import Wanted, progress_bar
from tamis.streaming.memory import default_limit
from tamis.streaming.target import StreamedTarget

#: Bytes of a data set that later steps may need for each of its own.
_LATER = 3.0

#: The fewest rows that say anything of a column.
_FEWEST = 50


def with_columns(
    table: Chunked,
    target: StreamedTarget,
    columns: np.ndarray,
    *,
    limit: float | None = None,
    progress: Wanted = None,
) -> Dataset:
    """The data set of all rows that have a target, with some columns.

    Parameters
    ----------
    table : Chunked
    target : StreamedTarget
    columns : array of int
        Which, in rising order.
    limit : float, optional
        Bytes of memory, half of what is free by default.
    progress : callable or bool, optional
    """
    limit = default_limit() if limit is None else limit
    width = 4 if table.single else 8
    needed = _LATER * width * target.rows.size * columns.size
    if table.expansion and needed > limit:
        most = int(limit / (_LATER * width * target.rows.size))
        raise DataError(
            f"{table.name}: {columns.size} columns of {target.rows.size} rows need {needed / 1e9:.3g} GB of memory and "
            f"{limit / 1e9:.3g} GB are allowed: select {most} columns or fewer, or raise --memory"
        )
    return _taken(table, target, target.rows, columns, progress)


def with_rows(
    table: Chunked, target: StreamedTarget, *, limit: float | None = None, seed: int = 0, progress: Wanted = None
) -> tuple[Dataset, str]:
    """The data set of all columns with as many rows as fit, drawn at random; a note says how many.

    Parameters
    ----------
    table : Chunked
    target : StreamedTarget
    limit : float, optional
        Bytes of memory, half of what is free by default.
    seed : int, default=0
        Draws the rows.
    progress : callable or bool, optional
    """
    limit = default_limit() if limit is None else limit
    of_row = _LATER * 8.0 * len(table.feature_names)
    most = int(limit / of_row) if table.expansion else target.rows.size
    if most < _FEWEST:
        raise DataError(
            f"{table.name}: {limit / 1e9:.3g} GB of memory hold {most} rows of {len(table.feature_names)} columns; "
            f"raise --memory to {_FEWEST * of_row / 1e9:.3g} GB, or select columns first, as in 'f(2000) | ...'"
        )
    rows = target.rows
    if most < rows.size:
        rows = np.sort(generator(seed).choice(rows, most, replace=False))
    found = _taken(table, target, rows, np.arange(len(table.feature_names)), progress)
    return found, f"of {target.rows.size} rows {rows.size} were drawn at random, which fit into {limit / 1e9:.3g} GB"


def _taken(table: Chunked, target: StreamedTarget, rows: np.ndarray, columns: np.ndarray, progress: Wanted) -> Dataset:
    first = first_rows(table.pieces)
    dtype = np.float32 if table.single else np.float64
    dense = None if not table.expansion else np.empty((rows.size, columns.size), dtype=dtype)
    sparse = []
    with progress_bar(f"reading {columns.size} columns", progress) as step:
        for number, piece in enumerate(table.pieces):
            own = slice(*np.searchsorted(rows, [first[number], first[number + 1]]).tolist())
            if own.start < own.stop:
                X = table.read(piece, columns)[rows[own] - first[number]]
                if dense is None:
                    sparse.append(X)
                else:
                    dense[own] = X
            if step is not None:
                step(number + 1, len(table.pieces))
    known = np.searchsorted(target.rows, rows)
    found = target.labelled if rows.size == target.rows.size else target.labelled.rows(known)
    return replace(
        found,
        X=sp.vstack(sparse, format="csr") if dense is None else dense,
        feature_names=table.feature_names[columns],
        notes=(*table.notes, *found.notes),
    )
