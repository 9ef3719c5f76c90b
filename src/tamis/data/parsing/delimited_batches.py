"""Delimited text split into rows batch after batch, for files that are too large to hold."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tamis.data.parsing.delimited_rows import Above, Rows, opens_quotes, scan, split, split_plainly
from tamis.data.parsing.reader import Source


def row_batches(source: Source, blocks: Iterable[bytes], delimiter: str) -> Iterator[Rows]:
    """The rows of text that comes in blocks which end anywhere; each batch ends with a row.

    The rows are those that :func:`~tamis.data.parsing.delimited_rows.split` finds in the whole text, and so are the
    messages. A batch of no rows is left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> blocks = [b'a,b\\n1,"x', b'\\ny"\\n2,', b"z\\n"]
    >>> [rows.cells.to_list() for rows in row_batches(Source(Path("t.csv")), blocks, ",")]
    [['a', 'b'], ['1', 'x\\ny'], ['2', 'z']]
    """
    above, pending = Above(), b""
    for block in blocks:
        pending += block
        rows, end = _whole_rows(source, pending, delimiter, above)
        if rows is not None:
            above = _below(rows, pending, end)
            if len(rows.starts):
                yield rows
        pending = pending[end:]
    if pending.strip():
        rows = split(source, pending, delimiter, above=above)
        if len(rows.starts):
            yield rows


def _whole_rows(source: Source, data: bytes, delimiter: str, above: Above) -> tuple[Rows | None, int]:
    """The rows that end in the data, and where the last of them ends; None where none does."""
    end = _last_row_end(data, opens_quotes(data, delimiter))
    if end and (rows := split_plainly(source, data[:end], delimiter, above=above)) is not None:
        return rows, end
    if not end and not opens_quotes(data, delimiter):
        return None, 0
    # An odd quote inside a value makes the count of quotes useless.
    rows, end = scan(source, data, delimiter, above=above, ends=False)
    return (rows, end) if end else (None, 0)


def _last_row_end(data: bytes, quotes: bool) -> int:
    """Where the last row ends, which is behind a line end with an even number of quotes before it; 0 for none."""
    at = len(data)
    count = data.count(b'"') if quotes else 0
    while (line_end := data.rfind(b"\n", 0, at)) >= 0:
        if quotes:
            count -= data.count(b'"', line_end, at)
        if count % 2 == 0:
            return line_end + 1
        at = line_end
    return 0


def _below(rows: Rows, data: bytes, end: int) -> Above:
    above = replace(rows.above, lines=rows.above.lines + data.count(b"\n", 0, end))
    if above.width or not len(rows.starts):
        return above
    return replace(above, width=rows.width, place=rows.place(0))
