"""CSV, TSV and their kin, plain or gzipped.

The delimiter is the one of tab, semicolon, bar, comma and runs of blanks that splits the first lines into rows of
one width. The first row is a header when it differs in kind from the rows below it; without a header the columns are
called x1, x2, ..., and a target of such a name means that there is no header. Quotes follow RFC 4180: a quoted value
may hold delimiters, line ends and doubled quotes. Blanks around values, blank lines, a byte-order mark and any kind
of line end are allowed. A first column without a name in the header and with distinct values, as R and pandas write
it, holds row names and is dropped.

In a column of numbers any of `MARKS` is a missing value. In a column of words "None", "-" and "." are words.
A column in which at least nine in ten of the known values are numbers and the rest are not is an error; with fewer
numbers it is nominal. The class column is exempt: its words are labels. A decimal comma is not supported: values
like 1,5 are words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.base.types import Mask
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.delimited_text import Layout, line_of, take_columns
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.table import CLASS_NAMES, Table, find_target

#: Missing values in a column of numbers; the first seven also in a column of words.
MARKS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None", "-", ".")
_WORD_MARKS = MARKS[:7]
_DELIMITERS = ("\t", ";", "|", ",")
_MOSTLY_NUMBERS = 0.9
_SAMPLE_BYTES = 1 << 18


def _read(source: Source, target: str | None) -> Dataset:
    data = _content(source)
    delimiter = _delimiter(_sample(data))
    if delimiter is None:
        raise DataError(f"{source.path}: no comma, tab, semicolon, bar or blank splits its lines into columns")
    if delimiter == " ":
        data, delimiter = _tabbed(data), "\t"
    rows = _split(source, data, delimiter)
    names = [f"x{number}" for number in range(1, rows.width + 1)]
    row_names = False
    if _has_header(rows, target):
        first = rows.cells[: rows.width].fill_null("").to_list()
        names = [name or own for name, own in zip(first, names, strict=True)]
        rows = replace(rows, cells=rows.cells[rows.width :], starts=rows.starts[1:])
        row_names = first[0] == "" and rows.cells.gather_every(rows.width).n_unique() == len(rows.starts)
    found = _table(source, names, rows, target).dataset(target)
    return found.without(names[0]) if row_names and found.target != names[0] else found


def _recognizes(source: Source) -> bool:
    """Whether the first lines are rows of one width, two values or more."""
    sample = _sample(_content(source))
    return any(_agreement(sample, delimiter) == 1.0 for delimiter in (*_DELIMITERS, " "))


@dataclass(frozen=True)
class _Rows:
    """Values of rows of one width, row after row, and where in the text each row begins."""

    cells: pl.Series
    width: int
    data: bytes
    starts: np.ndarray

    def place(self, row: int) -> str:
        return line_of(self.data, int(self.starts[row]))


def _split(source: Source, data: bytes, delimiter: str) -> _Rows:
    """Split text into rows of one width."""
    quotes = _opens_quotes(data, delimiter)
    layout = Layout.of(data, delimiter, quotes=quotes)
    odd = np.flatnonzero(layout.widths != layout.widths[:1])
    if quotes and (not layout.closed or len(odd)):
        return _scan(source, layout.data, delimiter)
    width = int(layout.widths[0])
    if len(odd):
        raise _ragged(source, layout.place(odd[0]), int(layout.widths[odd[0]]), layout.place(0), width)
    cells = layout.cells()
    if quotes:
        at = cells.str.starts_with('"').arg_true()
        quoted = cells.gather(at)
        # The layout misreads a quote inside a value that does not begin with one.
        stray = data.count(b'"') - quoted.str.count_matches('"', literal=True).sum()
        if stray or not quoted.str.contains(r'^"(?:[^"]|"")*"$').all():
            return _scan(source, layout.data, delimiter)
        inner = quoted.str.slice(1, quoted.str.len_chars() - 2).str.replace_all('""', '"', literal=True)
        cells = cells.scatter(at, inner)
    return _Rows(cells, width, layout.data, layout.starts)


def _scan(source: Source, data: bytes, delimiter: str) -> _Rows:
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
            width = width or len(row)
            if len(row) != width:
                raise _ragged(source, line_of(data, begin), len(row), line_of(data, starts[0]), width)
            cells += row
            starts.append(begin)
        row, begin = [], at
    return _Rows(pl.Series("cell", cells, dtype=pl.String), width, data, np.array(starts))


def _ragged(source: Source, place: str, got: int, first: str, width: int) -> DataError:
    values = "value" if got == 1 else "values"
    return DataError(f"{source.path}, {place}: has {got} {values} where {first} has {width}")


def _content(source: Source) -> bytes:
    """The text as UTF-8 bytes with plain line ends, without a copy where the file has them already."""
    raw = source.content
    if raw.isascii() and b"\x00" not in raw and b"\r" not in raw:
        return raw
    return source.text.encode()


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


def _has_header(rows: _Rows, target: str | None) -> bool:
    """Whether the first row names the columns.

    It does when it holds the target, or counts the columns, or has a class's name among numbers, or is all words
    above a column of numbers, or is all words that do not occur below.
    """
    height = min(len(rows.starts), max(3, min(100, 10**6 // rows.width)))
    sample = rows.cells[: height * rows.width].fill_null("")
    first = sample[: rows.width].to_list()
    if target is not None and target in first:
        return True
    if target is not None and re.fullmatch(r"x[1-9]\d{0,8}", target) and int(target[1:]) <= rows.width:
        return False
    if rows.width > 3 and first in ([str(j + start) for j in range(rows.width)] for start in (0, 1)):
        return True
    missing = _grid(sample.is_in(MARKS), rows.width)
    number = _grid(sample.cast(pl.Float64, strict=False).is_not_null(), rows.width) & ~missing
    word = ~number[0] & ~missing[0]
    below = np.array(sample.to_list(), dtype=object).reshape(-1, rows.width)[1:]
    new = ~(below == np.array(first, dtype=object)).any(axis=0)
    if number[0].any():
        return any(new[j] and first[j].lower() in CLASS_NAMES for j in np.flatnonzero(word))
    if (word & (number | missing)[1:].all(axis=0) & number[1:].any(axis=0)).any():
        return True
    return bool(word.any() and new[word].all()) and all(first[j] == "" for j in np.flatnonzero(missing[0]))


def _grid(series: pl.Series, width: int) -> Mask:
    return np.asarray(series.to_numpy()).reshape(-1, width)


def _table(source: Source, names: Sequence[str], rows: _Rows, target: str | None) -> Table:
    """Classify each column as numeric or nominal."""
    values = rows.cells.cast(pl.Float64, strict=False)
    unread = values.is_null().arg_true()
    words = unread.filter(~rows.cells.gather(unread).fill_null("").is_in(MARKS)).to_numpy()
    count = np.bincount(words % rows.width, minlength=rows.width)
    numbers: Any = values.to_numpy().reshape(-1, rows.width)
    as_words = np.isin(names, list(target.words) if isinstance(target, Sought) else [])
    for j in np.flatnonzero((count > 0) & ~as_words).tolist():
        known = int(np.count_nonzero(~np.isnan(numbers[:, j])))
        if known >= _MOSTLY_NUMBERS * (known + count[j]) and j != find_target(source, names, target):
            first = int(words[words % rows.width == j][0])
            raise DataError(
                f"{source.path}, {rows.place(first // rows.width)}, column {quoted(names[j])}: "
                f"{quoted(rows.cells[first])} is not a number as nearly all of the column is"
            )
    nominal = take_columns(rows.cells, rows.width, np.flatnonzero((count > 0) | as_words).tolist())
    if nominal.width:
        nominal = nominal.select(pl.when(~pl.all().is_in(_WORD_MARKS)).then(pl.all()))
    return Table(source, names, numbers, {int(j): nominal.get_column(j) for j in nominal.columns}, rows.place)


reader = Reader("csv", (".csv", ".tsv", ".tab"), _recognizes, _read)
