"""Matrices in MATLAB's file formats 5 to 7, read with every size and type code checked.

``scipy.io.loadmat`` follows the codes of a damaged file out of its own tables and crashes the process. Only plain
matrices are decoded; a cell array or a structure is only named.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15

#: Type codes of stored numbers.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}

#: Classes of matrices: full ones by the type of their values, and the other kinds.
_FULL = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_SPARSE = 5
_OTHERS = {1: "a cell array", 2: "a structure", 3: "an object", 4: "text", 16: "a function", 17: "an object"}
_COMPLEX = 0x0800


class Columns(NamedTuple):
    """The CSC arrays of a sparse matrix, unchecked."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Other:
    """A variable that is not a plain matrix of real numbers."""

    kind: str


Variable = np.ndarray | Columns | Other


def read_mat5(content: bytes, names: tuple[str, ...]) -> dict[str, Variable]:
    """The variables of these names; ValueError or zlib.error when the file is damaged."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise ValueError("no byte order")
    found: dict[str, Variable] = {}
    for code, body in _elements(memoryview(content)[_HEADER:], order, padded=False):
        if code == _COMPRESSED:
            code, body = next(_elements(memoryview(zlib.decompress(body)), order), (0, memoryview(b"")))
        if code != _MATRIX:
            raise ValueError(f"type {code} instead of a matrix")
        name, value = _variable(body, order, names)
        if value is not None:
            found[name] = value
    return found


def _elements(data: memoryview, order: str, *, padded: bool = True) -> Iterator[tuple[int, memoryview]]:
    """Type code and bytes of each element. A compressed one is not padded to 8 bytes, the others are."""
    start = 0
    while start + 8 <= len(data):
        code, size = np.frombuffer(data[start : start + 8], dtype=f"{order}u4").tolist()
        start += 8
        if code >> 16:
            # Up to four bytes are stored in the tag itself.
            size, code, start = code >> 16, code & 0xFFFF, start - 4
            if size > 4:
                raise ValueError("a small element of more than four bytes")
            yield code, data[start : start + size]
            start += 4
            continue
        if start + size > len(data):
            raise ValueError("cut short")
        yield code, data[start : start + size]
        start += size if code == _COMPRESSED and not padded else -(-size // 8) * 8
    if bytes(data[start:]).strip(b"\x00"):
        raise ValueError("bytes left over")


def _variable(body: memoryview, order: str, names: tuple[str, ...]) -> tuple[str, Variable | None]:
    """Name and value of a matrix element; no value when its name is not among `names`."""
    parts = list(_elements(body, order))
    if len(parts) < 3 or len(parts[0][1]) != 8:
        raise ValueError("a matrix without flags, sizes and name")
    flags = int(_numbers(parts[0], order)[0])
    shape = tuple(_numbers(parts[1], order).tolist())
    name = bytes(parts[2][1]).decode("ascii", errors="replace")
    if name not in names:
        return name, None
    kind, values = flags & 0xFF, parts[3:]
    if kind in _OTHERS:
        return name, Other(_OTHERS[kind])
    if flags & _COMPLEX:
        return name, Other("complex")
    if kind == _SPARSE and len(values) == 3 and len(shape) == 2:
        rows, starts, data = (_numbers(value, order) for value in values)
        used = int(starts[-1]) if starts.size else 0
        return name, Columns(data[: max(used, 0)], rows[: max(used, 0)], starts, shape)
    if kind not in _FULL or len(values) != 1 or len(shape) < 2 or min(shape) < 0:
        raise ValueError("a matrix of an unknown kind")
    numbers = _numbers(values[0], order)
    if numbers.size != prod(shape):
        raise ValueError("a matrix with too few or too many values")
    return name, numbers.astype(_FULL[kind], copy=False).reshape(shape, order="F")


def _numbers(element: tuple[int, memoryview], order: str) -> np.ndarray:
    code, data = element
    if code not in _TYPES:
        raise ValueError(f"type {code} instead of numbers")
    return np.frombuffer(data, dtype=order + _TYPES[code]).astype(_TYPES[code])
