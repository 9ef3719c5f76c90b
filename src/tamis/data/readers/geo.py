"""Series matrix files of the Gene Expression Omnibus: annotations of samples, then genes as rows.

An annotation is called as its line without ``!Sample_``; characteristics written ``tissue: liver`` are called
``tissue``. One of them can be the class.
"""

import csv
import re

import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.samples import samples_dataset

_TAKES = frozenset({"decimal", "na", "labels", "on"})
_BEGIN, _END = "!series_matrix_table_begin", "!series_matrix_table_end"
_CHARACTERISTIC = re.compile(r"([^:]{1,60}):\s*(.*)")


def _recognizes(source: Source) -> bool:
    return re.match(rb'(?:\xef\xbb\xbf)?\s*"?!(?:Series|Sample)_', source.head) is not None


def _read(source: Source, target: str | None) -> Dataset:
    lines = source.text.split("\n")
    begin = _line(source, lines, _BEGIN)
    end = _line(source, lines, _END)
    rows = list(csv.reader(lines[begin + 1 : end], delimiter="\t"))
    if len(rows) < 2:
        raise DataError(f"{source.path}: holds no values, as for series whose values lie in files of their own")
    samples, body = rows[0][1:], rows[1:]
    for number, row in enumerate(rows, start=begin + 2):
        if len(row) != len(samples) + 1:
            raise DataError(f"{source.path}, line {number}: has {len(row)} values for {len(samples)} samples")
    texts = pl.Series("cell", [value.strip() for row in body for value in row[1:]], dtype=pl.String)
    place = begin + 3
    return samples_dataset(
        source,
        samples,
        _annotations(lines[:begin], len(samples)),
        [row[0] for row in body],
        Cells(texts, len(samples), lambda row: f"line {place + row}", "\t"),
        target,
    )


def _line(source: Source, lines: list[str], mark: str) -> int:
    found = next((number for number, line in enumerate(lines) if line.strip().strip('"').lower() == mark), None)
    if found is None:
        raise DataError(f"{source.path}: has no line {mark}, so it is not a series matrix or is cut short")
    return found


def _annotations(lines: list[str], n_samples: int) -> dict[str, list[str | None]]:
    """What is known of each sample, by name; the same characteristic may stand on different lines."""
    found: dict[str, list[str | None]] = {}
    for row in csv.reader((line for line in lines if line.lstrip('"').startswith("!Sample_")), delimiter="\t"):
        name = row[0].removeprefix("!Sample_")
        if len(row) != n_samples + 1:
            continue
        for sample, value in enumerate(row[1:]):
            key, text = name, value.strip()
            if name.startswith("characteristics_ch") and (match := _CHARACTERISTIC.fullmatch(text)):
                key, text = match[1].strip(), match[2].strip()
            values = found.setdefault(key, [None] * n_samples)
            if text and values[sample] is None:
                values[sample] = text
    return found


reader = Reader("geo", ("_series_matrix.txt",), _recognizes, _read, _TAKES)
