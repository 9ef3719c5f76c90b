"""Rows written as ``index:value`` words, indices from 1: what svmlight and challenge files share.

A fast path reads plain rows; a careful one reads the rest and names the line of every error.
"""

import re
from math import isfinite
from statistics import mode

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.data.parsing.matrices import MOST_COLUMNS

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INDEX = re.compile(r"\+?\d+", re.ASCII)

#: A row of the fast path; comments, words and infinities are left to the careful one.
_PLAIN_NUMBER = rb"[+-]?+\d++(?:\.\d++)?+(?:[eE][+-]?+\d++)?+"
_PLAIN_ROW = re.compile(rb"[ \t]*+%b(?:[ \t]++\d++:%b)*+[ \t]*+" % (_PLAIN_NUMBER, _PLAIN_NUMBER))
_ONE_A_LINE = bytes.maketrans(b": \t", b"\n\n\n")


def read_plain(text: str) -> tuple[sp.csr_array, np.ndarray] | None:
    """Matrix and labels of well-formed ``label index:value ...`` lines; None when the careful path is needed.

    >>> X, y = read_plain("1 2:0.5\\n-1 1:3 2:4\\n")
    >>> X.shape, X.nnz, y.tolist()
    ((2, 2), 3, [1.0, -1.0])
    >>> read_plain("1 0:0.5\\n") is None
    True
    """
    lines = [line for line in text.encode().split(b"\n") if line.strip(b" \t")]
    if not all(map(_PLAIN_ROW.fullmatch, lines)):
        return None
    sizes = np.array([line.count(b":") for line in lines], dtype=np.int64)
    numbers = _numbers(lines)
    if not sizes.any() or numbers is None or numbers.size != (2 * sizes + 1).sum():
        return None
    first = np.cumsum(2 * sizes + 1) - (2 * sizes + 1)
    indices, values = np.delete(numbers, first).reshape(-1, 2).T
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    falls = np.diff(indices) <= 0
    falls[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)] - 1] = False
    if indices.min() < 1 or indices.max() > MOST_COLUMNS or falls.any() or not np.isfinite(numbers).all():
        return None
    X = sp.csr_array((values.copy(), indices.astype(np.int32) - 1, indptr), shape=(len(lines), int(indices.max())))
    return X, numbers[first]


def _numbers(lines: list[bytes]) -> np.ndarray | None:
    """All numbers of plain rows, from left to right; None when one cannot be parsed."""
    raw = b"\n".join(lines).translate(_ONE_A_LINE)
    try:
        column = pl.read_csv(raw, has_header=False, schema={"number": pl.Float64}).get_column("number")
    except pl.exceptions.PolarsError:
        return None
    # Runs of blanks have left empty lines.
    return column.drop_nulls().to_numpy()


def number(word: str, what: str, where: str) -> float:
    """Parse a finite number; `what` names it in a message.

    >>> number("-.5e1", "label '-.5e1'", "a.svm, line 1")
    -5.0
    """
    if not _NUMBER.fullmatch(word):
        infinite = word.lower().lstrip("+-") in ("inf", "infinity")
        raise DataError(f"{where}: {what} is {'infinite' if infinite else 'not a number'}")
    value = float(word)
    if not isfinite(value):
        raise DataError(f"{where}: {what} is too large for a 64-bit number")
    return value


def index(word: str, where: str) -> int:
    """Parse an index, counted from 1."""
    if not _INDEX.fullmatch(word):
        raise DataError(f"{where}: index {quoted(word)} is not a whole number from 1")
    # int() refuses thousands of digits, so the length is checked first.
    value = int(word) if len(word) <= 20 else MOST_COLUMNS + 1
    if value == 0:
        raise DataError(f"{where}: index 0, but indices start at 1")
    if value > MOST_COLUMNS:
        raise DataError(f"{where}: index {quoted(word)} is past {MOST_COLUMNS}, the largest that is supported")
    return value


def pairs(words: list[str], where: str) -> tuple[list[int], list[float]]:
    """Indices and values of one row's ``index:value`` words.

    >>> pairs(["2:0.5", "7:1"], "a.svm, line 1")
    ([2, 7], [0.5, 1.0])
    """
    indices, values = [], []
    for word in words:
        left, colon, right = word.partition(":")
        if not colon:
            raise DataError(f"{where}: {quoted(word)} is not of the form index:value")
        indices.append(index(left, where))
        values.append(number(right, f"value {quoted(right)} of index {left}", where))
    if len(set(indices)) < len(indices):
        raise DataError(f"{where}: index {mode(indices)} occurs twice or more")
    return indices, values


def stack(rows: list[tuple[list[int], list[float]]], columns: int | None = None) -> sp.csr_array:
    """The CSR matrix of rows of distinct indices (from 1) and values; `columns` defaults to the largest index."""
    indptr = np.concatenate([[0], np.cumsum([len(indices) for indices, _ in rows], dtype=np.int64)])
    flat = np.fromiter((i - 1 for indices, _ in rows for i in indices), dtype=np.int32, count=int(indptr[-1]))
    data = np.fromiter((v for _, values in rows for v in values), dtype=np.float64, count=int(indptr[-1]))
    widest = int(flat.max(initial=-1)) + 1
    return sp.csr_array((data, flat, indptr), shape=(len(rows), widest if columns is None else columns))
