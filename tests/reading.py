"""What the tests of readers share: files put down and read, and a table's rows as plain values."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Reader, Source


def put(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    """The folder, made where it is missing, with these files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def put_challenge(folder: Path, name: str, data: Dataset, form: str = "dense") -> Path:
    """The folder, with a data set of classes -1 and +1 in it as challenge files."""
    split = np.full(data.n_rows, "train") if data.split is None else data.split
    rows = {**data.unlabelled} | {part: data.X[split == part] for part in np.unique(split)}
    files = {f"{name}_{part}.data": _challenge_rows(X, form) for part, X in rows.items()}
    for part in np.unique(split):
        files[f"{name}_{part}.labels"] = "".join(f"{label:+d}\n" for label in data.y[split == part])
    kind = {"dense": "non-sparse", "sparse": "sparse-integer", "binary": "sparse-binary"}[form]
    files[f"{name}.param"] = f"Data type: {kind}\nNumber of features: {data.n_features}\n"
    return put(folder, files)


def _challenge_rows(X: Any, form: str) -> str:
    """The text of a .data file."""
    X, lines = sp.csr_array(X), []
    for row in map(slice, X.indptr[:-1], X.indptr[1:]):
        words = dict(zip(X.indices[row].tolist(), map(repr, X.data[row].tolist()), strict=True))
        if form == "dense":
            words = {column: words.get(column, "0") for column in range(X.shape[1])}
        elif form == "sparse":
            words = {column: f"{column + 1}:{word}" for column, word in words.items()}
        else:
            words = {column: str(column + 1) for column in words}
        lines.append(" ".join(words.values()) + "\n")
    return "".join(lines)


def reads(reader: Reader, usual: str) -> Callable[..., Dataset]:
    """A function that writes content into a folder, under the usual name or another, and reads it."""

    def read(folder: Path, content: bytes | str, target: str | None = None, name: str = usual) -> Dataset:
        return reader.read(Source(put(folder, {name: content}) / name), target)

    return read


def rows_of(data: Dataset) -> list[tuple[object, ...]]:
    """The rows, with None where a value is missing."""
    if isinstance(data.X, pl.DataFrame):
        return data.X.rows()
    X = data.X.toarray() if data.is_sparse else data.X
    return [tuple(None if np.isnan(value) else value for value in row) for row in X.tolist()]
