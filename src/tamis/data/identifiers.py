"""Columns that tell one row from another: identifiers, and free text."""

import re
from collections.abc import Sequence

import numpy as np
import polars as pl

from tamis.base.types import FloatArray, Mask

#: Share of distinct values above which nearly all are distinct.
_NEARLY_ALL = 0.95
#: The same where the name says that the column is an identifier: five rows to one patient are possible.
_BY_NAME = 0.2
#: The same for codes of one shape, and for free text.
_HALF = 0.5
#: Fewer distinct values than this are levels, unless nearly all of the rows have their own.
_MANY = 20
#: Fewer rows with values of their own do not make an identifier, unless its name is sure.
_FEWEST_ROWS = 10
#: A range of whole numbers this many times as long as the column is no longer a count of its rows.
_GAPS = 2
#: More columns than this that count the rows hold ranks, not identifiers.
_MOST_COUNTS = 3
#: Rows that are read of every column before any column is read in full.
_HEAD = 16

_SURE = {"id", "ids", "uid", "uuid", "guid", "identifier", "barcode", "mrn", "ssn"}
_HINT = re.compile(r"id|barcode|mrn|ssn|row|unnamed|\.\.\.1")
_ROWS = re.compile(r"unnamed(: ?\d+|_\d+)?|\.\.\.1|row[ ._]?(names?|ids?|index|no|nr|num|number)")
_THINGS = "patient|sample|subject|case|record|person|participant|customer|client|user|employee|order|item|specimen"
_LIKELY = re.compile(
    rf"index|idx|key|code|name|row|no|nr|num|number|({_THINGS})([ ._-]?(no|nr|num|number|name|code|key|index))?"
)
_JOINED = re.compile(rf"({_THINGS})id")
_MEASURED = r"^\s*[<>~=]*\s*[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?\s*(?:%|[^\d\s]{0,4}|[a-zA-Z]+/[a-zA-Z]+)?\s*$"
_DECIMAL = r"\d[.,]\d"


def text_column(column: pl.Series) -> str | None:
    """Why a column of text is an identifier or free text; None where it is nominal.

    Text that nearly every row has for itself is one or the other: an identifier where it is short. Codes of one
    shape, such as AB-1234, need half of their values distinct, and a name such as patient_id a fifth. Text of
    measurements, such as 38,2 or <0.5, is neither.

    Examples
    --------
    >>> text_column(pl.Series("patient", [f"p{i}" for i in range(30)]))
    'an identifier: 30 values in 30 rows'
    >>> text_column(pl.Series("colour", ["red", "blue"] * 15)) is None
    True
    """
    known = column.drop_nulls()
    rows, distinct = len(known), known.n_unique()
    share = distinct / max(1, rows)
    identifier = _identifier(distinct, rows)
    if _named_identifier(_says_identifier(column.name), False, distinct, rows):
        return identifier
    if share < _HALF or rows < _FEWEST_ROWS or _is_measured(known):
        return None
    if (length := _free_text_length(known)) and (share >= _NEARLY_ALL or distinct >= _MANY):
        return f"free text: {distinct} values of {length:.0f} characters in the mean"
    if share >= _NEARLY_ALL or (distinct >= _MANY and _has_one_shape(known)):
        return identifier
    return None


def number_columns(X: FloatArray, names: Sequence[str]) -> dict[int, str]:
    """The columns of numbers that are identifiers, by position, with the reason.

    An identifier is of whole numbers. It counts the rows (all numbers of a range in any order, or a range with gaps or
    even steps in the order of the rows), or its name says so and the values are distinct. Measurements that all differ
    are no identifiers, nor are ranks: where several columns count the rows, none is left out for that.

    Examples
    --------
    >>> number_columns(np.column_stack([np.arange(30.0) + 1, np.arange(30.0) ** 3]), ["number", "volume"])
    {0: 'an identifier: 30 values in 30 rows'}
    """
    found, counting = {}, {}
    for j in np.flatnonzero(_candidates(X, names)).tolist():
        known = X[:, j][~np.isnan(X[:, j])]
        rows, distinct = known.size, np.unique(known).size
        sure, likely = _says_identifier(names[j]), _LIKELY.fullmatch(names[j].lower()) is not None
        if _named_identifier(sure, likely, distinct, rows):
            found[j] = _identifier(distinct, rows)
        elif rows >= _MANY and distinct == rows:
            if known.max() - known.min() == rows - 1:
                counting[j] = _identifier(distinct, rows)
            elif _follows_rows(known):
                counting[j] = f"whole numbers that only number the rows: {distinct} values in {rows} rows"
    return found | (counting if len(counting) <= _MOST_COUNTS else {})


def _named_identifier(sure: bool, likely: bool, distinct: int, rows: int) -> bool:
    """Whether values are distinct enough for a name that surely, or likely, is that of an identifier."""
    if distinct >= _NEARLY_ALL * rows:
        return (sure and rows > 2) or (likely and rows >= _FEWEST_ROWS)
    return sure and distinct >= max(_MANY, _BY_NAME * rows)


def _identifier(distinct: int, rows: int) -> str:
    return f"an identifier: {distinct} values in {rows} rows"


def _candidates(X: FloatArray, names: Sequence[str]) -> Mask:
    """The columns of whole numbers that could be identifiers, by their names, their ranges or their order."""
    head = X[:_HEAD]
    found = np.zeros(X.shape[1], dtype=bool)
    maybe = np.flatnonzero(_whole(head).all(axis=0))
    if not maybe.size or not len(X):
        return found
    named = [_says_identifier(names[j]) or _LIKELY.fullmatch(names[j].lower()) is not None for j in maybe.tolist()]
    steps = np.diff(head[:, maybe], axis=0)
    ordered = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
    # A copy of most of a large matrix costs more than the ranges of all its columns.
    counts = _could_count(X)[maybe] if 2 * maybe.size > X.shape[1] else _could_count(X[:, maybe])
    maybe = maybe[ordered | counts | np.array(named)]
    found[maybe] = _whole(X[:, maybe]).all(axis=0)
    return found


def _whole(X: FloatArray) -> Mask:
    """Mask of the whole numbers, and of the missing ones."""
    return np.asarray(np.isnan(X) | ((np.floor(X) == X) & np.isfinite(X)))


def _could_count(X: FloatArray) -> Mask:
    """Mask of the columns whose range and mean are those of whole numbers in a row; half may be missing."""
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    with np.errstate(invalid="ignore"):
        found = (high - low < len(X)) & (high - low >= len(X) // 2 - 1)
    known, low, high = X[:, found], low[found], high[found]
    size = len(X) - np.isnan(known).sum(axis=0)
    found[found] = (high - low == size - 1) & (np.nansum(known - low, axis=0) == size * (size - 1) / 2)
    return found


def _follows_rows(known: FloatArray) -> bool:
    """Whether distinct whole numbers rise or fall with the rows, in even steps or with few gaps."""
    steps = np.diff(known)
    if not ((steps > 0).all() or (steps < 0).all()):
        return False
    return bool((steps == steps[0]).all()) or abs(known[-1] - known[0]) <= _GAPS * known.size


def _says_identifier(name: str) -> bool:
    """Whether a name is that of an identifier: id, patient_id, PatientID, barcode, Unnamed: 0, row names; not ID1."""
    plain = name.strip().lower()
    if not _HINT.search(plain):
        return False
    if _ROWS.fullmatch(plain) or _JOINED.fullmatch(plain):
        return True
    words = re.findall(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*|\d+", name)
    return bool(words) and not {words[0].lower(), words[-1].lower()}.isdisjoint(_SURE)


def _is_measured(known: pl.Series) -> bool:
    """Whether text is of numbers, some of them with decimals."""
    measured = np.mean(known.str.contains(_MEASURED).to_numpy())
    return bool(measured >= _NEARLY_ALL and known.str.contains(_DECIMAL).any())


def _free_text_length(known: pl.Series) -> float:
    """The mean length of free text: several words, or long and not all of one length; else 0."""
    lengths = known.str.len_chars()
    length = float(np.mean(lengths.to_numpy()))
    blanks = float(np.mean(known.str.count_matches(" ", literal=True).to_numpy()))
    long = (length >= 25 and blanks >= 3) or (length >= 40 and lengths.n_unique() > 1)
    return length if long else 0.0


def _has_one_shape(known: pl.Series) -> bool:
    """Whether all values are codes of letters and digits of one shape, such as AB-1234."""
    shapes = known.str.replace_all(r"\d", "0").str.replace_all(r"\p{L}", "A")
    shape = shapes[0]
    return "0" in shape and "A" in shape and bool(np.mean((shapes == shape).to_numpy()) >= _NEARLY_ALL)
