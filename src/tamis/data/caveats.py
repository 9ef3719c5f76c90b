"""What of the data makes every error estimated on it too good, in sentences; empty where nothing was found.

Nesting keeps the folds honest, but not the file: columns selected with the classes before it was written, columns that
hold the class rates of their own rows, and rows that are there twice flatter any model. Results say so where they show
their error. What cannot be seen in the numbers - which rows belong together - is up to who knows the data.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.data.duplicates import row_digests, too_large
from tamis.data.encoded_targets import encoded_targets
from tamis.data.selection_note import is_selection_note

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset

#: Pairs of equal rows beyond this many times those that chance gives are copies.
_BEYOND_CHANCE = 3.0
#: Values with as many rows on average are levels, and no groups.
_ROWS_PER_VALUE = 10
#: Chance that every value has rows of one class only, below which it is none.
_UNLIKELY = 1e-6
#: Columns that a sentence names.
_NAMED = 3


def caveats_of(data: "Dataset") -> tuple[str, ...]:
    """Sentences on what flatters an error estimated on the data.

    Examples
    --------
    >>> from tamis.data.dataset import Dataset
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> caveats_of(Dataset.of(np.vstack([X, X[:9]]), np.arange(39) % 2))
    ('9 rows are copies of earlier rows: with one in training and one in test an error is too good',)
    """
    return (*caveats_of_columns(data), *_copies(data))


def caveats_of_columns(data: "Dataset") -> tuple[str, ...]:
    """The same without copies of rows, which a report has words of its own for."""
    return (*filter(is_selection_note, data.notes), *_encoded(data), *_forgotten_groups(data))


def _encoded(data: "Dataset") -> Iterator[str]:
    found = encoded_targets(data.X, data.y, data.task) if _is_plain(data.X) else np.empty(0, dtype=np.intp)
    if found.size:
        names = ", ".join(f"{str(name)!r}" for name in data.feature_names[found[:_NAMED]].tolist())
        more, what = (
            ", ..." if found.size > _NAMED else "",
            "class rates" if data.task == "classify" else "mean targets",
        )
        holds = f"column {names} holds" if found.size == 1 else f"columns {names}{more} hold"
        yield (
            f"{holds} the {what} of the rows themselves, as after a target encoding of all rows: an error estimated "
            "with that is too good"
        )


def _copies(data: "Dataset") -> Iterator[str]:
    """Copies of rows that may be divided between training and test; rows of few values are equal by chance."""
    if not (_is_plain(data.X) or sp.issparse(data.X) or hasattr(data.X, "hash_rows")) or too_large(data.X):
        return
    group = np.unique(row_digests(data.X), return_inverse=True)[1]
    # Copies within one group of rows stay together in every split.
    own = np.arange(group.size) if data.groups is None else np.unique(data.groups, return_inverse=True)[1]
    parts = np.unique(np.column_stack([group, own]), axis=0)[:, 0]
    copies = parts.size - int(group.max(initial=-1)) - 1
    if copies and not _by_chance(data.X, group):
        rows = "1 row is a copy of an earlier row" if copies == 1 else f"{copies} rows are copies of earlier rows"
        yield f"{rows}: with one in training and one in test an error is too good"


def _forgotten_groups(data: "Dataset") -> Iterator[str]:
    """Columns of words that number the patients, sites or series of rows: every value has rows of one class only."""
    if data.groups is not None or data.task != "classify" or not isinstance(data.X, pl.DataFrame):
        return
    codes = np.unique(data.y, return_inverse=True)[1]
    shares = np.bincount(codes) / codes.size
    found = []
    for column in data.X.iter_columns():
        if column.dtype != pl.String:
            continue
        groups = column.fill_null("").rank("dense").to_numpy().astype(np.intp) - 1
        sizes = np.bincount(groups)
        pairs = np.unique(np.column_stack([groups, codes]), axis=0)
        # Fewer values are a feature that tells the class, which is another warning.
        few = sizes.size * _ROWS_PER_VALUE <= codes.size
        if few or 2 * sizes.size > codes.size or pairs.shape[0] > sizes.size:
            continue
        if np.log((shares[:, None] ** sizes).sum(axis=0)).sum() < np.log(_UNLIKELY):
            found.append(column.name)
    for name in found[:_NAMED]:
        yield (
            f"all rows of a value of {name!r} have the same class: where they belong together, as those of a patient, "
            f"an error is too good without --group {name} (groups)"
        )


def _by_chance(X: Any, group: np.ndarray) -> bool:
    """Whether this number of equal rows would come from columns drawn row by row, each by itself."""
    sizes = np.bincount(group).astype(np.float64)
    pairs, all_pairs = float((sizes * (sizes - 1)).sum()) / 2, group.size * (group.size - 1) / 2
    limit = pairs / (_BEYOND_CHANCE * all_pairs)
    chance = 1.0
    for j in range(X.shape[1]):
        if sp.issparse(X):
            column = X[:, [j]].toarray().ravel()
        else:
            column = X.to_series(j).to_numpy() if hasattr(X, "to_series") else X[:, j]
        known = column.astype(str) if column.dtype.kind == "O" else column
        shares = np.unique(known, return_counts=True)[1] / group.size
        chance *= float((shares**2).sum())
        if chance < limit:
            return False
    return True


def _is_plain(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
