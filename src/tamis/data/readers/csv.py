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
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.cell_stream import Batches, CellStream
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.counted_cells import CountedCells
from tamis.data.parsing.counted_column import text_columns
from tamis.data.parsing.delimited_batches import row_batches
from tamis.data.parsing.delimited_rows import Rows, opens_quotes, split
from tamis.data.parsing.delimited_text import Layout
from tamis.data.parsing.growing import GrowingArray
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.text_stream import NotPlainError, text_blocks, utf8_blocks
from tamis.data.parsing.text_table import ROW_NAME, body_dataset, missing_marked, named_columns, text_dataset

_DELIMITERS = ("\t", ";", "|", ",")
#: Divides nothing: no text has it.
_NONE = "\x1f"
_SAMPLE_BYTES = 1 << 18
#: Characters of a file that is read in batches; its rows take ten times as many bytes.
_BATCH = 1 << 22
#: Rows that decide whether the first is a header.
_HEADER_ROWS = 101
#: Lines that tell the layout, beside so many bytes.
_SAMPLE_LINES = 3
_Blocks = Callable[[Source], Iterator[bytes]]
_COMMENT = re.compile(rb"(?:[#!][^\n]*\n|[ \t]*\n)*")
#: What Excel writes, and reads, in the first line to tell the delimiter.
_STATED = re.compile(rb'"?sep=([!-~\t])"?[ \t]*\n')
_VALUES = re.compile(rb'(?:^|[\t;|,]) *"?[+-]?[.,]?\d')
_DECIMAL_COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")


def _read(source: Source, target: str | None) -> Dataset:
    for blocks in () if "raw" in vars(source) else (_utf8_blocks, _decoded_blocks):
        try:
            found = _streamed(source, target, blocks)
        except NotPlainError:
            continue
        if found is not None:
            return found
        break
    return text_dataset(source, read_cells(source, one_column=isinstance(target, Sought)), target)


def _streamed(source: Source, target: str | None, blocks_of: _Blocks) -> Dataset | None:
    """The data set of a file of several batches, of which one is held at a time; None where the layout is not simple.

    The messages are those of the whole file, also where several things are wrong with it.
    """
    trial = Source(source.path, source.reading)
    beginning = _beginning(trial, blocks_of)
    if beginning is None or source.reading.transpose:
        return None
    data, stated = _without_comments(trial, beginning)
    if len(data) <= _SAMPLE_BYTES or not data.strip() or _COMMENT.fullmatch(beginning):
        return None
    delimiter = source.reading.delimiter or stated or _delimiter(_sample(data))
    if delimiter is None or delimiter == " " or _short_header(_sample(data), delimiter):
        return None
    if isinstance(target, Sought) and source.reading.delimiter is None and not _splits_evenly(_sample(data), delimiter):
        return None

    def rows() -> Iterator[Rows]:
        again = Source(source.path, source.reading)
        blocks = blocks_of(again)
        first = next(blocks)
        while len(first) < len(beginning):
            first += next(blocks)
        try:
            yield from row_batches(again, chain([_without_comments(again, first)[0]], blocks), delimiter)
        except DataError:
            for _ in blocks:
                pass
            raise

    batches, refused = Batches(rows), None
    try:
        names, body = named_columns(trial, CellStream(batches, delimiter), target)
    except DataError as error:
        refused = error
    if refused is not None:
        batches.finish()
        raise refused
    found = body_dataset(trial, names, body, target)
    source.notes.extend(trial.notes)
    return found


def _beginning(source: Source, blocks_of: _Blocks) -> bytes | None:
    """The first blocks, which tell the layout; None where nothing comes behind them."""
    blocks, found = blocks_of(source), b""
    for block in blocks:
        if len(found) > _SAMPLE_BYTES and found.count(b"\n") > _SAMPLE_LINES:
            return found
        found += block
    return None


def _utf8_blocks(source: Source) -> Iterator[bytes]:
    if source.reading.encoding is not None:
        raise NotPlainError
    return utf8_blocks(source, _BATCH)


def _decoded_blocks(source: Source) -> Iterator[bytes]:
    """The text in blocks whatever its encoding, as long as that can be found without holding it."""
    try:
        for block in text_blocks(source, _BATCH):
            yield block.encode()
    except DataError as error:
        raise NotPlainError from error


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
    rows = split(source, data, delimiter, short=short is not None)
    if short is None:
        return Cells(rows.cells, rows.width, rows.place, written)
    # The header lacks the name of the row names, or the delimiter that ends the other lines.
    ends = short == "end" and (rows.cells[2 * rows.width - 2 :].gather_every(rows.width).fill_null("") == "").all()
    name = pl.Series("cell", [None if ends else ROW_NAME], dtype=pl.String)
    at = rows.width - 1 if ends else 0
    texts = pl.concat([rows.cells[:at], name, rows.cells[at:]])
    return Cells(texts, rows.width, rows.place, written, short_header=not ends)


def _counted(source: Source, target: str | None) -> Dataset | None:
    """The data set with the words of its texts counted batch by batch; None where its layout is not that simple."""
    head = source.beginning(_SAMPLE_BYTES)
    data, stated = _without_comments(head, _content(head), note=False)
    delimiter = source.reading.delimiter or stated or _delimiter(_sample(data))
    if delimiter is None or delimiter == " " or source.reading.transpose or _short_header(_sample(data), delimiter):
        return None
    batches = row_batches(source, _blocks(source), delimiter)
    lines = GrowingArray(np.int64)
    first = _first_cells(batches, lines, delimiter)
    names, body = named_columns(source, first, target)
    called = [name or f"x{number}" for number, name in enumerate(names, start=1)]
    columns, header = text_columns(source, called, target), first.height - body.height
    if not columns:
        return None
    counted = CountedCells(columns)
    counted.add(body.texts, body.width)
    del first, body
    for rows in batches:
        lines.extend(rows.lines())
        counted.add(missing_marked(source, Cells(rows.cells, rows.width, rows.place)).texts, rows.width)
    cells = counted.cells(lambda row: f"line {lines.values[row + header]}", delimiter)
    found, words = body_dataset(source, names, cells, target), counted.finish()
    return replace(found, counted={called[j]: words[j] for j in columns})


def _first_cells(batches: Iterator[Rows], lines: GrowingArray, delimiter: str) -> Cells:
    """The cells of the first batches, with as many rows as are needed to know a header, and their lines."""
    first: list[Rows] = []
    while lines.values.size < _HEADER_ROWS and (rows := next(batches, None)) is not None:
        first.append(rows)
        lines.extend(rows.lines())
    cells = pl.concat([rows.cells for rows in first])
    return Cells(cells, first[0].width, lambda row: f"line {lines.values[row]}", delimiter)


def _blocks(source: Source) -> Iterator[bytes]:
    """The text in blocks, the first without comment lines at its top."""
    for number, block in enumerate(text_blocks(source, _BATCH)):
        yield block.encode() if number else _without_comments(source, block.encode())[0]


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
    widths = Layout.of(sample, delimiter, quotes=opens_quotes(sample, delimiter)).widths
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
    widths = Layout.of(sample, delimiter, quotes=opens_quotes(sample, delimiter)).widths
    width, count = np.unique(widths[widths > 1], return_counts=True)
    return float(count.max() / len(widths)) if len(width) else 0.0


def _tabbed(data: bytes) -> bytes:
    """Text with one tab in place of each run of blanks outside quotes."""
    if b'"' in data:
        data = re.sub(rb'("[^"]*")|[ \t]+', lambda match: match[1] or b"\t", data)
    else:
        data = re.sub(rb"[ \t]+", b"\t", data)
    return re.sub(rb"\t?\n\t?", b"\n", data).strip(b"\t")


_TAKES = frozenset({"decimal", "na", "encoding", "delimiter", "transpose", "labels", "on"})

reader = Reader("csv", (".csv", ".tsv", ".tab"), _recognizes, _read, _TAKES, read_cells, counted=_counted)
