"""The facts of a data set agree with a plain count, whatever it is stored as, and go into JSON."""

import json
import tracemalloc
from importlib import import_module

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis.data.dataset import Dataset
from tamis.data.describe import describe
from tamis.data.synthetic import madelon

module = import_module("tamis.data.describe")
repeats = import_module("tamis.data.duplicates")

VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.5, np.nan, np.inf, -np.inf])
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=VALUES)


def dataset(X, **known) -> Dataset:
    names = np.array([f"c{i}" for i in range(X.shape[1])])
    return Dataset(X, np.arange(X.shape[0]) % 2, names, **known)


def word(value: float) -> str:
    """Equal words for equal values: NaN equals NaN, and minus zero zero."""
    return repr(float(value) + 0.0)


def by_hand(X: np.ndarray) -> dict:
    columns = [tuple(map(word, column)) for column in X.T]
    rows = [tuple(map(word, row)) for row in X]
    finite = [v for v in X.ravel().tolist() if np.isfinite(v)]
    return {
        "missing": sum(v != v for v in X.ravel()),
        "columns_with_missing": sum("nan" in column for column in columns),
        "infinite": sum(word(v) in ("inf", "-inf") for v in X.ravel()),
        "constant_columns": sum(len(set(column) - {"nan"}) <= 1 for column in columns),
        "duplicate_columns": len(columns) - len(set(columns)),
        "duplicate_rows": len(rows) - len(set(rows)),
        "range": [min(finite), max(finite)] if finite else None,
    }


@given(X=MATRICES, dtype=st.sampled_from([np.float32, np.float64]), order=st.sampled_from("CF"))
def test_dense_agrees_with_counting_by_hand(X, dtype, order):
    facts = describe(dataset(np.asarray(X, dtype=dtype, order=order)))
    expected = by_hand(X)
    assert {key: facts[key] for key in expected} == expected
    assert (facts["kind"], facts["dtype"], facts["density"]) == ("dense", np.dtype(dtype).name, None)
    json.dumps(facts, allow_nan=False)


@given(X=MATRICES, kind=st.sampled_from([sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix]))
def test_sparse_agrees_with_counting_by_hand(X, kind):
    facts = describe(dataset(kind(X)))
    expected = by_hand(X)
    assert {key: facts[key] for key in expected} == expected
    assert facts["density"] == pytest.approx((X != 0).sum() / X.size)
    assert facts["kind"] == "sparse"
    json.dumps(facts, allow_nan=False)


@given(X=MATRICES)
def test_blocks_do_not_matter(X):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 1)
        facts = describe(dataset(X))
    assert facts == describe(dataset(X))


def test_sparse_with_stored_zeros_and_two_values_in_one_place():
    X = sp.csr_array((np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 1, 2]), np.array([0, 3, 4])), shape=(2, 3))
    facts = describe(dataset(X))
    assert facts["density"] == pytest.approx(2 / 6)
    assert facts["constant_columns"] == 1
    assert facts["range"] == [0.0, 3.0]
    assert X.nnz == 4


def test_table():
    X = pl.DataFrame(
        {
            "size": [1.0, None, 3.0, 1.0],
            "colour": ["red", "blue", None, "red"],
            "again": ["red", "blue", None, "red"],
            "same": ["x", "x", None, "x"],
            "number": [7.0, 7.0, 7.0, 7.0],
        }
    )
    facts = describe(dataset(X))
    assert (facts["kind"], facts["dtype"], facts["numeric"], facts["nominal"]) == ("table", None, 2, 3)
    assert (facts["missing"], facts["columns_with_missing"]) == (4, 4)
    assert (facts["constant_columns"], facts["duplicate_columns"], facts["duplicate_rows"]) == (2, 1, 1)
    assert facts["range"] == [1.0, 7.0]
    json.dumps(facts, allow_nan=False)


def test_a_word_column_is_no_duplicate_of_a_number_column_and_nulls_count():
    X = pl.DataFrame({"a": [None, None], "b": [None, None]}, schema={"a": pl.String, "b": pl.Float64})
    facts = describe(dataset(X))
    assert (facts["duplicate_columns"], facts["duplicate_rows"], facts["constant_columns"]) == (0, 1, 2)
    assert facts["range"] is None


def test_classes_parts_and_roles():
    data = Dataset(
        np.arange(12.0).reshape(6, 2),
        np.array(["a", "b", "a", "a", "c", "a"]),
        np.array(["u", "v"]),
        name="made",
        target="kind",
        split=np.array(["train", "train", "train", "valid", "valid", "train"]),
        unlabelled={"test": np.zeros((9, 2))},
        groups=np.array([1, 1, 2, 2, 3, 3]),
        roles=np.array(["informative", "probe"]),
    )
    facts = describe(data)
    assert (facts["name"], facts["target"], facts["rows"], facts["features"]) == ("made", "kind", 6, 2)
    assert facts["classes"] == {"a": 4, "b": 1, "c": 1}
    assert facts["smallest_class"] == 1
    assert facts["split"] == {"train": 4, "valid": 2}
    assert facts["unlabelled"] == {"test": 9}
    assert facts["groups"] == 3
    assert facts["roles"] == {"informative": 1, "probe": 1}
    assert facts["notes"] == []
    json.dumps(facts, allow_nan=False)


def test_what_a_data_set_lacks_is_null():
    facts = describe(dataset(np.ones((2, 2))))
    assert [facts[key] for key in ("split", "unlabelled", "groups", "roles")] == [None] * 4


def test_generated_madelon():
    facts = describe(madelon(64))
    assert facts["roles"] == {"informative": 5, "probe": 480, "redundant": 5, "repeated": 10}
    assert (facts["constant_columns"], facts["duplicate_columns"], facts["missing"]) == (0, 0, 0)


def test_a_number_to_predict_is_not_listed_as_classes():
    X = np.zeros((300, 1))
    facts = describe(Dataset(X, np.linspace(0, 1, 300), np.array(["x"])))
    assert facts["classes"] is None
    assert facts["smallest_class"] is None
    assert facts["notes"] == ["300 distinct labels are too many to list; is the target a number to predict?"]


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array, pl.DataFrame])
def test_duplicates_are_left_out_of_large_data_and_it_is_said(store, monkeypatch):
    monkeypatch.setattr(repeats, "_MOST_VALUES", 5)
    facts = describe(dataset(store(np.ones((2, 3)))))
    assert (facts["duplicate_columns"], facts["duplicate_rows"]) == (None, None)
    assert facts["notes"] == ["duplicates were not looked for among more than 5 values"]


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_no_rows(store):
    facts = describe(dataset(store(np.ones((0, 3)))))
    assert (facts["rows"], facts["constant_columns"], facts["range"], facts["classes"]) == (0, 3, None, {})


def test_wide_sparse_data_takes_memory_as_its_values_do():
    X = sp.random_array((800, 30_000), density=0.005, format="csr", random_state=0)
    data = dataset(X)
    tracemalloc.start()
    facts = describe(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert facts["features"] == 30_000
    assert facts["duplicate_columns"] > 300
    # As a dense matrix it would take 192 MB.
    assert peak < 20e6
