"""Delimited text split into rows of one width: quotes, blank lines, and a message that names the place of an error."""

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.parsing.delimited_text import Layout, line_of
from tamis.data.parsing.reader import Source


@dataclass(frozen=True)
class Above:
    """What lies above a part of a file: how many lines, and the width of the rows and where it was found."""

    lines: int = 0
    width: int = 0
    place: str = ""


#: The beginning of a file.
_NOTHING = Above()


@dataclass(frozen=True)
class Rows:
    """Values of rows of one width, row after row, and where in the text each row begins."""

    cells: pl.Series
    width: int
    data: bytes
    starts: np.ndarray
    above: Above = _NOTHING

    def place(self, row: int) -> str:
        return line_of(self.data, int(self.starts[row]), self.above.lines)

    def lines(self) -> np.ndarray:
        """The line on which each row begins, counted from 1."""
        ends = np.flatnonzero(np.frombuffer(self.data, dtype=np.uint8) == ord("\n"))
        return np.searchsorted(ends, self.starts) + self.above.lines + 1


def split(source: Source, data: bytes, delimiter: str, *, short: bool = False, above: Above = _NOTHING) -> Rows:
    """Split text into rows of one width; with `short`, the first row has one value fewer."""
    if (found := split_plainly(source, data, delimiter, short=short, above=above)) is not None:
        return found
    return scan(source, data if data.endswith(b"\n") else data + b"\n", delimiter, short=short, above=above)[0]


def split_plainly(
    source: Source, data: bytes, delimiter: str, *, short: bool = False, above: Above = _NOTHING
) -> Rows | None:
    """Split text by the number of quotes before each delimiter and line end; None where quotes need a closer look."""
    quotes = opens_quotes(data, delimiter)
    layout = Layout.of(data, delimiter, quotes=quotes)
    widths = layout.widths
    if short:
        widths = widths + (np.arange(len(widths)) == 0)
    width = above.width or int(widths[0]) if len(widths) else above.width
    odd = np.flatnonzero(widths != width)
    if quotes and (not layout.closed or len(odd)):
        return None
    rows = Rows(pl.Series("cell", [], dtype=pl.String), width, layout.data, layout.starts, above)
    if len(odd):
        at = int(odd[0])
        raise ragged(source, delimiter, rows.place(at), int(widths[at]), above.place or rows.place(int(short)), width)
    cells = layout.cells()
    if quotes:
        begun = cells.str.starts_with('"').arg_true()
        quoted = cells.gather(begun)
        # The layout misreads a quote inside a value that does not begin with one.
        stray = data.count(b'"') - quoted.str.count_matches('"', literal=True).sum()
        if stray or not quoted.str.contains(r'^"(?:[^"]|"")*"$').all():
            return None
        inner = quoted.str.slice(1, quoted.str.len_chars() - 2).str.replace_all('""', '"', literal=True)
        cells = cells.scatter(begun, inner)
    return Rows(cells, width, layout.data, layout.starts, above)


def scan(
    source: Source,
    data: bytes,
    delimiter: str,
    *,
    short: bool = False,
    above: Above = _NOTHING,
    ends: bool = True,
) -> tuple[Rows, int]:
    """Split text with quotes value by value, and tell where it stopped; a message names the place of the first error.

    Where the text `ends` not here but goes on, it stops at the end of the last whole row.
    """
    blanks = " " if delimiter == "\t" else " \t"
    stop = f"[{re.escape(delimiter)}\n]"
    quoted = rf'[{blanks}]*+"((?:[^"]++|"")*+)"[{blanks}]*+(?={stop})'
    plain = rf'(?![{blanks}]*")([^{stop[1:]}*)(?={stop})'
    value = re.compile(f"{quoted}|{plain}".encode())
    # A value without a quote in front, or one whose quote is open, or was closed by the last characters.
    open_quote = rf'[{blanks}]*+(?:"(?:[^"]++|"")*+(?:"[{blanks}]*+)?+)?+\Z'
    goes_on = re.compile(rf'{open_quote}|(?![{blanks}]*")[^{stop[1:]}*\Z'.encode())
    cells: list[str] = []
    starts: list[int] = []
    row: list[str] = []
    width, at, begin = above.width, 0, 0
    while at < len(data):
        match = value.match(data, at)
        if match is None:
            if not ends and goes_on.match(data, at):
                break
            place = f"{line_of(data, at, above.lines)}, column {len(row) + 1}"
            raise DataError(f"{source.path}, {place}: a quote is not closed, or text follows where it closes")
        row.append(match[2].decode().strip(blanks) if match[1] is None else match[1].decode().replace('""', '"'))
        at = match.end() + 1
        if data[match.end()] != ord("\n"):
            continue
        if len(row) > 1 or data[begin:at].strip():
            width = width or len(row) + short
            if len(row) + (short and not starts) != width:
                first = above.place or line_of(data, starts[short], above.lines)
                raise ragged(source, delimiter, line_of(data, begin, above.lines), len(row), first, width)
            cells += row
            starts.append(begin)
        row, begin = [], at
    found = Rows(pl.Series("cell", cells, dtype=pl.String), width, data[:begin], np.array(starts, dtype=int), above)
    return found, begin


def ragged(source: Source, delimiter: str, place: str, got: int, first: str, width: int) -> DataError:
    """The error for a row of another width than the first."""
    values = "value" if got == 1 else "values"
    return DataError(
        f"{source.path}, {place}: has {got} {values} where {first} has {width}; "
        f"--delimiter names another delimiter than {delimiter!r}"
    )


def opens_quotes(data: bytes, delimiter: str) -> bool:
    """Whether a value begins with a quote, perhaps behind blanks; otherwise quotes are ordinary characters."""
    if b'"' not in data:
        return False
    if data.startswith(b'"') or any(before + b'"' in data for before in (b"\n", delimiter.encode())):
        return True
    blanks = " " if delimiter == "\t" else " \t"
    return re.search(rf'(?:\A|[{re.escape(delimiter)}\n])[{blanks}]+"'.encode(), data) is not None
