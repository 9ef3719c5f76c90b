"""Samples with annotations beside measurements of genes: what the formats of expression data share."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.load import Sought
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.missing_marks import without_marks
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import CLASS_NAMES, Table, nearest
from tamis.data.parsing.text_table import ROW_NAME, columns_table, missing_marked

_LISTED = 10


def samples_dataset(
    source: Source,
    samples: Sequence[str],
    annotations: Mapping[str, Sequence[str | None]],
    genes: Sequence[str],
    values: Cells,
    target: str | None,
) -> Dataset:
    """The data set of samples; `values` has a row for each gene and a column for each sample.

    One annotation is the class. The others are no features, for they often give the class away.
    """
    if values.height == 0 or not samples:
        raise DataError(f"{source.path}: has no rows")
    body = missing_marked(source, values.transposed())
    features = columns_table(source, list(genes), body, Sought("\x00"))
    extra = dict(annotations)
    name = class_annotation(source, extra, target)
    if source.reading.labels:
        extra[ROW_NAME] = list(samples)
    kept = [each for each in extra if each in (name, ROW_NAME)]
    columns = {j: _words(extra[each]) for j, each in enumerate(kept)}
    table = Table(
        source,
        [*kept, *genes],
        np.hstack([np.full((len(samples), len(kept)), np.nan), features.numbers]),
        columns | {j + len(kept): column for j, column in features.nominal.items()},
        lambda row: f"sample {quoted(samples[row])}",
        text=True,
    )
    found = table.dataset(target if name is None else name)
    left_out = [each for each in annotations if each != name]
    if left_out:
        shown = ", ".join(map(quoted, left_out[:_LISTED])) + (", ..." if len(left_out) > _LISTED else "")
        source.notes.append(f"annotations of the samples are no features: {shown}")
    return found


def class_annotation(
    source: Source, annotations: Collection[str], target: str | None, *, linked: bool = True
) -> str | None:
    """The annotation that is the class; None when it is optional and absent.

    `linked` tells whether the classes could lie in a second file.
    """
    names = list(annotations)
    if isinstance(target, Sought) or target in names:
        return str(target) if target in names else None
    if target is None:
        usual = next((name for word in CLASS_NAMES for name in names if name.lower() == word), None)
        if usual is not None:
            return usual
    what = "no class is known" if target is None else f"no annotation is called {quoted(target)}"
    near = "" if target is None else nearest(target, names)
    shown = ", ".join(map(quoted, names[:_LISTED]))
    known = [f"--target names one of its annotations ({shown})"] if names else ["it has no annotations"]
    known += ["--labels names a file of classes"] if linked else []
    raise DataError(f"{source.path}: {what}; {near}{', '.join(known)}")


def _words(values: Sequence[str | None]) -> pl.Series:
    return without_marks(pl.Series(values, dtype=pl.String))
