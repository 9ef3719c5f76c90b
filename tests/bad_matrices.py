"""Malformed matrix files: what is wrong with each, and a piece of the sentence that must say so.

`BAD_MATRICES` lists single files as (case, file name, content, piece of the message), `BAD_CHALLENGES` folders of
challenge files as (case, files, piece of the message).
"""

import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

X = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 5.0, 6.0]])
Y = np.array([1, 2, 1, 2])
S = sp.csr_array(X)


def packed(save: Callable[..., Any] = np.savez, /, **arrays: Any) -> bytes:
    """The bytes of a numpy archive."""
    file = BytesIO()
    save(file, **arrays)
    return file.getvalue()


def quadruple(part: str = "train", **changed: Any) -> dict[str, Any]:
    """The four arrays of the matrix S in CSR form, some of them changed."""
    fields = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)} | changed
    return {f"{part}_{field}": array for field, array in fields.items()}


def matlab(variables: dict[str, Any], **options: Any) -> bytes:
    """The bytes of a MATLAB file."""
    file = BytesIO()
    scipy.io.savemat(file, variables, **options)
    return file.getvalue()


def _lying_header() -> bytes:
    """An archive whose array X says that it has a million million rows."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 3), }"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + X.tobytes()
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("X.npy", array)
        archive.writestr("y.npy", b"")
    return file.getvalue()


def _sparse_matlab(*, rows: int | None = None, index: int | None = None) -> bytes:
    """A MATLAB file with a sparse X in which one number was changed."""
    content = bytearray(matlab({"X": sp.csc_array(X), "Y": Y[:, None]}))
    # Header 128, tag 8, flags 16, tag of the sizes 8; then the sizes, the small name, and the row numbers.
    if rows is not None:
        content[160:164] = struct.pack("<i", rows)
    if index is not None:
        content[184:188] = struct.pack("<i", index)
    return bytes(content)


_SCIPY = BytesIO()
sp.save_npz(_SCIPY, S)

_SVMLIGHT = [
    ("index 0", b"1 1:2\n-1 0:3 2:1\n", "line 2: index 0, but indices start at 1"),
    ("decreasing indices", b"1 1:2\n-1 5:3 2:1\n", "line 2: index 2 follows 5, but indices must increase"),
    ("repeated index", b"1 1:2 1:3\n", "line 1: index 1 occurs twice"),
    ("absurd index", b"1 1:2\n1 99999999999:1\n", "line 2: index '99999999999' is past"),
    ("negative index", b"1 -4:2\n", "line 1: index '-4' is not a whole number"),
    ("index with a fraction", b"1 1.5:2\n", "line 1: index '1.5' is not a whole number"),
    ("word for a value", b"1 1:2\n\n-1 1:two\n", "line 3: value 'two' of index 1 is not a number"),
    ("NaN for a value", b"1 1:nan\n", "line 1: value 'nan' of index 1 is not a number"),
    ("no value", b"1 1: 2:3\n", "line 1: value '' of index 1 is not a number"),
    ("infinite value", b"1 1:inf\n", "line 1: value 'inf' of index 1 is infinite"),
    ("value that overflows", b"1 1:1e999\n", "line 1: value '1e999' of index 1 is too large"),
    ("digits apart by _", b"1 1:1_000\n", "line 1: value '1_000' of index 1 is not a number"),
    ("no label", b"1 1:2\n1:2 2:3\n", "line 2: starts with '1:2', the label before it is missing"),
    ("label is a word", b"yes 1:2\n", "line 1: label 'yes' is not a number"),
    ("several labels", b"1 1:1\n1,3 1:2\n", "line 2: has several labels"),
    ("no colon", b"1 1:2 7\n", "line 1: '7' is not of the form index:value"),
    ("cut in the middle", b"1 1:2 2:3\n-1 1:2 2", "line 2: '2' is not of the form index:value"),
    ("qid on some lines", b"1 qid:1 1:2\n2 1:2\n", "line 2: some lines have a qid"),
    ("qid not a number", b"1 qid:a 1:2\n", "line 1: qid 'a' is not a whole number"),
    ("labels alone", b"1\n-1\n", "holds no index:value pair"),
    ("comments alone", b"# nothing\n", "holds no index:value pair"),
    ("NUL byte", b"1 1:2\n\x00 1:3\n", "line 2: contains a NUL byte"),
    ("no 8-bit text", b"1 1:2 # caf\x81\n", "line 1: is not UTF-8"),
    ("blank", b" \n\n", "is empty"),
]

_NPZ = [
    ("not a zip file", b"binary junk", "not a numpy archive"),
    ("cut in the middle", packed(X=X, y=Y)[:300], "not a numpy archive"),
    (
        "changed byte",
        packed(X=X, y=Y).replace(struct.pack("<d", 2.5), struct.pack("<d", 3.5), 1),
        "array X: is damaged",
    ),
    ("header that lies", _lying_header(), "array X: is damaged or cut short"),
    ("Python objects", packed(X=X.astype(object), y=Y), "array X: holds Python objects"),
    (
        "objects for labels",
        packed(X=X, y=np.array(["a", None, "b", "c"], dtype=object)),
        "array y: holds Python objects",
    ),
    ("time series", packed(X=np.zeros((4, 2, 5)), y=Y), "array X: has 3 dimensions"),
    ("matrix of scipy", _SCIPY.getvalue(), "holds no labels"),
    ("no table", packed(y=Y), "holds no table"),
    ("unknown part", packed(X_july=X, y_july=Y), "of no known part"),
    ("two names for a part", packed(X_val=X, X_valid=X, y_valid=Y), "X_val and X_valid mean the same part"),
    ("whole and parts", packed(X=X, X_train=X, y=Y, y_train=Y), "both a whole table and parts"),
    ("wrong label count", packed(X=X, y=Y[:3]), "array y: 3 labels for 4 rows"),
    ("one-hot labels", packed(X=X, y=np.eye(4)), "array y: labels must be one column"),
    ("missing label", packed(X=X, y=np.array([1.0, np.nan, 2.0, 2.0])), "array y: the label of row 2 is missing"),
    ("empty label", packed(X=X, y=np.array(["a", "b", "", "b"])), "array y: the label of row 3 is empty"),
    ("labels of no table", packed(X_train=X, y_train=Y, y_test=Y), "y_test belong to no table"),
    ("infinite value", packed(X=np.where(X == 3, np.inf, X), y=Y), "array X: holds an infinite value"),
    ("words for values", packed(X=X.astype(str), y=Y), "array X: holds values of type <U32"),
    ("complex values", packed(X=X.astype(complex), y=Y), "array X: holds values of type complex128"),
    ("no rows", packed(X=X[:0], y=Y[:0]), "array X: has 0 rows and 3 columns"),
    ("no columns", packed(X=X[:, :0], y=Y), "array X: has 4 rows and 0 columns"),
    ("parts of two widths", packed(X_train=X, y_train=Y, X_test=X[:, 1:]), "train has 3 columns and test has 2"),
    ("words and numbers", packed(X_train=X, y_train=Y, X_test=X, y_test=Y.astype(str)), "words in one part"),
    ("too few names", packed(X=X, y=Y, feature_names=np.array(["a", "b"])), "array feature_names: has shape (2,)"),
    ("repeated names", packed(X=X, y=Y, feature_names=np.array(["a", "b", "a"])), "'a' occurs twice"),
    ("too few class names", packed(X=X, y=Y, class_names=np.array(["a", "b"])), "not numbers of its 2 words"),
    ("probes of another size", packed(X=X, y=Y, is_probe=np.zeros(2, dtype=bool)), "array is_probe: has shape (2,)"),
    ("CSR index past the end", packed(y_train=Y, **quadruple(indices=S.indices + 1)), "index 3 is outside 0 to 2"),
    ("CSR index below 0", packed(y_train=Y, **quadruple(indices=S.indices - 1)), "index -1 is outside 0 to 2"),
    ("CSR indptr falls", packed(y_train=Y, **quadruple(indptr=np.array([0, 3, 2, 4, 6]))), "indptr must rise"),
    ("CSR indptr short", packed(y_train=Y, **quadruple(indptr=S.indptr[:-1])), "indptr has 4 entries"),
    ("CSR data short", packed(y_train=Y, **quadruple(data=S.data[1:])), "5 values for 6 column indices"),
    ("CSR of absurd width", packed(y_train=Y, **quadruple(shape=np.array([4, 10**12]))), "more than the 16777216"),
    (
        "CSR without shape",
        packed(y_train=Y, **{k: v for k, v in quadruple().items() if "shape" not in k}),
        "without shape",
    ),
]

_MATLAB = [
    ("binary junk", bytes(range(256)), "not a MATLAB file"),
    ("cut in the middle", matlab({"X": X, "Y": Y[:, None]})[:250], "damaged or cut short"),
    ("cut when compressed", matlab({"X": X, "Y": Y[:, None]}, do_compression=True)[:190], "damaged or cut short"),
    ("version 7.3", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n", "option -v7"),
    ("no X", matlab({"Z": X, "Y": Y[:, None]}), "holds no variable X"),
    ("no Y", matlab({"X": X}), "holds no variable Y or y"),
    ("both Y and y", matlab({"X": X, "Y": Y, "y": Y}), "both Y and y"),
    ("wrong label count", matlab({"X": X, "Y": Y[:3, None]}), "variable Y: 3 labels for 4 rows"),
    ("labels in two columns", matlab({"X": X, "Y": np.ones((4, 2))}), "variable Y: labels must be one column"),
    ("cell array", matlab({"X": X, "Y": np.array(["a", "b", "a", "b"], dtype=object)}), "variable Y: is a cell array"),
    ("structure", matlab({"X": {"a": X}, "Y": Y[:, None]}), "variable X: is a structure"),
    ("text for labels", matlab({"X": X, "Y": np.array(["a", "b", "a", "b"])}), "variable Y: is text"),
    ("complex values", matlab({"X": X * 1j, "Y": Y[:, None]}), "variable X: is complex"),
    ("three dimensions", matlab({"X": np.ones((4, 2, 2)), "Y": Y[:, None]}), "variable X: has 3 dimensions"),
    ("infinite value", matlab({"X": np.where(X == 3, -np.inf, X), "Y": Y[:, None]}), "variable X: holds an infinite"),
    ("sparse labels", matlab({"X": X, "Y": sp.csc_array(Y[:, None])}), "labels cannot be sparse"),
    ("sparse index past the end", _sparse_matlab(index=9), "variable X: index 9 is outside 0 to 3"),
    ("sparse with absurd rows", _sparse_matlab(rows=2**31 - 1), "variable Y: 4 labels for 2147483647 rows"),
]

BAD_MATRICES: list[tuple[str, str, bytes, str]] = [
    (f"{kind}: {case}", f"bad{suffix}", content, piece)
    for kind, suffix, cases in (("svmlight", ".svm", _SVMLIGHT), ("npz", ".npz", _NPZ), ("mat", ".mat", _MATLAB))
    for case, content, piece in cases
]

_LABELS = b"-1\n+1\n+1\n"
_DENSE = {"toy_train.data": b"1 2\n3 4\n5 7\n", "toy_train.labels": _LABELS}
_SPARSE = {"toy_train.data": b"1:2 3:4\n2:5\n1:1\n", "toy_train.labels": _LABELS}
_BINARY = {"toy_train.data": b"1 3\n2\n1 2 3\n", "toy_train.labels": _LABELS}
_PARAM = b"Number of features: %d\nNumber of examples and check-sums:\nTrain %d %d %d %.2f\n"

BAD_CHALLENGES: list[tuple[str, dict[str, bytes], str]] = [
    ("too few labels", _DENSE | {"toy_train.labels": b"-1\n+1\n"}, "toy_train.labels: 2 labels for 3 rows"),
    ("too many labels", _SPARSE | {"toy_train.labels": _LABELS * 2}, "toy_train.labels: 6 labels for 3 rows"),
    ("label 0", _DENSE | {"toy_train.labels": b"-1\n0\n+1\n"}, "toy_train.labels, line 2: label '0' is neither"),
    ("label missing", _DENSE | {"toy_train.labels": b"-1\n\n+1\n"}, "toy_train.labels, line 2: label '' is neither"),
    ("no labels", {"toy_train.data": b"1 2\n"}, "toy_train.labels: no such file"),
    ("labels empty", _DENSE | {"toy_train.labels": b""}, "toy_train.labels: is empty"),
    ("labels without rows", _DENSE | {"toy_valid.labels": _LABELS}, "toy_valid.data is missing"),
    ("data empty", _DENSE | {"toy_train.data": b"\n"}, "toy_train.data: is empty"),
    ("ragged rows", _DENSE | {"toy_train.data": b"1 2\n3 4 5\n5 5\n"}, "toy_train.data, line 2: has 3 numbers"),
    ("blank row", _DENSE | {"toy_train.data": b"1.5 2\n\n5 7\n"}, "toy_train.data, line 2: is empty"),
    (
        "word for a number",
        _DENSE | {"toy_train.data": b"1 2\n3 x\n5 7\n"},
        "toy_train.data, line 2: 'x' is not a number",
    ),
    ("NaN", _DENSE | {"toy_train.data": b"1 2\n3 4\nnan 7\n"}, "toy_train.data, line 3: 'nan' is not a number"),
    (
        "valid of another width",
        _DENSE | {"toy_valid.data": b"1 2 3\n"},
        "toy_valid.data, line 1: has 3 numbers, expected 2",
    ),
    ("sparse index 0", _SPARSE | {"toy_train.data": b"1:2\n0:5\n1:1\n"}, "toy_train.data, line 2: index 0, but"),
    ("sparse index twice", _SPARSE | {"toy_train.data": b"1:2\n3:5 3:6\n1:1\n"}, "line 2: index 3 occurs twice"),
    (
        "sparse without value",
        _SPARSE | {"toy_train.data": b"1:2\n3\n1:1\n"},
        "line 2: '3' is not of the form index:value",
    ),
    (
        "sparse index past the end",
        _SPARSE | {"toy.param": _PARAM % (2, 2, 1, 3, 12)},
        "line 1: index 3 is past the last",
    ),
    ("binary index 0", _BINARY | {"toy_train.data": b"0 3\n2\n1 2 3\n"}, "toy_train.data, line 1: index 0, but"),
    (
        "binary index past the end",
        _BINARY | {"toy.param": _PARAM % (2, 2, 1, 3, 6)},
        "line 1: index 3 is past the last",
    ),
    ("absurd index", _BINARY | {"toy_train.data": b"7\n1 99999999\n1\n"}, "line 2: index '99999999' is past 16777216"),
    ("another width stated", _DENSE | {"toy.param": _PARAM % (5, 2, 1, 3, 22)}, "line 1: has 2 numbers, expected 5"),
    (
        "other rows stated",
        _DENSE | {"toy.param": _PARAM % (2, 2, 2, 4, 22)},
        "toy.param: states 4 rows of train, there are 3",
    ),
    ("other classes stated", _DENSE | {"toy.param": _PARAM % (2, 1, 2, 3, 22)}, "states 1 positive and 2 negative"),
    (
        "another check-sum",
        _DENSE | {"toy.param": _PARAM % (2, 2, 1, 3, 23)},
        "check-sum 23.00 of train, the values add up to 22.00",
    ),
    (
        "another form stated",
        _SPARSE | {"toy.param": b"Data type: non-sparse\nNumber of features: 3\n"},
        "looks sparse, but",
    ),
    ("empty param", _DENSE | {"toy.param": b"see the web page\n"}, "toy.param: states neither"),
    ("two data sets", _DENSE | {"b_train.data": b"1 2\n"}, "holds several data sets (b, toy)"),
    (
        "wrong gz",
        {"toy_train.data.gz": b"1 2\n3 4\n5 7\n", "toy_train.labels": _LABELS},
        "is named .gz but is not gzip",
    ),
    ("NUL byte", _DENSE | {"toy_train.data": b"1 2\n3 \x00\n5 7\n"}, "toy_train.data, line 2: contains a NUL byte"),
]
