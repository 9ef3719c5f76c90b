"""Orange's .tab: a table between tabs below three lines of names, types and flags.

Types are continuous, discrete, string and time, or their first letters and other names, or a list of values. Flags are
class, meta, ignore and weight, or their first letters, and ``key=value``. A discrete column is nominal also where its
values are numbers. What is ignored is left out, and so are weights and classes that are not wanted. Meta columns are
left out unless an option names them (``--text``, ``--keep``, ``--kinds``).
"""

from fnmatch import fnmatchcase

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.delimited_text import take_columns
from tamis.data.parsing.missing_marks import WORD_MARKS
from tamis.data.parsing.number_text import read_columns
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.table import Table, find_target
from tamis.data.parsing.text_table import missing_marked
from tamis.data.readers.csv import read_cells
from tamis.data.reading import Reading

_NUMBERS = ("continuous", "c", "numeric", "n")
_TYPES = (*_NUMBERS, "discrete", "d", "categorical", "string", "s", "text", "time", "t")
_FLAGS = {word: flag for flag in ("class", "meta", "ignore", "weight") for word in (flag, flag[0])}
#: Orange's own marks of a missing value beside the usual ones.
_MISSING = (*WORD_MARKS, "~", "*", ".")
_HEADER = 3
_TAKES = frozenset({"decimal", "na", "labels", "on"})


def _recognizes(source: Source) -> bool:
    """Whether the second line holds types and the third flags, and not letters that could be values."""
    at, lines = 0, []
    for _ in range(_HEADER):
        end = source.content.find(b"\n", at)
        lines.append(source.content[at : end if end >= 0 else None].decode("latin-1").strip("\r"))
        at = end + 1 or len(source.content)
    names, types, flags = ([cell.strip() for cell in line.split("\t")] for line in lines)
    if not 1 < len(names) == len(types) == len(flags):
        return False
    if not (all(map(_is_type, types)) and all(map(_are_flags, flags))):
        return False
    spelt = any(len(word) > 1 and word in (*_TYPES, *_FLAGS) for cell in (*types, *flags) for word in cell.split())
    return spelt or sum(cell != "" for cell in flags) == 1


def _is_type(cell: str) -> bool:
    return cell in _TYPES or " " in cell


def _are_flags(cell: str) -> bool:
    return all(word in _FLAGS or "=" in word for word in cell.split())


def _read(source: Source, target: str | None) -> Dataset:
    header = _cells(source)
    names = [name or f"x{number}" for number, name in enumerate(header.row(0), start=1)]
    flags = [{_FLAGS[word] for word in cell.split() if word in _FLAGS} for cell in header.row(2)]
    target = target or _class(source, names, flags)
    kept = _features(source, names, flags, target)
    body = _below(header, kept)
    if body.height == 0:
        raise DataError(f"{source.path}: has no rows")
    numeric = [cell in _NUMBERS for cell in header.row(1)]
    return _table(source, [names[j] for j in kept], [numeric[j] for j in kept], body, target).dataset(target)


def _cells(source: Source) -> Cells:
    """All cells; tabs divide them, whatever else is in the texts."""
    reading = Reading(encoding=source.reading.encoding, delimiter="tab")
    found = read_cells(Source(source.path, reading, source.notes))
    if found.height < _HEADER:
        raise DataError(f"{source.path}: has no rows below three lines of names, types and flags")
    return found


def _class(source: Source, names: list[str], flags: list[set[str]]) -> str | None:
    """The column with the flag class; None where there is none."""
    found = [name for name, own in zip(names, flags, strict=True) if "class" in own]
    if len(found) > 1:
        listed = ", ".join(map(quoted, found))
        raise DataError(f"{source.path}: {len(found)} columns have the flag class ({listed}); choose one with --target")
    return found[0] if found else None


def _features(source: Source, names: list[str], flags: list[set[str]], target: str | None) -> list[int]:
    """The columns to read; a note names the others."""
    reading = source.reading
    wanted = (*reading.text, *reading.keep, *reading.kinds)
    kept: list[int] = []
    lost: dict[str, list[str]] = {}
    for j, (name, own) in enumerate(zip(names, flags, strict=True)):
        named = isinstance(target, Sought) or any(name == one or fnmatchcase(name, one) for one in wanted)
        reason = next((flag for flag in ("ignore", "weight", "class", "meta") if flag in own), None)
        if reason is None or name == target or (reason == "meta" and named):
            kept.append(j)
        else:
            lost.setdefault(reason, []).append(name)
    for flag, gone in lost.items():
        listed = ", ".join(map(quoted, gone[:10])) + (", ..." if len(gone) > 10 else "")
        source.notes.append(f"columns with the flag {flag} are left out: {listed}")
    return kept


def _below(cells: Cells, kept: list[int]) -> Cells:
    """Some columns of the rows below the header; rows without any value are left out."""
    body = cells.below(_HEADER)
    filled = (body.texts.fill_null("") != "").to_numpy().reshape(-1, body.width)
    rows = np.flatnonzero(filled.any(axis=1))
    at = rows[:, None] * body.width + np.array(kept, dtype=np.intp)
    return Cells(body.texts.gather(at.ravel()), len(kept), lambda row: body.place(int(rows[row])))


def _table(source: Source, names: list[str], numeric: list[bool], body: Cells, target: str | None) -> Table:
    body = missing_marked(source, body)
    words = [j for j, number in enumerate(numeric) if not number]
    numbers, nominal = read_columns(source, names, body, label=find_target(source, names, target), words=words)
    texts = take_columns(body.texts, body.width, nominal)
    if texts.width:
        texts = texts.select(pl.when(~pl.all().is_in(_MISSING)).then(pl.all()))
    for j in (j for j in nominal if numeric[j]):
        wrong = (
            texts.get_column(str(j)).cast(pl.Float64, strict=False).is_null() & texts.get_column(str(j)).is_not_null()
        )
        if wrong.any():
            row = int(wrong.to_numpy().argmax())
            raise DataError(
                f"{source.path}, {body.place(row)}: {quoted(texts.get_column(str(j))[row])} is no number, and "
                f"{quoted(names[j])} is continuous; --na reads a spelling as missing"
            )
    return Table(source, names, numbers, {int(j): texts.get_column(j) for j in texts.columns}, body.place, text=True)


reader = Reader("orange", (".tab",), _recognizes, _read, _TAKES)
