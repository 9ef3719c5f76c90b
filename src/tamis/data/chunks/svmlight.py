"""svmlight files, some lines at a time. A first pass counts rows and columns and reads the labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.data.chunks.chunked import Columns, Piece, refuse_options
from tamis.data.chunks.lines import line_pieces, piece_of, read_piece
from tamis.data.parsing.index_value import read_plain
from tamis.data.parsing.matrices import own_target, tidy_csr
from tamis.data.parsing.reader import Source, decode
from tamis.data.reading import Reading


@dataclass(frozen=True, eq=False)
class SvmlightTable:
    """An svmlight file; made by :meth:`open`.

    The attributes are those of :class:`tamis.data.chunks.chunked.Chunked`.
    """

    name: str
    target: str
    feature_names: np.ndarray
    pieces: Sequence[Piece]
    notes: Sequence[str] = ()
    #: A piece is read at once, whatever its columns.
    expansion: float = 0.0
    single: bool = False
    _labels: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)

    @classmethod
    def open(cls, path: Path, target: str | None = None, reading: Reading | None = None) -> Self:
        """Count rows and columns, and read the labels."""
        refuse_options(path, reading or Reading())
        own_target(target, ("class",), path)
        pieces, labels, width, line = [], [], 0, 1
        for number, (start, data) in enumerate(line_pieces(path, 0, quotes=False), start=1):
            piece = piece_of(path, number, start, len(data), 0, line)
            X, y = _parsed(data, piece)
            pieces.append(piece_of(path, number, start, len(data), y.size, line))
            labels.append(y)
            width, line = max(width, X.shape[1]), line + data.count(b"\n")
        if not pieces:
            raise DataError(f"{path}: is empty")
        return cls(Source(path).stem, "class", np.arange(width), pieces, _labels=np.concatenate(labels))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_labels": np.empty(0)}

    def column(self, name: str) -> np.ndarray:
        """The labels of all rows."""
        if name != self.target:
            raise DataError(f"{self.pieces[0].path}: no column is called {name!r}: svmlight files name none")
        return self._labels

    def read(self, piece: Piece, columns: Columns) -> sp.csr_array:
        """Some features of the rows of a piece."""
        X, _ = _parsed(read_piece(piece), piece)
        X.resize(X.shape[0], self.feature_names.size)
        found = tidy_csr(X)
        whole = isinstance(columns, slice) and columns.indices(self.feature_names.size)[:2] == (0, found.shape[1])
        return found if whole else found[:, columns]

    def blocks(self, piece: Piece, columns: slice) -> Iterator[sp.csr_array]:
        """The same, at once."""
        yield self.read(piece, columns)


def _parsed(data: bytes, piece: Piece) -> tuple[sp.csr_array, np.ndarray]:
    found = read_plain(decode(data, piece.path))
    if found is None:
        raise DataError(
            f"{piece.where}: holds a line that is not 'label index:value ...' with rising indices from 1 and no comment"
        )
    return found
