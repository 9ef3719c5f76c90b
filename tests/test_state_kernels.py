"""Kernels that find states against plain NumPy twins."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tamis.kernels.ssv import halfway
from tamis.kernels.states import (
    WINDOW,
    few_values,
    quantile_cuts,
    row_states,
    segment_states,
    turned,
    whole_values,
)
from tamis.trees.columns import sorted_columns

VALUES = [0.0, 0.0, 0.0, -0.0, 1.0, 2.0, 3.0, -1.0, 70.0, -3e9, 0.5, -2.25, 1e-3, float("nan")]


@st.composite
def matrices(draw):
    shape = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return draw(hnp.arrays(dtype, shape, elements=st.sampled_from(VALUES), fill=st.nothing()))


def plain_frequency(x, n_bins, weight):
    """Quantiles of repeated rows, without those that part no rows from the one before."""
    x = np.sort(np.repeat(x, weight))
    x = x[~np.isnan(x)].astype(float)
    cuts, last = [], 0
    for b in range(1, n_bins):
        place = Fraction(x.size * b, n_bins)
        k = int(place)
        if place == k and x.size:
            cut = x[k - 1] if x[k - 1] == x[k] else halfway(x[k - 1], x[k])
        else:
            cut = x[k] if x.size else 0.0
        below = int((x < cut).sum())
        if below > last:
            cuts.append(cut)
            last = below
    return cuts


@given(matrices(), st.integers(2, 6), st.data())
def test_quantile_cuts_equal_their_twin(X, n_bins, data):
    weight = data.draw(hnp.arrays(np.int64, X.shape[0], elements=st.integers(1, 3)))
    for layout in (X, sp.csr_array(X)):
        columns = next(sorted_columns(layout, whole=True))
        cuts, count = np.empty((X.shape[1], n_bins - 1)), np.empty(X.shape[1], dtype=np.int64)
        quantile_cuts(columns.begin, columns.end, columns.rows, columns.values, weight.astype(float), cuts, count)
        for j in range(X.shape[1]):
            assert cuts[j, : count[j]].tolist() == plain_frequency(X[:, j], n_bins, weight)


@given(matrices(), st.integers(-40, 2))
def test_whole_values_equal_their_twin(X, base):
    p = X.shape[1]
    seen, far, broken = np.zeros(p, dtype=np.uint64), np.zeros(p, dtype=bool), np.zeros(p, dtype=bool)
    whole_values(np.ascontiguousarray(X), np.full(p, float(base)), seen, far, broken)
    for j in range(p):
        known = X[~np.isnan(X[:, j]), j].astype(float)
        whole = known[known % 1 == 0]
        near = (whole >= base) & (whole < base + WINDOW)
        assert broken[j] == (known % 1 != 0).any()
        assert far[j] == (~near).any()
        assert {b for b in range(WINDOW) if int(seen[j]) >> b & 1} == {int(v) - base for v in whole[near]}


@given(matrices(), st.integers(1, 4), st.booleans())
def test_few_values_equal_their_twin(X, most, zero):
    n, p = X.shape
    begin = np.arange(p) * n
    found, count = np.empty(X.size + 2 * most + p), np.empty(p, dtype=np.int64)
    few_values(np.ascontiguousarray(X.T).ravel(), begin, begin + n, np.full(p, zero), most, found, count)
    start = 0
    for j in range(p):
        wanted = np.unique(np.append(X[~np.isnan(X[:, j]), j], [0.0] * zero))
        if wanted.size > most or (wanted % 1 != 0).any():
            assert count[j] == -1
        else:
            np.testing.assert_array_equal(found[start : start + count[j]], wanted)
            start += wanted.size


@given(matrices(), st.integers(0, 5), st.data())
def test_states_between_cuts_equal_their_twins(X, n_cuts, data):
    n, p = X.shape
    elements = st.sampled_from([-3e9, -2.25, -1.0, 0.0, 0.25, 1.0, 3.0, 70.0, np.inf])
    cuts = np.sort(data.draw(hnp.arrays(np.float64, (n_cuts, p), elements=elements)), axis=0)
    wanted = np.stack([np.searchsorted(c, x, side="right") for c, x in zip(cuts.T, X.T, strict=True)])
    wanted[np.isnan(X.T)] = -1
    rows = np.empty((n, p), dtype=np.int8)
    row_states(X, cuts.astype(X.dtype), rows)
    np.testing.assert_array_equal(rows.T, wanted)
    segments = np.empty(X.size, dtype=np.int32)
    begin, first = np.arange(p) * n, np.arange(p + 1) * n_cuts
    segment_states(np.ascontiguousarray(X.T).ravel(), begin, begin + n, first, cuts.T.ravel(), segments)
    np.testing.assert_array_equal(segments.reshape(p, n), wanted)


@pytest.mark.parametrize("shape", [(1, 1), (64, 64), (65, 130), (3, 200)])
def test_turned_is_the_transpose(shape):
    codes = np.random.default_rng(0).integers(-1, 100, shape).astype(np.int8)
    out = np.empty(shape[::-1], dtype=np.int8)
    turned(codes, out)
    np.testing.assert_array_equal(out, codes.T)
