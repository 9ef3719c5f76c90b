"""Classes that lie in a second file, linked to the rows by a column or by their order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.load import Sought, reader_of
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.missing_marks import WORD_MARKS
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.table import CLASS_NAMES, check_names, labelled, nearest
from tamis.data.parsing.text_table import ROW_NAME, named_columns
from tamis.data.reading import Reading

#: No column has this name, so that the rows are read without a class.
_NO_CLASS = "\x00"


def read_with_labels(reader: Reader, source: Source, target: str | None) -> Dataset:
    """The data set of a file whose classes are in the file ``source.reading.labels``.

    The rows are linked by the column ``source.reading.on``, by default by the one column that both files have, or by
    the row names and the first column of the second file, or, where there is nothing to link them and both have as
    many rows, by their order.
    """
    words = target.words if isinstance(target, Sought) else frozenset()
    data = reader.read(source, Sought(_NO_CLASS, words))
    rows = data.unlabelled[""]
    second = Source(Path(str(source.reading.labels)), Reading(na=source.reading.na, encoding=source.reading.encoding))
    names, texts = _table(second, rows.shape[0], target)
    link = _link(source, second, data.feature_names.tolist(), names, rows.shape[0], target)
    name = _class(second, names, None if link is None else link[1], target)
    column = texts.get_column(str(names.index(name)))
    if name in data.feature_names:
        raise DataError(
            f"{source.path}: has a column {quoted(name)} as {second.path} has; name the class with --target"
        )
    if link is not None:
        keys = _keys(rows, data.feature_names, link[0])
        column = _linked(source, second, keys, texts.get_column(str(names.index(link[1]))), column)
    elif len(column) != rows.shape[0]:
        raise DataError(f"{second.path}: has {len(column)} classes for {rows.shape[0]} rows; name the link with --on")
    else:
        source.notes.append(f"the classes of {second.path} are linked by the order of the rows")
    y, some = labelled(source, name, column, lambda row: f"row {row + 1}")
    source.notes.extend(f"{second.path}: {note}" for note in second.notes)
    X = rows if some is None else rows[some]
    found = Dataset(X, y, data.feature_names, name=data.name, target=name)
    gone = [one for one in {*(link or ())[:1], ROW_NAME} if one in found.feature_names]
    return found.without(*gone) if gone else found


def _table(second: Source, n_rows: int, target: str | None) -> tuple[list[str], pl.DataFrame]:
    """Names and texts of the columns of the second file, which are named by their positions."""
    if not second.path.is_file():
        raise DataError(f"{second.path}: no such file")
    if (words := _one_column(second)) is not None:
        header = len(words) == n_rows + 1 or words[0] == target
        names, texts = ([words[0]], words[1:]) if header else (["class"], words)
        cells = Cells(pl.Series("cell", texts, dtype=pl.String), 1, lambda row: f"row {row + 1}")
    else:
        names, cells = _text_columns(second, target)
    return names, _frame(cells)


def read_sheet(sheet: Source) -> pl.DataFrame:
    """A table beside the data, such as one of samples, as texts under the names of its columns; null where missing."""
    if not sheet.path.is_file():
        raise DataError(f"{sheet.path}: no such file")
    names, cells = _text_columns(sheet, None)
    check_names(sheet, names)
    return _frame(cells).rename(dict(zip(map(str, range(cells.width)), names, strict=True)))


def _text_columns(second: Source, target: str | None) -> tuple[list[str], Cells]:
    """Names and cells of a second file, which is a table of text."""
    reader = reader_of(second)
    if reader.cells is None:
        raise DataError(f"{second.path}: is a {reader.name} file; labels are read from text or .xlsx")
    found, cells = named_columns(second, reader.cells(second), target)
    return [name or f"x{number}" for number, name in enumerate(found, start=1)], cells


def _frame(cells: Cells) -> pl.DataFrame:
    """The texts as columns named by their positions, null where missing."""
    frame = pl.DataFrame([cells.texts.gather_every(cells.width, j).alias(str(j)) for j in range(cells.width)])
    return frame.select(pl.when(~pl.all().is_in(WORD_MARKS)).then(pl.all()))


def _one_column(second: Source) -> list[str] | None:
    """The lines of a text without any delimiter."""
    if second.content.startswith(b"PK\x03\x04"):
        return None
    lines = [line.strip().strip('"') for line in second.text.split("\n") if line.strip()]
    return None if any(mark in line for line in lines for mark in "\t;|, ") else lines


def _link(
    source: Source, second: Source, features: Sequence[str], names: Sequence[str], n_rows: int, target: str | None
) -> tuple[str, str] | None:
    """The names of the linking column in both files; None when the order links them."""
    on = source.reading.on
    if on is not None:
        mine = on if on in features else ROW_NAME
        for path, columns, wanted in ((second.path, names, on), (source.path, features, mine)):
            if wanted not in columns:
                near = nearest(on, columns)
                raise DataError(f"{path}: no column is called {quoted(on)}; {near}--on names the link")
        return mine, on
    known = set(features)
    shared = [name for name in names if name in known and name != target]
    if len(shared) == 1:
        return shared[0], shared[0]
    if len(shared) > 1:
        raise DataError(f"{second.path}: shares {_listed(shared)} with {source.path}; name the link with --on")
    first = next((name for name in names if name != target), None)
    if ROW_NAME in known and first is not None and len(names) > 1:
        return ROW_NAME, first
    return None


def _class(second: Source, names: Sequence[str], link: str | None, target: str | None) -> str:
    """The column of classes."""
    if target is not None and str(target) in names:
        return str(target)
    others = [name for name in names if name != link]
    if target is None or isinstance(target, Sought):
        usual = [name for word in CLASS_NAMES for name in others if name.lower() == word]
        if usual or len(others) == 1:
            return [*usual, *others][0]
        raise DataError(f"{second.path}: has columns {_listed(others)}; name the class with --target")
    near = nearest(target, others)
    raise DataError(f"{second.path}: no column is called {quoted(target)}; {near}the columns are {_listed(others)}")


def _keys(rows: Any, features: np.ndarray, name: str) -> pl.Series:
    at = int(np.flatnonzero(features == name)[0])
    column = rows.to_series(at) if isinstance(rows, pl.DataFrame) else pl.Series(np.asarray(rows[:, at]).ravel())
    return column.cast(pl.String)


def _plain(keys: pl.Series) -> pl.Series:
    """Keys in one spelling: 7, 7.0 and 007 are one."""
    keys = keys.cast(pl.String).str.strip_chars()
    number = keys.cast(pl.Float64, strict=False)
    whole = number.is_not_null() & (number == number.round()) & (number.abs() < 2**53)
    return number.cast(pl.Int64, strict=False).cast(pl.String).zip_with(whole.fill_null(False), keys)


def _linked(source: Source, second: Source, mine: pl.Series, other: pl.Series, column: pl.Series) -> pl.Series:
    """The column of the second file in the order of the rows of the first; null where there is no such row."""
    table = pl.DataFrame({"key": _plain(other), "label": column}).drop_nulls("key")
    twice = table.filter(pl.col("key").is_duplicated())
    if twice.height:
        raise DataError(f"{second.path}: {quoted(twice['key'][0])} occurs twice in the column that links it")
    keys = _plain(mine)
    label = dict(zip(table["key"].to_list(), table["label"].to_list(), strict=True))
    found = pl.Series([label.get(key) for key in keys], dtype=pl.String)
    if found.null_count() == len(found):
        raise DataError(
            f"{source.path}: none of its rows is in {second.path} ({quoted(str(mine[0]))} is not, for one); "
            "name the link with --on"
        )
    strange = len(label.keys() - set(keys))
    if strange:
        rows = "row of {} has" if strange == 1 else "rows of {} have"
        source.notes.append(f"{strange} {rows.format(second.path)} no row in {source.path}")
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
