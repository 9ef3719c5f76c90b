"""The sample sheet: a table that tells of each sample when it was taken and under which condition."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.base.types import FloatArray
from tamis.data.labels_file import read_sheet
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import nearest

#: Usual names of the columns, in any letter case; the first that is there is taken.
SAMPLE_NAMES = ("sample", "sample_id", "sampleid", "sample id", "sample name", "sample_name", "chip", "array")
TIME_NAMES = ("time", "timepoint", "time_point", "time point", "hours", "hour", "days", "day", "hpi")
CONDITION_NAMES = ("condition", "treatment", "class", "group", "state")

#: A time with its unit before or behind the number: 0.5h, 72 h, T24, day 3.
_TIME = re.compile(r"([a-z]*)[\s_]*([+-]?\d+(?:\.\d*)?|\.\d+)[\s_]*([a-z]*)", re.IGNORECASE)
_UNITS = {
    "h": ("h", "hr", "hrs", "hour", "hours", "hpi"),
    "min": ("m", "min", "mins", "minute", "minutes"),
    "d": ("d", "day", "days", "dpi"),
    "": ("", "t", "time", "tp"),
}


class SampleSheet(NamedTuple):
    """Samples in the order of the sheet, those without a time or a condition left out.

    `unit` is that of the times, if the sheet tells it; `incomplete` are the samples left out.
    """

    samples: list[str]
    times: FloatArray
    conditions: list[str]
    unit: str
    incomplete: list[str]


def read_sample_sheet(
    sheet: Source, *, sample: str | None = None, time: str | None = None, condition: str | None = None
) -> SampleSheet:
    """Read a sample sheet; the columns are found by their usual names where they are not given.

    A sample that is listed twice is refused.
    """
    frame = read_sheet(sheet)
    frame = frame.with_columns(pl.all().str.strip_chars())
    columns = {
        what: _column(sheet, frame.columns, given, usual, what)
        for what, given, usual in (
            ("sample", sample, SAMPLE_NAMES),
            ("time", time, TIME_NAMES),
            ("condition", condition, CONDITION_NAMES),
        )
    }
    frame = frame.select(pl.col(column).alias(what) for what, column in columns.items()).drop_nulls("sample")
    if frame.is_empty():
        raise DataError(f"{sheet.path}: names no sample")
    twice = frame.filter(pl.col("sample").is_duplicated())
    if twice.height:
        raise DataError(f"{sheet.path}: sample {quoted(twice['sample'][0])} is listed twice")
    full = frame.drop_nulls()
    times, unit = parse_times(full["time"].to_list(), f"{sheet.path}, column {quoted(columns['time'])}")
    # A column called hours or days holds plain numbers.
    word = columns["time"].lower()
    unit = unit or next((one for one, words in _UNITS.items() if one and word in words), "")
    incomplete = [name for name in frame["sample"].to_list() if name not in set(full["sample"])]
    return SampleSheet(full["sample"].to_list(), times, full["condition"].to_list(), unit, incomplete)


def parse_times(texts: Sequence[str], where: str) -> tuple[FloatArray, str]:
    """Times as numbers, and their unit, which must be the same for all.

    Examples
    --------
    >>> times, unit = parse_times(["0.5h", "2 h", "72 hours"], "sheet.csv")
    >>> times.tolist(), unit
    ([0.5, 2.0, 72.0], 'h')
    """
    times: list[float] = []
    units: dict[str, str] = {}
    for text in texts:
        match = _TIME.fullmatch(text.replace(",", ".").strip())
        words = {word.lower() for word in match.group(1, 3)} - set(_UNITS[""]) if match else set()
        unit = next((one for one, known in _UNITS.items() if words & set(known)), None) if words else ""
        if match is None or unit is None or len(words) > 1:
            raise DataError(f"{where}: {quoted(text)} is no time; times are numbers such as 0.5, 2h or day 3")
        times.append(float(match[2]))
        units.setdefault(unit, text)
    if len(units) > 1:
        first, second = list(units.values())[:2]
        raise DataError(f"{where}: {quoted(first)} and {quoted(second)} are in different units")
    return np.array(times), next(iter(units), "")


def _column(sheet: Source, names: Sequence[str], given: str | None, usual: Sequence[str], what: str) -> str:
    """The column that is given, or has a usual name; the first column has the samples where none does."""
    shown = ", ".join(map(quoted, names))
    if given is not None:
        if given not in names:
            raise DataError(
                f"{sheet.path}: no column is called {quoted(given)}; {nearest(given, names)}the columns are {shown}"
            )
        return given
    lower = {name.lower(): name for name in reversed(names)}
    found = next((lower[name] for name in usual if name in lower), None)
    if found is None and what == "sample":
        return names[0]
    if found is None:
        raise DataError(f"{sheet.path}: no column is called {what}; name it with --{what}; the columns are {shown}")
    return found
