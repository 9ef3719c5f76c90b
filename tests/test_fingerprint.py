"""The fingerprint of data: equal for equal data, different for any difference, the same everywhere."""

import subprocess
import sys
from dataclasses import replace
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tamis.base.errors import DataError
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint

NAN = float("nan")
#: Another NaN than numpy's own.
STRANGE_NAN = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]


def _data(X, **other) -> Dataset:
    known = {"y": np.array(["a", "b", "a"]), "feature_names": np.array(["p", "q"])}
    return Dataset(X, **(known | other))


DENSE = _data(np.array([[1.0, 2.0], [3.0, NAN], [5.0, 0.0]]))
SPARSE = replace(DENSE, X=sp.csr_array(DENSE.X))
MIXED = _data(pl.DataFrame({"p": [1.0, None, 3.0], "q": ["x", None, "yz"]}))


def _changed(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


def test_known_values_pin_the_layout():
    assert fingerprint(DENSE) == "e4f8f15bf9d2968bf5896237c8226ccd"
    assert fingerprint(SPARSE) == "8167d8554cd9a74506539bad81b26c65"
    assert fingerprint(MIXED) == "fa1bdadde8dd8b17d00a53593b6ea538"


def test_every_difference_shows():
    words = np.array(["train", "train", "test"])
    different = [
        DENSE,
        SPARSE,
        MIXED,
        replace(DENSE, X=_changed(DENSE.X, 0, 0, np.nextafter(1.0, 2.0))),
        replace(DENSE, X=_changed(DENSE.X, 0, 0, NAN)),
        replace(DENSE, X=_changed(DENSE.X, 1, 1, 0.0)),
        replace(DENSE, X=DENSE.X[:, ::-1].copy()),
        replace(DENSE, X=DENSE.X.astype(np.float32)),
        replace(SPARSE, X=SPARSE.X.astype(np.float32)),
        replace(SPARSE, X=sp.csr_array(_changed(DENSE.X, 2, 1, 1e-300))),
        replace(DENSE, feature_names=np.array(["p", "r"])),
        replace(DENSE, feature_names=np.array(["pq", ""])),
        replace(DENSE, y=np.array(["a", "b", "b"])),
        replace(DENSE, y=np.array([1, 2, 1])),
        replace(DENSE, y=np.array([1.0, 2.0, 1.0])),
        replace(DENSE, y=np.array([1.0, 2.5, 1.0])),
        replace(DENSE, split=words),
        replace(DENSE, split=words[::-1]),
        replace(DENSE, groups=words),
        replace(DENSE, groups=np.array([1, 1, 2])),
        DENSE.rows([0, 1]),
        DENSE.rows([1, 0, 2]),
        DENSE.without("q"),
        replace(MIXED, X=MIXED.X.with_columns(q=pl.Series(["x", "", "yz"]))),
        replace(MIXED, X=MIXED.X.with_columns(q=pl.Series(["xy", None, "z"]))),
        replace(MIXED, X=MIXED.X.with_columns(p=pl.Series([1.0, None, 3.5]))),
        replace(MIXED, X=MIXED.X.with_columns(p=pl.Series([1.0, None, 3.0], dtype=pl.Float32))),
    ]
    assert len({fingerprint(data) for data in different}) == len(different)


def test_what_is_equal_has_one_fingerprint():
    X = DENSE.X
    same = [
        replace(DENSE, X=np.asfortranarray(X)),
        replace(DENSE, X=np.repeat(X, 2, axis=1)[:, ::2]),
        replace(DENSE, X=X.astype(">f8")),
        replace(DENSE, X=_changed(_changed(X, 2, 1, -0.0), 1, 1, STRANGE_NAN)),
        replace(DENSE, y=DENSE.y.astype("U9")),
        replace(DENSE, y=DENSE.y.astype(object)),
        replace(DENSE, name="other", target="other", roles=np.array(["probe", "probe"])),
    ]
    assert {fingerprint(data) for data in same} == {fingerprint(DENSE)}
    assert fingerprint(replace(DENSE, y=np.array([1, 2, 1], dtype=np.int8))) == fingerprint(
        replace(DENSE, y=np.array([1, 2, 1]))
    )


def test_the_form_of_a_sparse_matrix_does_not_matter():
    # Entries out of order, a place named twice, a stored zero and wide indices.
    X = sp.csr_array(
        (np.array([2.0, 1.0, 1.0, NAN, 2.0, 5.0, 0.0]), np.array([1, 0, 1, 1, 0, 0, 1]), np.array([0, 2, 5, 7]))
    )
    told = X.toarray()
    wide = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    before = X.data.copy(), X.indices.copy()
    expected = fingerprint(sp.csr_array(told))
    assert {fingerprint(form) for form in (X, wide, sp.csc_array(X), sp.coo_array(X), sp.csr_matrix(X))} == {expected}
    np.testing.assert_array_equal(X.data, before[0])
    np.testing.assert_array_equal(X.indices, before[1])


@given(st.lists(st.floats(width=32), min_size=4, max_size=60), st.integers(1, 7), st.randoms())
def test_sparse_and_dense_forms_of_random_numbers(values, width, random):
    X = np.resize(np.array(values), (max(1, len(values) // width), width))
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    orders = [random.sample(range(width), width) for _ in X]
    shuffled = np.take_along_axis(X, np.array(orders), axis=1)
    full = sp.csr_array((shuffled.ravel(), np.ravel(orders), np.arange(0, X.size + 1, width)), shape=X.shape)
    assert fingerprint(full) == fingerprint(sp.csr_array(X))


def test_large_matrices_are_cut_into_blocks_that_do_not_show():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 900))
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    full = sp.csr_array(X)
    full.data[::3] = 0.0
    short = full.copy()
    short.eliminate_zeros()
    assert fingerprint(full) == fingerprint(short)
    assert fingerprint(full) != fingerprint(sp.csr_array(X))


def test_plain_arrays_and_frames():
    X = DENSE.X
    assert fingerprint(X, DENSE.y, feature_names=DENSE.feature_names) == fingerprint(DENSE)
    assert fingerprint(X.tolist(), ["a", "b", "a"], feature_names=["p", "q"]) == fingerprint(DENSE)
    assert fingerprint(X, DENSE.y) != fingerprint(DENSE)
    assert fingerprint(MIXED.X, MIXED.y) == fingerprint(MIXED)
    assert fingerprint(pd.DataFrame({"p": [1.0, None, 3.0], "q": ["x", None, "yz"]}), MIXED.y) == fingerprint(MIXED)
    series = pd.Series(["a", "b", "a"])
    assert fingerprint(X, series, feature_names=["p", "q"]) == fingerprint(DENSE)
    assert fingerprint(X, np.array([1, "1", None], dtype=object)) != fingerprint(X, np.array(["1", 1, None], object))


def test_another_process_says_the_same():
    code = (
        "from tamis.data import load; from tamis.data.fingerprint import fingerprint; print(fingerprint(load('xor')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert done.stdout.strip() == fingerprint(load("xor"))


def test_it_is_one_quick_pass():
    X = np.zeros((6000, 5000), dtype=np.float32)
    started = perf_counter()
    fingerprint(X)
    # 0.2 s where it was written; room for slow machines that do other things.
    assert perf_counter() - started < 3


@pytest.mark.parametrize("dtype", [np.complex128, "M8[s]"])
def test_what_is_no_number_is_refused(dtype):
    with pytest.raises(DataError, match="fingerprint takes numbers"):
        fingerprint(np.zeros((2, 2), dtype=dtype))
