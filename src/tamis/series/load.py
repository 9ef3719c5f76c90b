"""Loading time series: from a path or a name to items."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tamis.base.errors import DataError
from tamis.data.load import read as read_table
from tamis.data.named import data_folder
from tamis.data.parsing.matrices import PARTS
from tamis.data.parsing.reader import Source
from tamis.data.reading import Reading
from tamis.series.long_table import from_rows
from tamis.series.npz_file import read_npz
from tamis.series.planted import NAME, planted
from tamis.series.series import Layout, Series
from tamis.series.ts_file import read_ts

#: Folders within the folder of named data sets that hold series.
_FOLDERS = ("mts", "series", "")

#: Spellings of an official part behind the name of a data set.
_MARKS = [f"{mark}{part}" for part in PARTS for mark in ("_", "-", ".")]


def load(
    data: "str | os.PathLike[str] | Series",
    target: str | None = None,
    *,
    item: str | None = None,
    time: str | None = None,
    layout: Layout | None = None,
    reading: Reading | None = None,
) -> Series:
    """Load multivariate time series from a file or a name.

    Parameters
    ----------
    data : str, path or Series
        A ``.ts`` file of the UEA archive, an ``.npz`` archive with an array ``X`` of three dimensions, or a long table
        in any format that :func:`tamis.load` reads, with a row for each time point of each item; gzipped or not. Also
        ``FOLDER/NAME`` or ``NAME`` for the files ``NAME_TRAIN.ts`` and ``NAME_TEST.ts``, or ``NAME.npz``, the latter in
        the folder that the environment variable ``TAMIS_DATA`` names, or in its folder ``mts``; and "planted_series".
        A Series is returned unchanged.
    target : str, optional
        Of a long table: the column of classes or numbers, the same in all rows of an item.
    item, time : str, optional
        Of a long table: the column that tells items apart, and the one by which their rows are ordered. By default
        columns with usual names, such as ``item`` and ``time``; without any times the order of the file counts.
    layout : {"variables-time", "time-variables"}, optional
        Of an ``.npz`` archive: the last two axes. By default items, variables, time, as in the UEA archive.
    reading : Reading, optional
        How a table is to be read where the file does not tell.

    Returns
    -------
    Series

    Examples
    --------
    >>> from tamis.series import load
    >>> path = getfixture("tmp_path") / "walks.csv"
    >>> _ = path.write_text("item,time,foot,hand,class\\n1,0,5,1,walk\\n1,1,6,3,walk\\n2,0,0,2,rest\\n2,1,1,0,rest\\n")
    >>> walks = load(path)
    >>> walks.n_items, walks.variables.tolist(), walks.y.tolist()
    (2, ['foot', 'hand'], ['walk', 'rest'])
    """
    if isinstance(data, Series):
        return data
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"load takes a path, a name or a Series; got {type(data).__name__}")
    path = Path(data)
    if path.is_file():
        files = {"": path}
    elif path.is_dir():
        raise DataError(
            f"{path}: is a folder; name a file in it, or {path / 'NAME'} for NAME_TRAIN.ts and NAME_TEST.ts"
        )
    elif not (files := _files(path)):
        if data == NAME:
            return planted()
        raise DataError(f"{data}: is no file, and no NAME_TRAIN.ts or NAME.npz begins so, here or in TAMIS_DATA")
    table: dict[str, Any] = {"target": target, "item": item, "time": time}
    found = {part: _read(file, layout, reading or Reading(), table) for part, file in files.items()}
    return found[""] if "" in found else _joined(found, path.name)


def find(name: str) -> Series | None:
    """The series of that name, or None where there is none."""
    return load(name) if name == NAME or _files(Path(name)) else None


def _read(path: Path, layout: Layout | None, reading: Reading, table: dict[str, Any]) -> Series:
    source = Source(path, reading)
    kind = "table" if source.suffix not in (".ts", ".npz") else source.suffix
    others = {"--target": table["target"], "--item": table["item"], "--time": table["time"]} if kind != "table" else {}
    if kind != ".npz":
        others["--layout"] = layout
    if (lost := next((name for name, given in others.items() if given is not None), None)) is not None:
        raise DataError(f"{path}: {lost} is not for {'long tables' if kind == 'table' else f'{kind} files'}")
    if kind == ".ts":
        found = read_ts(source)
    elif kind == ".npz":
        found = read_npz(source, layout)
    else:
        rows = read_table(path, table["target"], reading)
        found = from_rows(rows, table["item"], table["time"])
        return replace(found, notes=(*found.notes, *rows.notes), task=reading.task)
    task = found.task if reading.task == "auto" else reading.task
    return replace(found, notes=(*found.notes, *source.notes), task=task)


def _files(path: Path) -> dict[str, Path]:
    """The files of a name, by official part or one under ""; none where nothing fits."""
    for base in _bases(path):
        parts: dict[str, Path] = {}
        for mark in _MARKS:
            for suffix in (".ts", ".ts.gz"):
                for word in (mark.upper(), mark):
                    file = base.with_name(f"{base.name}{word}{suffix}")
                    if file.is_file():
                        parts.setdefault(mark[1:], file)
        if "train" in parts:
            return parts
        for suffix in (".ts", ".ts.gz", ".npz"):
            file = base.with_name(base.name + suffix)
            if file.is_file():
                return {"": file}
    return {}


def _bases(path: Path) -> Iterator[Path]:
    if not path.name:
        return
    yield path
    folder = data_folder()
    if folder is not None and len(path.parts) == 1:
        yield from (folder / within / path.name for within in _FOLDERS)


def _joined(parts: dict[str, Series], name: str) -> Series:
    """Join the official parts of a data set."""
    first = next(iter(parts.values()))
    for part, own in parts.items():
        if own.n_variables != first.n_variables:
            raise DataError(f"{name}: {part} has {own.n_variables} variables, {next(iter(parts))} {first.n_variables}")
        if own.y is None:
            raise DataError(f"{name}: the items of {part} have no classes; read that file alone to predict them")
    return replace(
        first,
        items=tuple(item for own in parts.values() for item in own.items),
        y=np.concatenate([own.y for own in parts.values()]),
        split=np.repeat([*parts], [own.n_items for own in parts.values()]),
        name=name,
        notes=tuple(dict.fromkeys(note for own in parts.values() for note in own.notes)),
    )
