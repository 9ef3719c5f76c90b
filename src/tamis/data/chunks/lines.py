"""Text files in pieces that end with a line, and the rows of each."""

import os
from collections.abc import Iterator
from pathlib import Path

from tamis.base.errors import DataError
from tamis.data.chunks.chunked import Piece
from tamis.data.parsing.reader import open_bytes

#: Bytes of a piece.
SIZE = 1 << 24


def line_pieces(path: Path, start: int, *, quotes: bool) -> Iterator[tuple[int, bytes]]:
    """Where each piece begins in the file, and its bytes; with `quotes` none ends within a quoted value.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "t.csv"
    >>> _ = path.write_bytes(b"a,b\\n1,2\\n3,4")
    >>> list(line_pieces(path, 4, quotes=True))
    [(4, b'1,2\\n'), (8, b'3,4')]
    """
    with open_bytes(path) as file:
        file.seek(start)
        pending = b""
        at = start
        while block := file.read(SIZE):
            pending += block
            end = _whole_lines(pending, quotes=quotes)
            if end:
                yield at, pending[:end]
                at, pending = at + end, pending[end:]
        if pending.strip():
            yield at, pending


def _whole_lines(data: bytes, *, quotes: bool) -> int:
    """Where the last line ends that has an even number of quotes before it; 0 for none."""
    end = data.rfind(b"\n") + 1
    if not quotes or data.find(b'"') < 0:
        return end
    count = data.count(b'"', 0, end)
    while end and count % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        count -= data.count(b'"', before, end)
        end = before
    return end


def piece_of(path: Path, number: int, start: int, size: int, rows: int, line: int) -> Piece:
    """A piece of text, which messages name by its first line."""
    return Piece(path, f"the {number}. piece, from line {line}", start, rows, size)


def read_piece(piece: Piece) -> bytes:
    """The bytes of a piece; the file may have changed since."""
    with open_bytes(piece.path) as file:
        if file.seek(0, os.SEEK_END) < piece.start + piece.size:
            raise DataError(f"{piece.where}: the file has become shorter while it was read")
        file.seek(piece.start)
        return file.read(piece.size)
