"""CSV, TSV and their kin, plain or gzipped.

The delimiter is the one of tab, semicolon, bar, comma and runs of blanks that splits the first lines into rows of
one width. The first row is a header when it differs in kind from the rows below it; without a header the columns are
called x1, x2, ..., and a target of such a name means that there is no header. Quotes follow RFC 4180: a quoted value
may hold delimiters, line ends and doubled quotes. Blanks around values, blank lines, a byte-order mark, comment lines
at the top (# or !) and any kind of line end are allowed. A first column without a name in the header and with distinct
values, as pandas writes it, holds row names and is dropped; where the header is one name short, as R writes it, it is
the column "row name".

What is a number and what is missing is decided in :mod:`tamis.data.parsing.number_text`. A column in which at least
nine in ten of the known values are numbers and the rest are not is an error; with fewer numbers it is nominal. The
class column is exempt: its words are labels.
"""

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.delimited_text import Layout, line_of
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.text_table import ROW_NAME, text_dataset

_DELIMITERS = ("\t", ";", "|", ",")
#: Divides nothing: no text has it.
_NONE = "\x1f"
_SAMPLE_BYTES = 1 << 18
_COMMENT = re.compile(rb"(?:[#!][^\n]*\n|[ \t]*\n)*")
#: What Excel writes, and reads, in the first line to tell the delimiter.
_STATED = re.compile(rb'"?sep=([!-~\t])"?[ \t]*\n')
_VALUES = re.compile(rb'(?:^|[\t;|,]) *"?[+-]?[.,]?\d')
_DECIMAL_COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


def _read(source: Source, target: str | None) -> Dataset:
    return text_dataset(source, read_cells(source, one_column=isinstance(target, Sought)), target)


def read_cells(source: Source, *, one_column: bool = False) -> Cells:
    """The cells of a text file; with `one_column` a file that nothing splits evenly has one, such as texts alone."""
    data, delimiter = _without_comments(source, _content(source))
    delimiter = source.reading.delimiter or delimiter or _delimiter(_sample(data))
    if one_column and source.reading.delimiter is None and not _splits_evenly(_sample(data), delimiter):
        delimiter = _NONE
    if delimiter is None:
        raise DataError(
            f"{source.path}: no comma, tab, semicolon, bar or blank splits its lines into columns; "
            "--delimiter names another"
        )
    written = delimiter
    if delimiter == " ":
        data, delimiter = _tabbed(data), "\t"
    short = _short_header(_sample(data), delimiter)
    rows = _split(source, data, delimiter, short=short is not None)
    if short is None:
        return Cells(rows.cells, rows.width, rows.place, written)
    # The header lacks the name of the row names, or the delimiter that ends the other lines.
    ends = short == "end" and (rows.cells[2 * rows.width - 2 :].gather_every(rows.width).fill_null("") == "").all()
    name = pl.Series("cell", [None if ends else ROW_NAME], dtype=pl.String)
    split = rows.width - 1 if ends else 0
    texts = pl.concat([rows.cells[:split], name, rows.cells[split:]])
    return Cells(texts, rows.width, rows.place, written, short_header=not ends)


def _recognizes(source: Source) -> bool:
    """Whether the first lines are rows of one width, two values or more, perhaps below a header that is one short."""
    data, delimiter = _without_comments(source, _content(source), note=False)
    sample = _sample(data)
    if delimiter or source.reading.delimiter:
        return True
    return any(_splits_evenly(sample, delimiter) for delimiter in (*_DELIMITERS, " "))


def _splits_evenly(sample: bytes, delimiter: str | None) -> bool:
    if delimiter is None:
        return False
    return _agreement(sample, delimiter) == 1.0 or _short_header(sample, delimiter) is not None


@dataclass(frozen=True)
class _Rows:
    """Values of rows of one width, row after row, and where in the text each row begins."""

    cells: pl.Series
    width: int
    data: bytes
    starts: np.ndarray

    def place(self, row: int) -> str:
        return line_of(self.data, int(self.starts[row]))


def _split(source: Source, data: bytes, delimiter: str, *, short: bool = False) -> _Rows:
    """Split text into rows of one width; with `short`, the first row has one value fewer."""
    quotes = _opens_quotes(data, delimiter)
    layout = Layout.of(data, delimiter, quotes=quotes)
    widths = layout.widths
    if short:
        widths = widths + (np.arange(len(widths)) == 0)
    odd = np.flatnonzero(widths != widths[:1])
    if quotes and (not layout.closed or len(odd)):
        return _scan(source, layout.data, delimiter, short=short)
    width = int(widths[0])
    if len(odd):
        raise _ragged(source, delimiter, layout.place(odd[0]), int(widths[odd[0]]), layout.place(int(short)), width)
    cells = layout.cells()
    if quotes:
        at = cells.str.starts_with('"').arg_true()
        quoted = cells.gather(at)
        # The layout misreads a quote inside a value that does not begin with one.
        stray = data.count(b'"') - quoted.str.count_matches('"', literal=True).sum()
        if stray or not quoted.str.contains(r'^"(?:[^"]|"")*"$').all():
            return _scan(source, layout.data, delimiter, short=short)
        inner = quoted.str.slice(1, quoted.str.len_chars() - 2).str.replace_all('""', '"', literal=True)
        cells = cells.scatter(at, inner)
    return _Rows(cells, width, layout.data, layout.starts)


def _scan(source: Source, data: bytes, delimiter: str, *, short: bool = False) -> _Rows:
    """Split text with quotes value by value; a message names the place of the first error."""
    blanks = " " if delimiter == "\t" else " \t"
    stop = f"[{re.escape(delimiter)}\n]"
    quoted = rf'[{blanks}]*+"((?:[^"]++|"")*+)"[{blanks}]*+(?={stop})'
    plain = rf'(?![{blanks}]*")([^{stop[1:]}*)(?={stop})'
    value = re.compile(f"{quoted}|{plain}".encode())
    cells: list[str] = []
    starts: list[int] = []
    row: list[str] = []
    width = at = begin = 0
    while at < len(data):
        match = value.match(data, at)
        if match is None:
            place = f"{line_of(data, at)}, column {len(row) + 1}"
            raise DataError(f"{source.path}, {place}: a quote is not closed, or text follows where it closes")
        row.append(match[2].decode().strip(blanks) if match[1] is None else match[1].decode().replace('""', '"'))
        at = match.end() + 1
        if data[match.end()] != ord("\n"):
            continue
        if len(row) > 1 or data[begin:at].strip():
            width = width or len(row) + short
            if len(row) + (short and not starts) != width:
                raise _ragged(source, delimiter, line_of(data, begin), len(row), line_of(data, starts[short]), width)
            cells += row
            starts.append(begin)
        row, begin = [], at
    return _Rows(pl.Series("cell", cells, dtype=pl.String), width, data, np.array(starts))


def _ragged(source: Source, delimiter: str, place: str, got: int, first: str, width: int) -> DataError:
    values = "value" if got == 1 else "values"
    return DataError(
        f"{source.path}, {place}: has {got} {values} where {first} has {width}; "
        f"--delimiter names another delimiter than {delimiter!r}"
    )


def _content(source: Source) -> bytes:
    """The text as UTF-8 bytes with plain line ends, without a copy where the file has them already."""
    raw = source.content
    if source.reading.encoding is None and raw.isascii() and b"\x00" not in raw and b"\r" not in raw:
        return raw
    return source.text.encode()


def _without_comments(source: Source, data: bytes, *, note: bool = True) -> tuple[bytes, str | None]:
    """The text without comment lines at its top, and the delimiter that its first line states, if it does.

    Blank lines replace them, so that line numbers stay right. A last one that is as wide as the line below it is a
    header.
    """
    if stated := _STATED.match(data):
        return b"\n" + data[stated.end() :], stated[1].decode("latin-1")
    if data[:1] not in (b"#", b"!"):
        return data, None
    end = _COMMENT.match(data).end()  # type: ignore[union-attr]
    comments, rest = data[:end], data[end:]
    last = comments.rstrip(b"\n").rpartition(b"\n")[2]
    below = rest.partition(b"\n")[0]
    as_wide = any(last.count(mark) == below.count(mark) > 0 for mark in (b"\t", b";", b"|", b","))
    if not rest.strip() or (as_wide and _VALUES.search(below)):
        comments = comments[: comments.rindex(last)]
        rest = last.lstrip(b"#! \t") + data[len(comments) + len(last) :]
    count = sum(line[:1] in (b"#", b"!") for line in comments.split(b"\n"))
    if note and count:
        what = f"{count} comment lines at the top are" if count > 1 else "1 comment line at the top is"
        source.notes.append(f"{what} left out")
    return b"\n" * comments.count(b"\n") + rest, None


def _short_header(sample: bytes, delimiter: str) -> str | None:
    """Whether the first line has one value fewer than all others: "end" when they all end in the delimiter."""
    if delimiter == " ":
        sample, delimiter = _tabbed(sample), "\t"
    lines = [line for line in sample.split(b"\n", 3) if line.strip()]
    if len(lines) > 1 and lines[0].count(delimiter.encode()) == lines[1].count(delimiter.encode()):
        return None
    widths = Layout.of(sample, delimiter, quotes=_opens_quotes(sample, delimiter)).widths
    if len(widths) < 2 or widths[0] < 2 or (widths[1:] != widths[0] + 1).any():
        return None
    lines = [line for line in sample.split(b"\n") if line.strip()]
    return "end" if all(line.rstrip(b" ").endswith(delimiter.encode()) for line in lines[1:]) else "start"


def _sample(data: bytes) -> bytes:
    """The first lines, at least three."""
    at = 0
    for _ in range(3):
        at = data.find(b"\n", at) + 1 or len(data)
    if at < _SAMPLE_BYTES:
        at = data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1 if len(data) > _SAMPLE_BYTES else len(data)
    return data[:at]


def _delimiter(sample: bytes) -> str | None:
    """The delimiter that fits the lines of the sample best; a blank stands for a run of blanks."""
    agreement = {delimiter: _agreement(sample, delimiter) for delimiter in (*_DELIMITERS, " ")}
    best = max(_DELIMITERS, key=lambda delimiter: agreement[delimiter])
    # Blanks are common inside values, so another delimiter that fits most lines wins; but tabs are blanks, and may
    # come in runs with others.
    if agreement[best] < (1.0 if best == "\t" and agreement[" "] == 1.0 else min(0.5, agreement[" "])):
        best = " "
    if best == "," and agreement[" "] == 1.0:
        # Blanks between numbers with decimal commas.
        words = [word for word in sample.split() if b"," in word]
        best = " " if all(map(_DECIMAL_COMMA.fullmatch, words)) else best
    return best if agreement[best] else None


def _agreement(sample: bytes, delimiter: str) -> float:
    """Share of the lines that have the most frequent width of two or more."""
    if delimiter == " ":
        sample, delimiter = _tabbed(sample), "\t"
    widths = Layout.of(sample, delimiter, quotes=_opens_quotes(sample, delimiter)).widths
    width, count = np.unique(widths[widths > 1], return_counts=True)
    return float(count.max() / len(widths)) if len(width) else 0.0


def _tabbed(data: bytes) -> bytes:
    """Text with one tab in place of each run of blanks outside quotes."""
    if b'"' in data:
        data = re.sub(rb'("[^"]*")|[ \t]+', lambda match: match[1] or b"\t", data)
    else:
        data = re.sub(rb"[ \t]+", b"\t", data)
    return re.sub(rb"\t?\n\t?", b"\n", data).strip(b"\t")


def _opens_quotes(data: bytes, delimiter: str) -> bool:
    """Whether a value begins with a quote; otherwise quotes are ordinary characters."""
    before = (b"\n", delimiter.encode(), delimiter.encode() + b" ")
    return b'"' in data and (data.startswith(b'"') or any(b + b'"' in data for b in before))


_TAKES = frozenset({"decimal", "na", "encoding", "delimiter", "transpose", "labels", "on"})

reader = Reader("csv", (".csv", ".tsv", ".tab"), _recognizes, _read, _TAKES, read_cells)
