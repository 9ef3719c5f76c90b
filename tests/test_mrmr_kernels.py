"""What columns share with each other: the compiled sums against plain twins."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrmr_oracle import correlation, information
from tamis.base.seeds import generator
from tamis.contingency.states import States
from tamis.kernels.correlation import dense_correlation, stored_correlation
from tamis.kernels.joint import FEW, dense_information, pack_states, stored_information
from tamis.kernels.sparse import stored_arrays
from tamis.select import MRMR
from tamis.select.mrmr.redundancy import Information


def twin(codes: np.ndarray, columns, since, picks) -> np.ndarray:
    pairs = zip(columns, since, strict=True)
    return np.array([sum(information(codes[c], codes[p]) for p in picks[first:]) for c, first in pairs])


def as_sparse(codes: np.ndarray, zero: np.ndarray) -> tuple[np.ndarray, ...]:
    kept = codes != zero[:, None]
    indptr = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    return indptr, np.nonzero(kept)[1].astype(np.int32), codes[kept].astype(np.int32), zero


@st.composite
def asked(draw, columns: int, picks: int):
    some = draw(st.lists(st.integers(0, columns - 1), min_size=1, max_size=5))
    since = draw(st.lists(st.integers(0, picks), min_size=len(some), max_size=len(some)))
    others = draw(st.lists(st.integers(0, columns - 1), min_size=picks, max_size=picks))
    return np.array(some), np.array(since), np.array(others, dtype=np.intp)


def terms(n_rows: int) -> np.ndarray:
    return np.array([0.0, *(m * np.log(m) for m in range(1, n_rows + 1))])


@given(st.data(), st.sampled_from([1, 3, FEW, 90]), st.sampled_from([np.int8, np.int16, np.int32]))
@settings(max_examples=80, deadline=None)
def test_information_kernels_equal_their_twin(data, most, dtype) -> None:
    n_rows = data.draw(st.integers(1, 140))
    codes = data.draw(arrays(dtype, (4, n_rows), elements=st.integers(-1, most - 1)))
    # Ninety states squared are more cells than a table of so few rows has room for.
    codes[:2, 0] = most - 1
    sizes = np.maximum(codes.max(axis=1), 0).astype(np.int64) + 1
    columns, since, picks = data.draw(asked(4, 3))
    expected = twin(codes, columns, since, picks)
    for few in (FEW, 0):
        first = np.concatenate(([0], np.cumsum(np.where(sizes <= few, sizes, 0))))
        bits = np.zeros((first[-1], -(-n_rows // 64)), dtype=np.uint64)
        pack_states(codes, first, bits)
        out = np.zeros(columns.size)
        dense_information(codes, sizes, bits, first, columns, since, picks, terms(n_rows), out)
        np.testing.assert_allclose(out, expected, atol=2e-9)
    zero = np.array([data.draw(st.integers(0, int(size) - 1)) for size in sizes])
    # A column without zeros may name a state that it does not have.
    zero[(codes != zero[:, None]).all(axis=1)] += 2
    out = np.zeros(columns.size)
    stored_information(*as_sparse(codes, zero), sizes, n_rows, columns, since, picks, terms(n_rows), out)
    np.testing.assert_allclose(out, expected, atol=2e-9)


def test_many_rows_and_states_take_every_way_to_the_same_sum() -> None:
    rng = generator(0)
    codes = np.concatenate([rng.integers(-1, 5, (3, 700)), rng.integers(-1, 300, (3, 700))]).astype(np.int32)
    sizes = codes.max(axis=1).astype(np.int64) + 1
    every = np.arange(6)
    expected = twin(codes, every, np.zeros(6, dtype=int), every)
    zero = np.zeros(6, dtype=np.int64)
    sparse = dict(zip(("indptr", "rows", "stored", "zero"), as_sparse(codes, zero), strict=True))
    for found in (States(700, sizes, codes), States(700, sizes, None, **sparse)):
        pairs = Information(found)
        for column in every:
            pairs.add(int(column))
        np.testing.assert_allclose(pairs.summed(every, np.zeros(6, dtype=np.int64)), expected, rtol=1e-9, atol=3e-9)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_correlation_kernels_equal_their_twin(data) -> None:
    n_rows = data.draw(st.integers(2, 30))
    X = data.draw(arrays(np.float64, (n_rows, 4), elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, 4.0])))
    columns, since, picks = data.draw(asked(4, 3))
    expected = [sum(correlation(X[:, c], X[:, p]) for p in picks[s:]) for c, s in zip(columns, since, strict=True)]
    length = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=0))
    scale = np.divide(1.0, length, out=np.zeros(4), where=np.ptp(X, axis=0) > 0)
    out = np.zeros(columns.size)
    dense_correlation(np.ascontiguousarray(((X - X.mean(axis=0)) * scale).T), columns, since, picks, out)
    np.testing.assert_allclose(out, expected, atol=2e-9)
    unit, rows, first = stored_arrays(sp.csc_array(X * scale))
    out = np.zeros(columns.size)
    stored_correlation(first, rows, unit, X.mean(axis=0) * scale, n_rows, columns, since, picks, out)
    np.testing.assert_allclose(out, expected, atol=2e-9)


def test_kernels_declare_the_types_they_are_called_with() -> None:
    rng = generator(0)
    X, y = rng.integers(0, 3, (20, 5)), np.arange(20) % 2
    for criterion in ("mid", "miq", "fcd", "fcq"):
        for form in (np.asarray, sp.csr_array, sp.csc_array):
            for dtype in (np.float32, np.float64):
                MRMR(3, criterion=criterion).fit(form(X.astype(dtype)), y)
    for one in (pack_states, dense_information, stored_information, dense_correlation, stored_correlation):
        used = set(one._ready)
        one.warm()
        assert used <= one._ready
        assert len(one._ready) == len(one.signatures)
