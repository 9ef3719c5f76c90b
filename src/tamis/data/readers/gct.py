"""GCT, the format of GenePattern and the Connectivity Map: genes as rows, samples as columns.

Version 1.2 has a name and a description for each gene. Version 1.3 has any number of annotations for genes and for
samples; one of the latter can be the class. Genes are called by the first column.
"""

import re

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.samples import samples_dataset

_TAKES = frozenset({"decimal", "na", "labels", "on"})
#: Lines above the table: the version, the sizes and the header.
_ABOVE = 3


def _recognizes(source: Source) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?#1\.[23]\s", source.head) is not None


def _read(source: Source, target: str | None) -> Dataset:
    lines = source.text.rstrip("\n").split("\n")
    version = lines[0].strip()
    if version not in ("#1.2", "#1.3"):
        raise DataError(f"{source.path}, line 1: is neither #1.2 nor #1.3, so it is not a GCT file")
    if len(lines) < _ABOVE:
        raise DataError(f"{source.path}: ends before its header")
    n_genes, n_samples, n_descriptions, n_annotations = _sizes(source, lines[1], version)
    rows = [line.split("\t") for line in lines[2:] if line.strip()]
    front = 1 + n_descriptions
    for number, row in enumerate(rows, start=_ABOVE):
        if len(row) != front + n_samples:
            raise DataError(
                f"{source.path}, line {number}: has {len(row)} value{'s' * (len(row) > 1)}, and line 2 states "
                f"{n_samples} samples behind {front}"
            )
    if len(rows) != 1 + n_annotations + n_genes:
        raise DataError(f"{source.path}, line 2: states {n_genes} genes and there are {len(rows) - 1 - n_annotations}")
    body = rows[1 + n_annotations :]
    texts = pl.Series("cell", [value.strip() for row in body for value in row[front:]], dtype=pl.String)
    first = _ABOVE + 1 + n_annotations
    return samples_dataset(
        source,
        rows[0][front:],
        {row[0]: row[front:] for row in rows[1 : 1 + n_annotations]},
        [row[0] for row in body],
        Cells(texts, n_samples, lambda row: f"line {first + row}", "\t"),
        target,
    )


def _sizes(source: Source, line: str, version: str) -> tuple[int, int, int, int]:
    """Numbers of genes, samples, descriptions of a gene and annotations of a sample."""
    words = line.split()
    wanted = 2 if version == "#1.2" else 4
    if len(words) < wanted or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words[:wanted]):
        raise DataError(f"{source.path}, line 2: must be the {wanted} sizes of the table")
    sizes = [int(word) for word in words[:wanted]]
    if not np.all(sizes[:2]):
        raise DataError(f"{source.path}: has no rows")
    return (sizes[0], sizes[1], 1, 0) if wanted == 2 else (sizes[0], sizes[1], sizes[2], sizes[3])


reader = Reader("gct", (".gct",), _recognizes, _read, _TAKES)
