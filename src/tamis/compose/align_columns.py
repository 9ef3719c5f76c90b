"""New rows aligned with the columns that a saved model was fitted on."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.compose.model_card import Card
from tamis.data.parsing.matrices import numbered
from tamis.data.word_counts import WordCounts


class AlignedColumns(NamedTuple):
    """Rows as the model takes them, and notes on columns and levels that differ from training."""

    X: Any
    notes: list[str]


def align_columns(card: Card, X: Any, feature_names: Any, where: str) -> AlignedColumns:
    """Put columns in the order of the model, by name.

    Columns unknown to the model are left out. A column on which its predictions do not depend may be absent, or have
    missing values: zeros, or empty text, replace it. Any other must be there, numeric or nominal as in training. New
    levels of a nominal column stay; their meaning is up to the model (:class:`tamis.transform.Encode`). Columns without
    names, x1, x2, ... of a matrix, are taken in their order, and their number must be the model's; only a sparse matrix
    may have fewer, which count as zeros, or more, which are left out.

    Parameters
    ----------
    card : Card
    X : array, CSR matrix or polars.DataFrame
    feature_names : array of str
    where : str
        Names the data in messages.

    Returns
    -------
    AlignedColumns
        The rows, `X`, and a list of `notes`.

    See Also
    --------
    tamis.compose.model_file.load_model : The model and its card.
    """
    if isinstance(X, WordCounts):
        return _aligned_words(card, X, where)
    names = _known_as(card, X, [str(name) for name in feature_names], where)
    notes = []
    place = {name: j for j, name in enumerate(names)}
    absent = [name for name in card.columns if name not in place]
    lost = [name for name in absent if name in card.needs]
    if lost and sp.issparse(X) and set(names) | set(absent) <= set(numbered(max(len(names), len(card.columns)))):
        # A sparse file does not show columns of zeros at its end.
        lost = []
    if lost:
        raise DataError(f"{where}: lacks {len(lost)} of the {len(card.needs)} columns the model uses: {_listed(lost)}")
    extra = [name for name in names if name not in card.columns]
    if extra:
        notes.append(f"{_counted(extra)} unknown to the model and left out: {_listed(extra)}")
    if absent:
        notes.append(f"{_counted(absent)} not in the data and counted as zeros or empty: {_listed(absent)}")
    if not card.nominal and not hasattr(X, "schema"):
        return AlignedColumns(_matrix(card, X, place), notes)
    frame, unseen = _frame(card, X, place, where)
    return AlignedColumns(frame if card.nominal else frame.to_numpy(), notes + unseen)


def _aligned_words(card: Card, X: WordCounts, where: str) -> AlignedColumns:
    """Counts over the words of the model; only numbers must be there."""
    numbers = set(X.names[: X.vocabulary.n_numbers] if X.vocabulary is not None else [])
    lost = [name for name, kind in card.columns.items() if kind == "numeric" and name not in numbers]
    if lost:
        raise DataError(f"{where}: lacks {len(lost)} columns that the model was fitted with: {_listed(lost)}")
    return AlignedColumns(X.aligned(list(card.columns)), [])


def _known_as(card: Card, X: Any, names: list[str], where: str) -> list[str]:
    """The names of the columns; where one side has none, those of the model in order."""
    wanted = list(card.columns)
    unnamed = names == numbered(len(names)).tolist()
    if unnamed and len(names) != len(wanted) and not sp.issparse(X):
        raise DataError(f"{where}: has {len(names)} columns without names, and the model takes {len(wanted)}")
    model_unnamed = wanted == numbered(len(wanted)).tolist()
    if len(names) == len(wanted) and (unnamed or (model_unnamed and not set(names) & set(wanted))):
        return wanted
    return names


def _matrix(card: Card, X: Any, place: dict[str, int]) -> Any:
    """Numeric columns in order; zeros for those that are absent, or missing and without effect."""
    names, needs = list(card.columns), card.needs
    there = np.array([j for j, name in enumerate(names) if name in place], dtype=np.intp)
    source = np.array([place[names[j]] for j in there], dtype=np.intp)
    idle = np.array([name not in needs for name in names])
    shape = (X.shape[0], len(names))
    if sp.issparse(X):
        taken = sp.csr_array(X[:, source])
        found = sp.csr_array((taken.data, there[taken.indices], taken.indptr), shape=shape)
        found.data[np.isnan(found.data) & idle[found.indices]] = 0.0
        return found
    if X.shape == shape and np.array_equal(source, np.arange(len(names))):
        found = X
    else:
        found = np.zeros(shape, dtype=X.dtype)
        found[:, there] = X[:, source]
    hollow = np.flatnonzero(idle)[np.isnan(found[:, idle]).any(axis=0)]
    if hollow.size:
        found = found.copy()
        found[:, hollow] = 0.0
    return found


def _frame(card: Card, X: Any, place: dict[str, int], where: str) -> tuple[pl.DataFrame, list[str]]:
    """Columns of both kinds in order, and notes on new levels."""
    if sp.issparse(X):
        raise DataError(f"{where}: is sparse, and the model takes nominal columns ({_listed(sorted(card.nominal))})")
    columns, notes, needs = [], [], card.needs
    for name, kind in card.columns.items():
        nominal = kind == "nominal"
        empty = "" if nominal else 0.0
        if name not in place:
            column = pl.Series(name, [empty], dtype=pl.String if nominal else pl.Float64).new_from_index(0, len(X))
        else:
            j = place[name]
            series = X.to_series(j) if isinstance(X, pl.DataFrame) else pl.Series(X[:, j], nan_to_null=True)
            column = _of_kind(series, name, nominal, where)
        columns.append((column if name in needs else column.fill_null(empty)).alias(name))
        if nominal and name in place and name in needs:
            notes += _new_levels(column, name, card.levels.get(name, []))
    return pl.DataFrame(columns), notes


def _of_kind(column: pl.Series, name: str, nominal: bool, where: str) -> pl.Series:
    """The column as text or as numbers."""
    is_text = not column.dtype.is_numeric()
    if column.null_count() == len(column):
        return pl.Series(name, [None] * len(column), dtype=pl.String if nominal else pl.Float64)
    if is_text and not nominal:
        first = column.drop_nulls()[0]
        raise DataError(f"{where}: column {name!r} holds text ({first[:40]!r}), and the model takes numbers there")
    if nominal and not is_text:
        # As a file would have them: 3 rather than 3.0.
        whole = (column == column.round(0)).all()
        return column.cast(pl.Int64).cast(pl.String) if whole else column.cast(pl.String)
    return column


def _new_levels(column: pl.Series, name: str, known: list[str]) -> list[str]:
    new = column.drop_nulls()
    new = new.filter(~new.is_in(known))
    if not len(new):
        return []
    levels = new.unique(maintain_order=True).to_list()
    rows = "1 row" if len(new) == 1 else f"{len(new)} rows"
    return [f"column {name!r} has words in {rows} that were not there in training: {_listed(levels)}"]


def _listed(names: list[str]) -> str:
    return ", ".join(repr(name[:40]) for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _counted(names: list[str]) -> str:
    return "1 column is" if len(names) == 1 else f"{len(names)} columns are"
