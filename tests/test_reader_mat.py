"""The MATLAB reader against scipy's writer, and on damaged files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bad_matrices import X, Y, matlab
from fuzzing import damaged, survives
from reading import reads
from tamis.base.errors import DataError
from tamis.data.parsing.reader import Source
from tamis.data.readers.mat import reader

read = reads(reader, "toy.mat")

OPTIONS = st.sampled_from(({}, {"do_compression": True}, {"format": "4"}))
TYPES = st.sampled_from((np.float64, np.float32, np.int8, np.uint16, np.int64, np.bool_))


@given(data=st.data(), dtype=TYPES, options=OPTIONS, label=st.sampled_from(("Y", "y")))
def test_dense_round_trip(folder: Path, data: st.DataObject, dtype: Any, options: dict[str, Any], label: str) -> None:
    if "format" in options and dtype in (np.int8, np.int64, np.bool_):
        dtype = np.float64  # the old format has no such types
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5))
    elements: dict[str, bool] = {"allow_infinity": False} if np.dtype(dtype).kind == "f" else {}
    table = data.draw(hnp.arrays(dtype, shape, elements=elements, fill=st.nothing()))
    labels = data.draw(hnp.arrays(np.int16, shape[0]))
    ours = read(folder, matlab({"other": np.ones(3), "X": table, label: labels[:, None]}, **options))
    np.testing.assert_array_equal(ours.X, table)
    assert ours.X.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert ours.X.flags.c_contiguous
    assert ours.y.tolist() == labels.tolist()
    assert ours.y.dtype == np.int64
    assert ours.feature_names.tolist() == [f"x{j}" for j in range(1, shape[1] + 1)]


@given(table=hnp.arrays(np.int16, (5, 4), elements=st.integers(0, 2)), options=OPTIONS, logical=st.booleans())
def test_sparse_round_trip(folder: Path, table: np.ndarray, options: dict[str, Any], logical: bool) -> None:
    table = table.astype(bool) if logical and "format" not in options else table.astype(float)
    ours = read(folder, matlab({"X": sp.csc_array(table), "Y": np.arange(5.0)}, **options))
    assert ours.is_sparse
    assert ours.X.format == "csr"
    assert ours.X.dtype == np.float64
    np.testing.assert_array_equal(ours.X.toarray(), table)
    assert ours.y.tolist() == [0, 1, 2, 3, 4]


def test_big_endian_file(folder: Path) -> None:
    little = matlab({"X": X, "Y": Y[:, None].astype(float)})
    words = np.frombuffer(little[128:], dtype="<u4").reshape(-1, 2)
    # In this file every element is 8 bytes wide or a pair of 4-byte words, but for the two small names.
    swapped = bytearray()
    doubles = 0
    for left, right in words.tolist():
        if doubles:
            swapped += np.array([right, left], dtype=">u4").tobytes()
            doubles -= 1
        elif left == (1 << 16 | 1):
            swapped += np.array([left], dtype=">u4").tobytes() + np.array([right], dtype="<u4").tobytes()
        else:
            swapped += np.array([left, right], dtype=">u4").tobytes()
            doubles = right // 8 if left == 9 else 0
    ours = read(folder, little[:124] + b"\x01\x00MI" + bytes(swapped))
    np.testing.assert_array_equal(ours.X, X)
    assert ours.y.tolist() == Y.tolist()


def test_one_row_of_labels_will_do(folder: Path) -> None:
    assert read(folder, matlab({"X": X, "Y": Y[None, :]})).y.tolist() == Y.tolist()


def test_target(folder: Path) -> None:
    path = folder / "toy.mat"
    path.write_bytes(matlab({"X": X, "Y": Y[:, None]}))
    assert reader.read(Source(path), "Y").n_rows == 4
    with pytest.raises(DataError, match="no target 'z' can be chosen"):
        reader.read(Source(path), "z")


@pytest.mark.parametrize(("content", "right"), [(matlab({"X": X}), True), (b"MATLAB code", False), (b"", False)])
def test_looks_right(folder: Path, content: bytes, right: bool) -> None:
    path = folder / "some.thing"
    path.write_bytes(content)
    assert reader.looks_right(Source(path)) is right


GOOD = [
    matlab({"X": X, "Y": Y[:, None]}),
    matlab({"X": sp.csc_array(X), "y": Y[:, None]}),
    matlab({"X": sp.csc_array(X), "Y": Y[:, None]}, do_compression=True),
    matlab({"X": sp.csc_array(X), "Y": Y[:, None].astype(float)}, format="4"),
]


@settings(max_examples=300)
@given(content=st.binary(max_size=200) | damaged(GOOD))
def test_any_bytes_give_a_data_set_or_one_sentence(folder: Path, content: bytes) -> None:
    survives(reader, folder / "fuzz.mat", content)
