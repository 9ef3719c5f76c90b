"""JSON lines, one object a row, plain or gzipped; also a JSON file that is one list of objects.

The keys are the columns, in the order in which they first occur; a key that an object lacks is missing there, as null
is. Values are numbers, text, true and false, and are read as in other tables of text: a column of text in which all
values look like numbers is numeric, and the usual spellings of missing count. Nested values are refused.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, TamisError, quoted
from tamis.data.dataset import Dataset
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.counted_cells import CountedCells
from tamis.data.parsing.counted_column import text_columns
from tamis.data.parsing.growing import GrowingArray
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.text_stream import text_blocks
from tamis.data.parsing.text_table import columns_table, missing_marked

_TAKES = frozenset({"decimal", "na", "labels", "on"})
_LIST = re.compile(rb"\[\s*(?:\{|\]?\s*$)")
#: Half a character, which no text can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")

#: Bytes that tell whether it is a list, and characters of a file that is read in batches.
_HEAD_BYTES, _BATCH = 1 << 12, 1 << 22


def _read(source: Source, target: str | None) -> Dataset:
    names, cells = _table(source)
    return columns_table(source, names, missing_marked(source, cells), target).dataset(target)


def read_cells(source: Source) -> Cells:
    """The values of the objects, below a row of their keys."""
    names, cells = _table(source)
    texts = pl.concat([pl.Series("cell", names, dtype=pl.String), cells.texts])
    return Cells(texts, cells.width, lambda row: cells.place(row - 1) if row else "the keys")


def _recognizes(source: Source) -> bool:
    """Whether the first line is a JSON object, or a list of objects begins."""
    content = source.content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not content.startswith(b"{"):
        return _LIST.match(content) is not None
    try:
        return isinstance(json.loads(content.partition(b"\n")[0]), dict)
    except (ValueError, RecursionError):
        return False


def _table(source: Source) -> tuple[list[str], Cells]:
    """The keys, and the values of all objects as text."""
    places: list[str] = []
    rows: list[dict[str, str | None]] = []
    for place, found in _listed(source) if source.text.lstrip().startswith("[") else _lines(source, source.text):
        rows.append(_row(found, f"{source.path}, {place}"))
        places.append(place)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if not keys:
        raise DataError(f"{source.path}: its objects have no keys, so there are no columns")
    return _named(keys), Cells(_stripped(rows, keys), len(keys), places.__getitem__)


def _counted(source: Source, target: str | None) -> Dataset | None:
    """The data set with the words of its texts counted batch by batch; None for a list, or where a text comes late."""
    if source.beginning(_HEAD_BYTES).content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        return None
    keys: dict[str, None] = {}
    counted, columns = CountedCells([]), list[int]()
    numbers = GrowingArray(np.int64)

    def place(row: int) -> str:
        return f"line {numbers.values[row]}"

    for lines, rows in _batches(source):
        keys |= dict.fromkeys(key for row in rows for key in row)
        try:
            found = text_columns(source, _named(keys), target)
        except TamisError:
            return None
        if not numbers.values.size:
            columns, counted = found, CountedCells(found)
        if found != columns or not found:
            return None
        numbers.extend(np.array(lines))
        cells = missing_marked(source, Cells(_stripped(rows, keys), len(keys), place))
        counted.add(cells.texts, cells.width)
    if not columns:
        return None
    names = _named(keys)
    data = columns_table(source, names, counted.cells(place), target).dataset(target)
    words = counted.finish()
    return replace(data, counted={names[j]: words[j] for j in columns})


def _batches(source: Source) -> Iterator[tuple[list[int], list[dict[str, str | None]]]]:
    """Numbers of some lines, and their objects, until all are read."""
    pending, above = "", 0
    for block in chain(text_blocks(source, _BATCH), ["\n"]):
        lines, line_end, pending = (pending + block).rpartition("\n")
        found = [(int(place[5:]), _row(one, f"{source.path}, {place}")) for place, one in _lines(source, lines, above)]
        above += lines.count("\n") + len(line_end)
        if found:
            yield [number for number, _ in found], [row for _, row in found]


def _row(found: Any, where: str) -> dict[str, str | None]:
    """The values of an object as text."""
    if not isinstance(found, dict):
        raise DataError(f'{where}: is no object, and a row is one, such as {{"text": "...", "label": "a"}}')
    return {_whole(key): _text(value, key, where) for key, value in found.items()}


def _named(keys: Iterable[str]) -> list[str]:
    return [key or f"x{number}" for number, key in enumerate(keys, start=1)]


def _stripped(rows: Sequence[Mapping[str, str | None]], keys: Iterable[str]) -> pl.Series:
    """The values of all keys, row after row, null where a row lacks the key."""
    keys = list(keys)
    return pl.Series("cell", [row.get(key) for row in rows for key in keys], dtype=pl.String).str.strip_chars()


def _lines(source: Source, text: str, above: int = 0) -> Iterator[tuple[str, Any]]:
    """What each line holds that is not blank, and its place below some lines."""
    for number, line in enumerate(text.split("\n"), start=above + 1):
        if line.strip():
            yield f"line {number}", _parsed(source, line, number)


def _listed(source: Source) -> Iterator[tuple[str, Any]]:
    """What one list holds, and the places."""
    found = _parsed(source, source.text, 1)
    if not found:
        raise DataError(f"{source.path}: is an empty list")
    yield from ((f"object {number}", one) for number, one in enumerate(found, start=1))


def _parsed(source: Source, text: str, first: int) -> Any:
    """The value of a text that begins on the line `first`."""
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        place = f"line {first + error.lineno - 1}, column {error.colno}"
        raise DataError(f"{source.path}, {place}: is not JSON, or is cut short ({error.msg})") from None
    except _TwiceError as twice:
        raise DataError(f"{source.path}, line {first}: an object has the key {quoted(str(twice))} twice") from None
    except (ValueError, RecursionError):
        raise DataError(f"{source.path}, line {first}: holds a number that is too long, or too many lists") from None


class _TwiceError(Exception):
    """A key that an object has twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _TwiceError(next(key for key in keys if keys.count(key) > 1))
    return found


def _text(value: Any, key: str, where: str) -> str | None:
    """A value as text; nested values are refused."""
    if isinstance(value, dict | list):
        kind = "an object" if isinstance(value, dict) else "a list"
        raise DataError(f"{where}: {quoted(key)} is {kind}; values must be numbers, text, true, false or null")
    if value is None or isinstance(value, str):
        return None if value is None else _whole(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _whole(text: str) -> str:
    """The text with a mark in place of half characters, which escapes such as ``\\ud800`` can make."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


reader = Reader("jsonl", (".jsonl", ".ndjson", ".json"), _recognizes, _read, _TAKES, read_cells, counted=_counted)
