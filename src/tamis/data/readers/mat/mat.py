"""MATLAB files: a matrix ``X``, dense or sparse, and a column ``Y`` (or ``y``) of labels."""

import warnings
from io import BytesIO
from typing import Any

import numpy as np

from tamis.base.errors import DataError
from tamis.base.types import Matrix
from tamis.data.dataset import Dataset
from tamis.data.parsing.matrices import (
    assemble,
    check_csr,
    check_numbers,
    check_size,
    is_sparse,
    own_target,
    tidy_labels,
)
from tamis.data.parsing.reader import Reader, Source
from tamis.data.readers.mat.mat5 import Columns, Other, Variable, read_mat5

_LABELS = ("Y", "y")


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, ("class", *_LABELS), source.path)
    variables = _variables(source)
    if all(name in variables for name in _LABELS):
        raise DataError(f"{source.path}: holds both Y and y, and the labels can be only one of them")
    X, in_x = _variable(variables, ("X",), source)
    y, in_y = _variable(variables, _LABELS, source)
    if isinstance(y, Columns):
        raise DataError(f"{in_y}: labels cannot be sparse; save full(Y)")
    if len(X.shape) != 2:
        raise DataError(f"{in_x}: has {len(X.shape)} dimensions, a table has 2 (rows and columns)")
    # Labels first: their number confirms the number of rows before memory is allocated for them.
    labels = tidy_labels(y, X.shape[0], in_y)
    return assemble({"": (_matrix(X, in_x), labels)}, source.path, name=source.stem)


def _variables(source: Source) -> dict[str, Variable]:
    """Those of X, Y and y that the file holds."""
    import scipy.io

    names = ("X", *_LABELS)
    try:
        file: Any = BytesIO(source.content)
        version, _ = scipy.io.matlab.matfile_version(file)
        if version == 1:
            return read_mat5(source.content, names)
        if version == 0:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = scipy.io.loadmat(file, variable_names=names)
            return {name: _columns(found[name]) for name in names if name in found}
    except Exception:  # whatever a parser raises on damaged bytes
        raise DataError(f"{source.path}: is not a MATLAB file, or it is damaged or cut short") from None
    raise DataError(f"{source.path}: is of MATLAB's version 7.3, which is not supported; save it with the option -v7")


def _columns(value: Any) -> Variable:
    if not is_sparse(value):
        return value if isinstance(value, np.ndarray) else Other("no matrix")
    value = value.tocsc()
    return Columns(value.data, value.indices, value.indptr, value.shape)


def _variable(variables: dict[str, Variable], names: tuple[str, ...], source: Source) -> tuple[Any, str]:
    """The variable of one of these names, and its place for messages."""
    name = next((name for name in names if name in variables), None)
    if name is None:
        raise DataError(f"{source.path}: holds no variable {' or '.join(names)}")
    value, where = variables[name], f"{source.path}, variable {name}"
    if isinstance(value, Other):
        raise DataError(f"{where}: is {value.kind}, expected a plain matrix of real numbers")
    return value, where


def _matrix(X: np.ndarray | Columns, where: str) -> Matrix:
    if not isinstance(X, Columns):
        return check_numbers(X, where)
    check_size(X.shape, where)
    # The CSC arrays of a matrix are the CSR arrays of its transpose.
    return check_csr(X.data, X.indices, X.indptr, np.array(X.shape[::-1]), where).T.tocsr()


_SIGNATURES = (b"MATLAB 5.0", b"MATLAB 7.3", b"\x89HDF")

reader = Reader("mat", (".mat",), lambda source: source.head.startswith(_SIGNATURES), _read)
