"""Rows and labels of the NIPS 2003 feature selection challenge (Guyon, Gunn, Ben-Hur and Dror 2004).

A data set NAME is ``NAME_train.data``, ``NAME_valid.data`` and ``NAME_test.data`` with one line a row, labels
-1 or +1 one a line in ``NAME_train.labels`` and so on, and ``NAME.param`` that states sizes and check-sums.
The rows come in three forms: "dense" (numbers), "sparse" (``index:value``) and "binary" (the indices of the
ones); indices start at 1.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.types import Matrix
from tamis.data.parsing.index_value import number, pairs, read_plain, stack
from tamis.data.parsing.matrices import is_sparse, tidy_csr


def parse_labels(text: str, path: Path) -> np.ndarray:
    """Labels -1 and +1, one a line.

    >>> parse_labels("-1\\n+1\\n1\\n", Path("a.labels")).tolist()
    [-1, 1, 1]
    """
    lines = [line.strip() for line in text.rstrip().split("\n")]
    for count, line in enumerate(lines, start=1):
        if line not in ("-1", "+1", "1"):
            raise DataError(f"{path}, line {count}: label {quoted(line)} is neither -1 nor +1")
    return np.array([int(line) for line in lines], dtype=np.int64)


def guess_form(text: str) -> str:
    """Which of the three forms a .data file has, by its content.

    Rows of one length are numbers. Rows of several lengths are indices when every row rises, else numbers of
    which one is missing.

    >>> guess_form("1:2 5:3"), guess_form("4 7\\n2 7"), guess_form("4 7\\n2"), guess_form("7 4\\n2")
    ('sparse', 'dense', 'binary', 'dense')
    """
    if ":" in text:
        return "sparse"
    rows = [line.split() for line in text.rstrip().split("\n")]
    return "binary" if len(set(map(len, rows))) > 1 and all(map(_rises, rows)) else "dense"


def _rises(words: list[str]) -> bool:
    if not all(word.isascii() and word.isdigit() and len(word) < 20 for word in words):
        return False
    return all(int(a) < int(b) for a, b in pairwise(words))


def parse_rows(text: str, path: Path, form: str, columns: int | None = None, rows: int | None = None) -> Matrix:
    """The matrix of a .data file in one of the three forms.

    Indices past `columns`, where that is known, are refused. Empty lines at the end of a sparse file are rows of
    zeros up to the number of `rows`, where that is known.
    """
    lines = text.removesuffix("\n").split("\n")
    while len(lines) > 1 and not lines[-1].strip() and (form == "dense" or (rows is not None and len(lines) > rows)):
        lines.pop()
    if form == "dense":
        return _dense_rows(lines, path, columns)
    if form == "binary":
        lines = [":1 ".join([*line.split(), ""]) for line in lines]
    plain = read_plain("".join(f"0 {line}\n" for line in lines))
    if plain is None or (columns is not None and plain[0].shape[1] > columns):
        return tidy_csr(_careful_rows(lines, path, columns))
    return tidy_csr(plain[0] if columns is None else _with_columns(plain[0], columns))


def _with_columns(X: sp.csr_array, columns: int) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], columns))


def widen(matrices: dict[str, Matrix]) -> dict[str, Matrix]:
    """Give all sparse matrices the columns of the widest one."""
    widest = max(X.shape[1] for X in matrices.values())
    return {part: _with_columns(X, widest) if is_sparse(X) else X for part, X in matrices.items()}


def _dense_rows(lines: list[str], path: Path, columns: int | None) -> np.ndarray:
    expected = len(lines[0].split()) if columns is None else columns
    try:
        X = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
    except ValueError:
        pass
    else:
        if X.shape == (len(lines), expected) and np.isfinite(X).all():
            return X
    rows = []
    for count, line in enumerate(lines, start=1):
        where, words = f"{path}, line {count}", line.split()
        if not words:
            raise DataError(f"{where}: is empty")
        rows.append([number(word, quoted(word), where) for word in words])
        if len(words) != expected:
            raise DataError(f"{where}: has {len(words)} numbers, expected {expected} in every row")
    return np.array(rows)


def _careful_rows(lines: list[str], path: Path, columns: int | None) -> sp.csr_array:
    rows = []
    for count, line in enumerate(lines, start=1):
        where = f"{path}, line {count}"
        indices, values = pairs(line.split(), where)
        if columns is not None and indices and max(indices) > columns:
            raise DataError(f"{where}: index {max(indices)} is past the last of {columns} columns")
        rows.append((indices, values))
    return stack(rows, columns)
