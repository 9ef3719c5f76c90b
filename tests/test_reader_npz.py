"""The npz reader: dense, sparse, in parts, with names; damaged archives; the archives of real data sets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bad_matrices import S, X, Y, packed, quadruple
from fuzzing import damaged, survives
from reading import reads
from tamis.base.errors import DataError
from tamis.data.parsing.reader import Source
from tamis.data.readers.npz import reader

read = reads(reader, "toy.npz")

NUMBERS = st.sampled_from((np.float64, np.float32, np.float16, np.int8, np.uint16, np.int64, np.bool_, ">f4", ">i2"))


@given(data=st.data(), dtype=NUMBERS, save=st.sampled_from((np.savez, np.savez_compressed)))
def test_dense_round_trip(folder: Path, data: st.DataObject, dtype: Any, save: Any) -> None:
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5))
    elements: dict[str, bool] = {"allow_infinity": False} if np.dtype(dtype).kind == "f" else {}
    table = data.draw(hnp.arrays(dtype, shape, elements=elements, fill=st.nothing()))
    labels = data.draw(hnp.arrays(np.int16, shape[0]))
    if data.draw(st.booleans()):
        table = np.asfortranarray(table)
    ours = read(folder, packed(save, X=table, y=labels))
    wanted = np.float32 if np.dtype(dtype) == np.float32 else np.float64
    assert ours.X.dtype == wanted
    assert ours.X.flags.c_contiguous
    np.testing.assert_array_equal(ours.X, table.astype(wanted))
    assert ours.y.tolist() == labels.tolist()
    assert ours.y.dtype == np.int64
    assert ours.split is None


@given(
    table=hnp.arrays(np.int16, (5, 4), elements=st.integers(0, 2)),
    index=st.sampled_from((np.uint16, np.int32, np.int64, np.uint64)),
    cast=st.sampled_from((np.int8, np.uint16, np.float32, np.float64)),
)
def test_sparse_round_trip(folder: Path, table: np.ndarray, index: Any, cast: Any) -> None:
    csr = sp.csr_array(table)
    fields = {
        "train_data": csr.data.astype(cast),
        "train_indices": csr.indices.astype(index),
        "train_indptr": csr.indptr.astype(index),
        "train_shape": np.array(csr.shape),
    }
    ours = read(folder, packed(**fields, y_train=np.arange(5)))
    assert ours.is_sparse
    assert ours.X.dtype == (np.float32 if cast is np.float32 else np.float64)
    assert ours.X.indices.dtype == np.int32
    np.testing.assert_array_equal(ours.X.toarray(), table)
    assert ours.split is not None
    assert ours.split.tolist() == ["train"] * 5


@pytest.mark.parametrize(
    "pattern", [("X_{}", "y_{}"), ("{}_X", "{}_y"), ("x_{}", "y_{}")], ids=["X_train", "train_X", "x_train"]
)
def test_parts_keep_their_order_and_marks(folder: Path, pattern: tuple[str, str]) -> None:
    x, y = pattern
    arrays = {x.format("test"): X[:1], x.format("valid"): X[1:2], x.format("train"): X[2:]}
    arrays |= {y.format("train"): Y[2:], y.format("valid"): Y[1:2]}
    ours = read(folder, packed(**arrays))
    np.testing.assert_array_equal(ours.X, X[[2, 3, 1]])
    assert ours.y.tolist() == Y[[2, 3, 1]].tolist()
    assert ours.split is not None
    assert ours.split.tolist() == ["train", "train", "valid"]
    assert list(ours.unlabelled) == ["test"]
    np.testing.assert_array_equal(ours.unlabelled["test"], X[:1])


@pytest.mark.parametrize("prefix", ["X", "train", "X_train"])
def test_names_of_sparse_arrays(folder: Path, prefix: str) -> None:
    ours = read(folder, packed(**quadruple(prefix), **{"y" if prefix == "X" else "y_train": Y}))
    np.testing.assert_array_equal(ours.X.toarray(), X)
    assert (ours.split is None) == (prefix == "X")


def test_repeated_entries_are_added_and_columns_sorted(folder: Path) -> None:
    arrays = quadruple(
        data=np.array([1, 2, 4, 0]), indices=np.array([2, 0, 2, 1]), indptr=np.array([0, 3, 4]), shape=np.array([2, 3])
    )
    ours = read(folder, packed(**arrays, y_train=Y[:2]))
    assert ours.X.has_canonical_format
    assert ours.X.nnz == 2
    assert ours.X.toarray().tolist() == [[2, 0, 5], [0, 0, 0]]


def test_names_words_and_roles(folder: Path) -> None:
    ours = read(
        folder,
        packed(
            X=X,
            y=Y,
            class_names=np.array(["none", "sick", "well"]),
            feature_names=np.array(["a", "b", "c"]),
            is_probe=np.array([False, True, False]),
            remarks=np.array(["not looked at"], dtype=object),
        ),
    )
    assert ours.y.tolist() == ["sick", "well", "sick", "well"]
    assert ours.feature_names.tolist() == ["a", "b", "c"]
    assert ours.roles is not None
    assert ours.roles.tolist() == ["informative", "probe", "informative"]


@pytest.mark.parametrize("name", ["X_x1000", "X_train_x1000", "train_X_x1000"])
def test_scaled_integers_are_divided_back(folder: Path, name: str) -> None:
    labels = {"y_train" if "train" in name else "y": Y[:2]}
    ours = read(folder, packed(**{name: np.array([[1234, -5], [0, 999]], dtype=np.int16)}, **labels))
    assert ours.X.tolist() == [[1.234, -0.005], [0.0, 0.999]]


def test_missing_values_pass(folder: Path) -> None:
    assert read(folder, packed(X=np.where(X == 3, np.nan, X), y=Y)).n_missing == 1


def test_words_of_bytes_are_decoded(folder: Path) -> None:
    ours = read(folder, packed(X=X, y=np.array(["é".encode(), b"b", b"b", b"b"])))
    assert ours.y.tolist() == ["é", "b", "b", "b"]


def test_target(folder: Path) -> None:
    path = folder / "toy.npz"
    path.write_bytes(packed(X=X, y=Y))
    assert reader.read(Source(path), "y").n_rows == 4
    with pytest.raises(DataError, match="no target 'z' can be chosen"):
        reader.read(Source(path), "z")


@pytest.mark.parametrize(("content", "right"), [(packed(X=X), True), (b"PK\x03\x04 other zip", False), (b"", False)])
def test_looks_right(folder: Path, content: bytes, right: bool) -> None:
    path = folder / "some.thing"
    path.write_bytes(content)
    assert reader.looks_right(Source(path)) is right


GOOD = [
    packed(X=X, y=Y),
    packed(np.savez_compressed, X_train=X, y_train=Y, X_test=X, class_names=np.array(list("uvw"))),
    packed(y_train=Y, is_probe=np.zeros(3, dtype=bool), **quadruple()),
]


@settings(max_examples=150)
@given(content=st.binary(max_size=200) | damaged(GOOD))
def test_any_bytes_give_a_data_set_or_one_sentence(folder: Path, content: bytes) -> None:
    survives(reader, folder / "fuzz.npz", content)


@settings(max_examples=100)
@given(data=st.data())
def test_any_csr_arrays_give_a_data_set_or_one_sentence(folder: Path, data: st.DataObject) -> None:
    small = st.lists(st.integers(-2, 7), max_size=8)
    arrays = {field: np.array(data.draw(small), dtype=np.int64) for field in ("data", "indices", "indptr", "shape")}
    if data.draw(st.booleans()):
        field = data.draw(st.sampled_from(sorted(arrays)))
        arrays = {"data": S.data, "indices": S.indices, "indptr": S.indptr, "shape": np.array(S.shape)} | {
            field: arrays[field]
        }
    content = packed(y_train=Y, **{f"train_{field}": array for field, array in arrays.items()})
    ours = survives(reader, folder / "toy.npz", content)
    if ours is not None:
        ours.X.check_format(full_check=True)
