"""From cells of text to a data set: the header, names of rows, and which columns are numbers."""

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.base.types import Mask
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.cells import TextRows
from tamis.data.parsing.missing_marks import WORD_MARKS, is_missing
from tamis.data.parsing.number_text import read_columns
from tamis.data.parsing.plain_numbers import PlainNumbers
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import CLASS_NAMES, Table, find_target

_Rows = TypeVar("_Rows", bound=TextRows)

#: The column of row names that the file itself does not name.
ROW_NAME = "row name"

#: What makes a first row look like values and not like names.
_NUMBER = r"^[<>]?[+\-\x{2212}]?\d+(?:[.,' \x{a0}]\d+)*(?:[eE][+-]?\d+)?(?: ?%)?$"
#: Marks that in a first row are no names either.
_HEADER_MARKS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "None", "-", ".")


def text_dataset(source: Source, cells: TextRows, target: str | None) -> Dataset:
    """The data set of a table of text whose first row may be a header.

    A first column without a name and with distinct values holds row names; it is left out of the features unless a
    second file needs it for the link. So is what was the header before the table was transposed.
    """
    names, body = named_columns(source, cells, target)
    return body_dataset(source, names, body, target)


def body_dataset(source: Source, names: list[str], body: TextRows, target: str | None) -> Dataset:
    """The data set of the rows below a header, as :func:`text_dataset`; a name is empty where the header has none."""
    nameless = [j for j, name in enumerate(names) if name == ""]
    words = target.words if isinstance(target, Sought) else ()
    body.keep([*nameless, *(j for j, name in enumerate(names) if name in words)])
    plain = PlainNumbers.of(body)
    if body.height == 0:
        raise DataError(f"{source.path}: has no rows")
    drop = _left_out(source, names, body, target)
    names = [name or f"x{number}" for number, name in enumerate(names, start=1)]
    if ROW_NAME in drop:
        names[0] = ROW_NAME
    found = columns_table(source, names, body, target, plain).dataset(target)
    keep = {found.target, *([ROW_NAME] if source.reading.labels else [])}
    drop = [name for name in drop if name not in keep]
    return found.without(*drop) if drop else found


def named_columns(source: Source, cells: _Rows, target: str | None) -> tuple[list[str], _Rows]:
    """Names of the columns, empty where the header has none, and the rows below the header."""
    if source.reading.transpose:
        cells = cells.transposed()
    if source.reading.transpose or has_header(cells, target):
        names, body = cells.row(0), missing_marked(source, cells.below(1))
        _refuse_title(source, names, cells, body)
        return names, body
    if cells.short_header:
        raise DataError(
            f"{source.path}, {cells.place(0)}: has {cells.width - 1} values where {cells.place(1)} has {cells.width}"
        )
    return [f"x{number}" for number in range(1, cells.width + 1)], missing_marked(source, cells)


def _refuse_title(source: Source, names: list[str], cells: TextRows, body: TextRows) -> None:
    """Refuse a first row that leaves columns without names above a row of words and rows of numbers."""
    nameless = [j for j, name in enumerate(names) if name == "" and j > 0]
    if nameless and len(body.top(2)) == 2 * body.width:
        (number, missing), below = _numbers_and_missing(pl.Series(body.row(0))), pl.Series(body.row(1))
        if not number.any() and not missing.any() and _numbers_and_missing(below)[0].any():
            raise DataError(
                f"{source.path}, {cells.place(0)}: names {len(names) - len(nameless)} of {len(names)} columns, like a "
                "title or merged cells; leave one line of names above the values"
            )


def missing_marked(source: Source, cells: _Rows) -> _Rows:
    """The cells with nothing in place of the spellings of missing that were given."""
    return cells.without([mark.strip() for mark in source.reading.na])


def columns_table(
    source: Source, names: Sequence[str], cells: TextRows, target: str | None, plain: PlainNumbers | None = None
) -> Table:
    """The table of named columns: which are numbers, and which are nominal; `plain` is what was read of them before."""
    at = find_target(source, names, target)
    asked = target.words if isinstance(target, Sought) else frozenset()
    as_words = [j for j, name in enumerate(names) if name in asked]
    numbers, nominal = read_columns(source, names, cells, label=at, words=as_words, plain=plain)
    texts = cells.columns(nominal)
    if texts.width:
        texts = texts.select(pl.when(~pl.all().is_in(WORD_MARKS)).then(pl.all()))
    words = {int(column.name): column for column in texts}
    return Table(source, names, numbers, words, cells.place, text=True, own=True)


def _left_out(source: Source, names: list[str], body: TextRows, target: str | None) -> list[str]:
    """The columns that are not features: row names, and what has neither a name nor values."""
    drop = []
    is_class = names[0] == target or (target is None and names[0].lower() in CLASS_NAMES)
    if (names[0] == "" or source.reading.transpose) and not is_class:
        first = body.columns([0]).to_series()
        distinct = first.n_unique() == body.height
        words = first.cast(pl.Float64, strict=False).null_count() == body.height
        if distinct and (words or names[0] == ""):
            drop.append(ROW_NAME)
            line = "row" if source.reading.transpose else "column"
            source.notes.append(f"the first {line} of the file names the rows and is left out")
    elif body.short_header:
        first = body.columns([0]).to_series()
        if first.equals(pl.Series(first.name, range(1, body.height + 1)).cast(pl.String)):
            drop.append(ROW_NAME)
            source.notes.append("the header is one name short: the numbers of the rows in front are left out")
        else:
            source.notes.append(f"the header is one name short: the first column is called {ROW_NAME!r}")
    for j, name in enumerate(names):
        if name == "" and j > 0 and (body.columns([j]).to_series().fill_null("") == "").all():
            drop.append(f"x{j + 1}")
    return drop


def header_rows(width: int) -> int:
    """How many rows of a width decide whether the first is a header."""
    return max(3, min(100, 10**6 // width))


def has_header(cells: TextRows, target: str | None) -> bool:
    """Whether the first row names the columns.

    It does when it holds the target, or counts the columns, or has a class's name among numbers, or is all words
    above a column of numbers, or is all words that do not occur below.
    """
    sample = cells.top(header_rows(cells.width)).fill_null("")
    first = sample[: cells.width].to_list()
    if target is not None and target in first:
        return True
    if target is not None and re.fullmatch(r"x[1-9]\d{0,8}", target) and int(target[1:]) <= cells.width:
        return False
    if cells.width > 3 and first in ([str(j + start) for j in range(cells.width)] for start in (0, 1)):
        return True
    number, missing = (_grid(each, cells.width) for each in _numbers_and_missing(sample))
    missing[0] = [name in _HEADER_MARKS for name in first]
    number[0] &= ~missing[0]
    word = ~number[0] & ~missing[0]

    def is_new(column: int) -> bool:
        return first[column] not in sample.gather_every(cells.width, column)[1:]

    if number[0].any():
        return any(first[j].lower() in CLASS_NAMES and is_new(j) for j in np.flatnonzero(word).tolist())
    if (word & (number | missing)[1:].all(axis=0) & number[1:].any(axis=0)).any():
        return True
    if any(first[j] != "" for j in np.flatnonzero(missing[0])):
        return False
    return bool(word.any()) and all(is_new(j) for j in np.flatnonzero(word).tolist())


def _numbers_and_missing(sample: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Which texts are numbers, written in any way, and which are missing values."""
    values = sample.cast(pl.Float64, strict=False)
    number, missing = values.is_not_nan().fill_null(False), values.is_nan().fill_null(False)
    at = values.is_null().arg_true()
    if len(at):
        rest = sample.gather(at)
        number, missing = number.scatter(at, rest.str.contains(_NUMBER)), missing.scatter(at, is_missing(rest))
    return number, missing


def _grid(series: pl.Series, width: int) -> Mask:
    return np.array(series.to_numpy()).reshape(-1, width)
