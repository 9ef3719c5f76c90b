"""AnnData files (.h5ad): cells as rows, genes as columns; a column of ``obs`` is the class. Needs anndata."""

import re
import warnings
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.parsing.matrices import as_floats, check_numbers, tidy_csr
from tamis.data.parsing.missing_marks import without_marks
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.samples import class_annotation
from tamis.data.parsing.table import labelled

_MAGIC = b"\x89HDF"


def _read(source: Source, target: str | None) -> Dataset:
    held = _open(source)
    X = check_numbers(tidy_csr(sp.csr_array(held.X)) if sp.issparse(held.X) else np.asarray(held.X), str(source.path))
    X = as_floats(X)
    names = np.array(held.var_names.astype(str), dtype=str)
    known: dict[str, Any] = {"name": source.stem}
    name = class_annotation(source, [str(column) for column in held.obs.columns], target, linked=False)
    if name is None:
        return unlabelled(X, feature_names=names, target=str(target), **known)
    y, rows = labelled(source, name, _column(held.obs[name]), lambda row: f"row {row + 1}")
    left_out = [str(column) for column in held.obs.columns if str(column) != name]
    if left_out:
        source.notes.append(f"annotations of the rows are no features: {', '.join(map(quoted, left_out[:10]))}")
    return Dataset(X if rows is None else X[rows], y, names, target=name, **known)


def _open(source: Source) -> Any:
    try:
        import anndata
    except ImportError:
        raise DataError(f"{source.path}: to read .h5ad files, install anndata: pip install 'tamis[h5ad]'") from None
    if not source.content.startswith(_MAGIC):
        raise DataError(f"{source.path}: is not an AnnData file")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = anndata.read_h5ad(source.path)
    except Exception:  # of many types, from HDF5 and from anndata
        raise DataError(f"{source.path}: is a damaged AnnData file, or is packed") from None
    if held.X is None:
        raise DataError(f"{source.path}: holds no matrix X")
    return held


def _column(series: Any) -> Any:
    """An annotation as numbers, or as words with null where missing."""
    if series.dtype.kind in "iuf":
        return series.to_numpy(dtype=np.float64)
    words = pl.Series([None if value is None or value != value else str(value) for value in series], dtype=pl.String)
    return without_marks(words)


def _recognizes(source: Source) -> bool:
    return re.search(r"\.h5ad$", source.path.name, re.IGNORECASE) is not None


reader = Reader("h5ad", (".h5ad",), _recognizes, _read)
