"""An expression matrix from a file and a sample sheet, or from a file that tells of its samples itself."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.data.load import Sought, load, read, reader_of
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.number_text import read_columns
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.text_table import ROW_NAME, missing_marked
from tamis.data.reading import Reading
from tamis.genes.expression import Expression
from tamis.genes.sample_sheet import CONDITION_NAMES, TIME_NAMES, SampleSheet, parse_times, read_sample_sheet

#: No annotation has this name.
_NOTHING = "\x00"

#: Ways of reading that change how the values are read, not which columns are features.
_TAKES = frozenset({"decimal", "na", "encoding", "delimiter", "transpose"})

#: Names that a note lists.
_LISTED = 5


class _Matrix(NamedTuple):
    """Genes as rows; `samples` are the names of the columns, and `others` names that are no samples."""

    values: FloatArray
    genes: list[str]
    samples: list[str]
    others: list[str]


def read_expression(
    data: "str | os.PathLike[str] | Dataset",
    samples: str | os.PathLike[str] | None = None,
    *,
    sample: str | None = None,
    time: str | None = None,
    condition: str | None = None,
    reading: Reading | None = None,
) -> Expression:
    """Read an expression matrix with the times and conditions of its samples.

    Parameters
    ----------
    data : path, name of a data set, or Dataset
        With a sample sheet: a table of text or Excel with a header, and the names of the genes in its first column; or
        with samples as rows and their names in the first column, which the names of the sheet decide; GCT; or a GEO
        series matrix. Columns that the sheet does not name are left out, with a note.
        Without one: anything that :func:`tamis.data.load.load` reads, with the condition as class, and the times in a
        column (or, in GCT, GEO and AnnData files, in an annotation).
    samples : path, optional
        The sample sheet: a table with a row for each sample. Samples without a time or a condition are left out, and so
        are those that `data` lacks, with notes.
    sample, time, condition : str, optional
        Columns of the sheet, or of `data`; by default those with usual names, such as "hours" and "treatment".
    reading : Reading, optional
        How the table is to be read where it does not tell.

    Returns
    -------
    Expression
        Genes of one name are numbered, with a note: "BRCA1", "BRCA1 (2)".

    Examples
    --------
    >>> from tamis.genes import read_expression
    >>> folder = getfixture("tmp_path")
    >>> _ = (folder / "genes.csv").write_text("gene,s1,s2\\nIFIT1,410,5200\\nACTB,300,310\\n")
    >>> _ = (folder / "samples.csv").write_text("sample,time,condition\\ns2,24h,infected\\ns1,24h,mock\\n")
    >>> data = read_expression(folder / "genes.csv", folder / "samples.csv")
    >>> data.genes.tolist(), data.conditions.tolist(), data.times.tolist(), data.unit
    (['IFIT1', 'ACTB'], ['mock', 'infected'], [24.0, 24.0], 'h')
    """
    reading = reading or Reading()
    if reading.labels is not None:
        raise DataError("--labels is not for expression over time; --samples names the sheet of times and conditions")
    others = [name for name in reading.given() if name not in _TAKES]
    if others:
        raise DataError(f"--{others[0]} is not for expression over time")
    if samples is None:
        return _annotated(data, time, condition, reading)
    if isinstance(data, Dataset):
        raise DataError(f"{data.name}: a sample sheet goes with a file, not with a data set")
    path = Path(data)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    source = Source(path, replace(reading, transpose=False))
    listed = Source(Path(samples), Reading(na=reading.na, encoding=reading.encoding))
    sheet = read_sample_sheet(listed, sample=sample, time=time, condition=condition)
    matrix = _matrix(source, listed.path, {*sheet.samples, *sheet.incomplete})
    return _joined(source, listed, sheet, matrix)


def _matrix(source: Source, sheet: Path, known: set[str]) -> _Matrix:
    reader = reader_of(source)
    if reader.cells is not None:
        return _of_text(source, reader.cells(source), sheet, known)
    if "labels" not in reader.takes:
        raise DataError(
            f"{source.path}: the samples of {reader.name} files have no names that a sheet could list; "
            "name their columns with --time and --condition"
        )
    return _of_samples(source, reader, sheet, known)


def _of_text(source: Source, cells: Cells, sheet: Path, known: set[str]) -> _Matrix:
    """The matrix of a table of text, turned so that genes are rows."""
    across, down = _stripped(cells.row(0)), _stripped(cells.texts.gather_every(cells.width).fill_null("").to_list())
    if len(known.intersection(down[1:])) > len(known.intersection(across[1:])):
        cells, across, down = cells.transposed(), down, across
    chosen = [j for j, name in enumerate(across) if j and name in known]
    if not chosen:
        _refuse_unknown(source, across[1:], sheet)
    body = missing_marked(source, cells.below(1))
    if body.height == 0:
        raise DataError(f"{source.path}: has no genes")
    places = (np.arange(body.height)[:, None] * body.width + chosen).ravel()
    own = replace(body, texts=body.texts.gather(places), width=len(chosen))
    names = [across[j] for j in chosen]
    numbers, nominal = read_columns(source, names, own, label=None, words=())
    if nominal:
        raise DataError(f"{source.path}: sample {quoted(names[nominal[0]])} holds words in place of intensities")
    others = [name for j, name in enumerate(across) if j and j not in set(chosen) and name]
    return _Matrix(np.asarray(numbers, dtype=np.float64), down[1:], names, others)


def _of_samples(source: Source, reader: Reader, sheet: Path, known: set[str]) -> _Matrix:
    """The matrix of a format that has genes as rows by its nature."""
    # That there are labels keeps the names of the samples.
    found = reader.read(replace(source, reading=replace(source.reading, labels=sheet)), Sought(_NOTHING))
    frame: pl.DataFrame = found.unlabelled[""]
    at = found.feature_names.tolist().index(ROW_NAME)
    names = _stripped(frame.to_series(at).cast(pl.String).fill_null("").to_list())
    rest = frame.drop(frame.columns[at])
    words = [name for name, dtype in rest.schema.items() if not dtype.is_numeric()]
    if words:
        raise DataError(f"{source.path}: gene {quoted(words[0])} holds words in place of intensities")
    chosen = [j for j, name in enumerate(names) if name in known]
    if not chosen:
        _refuse_unknown(source, names, sheet)
    genes = [name for j, name in enumerate(found.feature_names.tolist()) if j != at]
    values = rest[chosen].to_numpy().astype(np.float64).T
    others = [name for j, name in enumerate(names) if j not in set(chosen)]
    return _Matrix(values, genes, [names[j] for j in chosen], others)


def _joined(source: Source, listed: Source, sheet: SampleSheet, matrix: _Matrix) -> Expression:
    """The samples that the matrix and the sheet both have, in the order of the matrix."""
    twice = next((name for name, count in Counter(matrix.samples).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"{source.path}: sample {quoted(twice)} occurs twice")
    place = {name: number for number, name in enumerate(sheet.samples)}
    used = [j for j, name in enumerate(matrix.samples) if name in place]
    if not used:
        raise DataError(f"{listed.path}: no sample of {source.path} has both a time and a condition")
    rows = [place[matrix.samples[j]] for j in used]
    absent = [name for name in sheet.samples if name not in set(matrix.samples)]
    for names, what in (
        (sheet.incomplete, f"samples of {listed.path} without a time or a condition are left out"),
        (absent, f"samples of {listed.path} are not in {source.path}"),
        (matrix.others, f"columns of {source.path} that are no samples of {listed.path} are left out"),
    ):
        if names:
            source.notes.append(f"{what}: {_listed(names)}")
    genes = _distinct(matrix.genes, source.notes)
    return Expression(
        np.ascontiguousarray(matrix.values[:, used]),
        np.array(genes, dtype=str),
        np.array([matrix.samples[j] for j in used], dtype=str),
        sheet.times[rows],
        np.array([sheet.conditions[row] for row in rows], dtype=str),
        source.stem,
        sheet.unit,
        (*source.notes, *(f"{listed.path}: {note}" for note in listed.notes)),
    )


def _annotated(
    data: "str | os.PathLike[str] | Dataset", time: str | None, condition: str | None, reading: Reading
) -> Expression:
    """The matrix of a data set whose class is the condition, and whose times are a column or another annotation."""
    if isinstance(data, Dataset):
        return Expression.of_dataset(data, _time_column(data, time) or time or TIME_NAMES[0])
    is_file = Path(data).exists()

    def loaded(target: str | Sought | None) -> Dataset:
        # A file is read as it is: genes that are equal, or constant, are genes.
        own = read(Path(data), target, reading) if is_file else load(data, target, reading=reading)
        return replace(own, X=own.X.toarray()) if own.is_sparse else own

    usual = (Sought(name) for name in CONDITION_NAMES)
    found = loaded(condition) if condition is not None else next((d for t in usual if (d := loaded(t)).n_rows), None)
    if found is None:
        raise DataError(
            f"{data}: nothing tells the conditions of its samples: --samples names a sample sheet, or --condition a "
            "column"
        )
    column = _time_column(found, time)
    if column is None and is_file:
        annotation = time or next((name for name in TIME_NAMES if loaded(Sought(name)).n_rows), TIME_NAMES[0])
        texts = [f"{value:g}" if isinstance(value, float) else str(value) for value in loaded(annotation).y.tolist()]
        if len(texts) != found.n_rows:
            raise DataError(f"{data}: {found.n_rows} samples have a condition and {len(texts)} a time")
        times, unit = parse_times(texts, f"{data}, {quoted(annotation)}")
        timed = replace(
            found, X=np.column_stack([times, found.X]), feature_names=np.array(["\x00", *found.feature_names])
        )
        return replace(Expression.of_dataset(replace(timed, roles=None), "\x00"), unit=unit)
    return Expression.of_dataset(found, column or time or TIME_NAMES[0])


def _time_column(data: Dataset, time: str | None) -> str | None:
    """The column of times among the features; None where there is none."""
    names = {name.lower(): name for name in reversed(data.feature_names.astype(str).tolist())}
    if time is not None:
        return time if time in names.values() else None
    return next((names[name] for name in TIME_NAMES if name in names), None)


def _refuse_unknown(source: Source, names: Sequence[str], sheet: Path) -> None:
    first = quoted(names[0]) if names else "nothing"
    raise DataError(f"{source.path}: no row or column is a sample of {sheet} ({first} is not, for one)")


def _stripped(names: Sequence[str]) -> list[str]:
    return [name.strip() for name in names]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(quoted, names[:_LISTED])) + more


def _distinct(genes: Sequence[str], notes: list[str]) -> list[str]:
    """Names of genes that differ: later ones of the same name are numbered, as probes of one gene are."""
    counts = Counter(genes)
    again = [name for name, count in counts.items() if count > 1]
    if again:
        notes.append(f"names of several rows, which are numbered: {_listed(again)}")
    taken, seen, found = set(counts), Counter[str](), []
    for row, name in enumerate(genes, start=1):
        seen[name] += 1
        new = name or f"row {row}"
        while seen[name] > 1 and (new := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(new)
        found.append(new)
    return found
