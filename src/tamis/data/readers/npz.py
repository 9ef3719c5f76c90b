"""numpy archives: a table ``X`` with labels ``y``, whole or in parts, dense or as the arrays of CSR matrices.

The arrays, with PART one of train, valid and test, or nothing where the data has no official split:

========================================  ==========================================================
``X_PART``, ``PART_X``, ``X``             rows; ``..._x1000`` holds thousandths, ``..._x10000`` likewise
``PART_data/_indices/_indptr/_shape``     rows of a sparse matrix in CSR form, columns from 0
``y_PART``, ``PART_y``, ``y``             labels; a part without them is unlabelled
``feature_names``, ``class_names``        words; ``class_names[y]`` is the class when it is there
``is_probe``                              which columns are probes
========================================  ==========================================================
"""

import re
import warnings
import zipfile
from dataclasses import dataclass
from io import BytesIO
from math import prod
from typing import Any

import numpy as np

from tamis.base.errors import DataError
from tamis.base.types import Matrix
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.load import Sought
from tamis.data.parsing.matrices import (
    PARTS,
    as_floats,
    as_text,
    assemble,
    check_csr,
    check_numbers,
    numbered,
    own_target,
    tidy_labels,
)
from tamis.data.parsing.reader import Reader, Source

#: Other names of the official parts; ISOLET's fifth group of speakers is its official test set.
_PART_NAMES = {"val": "valid", "validation": "valid", "isolet1": "train", "isolet5": "test", "": ""}
_PART_NAMES |= {part: part for part in PARTS}
_KNOWN = "|".join(part for part in _PART_NAMES if part)

_FIELDS = ("data", "indices", "indptr", "shape")
_OTHER = f"(?:x10+|{'|'.join(_FIELDS)})$"
_TABLE = re.compile(rf"(?:x(?:_(?!{_OTHER})(?P<part>[a-z0-9]+))?|(?P<first>{_KNOWN})_x)(?:_x(?P<scale>10+))?", re.I)
_LABELS = re.compile(rf"y(?:_(?P<part>[a-z0-9]+))?|(?P<first>{_KNOWN})_y", re.I)
_SPARSE = re.compile(rf"(?:x_)?(?:(?P<part>[a-z0-9]+)_)??(?P<field>{'|'.join(_FIELDS)})", re.I)
_NO_PART = f"is of no known part of the data, which are {', '.join(PARTS)}"


@dataclass(frozen=True)
class _Archive:
    """A zip file of .npy files."""

    path: Any
    zip: zipfile.ZipFile

    @property
    def names(self) -> list[str]:
        return [name.removesuffix(".npy") for name in self.zip.namelist() if name.endswith(".npy")]

    def where(self, name: str) -> str:
        return f"{self.path}, array {name}"

    def get(self, name: str) -> np.ndarray:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                info = self.zip.getinfo(name + ".npy")
                with self.zip.open(info) as file:
                    shape, dtype = _header(file)
                if not dtype.hasobject:
                    # A damaged header may state any size; the zip file knows the true one.
                    if dtype.itemsize * prod(shape) > info.file_size:
                        raise EOFError
                    with self.zip.open(info) as file:
                        return np.lib.format.read_array(file, allow_pickle=False)
        except Exception:  # whatever a parser raises on damaged bytes
            raise DataError(f"{self.where(name)}: is damaged or cut short") from None
        raise DataError(f"{self.where(name)}: holds Python objects, which are not supported; save plain numbers")


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def _recognizes(source: Source) -> bool:
    return source.head.startswith(b"PK\x03\x04") and b".npy" in source.head


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, ("class", "y"), source.path)
    try:
        archive = _Archive(source.path, zipfile.ZipFile(BytesIO(source.content)))
    except Exception:  # as in `get`
        raise DataError(f"{source.path}: is not a numpy archive, or it is damaged or cut short") from None
    labels = _named_parts(archive, _LABELS)
    if not labels and not isinstance(target, Sought):
        raise DataError(f"{source.path}: holds no labels, which are an array y (or y_train, y_valid, y_test)")
    tables = _tables(archive)
    if not tables:
        raise DataError(f"{source.path}: holds no table, which is an array X (or X_train, X_valid, X_test)")
    if "" in tables and len(tables) > 1:
        raise DataError(f"{source.path}: holds both a whole table and parts of one")
    if strays := [name for part, name in labels.items() if part not in tables]:
        raise DataError(f"{source.path}: the labels {', '.join(strays)} belong to no table")
    parts: dict[str, tuple[Matrix, np.ndarray | None]] = {}
    for part in sorted(tables, key=("", *PARTS).index):
        X, y = tables[part], None
        if name := labels.get(part):
            y = _class_words(archive, tidy_labels(archive.get(name), X.shape[0], archive.where(name)))
        parts[part] = (X, y)
    known = {"feature_names": numbered(X.shape[1])} | _columns(archive, X.shape[1])
    if set(parts) == {""} and y is None:
        return unlabelled(as_floats(X), name=source.stem, **known)
    return assemble(parts, source.path, name=source.stem, **known)


def _named_parts(archive: _Archive, pattern: re.Pattern[str]) -> dict[str, str]:
    """The arrays whose names match the pattern, by part."""
    found: dict[str, str] = {}
    for name in archive.names:
        if (match := pattern.fullmatch(name)) is None:
            continue
        part = _PART_NAMES.get((match["part"] or match["first"] or "").lower())
        if part is None:
            raise DataError(f"{archive.where(name)}: {_NO_PART}")
        if part in found:
            raise DataError(f"{archive.path}: arrays {found[part]} and {name} mean the same part")
        found[part] = name
    return found


def _tables(archive: _Archive) -> dict[str, Matrix]:
    """Dense and sparse matrices by part."""
    tables: dict[str, Matrix] = {}
    for part, name in _named_parts(archive, _TABLE).items():
        X = check_numbers(archive.get(name), archive.where(name))
        match = _TABLE.fullmatch(name)
        tables[part] = as_floats(X) / int(match["scale"]) if match and match["scale"] else X
    for part, fields in _sparse_fields(archive).items():
        if part in tables:
            raise DataError(f"{archive.path}: holds the rows of {part or 'the table'} twice, dense and sparse")
        data, indices, indptr, shape = (archive.get(fields[field]) for field in _FIELDS)
        tables[part] = check_csr(data, indices, indptr, shape, archive.where(fields["data"]))
    return tables


def _sparse_fields(archive: _Archive) -> dict[str, dict[str, str]]:
    """The names of the arrays of each CSR matrix, by part and field."""
    found: dict[str, dict[str, str]] = {}
    for name in archive.names:
        if match := _SPARSE.fullmatch(name):
            found.setdefault((match["part"] or "").lower(), {})[match["field"].lower()] = name
    # Only `indptr` is the mark of a CSR matrix; `data` and `shape` may mean anything.
    found = {part: fields for part, fields in found.items() if "indptr" in fields}
    for part, fields in found.items():
        if part not in _PART_NAMES:
            raise DataError(f"{archive.where(fields['indptr'])}: {_NO_PART}")
        missing = [field for field in _FIELDS if field not in fields]
        if missing:
            raise DataError(f"{archive.path}: {fields['indptr']} is there without {' and '.join(missing)}")
    if "" in found and "format" in archive.names and archive.get("format").tolist() not in (b"csr", "csr"):
        raise DataError(f"{archive.where('format')}: a sparse matrix must be in CSR form")
    return {_PART_NAMES[part]: fields for part, fields in found.items()}


def _columns(archive: _Archive, count: int) -> dict[str, np.ndarray]:
    """Names and roles of the columns."""
    fields: tuple[str, ...] = ("feature_names", "is_probe")
    known = {name: archive.get(name) for name in fields if name in archive.names}
    for name, array in known.items():
        if array.shape != (count,):
            raise DataError(f"{archive.where(name)}: has shape {array.shape} for {count} columns")
    if "feature_names" in known:
        known["feature_names"] = as_text(known["feature_names"], archive.where("feature_names"))
        names, counts = np.unique(known["feature_names"], return_counts=True)
        if counts.max() > 1:
            raise DataError(f"{archive.where('feature_names')}: {str(names[counts.argmax()])!r} occurs twice or more")
    if "is_probe" in known:
        if known["is_probe"].dtype.kind not in "biu":
            raise DataError(f"{archive.where('is_probe')}: must hold true or false for each column")
        known["roles"] = np.where(known.pop("is_probe").astype(bool), "probe", "informative")
    return known


def _class_words(archive: _Archive, y: np.ndarray) -> np.ndarray:
    """``class_names[y]`` when the archive has class names, else `y`."""
    if "class_names" not in archive.names:
        return y
    words = as_text(archive.get("class_names"), archive.where("class_names"))
    if words.ndim != 1 or y.dtype.kind != "i" or y.min() < 0 or y.max() >= words.size:
        raise DataError(f"{archive.where('class_names')}: the labels are not numbers of its {words.size} words")
    named: np.ndarray = words[y]
    return named


reader = Reader("npz", (".npz",), _recognizes, _read)
