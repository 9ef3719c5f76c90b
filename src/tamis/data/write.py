"""Write a data set to a file that the loader reads back."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.csv_text import escaped
from tamis.data.dataset import Dataset
from tamis.data.selection_note import ARRAY, KEY, SelectionNote, write_beside
from tamis.kernels.temporary import partial_name


def write(dataset: Dataset, path: Path, *, note: SelectionNote | None = None) -> None:
    """Write a data set; the ending of the name decides the format.

    CSV and Parquet hold the features and the class column; .npz, for numbers only, also holds the mask of the probes
    and takes sparse data. The file appears complete or not at all.

    Parameters
    ----------
    dataset : Dataset
    path : Path
    note : SelectionNote, optional
        How the columns were selected with the classes, which whoever reads the file will be told
        (:mod:`tamis.data.selection_note`).
    """
    check_ending(path)
    suffixes = "".join(path.suffixes[-2:]).lower()
    with whole(path) as partial:
        if suffixes.endswith(".npz"):
            _write_npz(dataset, partial, note)
        elif suffixes.endswith(".parquet"):
            _frame(dataset).write_parquet(partial, metadata=None if note is None else {KEY: note.to_text()})
        else:
            frame = escaped(_frame(dataset))
            with partial.open("wb") as file:
                if suffixes.endswith(".gz"):
                    file.write(gzip.compress(frame.write_csv().encode(), compresslevel=6, mtime=0))
                else:
                    frame.write_csv(file)
    if not suffixes.endswith((".npz", ".parquet")):
        write_beside(path, note)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary file beside `path`, which replaces it on success and is deleted on failure."""
    partial = partial_name(path)
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or str(error).split(': ')[0]})") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file that appears complete or not at all."""
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8")


def check_ending(path: Path) -> None:
    """Refuse a name whose ending is not that of a format; callers check it before a long computation."""
    if not path.name.lower().endswith((".csv", ".csv.gz", ".parquet", ".npz")):
        raise DataError(f"{path}: the name must end in .csv, .csv.gz, .parquet or .npz")


def _frame(dataset: Dataset) -> pl.DataFrame:
    if dataset.is_sparse:
        raise DataError(f"{dataset.name}: is sparse; write it as .npz")
    X = dataset.X
    frame = X if isinstance(X, pl.DataFrame) else pl.DataFrame(X, schema=[str(n) for n in dataset.feature_names])
    return frame.with_columns(pl.Series(dataset.target, dataset.y))


def _write_npz(dataset: Dataset, path: Path, note: SelectionNote | None) -> None:
    if isinstance(dataset.X, pl.DataFrame):
        raise DataError(f"{dataset.name}: has nominal columns; write it as .csv or .parquet")
    arrays: dict[str, Any] = {"y": dataset.y, "feature_names": dataset.feature_names.astype(str)}
    if note is not None:
        arrays[ARRAY] = np.array(note.to_text())
    if dataset.probes is not None:
        arrays["is_probe"] = dataset.probes
    if dataset.is_sparse:
        arrays |= {field: getattr(dataset.X, field) for field in ("data", "indices", "indptr")}
        arrays["shape"] = np.array(dataset.X.shape)
    else:
        arrays["X"] = dataset.X
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
